//! Water: where it is in each pixel, what it does to the sun, and how it looks.

mod caustics;
mod layer;
mod look;
mod optics;

pub(crate) use caustics::Caustics;
pub(crate) use layer::{Layer, Through, Waters};
pub(crate) use look::{Look, Surroundings, ambient};
