//! Thin things against each other: edges with radii, and particles where there are no edges.
//!
//! An edge is a capsule between two boundary particles, and a particle by itself an edge of no length. Two of them are followed through the
//! step, so that they never pass through each other ([`undine_geometry::ccd`]); where they do not meet, they are near when they end within a
//! margin. Who is near to whom is found by cells of space, in an order that threads do not change. Edges that have a particle in common, or are
//! joined by an edge, do not touch.

use super::find::{Found, Key, Near, Part, Surroundings};
use super::{BODY_FRICTION, Side};
use rayon::prelude::*;
use undine_core::glam::{DVec3, I64Vec3};
use undine_geometry::ccd::{Gap, edge_edge};
use undine_sim::Result;

/// What comes nearer than this part of the distance that it should keep has nearly gone through.
const NEARLY: f64 = 0.25;

/// Edges that one task looks at.
const EDGES_PER_TASK: usize = 64;

/// An edge of a side, or a particle by itself, as what may touch others.
#[derive(Debug, Clone, Copy)]
struct Thin {
    side: usize,
    ends: [u32; 2],
    /// The middle of all places that it passes [m].
    middle: DVec3,
    cell: [i64; 3],
}

impl Surroundings<'_> {
    /// Every edge against every other one.
    pub fn against_each_other(&self, out: &mut Vec<Found>) -> Result<()> {
        let (mut all, mut size) = (Vec::new(), 0.0_f64);
        let common = self.common_way();
        for (number, side) in self.sides.iter().enumerate().filter(|(_, side)| side.body.is_empty())
        {
            for &ends in &side.edges {
                let places = &self.places[number];
                let (mut low, mut high, mut margin) =
                    (DVec3::INFINITY, DVec3::NEG_INFINITY, 0.0_f64);
                for n in ends.map(|n| n as usize) {
                    // What all do together brings nobody nearer to another.
                    let (from, to) = (side.start[n] + common, places[n]);
                    low = low.min(from).min(to);
                    high = high.max(from).max(to);
                    margin = margin.max(2.0 * side.radius(n) + from.distance(to));
                }
                size = size.max((high - low).max_element() + 2.0 * margin);
                let middle = 0.5 * (low + high);
                all.push(Thin { side: number, ends, middle, cell: [0; 3] });
            }
        }
        if all.len() < 2 || size <= 0.0 {
            return Ok(());
        }
        // With cells as large as the largest of them, whoever may meet is in cells beside each other.
        for thin in &mut all {
            thin.cell = (thin.middle / size).floor().as_i64vec3().to_array();
        }
        let mut order: Vec<u32> = (0..all.len() as u32).collect();
        order.sort_by_key(|&n| (all[n as usize].cell, n));
        let (all, order) = (&all, &order);
        let in_cell = |cell: [i64; 3]| {
            let first = order.partition_point(|&n| all[n as usize].cell < cell);
            order[first..].iter().copied().take_while(move |&n| all[n as usize].cell == cell)
        };
        let look = |n: usize| -> Result<Vec<Found>> {
            let one = &all[n];
            let mut found = Vec::new();
            let here = I64Vec3::from_array(one.cell);
            for k in 0..27 {
                let cell = here + I64Vec3::new(k / 9 - 1, k / 3 % 3 - 1, k % 3 - 1);
                for other in in_cell(cell.to_array()).filter(|&other| other as usize > n) {
                    found.extend(self.pair(one, &all[other as usize])?);
                }
            }
            Ok(found)
        };
        let found: Vec<Vec<Found>> = (0..all.len())
            .into_par_iter()
            .with_min_len(EDGES_PER_TASK)
            .map(look)
            .collect::<Result<_>>()?;
        out.extend(found.into_iter().flatten());
        Ok(())
    }

    /// How far particles that move by themselves have gone on the mean [m].
    fn common_way(&self) -> DVec3 {
        let sides = self.sides.iter().zip(self.places).filter(|(side, _)| side.body.is_empty());
        let (mut sum, mut count) = (DVec3::ZERO, 0.0_f64);
        for (side, places) in sides {
            for (to, from) in places.iter().zip(&side.start) {
                sum += *to - *from;
                count += 1.0;
            }
        }
        sum / count.max(1.0)
    }

    /// Two edges.
    fn pair(&self, one: &Thin, other: &Thin) -> Result<Option<Found>> {
        let sides = [&self.sides[one.side], &self.sides[other.side]];
        if one.side == other.side && sides[0].joined(one.ends, other.ends) {
            return Ok(None);
        }
        let ends = [one.ends[0], one.ends[1], other.ends[0], other.ends[1]].map(|n| n as usize);
        let side = |k: usize| [one.side, other.side][k / 2];
        let start: [DVec3; 4] = std::array::from_fn(|k| self.sides[side(k)].start[ends[k]]);
        let now: [DVec3; 4] = std::array::from_fn(|k| self.places[side(k)][ends[k]]);
        let flight: [DVec3; 4] = std::array::from_fn(|k| self.sides[side(k)].flight[ends[k]]);
        let radius = |k: usize| self.sides[side(k)].radius(ends[k]);
        let apart = radius(0).max(radius(1)) + radius(2).max(radius(3));
        // Relative to each other. What comes nearer by forces is found when the iteration is over.
        let ways: [DVec3; 4] = std::array::from_fn(|k| now[k] - start[k]);
        let between = [(0, 2), (0, 3), (1, 2), (1, 3)].map(|(k, l)| ways[k].distance(ways[l]));
        let margin = apart + between.into_iter().fold(0.0, f64::max);
        // Boxes first, as the second edge sees them: most pairs of a cell are far from each other.
        let reach = DVec3::splat(apart + margin);
        let low = |a: usize| now[a].min(now[a + 1]);
        let high = |a: usize| now[a].max(now[a + 1]);
        if (low(0) - reach).cmpgt(high(2)).any() || (low(2) - reach).cmpgt(high(0)).any() {
            return Ok(None);
        }
        let met = edge_edge(start, now, Gap::new(apart, 1e-6 * apart)?)?;
        // Edges that turn about where they touch first may go through each other elsewhere.
        let through = match &met {
            Some(_) => {
                let began = edge_edge(start, start, Gap::new(NEARLY * apart, 0.0)?)?;
                let least =
                    began.map_or(NEARLY * apart, |began| 0.5 * distance(&began.weights, &start));
                edge_edge(start, now, Gap::new(least, 1e-6 * apart)?)?
            }
            None => None,
        };
        let passes = through.is_some();
        let met = match through.or(met) {
            Some(met) => Some(met),
            None => edge_edge(now, now, Gap::new(apart + margin, 0.0)?)?,
        };
        let Some(met) = met else { return Ok(None) };
        let weighted = |x: &[DVec3; 4]| {
            met.weights.iter().zip(x).fold(DVec3::ZERO, |sum, (weight, x)| sum + *x * *weight)
        };
        let (w, ids) = (met.weights, |k: usize| self.sides[side(k)].ids[ends[k]]);
        let places = [now[0] * w[0] + now[1] * w[1], now[2] * -w[2] + now[3] * -w[3]];
        let near = Near {
            normal: met.normal,
            gap: weighted(&now).dot(met.normal) - apart,
            point: places[1],
        };
        let slip = weighted(&now) - weighted(&start);
        let flown = weighted(&flight) - weighted(&start);
        let friction = self.manner.friction.unwrap_or(BODY_FRICTION);
        Ok(Some(Found {
            key: Key {
                objects: [sides[0].object.0 as u32, sides[1].object.0 as u32],
                points: [ids(0), ids(1), ids(2), ids(3)],
            },
            first: Part::Particles {
                object: sides[0].object,
                on: [(one.ends[0], w[0]), (one.ends[1], w[1])],
            },
            second: Part::Particles {
                object: sides[1].object,
                on: [(other.ends[0], -w[2]), (other.ends[1], -w[3])],
            },
            at: near.point,
            contact: self.thin_contact(&near, slip, flown, friction),
            places,
            reach: apart,
            passes,
        }))
    }
}

/// How far the two points of these weights are from each other [m].
fn distance(weights: &[f64; 4], x: &[DVec3; 4]) -> f64 {
    weights.iter().zip(x).fold(DVec3::ZERO, |sum, (weight, x)| sum + *x * *weight).length()
}

impl Side {
    /// Whether two edges have a particle in common, or an edge joins them.
    fn joined(&self, one: [u32; 2], other: [u32; 2]) -> bool {
        let common = |a: u32, b: u32| a == b || self.neighbours(a).contains(&b);
        one.iter().any(|&a| other.iter().any(|&b| common(a, b)))
    }
}
