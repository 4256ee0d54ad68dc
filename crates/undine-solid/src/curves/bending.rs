//! Bending: the discrete curvature of a rod where two edges meet, in the axes of its cross-section (Bergou et al. 2008, *Discrete
//! elastic rods*, and 2010, *Discrete viscous threads*).
//!
//! With κb = 2 t₀ × t₁/(1 + t₀·t₁), a vector of length 2 tan(φ/2) about which the rod turns by φ,
//!
//! κ₁ = ½ (m₂⁰ + m₂¹)·κb,   κ₂ = −½ (m₁⁰ + m₁¹)·κb,   C = κ − κ̄,   S = diag(EI₁, EI₂)/l,
//!
//! where κ̄ is the natural curvature, that of the input, and l the mean length of the two edges. A function of frames alone: how
//! frames follow vertices is the system's to know. Edges that fold back onto each other have no curvature; there the sum
//! 1 + t₀·t₁ is kept from zero, so that the force is large and finite.

use super::{ANGLE_FRICTION_LENGTH, TORQUE_FRICTION_LIMIT, scale};
use bytemuck::{Pod, Zeroable};
use undine_core::glam::{DMat3, DVec3};
use undine_schema::{Declaration, Kind};
use undine_sim::action::constraint::{Chosen, DAMPING_TIME, End, SOLVED_BY, are_rods};
use undine_sim::constraint::{ByParameter, Constraint, Placed, Rows, Scaling};
use undine_sim::{Bond, Ingest, Offers, Result};

/// "Rods resist being bent."
pub const DECLARATION: Declaration = Declaration {
    name: "bending",
    kind: Kind::Constraint,
    doc: "Curves resist bending away from their rest shape",
    about: "As strong as Young's modulus and the cross-section of the curves make it: EI about either axis. The shape at rest \
            is that of the input.",
    parameters: &[
        scale("bend-scale", "what the stiffness by material and cross-section is multiplied by"),
        DAMPING_TIME,
        TORQUE_FRICTION_LIMIT,
        ANGLE_FRICTION_LENGTH,
        SOLVED_BY,
    ],
    example: "bending damping-time=\"10 ms\"",
};

/// The least of 1 + t₀·t₁: that of edges which meet at 1.1 degrees.
const FOLDED: f64 = 2e-4;

/// Resistance to being bent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bending;

/// Where two edges meet.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Bend {
    /// Natural curvature κ̄, times the mean length of the two edges.
    pub rest: [f64; 2],
    /// What its stiffness is multiplied by.
    pub scale: f64,
    /// EI [N m²] against bending towards the first axis, and towards the second.
    pub stiffness: [f64; 2],
    /// The mean length of the two edges [m].
    pub length: f64,
}

/// κ of two frames.
pub fn curvature(at: &[Placed; 2]) -> [f64; 2] {
    let [f, g] = [&at[0].frame, &at[1].frame];
    let binormal = f.x_axis.cross(g.x_axis) * (2.0 / (1.0 + f.x_axis.dot(g.x_axis)).max(FOLDED));
    [(f.z_axis + g.z_axis).dot(binormal) * 0.5, (f.y_axis + g.y_axis).dot(binormal) * -0.5]
}

impl Constraint<2, 2> for Bending {
    type Element = Bend;
    const FRAMES: bool = true;
    const PARAMETERS: usize = 2;
    const REST_PARAMETERS: usize = 2;

    #[inline]
    fn evaluate(&self, bend: &Bend, at: &[Placed; 2]) -> Rows<2, 2> {
        let [f, g] = [&at[0].frame, &at[1].frame];
        let (t, u) = (f.x_axis, g.x_axis);
        let open = 1.0 + t.dot(u);
        let (sum, folded) = (open.max(FOLDED), open < FOLDED);
        let per = 2.0 / sum;
        let binormal = t.cross(u) * per;
        let half = binormal * 0.5;
        let mut rows = Rows::ZERO;
        let across = [(f.z_axis + g.z_axis) * 0.5, (f.y_axis + g.y_axis) * -0.5];
        for (m, across) in across.into_iter().enumerate() {
            let kappa = across.dot(binormal);
            rows.value[m] = kappa - bend.rest[m];
            // d(t × u)·a = dt·(u × a) + du·(a × t); the sum's own change only where it is not held.
            let lean = if folded { 0.0 } else { kappa / sum };
            let by_t = u.cross(across) * per - u * lean;
            let by_u = across.cross(t) * per - t * lean;
            let zero = DVec3::ZERO;
            rows.by_frame[m] = match m {
                0 => [DMat3::from_cols(by_t, zero, half), DMat3::from_cols(by_u, zero, half)],
                _ => [DMat3::from_cols(by_t, -half, zero), DMat3::from_cols(by_u, -half, zero)],
            };
        }
        rows
    }

    #[inline]
    fn scaling(&self, bend: &Bend) -> Scaling<2> {
        Scaling::Diagonal(bend.stiffness.map(|stiffness| bend.scale * stiffness / bend.length))
    }

    /// About 50 degrees more or less: edges that want to meet at more are too long for what they carry.
    fn bounds(&self, bend: &Bend, parameter: usize) -> [f64; 2] {
        let rest = bend.rest.get(parameter).copied().unwrap_or(0.0);
        [rest - 1.0, rest + 1.0]
    }

    fn parameter<'a>(&self, bend: &'a mut Bend, parameter: usize) -> Option<&'a mut f64> {
        bend.rest.get_mut(parameter)
    }

    fn by_parameter(&self, _: &Bend, _: &[Placed; 2], n: usize) -> Option<ByParameter<2>> {
        let mut value = [0.0; 2];
        *value.get_mut(n)? = -1.0;
        Some(ByParameter { value, scaling: None })
    }
}

impl Bond<2, 2> for Bending {
    const REST: &'static [&'static str] = &["rest-1", "rest-2"];
    const VARIES: &'static [&'static str] = &["scale"];
    const MATERIAL: &'static [&'static str] =
        &["bend-stiffness-1", "bend-stiffness-2", "edge-length"];
    const OF_SHAPE: bool = true;

    fn create(_: &mut Ingest<'_>) -> Result<Self> {
        Ok(Self)
    }

    fn suits(offers: &Offers) -> bool {
        are_rods(offers)
    }

    fn emit(&self, ends: &[End<'_>]) -> Result<Chosen<2>> {
        Ok(super::joints(ends).into())
    }

    fn rest(&self, at: &[Placed; 2]) -> Bend {
        Bend { rest: curvature(at), scale: 0.0, stiffness: [0.0; 2], length: 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::frames::placed;
    use super::*;
    use undine_sim::constraint::harness::{Checks, check_constraint, check_constraint_with};

    fn bend() -> Bend {
        Bend { rest: [0.2, -0.1], scale: 0.5, stiffness: [3.0, 7.0], length: 0.1 }
    }

    #[test]
    fn gradients_and_rest_curvatures_are_those_of_differences() {
        for seed in 0..100 {
            let at = [placed(10 * seed), placed(10 * seed + 5)];
            if at[0].frame.x_axis.dot(at[1].frame.x_axis) > -0.9 {
                check_constraint(&Bending, &bend(), &at).unwrap();
            }
        }
    }

    /// An arc of radius R has the curvature 1/R, whichever way the frame looks: 2 tan(φ/2) for edges that meet at φ.
    #[test]
    fn an_arc_has_its_curvature() {
        let (phi, about) = (0.3_f64, 0.7_f64);
        let turn = DMat3::from_axis_angle(DVec3::Z, phi);
        let roll = DMat3::from_axis_angle(DVec3::X, about);
        let at = [roll, turn * roll].map(|frame| Placed { x: DVec3::ZERO, frame });
        let [first, second] = curvature(&at);
        let wanted = 2.0 * (0.5 * phi).tan();
        assert!((first.hypot(second) - wanted).abs() < 1e-14, "{first} {second}");
        assert!((first - wanted * about.cos()).abs() < 1e-14, "{first}");
        assert!((second + wanted * about.sin()).abs() < 1e-14, "{second}");
    }

    #[test]
    fn what_is_folded_has_finite_forces() {
        for angle in [3.0, 3.1, std::f64::consts::PI] {
            let frame = DMat3::from_axis_angle(DVec3::Z, angle);
            let at = [DMat3::IDENTITY, frame].map(|frame| Placed { x: DVec3::ZERO, frame });
            let rows = Bending.evaluate(&bend(), &at);
            assert!(rows.value.iter().all(|c| c.is_finite()));
            // Nearer to the fold, differences of what grows without bound tell nothing.
            if angle > 3.0 {
                continue;
            }
            let checks = Checks { tolerance: 1e-4, ..Checks::default() };
            check_constraint_with(&Bending, &bend(), &at, &checks).unwrap();
        }
    }
}
