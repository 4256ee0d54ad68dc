//! Which faces lie in a rigid body or beside it, so that what sticks there moves with that body, whatever its velocity becomes.

use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use undine_core::glam::{DVec3, IVec3};
use undine_core::volume::Resolution;
use undine_core::{Bucket, DiscreteVolume, GridDomain};
use undine_geometry::{ColliderStep, Solid};

use super::piece::{TILE, VOXELS, in_tile};

/// No body.
pub const NOBODY: u32 = u32::MAX;
/// Faces farther from the surface of a body than this are not listed [voxels]: no strain of the liquid reaches them.
const REACH: f64 = 2.0;
/// A body whose distance to a face is that of all walls to it, up to so many voxels, is the wall there: distances between cells
/// bend.
const SAME: f32 = 0.25;

/// The faces beside the rigid bodies in a fluid, by Bucket.
#[derive(Debug, Clone, Default)]
pub struct Touched {
    buckets: BTreeMap<[i32; 3], Vec<Beside>>,
}

/// A face and the body that is nearest to it.
#[derive(Debug, Clone, Copy)]
struct Beside {
    axis: u8,
    voxel: u16,
    body: u32,
    /// How far it is from the body [m]: the mean of the cells on both sides, as walls are measured.
    distance: f32,
}

/// The nearest body of each face over a tile, and how far it is [m].
pub type Nearest = [Vec<(u32, f32)>; 3];

impl Touched {
    /// Looks at all bodies, where they are at the end of the step.
    pub fn find(domain: &GridDomain, volume: &DiscreteVolume, bodies: &[ColliderStep<'_>]) -> Self {
        let mut touched = Self::default();
        for (number, body) in (0..).zip(bodies) {
            for (bucket, faces) in beside(domain, volume, body) {
                let known = touched.buckets.entry(bucket).or_default();
                for (axis, voxel, distance) in faces {
                    let found = Beside { axis, voxel, body: number, distance };
                    match known.iter_mut().find(|one| (one.axis, one.voxel) == (axis, voxel)) {
                        Some(one) if one.distance <= distance => {}
                        Some(one) => *one = found,
                        None => known.push(found),
                    }
                }
            }
        }
        touched
    }

    /// The nearest bodies of the faces of a Bucket and those next to it; `None` where there are none.
    pub fn around(&self, bucket: IVec3) -> Option<Nearest> {
        let mut nearest: Option<Nearest> = None;
        for n in 0..27 {
            let towards = IVec3::new(n / 9, n / 3 % 3, n % 3) - 1;
            let Some(faces) = self.buckets.get(&(bucket + towards).to_array()) else { continue };
            for face in faces {
                let cell = IVec3::from(Resolution::R8.coords(face.voxel.into()).map(|c| c as i32));
                let cell = cell + 8 * towards;
                if cell.min_element() < -1 || cell.max_element() > 8 {
                    continue;
                }
                let nearest = nearest.get_or_insert_with(|| {
                    std::array::from_fn(|_| vec![(NOBODY, f32::INFINITY); TILE])
                });
                nearest[usize::from(face.axis)][in_tile(cell.x, cell.y, cell.z)] =
                    (face.body, face.distance);
            }
        }
        nearest
    }
}

/// The body that is the wall at a face, by what is nearest there and the distance to all walls [m].
pub fn owner((body, distance): (u32, f32), wall: f32, voxel: f32) -> u32 {
    if distance <= wall + SAME * voxel { body } else { NOBODY }
}

/// A face of a Bucket: axis, voxel, and distance [m].
type Face = (u8, u16, f32);

/// The faces beside a body, by Bucket.
fn beside(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    body: &ColliderStep<'_>,
) -> Vec<([i32; 3], Vec<Face>)> {
    let frame = *domain.frame();
    let Some(bounds) = body.bounds() else { return Vec::new() };
    let (voxel, size) = (frame.voxel_size(0), frame.bucket_size(0));
    let reach = REACH * voxel;
    let topology = volume.topology();
    // Those of other processes are seen from the Buckets next to them.
    let around = (0..27).map(|n| IVec3::new(n / 9, n / 3 % 3, n % 3) - 1);
    let own = topology.level(0).map(|slot| topology.bucket(slot));
    let meets = |bucket: Bucket| {
        let low = frame.corner(bucket) - reach;
        let high = low + size + 2.0 * reach;
        low.cmple(bounds.max).all() && high.cmpge(bounds.min).all()
    };
    let near: BTreeSet<_> = own
        .flat_map(|bucket| around.clone().map(move |by| bucket.offset(by)))
        .filter(|&bucket| meets(bucket))
        .map(Bucket::key)
        .collect();
    let near: Vec<Bucket> = near.into_iter().map(|key| key.bucket()).collect();
    let look = |bucket: Bucket| {
        let corner = bucket.coord * 8;
        let at = |cell: IVec3| {
            let middle = (corner + cell).as_dvec3() + DVec3::splat(0.5);
            body.distance(frame.origin() + voxel * middle) as f32
        };
        let mut distance = vec![f32::INFINITY; TILE];
        for n in 0..9 * 9 * 9 {
            let cell = IVec3::new(n / 81, n / 9 % 9, n % 9) - 1;
            distance[in_tile(cell.x, cell.y, cell.z)] = at(cell);
        }
        let mut faces = Vec::new();
        for (axis, step) in (0..).zip(super::piece::STEP) {
            for n in 0..VOXELS {
                let place = super::piece::tile_place(n);
                let mean = 0.5 * (distance[place] + distance[place - step]);
                if f64::from(mean.abs()) <= reach {
                    faces.push((axis, n as u16, mean));
                }
            }
        }
        (bucket.coord.to_array(), faces)
    };
    let found: Vec<_> = near.into_par_iter().map(look).collect();
    found.into_iter().filter(|(_, faces)| !faces.is_empty()).collect()
}
