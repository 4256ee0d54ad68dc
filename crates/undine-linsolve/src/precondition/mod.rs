//! Preconditioners that work on the rows of a matrix as they are.

mod jacobi;

pub use jacobi::Jacobi;
