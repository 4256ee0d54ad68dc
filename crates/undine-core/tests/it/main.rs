//! Integration tests of `undine-core`, one program.

mod mesh;
#[cfg(feature = "mpi")]
mod mpi;
