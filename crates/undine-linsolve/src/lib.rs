//! Linear systems: every implicit step of Undine ends here.
//!
//! A system is an [`Operator`], most often a [`Matrix`], over [`Rows`] that one or several processes share. A Krylov
//! solver ([`krylov`]) brings it to rest, helped by a [`Preconditioner`], and says in a [`Report`] how it went. A solve that
//! does not converge is no error: the caller gets the best iterate and the reason. Unknowns with bounds are for [`lcp`].
//!
//! Vectors are plain slices of `f64`. One that is multiplied has [`Rows::stored`] entries, the local rows first and copies of
//! foreign ones behind; all others have [`Rows::local`]. Sums run in a fixed order, so that the result has the same bits
//! on any number of threads.
//!
//! The usual way in is [`choose::System`], which picks a method and says why:
//!
//! ```
//! use undine_linsolve::choose::{Method, System};
//! use undine_linsolve::{Matrix, Stop, gallery};
//!
//! # fn main() -> undine_linsolve::Result<()> {
//! let matrix = Matrix::single(gallery::laplacian([20, 20, 20])?)?; // or `matrix::market::read_matrix`, or an `Assembly`
//! let b = vec![1.0; 8000];
//! let mut x = vec![0.0; 8000]; // the first guess
//! let report = System::new(&matrix).solve(Method::Auto, &b, &mut x, &Stop::relative(1e-8))?;
//! assert!(report.converged(), "{report}"); // CG with SA-AMG, 4 levels, …: converged after 12 iterations, …
//! assert!(report.notes[0].contains("because"));
//! # Ok(())
//! # }
//! ```
//!
//! The pressure of a fluid on Buckets is a [`pressure::PressureSystem`] instead. By hand: make a preconditioner
//! ([`amg::Amg`], [`precondition`], [`manybodies`], [`direct`]) and give it to a solver of [`krylov`].

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
