//! The light of a pixel: what it shows, lit by sun and sky.

mod shadow;
mod sky;

pub(crate) use shadow::Shadow;
pub(crate) use sky::radiance;
