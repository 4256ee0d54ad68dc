//! Integration tests of `undine-core`, one program.

mod domain;
mod mesh;
#[cfg(feature = "mpi")]
mod mpi;
mod sample;
mod transfer;
