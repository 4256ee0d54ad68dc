//! Linear systems: every implicit step of Undine ends here.
//!
//! A system is an [`Operator`], most often a [`Matrix`], over [`Rows`] that one or several processes share. A Krylov
//! solver ([`krylov`]) brings it to rest, helped by a [`Preconditioner`], and says in a [`Report`] how it went. A solve that
//! does not converge is no error: the caller gets the best iterate and the reason. Unknowns with bounds are for [`lcp`].
//!
//! Vectors are plain slices of `f64`. One that is multiplied has [`Rows::stored`] entries, the local rows first and copies of
//! foreign ones behind; all others have [`Rows::local`]. Sums run in a fixed order, so that the result has the same bits
//! on any number of threads.

pub mod amg;
pub mod choose;
mod colours;
pub mod direct;
pub mod error;
pub mod gallery;
pub mod krylov;
pub mod lcp;
pub mod manybodies;
pub mod matrix;
pub mod operator;
pub mod precondition;
pub mod pressure;
pub mod real;
pub mod report;
pub mod rows;
pub mod vector;

pub use error::{Result, SolveError};
pub use matrix::{Csr, Matrix, NullSpace};
pub use operator::{Operator, Preconditioner};
pub use real::Real;
pub use report::{Outcome, Report, Stop};
pub use rows::Rows;
