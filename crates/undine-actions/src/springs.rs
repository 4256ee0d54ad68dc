//! Distance springs: C = |x₁ − x₂| − L with the energy ½ k C² (Loki, §6.3, the *Distance Constraint*), between the ends of edges
//! or between all points in range of each other. The rest length L is the distance at the start, scaled.

use crate::nearby::{MOST_PAIRS, Nearby};
use bytemuck::{Pod, Zeroable};
use undine_core::MemoryBudget;
use undine_core::glam::{DMat3, DVec3};
use undine_schema::{Declaration, Dimension, Kind, Parameter};
use undine_sim::action::constraint::{
    Chosen, DAMPING_TIME, End, FRICTION_LENGTH, FRICTION_LIMIT, Points, SOLVED_BY,
};
use undine_sim::constraint::{ByParameter, Constraint, Curvature, Placed, Rows, Scaling};
use undine_sim::{Bond, Ingest, Result, SimError};

/// "Springs."
pub const DECLARATION: Declaration = Declaration {
    name: "springs",
    kind: Kind::Constraint,
    doc: "Springs that keep the distances of points",
    about: "Along the edges of the Objects in scope, or between all boundary particles that are in `range` of each other when \
            the simulation begins, of one Object or of two. With `rigid` they are bars of fixed length.",
    parameters: &[
        Parameter::number(
            "stiffness",
            Dimension::SURFACE_TENSION,
            100.0,
            "force per stretch, of each spring",
        )
        .not_negative()
        .usually(1e-6, 1e9)
        .varies_by("stiffness"),
        Parameter::number(
            "rest-scale",
            Dimension::NONE,
            1.0,
            "rest length by the one at the start",
        )
        .not_negative()
        .usually(0.1, 10.0),
        Parameter::number(
            "range",
            Dimension::LENGTH,
            0.1,
            "how near points are that springs connect; without it, springs lie on edges",
        )
        .positive()
        .optional(),
        Parameter::flag("rigid", false, "lengths do not change at all, whatever the stiffness"),
        DAMPING_TIME,
        FRICTION_LIMIT,
        FRICTION_LENGTH,
        SOLVED_BY,
    ],
    example: "springs stiffness=\"200 N/m\" damping-time=\"10 ms\"",
};

/// Distance springs.
#[derive(Debug, Clone)]
pub struct Springs {
    /// What rest lengths are scaled by.
    pub rest_scale: f64,
    /// Between all points that are so near [m], or along edges.
    pub range: Option<f64>,
    /// Whether they are bars.
    pub rigid: bool,
    path: String,
    /// What springs may take while they are chosen.
    budget: MemoryBudget,
}

/// What a pair in range takes until its spring is made, while there are more and more of them [bytes].
const BYTES_OF_PAIR: u64 = 128;

/// So many pairs later, it is asked whether there is room for more.
const ASKED_EVERY: usize = 1 << 14;

/// A spring.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Spring {
    /// Its length at the start [m].
    pub length: f64,
    /// Stiffness k [N/m].
    pub stiffness: f64,
}

impl Springs {
    /// Along edges.
    pub fn new(rest_scale: f64, rigid: bool) -> Self {
        let (path, budget) = (String::new(), MemoryBudget::unlimited());
        Self { rest_scale, range: None, rigid, path, budget }
    }
}

impl Constraint<1, 2> for Springs {
    type Element = Spring;
    const PARAMETERS: usize = 2;
    const REST_PARAMETERS: usize = 1;

    fn evaluate(&self, spring: &Spring, at: &[Placed; 2]) -> Rows<1, 2> {
        let d = at[0].x - at[1].x;
        let n = d.normalize_or_zero();
        let value = [d.length() - self.rest_scale * spring.length];
        Rows { value, by_position: [[n, -n]], ..Rows::ZERO }
    }

    fn scaling(&self, spring: &Spring) -> Scaling<1> {
        Scaling::Diagonal([if self.rigid { f64::INFINITY } else { spring.stiffness }])
    }

    fn curvature(&self, _: &Spring, at: &[Placed; 2], weights: &[f64; 1]) -> Option<Curvature<2>> {
        let d = at[0].x - at[1].x;
        let n = d.normalize_or_zero();
        if n == DVec3::ZERO {
            return Some([[DMat3::ZERO; 2]; 2]);
        }
        let along = DMat3::from_cols(n * n.x, n * n.y, n * n.z);
        let across = (DMat3::IDENTITY - along) * (weights[0] / d.length());
        Some([[across, -across], [-across, across]])
    }

    fn parameter<'a>(&self, spring: &'a mut Spring, parameter: usize) -> Option<&'a mut f64> {
        match parameter {
            0 => Some(&mut spring.length),
            1 => Some(&mut spring.stiffness),
            _ => None,
        }
    }

    fn bounds(&self, spring: &Spring, _: usize) -> [f64; 2] {
        [0.5 * spring.length, 2.0 * spring.length]
    }

    fn by_parameter(
        &self,
        _: &Spring,
        _: &[Placed; 2],
        parameter: usize,
    ) -> Option<ByParameter<1>> {
        match parameter {
            0 => Some(ByParameter { value: [-self.rest_scale], scaling: None }),
            1 => {
                let scaling = (!self.rigid).then_some(Scaling::Diagonal([1.0]));
                Some(ByParameter { value: [0.0], scaling })
            }
            _ => None,
        }
    }
}

impl Bond<1, 2> for Springs {
    const REST: &'static [&'static str] = &["length"];
    const VARIES: &'static [&'static str] = &["stiffness"];

    fn create(ingest: &mut Ingest<'_>) -> Result<Self> {
        let values = ingest.values();
        Ok(Self {
            rest_scale: values.number("rest-scale")?,
            range: values.optional_number("range")?,
            rigid: values.flag("rigid")?,
            path: ingest.path.to_owned(),
            budget: ingest.world.budget.clone(),
        })
    }

    fn is_idle(&self, with_edges: bool) -> bool {
        self.range.is_none() && !with_edges
    }

    fn emit(&self, ends: &[End<'_>]) -> Result<Chosen<2>> {
        match self.range {
            Some(range) => Ok(self.pairs_within(ends, range)?.into()),
            None => Ok(ends
                .iter()
                .enumerate()
                .flat_map(|(end, seen)| {
                    seen.edges.iter().map(move |edge| edge.map(|particle| (end, particle)))
                })
                .collect::<Vec<_>>()
                .into()),
        }
    }

    fn rest(&self, at: &[Placed; 2]) -> Spring {
        Spring { length: at[0].x.distance(at[1].x), stiffness: 0.0 }
    }

    fn is_hard(&self) -> bool {
        self.rigid
    }
}

impl Springs {
    /// All pairs of points in range, but for those of one rigid body, which holds them anyway.
    fn pairs_within(&self, ends: &[End<'_>], range: f64) -> Result<Vec<Points<2>>> {
        let points: Vec<Vec<DVec3>> =
            ends.iter().map(|end| end.placed.iter().map(|placed| placed.x).collect()).collect();
        let trees: Vec<Nearby<'_>> = points.iter().map(|points| Nearby::new(points)).collect();
        let mut pairs = Vec::new();
        let mut near = Vec::new();
        let mut asked = 0;
        for (end, seen) in ends.iter().enumerate() {
            for (particle, &at) in points[end].iter().enumerate() {
                for (other, tree) in trees.iter().enumerate().skip(end) {
                    near.clear();
                    tree.each_within(at, range, |n| near.push(n));
                    near.sort_unstable();
                    let body = |n: u32| seen.bodies.get(n as usize);
                    let particle = particle as u32;
                    near.retain(|&n| {
                        let one = other == end && body(n).is_some() && body(n) == body(particle);
                        (other != end || n > particle) && !one
                    });
                    if pairs.len() + near.len() > MOST_PAIRS {
                        let what = format!("more than {MOST_PAIRS} pairs of points are in range");
                        let path = format!("{}.range", self.path);
                        return Err(SimError::setup(path, what, "give a smaller range"));
                    }
                    if pairs.len() + near.len() > asked {
                        asked = pairs.len() + near.len() + ASKED_EVERY;
                        self.check_room(asked)?;
                    }
                    pairs.extend(near.iter().map(|&n| [(end, particle), (other, n)]));
                }
            }
        }
        Ok(pairs)
    }

    /// Refuses more springs than there is room for.
    fn check_room(&self, pairs: usize) -> Result<()> {
        let what = format!("{pairs} springs or more");
        let room = self.budget.check(&what, pairs as u64 * BYTES_OF_PAIR);
        room.map_err(|why| SimError::no_room(format!("{}.range", self.path), why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use undine_sim::constraint::harness::check_constraint;

    #[test]
    fn gradient_and_curvature_are_those_of_differences() {
        for (n, rigid) in [(0, false), (1, true), (2, false)] {
            let springs = Springs::new(0.7, rigid);
            let spring = Spring { length: 0.4, stiffness: 30.0 };
            let at = [DVec3::new(0.1, -0.3, f64::from(n)), DVec3::new(0.9, 0.2, 0.5)];
            check_constraint(&springs, &spring, &at.map(Placed::at)).unwrap();
        }
        // Where there is no direction, nothing pushes, and nothing is NaN.
        let springs = Springs::new(1.0, false);
        let at = [Placed::at(DVec3::ONE); 2];
        let rows = springs.evaluate(&Spring { length: 1.0, stiffness: 1.0 }, &at);
        assert_eq!((rows.value, rows.by_position), ([-1.0], [[DVec3::ZERO; 2]]));
    }
}
