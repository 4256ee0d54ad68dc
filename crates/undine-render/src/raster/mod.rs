//! From primitives to pixels: which is nearest in each.

mod fill;
mod isosurface;
mod lines;
mod normals;
mod primitives;
mod segments;
mod spheres;
mod target;
mod triangles;
mod tubes;
mod view;

pub(crate) use primitives::{Hit, Primitives, Scenery};
pub(crate) use spheres::Turn;
pub(crate) use target::{DepthMap, NONE, Target, Visibility};
pub(crate) use triangles::{Known, Triangles};
pub(crate) use view::{Ray, View};
