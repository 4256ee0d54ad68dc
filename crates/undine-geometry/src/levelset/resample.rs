//! Resampling: the same surface on another lattice, moved and turned if wanted.
//!
//! The Buckets of the new band are found from the boxes around the surface in the old one. Distances are interpolated
//! where the old band has them; if the new one reaches farther, the rest is measured anew. Lattices that lie on each
//! other with voxels twice or half as wide have fixed weights, and need no search.

use super::LevelSet;
use super::resample_aligned::Ratio;
use super::surface::VoxelBox;
use crate::error::{GeometryError, Result, positive};
use crate::pose::Pose;
use rayon::prelude::*;
use std::sync::Arc;
use undine_core::glam::{DQuat, DVec3};
use undine_core::volume::foreign::sample;
use undine_core::volume::{Interpolation, Resolution, VoxelShape};
use undine_core::{
    Accessor, Bucket, BucketSet, ChannelSpec, CoreError, DiscreteVolume, GridDomain, Handle,
    Topology,
};

/// How distances between voxels are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Resampling {
    /// Trilinear, of second order: rounds off a little.
    Linear,
    /// Cubic, of fourth order where the surface is smooth: cubic B-splines with the weights f − ⅙ Σ δ²f, which takes back
    /// what splines smooth. Costs three times as much.
    Cubic,
}

/// Buckets of the new lattice around one of the old, at most.
const MOST_AROUND: f64 = 1e7;

/// Buckets whose voxels are asked for at once.
const AT_ONCE: usize = 2048;

impl LevelSet {
    /// The same surface on the lattice of `domain`, moved by `pose`, in a band of `width` [m] on either side. Channels
    /// other than the distance are left behind. Collective.
    pub fn resample(
        &self,
        domain: &GridDomain,
        pose: &Pose,
        width: f64,
        how: Resampling,
    ) -> Result<Self> {
        positive("the width of a band", width)?;
        let pose = Pose { rotation: unit_rotation(pose)?, ..*pose };
        // Voxels on both sides of the surface must find their distance in the old band.
        let least = 1.75 * domain.frame().voxel_size(0);
        if self.fills_box {
            return self.with_width(width.max(1.001 * least))?.resample(domain, &pose, width, how);
        }
        if f64::from(self.width) < least.min(width) {
            return self.with_width(1.001 * least)?.resample(domain, &pose, width, how);
        }
        let mut result = Self::empty(self.volume.label(), domain, width)?;
        result.cover(&self.reached_from(domain, &pose, width)?)?;
        match Ratio::between(self.domain.frame(), domain.frame(), &pose) {
            Some(ratio) if how == Resampling::Linear => result.take_aligned(self, ratio)?,
            _ => result.take(self, &pose, how)?,
        }
        result.find_beyond()?;
        if result.width > self.width {
            result.renormalise()?;
        } else {
            result.trim()?;
        }
        Ok(result)
    }

    /// The Buckets of another lattice that a band of `width` [m] around the moved surface may reach.
    fn reached_from(&self, domain: &GridDomain, pose: &Pose, width: f64) -> Result<BucketSet> {
        let (from, to) = (self.domain.frame(), domain.frame());
        let voxel = from.voxel_size(0);
        let padding = width + voxel + to.voxel_size(0);
        let find = |crossing: &VoxelBox| -> Result<Vec<Bucket>> {
            let corner = from.corner(crossing.bucket);
            let low = corner + crossing.low.as_dvec3() * voxel;
            let high = corner + (crossing.high + 1).as_dvec3() * voxel;
            // The box that holds the turned one, in coordinates of the other lattice's Buckets.
            let centre = pose.to_world(0.5 * (low + high)) - to.origin();
            let matrix = pose.matrix();
            let half = 0.5 * (high - low);
            let half = matrix.x_axis.abs() * half.x
                + matrix.y_axis.abs() * half.y
                + matrix.z_axis.abs() * half.z
                + padding;
            let size = to.bucket_size(0);
            let [low, high] = [(centre - half) / size, (centre + half) / size].map(DVec3::floor);
            let ends = [low, high].map(|end| Bucket::at(0, end.as_ivec3()));
            for end in ends {
                end.check("a level set on another lattice")?;
            }
            let count = (high - low + 1.0).element_product();
            if count > MOST_AROUND {
                return Err(GeometryError::BadParameter {
                    what: "the number of Buckets of a lattice around one of a level set",
                    found: count,
                    wanted: "at most ten million; take larger voxels or a narrower band",
                });
            }
            let needed = (count * size_of::<Bucket>() as f64) as u64;
            domain.budget().check("the Buckets around a surface", needed)?;
            Ok(super::surface::box_of(ends[0].coord, ends[1].coord)
                .map(|coord| Bucket::at(0, coord))
                .collect())
        };
        let mut set = BucketSet::new();
        let mut gathered: Vec<Bucket> = Vec::new();
        let outcome: Result<()> = (|| {
            for crossing in &self.crossings()? {
                gathered.extend(find(crossing)?);
                // Neighbours ask for the same Buckets: what is gathered stays about as large as the result.
                if gathered.len() > 2 * set.len() + 100_000 {
                    set = set.union(&BucketSet::from_buckets(gathered.drain(..))?);
                }
            }
            set = set.union(&BucketSet::from_buckets(gathered.drain(..))?);
            Ok(())
        })();
        agree(domain, outcome)?;
        Ok(set)
    }

    /// Takes distances between the voxels of another level set that is moved by `pose`.
    fn take(&mut self, from: &Self, pose: &Pose, how: Resampling) -> Result<()> {
        let mut padded = Padded::of(from)?;
        let interpolation = match how {
            Resampling::Linear => Interpolation::Linear,
            Resampling::Cubic => {
                padded.sharpen(from)?;
                Interpolation::Cubic
            }
        };
        let (frame, width) = (*self.domain.frame(), self.width);
        let voxel = frame.voxel_size(0);
        let turn_back = pose.matrix().transpose();
        let local = self.topology().local();
        let rounds = local.div_ceil(AT_ONCE) as u64;
        let rounds = self.domain.processes().all_max_u64(rounds)? as usize;
        for round in 0..rounds {
            let slots = (round * AT_ONCE).min(local)..((round + 1) * AT_ONCE).min(local);
            let points: Vec<DVec3> = slots
                .clone()
                .into_par_iter()
                .flat_map_iter(|slot| {
                    let corner = frame.corner(self.topology().bucket(slot as u32));
                    (0..super::VOXELS).map(move |place| {
                        let [x, y, z] = Resolution::R8.coords(place).map(|n| n as f64 + 0.5);
                        let at = corner + voxel * DVec3::new(x, y, z);
                        turn_back * (at - pose.translation)
                    })
                })
                .collect();
            let values = padded.at(from, interpolation, &points)?;
            let mut column = self.volume.column_mut(self.distance)?;
            for (slot, values) in slots.zip(values.chunks_exact(super::VOXELS)) {
                let to = column.chunk_mut(slot as u32);
                for (to, value) in to.iter_mut().zip(values) {
                    *to = value.clamp(-width, width);
                }
            }
        }
        Ok(())
    }
}

/// The distances of a level set with a Bucket more on all sides, so that interpolation never leaves them.
struct Padded {
    volume: DiscreteVolume,
    distance: Handle<f32>,
}

impl Padded {
    fn of(set: &LevelSet) -> Result<Self> {
        let topology: Arc<Topology> = set.domain.subset(&set.topology().all().dilate(1)?)?;
        let mut volume = DiscreteVolume::on(set.volume.label(), &set.domain, topology);
        let spec = ChannelSpec::new(super::DISTANCE, set.width).unit("m");
        let distance = volume.add_channel(&spec, VoxelShape::CELLS)?;
        let accessor = Accessor::new("pad distances", &set.domain).over(volume.topology());
        let access = (set.volume.own(set.distance), volume.write(distance));
        accessor.run(access, |here, (from, to)| {
            if set.topology().slot(here.bucket).is_some() {
                to.copy_from_slice(from);
            } else if set.beyond.is_inside(here.bucket) {
                to.fill(-set.width);
            }
        })?;
        Ok(Self { volume, distance })
    }

    /// Puts the weights of cubic B-splines that go through the distances in their place.
    fn sharpen(&mut self, set: &LevelSet) -> Result<()> {
        let spec = ChannelSpec::new("weight", set.width).unit("m");
        let weight = self.volume.add_channel(&spec, VoxelShape::CELLS)?;
        let accessor = Accessor::new("find weights", &set.domain).over(self.volume.topology());
        let access = (self.volume.around(self.distance, 1), self.volume.write(weight));
        accessor.run(access, |_, (around, to)| {
            for (place, to) in to.iter_mut().enumerate() {
                let [x, y, z] = Resolution::R8.coords(place).map(|n| n as i32);
                let own = around.chunk()[place];
                // At the ends of the padding nothing bends.
                let at = |x: i32, y: i32, z: i32| match around.exists(x >> 3, y >> 3, z >> 3) {
                    true => around.at(x, y, z) - own,
                    false => 0.0,
                };
                let bent = (at(x - 1, y, z) + at(x + 1, y, z))
                    + (at(x, y - 1, z) + at(x, y + 1, z))
                    + (at(x, y, z - 1) + at(x, y, z + 1));
                *to = own - bent * (1.0 / 6.0);
            }
        })?;
        self.distance = weight;
        Ok(())
    }

    /// The distances at these places [m], whoever has them.
    fn at(
        &self,
        set: &LevelSet,
        interpolation: Interpolation,
        points: &[DVec3],
    ) -> Result<Vec<f32>> {
        let mut values = sample(&set.domain, &self.volume, self.distance, interpolation, points)?;
        let size = set.domain.frame().bucket_size(0);
        for (value, point) in values.iter_mut().zip(points) {
            // Only the background is as far away, and it does not know the inside.
            if *value >= set.width {
                let cell = ((*point - set.domain.frame().origin()) / size).floor();
                let inside = set.beyond.is_inside(Bucket::at(0, cell.as_ivec3()));
                *value = if inside { -set.width } else { *value };
            }
        }
        Ok(values)
    }
}

/// All processes go on, or all have the error of one.
fn agree(domain: &GridDomain, outcome: Result<()>) -> Result<()> {
    let (own, core) = match outcome {
        Ok(()) => (None, Ok(())),
        Err(GeometryError::Core(error)) => (None, Err(error)),
        Err(error) => {
            let why = error.to_string();
            let (process, count) = (domain.processes().rank(), domain.processes().count());
            (Some(error), Err(CoreError::OnProcess { process, count, why }))
        }
    };
    let agreed = domain.processes().all_agree(core);
    own.map_or(Ok(()), Err)?;
    Ok(agreed?)
}

/// The rotation of a pose, made of length 1.
fn unit_rotation(pose: &Pose) -> Result<DQuat> {
    let length = pose.rotation.length();
    positive("the length of a rotation's quaternion", length)?;
    if !pose.translation.is_finite() {
        let found = pose.translation.length();
        return Err(GeometryError::BadParameter {
            what: "the translation of a level set [m]",
            found,
            wanted: "finite",
        });
    }
    Ok(pose.rotation / length)
}
