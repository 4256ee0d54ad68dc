//! The tests of the solvers, as one program.

mod amg;
mod assembly;
mod block;
mod checks;
mod dense;
mod gallery;
mod krylov;
mod lcp;
mod market;
#[cfg(feature = "mpi")]
mod mpi;
mod precondition;
mod pressure;
mod direct;
mod krylov;
mod manybodies;
mod systems;
mod tank;
mod threads;
