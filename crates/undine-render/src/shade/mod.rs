//! The light of a pixel: what it shows, lit by sun and sky.

mod ground;
mod opaque;
mod shadow;
mod sky;
mod surface;
pub(crate) mod water;

pub(crate) use ground::{ALBEDO, Floor};
pub(crate) use opaque::{Opaque, Seen};
pub(crate) use shadow::{Extent, Shadow};
pub(crate) use sky::{SkyLight, radiance};
pub(crate) use surface::Lights;
