//! Tests of the whole crate, one program.

mod camera;
mod canvas;
mod files;
mod golden;
mod ground;
mod kill_film;
mod light;
mod lines;
mod looking;
mod odd;
#[cfg(feature = "peer-python")]
mod peer;
mod pictures;
mod spheres;
mod stage;
mod triangles;
mod tubes;
mod volume;
mod water;
