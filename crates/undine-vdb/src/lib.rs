//! OpenVDB's `.vdb` files, read and written in Rust alone.
//!
//! A file holds grids; a [`Grid`] is a [`Tree`] of one type of value, or of points, with a [`Transform`] into the world and
//! [`Metadata`]. A tree is kept flat: its leaves, each an origin, a mask of active voxels and 512 values, and its tiles. The
//! inner nodes of OpenVDB's 5-4-3 tree exist only in the file, where their shape follows from the leaves and tiles.
//!
//! Versions 222 to 225 are read and 224 is written, as OpenVDB 4 to 12 do.

pub mod codec;
pub mod compression;
pub mod error;
mod format;
pub mod grid;
pub mod mask;
pub mod metadata;
pub mod points;
pub mod read;
pub mod transform;
pub mod tree;
pub mod value;
pub mod write;

pub use codec::Codec;
pub use compression::Compression;
pub use error::{Result, VdbError};
pub use grid::{Class, Content, Grid};
pub use mask::LeafMask;
pub use metadata::{Entry, Metadata};
pub use points::PointTree;
pub use read::{File, GridHead, Warning};
pub use transform::Transform;
pub use tree::{Bounds, FileOrder, LeafSet, Leaves, Level, Tile, Tree, VOXELS};
pub use value::{Kind, MaskBit, Value};
