//! What can be wrong with a system before it is solved, as typed errors that name the row and say what would be right.
//!
//! A solve that was well posed but did not converge is not an error: see [`Outcome`](crate::Outcome).

use undine_core::CoreError;

/// The result of a fallible operation on a system. An operation that fails changes nothing.
pub type Result<T, E = SolveError> = std::result::Result<T, E>;

/// Every error of the solvers. Rows and columns count from 0 and are those of the process that found them.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SolveError {
    /// An error of stores or processes.
    #[error(transparent)]
    Core(#[from] CoreError),
    /// A system with more equations than unknowns, or fewer.
    #[error("the matrix has {rows} rows but {columns} columns; a system to solve must be square")]
    NotSquare {
        /// Rows found.
        rows: usize,
        /// Columns found.
        columns: usize,
    },
    /// A vector or list of another length than the system's.
    #[error("{what} has {found} entries, but the system wants {wanted}")]
    WrongLength {
        /// Which list.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length it should have.
        wanted: usize,
    },
    /// A sparse structure that is none: starts that go back, columns out of range or not ascending.
    #[error("row {row} of the matrix {why}")]
    BadStructure {
        /// The row.
        row: usize,
        /// What is wrong with it.
        why: String,
    },
    /// NaN or infinity in a matrix.
    #[error("entry ({row}, {column}) of the matrix is {value}, but must be finite")]
    EntryNotFinite {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
        /// The value found.
        value: f64,
    },
    /// NaN or infinity in a vector.
    #[error("entry {row} of {what} is {value}, but must be finite")]
    VectorNotFinite {
        /// Which vector.
        what: &'static str,
        /// The row.
        row: usize,
        /// The value found.
        value: f64,
    },
    /// A diagonal entry that a method cannot live with.
    #[error("the diagonal of row {row} is {value}, but {method} needs it {wanted}")]
    BadDiagonal {
        /// The row.
        row: usize,
        /// The value found; 0 where the matrix stores none.
        value: f64,
        /// Who needs it otherwise.
        method: &'static str,
        /// What it should be, for example `positive`.
        wanted: &'static str,
    },
    /// Symmetry was promised and does not hold.
    #[error(
        "the matrix is not symmetric: entry ({row}, {column}) is {value}, but entry ({column}, {row}) is {mirrored}"
    )]
    NotSymmetric {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
        /// The entry.
        value: f64,
        /// Its mirror image.
        mirrored: f64,
    },
    /// Positive definiteness was promised and cannot be.
    #[error(
        "the matrix is not positive definite: entry ({row}, {column}) is {value}, but those on the diagonal \
         allow no more than {limit}"
    )]
    NotPositive {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
        /// The entry.
        value: f64,
        /// √(aᵢᵢ aⱼⱼ).
        limit: f64,
    },
    /// A singular system whose right-hand side no unknowns can reach.
    #[error(
        "{what} is singular, and its right-hand side is inconsistent: it has {amount:e} along the null space, \
         of a norm of {norm:e}"
    )]
    Inconsistent {
        /// Which system or region.
        what: String,
        /// The part of the right-hand side that cannot be reached.
        amount: f64,
        /// The norm of the right-hand side.
        norm: f64,
    },
    /// A factorisation met a pivot that cannot be used.
    #[error("{what} cannot be factored: the pivot of row {row} is {pivot:e}, but must be {wanted}")]
    BadPivot {
        /// What was being factored, for example `block 12`.
        what: String,
        /// The row.
        row: usize,
        /// The pivot.
        pivot: f64,
        /// What it should be, for example `positive`.
        wanted: &'static str,
    },
    /// An element that cannot be assembled.
    #[error("element {element} {why}")]
    BadElement {
        /// Its number in its list.
        element: usize,
        /// What is wrong with it.
        why: String,
    },
    /// A line of a file of a matrix that cannot be understood. Lines count from 1.
    #[error("line {line} {why}")]
    BadFile {
        /// The line.
        line: usize,
        /// What is wrong with it, and what would be right.
        why: String,
    },
    /// A file that cannot be read.
    #[error("cannot read {path}: {why}")]
    NotReadable {
        /// The file.
        path: String,
        /// Why not.
        why: String,
    },
    /// A parameter out of its range.
    #[error("{what} is {found}, but must be {wanted}")]
    BadValue {
        /// Which parameter.
        what: String,
        /// The value found.
        found: String,
        /// What it should be.
        wanted: &'static str,
    },
}
