//! Twisting: how far the frame of an edge is turned about itself from where that of the edge before it, carried along, would be
//! (Bergou et al. 2008 and 2010).
//!
//! With A = m₁⁰·m₁¹ + m₂⁰·m₂¹ and B = m₂⁰·m₁¹ − m₁⁰·m₂¹, which are (1 + t₀·t₁) times the cosine and the sine of it, the twist is
//! m = atan2(B, A), C = m − m̄, S = GJ/l. It does not depend on how frames came about. Whole turns are not in a frame: an
//! element keeps the twist of the step before, and the turn nearest to that is meant.

use super::{ANGLE_FRICTION_LENGTH, TORQUE_FRICTION_LIMIT, scale};
use bytemuck::{Pod, Zeroable};
use std::f64::consts::{PI, TAU};
use undine_core::glam::{DMat3, DVec3};
use undine_schema::{Declaration, Kind};
use undine_sim::action::constraint::{Chosen, DAMPING_TIME, End, SOLVED_BY, are_rods};
use undine_sim::constraint::{ByParameter, Constraint, Placed, Rows, Scaling};
use undine_sim::{Bond, Ingest, Offers, Result};

/// "Rods resist being twisted."
pub const DECLARATION: Declaration = Declaration {
    name: "twisting",
    kind: Kind::Constraint,
    doc: "Curves resist being twisted",
    about: "As strong as the shear modulus and the cross-section of the curves make it: GJ. The twist at rest is that of the \
            input.",
    parameters: &[
        scale("twist-scale", "what the stiffness by material and cross-section is multiplied by"),
        DAMPING_TIME,
        TORQUE_FRICTION_LIMIT,
        ANGLE_FRICTION_LENGTH,
        SOLVED_BY,
    ],
    example: "twisting damping-time=\"10 ms\"",
};

/// Resistance to being twisted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Twisting;

/// Where two edges meet.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Twist {
    /// The twist at rest m̄ [rad].
    pub rest: f64,
    /// The twist where the last step ended [rad], whole turns included.
    pub last: f64,
    /// What its stiffness is multiplied by.
    pub scale: f64,
    /// GJ [N m²].
    pub stiffness: f64,
    /// The mean length of the two edges [m].
    pub length: f64,
}

/// The twist between two frames [rad], of all whole turns the nearest to `last`.
#[inline]
pub fn twist(at: &[Placed; 2], last: f64) -> f64 {
    let [a, b] = parts(at);
    let angle = b.atan2(a);
    angle + TAU * ((last - angle) / TAU).round()
}

/// A and B.
#[inline]
fn parts(at: &[Placed; 2]) -> [f64; 2] {
    let [f, g] = [&at[0].frame, &at[1].frame];
    [
        f.y_axis.dot(g.y_axis) + f.z_axis.dot(g.z_axis),
        f.z_axis.dot(g.y_axis) - f.y_axis.dot(g.z_axis),
    ]
}

impl Constraint<1, 2> for Twisting {
    type Element = Twist;
    const FRAMES: bool = true;
    const PARAMETERS: usize = 1;
    const REST_PARAMETERS: usize = 1;

    #[inline]
    fn evaluate(&self, element: &Twist, at: &[Placed; 2]) -> Rows<1, 2> {
        let [a, b] = parts(at);
        let mut rows = Rows::ZERO;
        rows.value = [twist(at, element.last) - element.rest];
        let square = a * a + b * b;
        if square > 1e-12 {
            // dm = (A dB − B dA)/(A² + B²).
            let (a, b) = (a / square, b / square);
            let [f, g] = [&at[0].frame, &at[1].frame];
            let of = |y: DVec3, z: DVec3| DMat3::from_cols(DVec3::ZERO, y, z);
            rows.by_frame[0][0] = of(g.z_axis * -a - g.y_axis * b, g.y_axis * a - g.z_axis * b);
            rows.by_frame[0][1] = of(f.z_axis * a - f.y_axis * b, f.y_axis * -a - f.z_axis * b);
        }
        rows
    }

    #[inline]
    fn scaling(&self, element: &Twist) -> Scaling<1> {
        Scaling::Diagonal([element.scale * element.stiffness / element.length])
    }

    /// Half a turn more or less.
    fn bounds(&self, element: &Twist, _: usize) -> [f64; 2] {
        [element.rest - PI, element.rest + PI]
    }

    fn parameter<'a>(&self, element: &'a mut Twist, parameter: usize) -> Option<&'a mut f64> {
        (parameter == 0).then_some(&mut element.rest)
    }

    fn by_parameter(&self, _: &Twist, _: &[Placed; 2], n: usize) -> Option<ByParameter<1>> {
        (n == 0).then_some(ByParameter { value: [-1.0], scaling: None })
    }
}

impl Bond<1, 2> for Twisting {
    const REST: &'static [&'static str] = &["rest", "last"];
    const VARIES: &'static [&'static str] = &["scale"];
    const MATERIAL: &'static [&'static str] = &["twist-stiffness", "edge-length"];
    const OF_SHAPE: bool = true;
    const KEEPS: bool = true;

    fn create(_: &mut Ingest<'_>) -> Result<Self> {
        Ok(Self)
    }

    fn suits(offers: &Offers) -> bool {
        are_rods(offers)
    }

    fn emit(&self, ends: &[End<'_>]) -> Result<Chosen<2>> {
        Ok(super::joints(ends).into())
    }

    fn rest(&self, at: &[Placed; 2]) -> Twist {
        let rest = twist(at, 0.0);
        Twist { rest, last: rest, scale: 0.0, stiffness: 0.0, length: 0.0 }
    }

    fn keep(&self, element: &mut Twist, at: &[Placed; 2]) {
        element.last = twist(at, element.last);
    }
}

#[cfg(test)]
mod tests {
    use super::super::frames::placed;
    use super::*;
    use undine_sim::constraint::harness::check_constraint;
    use undine_sim::newton::rod::transported;

    #[test]
    fn gradients_are_those_of_differences() {
        for seed in 0..100 {
            let at = [placed(10 * seed), placed(10 * seed + 5)];
            let last = twist(&at, 6.0);
            let element = Twist { rest: 0.3, last, scale: 2.0, stiffness: 3.0, length: 0.1 };
            if at[0].frame.x_axis.dot(at[1].frame.x_axis) > -0.8 {
                check_constraint(&Twisting, &element, &at).unwrap();
            }
        }
    }

    /// A frame that is carried along has no twist; turned by an angle, it has that; whole turns are those of before.
    #[test]
    fn twist_is_what_a_frame_is_turned_by() {
        for seed in 0..20 {
            let start = placed(seed);
            let tangent = (start.frame.x_axis + 0.4 * DVec3::Z).normalize();
            for angle in [0.0, 0.5, -2.0, 3.0, 7.0, -20.0] {
                let frame = transported(start.frame, tangent, angle);
                let found = twist(&[start, Placed { frame, ..start }], angle + 1.0);
                assert!((found - angle).abs() < 1e-12, "{found}, wanted {angle}");
            }
        }
    }
}
