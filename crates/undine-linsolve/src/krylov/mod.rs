//! Krylov solvers: an operator, a preconditioner, a right-hand side; the unknowns go in as a first guess and come out.
//!
//! [`cg`] is for symmetric positive definite systems, [`minres`] for symmetric ones of any sign, [`bicgstab`] for the
//! rest.

mod bicgstab;
mod cg;
mod minres;
mod progress;

pub use bicgstab::bicgstab;
pub use cg::{cg, flexible_cg};
pub use minres::minres;
