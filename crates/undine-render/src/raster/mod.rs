//! From primitives to pixels: which is nearest in each.

mod lines;
mod primitives;
mod segments;
mod spheres;
mod target;
mod tubes;
mod view;

pub(crate) use primitives::Scenery;
pub(crate) use spheres::Turn;
pub(crate) use target::{DepthMap, NONE, Visibility};
pub(crate) use view::{Ray, View};
