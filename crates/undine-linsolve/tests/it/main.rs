//! The tests of the solvers, as one program.

mod krylov;
#[cfg(feature = "mpi")]
mod mpi;
mod systems;
