//! Particles in flight, held against nature.

mod drag;
mod flight;
mod scene;
