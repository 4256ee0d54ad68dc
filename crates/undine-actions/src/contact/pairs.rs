//! Thin things against each other: edges with radii, and particles where there are no edges.
//!
//! An edge is a capsule between two boundary particles, and a particle by itself an edge of no length. Two of them are followed through the
//! step, so that they never pass through each other ([`undine_geometry::ccd`]); where they do not meet, they are near when they end within a
//! margin. Whom to ask about is found on the lattice of Buckets, by the boxes of all that each passes
//! ([`undine_geometry::ccd::broad`]). Edges that have a particle in common, or are joined by an edge, do not touch.

use super::find::{ACCELERATION, Found, Key, Near, Part, Surroundings};
use super::{BODY_FRICTION, Side};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;
use undine_core::{Frame, MemoryBudget};
use undine_geometry::ccd::broad::{Flat, Four, overlapping, overlapping_self_part};
use undine_geometry::ccd::{Gap, edge_edge};
use undine_sim::newton::{Contact, SPREAD, SystemSettings};
use undine_sim::{ObjectId, Result};

/// What comes nearer than this part of the distance that it should keep has nearly gone through.
const NEARLY: f64 = 0.25;

/// Edges that begin nearer than this part of the distance that they should keep cross each other as far as rounding can tell.
const UNTOLD: f64 = 1e-9;

/// Boxes of edges that come within this many times the distance that they should keep may meet, whatever rounding did.
const MEETING: f64 = 1.0 + 1e-5;

/// What overlaps by less than this part of the distance that it should keep touches.
const TOUCHES: f64 = 0.01;

/// Contacts are looked for as far ahead as two edges have gone relative to each other, but not farther than this part of how far
/// something falls in a step: what comes nearer by forces is found when they are known.
const AHEAD: f64 = 0.1;

/// Pairs that one task looks at.
const PAIRS_PER_TASK: usize = 64;

/// Edges of a strand whose box is compared with those of others at first; no more than there are in [`Four`].
const RUN: usize = 4;

/// Edges that one task looks at.
const EDGES_PER_TASK: usize = 1024;

/// Pairs of runs that one task looks at.
const RUNS_PER_TASK: usize = 256;

/// Pairs of edges that are near that one task looks at.
const NEAR_PER_TASK: usize = 2048;

/// If more than one in so many edges has left the box in which others were looked for, all are looked for anew.
const FEW: usize = 4;

/// An edge of a side, or a particle by itself, as what may touch others.
#[derive(Debug, Clone, Copy)]
struct Thin {
    side: u32,
    ends: [u32; 2],
    /// What edges join it with has the same number.
    strand: u32,
    /// Where its ends were when the step began, and where they are [m].
    start: [DVec3; 2],
    now: [DVec3; 2],
    /// [m]
    radius: f64,
}

/// Edges that may come near to each other, by boxes that are wider than they need be: as long as edges stay within these, the next look in
/// the same step need not search.
#[derive(Debug, Clone, Default)]
pub(super) struct Candidates {
    /// How far all go on the mean [m]: what they do together brings nobody nearer to another.
    common: DVec3,
    /// Where boxes are measured from [m].
    from: DVec3,
    within: Vec<Flat>,
    /// This process's part of the pairs.
    near: Vec<[u32; 2]>,
}

/// Where to look for pairs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lattice<'a> {
    pub frame: Frame,
    pub budget: &'a MemoryBudget,
}

/// Edges that overlap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Overlaps {
    /// How many pairs of edges do.
    pub pairs: usize,
    /// How many of them are so deep in each other that nobody can tell on which side they are.
    pub through: usize,
    /// The deepest: the Objects, how far the two are from each other, how far they should be, and where [m].
    pub objects: [ObjectId; 2],
    pub distance: f64,
    pub apart: f64,
    pub at: DVec3,
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
    pub fn against_each_other(
        &self,
        lattice: &Lattice<'_>,
        known: &mut Candidates,
        out: &mut Vec<Found>,
    ) -> Result<()> {
        let (all, pairs) = self.pairs(lattice, known, Ask::Near)?;
        let found = pairs[self.part(pairs.len())]
            .par_iter()
            .with_min_len(PAIRS_PER_TASK)
            .filter_map(|&[a, b]| self.pair(&all[a as usize], &all[b as usize]).transpose())
            .collect();
        out.extend(self.of_all(found)?);
        Ok(())
    }

    /// Whether the contact of any two edges that have met is such.
    pub fn any_pair(
        &self,
        lattice: &Lattice<'_>,
        known: &mut Candidates,
        is: impl Fn(&Found) -> bool + Sync + Send,
    ) -> Result<bool> {
        let (all, pairs) = self.pairs(lattice, known, Ask::Met)?;
        let breaks = |&[a, b]: &[u32; 2]| -> Result<bool> {
            let found = self.pair(&all[a as usize], &all[b as usize])?;
            Ok(found.is_some_and(|found| is(&found)))
        };
        let any = pairs[self.part(pairs.len())]
            .par_iter()
            .with_min_len(PAIRS_PER_TASK)
            .map(breaks)
            .try_reduce(|| false, |one, other| Ok(one | other));
        self.any(any)
    }

    /// A contact of two edges as it was found before, where they are now; none if it is no such contact.
    pub fn again(&self, found: &Found) -> Option<Found> {
        let (Part::Particles { object: one, on }, Part::Particles { object: other, on: against }) =
            (found.first, found.second)
        else {
            return None;
        };
        let number = |object: ObjectId| self.sides.iter().position(|side| side.object == object);
        let (one, other) = (number(one)?, number(other)?);
        let at = |places: &[DVec3], on: &[(u32, f64); 2]| {
            on.iter().fold(DVec3::ZERO, |sum, &(n, weight)| sum + places[n as usize] * weight)
        };
        let places = [at(&self.places[one], &on), at(&self.places[other], &against)];
        let start = at(&self.sides[one].start, &on) - at(&self.sides[other].start, &against);
        let between = places[0] - places[1];
        let contact = Contact {
            gap: between.dot(found.contact.normal) - found.reach,
            slip: between - start,
            ..found.contact
        };
        Some(Found { contact, places, at: places[1], passes: false, is_kept: true, ..*found })
    }

    /// Which edges overlap where the step begins.
    pub fn overlaps(&self, lattice: &Lattice<'_>) -> Result<Option<Overlaps>> {
        let (all, pairs) = self.pairs(lattice, &mut Candidates::default(), Ask::Met)?;
        let mut found: Option<Overlaps> = None;
        for [a, b] in pairs {
            let (one, other) = (&all[a as usize], &all[b as usize]);
            let Way { start, apart, .. } = Way::of(one, other);
            let Some(met) = edge_edge(start, start, Gap::new(apart, 0.0)?)? else { continue };
            let distance = distance(&met.weights, &start);
            // What rests on each other touches.
            if distance >= (1.0 - TOUCHES) * apart {
                continue;
            }
            let objects = [one, other].map(|thin| self.sides[thin.side as usize].object);
            let at = start[0] * met.weights[0] + start[1] * met.weights[1];
            let here = Overlaps { pairs: 0, through: 0, objects, distance, apart, at };
            let sum = found.get_or_insert(here);
            if distance < sum.distance {
                *sum = Overlaps { pairs: sum.pairs, through: sum.through, ..here };
            }
            sum.pairs += 1;
            sum.through += usize::from(distance < NEARLY * apart);
        }
        Ok(found)
    }

    /// How far contacts of edges that keep a distance [m] are off at most when they are solved [m].
    fn solved_to(&self, apart: f64) -> f64 {
        let exact = SystemSettings::default().tied_contact_speed * self.step;
        exact.max(SPREAD * self.accuracy(apart))
    }

    /// How far ahead contacts of edges are looked for at most [m].
    fn ahead(&self) -> f64 {
        AHEAD * ACCELERATION * self.step * self.step
    }

    /// Every edge, and the pairs of them that have to be looked at, in their order.
    fn pairs(
        &self,
        lattice: &Lattice<'_>,
        known: &mut Candidates,
        ask: Ask,
    ) -> Result<(Vec<Thin>, Vec<[u32; 2]>)> {
        let all = self.thin();
        if all.len() < 2 {
            return Ok((all, Vec::new()));
        }
        if known.within.is_empty() {
            (known.common, known.from) = (self.common_way(), all[0].start[0]);
        }
        let (common, from, ahead) = (known.common, known.from, self.ahead());
        let around = |thin: &Thin| thin.around(common, ask, ahead);
        let flat: Vec<Flat> = all
            .par_iter()
            .with_min_len(EDGES_PER_TASK)
            .map(|thin| Flat::of(&around(thin), from))
            .collect();
        let found = self.near(lattice, known, &all, around, &flat).map(|others| {
            let comes = |&&[a, b]: &&[u32; 2]| {
                let [a, b] = [a as usize, b as usize];
                flat[a].meets(&flat[b]) && all[a].comes_near(&all[b], ask, ahead)
            };
            let of = |pairs: &[[u32; 2]]| -> Vec<[u32; 2]> {
                pairs.par_iter().with_min_len(NEAR_PER_TASK).filter(comes).copied().collect()
            };
            [of(&known.near), of(&others)].concat()
        });
        let mut pairs = self.pairs_of_all(found)?;
        // Along strands, so that contacts come in an order that sweeps can follow.
        pairs.par_sort_unstable();
        pairs.dedup();
        Ok((all, pairs))
    }

    /// All edges of thin things.
    fn thin(&self) -> Vec<Thin> {
        let mut all = Vec::new();
        for (number, side) in self.sides.iter().enumerate().filter(|(_, side)| side.body.is_empty())
        {
            let thin = |&ends: &[u32; 2]| Thin {
                side: number as u32,
                ends,
                strand: side.strand[ends[0] as usize],
                start: ends.map(|n| side.start[n as usize]),
                now: ends.map(|n| self.places[number][n as usize]),
                radius: side.radius(ends[0] as usize).max(side.radius(ends[1] as usize)),
            };
            all.par_extend(side.edges.par_iter().with_min_len(EDGES_PER_TASK).map(thin));
        }
        all
    }

    /// Finds who is near, where earlier looks in this step do not know it: pairs beside those that are known. Boxes of edges are those that
    /// `around` tells, and `flat` has them.
    fn near(
        &self,
        lattice: &Lattice<'_>,
        known: &mut Candidates,
        all: &[Thin],
        around: impl Fn(&Thin) -> Bounds + Sync,
        flat: &[Flat],
    ) -> Result<Vec<[u32; 2]>> {
        let Lattice { frame, budget } = *lattice;
        let is_known = known.within.len() == all.len();
        let left: Vec<usize> = (0..if is_known { all.len() } else { 0 })
            .into_par_iter()
            .with_min_len(EDGES_PER_TASK)
            .filter(|&n| !flat[n].lies_in(&known.within[n]))
            .collect();
        if is_known && left.is_empty() {
            return Ok(Vec::new());
        }
        if is_known && left.len() * FEW <= all.len() {
            let runs = Runs::new(all, around);
            let mut found: Vec<usize> = left.iter().map(|&edge| runs.of(edge)).collect();
            found.dedup();
            let boxes: Vec<Bounds> = found.iter().map(|&run| runs.around[run]).collect();
            // Both of two that have left find each other, and every process finds these; they are kept once in the end.
            let mut near = overlapping(frame, &boxes, &runs.around, budget, |a, b| {
                let a = found[a as usize] as u32;
                Some([a.min(b), a.max(b)])
            })?;
            near.par_sort_unstable();
            near.dedup();
            return self.edges(all, &runs, flat, &near, budget);
        }
        // Wider than need be, for the next look.
        let slack = self.ahead();
        let wide = |thin: &Thin| {
            let bounds = around(thin);
            Bounds { min: bounds.min - slack, max: bounds.max + slack }
        };
        let from = known.from;
        known.within = all
            .par_iter()
            .with_min_len(EDGES_PER_TASK)
            .map(|thin| Flat::of(&wide(thin), from))
            .collect();
        let runs = Runs::new(all, wide);
        let part = (self.processes.rank(), self.processes.count());
        let mut near =
            overlapping_self_part(frame, &runs.around, part, budget, |a, b| Some([a, b]))?;
        near.extend(self.part(runs.list.len()).map(|run| [run as u32, run as u32]));
        known.near = self.edges(all, &runs, &known.within, &near, budget)?;
        Ok(Vec::new())
    }

    /// The edges of runs that may touch each other and whose boxes meet.
    fn edges(
        &self,
        all: &[Thin],
        runs: &Runs,
        boxes: &[Flat],
        near: &[[u32; 2]],
        budget: &MemoryBudget,
    ) -> Result<Vec<[u32; 2]>> {
        let four = |run: &Range<usize>| Four::of(&boxes[run.clone()]);
        let fours: Vec<Four> =
            runs.list.par_iter().with_min_len(EDGES_PER_TASK).map(four).collect();
        let touch = |a: usize, b: usize| {
            let (one, other) = (&all[a], &all[b]);
            let same = one.side == other.side && one.strand == other.strand;
            !(same && self.sides[one.side as usize].joined(one.ends, other.ends))
        };
        let bytes = AtomicU64::new(0);
        let edges = |near: &[[u32; 2]]| -> Result<Vec<[u32; 2]>> {
            let mut found = Vec::new();
            for [p, q] in near.iter().map(|pair| pair.map(|run| run as usize)) {
                let first = runs.list[q].start;
                for a in runs.list[p].clone() {
                    let met = fours[q].met_by(&boxes[a]).map(|n| first + n);
                    found.extend(
                        met.filter(|&b| b > a && touch(a, b)).map(|b| [a as u32, b as u32]),
                    );
                }
            }
            // They are put together in the end, and held twice until then.
            let more = 2 * size_of_val(&found[..]) as u64;
            let all = bytes.fetch_add(more, Ordering::Relaxed) + more;
            budget.check("pairs of edges that are near", all)?;
            Ok(found)
        };
        let found = near.par_chunks(RUNS_PER_TASK).map(edges).collect::<Result<Vec<_>>>()?;
        Ok(found.concat())
    }

    /// How far particles that move by themselves have gone on the mean [m].
    fn common_way(&self) -> DVec3 {
        let (sum, count) =
            self.ways().fold((DVec3::ZERO, 0.0_f64), |(sum, n), way| (sum + way, n + 1.0));
        sum / count.max(1.0)
    }

    /// How far they have gone apart from that, in the root of the mean square [m].
    pub fn own_ways(&self) -> f64 {
        let common = self.common_way();
        let (sum, count) = self
            .ways()
            .fold((0.0, 0.0_f64), |(sum, n), way| (sum + way.distance_squared(common), n + 1.0));
        (sum / count.max(1.0)).sqrt()
    }

    /// How far each of them has gone [m].
    fn ways(&self) -> impl Iterator<Item = DVec3> {
        let sides = self.sides.iter().zip(self.places).filter(|(side, _)| side.body.is_empty());
        sides
            .flat_map(|(side, places)| places.iter().zip(&side.start).map(|(to, from)| *to - *from))
    }

    /// Two edges.
    fn pair(&self, one: &Thin, other: &Thin) -> Result<Option<Found>> {
        let sides = [&self.sides[one.side as usize], &self.sides[other.side as usize]];
        let ends = [one.ends[0], one.ends[1], other.ends[0], other.ends[1]].map(|n| n as usize);
        let side = |k: usize| [one.side, other.side][k / 2] as usize;
        let flight: [DVec3; 4] = std::array::from_fn(|k| self.sides[side(k)].flight[ends[k]]);
        let way = Way::of(one, other);
        let Way { start, now, apart } = way;
        let may_meet = way.may_meet();
        // What comes nearer by forces is found when the iteration is over.
        let margin = way.margin(self.ahead());
        let met = match may_meet {
            true => edge_edge(start, now, Gap::new(apart, 1e-6 * apart)?)?,
            false => None,
        };
        // Edges that turn about where they touch first may go through each other elsewhere.
        let through = match &met {
            Some(_) => match edge_edge(start, start, Gap::new(NEARLY * apart, 0.0)?)? {
                None => edge_edge(start, now, Gap::new(NEARLY * apart, 1e-6 * apart)?)?,
                Some(began) => {
                    // Those that begin nearer have to stay on their sides, and not to come much nearer; but a solve of contacts leaves
                    // them off by its tolerance. Where they begin in one place, nobody can tell which side is whose.
                    let began = distance(&began.weights, &start);
                    let least = (0.5 * began).min(began - 2.0 * self.solved_to(apart)).max(0.0);
                    let tolerance = 1e-6 * apart.min(1e5 * began);
                    match began > UNTOLD * apart {
                        true => edge_edge(start, now, Gap::new(least, tolerance)?)?,
                        false => None,
                    }
                }
            },
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
            contact: Contact {
                accuracy: self.accuracy(apart),
                ..self.thin_contact(&near, slip, flown, friction)
            },
            places,
            reach: apart,
            passes,
            was_broken: false,
            is_kept: false,
        }))
    }
}

impl Thin {
    /// The box of all that it passes, and of how far ahead others are asked for [m]; as seen by who goes the common way.
    fn around(&self, common: DVec3, ask: Ask, ahead: f64) -> Bounds {
        let [a, b] = self.start.map(|start| start + common);
        let [c, d] = self.now;
        let way = a.distance(c).max(b.distance(d));
        let grow = match ask {
            Ask::Near => 2.0 * self.radius + way.min(ahead),
            Ask::Met => (1.0 + 1e-6) * self.radius,
        };
        Bounds { min: a.min(b).min(c.min(d)) - grow, max: a.max(b).max(c.max(d)) + grow }
    }

    /// Whether another one may come as near as is asked for, by boxes of their differences.
    fn comes_near(&self, other: &Self, ask: Ask, ahead: f64) -> bool {
        let apart = self.radius + other.radius;
        let began = Differences::of(&self.start, &other.start);
        let ends = Differences::of(&self.now, &other.now);
        // Near is at most that; how near exactly takes longer to say.
        began.join(&ends).come_within(MEETING * apart)
            || (ask == Ask::Near
                && ends.come_within(2.0 * apart + ahead)
                && ends.come_within(apart + Way::of(self, other).margin(ahead)))
    }
}

/// Runs of edges that follow each other along a strand: they are fewer, and compared first.
struct Runs {
    list: Vec<Range<usize>>,
    /// The box around each.
    around: Vec<Bounds>,
}

impl Runs {
    fn new(all: &[Thin], around: impl Fn(&Thin) -> Bounds + Sync) -> Self {
        let mut list: Vec<Range<usize>> = Vec::with_capacity(all.len() / RUN + 1);
        for (n, thin) in all.iter().enumerate() {
            let goes_on = |run: &&mut Range<usize>| {
                let first = &all[run.start];
                run.len() < RUN && (first.side, first.strand) == (thin.side, thin.strand)
            };
            match list.last_mut().filter(goes_on) {
                Some(run) => run.end = n + 1,
                None => list.push(n..n + 1),
            }
        }
        let unite = |run: &Range<usize>| all[run.clone()].iter().map(&around).reduce(Bounds::union);
        let around = list.par_iter().with_min_len(EDGES_PER_TASK).filter_map(unite).collect();
        Self { list, around }
    }

    /// The run that an edge is of.
    fn of(&self, edge: usize) -> usize {
        self.list.partition_point(|run| run.end <= edge)
    }
}

/// How two edges go.
struct Way {
    start: [DVec3; 4],
    now: [DVec3; 4],
    /// The distance that they are to keep [m].
    apart: f64,
}

impl Way {
    fn of(one: &Thin, other: &Thin) -> Self {
        let all = |one: &[DVec3; 2], other: &[DVec3; 2]| [one[0], one[1], other[0], other[1]];
        Self {
            start: all(&one.start, &other.start),
            now: all(&one.now, &other.now),
            apart: one.radius + other.radius,
        }
    }

    /// Whether they may meet, by boxes of their differences: most pairs do not.
    fn may_meet(&self) -> bool {
        let of = |x: &[DVec3; 4]| Differences::of(&[x[0], x[1]], &[x[2], x[3]]);
        of(&self.start).join(&of(&self.now)).come_within(MEETING * self.apart)
    }

    /// How near is near at the end, beyond touching [m]: as far as they have gone relative to each other, and not more than `ahead`.
    fn margin(&self, ahead: f64) -> f64 {
        let ways: [DVec3; 4] = std::array::from_fn(|k| self.now[k] - self.start[k]);
        let between = [(0, 2), (0, 3), (1, 2), (1, 3)];
        let between = between.map(|(k, l)| ways[k].distance_squared(ways[l]));
        self.apart + between.into_iter().fold(0.0, f64::max).sqrt().min(ahead)
    }
}

/// The box around all differences between points of two edges [m].
struct Differences {
    low: DVec3,
    high: DVec3,
}

impl Differences {
    #[inline]
    fn of(one: &[DVec3; 2], other: &[DVec3; 2]) -> Self {
        let low = one[0].min(one[1]) - other[0].max(other[1]);
        let high = one[0].max(one[1]) - other[0].min(other[1]);
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
