//! Which faces lie in a rigid body or beside it, so that what sticks there moves with that body, whatever its velocity becomes.

use super::piece::{FACES, STEP, TILE, VOXELS, in_tile, tile_place};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use undine_core::glam::{DVec3, IVec3};
use undine_core::mesh::Bounds;
use undine_core::volume::Resolution;
use undine_core::{Bucket, DiscreteVolume, Frame, GridDomain};
use undine_geometry::{ColliderStep, Solid};

/// No body.
pub const NOBODY: u32 = u32::MAX;
/// Faces farther from the surface of bodies than this are not listed [voxels]: no strain of the liquid reaches them.
const REACH: f64 = 2.0;
/// Bodies whose distance to a face is that of all walls to it, up to so many voxels, are the wall there: distances between cells
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
    /// How far it is from all bodies [m]: the mean of the cells on both sides, as walls are measured.
    distance: f32,
}

/// The nearest body of each face over a tile, and how far all bodies are [m].
pub type Nearest = [Vec<(u32, f32)>; 3];

/// Work space: distances at the cells of a tile [m].
struct Distances {
    /// To one body, and to the nearest.
    one: Vec<f32>,
    all: Vec<f32>,
    /// By axis and voxel: the nearest body, and how far that is.
    nearest: Vec<(u32, f32)>,
}

impl Touched {
    /// Looks at all bodies, where they are at the end of the step.
    pub fn find(domain: &GridDomain, volume: &DiscreteVolume, bodies: &[ColliderStep<'_>]) -> Self {
        let near: Vec<(Bucket, Vec<u32>)> = near(domain, volume, bodies);
        let work = || Distances {
            one: vec![f32::INFINITY; TILE],
            all: vec![f32::INFINITY; TILE],
            nearest: vec![(NOBODY, f32::INFINITY); FACES],
        };
        let look = |work: &mut Distances, (bucket, numbers): (Bucket, Vec<u32>)| {
            let near = numbers.iter().map(|&n| (n, &bodies[n as usize]));
            (bucket.coord.to_array(), work.look(domain.frame(), bucket, near))
        };
        let found: Vec<_> = near.into_par_iter().map_init(work, look).collect();
        let buckets = found.into_iter().filter(|(_, faces)| !faces.is_empty()).collect();
        Self { buckets }
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

/// The body that is the wall at a face, by which is nearest there, how far all bodies are, and how far all walls [m].
pub fn owner((body, distance): (u32, f32), wall: f32, voxel: f32) -> u32 {
    if distance <= wall + SAME * voxel { body } else { NOBODY }
}

/// The Buckets near bodies, and which those are.
fn near(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    bodies: &[ColliderStep<'_>],
) -> Vec<(Bucket, Vec<u32>)> {
    let frame = *domain.frame();
    let reach = REACH * frame.voxel_size(0);
    let topology = volume.topology();
    let mut near: BTreeMap<_, Vec<u32>> = BTreeMap::new();
    let bounds: Vec<(u32, Bounds)> =
        (0..).zip(bodies).filter_map(|(n, body)| Some((n, body.bounds()?))).collect();
    // Those of other processes are seen from the Buckets next to them.
    let around = (0..27).map(|n| IVec3::new(n / 9, n / 3 % 3, n % 3) - 1);
    let own = topology.level(0).map(|slot| topology.bucket(slot));
    let all: BTreeSet<_> =
        own.flat_map(|bucket| around.clone().map(move |by| bucket.offset(by).key())).collect();
    for key in all {
        let low = frame.corner(key.bucket()) - reach;
        let high = low + frame.bucket_size(0) + 2.0 * reach;
        let meets = |bounds: &Bounds| low.cmple(bounds.max).all() && high.cmpge(bounds.min).all();
        let numbers: Vec<u32> =
            bounds.iter().filter(|(_, bounds)| meets(bounds)).map(|(n, _)| *n).collect();
        if !numbers.is_empty() {
            near.insert(key, numbers);
        }
    }
    near.into_iter().map(|(key, numbers)| (key.bucket(), numbers)).collect()
}

impl Distances {
    /// The faces of a Bucket that are beside some bodies.
    fn look<'b>(
        &mut self,
        frame: &Frame,
        bucket: Bucket,
        bodies: impl Iterator<Item = (u32, &'b ColliderStep<'b>)>,
    ) -> Vec<Beside> {
        let voxel = frame.voxel_size(0);
        let corner = bucket.coord * 8;
        self.all.fill(f32::INFINITY);
        self.nearest.fill((NOBODY, f32::INFINITY));
        let mean = |of: &[f32], axis: usize, voxel: usize| {
            let place = tile_place(voxel);
            0.5 * (of[place] + of[place - STEP[axis]])
        };
        for (number, body) in bodies {
            for n in 0..9 * 9 * 9 {
                let cell = IVec3::new(n / 81, n / 9 % 9, n % 9) - 1;
                let middle = (corner + cell).as_dvec3() + DVec3::splat(0.5);
                let distance = body.distance(frame.origin() + voxel * middle) as f32;
                let place = in_tile(cell.x, cell.y, cell.z);
                self.one[place] = distance;
                self.all[place] = self.all[place].min(distance);
            }
            for (n, nearest) in self.nearest.iter_mut().enumerate() {
                let distance = mean(&self.one, n / VOXELS, n % VOXELS);
                if distance < nearest.1 {
                    *nearest = (number, distance);
                }
            }
        }
        let reach = (REACH * voxel) as f32;
        let face = |(n, (body, _)): (usize, &(u32, f32))| {
            let (axis, voxel) = (n / VOXELS, n % VOXELS);
            let distance = mean(&self.all, axis, voxel);
            let found = Beside { axis: axis as u8, voxel: voxel as u16, body: *body, distance };
            (*body != NOBODY && distance.abs() <= reach).then_some(found)
        };
        self.nearest.iter().enumerate().filter_map(face).collect()
    }
}
