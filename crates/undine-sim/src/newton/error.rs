//! What can go wrong in a Newton step, as typed errors that name the list, the element and what would be right.

use undine_linsolve::SolveError;

/// The result of a fallible part of a Newton step.
pub type Result<T, E = NewtonError> = std::result::Result<T, E>;

/// Every error of the Newton loop. Elements, particles and nodes count from 0.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NewtonError {
    /// An error of the linear solvers.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// The linear solve ended without meeting its residual.
    #[error("the linear solve of Newton iteration {iteration} did not converge: {report}{}", hint(.report))]
    NotConverged {
        /// The iteration, from 0.
        iteration: usize,
        /// How the solve went.
        report: String,
    },
    /// NaN or infinity.
    #[error("{what} {index} of {of} is {found}, but must be finite")]
    NotFinite {
        /// What is not finite, for example `element`.
        what: &'static str,
        /// Its number.
        index: usize,
        /// Of which list.
        of: String,
        /// The value found.
        found: f64,
    },
    /// The energy of the step became NaN or infinite and no shorter step helps.
    #[error("the energy of Newton iteration {iteration} is {found}, but must be finite")]
    EnergyNotFinite {
        /// The iteration, from 0.
        iteration: usize,
        /// The value found.
        found: f64,
    },
    /// A list of another length than the one it belongs to.
    #[error("{what} of {of} has {found} entries, but must have {wanted}")]
    WrongLength {
        /// Which list.
        what: &'static str,
        /// Of which term or Object.
        of: String,
        /// Its length.
        found: usize,
        /// The length it should have.
        wanted: usize,
    },
    /// A number that points outside of its list.
    #[error("{what} {index} of {of} points at {found}, but there are {wanted}")]
    OutOfRange {
        /// What points.
        what: &'static str,
        /// Its number.
        index: usize,
        /// Of which list.
        of: String,
        /// Where it points.
        found: usize,
        /// How many there are.
        wanted: usize,
    },
    /// A value out of its range.
    #[error("{what} is {found}, but must be {wanted}")]
    BadValue {
        /// Which value, with its place.
        what: String,
        /// The value found.
        found: f64,
        /// What it should be.
        wanted: &'static str,
    },
    /// Something is not in a stable balance, so that nothing can be said of how the balance would move.
    #[error(
        "{of} is in no stable balance at {place}: its stiffness there is {found:.1e} after all that it hangs on has given way; hold it, \
         give it Constraints that resist, or let it come to rest"
    )]
    NotStable {
        /// Which Object.
        of: String,
        /// Where in it.
        place: String,
        /// The pivot of the stiffness.
        found: f64,
    },
    /// The terms of a solve are not those that the system was connected with.
    #[error("the system was connected with {wanted}, but is solved with {found}; connect it again")]
    NotConnected {
        /// What was handed in.
        found: String,
        /// What was expected.
        wanted: String,
    },
}

/// What helps where a system has no one solution.
fn hint(report: &str) -> &'static str {
    if report.contains("singular") {
        "; hard rows that say the same twice, such as more rigid bars than points can follow, have no one solution: leave some out, or make them stiff instead of rigid"
    } else if report.contains("definite") {
        "; beside a stiffness of more than some 1e15 times another one, numbers lose the other: look for one that is far too large, or make the step shorter"
    } else {
        ""
    }
}
