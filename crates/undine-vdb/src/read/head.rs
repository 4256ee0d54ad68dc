//! What a file says of itself and of each grid before the grid's tree: header, descriptor, metadata and transform.

use std::ops::Range;

use crate::compression::Compression;
use crate::error::{Result, VdbError};
use crate::format::{MAGIC, SEPARATOR, names};
use crate::grid::Class;
use crate::metadata::{Entry, Metadata};
use crate::read::cursor::{Cursor, malformed};
use crate::read::metadata::read_metadata;
use crate::read::transform::read_transform;
use crate::transform::Transform;
use crate::tree::Bounds;
use crate::value::{Kind, Value};

/// The versions of the format that are read.
pub(crate) const VERSIONS: Range<u32> = 222..226;

/// What a file says of a grid before its tree.
#[derive(Debug, Clone, PartialEq)]
pub struct GridHead {
    /// Its name; may be empty, and two grids of a file may share one.
    pub name: String,
    /// The type of its values. Those of a grid of true half floats are read as `f32`.
    pub kind: Kind,
    /// What its values mean.
    pub class: Class,
    /// Where it is in the world.
    pub transform: Transform,
    /// Whether the file keeps its values as half floats.
    pub saved_as_half: bool,
    /// How its values are compressed.
    pub compression: Compression,
    /// All metadata but name, class, half and the statistics.
    pub metadata: Metadata,
    /// The box of its active voxels, if the file says so.
    pub bounds: Option<Bounds>,
    /// How many voxels are active, if the file says so.
    pub active_voxels: Option<u64>,
    /// Where in the file it is, from its descriptor on [bytes].
    pub bytes: Range<u64>,
    pub(crate) layout: Layout,
    pub(crate) place: Place,
}

/// How the values of a tree lie in a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Layout {
    pub(crate) compression: Compression,
    /// Whether values are rounded to half floats, where their type allows it.
    pub(crate) half: bool,
    /// Whether the type of value itself is half float.
    pub(crate) native_half: bool,
}

impl Layout {
    /// Whether values of type `T` are kept as half floats.
    pub(crate) fn halves<T: Value>(&self) -> bool {
        self.half && T::HALF_SIZE != T::SIZE
    }
}

/// Where the parts of a grid are in the file [bytes].
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Place {
    /// The name that no other grid of the file has.
    pub(crate) unique_name: String,
    /// The unique name of the grid whose tree it shares, or nothing.
    pub(crate) parent: String,
    pub(crate) tree: u64,
    pub(crate) blocks: u64,
    pub(crate) end: u64,
}

/// What a file says of itself.
#[derive(Debug, Clone)]
pub(crate) struct Header {
    pub(crate) version: u32,
    pub(crate) library: [u32; 2],
    pub(crate) has_offsets: bool,
    pub(crate) uuid: String,
    pub(crate) metadata: Metadata,
    pub(crate) grids: u32,
    /// Where the first descriptor is.
    pub(crate) end: u64,
}

/// Reads what a file says of itself.
pub(crate) fn read_header(cursor: &mut Cursor<'_>) -> Result<Header> {
    let magic = cursor.i64("the sign of a .vdb file")?;
    if magic != MAGIC {
        let found = format!("the file begins with {magic:#018x}");
        return Err(malformed(0, found, format!("a .vdb file begins with {MAGIC:#018x}")));
    }
    let version = cursor.u32("the version of the format")?;
    if !VERSIONS.contains(&version) {
        return Err(VdbError::Unsupported {
            offset: 8,
            what: format!("version {version} of the format"),
            wanted: format!(
                "versions {} to {}, those of OpenVDB 3 to 13, are read",
                VERSIONS.start,
                VERSIONS.end - 1
            ),
        });
    }
    let library = [cursor.u32("the library's version")?, cursor.u32("the library's version")?];
    let has_offsets = match cursor.u8("whether there are offsets")? {
        byte @ (0 | 1) => byte == 1,
        byte => {
            let found = format!("whether there are offsets is {byte}");
            return Err(cursor.malformed_before(1, found, "it is 0 or 1"));
        }
    };
    let uuid = String::from_utf8_lossy(&cursor.array::<36>("the uuid")?).into_owned();
    let metadata = read_metadata(cursor)?;
    let grids = cursor.i32("the count of grids")?;
    let grids = u32::try_from(grids).map_err(|_| {
        cursor.malformed_before(4, format!("the count of grids is {grids}"), "it is 0 or more")
    })?;
    let end = cursor.offset();
    Ok(Header { version, library, has_offsets, uuid, metadata, grids, end })
}

/// What stands first of a grid.
#[derive(Debug, Clone)]
pub(crate) struct Descriptor {
    pub(crate) begin: u64,
    pub(crate) unique_name: String,
    pub(crate) type_name: String,
    pub(crate) parent: String,
    /// As the file has them: absolute, or all 0 in a stream.
    pub(crate) grid: i64,
    pub(crate) blocks: i64,
    pub(crate) end: i64,
    /// Where the descriptor itself ends.
    pub(crate) after: u64,
}

impl Descriptor {
    /// The name without what makes it unique.
    pub(crate) fn name(&self) -> &str {
        self.unique_name.split(SEPARATOR).next().unwrap_or_default()
    }
}

/// Reads a descriptor.
pub(crate) fn read_descriptor(cursor: &mut Cursor<'_>) -> Result<Descriptor> {
    Ok(Descriptor {
        begin: cursor.offset(),
        unique_name: cursor.string("the name of a grid")?,
        type_name: cursor.string("the type of a grid")?,
        parent: cursor.string("the name of the grid that a grid shares its tree with")?,
        grid: cursor.i64("the offset of a grid")?,
        blocks: cursor.i64("the offset of a grid's blocks")?,
        end: cursor.i64("the offset of a grid's end")?,
        after: cursor.offset(),
    })
}

/// Reads what follows a descriptor, up to the tree. The end and, but for its beginning, the place are the caller's to tell.
pub(crate) fn read_head(cursor: &mut Cursor<'_>, descriptor: &Descriptor) -> Result<GridHead> {
    let (kind, half, native_half) = tree_type(descriptor)?;
    let flags = cursor.u32("the compression of a grid")?;
    if flags > 7 {
        let found = format!("the compression of a grid is {flags:#x}");
        let wanted = "it is a sum of 1 (zip), 2 (active values), 4 (blosc)";
        return Err(cursor.malformed_before(4, found, wanted));
    }
    let compression = Compression::of_flags(flags);

    let mut metadata = read_metadata(cursor)?;
    let name = match metadata.remove(names::NAME) {
        Some(Entry::String(name)) => name,
        _ => descriptor.name().to_owned(),
    };
    let class = match metadata.remove(names::CLASS) {
        Some(Entry::String(word)) => Class::of_word(&word),
        _ => Class::Unknown,
    };
    let bounds = match (metadata.remove(names::LEAST), metadata.remove(names::GREATEST)) {
        // The box of an empty grid is turned inside out.
        (Some(Entry::Vec3i(min)), Some(Entry::Vec3i(max))) => {
            (0..3).all(|axis| min[axis] <= max[axis]).then_some(Bounds { min, max })
        }
        _ => None,
    };
    let active_voxels = match metadata.remove(names::VOXELS) {
        Some(Entry::Int64(count)) => u64::try_from(count).ok(),
        _ => None,
    };
    for statistic in [names::HALF, names::MEMORY, names::COMPRESSION, names::DELAYED] {
        metadata.remove(statistic);
    }
    let transform = read_transform(cursor)?;

    Ok(GridHead {
        name,
        kind,
        class,
        transform,
        saved_as_half: half || native_half,
        compression,
        metadata,
        bounds,
        active_voxels,
        bytes: descriptor.begin..descriptor.begin,
        layout: Layout { compression, half, native_half },
        place: Place {
            unique_name: descriptor.unique_name.clone(),
            parent: descriptor.parent.clone(),
            tree: cursor.offset(),
            ..Place::default()
        },
    })
}

/// The kind of a grid, whether its values are rounded to half floats, and whether they are of that very type.
fn tree_type(descriptor: &Descriptor) -> Result<(Kind, bool, bool)> {
    let name = descriptor.type_name.as_str();
    let (tree, half) = match name.strip_suffix("_HalfFloat") {
        Some(tree) => (tree, true),
        None => (name, false),
    };
    let word = tree.strip_prefix("Tree_").and_then(|tree| tree.strip_suffix("_5_4_3"));
    let native_half = word == Some("half");
    let kind = Kind::ALL.into_iter().find(|kind| word == Some(kind.word()));
    match kind.or(native_half.then_some(Kind::Float)) {
        Some(kind) => Ok((kind, half, native_half)),
        None => Err(VdbError::Unsupported {
            offset: descriptor.begin,
            what: format!("a grid of type `{}`", name.escape_debug()),
            wanted: format!(
                "those are of which the value is one of {}, half, and the sizes 5_4_3",
                Kind::ALL.map(Kind::word).join(", ")
            ),
        }),
    }
}
