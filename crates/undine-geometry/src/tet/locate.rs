//! Which tetrahedron of a Body a point is in: a uniform grid of bins, each with the tetrahedra that may reach into it.

use super::quality::volume;
use crate::error::{GeometryError, Result};
use crate::triangle;
use rayon::prelude::*;
use undine_core::glam::{DMat3, DVec3, UVec3};
use undine_core::mesh::{Body, Bounds};

/// Tetrahedra listed in bins; any volume that is not nothing will do, inverted ones as well.
#[derive(Debug)]
pub(super) struct Locator {
    corners: Vec<[DVec3; 4]>,
    /// The Body's number of each tetrahedron.
    cells: Vec<u32>,
    origin: DVec3,
    /// The side of a bin [m].
    size: f64,
    bins: UVec3,
    offsets: Vec<u32>,
    listed: Vec<u32>,
}

/// Where a point is in a Body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Location {
    /// The tetrahedron that it is in, or the nearest one.
    pub cell: u32,
    /// Whether it is in it.
    pub inside: bool,
    /// The point itself, or the nearest one of the tetrahedron [m].
    pub nearest: DVec3,
}

/// A point whose least barycentric weight is not below this lies in a tetrahedron: rounding on faces.
const ON_FACE: f64 = -1e-10;

/// A volume below this fraction of the cube of the size is none.
const NO_VOLUME: f64 = 1e-12;

/// No more bins than these for each tetrahedron.
const BINS: usize = 8;

/// No more bins per tetrahedron than these, on average, may list it.
const LISTED: usize = 64;

impl Locator {
    pub fn new(body: &Body) -> Result<Self> {
        let positions = body.positions()?;
        if let Some(vertex) = positions.iter().position(|position| !position.is_finite()) {
            return Err(GeometryError::VertexNotFinite { vertex, position: positions[vertex] });
        }
        let (corners, cells): (Vec<[DVec3; 4]>, Vec<u32>) = (0..)
            .zip(body.connectivity().cells())
            .map(|(cell, corners)| (corners.map(|vertex| positions[vertex as usize]), cell))
            .filter(|&(corners, _)| {
                let size = around(corners).size().max_element();
                volume(corners).abs() > NO_VOLUME * size * size * size
            })
            .unzip();
        let Some(bounds) = Bounds::around(corners.iter().flatten().copied()) else {
            let wanted = "points are embedded in tetrahedra with volume";
            return Err(GeometryError::Empty { what: "the Body to embed in", wanted });
        };

        // Bins as large as tetrahedra are on average; larger ones where there would be many more bins than
        // tetrahedra, or where tetrahedra of very different sizes would be listed too often.
        let count = corners.len();
        let extent: f64 = corners.iter().map(|&corners| around(corners).size().max_element()).sum();
        let mut locator = Self {
            corners,
            cells,
            origin: bounds.min,
            size: extent / count as f64,
            bins: UVec3::ONE,
            offsets: Vec::new(),
            listed: Vec::new(),
        };
        loop {
            let bins = (bounds.size() / locator.size).floor() + 1.0;
            if bins.element_product() <= (BINS * count) as f64 {
                locator.bins = bins.as_uvec3();
                if locator.count_listed() <= LISTED * count {
                    break;
                }
            }
            locator.size *= 2.0;
            // Positions whose differences are not finite are all in one bin.
            if !locator.size.is_finite() {
                locator.bins = UVec3::ONE;
                break;
            }
        }
        locator.list();
        Ok(locator)
    }

    /// How many entries the lists of all bins have.
    fn count_listed(&self) -> usize {
        let bins = |&corners: &[DVec3; 4]| {
            let [low, high] = self.range(corners);
            (high - low + 1).element_product() as usize
        };
        self.corners.par_iter().map(bins).sum()
    }

    /// Lists the tetrahedra in the bins that the boxes around them touch.
    fn list(&mut self) {
        let mut pairs: Vec<(u32, u32)> = (0..self.corners.len() as u32)
            .into_par_iter()
            .flat_map_iter(|number| {
                let [low, high] = self.range(self.corners[number as usize]);
                each_bin(low, high).map(move |bin| (bin, number))
            })
            .map(|(bin, number)| (self.index(bin), number))
            .collect();
        pairs.par_sort_unstable();
        let mut offsets = vec![0; self.bins.element_product() as usize + 1];
        for &(bin, _) in &pairs {
            offsets[bin as usize + 1] += 1;
        }
        for bin in 1..offsets.len() {
            offsets[bin] += offsets[bin - 1];
        }
        self.offsets = offsets;
        self.listed = pairs.into_iter().map(|(_, number)| number).collect();
    }

    /// Where a point is; of several tetrahedra that have it, the one that it is deepest in.
    pub fn locate(&self, at: DVec3) -> Location {
        let mut best: Option<(f64, u32)> = None;
        for &number in self.listed_in(self.bin(at)) {
            let corners = self.corners[number as usize];
            // Most are passed over by a look at the box around them.
            let bounds = around(corners);
            let rounding = -ON_FACE * bounds.size().max_element();
            if distance_squared(bounds, at) > rounding * rounding {
                continue;
            }
            let weights = weights(corners, at);
            let least = weights.into_iter().fold(f64::INFINITY, f64::min);
            if least >= ON_FACE && best.is_none_or(|(deepest, _)| least > deepest) {
                best = Some((least, number));
            }
        }
        match best {
            Some((_, number)) => {
                let cell = self.cells[number as usize];
                Location { cell, inside: true, nearest: at }
            }
            None => self.nearest(at),
        }
    }

    /// The nearest tetrahedron of a point that is in none, ring of bins after ring.
    fn nearest(&self, at: DVec3) -> Location {
        let high = self.origin + self.size * self.bins.as_dvec3();
        let clamped = at.clamp(self.origin, high);
        let beyond = at.distance_squared(clamped);
        let middle = self.bin(clamped);
        let mut best: Option<(f64, u32, DVec3)> = None;
        for ring in 0..=self.bins.max_element() {
            let low = middle.saturating_sub(UVec3::splat(ring));
            let high = (middle + ring).min(self.bins - 1);
            let in_ring = |bin: &UVec3| {
                let apart = bin.max(middle) - bin.min(middle);
                apart.max_element() == ring
            };
            for bin in each_bin(low, high).filter(in_ring) {
                // What is farther than the best does not matter, and a tetrahedron is seen from several bins.
                let least = best.map_or(f64::INFINITY, |(least, ..)| least);
                if distance_squared(self.bounds_of(bin), at) > least {
                    continue;
                }
                for &number in self.listed_in(bin) {
                    let corners = self.corners[number as usize];
                    let least = best.map_or(f64::INFINITY, |(least, ..)| least);
                    if distance_squared(around(corners), at) > least {
                        continue;
                    }
                    let point = closest_point(corners, at);
                    let distance = point.distance_squared(at);
                    let nearer = |&(least, other, _): &(f64, u32, DVec3)| {
                        distance < least || distance == least && number < other
                    };
                    if best.as_ref().is_none_or(nearer) {
                        best = Some((distance, number, point));
                    }
                }
            }
            // No bin of the next ring is nearer than this.
            let reached = f64::from(ring) * self.size;
            if best.is_some_and(|(least, ..)| least <= beyond + reached * reached) {
                break;
            }
        }
        let (_, number, nearest) =
            best.expect("the rings reach every bin, and some list tetrahedra");
        Location { cell: self.cells[number as usize], inside: false, nearest }
    }

    fn range(&self, corners: [DVec3; 4]) -> [UVec3; 2] {
        let around = around(corners);
        [self.bin(around.min), self.bin(around.max)]
    }

    /// The bin of a point; of one beyond the bins, the nearest.
    fn bin(&self, at: DVec3) -> UVec3 {
        // Conversion to integers saturates.
        ((at - self.origin) / self.size).as_uvec3().min(self.bins - 1)
    }

    /// The box of a bin, a little larger than what rounding puts into it.
    fn bounds_of(&self, bin: UVec3) -> Bounds {
        let min = self.origin + self.size * (bin.as_dvec3() - 1e-6);
        Bounds { min, max: min + self.size * (1.0 + 2e-6) }
    }

    fn index(&self, bin: UVec3) -> u32 {
        (bin.x * self.bins.y + bin.y) * self.bins.z + bin.z
    }

    fn listed_in(&self, bin: UVec3) -> &[u32] {
        let bin = self.index(bin) as usize;
        &self.listed[self.offsets[bin] as usize..self.offsets[bin + 1] as usize]
    }
}

/// The inverse of the matrix of the three edges from the first corner.
pub(super) fn rest_inverse([a, b, c, d]: [DVec3; 4]) -> DMat3 {
    DMat3::from_cols(b - a, c - a, d - a).inverse()
}

/// The barycentric weights of a point.
pub(super) fn weights(corners: [DVec3; 4], at: DVec3) -> [f64; 4] {
    let DVec3 { x, y, z } = rest_inverse(corners) * (at - corners[0]);
    [1.0 - x - y - z, x, y, z]
}

/// The point of a tetrahedron's faces nearest to a point outside of it.
fn closest_point([a, b, c, d]: [DVec3; 4], at: DVec3) -> DVec3 {
    let on_face = |face| triangle::closest_point(face, at).point;
    let found = [[a, b, c], [a, b, d], [a, c, d], [b, c, d]].map(on_face);
    let nearer = |p: DVec3, q: DVec3| {
        if q.distance_squared(at) < p.distance_squared(at) { q } else { p }
    };
    found.into_iter().reduce(nearer).unwrap_or(a)
}

fn around([a, b, c, d]: [DVec3; 4]) -> Bounds {
    Bounds { min: a.min(b).min(c).min(d), max: a.max(b).max(c).max(d) }
}

/// The square of the distance to a box [m²]; 0 in it.
fn distance_squared(bounds: Bounds, at: DVec3) -> f64 {
    at.distance_squared(at.clamp(bounds.min, bounds.max))
}

fn each_bin(low: UVec3, high: UVec3) -> impl Iterator<Item = UVec3> {
    (low.x..=high.x).flat_map(move |x| {
        (low.y..=high.y).flat_map(move |y| (low.z..=high.z).map(move |z| UVec3::new(x, y, z)))
    })
}
