//! Constraints that the tests of constraints and of the Newton loop share.

use undine_core::glam::{DMat3, DVec3};
use undine_sim::constraint::{ByParameter, Constraint, Curvature, Placed, Rows, Scaling};

/// A spring: C = |x₁ − x₂| − L, S = k.
pub struct Distance;

#[derive(Debug, Clone, Copy)]
pub struct Spring {
    /// Rest length L [m].
    pub length: f64,
    /// Stiffness k [N/m].
    pub stiffness: f64,
}

impl Constraint<1, 2> for Distance {
    type Element = Spring;
    const PARAMETERS: usize = 2;

    fn evaluate(&self, element: &Spring, at: &[Placed; 2]) -> Rows<1, 2> {
        let d = at[0].x - at[1].x;
        let (length, n) = (d.length(), d.normalize_or_zero());
        Rows { value: [length - element.length], by_position: [[n, -n]], ..Rows::ZERO }
    }

    fn scaling(&self, element: &Spring) -> Scaling<1> {
        Scaling::Diagonal([element.stiffness])
    }

    fn curvature(&self, _: &Spring, at: &[Placed; 2], weights: &[f64; 1]) -> Option<Curvature<2>> {
        let d = at[0].x - at[1].x;
        let n = d.normalize_or_zero();
        if n == DVec3::ZERO {
            return Some([[DMat3::ZERO; 2]; 2]);
        }
        let nn = DMat3::from_cols(n * n.x, n * n.y, n * n.z);
        let k = (DMat3::IDENTITY - nn) * (weights[0] / d.length());
        Some([[k, -k], [-k, k]])
    }

    fn parameter<'a>(&self, element: &'a mut Spring, parameter: usize) -> Option<&'a mut f64> {
        match parameter {
            0 => Some(&mut element.length),
            1 => Some(&mut element.stiffness),
            _ => None,
        }
    }

    fn by_parameter(
        &self,
        _: &Spring,
        _: &[Placed; 2],
        parameter: usize,
    ) -> Option<ByParameter<1>> {
        match parameter {
            0 => Some(ByParameter { value: [-1.0], scaling: None }),
            1 => Some(ByParameter { value: [0.0], scaling: Some(Scaling::Diagonal([1.0])) }),
            _ => None,
        }
    }
}

/// A weld: the place and the three axes of the first particle, seen from the frame of the second, stay what they were. 12 rows:
/// F₂ᵀ(x₁ − x₂) − d, and F₂ᵀF₁ₖ − aₖ for each axis k.
pub struct Weld;

#[derive(Debug, Clone, Copy)]
pub struct Joint {
    pub offset: DVec3,
    pub axes: DMat3,
    /// [N/m] of the place, [N·m] of each axis.
    pub stiffness: [f64; 2],
}

impl Joint {
    /// One that is at rest where the particles are.
    pub fn between(at: &[Placed; 2], stiffness: [f64; 2]) -> Self {
        let back = at[1].frame.transpose();
        Self { offset: back * (at[0].x - at[1].x), axes: back * at[0].frame, stiffness }
    }
}

impl Constraint<12, 2> for Weld {
    type Element = Joint;
    const FRAMES: bool = true;

    fn evaluate(&self, element: &Joint, at: &[Placed; 2]) -> Rows<12, 2> {
        let mut rows = Rows::ZERO;
        let d = at[0].x - at[1].x;
        for i in 0..3 {
            let axis = at[1].frame.col(i);
            rows.value[i] = axis.dot(d) - element.offset[i];
            rows.by_position[i] = [axis, -axis];
            *rows.by_frame[i][1].col_mut(i) = d;
            for k in 0..3 {
                let row = 3 + 3 * k + i;
                rows.value[row] = axis.dot(at[0].frame.col(k)) - element.axes.col(k)[i];
                *rows.by_frame[row][0].col_mut(k) = axis;
                *rows.by_frame[row][1].col_mut(i) = at[0].frame.col(k);
            }
        }
        rows
    }

    fn scaling(&self, element: &Joint) -> Scaling<12> {
        let [place, axes] = element.stiffness;
        Scaling::Diagonal(std::array::from_fn(|m| if m < 3 { place } else { axes }))
    }
}
