//! Level sets: signed distances to a surface on sparse Buckets, in a band around it.
//!
//! A [`LevelSet`] has Buckets where the surface is near, and no others: its memory grows with the area of the
//! surface. Of the Buckets that it has not, it knows which lie inside ([`Beyond`]). Distances are in metres, `f32`,
//! in the middle of each voxel, negative inside, and never more than the band's [`width`](LevelSet::width).

mod advect;
mod band;
mod beyond;
mod boolean;
mod components;
mod extrapolate;
mod filter;
mod filter_curvature;
mod filter_laplacian;
mod filter_mean;
mod filter_median;
mod fracture;
mod gather;
pub(crate) mod lanes;
mod mask;
mod measure;
mod morphology;
mod near;
mod of_solid;
mod redistance;
mod resample;
mod resample_aligned;
mod sample;
mod surface;
mod trace;

pub use advect::{Advected, Advection};
pub use beyond::Beyond;
pub use components::{Components, OUTSIDE};
pub use extrapolate::{Extrapolation, Known, Order, SurfaceChannel, extrapolate, extrapolate_mac};
pub use filter::Filter;
pub use mask::Mask;
pub use measure::Size;
pub use of_solid::Extent;
pub(crate) use of_solid::{BYTES_PER_BUCKET, LEAST_PADDING};
pub use redistance::{DistanceChannels, redistance};
pub use resample::Resampling;
pub use sample::DistanceSampler;
pub use trace::Carrier;

use crate::error::{GeometryError, Result, positive};
use std::sync::Arc;
use undine_core::access::{Here, Pad, Tile};
use undine_core::channel::ChannelRef;
use undine_core::domain::VOXELS_PER_BUCKET;
use undine_core::volume::{VoxelColumn, VoxelShape, Voxels};
use undine_core::{Accessor, BucketSet, ChannelSpec, DiscreteVolume, GridDomain, Handle, Topology};

/// Signed distances [m] to a surface in a band around it, and other channels on the same voxels.
///
/// Every call that computes is collective: on several processes, all make it alike.
#[derive(Debug)]
pub struct LevelSet {
    /// The lattice, the processes, the budget. Its Buckets are those of the volume.
    domain: GridDomain,
    volume: DiscreteVolume,
    distance: Handle<f32>,
    /// Where a pass writes before it becomes the distance.
    next: Handle<f32>,
    width: f32,
    beyond: Beyond,
    /// Whether it was made to fill a box, so that its Buckets need not reach as far as its width.
    fills_box: bool,
}

/// The name of the channel of distances.
const DISTANCE: &str = "distance";
/// The name of the channel that a pass writes.
const NEXT: &str = "distance, next";

impl LevelSet {
    /// Nothing inside and no Buckets, on the lattice of `domain`, with a band of `width` [m] on either side.
    ///
    /// The band should be three voxels wide: many tools look that far, and none works with less than one and a half.
    pub fn empty(label: &str, domain: &GridDomain, width: f64) -> Result<Self> {
        let width = checked_width(width, domain.frame().voxel_size(0))?;
        let mut domain = domain.clone();
        domain.set_buckets(&BucketSet::new())?;
        let mut volume = DiscreteVolume::new(label, &domain);
        let spec = |name: &str| ChannelSpec::new(name, width).unit("m");
        let distance = volume.add_channel(&spec(DISTANCE), VoxelShape::CELLS)?;
        let next = volume.add_channel(&spec(NEXT), VoxelShape::CELLS)?;
        let beyond = Beyond::default();
        Ok(Self { domain, volume, distance, next, width, beyond, fills_box: false })
    }

    /// Of a channel of distances [m] that a volume on the lattice of `domain` has, with its Buckets and a band of `width` [m] on either
    /// side. What is no number is taken to be outside. Collective.
    pub fn of_channel(
        label: &str,
        domain: &GridDomain,
        (volume, channel): (&DiscreteVolume, Handle<f32>),
        width: f64,
    ) -> Result<Self> {
        let mut set = Self::empty(label, domain, width)?;
        set.cover(volume.topology().all())?;
        let width = set.width;
        Accessor::new("take distances", &set.domain).over(set.topology()).run(
            (volume.own(channel), set.volume.write(set.distance)),
            |_, (from, to)| {
                for (to, from) in to.iter_mut().zip(from) {
                    *to = if from.is_nan() { width } else { from.clamp(-width, width) };
                }
            },
        )?;
        set.find_beyond()?;
        Ok(set)
    }

    /// The lattice, the processes and the budget that it shares with others. Its Buckets are the level set's own.
    pub fn domain(&self) -> &GridDomain {
        &self.domain
    }

    /// The voxels, to read other channels.
    pub fn volume(&self) -> &DiscreteVolume {
        &self.volume
    }

    /// The voxels, to add other channels and fill them.
    pub fn volume_mut(&mut self) -> &mut DiscreteVolume {
        &mut self.volume
    }

    /// The Buckets that have voxels.
    pub fn topology(&self) -> &Arc<Topology> {
        self.volume.topology()
    }

    /// The channel of distances [m].
    pub fn distance(&self) -> Handle<f32> {
        self.distance
    }

    /// How far from the surface distances reach, on either side [m]; voxels farther away hold ± this.
    pub fn width(&self) -> f32 {
        self.width
    }

    /// The same, made to fill a box.
    pub(crate) fn filling_box(self) -> Self {
        Self { fills_box: true, ..self }
    }

    /// Whether it was made to fill a box.
    pub(crate) fn fills_box(&self) -> bool {
        self.fills_box
    }

    /// How far around the surface it wants Buckets [m]: as far as the band is wide. One that fills a box keeps that,
    /// and wants two Buckets more where the surface comes near to its ends.
    fn reach(&self) -> f64 {
        let width = f64::from(self.width);
        if self.fills_box { width.min(2.0 * self.domain.frame().bucket_size(0)) } else { width }
    }

    /// The width of a voxel [m].
    pub fn voxel_size(&self) -> f64 {
        self.domain.frame().voxel_size(0)
    }

    /// Which of the Buckets without voxels lie inside.
    pub fn beyond(&self) -> &Beyond {
        &self.beyond
    }

    /// The distances, claimed for reading: what [`Self::sampler`] needs.
    pub fn column(&self) -> Result<ChannelRef<'_, Voxels, f32>> {
        Ok(self.volume.column(self.distance)?)
    }

    /// Reads distances between voxels. Copies of other processes' Buckets are read as they are: refresh them before.
    pub fn sampler<'a>(&'a self, column: &'a VoxelColumn<f32>) -> DistanceSampler<'a> {
        DistanceSampler::new(self, column)
    }

    /// Gives every voxel a new distance from those within `reach` voxels of it, 8 at most: `kernel` gets a tile padded
    /// that far, with what lies beyond the Buckets filled in, and the voxels to write.
    pub fn update(
        &mut self,
        task: &'static str,
        reach: u8,
        kernel: impl for<'v> Fn(Here<'v>, &Tile<f32>, &mut [f32]) + Sync,
    ) -> Result<()> {
        let access = (self.volume.around(self.distance, reach), self.volume.write(self.next));
        let scratch = || Tile::new(VoxelShape::CELLS.resolution, Pad::both(reach), self.width);
        let accessor = Accessor::new(task, &self.domain).over(self.topology());
        accessor.run_with(access, scratch, |tile, here, (around, to)| {
            around.load(tile);
            self.beyond.fill(here, tile, -self.width);
            kernel(here, tile, to);
        })?;
        Ok(self.volume.swap(self.distance, self.next)?)
    }

    /// Has exactly the Buckets that any process wants: those that stay keep their voxels, new ones hold ± the width, as
    /// they lie inside or outside.
    pub fn cover(&mut self, wanted: &BucketSet) -> Result<()> {
        let old = self.topology().clone();
        self.domain.set_buckets(wanted)?;
        self.volume.follow(self.domain.topology())?;
        let (width, beyond) = (self.width, &self.beyond);
        let accessor = Accessor::new("fill new Buckets", &self.domain).over(self.topology());
        accessor.run(self.volume.write(self.distance), |here, distance| {
            if old.slot(here.bucket).is_none() && beyond.is_inside(here.bucket) {
                distance.fill(-width);
            }
        })?;
        self.find_beyond()
    }

    /// Drops the Buckets that the band does not reach.
    pub fn trim(&mut self) -> Result<()> {
        let accessor = Accessor::new("find the band", &self.domain).over(self.topology());
        let width = self.width;
        let reached = accessor.map(self.volume.own(self.distance), |here, distance| {
            distance.iter().any(|distance| distance.abs() < width).then(|| here.bucket.key())
        })?;
        let kept = BucketSet::from_keys(reached.into_iter().flatten().collect());
        self.domain.set_buckets(&kept)?;
        self.volume.follow(self.domain.topology())?;
        self.find_beyond()
    }

    /// Finds anew which of the Buckets without voxels lie inside: after distances were written from outside.
    pub fn find_beyond(&mut self) -> Result<()> {
        self.beyond = Beyond::find(&self.domain, &self.volume, self.distance)?;
        Ok(())
    }
}

/// A width [m] that voxels can be counted in and that distances can be as far as.
fn checked_width(width: f64, voxel: f64) -> Result<f32> {
    let voxels = positive("the width of a band", width)? / voxel;
    if (1e-3..=1e8).contains(&voxels) {
        return Ok(width as f32);
    }
    Err(GeometryError::BadParameter {
        what: "the width of a band in voxels",
        found: voxels,
        wanted: "from 0.001 to 100 million",
    })
}

/// Voxels in a Bucket.
pub(crate) const VOXELS: usize = VOXELS_PER_BUCKET.pow(3);
