//! Curves: discrete elastic rods (Bergou et al. 2008 and 2010), for hair, fur, wires and ropes.
//!
//! A strand is a row of vertices. Each edge carries a material frame, whose tangent follows the vertices and which is turned
//! about it by an unknown of its own. [`stretching`], [`bending`] and [`twisting`] are Constraints on vertices and frames, and
//! so is whatever else holds or meets a strand.

pub mod bending;
pub mod frames;
pub mod object;
pub mod section;
pub mod strands;
pub mod stretching;
pub mod twisting;

pub use bending::Bending;
pub use object::CurvesObject;
pub use section::Section;
pub use stretching::Stretching;
pub use twisting::Twisting;

use undine_schema::{Dimension, Parameter};
use undine_sim::action::constraint::{End, Points};

/// Dahl friction of rows that are angles.
const TORQUE_FRICTION_LIMIT: Parameter = Parameter::number(
    "friction-limit",
    Dimension::ENERGY,
    0.0,
    "torque of inner friction, which does not depend on speed (Dahl)",
)
.not_negative()
.advanced();

const ANGLE_FRICTION_LENGTH: Parameter = Parameter::number(
    "friction-length",
    Dimension::ANGLE,
    0.1,
    "how far it turns after a change of direction until inner friction is nearly at its limit",
)
.positive()
.advanced();

/// How what is usually stiff enters the system.
const STIFF_SOLVED_BY: Parameter = Parameter::choice(
    "solved-by",
    &[
        ("multipliers", "Lagrange multipliers; for what is stiff"),
        ("stiffness", "forces and their derivatives; for what is soft"),
    ],
    "how it enters the coupled system",
)
.advanced();

const fn scale(channel: &'static str, doc: &'static str) -> Parameter {
    Parameter::number("scale", Dimension::NONE, 1.0, doc)
        .not_negative()
        .usually(1e-3, 1e3)
        .varies_by(channel)
}

/// All pairs of edges that meet.
fn joints(ends: &[End<'_>]) -> Vec<Points<2>> {
    let of = |(end, seen): (usize, &End<'_>)| {
        seen.joints.iter().map(|joint| joint.map(|vertex| (end, vertex))).collect::<Vec<_>>()
    };
    ends.iter().enumerate().flat_map(of).collect()
}
