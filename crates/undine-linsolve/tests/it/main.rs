//! The tests of the solvers, as one program.

mod amg;
mod assembly;
mod block;
mod checks;
mod choose;
mod dense;
mod direct;
mod gallery;
mod hostile;
mod krylov;
mod lcp;
mod manybodies;
mod market;
#[cfg(feature = "mpi")]
mod mpi;
mod precondition;
mod pressure;
mod pressure_bodies;
mod pressure_bounds;
mod pressure_drag;
mod pressure_order;
mod systems;
mod tank;
mod threads;
