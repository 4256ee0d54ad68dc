//! Thin things against each other: edges with radii, and particles where there are no edges.
//!
//! An edge is a capsule between two boundary particles, and a particle by itself an edge of no length. Two of them are followed through the
//! step, so that they never pass through each other ([`undine_geometry::ccd`]); where they do not meet, they are near when they end within a
//! margin. Whom to ask about is found on the lattice of Buckets, by the boxes of all that each passes
//! ([`undine_geometry::ccd::broad`]). Edges that have a particle in common, or are joined by an edge, do not touch.

use super::find::{ACCELERATION, Found, Key, Near, Part, Surroundings};
use super::{BODY_FRICTION, Side};
use rayon::prelude::*;
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;
use undine_core::{Frame, MemoryBudget};
use undine_geometry::ccd::broad::overlapping_self_part;
use undine_geometry::ccd::{Gap, edge_edge};
use undine_sim::{Result, SimError};

/// What comes nearer than this part of the distance that it should keep has nearly gone through.
const NEARLY: f64 = 0.25;

/// Contacts are looked for as far ahead as two edges have gone relative to each other, but not farther than this part of how far
/// something falls in a step: what comes nearer by forces is found when they are known.
const AHEAD: f64 = 0.1;

/// Pairs that one task looks at.
const PAIRS_PER_TASK: usize = 64;

/// An edge of a side, or a particle by itself, as what may touch others.
#[derive(Debug, Clone, Copy)]
struct Thin {
    side: u32,
    ends: [u32; 2],
    /// What edges join it with has the same number.
    strand: u32,
}

/// Where to look for pairs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lattice<'a> {
    pub frame: Frame,
    pub budget: &'a MemoryBudget,
}

/// Which pairs are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ask {
    /// Those that touch, or may as soon as forces act.
    Near,
    /// Those that have touched.
    Met,
}

impl Surroundings<'_> {
    /// Every edge against every other one.
    pub fn against_each_other(&self, lattice: &Lattice<'_>, out: &mut Vec<Found>) -> Result<()> {
        let (all, pairs) = self.pairs(lattice, Ask::Near)?;
        let found = pairs[self.part(pairs.len())]
            .par_iter()
            .with_min_len(PAIRS_PER_TASK)
            .filter_map(|&[a, b]| self.pair(&all[a as usize], &all[b as usize]).transpose())
            .collect();
        out.extend(self.of_all(found)?);
        Ok(())
    }

    /// Whether any two edges break the law of their contact.
    pub fn any_break(&self, lattice: &Lattice<'_>) -> Result<bool> {
        let (all, pairs) = self.pairs(lattice, Ask::Met)?;
        let breaks = |&[a, b]: &[u32; 2]| -> Result<bool> {
            let found = self.pair(&all[a as usize], &all[b as usize])?;
            Ok(found.is_some_and(|found| found.is_broken()))
        };
        let any = pairs[self.part(pairs.len())]
            .par_iter()
            .with_min_len(PAIRS_PER_TASK)
            .map(breaks)
            .try_reduce(|| false, |one, other| Ok(one | other));
        self.any(any)
    }

    /// How far ahead contacts of edges are looked for at most [m].
    fn ahead(&self) -> f64 {
        AHEAD * ACCELERATION * self.step * self.step
    }

    /// Every edge, and the pairs of them that have to be looked at, in their order.
    fn pairs(&self, lattice: &Lattice<'_>, ask: Ask) -> Result<(Vec<Thin>, Vec<[u32; 2]>)> {
        let common = self.common_way();
        let ahead = self.ahead();
        let (mut all, mut boxes) = (Vec::new(), Vec::new());
        for (number, side) in self.sides.iter().enumerate().filter(|(_, side)| side.body.is_empty())
        {
            let places = &self.places[number];
            all.reserve(side.edges.len());
            boxes.reserve(side.edges.len());
            for &ends in &side.edges {
                let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
                let (mut radius, mut way) = (0.0_f64, 0.0_f64);
                for n in ends.map(|n| n as usize) {
                    // What all do together brings nobody nearer to another.
                    let (from, to) = (side.start[n] + common, places[n]);
                    low = low.min(from).min(to);
                    high = high.max(from).max(to);
                    radius = radius.max(side.radius(n));
                    way = way.max(from.distance(to));
                }
                let grow = match ask {
                    Ask::Near => 2.0 * radius + way.min(ahead),
                    Ask::Met => (1.0 + 1e-6) * radius,
                };
                boxes.push(Bounds { min: low - grow, max: high + grow });
                let strand = side.strand[ends[0] as usize];
                all.push(Thin { side: number as u32, ends, strand });
            }
        }
        if all.len() < 2 {
            return Ok((all, Vec::new()));
        }
        let may = |a: u32, b: u32| {
            let (one, other) = (&all[a as usize], &all[b as usize]);
            let same = one.side == other.side && one.strand == other.strand;
            let joined = same && self.sides[one.side as usize].joined(one.ends, other.ends);
            (!joined).then_some([a, b])
        };
        let part = (self.processes.rank(), self.processes.count());
        let found = overlapping_self_part(lattice.frame, &boxes, part, lattice.budget, may);
        let mut pairs = self.pairs_of_all(found.map_err(SimError::from))?;
        // Along strands, so that contacts come in an order that sweeps can follow.
        pairs.par_sort_unstable();
        Ok((all, pairs))
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
        let sides = [&self.sides[one.side as usize], &self.sides[other.side as usize]];
        let ends = [one.ends[0], one.ends[1], other.ends[0], other.ends[1]].map(|n| n as usize);
        let side = |k: usize| [one.side, other.side][k / 2] as usize;
        let start: [DVec3; 4] = std::array::from_fn(|k| self.sides[side(k)].start[ends[k]]);
        let now: [DVec3; 4] = std::array::from_fn(|k| self.places[side(k)][ends[k]]);
        let flight: [DVec3; 4] = std::array::from_fn(|k| self.sides[side(k)].flight[ends[k]]);
        let radius = |k: usize| self.sides[side(k)].radius(ends[k]);
        let apart = radius(0).max(radius(1)) + radius(2).max(radius(3));
        // Relative to each other. What comes nearer by forces is found when the iteration is over.
        let ways: [DVec3; 4] = std::array::from_fn(|k| now[k] - start[k]);
        let between = [(0, 2), (0, 3), (1, 2), (1, 3)].map(|(k, l)| ways[k].distance(ways[l]));
        let margin = apart + between.into_iter().fold(0.0, f64::max).min(self.ahead());
        // By boxes of their differences first: most pairs neither meet nor are near.
        let (began, ends_at) = (Differences::of(&start), Differences::of(&now));
        let may_meet = began.join(&ends_at).come_within((1.0 + 1e-5) * apart);
        if !may_meet && !ends_at.come_within((1.0 + 1e-9) * (apart + margin)) {
            return Ok(None);
        }
        let met = match may_meet {
            true => edge_edge(start, now, Gap::new(apart, 1e-6 * apart)?)?,
            false => None,
        };
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

/// The box around all differences between points of two edges [m].
struct Differences {
    low: DVec3,
    high: DVec3,
}

impl Differences {
    fn of(x: &[DVec3; 4]) -> Self {
        let low = x[0].min(x[1]) - x[2].max(x[3]);
        let high = x[0].max(x[1]) - x[2].min(x[3]);
        Self { low, high }
    }

    fn join(&self, other: &Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// Whether two points of them may be so near to each other [m].
    fn come_within(&self, distance: f64) -> bool {
        let apart = DVec3::splat(distance);
        self.low.cmple(apart).all() && self.high.cmpge(-apart).all()
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
