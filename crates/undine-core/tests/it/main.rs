//! Integration tests of `undine-core`, one program.

#[cfg(feature = "mpi")]
mod mpi;
mod transfer;
