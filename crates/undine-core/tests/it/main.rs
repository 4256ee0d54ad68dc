//! Integration tests of `undine-core`, one program.

mod access;
mod channels;
mod domain;
mod fixtures;
mod mesh;
#[cfg(feature = "mpi")]
mod mpi;
mod neighbours;
mod particles;
mod sample;
mod transfer;
mod volume;
