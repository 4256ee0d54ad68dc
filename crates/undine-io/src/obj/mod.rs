//! OBJ, Wavefront's text: vertices `v`, faces `f`, lines `l` and points `p`, with the customary colours behind a vertex.
//!
//! Vertices and faces keep their order. Normals are the channel `N` where each vertex has one alone, colours are the channel `Cd`.
//! Lines are curves in files without faces; where there are faces, the order of vertices is theirs and lines are passed
//! over. Texture places, groups, materials and free-form surfaces are passed over. Written here and not taken from `tobj`, which keeps
//! `f32`, splits faces, and numbers vertices anew by their normals.

mod read;
mod write;

pub use read::{parse, parse_noting};
pub use write::write;
