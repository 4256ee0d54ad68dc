//! Which points an attachment holds together: every point and the closest of the target, all in range, the one closest pair of
//! each body, or what a network of ids says (Loki, §6.3, *Emission*).
//!
//! Of a target that is a surface, the closest point is the closest place on its triangles. All of a surface that moves as one is held by a
//! source point in one place at most.

use crate::nearby::{MOST_PAIRS, Nearby};
use rayon::prelude::*;
use std::collections::BTreeMap;
use undine_core::glam::DVec3;
use undine_sim::action::constraint::{Chosen, End, Points};
use undine_sim::constraint::Placed;
use undine_sim::input::PointCloud;
use undine_sim::surface::{Closest, Surface};

/// How points are chosen.
#[derive(Debug, Clone, PartialEq)]
pub enum Emission {
    /// Each source point with the closest of the target, if that is within range [m].
    Closest(f64),
    /// Each source body, strand or particle with the closest target point of any of its points, if that is within range [m].
    Pair(f64),
    /// All pairs within range [m].
    Range(f64),
    /// By ids of source and target points.
    Network(Vec<[u64; 2]>),
}

impl Emission {
    /// Ids from the channels `source` and `target` of points; none if they lack one, or hold what is no id.
    pub fn network(cloud: &PointCloud) -> Option<Self> {
        let ids = |name: &str| -> Option<Vec<u64>> {
            let whole = |&id: &f64| {
                (id >= 0.0 && id.fract() == 0.0 && id < 2_f64.powi(53)).then_some(id as u64)
            };
            cloud.numbers.get(name)?.iter().map(whole).collect()
        };
        let (source, target) = (ids("source")?, ids("target")?);
        let pairs = source.into_iter().zip(target).map(|(source, target)| [source, target]);
        Some(Self::Network(pairs.collect()))
    }

    /// Pairs of a source and a target point; none if there would be too many. A target whose surface is looked at is held anywhere
    /// on that. Where all Objects are targets they are sources as well, but no body is held to itself.
    pub fn choose(&self, ends: &[End<'_>]) -> Option<Chosen<2>> {
        let all_targets = ends.iter().all(|end| end.is_target);
        let is_source = |end: usize| all_targets || !ends[end].is_target;
        let sources: Vec<usize> = (0..ends.len()).filter(|&end| is_source(end)).collect();
        let targets: Vec<usize> = (0..ends.len()).filter(|&end| ends[end].is_target).collect();
        if let Self::Network(pairs) = self {
            return Some(by_ids(ends, &sources, &targets, pairs).into());
        }
        let has_surface = |end: &usize| ends[*end].surface.is_some();
        let (surfaces, bare): (Vec<usize>, Vec<usize>) = targets.into_iter().partition(has_surface);
        let surfaces = Surfaces::new(ends, &surfaces);
        let points = TargetPoints::new(ends, &bare);
        let tree = Nearby::new(&points.places);
        let mut chosen = Pairs::default();
        let mut shortest: BTreeMap<(usize, u32), Pair> = BTreeMap::new();
        let mut near = Vec::new();
        for &end in &sources {
            // Surfaces are asked about by all threads, points as they come.
            let on_surfaces = match *self {
                Self::Closest(range) | Self::Pair(range) => surfaces.closest(end, range),
                Self::Range(_) | Self::Network(_) => Vec::new(),
            };
            for (n, placed) in ends[end].placed.iter().enumerate() {
                let source = (end, n as u32);
                let apart = |target: u32| !moves_as_one(ends, source, points.from[target as usize]);
                let closest = |within: f64| -> Option<Pair> {
                    let on_surface = on_surfaces.get(n).copied().flatten();
                    let on_surface = on_surface.filter(|found| found.distance() <= within);
                    let within = on_surface.map_or(within, |found| found.distance());
                    let found = tree.closest(placed.x, within, apart);
                    let point = found.map(|(target, distance)| Pair {
                        points: [source, points.from[target as usize]],
                        on: On::Point(distance),
                    });
                    // A point of its own is as good as a place on a surface.
                    point.or(on_surface)
                };
                match *self {
                    Self::Closest(range) => closest(range).into_iter().for_each(|p| chosen.push(p)),
                    Self::Pair(range) => {
                        let whole = ends[end].bodies.get(n).or(ends[end].strands.get(n));
                        let body = whole.copied().unwrap_or(n as u32);
                        let known = shortest.get(&(end, body)).map(Pair::distance);
                        if let Some(pair) = closest(known.unwrap_or(range))
                            && known.is_none_or(|least| pair.distance() < least)
                        {
                            shortest.insert((end, body), pair);
                        }
                    }
                    Self::Range(range) => {
                        near.clear();
                        tree.each_within(placed.x, range, |target| near.push(target));
                        near.sort_unstable();
                        near.retain(|&target| {
                            // Among themselves, every pair is met twice.
                            apart(target) && (!all_targets || source < points.from[target as usize])
                        });
                        for target in near.iter().map(|target| *target as usize) {
                            let on = On::Point(placed.x.distance(points.places[target]));
                            chosen.push(Pair { points: [source, points.from[target]], on });
                        }
                        surfaces.each_within(source, range, |pair| chosen.push(pair));
                    }
                    Self::Network(_) => {}
                }
                if chosen.0.points.len() > MOST_PAIRS {
                    return None;
                }
            }
        }
        shortest.into_values().for_each(|pair| chosen.push(pair));
        Some(chosen.0)
    }
}

/// A source point and what it is held to.
#[derive(Clone, Copy)]
struct Pair {
    points: Points<2>,
    on: On,
}

/// What of a target is held.
#[derive(Clone, Copy)]
enum On {
    /// A point of its own, so far away [m].
    Point(f64),
    /// A place on its surface.
    Surface(Closest),
}

impl Pair {
    fn distance(&self) -> f64 {
        match &self.on {
            On::Point(distance) => *distance,
            On::Surface(closest) => closest.distance,
        }
    }
}

/// Pairs that are chosen.
#[derive(Default)]
struct Pairs(Chosen<2>);

impl Pairs {
    fn push(&mut self, Pair { points, on }: Pair) {
        if let On::Surface(closest) = on {
            self.0.on_surface.resize(self.0.points.len(), None);
            self.0.on_surface.push(Some(closest));
        }
        self.0.points.push(points);
    }
}

/// The points of targets in a row.
struct TargetPoints {
    /// Where they are from.
    from: Vec<(usize, u32)>,
    places: Vec<DVec3>,
}

impl TargetPoints {
    fn new(ends: &[End<'_>], targets: &[usize]) -> Self {
        let of = |&end: &usize| (0..ends[end].placed.len() as u32).map(move |n| (end, n));
        let from: Vec<(usize, u32)> = targets.iter().flat_map(of).collect();
        let places = from.iter().map(|&(end, n)| ends[end].placed[n as usize].x).collect();
        Self { from, places }
    }
}

/// The surfaces of targets.
struct Surfaces<'a> {
    ends: &'a [End<'a>],
    all: Vec<(usize, &'a Surface<'a>)>,
}

impl<'a> Surfaces<'a> {
    fn new(ends: &'a [End<'a>], targets: &[usize]) -> Self {
        let surface = |&end: &usize| Some((end, ends[end].surface?));
        Self { ends, all: targets.iter().filter_map(surface).collect() }
    }

    /// Surfaces that a source point may be held to, each with the part of it that is the point's own.
    fn of_others(
        &self,
        (end, n): (usize, u32),
    ) -> impl Iterator<Item = (usize, &'a Surface<'a>, Option<u64>)> {
        let own = self.ends[end].bodies.get(n as usize).map(|body| u64::from(*body));
        let of = move |&(target, surface): &(usize, &'a Surface<'a>)| match target == end {
            // What is part of a surface that moves as one is no other than it.
            true => own.map(|own| (target, surface, Some(own))),
            false => Some((target, surface, None)),
        };
        self.all.iter().filter_map(of)
    }

    /// For each point of a source the closest place on any surface, within a range [m].
    fn closest(&self, end: usize, range: f64) -> Vec<Option<Pair>> {
        if self.all.is_empty() {
            return Vec::new();
        }
        let find = |(n, placed): (usize, &Placed)| {
            let source = (end, n as u32);
            let mut best: Option<Pair> = None;
            for (target, surface, own) in self.of_others(source) {
                let within = best.map_or(range, |best| best.distance());
                if let Some(closest) = surface.closest(placed.x, within, own)
                    && best.is_none_or(|best| closest.distance < best.distance())
                {
                    let points = [source, (target, 0)];
                    best = Some(Pair { points, on: On::Surface(closest) });
                }
            }
            best
        };
        let placed = self.ends[end].placed;
        placed.par_iter().enumerate().with_min_len(POINTS_PER_TASK).map(find).collect()
    }

    /// The closest place on each part of a surface that moves by itself, where that is within a range [m] of a source point.
    fn each_within(&self, source: (usize, u32), range: f64, mut found: impl FnMut(Pair)) {
        let at = self.ends[source.0].placed[source.1 as usize].x;
        for (target, surface, own) in self.of_others(source) {
            for closest in surface.closest_of_each(at, range, own) {
                found(Pair { points: [source, (target, 0)], on: On::Surface(closest) });
            }
        }
    }
}

/// Source points that one task asks about.
const POINTS_PER_TASK: usize = 64;

/// Whether two points are one, or fixed to one body.
fn moves_as_one(ends: &[End<'_>], a: (usize, u32), b: (usize, u32)) -> bool {
    let body = |(end, n): (usize, u32)| ends[end].bodies.get(n as usize);
    a == b || (a.0 == b.0 && body(a).is_some() && body(a) == body(b))
}

/// The pairs of a network whose points exist.
fn by_ids(
    ends: &[End<'_>],
    sources: &[usize],
    targets: &[usize],
    pairs: &[[u64; 2]],
) -> Vec<Points<2>> {
    let places = |of: &[usize]| {
        let mut places = BTreeMap::new();
        for &end in of {
            for (n, &id) in ends[end].ids.iter().enumerate() {
                // Ids are those of the first Object that has them.
                places.entry(id).or_insert((end, n as u32));
            }
        }
        places
    };
    let (source, target) = (places(sources), places(targets));
    let pair = |[a, b]: &[u64; 2]| Some([*source.get(a)?, *target.get(b)?]);
    pairs.iter().filter_map(pair).filter(|[a, b]| !moves_as_one(ends, *a, *b)).collect()
}
