//! What can be wrong with a solid, as typed errors that name the thing, the numbers and what would be right.

use undine_core::glam::DVec3;
use undine_geometry::GeometryError;

/// The result of a fallible operation on solids.
pub type Result<T, E = SolidError> = std::result::Result<T, E>;

/// Every error of solids.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SolidError {
    /// An error of shapes, meshes or their sampling.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
    /// A number outside of its range.
    #[error("{what} is {found}, but must be {wanted}")]
    BadNumber {
        /// Which number, for example `the mass of a rigid body [kg]`.
        what: &'static str,
        /// The value found.
        found: f64,
        /// What it must be.
        wanted: &'static str,
    },
    /// A place that is NaN or infinite.
    #[error("{what} is {found}, but must be finite")]
    NotFinite {
        /// What is there.
        what: &'static str,
        /// Where it is.
        found: DVec3,
    },
    /// A mass without a volume, or with a negative one.
    #[error(
        "a rigid body encloses {volume} m³; its mesh must be closed and look outwards (turn its triangles over if it is inside out)"
    )]
    NoVolume {
        /// The volume found [m³].
        volume: f64,
    },
    /// Moments of inertia that no arrangement of masses has.
    #[error(
        "moments of inertia {moments} kg m² are impossible: none may be negative, nor larger than the sum of the other two"
    )]
    ImpossibleInertia {
        /// The moments found [kg m²].
        moments: DVec3,
    },
    /// No masses where some are needed.
    #[error("a rigid body of points needs at least one point with mass")]
    NoPoints,
}
