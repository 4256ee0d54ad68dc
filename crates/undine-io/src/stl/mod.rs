//! STL, the triangles of stereolithography (3D Systems 1988): binary, or text.
//!
//! A file repeats a vertex for every triangle that has it; on reading, vertices at exactly the same place are one again. Normals
//! follow from the triangles and are passed over, as are the two bytes behind each triangle, which every program uses
//! differently. Written here and not taken from `stl_io`, which keeps positions as `f32` where a text has more digits, allocates what a
//! header asks for, and says neither line nor byte of what is wrong.

mod read;
mod write;

pub use read::parse;
pub use write::write;

/// What stands before the triangles of a binary file: any 80 bytes, and their number.
const HEAD: usize = 84;

/// A triangle: its normal, three corners, and two bytes.
const TRIANGLE: usize = 50;
