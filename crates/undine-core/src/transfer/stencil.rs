//! The weights of a particle on the faces around it, four wide.
//!
//! Along each axis the up to three faces that a particle meets are the lanes of a vector; the spare
//! lanes have no weight. A kernel of `NODES` faces along an axis is linear (2) or quadratic (3).

use crate::access::Pad;
use glam::{Vec4, Vec4Swizzles};

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

/// The weights of one particle for one component.
pub(super) struct Stencil {
    /// The first face's place in a tile.
    pub start: usize,
    /// Weights along x, y and z.
    pub weight: [Vec4; 3],
    /// From the particle to the faces along x, y and z, in voxels.
    pub distance: [Vec4; 3],
}

impl Stencil {
    /// The stencil for component `axis` of a particle at `place`, in voxels from the Bucket's corner,
    /// within `0 ..= EDGE`.
    #[inline(always)]
    pub fn new<const NODES: usize, const EDGE: usize>(place: Vec4, axis: usize) -> Self {
        // Faces across `axis` lie at whole numbers along it, and half-way between along the others.
        const HALF: [Vec4; 3] = [
            Vec4::new(0.0, 0.5, 0.5, 0.0),
            Vec4::new(0.5, 0.0, 0.5, 0.0),
            Vec4::new(0.5, 0.5, 0.0, 0.0),
        ];
        let place = place - HALF[axis];

        // The middle face of three is the nearest. The first face of two is the nearest to half a
        // voxel below, but never the last one of the Bucket's far side: it would have no second.
        let rounded = if NODES == 3 {
            place + Vec4::splat(ROUND)
        } else {
            (place - Vec4::splat(0.5) + Vec4::splat(ROUND))
                .min(Vec4::splat(ROUND + (EDGE - 1) as f32))
        };
        let offset = place - (rounded - Vec4::splat(ROUND));
        let along = [offset.xxxx(), offset.yyyy(), offset.zzzz()];

        // In a tile, which begins `PAD.low` voxels below the Bucket, the first of three faces has the
        // number of the middle one.
        let shift = if NODES == 3 { 0 } else { 1 };
        let number =
            |rounded: f32| rounded.to_bits().wrapping_sub(ROUND.to_bits() - shift) as usize;
        let start = number(rounded.x) * const { slab(EDGE) }
            + number(rounded.y) * const { row(EDGE) }
            + number(rounded.z);
        Self {
            start,
            weight: [
                weights::<NODES>(along[0]),
                weights::<NODES>(along[1]),
                weights::<NODES>(along[2]),
            ],
            distance: [
                distances::<NODES>(along[0]),
                distances::<NODES>(along[1]),
                distances::<NODES>(along[2]),
            ],
        }
    }
}

/// Weights on the faces, from the particle's offset to the middle one of three or the first of two.
#[inline(always)]
fn weights<const NODES: usize>(offset: Vec4) -> Vec4 {
    if NODES == 3 {
        // ½(½ − d)², ¾ − d², ½(½ + d)²: squares, so that no weight is below zero.
        let from = offset + Vec4::new(-0.5, 0.0, 0.5, 0.0);
        from * from * Vec4::new(0.5, -1.0, 0.5, 0.0) + Vec4::new(0.0, 0.75, 0.0, 0.0)
    } else {
        Vec4::new(1.0, 0.0, 0.0, 0.0) + offset * Vec4::new(-1.0, 1.0, 0.0, 0.0)
    }
}

/// From the particle to the faces, in voxels.
#[inline(always)]
fn distances<const NODES: usize>(offset: Vec4) -> Vec4 {
    let faces =
        if NODES == 3 { Vec4::new(-1.0, 0.0, 1.0, 0.0) } else { Vec4::new(0.0, 1.0, 0.0, 0.0) };
    faces - offset
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
