//! Reading distances between voxels, with the right sign where there are none.

use super::LevelSet;
use crate::solid::{Nearest, Solid};
use undine_core::domain::{NONE, Slot, VOXELS_PER_BUCKET, direction};
use undine_core::glam::{DVec3, IVec3, Vec3};
use undine_core::mesh::Bounds;
use undine_core::volume::{Resolution, VoxelColumn};
use undine_core::{Bucket, Topology};

/// Reads the distances of a level set at any place, by trilinear interpolation. Beyond the band they are ± its width,
/// and the gradient is zero.
pub struct DistanceSampler<'a> {
    set: &'a LevelSet,
    column: &'a VoxelColumn<f32>,
    topology: &'a Topology,
    per_voxel: f32,
}

/// Eight values at the corners of a cube, z fastest.
type Corners = [[[f32; 2]; 2]; 2];

impl<'a> DistanceSampler<'a> {
    pub(super) fn new(set: &'a LevelSet, column: &'a VoxelColumn<f32>) -> Self {
        let per_voxel = (1.0 / set.voxel_size()) as f32;
        Self { set, column, topology: set.topology(), per_voxel }
    }

    /// The signed distance at a place [m].
    pub fn at(&self, position: DVec3) -> f32 {
        match self.locate(position) {
            Ok((slot, offset)) => self.at_offset(slot, offset),
            Err(distance) => distance,
        }
    }

    /// The signed distance [m] at a place [m], and its gradient.
    pub fn value_and_gradient(&self, position: DVec3) -> (f32, Vec3) {
        match self.locate(position) {
            Ok((slot, offset)) => self.value_and_gradient_at(slot, offset),
            Err(distance) => (distance, Vec3::ZERO),
        }
    }

    /// The signed distance at an offset [m] from the corner of the Bucket in a slot, and within it.
    #[inline]
    pub fn at_offset(&self, slot: Slot, offset: Vec3) -> f32 {
        let (values, t) = self.corners(slot, offset);
        let along_z = |x: usize, y: usize| mix(values[x][y][0], values[x][y][1], t.z);
        let along_y = |x: usize| mix(along_z(x, 0), along_z(x, 1), t.y);
        mix(along_y(0), along_y(1), t.x)
    }

    /// The signed distance [m] and its gradient at an offset [m] from the corner of the Bucket in a slot, and within it.
    #[inline]
    pub fn value_and_gradient_at(&self, slot: Slot, offset: Vec3) -> (f32, Vec3) {
        let (values, t) = self.corners(slot, offset);
        let z = |x: usize, y: usize| mix(values[x][y][0], values[x][y][1], t.z);
        let dz = |x: usize, y: usize| values[x][y][1] - values[x][y][0];
        let y = |x: usize| mix(z(x, 0), z(x, 1), t.y);
        let gradient = Vec3::new(
            y(1) - y(0),
            mix(z(0, 1) - z(0, 0), z(1, 1) - z(1, 0), t.x),
            mix(mix(dz(0, 0), dz(0, 1), t.y), mix(dz(1, 0), dz(1, 1), t.y), t.x),
        );
        (mix(y(0), y(1), t.x), gradient * self.per_voxel)
    }

    /// The slot and the offset [m] of a place [m], or else the distance there.
    pub fn locate(&self, position: DVec3) -> Result<(Slot, Vec3), f32> {
        let located = self.topology.frame().locate(position, 0, "a place in a level set");
        let Ok((bucket, offset)) = located else { return Err(self.set.width) };
        match self.topology.slot(bucket) {
            Some(slot) => Ok((slot, offset)),
            None => Err(self.without_voxels(bucket)),
        }
    }

    /// The distance where there are no voxels.
    fn without_voxels(&self, bucket: Bucket) -> f32 {
        if self.set.beyond.is_inside(bucket) { -self.set.width } else { self.set.width }
    }

    /// The eight values around an offset, and the place between them.
    #[inline]
    fn corners(&self, slot: Slot, offset: Vec3) -> (Corners, Vec3) {
        let place = offset * self.per_voxel - 0.5;
        let low = place.floor();
        let first = low.as_ivec3();
        let last = VOXELS_PER_BUCKET as i32 - 2;
        if first.min_element() < 0 || first.max_element() > last {
            return (self.corners_across(slot, first), place - low);
        }
        let chunk = self.column.chunk(slot);
        let at = |x: i32, y: i32| {
            let start = Resolution::R8.index(
                (first.x + x) as usize,
                (first.y + y) as usize,
                first.z as usize,
            );
            [chunk[start], chunk[start + 1]]
        };
        ([[at(0, 0), at(0, 1)], [at(1, 0), at(1, 1)]], place - low)
    }

    /// The same where not all of them are in the Bucket itself.
    #[cold]
    fn corners_across(&self, slot: Slot, first: IVec3) -> Corners {
        let at = |x: usize, y: usize, z: usize| {
            self.voxel(slot, first + IVec3::new(x as i32, y as i32, z as i32))
        };
        std::array::from_fn(|x| std::array::from_fn(|y| std::array::from_fn(|z| at(x, y, z))))
    }

    /// One voxel, by its place from the first voxel of the Bucket in a slot, at most one Bucket away.
    pub fn voxel(&self, slot: Slot, voxel: IVec3) -> f32 {
        let step: IVec3 = voxel >> 3;
        let within: IVec3 = voxel & 7;
        let found = if (slot as usize) < self.topology.local() {
            self.topology.neighbours(slot)[direction(step.x, step.y, step.z)]
        } else {
            // Copies of other processes' Buckets have no table of neighbours.
            self.topology.slot(self.topology.bucket(slot).offset(step)).unwrap_or(NONE)
        };
        if found == NONE {
            return self.without_voxels(self.topology.bucket(slot).offset(step));
        }
        let [x, y, z] = within.to_array().map(|n| n as usize);
        self.column.chunk(found)[Resolution::R8.index(x, y, z)]
    }
}

#[inline]
fn mix(a: f32, b: f32, t: f32) -> f32 {
    a + (b - a) * t
}

impl std::fmt::Debug for DistanceSampler<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the distances of {}", self.set.volume.label())
    }
}

/// Beyond the band the nearest point is not known: the answer there is as far away as the band is wide, in any
/// direction.
impl Solid for DistanceSampler<'_> {
    fn distance(&self, at: DVec3) -> f64 {
        f64::from(self.at(at))
    }

    fn nearest(&self, at: DVec3) -> Nearest {
        let (distance, gradient) = self.value_and_gradient(at);
        let distance = f64::from(distance);
        let mut normal = gradient.as_dvec3().try_normalize().unwrap_or(DVec3::Z);
        let mut point = at - distance * normal;
        // Interpolated distances are not quite distances: a second step ends nearer to the surface.
        if distance.abs() < f64::from(self.set.width) {
            let (rest, gradient) = self.value_and_gradient(point);
            normal = gradient.as_dvec3().try_normalize().unwrap_or(normal);
            point -= f64::from(rest) * normal;
        }
        Nearest { point, normal, distance }
    }

    fn bounds(&self) -> Option<Bounds> {
        let frame = self.topology.frame();
        let ends = |bucket: Bucket| {
            let corner = frame.corner(bucket);
            [corner, corner + frame.bucket_size(0)]
        };
        let bounds = Bounds::around(self.topology.all().buckets().flat_map(ends));
        bounds.or(Some(Bounds { min: frame.origin(), max: frame.origin() }))
    }
}
