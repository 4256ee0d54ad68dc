//! The tests of the solvers, as one program.

mod assembly;
mod block;
mod checks;
mod amg;
mod dense;
mod gallery;
mod krylov;
mod lcp;
#[cfg(feature = "mpi")]
mod mpi;
mod market;
mod precondition;
mod pressure;
mod systems;
mod threads;
