//! The weights of a particle on the faces around it, four wide.
//!
//! Along each axis the up to three faces that a particle meets are the lanes of a vector; the spare
//! lanes have no weight. A kernel of `NODES` faces along an axis is linear (2) or quadratic (3).

use super::eight::Eight;
use crate::access::Pad;
use glam::Vec4;

/// Every face that a particle of a Bucket can meet, with either kernel.
pub(super) const PAD: Pad = Pad { low: 1, high: 2 };

/// Elements from one row of a padded tile to the next; see [`Tile`](crate::access::Tile).
pub(super) const fn row(edge: usize) -> usize {
    (width(edge) + 1).next_multiple_of(4)
}

/// Elements from one x of a padded tile to the next.
pub(super) const fn slab(edge: usize) -> usize {
    row(edge) * width(edge)
}

/// Elements of a padded tile.
pub(super) const fn tile(edge: usize) -> usize {
    slab(edge) * width(edge)
}

/// Elements of a padded tile from the first face that a particle meets to the last, spare lanes
/// included. A slice of this length is checked once, and then indexed without checks.
pub(super) const fn window(edge: usize) -> usize {
    2 * slab(edge) + 2 * row(edge) + 4
}

/// The window of a tile that begins at an element.
#[inline(always)]
pub(super) fn window_at<const WINDOW: usize>(tile: &[f32], start: usize) -> Option<&[f32; WINDOW]> {
    tile.get(start..start + WINDOW)?.first_chunk()
}

/// The window of a tile that begins at an element.
#[inline(always)]
pub(super) fn window_at_mut<const WINDOW: usize>(
    tile: &mut [f32],
    start: usize,
) -> Option<&mut [f32; WINDOW]> {
    tile.get_mut(start..start + WINDOW)?.first_chunk_mut()
}

const fn width(edge: usize) -> usize {
    edge + PAD.low as usize + PAD.high as usize
}

/// Adding it rounds a small number to the nearest whole one, which then is in its lowest bits.
const ROUND: f32 = 12_582_912.0; // 1.5 · 2²³

/// The weights of one particle for all three components.
///
/// Faces across an axis lie at whole numbers along it, and half-way between along the two others. So
/// two sets of weights along each axis serve all three components.
pub(super) struct Stencil<E> {
    /// By axis: weights on faces at whole numbers (low), and half-way between (high).
    weight: [E; 3],
    /// By axis: from the particle to these faces, in voxels.
    distance: [E; 3],
    /// By axis: the first of these faces, as a number in a tile.
    first: [[usize; 3]; 2],
}

impl<E: Eight> Stencil<E> {
    /// The stencil of a particle at `place`, in voxels from the Bucket's corner: within `0 ..= EDGE`,
    /// or beyond by rounding.
    #[inline(always)]
    pub fn new<const NODES: usize, const EDGE: usize>(place: Vec4) -> Self {
        // Beyond the far side, the first of two faces would have a weight below zero.
        let place = if NODES == 3 { place } else { place.min(Vec4::splat(EDGE as f32)) };
        let place = E::pair(place, place - Vec4::splat(0.5));

        // The middle face of three is the nearest. The first face of two is the nearest to half a
        // voxel below, but never the last one of the Bucket's far side: it would have no second.
        let rounded = if NODES == 3 {
            place + E::splat(ROUND)
        } else {
            (place - E::splat(0.5) + E::splat(ROUND)).min(E::splat(ROUND + (EDGE - 1) as f32))
        };
        let [x, y, z] = (place - (rounded - E::splat(ROUND))).lanes();

        // In a tile, which begins `PAD.low` voxels below the Bucket, the first of three faces has the
        // number of the middle one.
        let shift = if NODES == 3 { 0 } else { 1 };
        let number =
            |rounded: f32| rounded.to_bits().wrapping_sub(ROUND.to_bits() - shift) as usize;
        let (low, high) = (rounded.low(), rounded.high());
        Self {
            weight: [weights::<E, NODES>(x), weights::<E, NODES>(y), weights::<E, NODES>(z)],
            distance: [
                distances::<E, NODES>(x),
                distances::<E, NODES>(y),
                distances::<E, NODES>(z),
            ],
            first: [
                [number(low.x), number(low.y), number(low.z)],
                [number(high.x), number(high.y), number(high.z)],
            ],
        }
    }

    /// Weights along an axis on the faces of a component, and the way to them in voxels.
    #[inline(always)]
    pub fn along(&self, axis: usize, component: usize) -> (Vec4, Vec4) {
        if axis == component {
            (self.weight[axis].low(), self.distance[axis].low())
        } else {
            (self.weight[axis].high(), self.distance[axis].high())
        }
    }

    /// The place in a tile of the first face of a component.
    #[inline(always)]
    pub fn start<const EDGE: usize>(&self, component: usize) -> usize {
        let first = |axis: usize| self.first[usize::from(axis != component)][axis];
        first(0) * slab(EDGE) + first(1) * row(EDGE) + first(2)
    }
}

/// Weights on the faces, from the particle's offset to the middle one of three or the first of two.
#[inline(always)]
fn weights<E: Eight, const NODES: usize>(offset: E) -> E {
    let lanes = |x, y, z| E::twice(Vec4::new(x, y, z, 0.0));
    if NODES == 3 {
        // ½(½ − d)², ¾ − d², ½(½ + d)²: squares, so that no weight is below zero.
        let from = offset + lanes(-0.5, 0.0, 0.5);
        from * from * lanes(0.5, -1.0, 0.5) + lanes(0.0, 0.75, 0.0)
    } else {
        lanes(1.0, 0.0, 0.0) + offset * lanes(-1.0, 1.0, 0.0)
    }
}

/// From the particle to the faces, in voxels.
#[inline(always)]
fn distances<E: Eight, const NODES: usize>(offset: E) -> E {
    let faces = if NODES == 3 { [-1.0, 0.0, 1.0, 0.0] } else { [0.0, 1.0, 0.0, 0.0] };
    E::twice(Vec4::from_array(faces)) - offset
}

/// The weights of the gradient along an axis, times [`slope_scale`].
#[inline(always)]
pub(super) fn slopes<const NODES: usize>(weight: Vec4, distance: Vec4) -> Vec4 {
    if NODES == 3 { weight * distance } else { Vec4::new(-1.0, 1.0, 0.0, 0.0) }
}

/// By what sums with [`slopes`] are to be multiplied, for voxels of a width `1 / per_voxel`.
#[inline(always)]
pub(super) fn slope_scale<const NODES: usize>(per_voxel: f32) -> f32 {
    if NODES == 3 { 4.0 * per_voxel } else { per_voxel }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::eight::Halves;
    use super::*;
    use crate::access::Tile;
    use crate::volume::Resolution;
    use glam::Vec3;

    /// Offsets in a Bucket of width 1, the borders among them.
    pub fn places(count: u32) -> Vec<Vec3> {
        let along = |n: u32, k: u32| match n.wrapping_mul(k) % 1021 {
            0..10 => 0.0,
            10..20 => 1.0_f32.next_down(),
            other => other as f32 / 1021.0,
        };
        (0..count).map(|n| Vec3::new(along(n, 337), along(n, 613), along(n, 911))).collect()
    }

    #[test]
    fn strides_are_those_of_a_tile() {
        for resolution in [Resolution::R4, Resolution::R8, Resolution::R16] {
            let (edge, found) = (resolution.edge(), Tile::new(resolution, PAD, 0.0_f32));
            assert_eq!((row(edge), slab(edge)), (found.row(), found.slab()));
            assert_eq!(tile(edge), found.values().len());
        }
    }

    /// Also just beyond the far side, where a position may land when it is rounded to voxels.
    fn every_window_lies_in_its_tile<const NODES: usize, const EDGE: usize>() {
        let edge = EDGE as f32;
        let along =
            [0.0, 0.25, 0.5, edge / 2.0, edge - 0.5, edge.next_down(), edge, edge.next_up()];
        for x in along {
            for y in along {
                for z in along {
                    let stencil = Stencil::<Halves>::new::<NODES, EDGE>(Vec4::new(x, y, z, 0.0));
                    for component in 0..3 {
                        let start = stencil.start::<EDGE>(component);
                        assert!(start + window(EDGE) <= tile(EDGE), "({x}, {y}, {z}): {start}");
                        for axis in 0..3 {
                            let (weight, distance) = stencil.along(axis, component);
                            assert!((weight.element_sum() - 1.0).abs() < 1e-6, "{weight}");
                            assert!(weight.min_element() >= 0.0, "{weight}");
                            assert!((weight * distance).element_sum().abs() < 1e-6 * edge);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn every_stencil_lies_in_its_tile_and_its_weights_sum_to_one() {
        every_window_lies_in_its_tile::<2, 4>();
        every_window_lies_in_its_tile::<2, 8>();
        every_window_lies_in_its_tile::<2, 16>();
        every_window_lies_in_its_tile::<3, 4>();
        every_window_lies_in_its_tile::<3, 8>();
        every_window_lies_in_its_tile::<3, 16>();
    }
}
