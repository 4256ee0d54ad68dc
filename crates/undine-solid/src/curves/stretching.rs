//! Stretching: C = |e| − L of each edge of a rod, with the energy ½ (EA/L) C².
//!
//! Rods are usually so stiff along themselves that a step ends with a stretch of forces that do not act. So it is solved by
//! multipliers unless a scene says otherwise: the tension that stiffens an edge across itself is then that of the step before.

use super::{STIFF_SOLVED_BY, scale};
use bytemuck::{Pod, Zeroable};
use undine_core::glam::{DMat3, DVec3};
use undine_schema::{Declaration, Kind};
use undine_sim::action::constraint::{
    Chosen, DAMPING_TIME, End, FRICTION_LENGTH, FRICTION_LIMIT, are_rods,
};
use undine_sim::constraint::{ByParameter, Constraint, Curvature, Placed, Rows, Scaling};
use undine_sim::{Bond, Ingest, Offers, Result};

/// "Rods resist being stretched."
pub const DECLARATION: Declaration = Declaration {
    name: "stretching",
    kind: Kind::Constraint,
    doc: "Curves keep the lengths of their edges",
    about: "As strong as Young's modulus and the cross-section of the curves make it: EA. Lengths at rest are those of the \
            input.",
    parameters: &[
        scale("stretch-scale", "what the stiffness by material and cross-section is multiplied by"),
        DAMPING_TIME,
        FRICTION_LIMIT,
        FRICTION_LENGTH,
        STIFF_SOLVED_BY,
    ],
    example: "stretching damping-time=\"1 ms\"",
};

/// Resistance to being stretched.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stretching;

/// An edge.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Edge {
    /// Length at rest L [m].
    pub length: f64,
    /// What its stiffness is multiplied by.
    pub scale: f64,
    /// EA [N].
    pub stiffness: f64,
}

impl Constraint<1, 2> for Stretching {
    type Element = Edge;
    const PARAMETERS: usize = 1;
    const REST_PARAMETERS: usize = 1;

    #[inline]
    fn evaluate(&self, edge: &Edge, at: &[Placed; 2]) -> Rows<1, 2> {
        let d = at[1].x - at[0].x;
        let n = d.normalize_or_zero();
        Rows { value: [d.length() - edge.length], by_position: [[-n, n]], ..Rows::ZERO }
    }

    #[inline]
    fn scaling(&self, edge: &Edge) -> Scaling<1> {
        Scaling::Diagonal([edge.scale * edge.stiffness / edge.length])
    }

    #[inline]
    fn curvature(&self, _: &Edge, at: &[Placed; 2], weights: &[f64; 1]) -> Option<Curvature<2>> {
        let d = at[1].x - at[0].x;
        let n = d.normalize_or_zero();
        if n == DVec3::ZERO {
            return Some([[DMat3::ZERO; 2]; 2]);
        }
        let along = DMat3::from_cols(n * n.x, n * n.y, n * n.z);
        let across = (DMat3::IDENTITY - along) * (weights[0] / d.length());
        Some([[across, -across], [-across, across]])
    }

    /// Stiff along the edge and, as far as it is pulled, across: what is pressed would be negative there.
    #[inline]
    fn convex_curvature(
        &self,
        edge: &Edge,
        at: &[Placed; 2],
        weights: &[f64; 1],
    ) -> Option<Curvature<2>> {
        self.curvature(edge, at, &[weights[0].max(0.0)])
    }

    fn bounds(&self, edge: &Edge, _: usize) -> [f64; 2] {
        [0.5 * edge.length, 2.0 * edge.length]
    }

    fn parameter<'a>(&self, edge: &'a mut Edge, parameter: usize) -> Option<&'a mut f64> {
        (parameter == 0).then_some(&mut edge.length)
    }

    /// The stiffness EA/L depends on the length as well.
    fn by_parameter(&self, edge: &Edge, _: &[Placed; 2], n: usize) -> Option<ByParameter<1>> {
        let slope = -edge.scale * edge.stiffness / (edge.length * edge.length);
        (n == 0).then_some(ByParameter { value: [-1.0], scaling: Some(Scaling::Diagonal([slope])) })
    }
}

impl Bond<1, 2> for Stretching {
    const REST: &'static [&'static str] = &["length"];
    const VARIES: &'static [&'static str] = &["scale"];
    const MATERIAL: &'static [&'static str] = &["stretch-stiffness"];
    const OF_SHAPE: bool = true;

    fn create(_: &mut Ingest<'_>) -> Result<Self> {
        Ok(Self)
    }

    fn suits(offers: &Offers) -> bool {
        are_rods(offers)
    }

    fn emit(&self, ends: &[End<'_>]) -> Result<Chosen<2>> {
        let of = |(end, seen): (usize, &End<'_>)| {
            seen.edges.iter().map(|edge| edge.map(|vertex| (end, vertex))).collect::<Vec<_>>()
        };
        Ok(ends.iter().enumerate().flat_map(of).collect::<Vec<_>>().into())
    }

    fn rest(&self, at: &[Placed; 2]) -> Edge {
        Edge { length: at[0].x.distance(at[1].x), scale: 0.0, stiffness: 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use undine_sim::constraint::harness::check_constraint;
    use undine_sim::constraint::project::project;

    #[test]
    fn gradient_curvature_and_rest_length_are_those_of_differences() {
        for z in [-0.7, 0.1, 2.0] {
            let at = [DVec3::new(0.1, -0.3, z), DVec3::new(0.9, 0.2, 0.5)].map(Placed::at);
            let edge = Edge { length: 0.4, scale: 0.5, stiffness: 30.0 };
            check_constraint(&Stretching, &edge, &at).unwrap();
        }
    }

    /// The closed form is what eigenvalues make of it, pulled and pressed.
    #[test]
    fn what_is_pressed_is_made_positive_as_by_eigenvalues() {
        let at = [DVec3::new(0.1, -0.3, 0.4), DVec3::new(0.9, 0.2, 0.5)].map(Placed::at);
        for length in [0.4, 3.0] {
            let edge = Edge { length, scale: 0.5, stiffness: 30.0 };
            let rows = Stretching.evaluate(&edge, &at);
            let Scaling::Diagonal([s]) = Stretching.scaling(&edge) else { panic!("one row") };
            let weights = [s * rows.value[0]];
            let whole = |curvature: Option<Curvature<2>>| {
                let (j, k) = (rows.by_position[0], curvature.unwrap());
                let entry = |a: usize, b: usize| {
                    s * j[a / 3][a % 3] * j[b / 3][b % 3] + k[a / 3][b / 3].col(b % 3)[a % 3]
                };
                std::array::from_fn::<[f64; 6], 6, _>(|a| std::array::from_fn(|b| entry(a, b)))
            };
            let mut wanted = whole(Stretching.curvature(&edge, &at, &weights));
            assert_eq!(project(&mut wanted, 6), length > 1.0, "only what is pressed changes");
            let found = whole(Stretching.convex_curvature(&edge, &at, &weights));
            let (found, wanted) = (found.as_flattened(), wanted.as_flattened());
            let most = found.iter().zip(wanted).map(|(f, w)| (f - w).abs()).fold(0.0, f64::max);
            assert!(most < 1e-12 * s, "{most}");
        }
    }
}
