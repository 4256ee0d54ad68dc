//! Where the vertices of a changed mesh came from, so that any channel can be carried along.

use crate::error::{GeometryError, Result};
use crate::triangles::Triangles;
use std::ops::Add;
use undine_core::glam::{DVec3, Vec3};

/// The length of a vector that would be too long is found to this power of a half.
const HALVINGS: u32 = 24;

/// A mesh that was made from another, and how each of its elements follows from those of the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Remeshed {
    /// The new mesh.
    pub mesh: Triangles,
    /// The source vertices of each new vertex, with weights.
    pub vertices: Origins,
    /// The source triangle of each new triangle; `None` where there was none before.
    pub triangles: Vec<Option<u32>>,
}

/// For each new vertex the source vertices that it is made of, with weights that sum to 1.
///
/// Where an operation does not say otherwise, the new positions are the old ones carried along.
#[derive(Debug, Clone, PartialEq)]
pub struct Origins {
    /// The sources of new vertex `i` are `sources[offsets[i]..offsets[i + 1]]`; no row is empty.
    offsets: Vec<usize>,
    sources: Vec<(u32, f64)>,
}

impl Origins {
    /// Every vertex is the one of the same number.
    pub fn identity(vertices: usize) -> Self {
        Self::kept((0..vertices as u32).collect())
    }

    /// Each new vertex is one old one.
    pub(crate) fn kept(sources: Vec<u32>) -> Self {
        let offsets = (0..=sources.len()).collect();
        Self { offsets, sources: sources.into_iter().map(|source| (source, 1.0)).collect() }
    }

    /// No vertex yet.
    pub(crate) fn none() -> Self {
        Self { offsets: vec![0], sources: Vec::new() }
    }

    /// Adds a vertex made of these; there must be one.
    pub(crate) fn push(&mut self, sources: impl IntoIterator<Item = (u32, f64)>) {
        self.sources.extend(sources);
        debug_assert!(self.offsets.last() < Some(&self.sources.len()));
        self.offsets.push(self.sources.len());
    }

    /// How many new vertices there are.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no vertex.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The source vertices of a new vertex, each once, with weights that sum to 1.
    #[inline]
    pub fn of(&self, vertex: usize) -> &[(u32, f64)] {
        &self.sources[self.offsets[vertex]..self.offsets[vertex + 1]]
    }

    /// The source that weighs most, the first of equals: for what cannot be mixed, such as ids.
    pub fn main(&self, vertex: usize) -> u32 {
        let heavier =
            |best: (u32, f64), next: (u32, f64)| if next.1 > best.1 { next } else { best };
        self.of(vertex).iter().copied().reduce(heavier).map_or(0, |(source, _)| source)
    }

    /// The channel on the new vertices: sums of the sources' values, each as `scale` multiplies it by its weight.
    ///
    /// `channel` has a value for each source vertex, for example `origins.carry(&colours, |c, w| c * w)`.
    pub fn carry<T: Copy, R: Add<Output = R>>(
        &self,
        channel: &[T],
        scale: impl Fn(T, f64) -> R,
    ) -> Result<Vec<R>> {
        let wanted = self.sources.iter().map(|&(source, _)| source as usize + 1).max().unwrap_or(0);
        if channel.len() < wanted {
            let (what, found) = ("the channel on the source vertices", channel.len());
            return Err(GeometryError::WrongLength { what, found, wanted });
        }
        let value = |&(source, weight): &(u32, f64)| scale(channel[source as usize], weight);
        let row = |vertex| self.of(vertex).iter().map(value).reduce(|sum, value| sum + value);
        Ok((0..self.len()).filter_map(row).collect())
    }

    /// The same, within what the sources have: no component is less than the least of theirs nor more than the most, and no vector longer
    /// than the longest. Weights below 0 carry a channel on beyond its sources; this ends where they do.
    pub fn carry_within<T: Ranged>(&self, channel: &[T]) -> Result<Vec<T>> {
        let mut carried = self.carry(channel, T::times)?;
        for (vertex, value) in carried.iter_mut().enumerate() {
            let sources = || self.of(vertex).iter().map(|&(source, _)| channel[source as usize]);
            let all = |pick: fn(T, T) -> T| sources().reduce(pick).unwrap_or(*value);
            let longest = sources().map(T::size).fold(0.0, f64::max);
            let (least, most) = (all(T::least), all(T::most));
            *value = value.most(least).least(most);
            if value.size() > longest {
                // On the way to one of the sources, all that holds for both ends holds.
                let main = channel[self.main(vertex) as usize];
                let at = |part: f64| {
                    (main.times(1.0 - part) + value.times(part)).most(least).least(most)
                };
                let [mut short, mut long] = [0.0, 1.0];
                for _ in 0..HALVINGS {
                    let middle = 0.5 * (short + long);
                    let end = if at(middle).size() > longest { &mut long } else { &mut short };
                    *end = middle;
                }
                *value = at(short);
            }
        }
        Ok(carried)
    }

    /// What these are made of in terms of an earlier mesh, whose vertices their sources are.
    pub fn before(&self, earlier: &Self) -> Self {
        let mut all = Self::none();
        let mut row: Vec<(u32, f64)> = Vec::new();
        for vertex in 0..self.len() {
            row.clear();
            for &(middle, weight) in self.of(vertex) {
                let sources = earlier.of(middle as usize).iter();
                row.extend(sources.map(|&(source, of_middle)| (source, weight * of_middle)));
            }
            // A stable sort, so that equal sources are summed in the order in which they came.
            row.sort_by_key(|&(source, _)| source);
            all.push(
                row.chunk_by(|a, b| a.0 == b.0)
                    .map(|same| (same[0].0, same.iter().map(|&(_, weight)| weight).sum::<f64>())),
            );
        }
        all
    }
}

/// What has a range: numbers, and vectors by component and by length.
pub trait Ranged: Copy + Add<Output = Self> {
    /// Multiplied by a weight.
    fn times(self, weight: f64) -> Self;
    /// The lesser of both, by component.
    fn least(self, other: Self) -> Self;
    /// The larger of both, by component.
    fn most(self, other: Self) -> Self;
    /// Its length.
    fn size(self) -> f64;
}

/// Of a type of numbers, and the type of vectors of them.
macro_rules! ranged {
    ($number:ty, $vector:ty) => {
        impl Ranged for $number {
            fn times(self, weight: f64) -> Self {
                self * weight as $number
            }

            fn least(self, other: Self) -> Self {
                self.min(other)
            }

            fn most(self, other: Self) -> Self {
                self.max(other)
            }

            fn size(self) -> f64 {
                f64::from(self.abs())
            }
        }

        impl Ranged for $vector {
            fn times(self, weight: f64) -> Self {
                self * weight as $number
            }

            fn least(self, other: Self) -> Self {
                self.min(other)
            }

            fn most(self, other: Self) -> Self {
                self.max(other)
            }

            fn size(self) -> f64 {
                f64::from(self.length())
            }
        }
    };
}

ranged!(f32, Vec3);
ranged!(f64, DVec3);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_are_mixed_and_ids_are_not() {
        let mut origins = Origins::none();
        origins.push([(0, 0.25), (2, 0.75)]);
        origins.push([(1, 1.0)]);
        assert_eq!(origins.carry(&[4.0, 5.0, 8.0], |v, w| v * w).unwrap(), [7.0, 5.0]);
        assert_eq!([origins.main(0), origins.main(1)], [2, 1]);
        let bad = origins.carry(&[4.0_f32], |v, w| v * w as f32).unwrap_err();
        assert!(bad.to_string().ends_with("has 1 entries, but 3 are wanted"), "{bad}");
    }

    #[test]
    fn two_steps_make_one() {
        let mut first = Origins::none();
        first.push([(0, 0.5), (1, 0.5)]);
        first.push([(1, 1.0)]);
        let mut second = Origins::none();
        second.push([(1, 0.5), (0, 0.5)]);
        assert_eq!(second.before(&first).of(0), [(0, 0.25), (1, 0.75)]);
        assert_eq!(first.before(&Origins::identity(2)), first);
    }

    #[test]
    fn carried_on_beyond_its_sources_a_channel_stays_within_them() {
        let mut origins = Origins::none();
        origins.push([(0, 3.0), (1, -2.0)]);
        origins.push([(0, 0.75), (1, 0.25)]);
        origins.push([(0, 0.8), (2, 0.8), (1, -0.6)]);
        assert_eq!(origins.carry_within(&[4.0, 8.0, 5.0]).unwrap(), [4.0, 5.0, 4.0]);
        let vectors = [DVec3::X, DVec3::ZERO, DVec3::Y];
        let carried = origins.carry_within(&vectors).unwrap();
        assert_eq!(carried[..2], [DVec3::X, 0.75 * DVec3::X]);
        // As long as the longest, and no more.
        assert!((carried[2].length() - 1.0).abs() < 1e-6 && carried[2].length() <= 1.0);
        assert!(carried[2].min_element() >= 0.0);
        assert!(origins.carry_within(&vectors[..1]).is_err());
    }
}
