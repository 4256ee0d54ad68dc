//! Which Buckets lie so deep that nobody has to look: those whose voxels are all inside of a particle's sphere, and all voxels of
//! the Buckets around them too. The surface is eight voxels away at least, so that their voxels need no distances, and
//! their particles no neighbours.
//!
//! A Bucket with a single voxel between the particles is looked at like any other, so that bubbles and gaps stay.

use super::bins::{Bins, rings};
use super::stamp::Chunk;
use rayon::prelude::*;
use undine_core::domain::NONE;
use undine_core::glam::Vec3;

/// Whether each slot of the bins is buried.
pub(super) fn buried(bins: &Bins) -> Vec<bool> {
    let slots = bins.topology.local() as u32;
    // Beside a Bucket without particles hardly any is full: not worth a look.
    let is_among = |slot: u32| !bins.topology.neighbours(slot).contains(&NONE);
    let full: Vec<bool> =
        (0..slots).into_par_iter().map(|slot| is_among(slot) && is_full(bins, slot)).collect();
    let is_buried = |slot: u32| {
        let around = bins.topology.neighbours(slot);
        around.iter().all(|&slot| slot != NONE && full[slot as usize])
    };
    (0..slots).into_par_iter().map(is_buried).collect()
}

/// Takes the voxels of a Bucket beside one that is buried, so many voxels away, for inside. Spheres close what gaps ellipsoids and means
/// may have there; a gap that reached the Bucket without voxels would have no end.
pub(super) fn close(to: &mut Chunk, shift: Vec3) {
    // From where to where along each axis: one layer beside it, or all.
    let beside = |shift: f32| match shift {
        s if s < 0.0 => 0..=0,
        s if s > 0.0 => 7..=7,
        _ => 0..=7,
    };
    for x in beside(shift.x) {
        for y in beside(shift.y) {
            for z in beside(shift.z) {
                let distance = &mut to[x << 6 | y << 3 | z];
                *distance = distance.min(-0.5);
            }
        }
    }
}

/// Whether all voxel centres of a Bucket lie in spheres.
fn is_full(bins: &Bins, slot: u32) -> bool {
    let mut cover = Cover { rows: [0; 64] };
    // The particles of the Bucket itself first: they often leave little to others.
    let own = bins.topology.bucket(slot);
    cover.add(bins, slot, Vec3::ZERO);
    if !cover.is_full() {
        bins.each_around(own, rings(bins.largest), |other, shift| {
            if other != slot && !cover.is_full() {
                cover.add(bins, other, shift);
            }
        });
    }
    cover.is_full()
}

/// The voxels that are covered, a bit each along z.
struct Cover {
    rows: [u8; 64],
}

impl Cover {
    fn is_full(&self) -> bool {
        self.rows.iter().all(|row| *row == u8::MAX)
    }

    /// Covers what lies in the spheres of a slot, whose corner is `shift` voxels away.
    fn add(&mut self, bins: &Bins, slot: u32, shift: Vec3) {
        for n in bins.of(slot) {
            let (at, radius) = (bins.place(n) + shift - 0.5, bins.radius[n]);
            let Some([xs, ys, _]) = voxels(at, Vec3::splat(radius)) else { continue };
            for x in xs.0..=xs.1 {
                let left = radius * radius - (x as f32 - at.x).powi(2);
                for y in ys.0..=ys.1 {
                    let square = left - (y as f32 - at.y).powi(2);
                    let row = &mut self.rows[(x << 3 | y) as usize];
                    if square < 0.0 || *row == u8::MAX {
                        continue;
                    }
                    let half = square.sqrt();
                    let (low, high) = (first(at.z - half), last(at.z + half));
                    if low <= high {
                        *row |= (0xFF_u32 >> (7 - high) & (0xFF << low)) as u8;
                    }
                }
            }
        }
    }
}

/// The voxels of a Bucket from and to which a box reaches along each axis, if it reaches any. `at` is counted from the centre of the
/// first voxel.
#[inline]
pub(super) fn voxels(at: Vec3, half: Vec3) -> Option<[(i32, i32); 3]> {
    let along = |at: f32, half: f32| (first(at - half), last(at + half));
    let found = [along(at.x, half.x), along(at.y, half.y), along(at.z, half.z)];
    found.iter().all(|(first, last)| first <= last).then_some(found)
}

/// Whether a box may reach a voxel of a Bucket: cheaper to ask than which.
#[inline]
pub(super) fn may_reach(at: Vec3, half: Vec3) -> bool {
    (at + half).cmpge(Vec3::ZERO).all() && (at - half).cmple(Vec3::splat(7.0)).all()
}

/// The first voxel from a place on, 8 or more if there is none. Rounded by hand: without newer instructions, `ceil` is a call.
#[inline]
fn first(place: f32) -> i32 {
    let whole = place.max(0.0) as i32;
    whole + i32::from((whole as f32) < place)
}

/// The last voxel up to a place, −1 if there is none.
#[inline]
fn last(place: f32) -> i32 {
    if place < 0.0 { -1 } else { place.min(7.0) as i32 }
}
