//! Preconditioners that work on the rows of a matrix as they are.

mod block_jacobi;
mod incomplete_cholesky;
mod jacobi;

pub use block_jacobi::BlockJacobi;
pub use incomplete_cholesky::IncompleteCholesky;
pub use jacobi::Jacobi;
