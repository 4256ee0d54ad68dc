//! Curves, as tubes.

use super::{Colouring, Numbers, Places, Radii, Vectors};
use undine_core::mesh::Strands;

/// Curves, as tubes.
#[derive(Debug, Clone)]
pub struct Curves<'a> {
    /// Where their points are, curve after curve.
    pub positions: Places<'a>,
    /// Which points are of which curve.
    pub strands: &'a Strands,
    /// How thick they are at each point [m].
    pub radii: Radii<'a>,
    /// How fast their points are [m/s].
    pub velocities: Option<Vectors<'a>>,
    /// What colours their points.
    pub values: Option<Numbers<'a>>,
    /// What colours them.
    pub colouring: Colouring,
    /// Whether light is scattered along them as by hair; otherwise they are tubes, a little glossy.
    pub hair: bool,
}
