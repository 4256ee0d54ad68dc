//! The search for faults: element by element on all threads, listed in the order of the elements.

use super::fault::MeshFault;
use super::measure::{extent, triangle_vector_area};
use super::{ElementId, measure};
use glam::DVec3;
use rayon::prelude::*;

/// An area or volume below this fraction of the square or cube of the element's size is none.
///
/// Far above the rounding of `f64` in a cross product, and far below any element that a solver
/// could work with.
const NO_EXTENT: f64 = 1e-12;

/// A list of faults that is full at a limit, so that a broken mesh does not flood memory.
#[derive(Debug)]
pub struct FaultList {
    limit: usize,
    found: Vec<MeshFault>,
}

impl FaultList {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, found: Vec::new() }
    }

    pub(super) fn into_vec(self) -> Vec<MeshFault> {
        self.found
    }

    /// Looks at the elements `0..count` until the list is full.
    pub(super) fn scan(
        &mut self,
        count: usize,
        check: impl Fn(usize) -> Option<MeshFault> + Sync + Send,
    ) {
        const BLOCK: usize = 1 << 16;
        let mut start = 0;
        while start < count && self.found.len() < self.limit {
            let end = count.min(start + BLOCK);
            self.found.par_extend(
                (start..end).into_par_iter().with_min_len(measure::GRAIN).filter_map(&check),
            );
            start = end;
        }
        self.found.truncate(self.limit);
    }
}

/// Whether an element has the same vertex twice.
pub(super) fn repeated_vertex(element: ElementId, corners: &[u32]) -> Option<MeshFault> {
    let repeated = |vertex, corners| MeshFault::RepeatedVertex { element, vertex, corners };
    if corners.len() <= 8 {
        for (second, &vertex) in corners.iter().enumerate() {
            if let Some(first) = corners[..second].iter().position(|&other| other == vertex) {
                return Some(repeated(vertex, [first as u32, second as u32]));
            }
        }
        return None;
    }
    // A polygon may have very many corners: compare neighbours after sorting instead of all pairs.
    let mut sorted: Vec<_> = (0..).zip(corners).map(|(corner, &vertex)| (vertex, corner)).collect();
    sorted.sort_unstable();
    sorted
        .windows(2)
        .find(|pair| pair[0].0 == pair[1].0)
        .map(|pair| repeated(pair[0].0, [pair[0].1, pair[1].1]))
}

/// Whether an edge has no length: less than the rounding of its coordinates.
pub(super) fn no_length(element: ElementId, a: DVec3, b: DVec3) -> Option<MeshFault> {
    let size = a.abs().max(b.abs()).max_element();
    let value = (b - a).length();
    (value <= 4.0 * f64::EPSILON * size && size.is_finite() || value == 0.0)
        .then_some(MeshFault::NoExtent { element, measure: "length", value, size })
}

/// Whether a polygon has no area.
pub(super) fn no_area(element: ElementId, corners: &[DVec3]) -> Option<MeshFault> {
    let size = extent(corners)?;
    let origin = corners[0];
    let scaled = |point: DVec3| (point - origin) / size;
    let relative: DVec3 = corners
        .windows(2)
        .map(|pair| triangle_vector_area(DVec3::ZERO, scaled(pair[0]), scaled(pair[1])))
        .sum();
    // An element without size gives 0 / 0; the comparison must then say that it has no area.
    let relative = if size > 0.0 { relative.length() } else { 0.0 };
    let value = relative * size * size;
    (relative <= NO_EXTENT).then_some(MeshFault::NoExtent { element, measure: "area", value, size })
}

/// Whether a tetrahedron has no volume, or a negative one.
pub(super) fn no_volume(cell: ElementId, corners: [DVec3; 4]) -> Option<MeshFault> {
    let size = extent(&corners)?;
    let scaled = corners.map(|point| (point - corners[0]) / size);
    let relative = if size > 0.0 { measure::tetrahedron_volume(scaled) } else { 0.0 };
    let value = relative * size * size * size;
    if relative.abs() <= NO_EXTENT {
        Some(MeshFault::NoExtent { element: cell, measure: "volume", value, size })
    } else if relative < 0.0 {
        Some(MeshFault::Inverted { cell, volume: value })
    } else {
        None
    }
}
