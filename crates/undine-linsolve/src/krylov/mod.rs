//! Krylov solvers: an operator, a preconditioner, a right-hand side; the unknowns go in as a first guess and come out.

mod cg;
mod progress;

pub use cg::{cg, flexible_cg};
