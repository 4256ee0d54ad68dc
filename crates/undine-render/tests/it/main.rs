//! Tests of the whole crate, one program.

mod files;
mod kill_film;
#[cfg(feature = "peer-python")]
mod peer;
mod pictures;
mod spheres;
