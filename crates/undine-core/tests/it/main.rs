//! Integration tests of `undine-core`, one program.

mod domain;
#[cfg(feature = "mpi")]
mod mpi;
