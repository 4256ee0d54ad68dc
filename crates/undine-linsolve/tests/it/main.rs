//! The tests of the solvers, as one program.

mod krylov;
mod systems;
