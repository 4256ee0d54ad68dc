//! Tests of the whole crate, one program.

mod canvas;
mod files;
mod kill_film;
mod looking;
#[cfg(feature = "peer-python")]
mod peer;
mod pictures;
mod camera;
mod ground;
mod light;
mod lines;
mod spheres;
mod stage;
mod tubes;
