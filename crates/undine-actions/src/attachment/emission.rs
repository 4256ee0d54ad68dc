//! Which points an attachment holds together: every point and the closest of the target, all in range, the one closest pair of
//! each body, or what a network of ids says (Loki, §6.3, *Emission*).

use crate::nearby::{MOST_PAIRS, Nearby};
use std::collections::BTreeMap;
use undine_core::glam::DVec3;
use undine_sim::action::constraint::{End, Points};
use undine_sim::input::PointCloud;

/// How points are chosen.
#[derive(Debug, Clone, PartialEq)]
pub enum Emission {
    /// Each source point with the closest target point, if that is within range [m].
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

    /// Pairs of a source and a target point; none if there would be too many. Where all Objects are targets they are sources
    /// as well, but no body is held to itself.
    pub fn choose(&self, ends: &[End<'_>]) -> Option<Vec<Points<2>>> {
        let all_targets = ends.iter().all(|end| end.is_target);
        let is_source = |end: usize| all_targets || !ends[end].is_target;
        let sources: Vec<usize> = (0..ends.len()).filter(|&end| is_source(end)).collect();
        let targets: Vec<usize> = (0..ends.len()).filter(|&end| ends[end].is_target).collect();
        if let Self::Network(pairs) = self {
            return Some(by_ids(ends, &sources, &targets, pairs));
        }
        // All target points in a row, with where they are from.
        let from: Vec<(usize, u32)> = targets
            .iter()
            .flat_map(|&end| (0..ends[end].placed.len() as u32).map(move |n| (end, n)))
            .collect();
        let points: Vec<DVec3> =
            from.iter().map(|&(end, n)| ends[end].placed[n as usize].x).collect();
        let tree = Nearby::new(&points);
        let mut pairs: Vec<Points<2>> = Vec::new();
        let mut shortest: BTreeMap<(usize, u32), (f64, Points<2>)> = BTreeMap::new();
        let mut near = Vec::new();
        for &end in &sources {
            for (n, placed) in ends[end].placed.iter().enumerate() {
                let source = (end, n as u32);
                let apart = |target: u32| !moves_as_one(ends, source, from[target as usize]);
                match *self {
                    Self::Closest(range) => {
                        let closest = tree.closest(placed.x, range, apart);
                        pairs.extend(closest.map(|(target, _)| [source, from[target as usize]]));
                    }
                    Self::Pair(range) => {
                        let whole = ends[end].bodies.get(n).or(ends[end].strands.get(n));
                        let body = whole.copied().unwrap_or(n as u32);
                        let known = shortest.get(&(end, body)).map_or(range, |(least, _)| *least);
                        if let Some((target, distance)) = tree.closest(placed.x, known, apart)
                            && shortest.get(&(end, body)).is_none_or(|(least, _)| distance < *least)
                        {
                            let pair = [source, from[target as usize]];
                            shortest.insert((end, body), (distance, pair));
                        }
                    }
                    Self::Range(range) => {
                        near.clear();
                        tree.each_within(placed.x, range, |target| near.push(target));
                        near.sort_unstable();
                        near.retain(|&target| {
                            // Among themselves, every pair is met twice.
                            apart(target) && (!all_targets || source < from[target as usize])
                        });
                        pairs.extend(near.iter().map(|&target| [source, from[target as usize]]));
                    }
                    Self::Network(_) => {}
                }
                if pairs.len() > MOST_PAIRS {
                    return None;
                }
            }
        }
        pairs.extend(shortest.into_values().map(|(_, pair)| pair));
        Some(pairs)
    }
}

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
