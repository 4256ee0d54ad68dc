//! Particles in flight, held against nature.

mod collision;
mod drag;
mod flight;
mod scene;
