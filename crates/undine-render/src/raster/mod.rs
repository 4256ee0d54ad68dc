//! From primitives to pixels: which is nearest in each.

mod primitives;
mod spheres;
mod target;
mod view;

pub(crate) use primitives::Scenery;
pub(crate) use target::{DepthMap, NONE, Visibility};
pub(crate) use view::{Ray, View};
