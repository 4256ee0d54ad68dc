//! What can be wrong with an Action's numbers, as typed errors that name the thing and what would be right.

/// The result of a fallible operation on an Action.
pub type Result<T, E = ActionError> = std::result::Result<T, E>;

/// Every error of this crate's laws.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ActionError {
    /// A parameter outside of its range.
    #[error("{what} is {found}, but must be {wanted}")]
    BadParameter {
        /// Which parameter, for example `the density of air [kg/m³]`.
        what: &'static str,
        /// The value found.
        found: f64,
        /// What it must be.
        wanted: &'static str,
    },
}

/// Refuses what is not positive and finite.
pub(crate) fn positive(what: &'static str, found: f64) -> Result<f64> {
    in_range(what, found, found > 0.0 && found.is_finite(), "positive and finite")
}

/// Refuses what is negative or not finite.
pub(crate) fn not_negative(what: &'static str, found: f64) -> Result<f64> {
    in_range(what, found, found >= 0.0 && found.is_finite(), "finite and not negative")
}

/// Refuses what is not `right`.
pub(crate) fn in_range(
    what: &'static str,
    found: f64,
    right: bool,
    wanted: &'static str,
) -> Result<f64> {
    if right { Ok(found) } else { Err(ActionError::BadParameter { what, found, wanted }) }
}
