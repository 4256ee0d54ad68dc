//! Particles in flight, held against nature.

mod animated;
mod collision;
mod drag;
mod field;
mod flight;
mod groups;
mod scene;
mod source;
mod springs;
