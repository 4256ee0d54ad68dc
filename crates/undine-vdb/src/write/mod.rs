//! Writing `.vdb` files.
//!
//! Grids are first encoded, each leaf on its own and many at once, and then written one after another. An [`EncodedGrid`] may
//! also be a piece of a grid: every process encodes its leaves, and one joins the pieces and writes the file.

mod block;
mod bytes;
mod encoded;
mod file;
mod leaves;
mod metadata;
mod pieces;
mod statistics;
mod topology;
mod transform;

pub use crate::compression::Compression;
pub use encoded::{Buffers, EncodedGrid, EncodedTile, Head, Place, TileValue};
pub use file::{write, write_file};
pub use metadata::{RawEntry, RawMetadata, put_metadata, raw as raw_metadata};

use crate::error::{Result, VdbError};
use crate::format::{SEPARATOR, names};
use crate::grid::{Class, Content, Grid};
use crate::metadata::Metadata;
use crate::points::{PointTree, encode_points};
use crate::transform::Transform;
use crate::tree::{LeafSet, Level, Tile, Tree};
use crate::value::Value;
use leaves::{EncodedLeaves, encode_leaves};

/// What a grid, or a piece of one, is written from.
#[derive(Clone, Copy)]
pub struct GridParts<'a, T> {
    /// The grid's name; may be empty, and two grids of a file may share one.
    pub name: &'a str,
    /// What its values mean.
    pub class: Class,
    /// Where it is in the world.
    pub transform: Transform,
    /// Whether the file keeps its values as half floats.
    pub saved_as_half: bool,
    /// All metadata but name, class, half and the statistics that a file keeps, which are added.
    pub metadata: &'a Metadata,
    /// The value where there is neither leaf nor tile.
    pub background: T,
    /// The tiles, in any order.
    pub tiles: &'a [Tile<T>],
    /// The leaves, in any order.
    pub leaves: &'a dyn LeafSet<T>,
}

/// The longest name of a grid [bytes].
const LONGEST_NAME: usize = 65_535;
/// Encodes a grid, or a piece of one: the same bytes for any number of threads.
pub fn encode<T: Value>(parts: &GridParts<T>, compression: Compression) -> Result<EncodedGrid> {
    let head = Head::of(parts, compression)?;
    let tiles = encode_tiles(parts, &head)?;
    for leaf in 0..parts.leaves.len() {
        let origin = parts.leaves.origin(leaf);
        if !is_aligned(origin, Level::Leaf) {
            return Err(misaligned(&head, "leaf", origin, Level::Leaf));
        }
    }
    let EncodedLeaves { origins, masks, buffers } =
        encode_leaves(parts.leaves, parts.background, &head);
    let grid = EncodedGrid { head, tiles, origins, masks, buffers };
    grid.topology()?;
    Ok(grid)
}

/// Encodes a whole grid.
pub fn encode_grid(grid: &Grid, compression: Compression) -> Result<EncodedGrid> {
    fn tree<T: Value>(
        grid: &Grid,
        tree: &Tree<T>,
        compression: Compression,
    ) -> Result<EncodedGrid> {
        let leaves = &tree.leaves;
        if leaves.masks.len() != leaves.origins.len()
            || leaves.values.len() != leaves.origins.len() * crate::VOXELS
        {
            return Err(VdbError::Unwritable {
                grid: grid.name.clone(),
                found: "the columns of its leaves are not of one length".to_owned(),
                wanted: "an origin, a mask and 512 values for each".to_owned(),
            });
        }
        let parts = GridParts {
            name: &grid.name,
            class: grid.class,
            transform: grid.transform,
            saved_as_half: grid.saved_as_half,
            metadata: &grid.metadata,
            background: tree.background,
            tiles: &tree.tiles,
            leaves,
        };
        encode(&parts, compression)
    }
    match &grid.content {
        Content::Float(values) => tree(grid, values, compression),
        Content::Double(values) => tree(grid, values, compression),
        Content::Int32(values) => tree(grid, values, compression),
        Content::Int64(values) => tree(grid, values, compression),
        Content::Bool(values) => tree(grid, values, compression),
        Content::Mask(values) => tree(grid, values, compression),
        Content::Vec3s(values) => tree(grid, values, compression),
        Content::Vec3d(values) => tree(grid, values, compression),
        Content::Vec3i(values) => tree(grid, values, compression),
        Content::Points(points) => encode_point_grid(grid, points, compression),
    }
}

/// Encodes a grid of points.
fn encode_point_grid(
    grid: &Grid,
    points: &PointTree,
    compression: Compression,
) -> Result<EncodedGrid> {
    let voxels = &points.voxels;
    let parts = GridParts {
        name: &grid.name,
        class: grid.class,
        transform: grid.transform,
        // Points have codecs of their own.
        saved_as_half: false,
        metadata: &grid.metadata,
        background: voxels.background,
        tiles: &voxels.tiles,
        leaves: &voxels.leaves,
    };
    let head = Head::of(&parts, compression)?;
    let tiles = encode_tiles(&parts, &head)?;
    let bytes = encode_points(points, head.compression.codec)?;
    let (origins, masks) = (voxels.leaves.origins.clone(), voxels.leaves.masks.clone());
    if let Some(&origin) = origins.iter().find(|origin| !is_aligned(**origin, Level::Leaf)) {
        return Err(misaligned(&head, "leaf", origin, Level::Leaf));
    }
    let grid = EncodedGrid { head, tiles, origins, masks, buffers: Buffers::Whole(bytes) };
    grid.topology()?;
    Ok(grid)
}

impl Head {
    /// Of a grid, or a piece of one; checks all that can be wrong with it but leaves and tiles.
    pub fn of<T: Value>(parts: &GridParts<T>, compression: Compression) -> Result<Self> {
        let name = parts.name;
        let mut head = Self {
            name: name.to_owned(),
            kind: T::KIND,
            class: parts.class,
            saved_as_half: parts.saved_as_half,
            compression: compression.for_class(parts.class),
            transform: Vec::new(),
            metadata: RawMetadata::new(),
            background: bytes_of(parts.background),
        };
        if name.len() > LONGEST_NAME {
            head.name = name.chars().take(40).collect();
            let found = format!("its name has {} bytes", name.len());
            return Err(head.unwritable(found, format!("at most {LONGEST_NAME}")));
        }
        if name.contains(['\0', SEPARATOR]) {
            return Err(head.unwritable("its name has a control character", "no NUL, no U+001E"));
        }
        let mut bytes = Vec::new();
        transform::put_transform(&parts.transform, &mut bytes)
            .map_err(|(found, wanted)| head.unwritable(found, wanted))?;
        head.transform = bytes;
        head.metadata = raw_metadata(parts.metadata)
            .map_err(|(found, wanted)| head.unwritable(found, wanted))?;
        names::OWN.iter().for_each(|name| drop(head.metadata.remove(*name)));
        Ok(head)
    }
}

fn bytes_of<T: Value>(value: T) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(T::SIZE);
    T::put(&[value], &mut bytes);
    bytes
}

/// Tiles in the form of a file, without those that say no more than the background.
fn encode_tiles<T: Value>(parts: &GridParts<T>, head: &Head) -> Result<Vec<EncodedTile>> {
    let said = || parts.tiles.iter().filter(|tile| tile.active || tile.value != parts.background);
    let mut tiles = Vec::with_capacity(said().count());
    let mut value = Vec::with_capacity(T::SIZE);
    for tile in said() {
        if !is_aligned(tile.origin, tile.level) {
            return Err(misaligned(head, "tile", tile.origin, tile.level));
        }
        value.clear();
        T::put(&[tile.value], &mut value);
        let Some(value) = TileValue::new(&value) else {
            let found = format!("the value of a tile has {} bytes", value.len());
            return Err(head.unwritable(found, format!("at most {}", TileValue::LONGEST)));
        };
        let (origin, level, is_active) = (tile.origin, tile.level, tile.active);
        tiles.push(EncodedTile { origin, level, value, is_active });
    }
    encoded::sort_tiles(&mut tiles);
    Ok(tiles)
}

fn is_aligned(origin: [i32; 3], level: Level) -> bool {
    origin.iter().all(|c| c & (level.side() - 1) == 0)
}

fn misaligned(head: &Head, what: &str, origin: [i32; 3], level: Level) -> VdbError {
    let wanted = format!("multiples of {}", level.side());
    head.unwritable(format!("a {what} begins at {origin:?}"), wanted)
}
