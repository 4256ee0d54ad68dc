//! A grid in the form of a file, but for where in the file it is: what one process makes of its leaves, so that pieces of a
//! grid from several processes can be sent and joined.

use crate::compression::Compression;
use crate::error::{Result, VdbError};
use crate::grid::Class;
use crate::mask::LeafMask;
use crate::tree::{FileOrder, Level};
use crate::value::{Kind, MaskBit, Value};
use crate::write::metadata::RawMetadata;
use crate::write::topology::Topology;

/// What all pieces of a grid share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The grid's name.
    pub name: String,
    /// Its type of values.
    pub kind: Kind,
    /// What they mean.
    pub class: Class,
    /// Whether they are saved as half floats.
    pub saved_as_half: bool,
    /// How they are compressed.
    pub compression: Compression,
    /// Its transform, in the form of a file.
    pub transform: Vec<u8>,
    /// Its metadata but for name, class, half and statistics.
    pub metadata: RawMetadata,
    /// The bytes of the background.
    pub background: Vec<u8>,
}

/// One value for a whole cube.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedTile {
    /// Its least corner [voxels].
    pub origin: [i32; 3],
    /// How large it is.
    pub level: Level,
    /// The bytes of its value.
    pub value: TileValue,
    /// Whether its voxels are active.
    pub is_active: bool,
}

/// The bytes of a value, in place: a grid can have millions of tiles, and an allocation for each would cost more than they.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TileValue {
    bytes: [u8; Self::LONGEST],
    length: u8,
}

impl TileValue {
    /// The longest value, of three `f64` [bytes].
    pub const LONGEST: usize = 24;

    /// Of these bytes; none if they are more than any value has.
    pub fn new(value: &[u8]) -> Option<Self> {
        let mut bytes = [0; Self::LONGEST];
        bytes.get_mut(..value.len())?.copy_from_slice(value);
        Some(Self { bytes, length: value.len() as u8 })
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

/// Where the bytes of a leaf are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Which of the buffers they are in,
    pub buffer: u32,
    /// from this byte of it
    pub start: u32,
    /// to before this one.
    pub end: u32,
}

/// What follows the topology in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Buffers {
    /// The bytes of one leaf after another.
    Leaves {
        /// Bytes of many leaves each.
        bytes: Vec<Vec<u8>>,
        /// Where in them each leaf's are.
        places: Vec<Place>,
    },
    /// Bytes that are not those of one leaf after another, such as those of points; they cannot be joined.
    Whole(Vec<Vec<u8>>),
}

/// A grid, or a piece of one, in the form of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedGrid {
    /// What all pieces of a grid share.
    pub head: Head,
    /// The tiles, in the order of a file.
    pub tiles: Vec<EncodedTile>,
    /// The least corner of each leaf [voxels], in the order of a file.
    pub origins: Vec<[i32; 3]>,
    /// The active voxels of each leaf.
    pub masks: Vec<LeafMask>,
    /// The bytes of the leaves.
    pub buffers: Buffers,
}

impl Head {
    pub(super) fn unwritable(
        &self,
        found: impl Into<String>,
        wanted: impl Into<String>,
    ) -> VdbError {
        VdbError::Unwritable { grid: self.name.clone(), found: found.into(), wanted: wanted.into() }
    }
}

/// Puts tiles in the order of a file.
pub(super) fn sort_tiles(tiles: &mut [EncodedTile]) {
    let order = |tile: &EncodedTile| (FileOrder::of(tile.origin), std::cmp::Reverse(tile.level));
    if !tiles.is_sorted_by_key(order) {
        tiles.sort_by_key(order);
    }
}

/// How long a value is in a file [bytes].
pub(super) fn value_size(kind: Kind) -> usize {
    match kind {
        Kind::Float => f32::SIZE,
        Kind::Double => f64::SIZE,
        Kind::Int32 => i32::SIZE,
        Kind::Int64 => i64::SIZE,
        Kind::Bool => bool::SIZE,
        Kind::Mask => MaskBit::SIZE,
        Kind::Vec3s => <[f32; 3]>::SIZE,
        Kind::Vec3d => <[f64; 3]>::SIZE,
        Kind::Vec3i => <[i32; 3]>::SIZE,
        Kind::Points => u32::SIZE,
    }
}

impl EncodedGrid {
    /// Joins pieces of one grid, in whatever order, without a copy of their bytes. They must agree on all but leaves and
    /// tiles, and no two may have the same of these.
    pub fn join(pieces: Vec<Self>) -> Result<Self> {
        let mut pieces = pieces.into_iter();
        let Some(mut joined) = pieces.next() else {
            return Err(VdbError::Unwritable {
                grid: String::new(),
                found: "there is no piece of it".to_owned(),
                wanted: "at least one".to_owned(),
            });
        };
        for piece in pieces {
            joined.add(piece)?;
        }
        joined.sort();
        joined.topology()?;
        Ok(joined)
    }

    fn add(&mut self, piece: Self) -> Result<()> {
        if piece.head != self.head {
            let found = format!("two pieces of it differ in {}", self.head.difference(&piece.head));
            return Err(self.head.unwritable(found, "all agree"));
        }
        let (
            Buffers::Leaves { bytes, places },
            Buffers::Leaves { bytes: more_bytes, places: more_places },
        ) = (&mut self.buffers, piece.buffers)
        else {
            return Err(self
                .head
                .unwritable("points are in several pieces", "one piece has them all"));
        };
        let before = bytes.len() as u32;
        bytes.extend(more_bytes);
        places.extend(
            more_places.iter().map(|place| Place { buffer: before + place.buffer, ..*place }),
        );
        self.origins.extend(piece.origins);
        self.masks.extend(piece.masks);
        self.tiles.extend(piece.tiles);
        Ok(())
    }

    /// Puts leaves and tiles in the order of a file.
    fn sort(&mut self) {
        sort_tiles(&mut self.tiles);
        let Buffers::Leaves { places, .. } = &mut self.buffers else { return };
        if self.origins.is_sorted_by_key(|&origin| FileOrder::of(origin)) {
            return;
        }
        let mut order: Vec<_> =
            self.origins.iter().zip(0usize..).map(|(&o, n)| (FileOrder::of(o), n)).collect();
        order.sort_unstable();
        let order = || order.iter().map(|&(_, leaf)| leaf);
        *places = order().map(|leaf| places[leaf]).collect();
        self.origins = order().map(|leaf| self.origins[leaf]).collect();
        self.masks = order().map(|leaf| self.masks[leaf]).collect();
    }

    /// The nodes above leaves and tiles; an error if one of these covers another.
    pub(super) fn topology(&self) -> Result<Topology<'_>> {
        Topology::of(&self.origins, &self.masks, &self.tiles).map_err(|origin| {
            let found = format!("a leaf or tile at {origin:?} is covered by another");
            self.head.unwritable(found, "every voxel belongs to one at most")
        })
    }

    /// The bytes of the leaves, in the order of a file, as few as possible at a time.
    pub(super) fn buffer_runs(&self) -> Vec<&[u8]> {
        match &self.buffers {
            Buffers::Whole(bytes) => bytes.iter().map(Vec::as_slice).collect(),
            Buffers::Leaves { bytes, places } => places
                .chunk_by(|a, b| a.buffer == b.buffer && a.end == b.start)
                .map(|run| {
                    let (first, last) = (run[0], run[run.len() - 1]);
                    &bytes[first.buffer as usize][first.start as usize..last.end as usize]
                })
                .collect(),
        }
    }
}

impl Head {
    /// What another head has otherwise.
    fn difference(&self, other: &Self) -> &'static str {
        if self.name != other.name {
            "name"
        } else if self.kind != other.kind {
            "type"
        } else if self.class != other.class {
            "class"
        } else if self.saved_as_half != other.saved_as_half {
            "whether they are saved as half floats"
        } else if self.compression != other.compression {
            "compression"
        } else if self.transform != other.transform {
            "transform"
        } else if self.background != other.background {
            "background"
        } else {
            "metadata"
        }
    }
}
