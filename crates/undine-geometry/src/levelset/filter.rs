//! Smoothing filters, each with a number of iterations and a mask; the band follows the surface.
//!
//! Every kernel computes the voxels of the band from those around them. After as many iterations as leave the voxels
//! beside the surface untouched by the ends of the band, distances are measured anew.

use super::LevelSet;
use super::filter_curvature::curvature_flow;
use super::filter_laplacian::towards_neighbours;
use super::filter_mean::Weights;
use super::filter_median::median;
use super::mask::{Effect, Mask};
use crate::error::{GeometryError, Result};
use undine_core::access::{Pad, Tile};
use undine_core::volume::VoxelShape;
use undine_core::{Accessor, ChannelSpec, DiscreteVolume, Handle};

/// What one iteration does to a level set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Filter {
    /// The surface moves against its mean curvature (1/r₁ + 1/r₂) for h²/6, with h the width of a voxel: the longest
    /// step that is stable. Keeps planes, shrinks and rounds off all else; a ball of radius r to √(r² − 4t).
    MeanCurvature,
    /// Each voxel moves half of the way to the mean of its six neighbours. Like a flow by curvature, without its limit.
    Laplacian,
    /// The mean of a cube that reaches so many voxels in each direction.
    Mean(u8),
    /// The Gaussian mean, cut off at so many voxels, which are two standard deviations.
    Gaussian(u8),
    /// The median of a cube that reaches so many voxels in each direction, at most two. Removes small features and keeps
    /// edges better than a mean.
    Median(u8),
}

/// A kernel computes the voxels of a Bucket from a tile; it may use the buffer for anything.
pub(super) type Buffer = Vec<f32>;

impl LevelSet {
    /// Smooths the surface, everywhere or as much as a mask says. Collective.
    ///
    /// The filter may reach as far as the band is wide, less one voxel: see [`Self::with_width`]. Where memory runs out
    /// between iterations, those before have happened.
    pub fn filter(&mut self, filter: Filter, iterations: u32, mask: Option<&Mask>) -> Result<()> {
        let reach = self.check(filter)?;
        let voxel = self.voxel_size() as f32;
        match filter {
            Filter::MeanCurvature => self.flow(iterations, mask, voxel * voxel / 6.0),
            Filter::Laplacian => self.iterate("smooth by a Laplacian", 1, iterations, mask, {
                |tile, _, to| towards_neighbours(tile, to)
            }),
            Filter::Mean(_) | Filter::Gaussian(_) => {
                let gaussian = matches!(filter, Filter::Gaussian(_));
                let weights = Weights::new(reach, gaussian);
                self.iterate("smooth by a mean", reach, iterations, mask, {
                    |tile, buffer, to| weights.mean(tile, buffer, to)
                })
            }
            Filter::Median(_) => self.iterate("smooth by a median", reach, iterations, mask, {
                |tile, buffer, to| median(tile, reach, buffer, to)
            }),
        }
    }

    /// Moves the surface at the speed of its mean curvature, 1/r₁ + 1/r₂, towards its inside, for a time [m²]: a
    /// curvature times a square of a length is a way. Curvatures above one per voxel count as one per voxel. Collective.
    pub fn flow_by_mean_curvature(&mut self, time: f64, mask: Option<&Mask>) -> Result<()> {
        let longest = self.voxel_size().powi(2) / 6.0;
        let steps = (time / longest).ceil();
        if !(time >= 0.0 && steps <= f64::from(u32::MAX)) {
            return Err(GeometryError::BadParameter {
                what: "the time of a flow by curvature [m²]",
                found: time,
                wanted: "zero or positive, and less than 2³² squares of a voxel over 6",
            });
        }
        self.flow(steps as u32, mask, (time / steps.max(1.0)) as f32)
    }

    /// Changes the surface only as much as a mask says: distances of before and after are mixed. Where it has part of its effect, ways
    /// longer than the band is wide count as if they were that long. Collective.
    pub fn masked(
        &mut self,
        mask: &Mask,
        change: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let before = Before::of(self)?;
        change(self)?;
        self.cover(&self.topology().all().union(before.volume.topology().all()))?;
        let effects = mask.effects(self)?;
        let width = self.width;
        let accessor = Accessor::new("mix distances", &self.domain).over(self.topology());
        let access = (before.volume.own(before.distance), self.volume.write(self.distance));
        accessor.run_with(access, Vec::new, |elsewhere, here, (old, to)| {
            let old = match before.volume.topology().slot(here.bucket) {
                Some(_) => old,
                None => {
                    let is_inside = before.beyond.is_inside(here.bucket);
                    elsewhere.clear();
                    elsewhere.resize(super::VOXELS, if is_inside { -width } else { width });
                    &elsewhere[..]
                }
            };
            effects[here.slot as usize].limit(old, to);
        })?;
        self.find_beyond()?;
        self.renormalise()?;
        self.restore(mask, &before)
    }

    fn flow(&mut self, steps: u32, mask: Option<&Mask>, time: f32) -> Result<()> {
        let voxel = self.voxel_size() as f32;
        self.iterate("flow by mean curvature", 1, steps, mask, {
            |tile, _, to| curvature_flow(tile, voxel, time, to)
        })
    }

    /// How far a filter reaches, if the band is wide enough for it.
    fn check(&self, filter: Filter) -> Result<u8> {
        let (reach, most) = match filter {
            Filter::MeanCurvature | Filter::Laplacian => (1, 1),
            Filter::Mean(reach) | Filter::Gaussian(reach) => (reach, 8),
            Filter::Median(reach) => (reach, 2),
        };
        let wide_enough = f64::from(reach) + 1.0 <= self.reach() / self.voxel_size() + 1e-4;
        if (1..=most).contains(&reach) && (most == 1 || wide_enough) {
            return Ok(reach);
        }
        Err(GeometryError::BadParameter {
            what: "the reach of a filter in voxels",
            found: f64::from(reach),
            wanted: "at least 1, at most 8 (a median: 2) and the width of the band less one voxel",
        })
    }

    /// Runs a kernel again and again, and keeps the band around the surface.
    fn iterate(
        &mut self,
        task: &'static str,
        reach: u8,
        iterations: u32,
        mask: Option<&Mask>,
        kernel: impl Fn(&Tile<f32>, &mut Buffer, &mut [f32]) + Sync,
    ) -> Result<()> {
        let before = mask.map(|_| Before::of(self)).transpose()?;
        if self.fills_box && iterations > 0 {
            // Distances go on beyond the box, for the filter to read.
            self.renormalise()?;
        }
        // So many iterations may pass until what is wrong at the ends of the band has come within two voxels of the
        // surface, which new distances are measured from.
        let beyond = self.reach() / self.voxel_size() - 2.0;
        let at_once = ((beyond / f64::from(reach)) as u32).max(1);
        let mut left = iterations;
        while left > 0 && !self.topology().all().is_empty() {
            let effects = mask.map(|mask| mask.effects(self)).transpose()?;
            let now = at_once.min(left);
            for _ in 0..now {
                self.pass(task, reach, effects.as_deref(), &kernel)?;
            }
            left -= now;
            self.renormalise()?;
        }
        match (mask, before) {
            (Some(mask), Some(before)) => self.restore(mask, &before),
            _ => Ok(()),
        }
    }

    /// Runs a kernel once, as far as it has effect.
    fn pass(
        &mut self,
        task: &'static str,
        reach: u8,
        effects: Option<&[Effect]>,
        kernel: &(impl Fn(&Tile<f32>, &mut Buffer, &mut [f32]) + Sync),
    ) -> Result<()> {
        let width = self.width;
        let scratch = || {
            let tile = Tile::new(VoxelShape::CELLS.resolution, Pad::both(reach), width);
            (tile, Buffer::new())
        };
        let accessor = Accessor::new(task, &self.domain).over(self.topology());
        let access = (self.volume.around(self.distance, reach), self.volume.write(self.next));
        accessor.run_with(access, scratch, |(tile, buffer), here, (around, to)| {
            around.load(tile);
            self.beyond.fill(here, tile, -width);
            kernel(tile, buffer, to);
            let own = around.chunk();
            if let Some(effects) = effects {
                effects[here.slot as usize].limit(own, to);
            }
            // Only the band holds distances.
            for (to, own) in to.iter_mut().zip(own) {
                *to = if own.abs() < width { to.clamp(-width, width) } else { *own };
            }
        })?;
        Ok(self.volume.swap(self.distance, self.next)?)
    }

    /// Gives the voxels on which the mask has no effect back what they were, with their Buckets.
    fn restore(&mut self, mask: &Mask, before: &Before) -> Result<()> {
        self.cover(&self.topology().all().union(before.volume.topology().all()))?;
        let effects = mask.effects(self)?;
        let accessor = Accessor::new("restore what is masked", &self.domain).over(self.topology());
        let access = (before.volume.own(before.distance), self.volume.write(self.distance));
        accessor.run(access, |here, (old, to)| {
            let had_voxels = before.volume.topology().slot(here.bucket).is_some();
            let inside = before.beyond.is_inside(here.bucket);
            let elsewhere = if inside { -self.width } else { self.width };
            let old = |place: usize| if had_voxels { old[place] } else { elsewhere };
            effects[here.slot as usize].restore(old, to);
        })?;
        self.find_beyond()?;
        self.trim()
    }
}

/// The distances before an operation.
struct Before {
    volume: DiscreteVolume,
    distance: Handle<f32>,
    beyond: super::Beyond,
}

impl Before {
    fn of(set: &LevelSet) -> Result<Self> {
        let mut volume = DiscreteVolume::on("what was before", &set.domain, set.topology().clone());
        let spec = ChannelSpec::new(super::DISTANCE, set.width).unit("m");
        let distance = volume.add_channel(&spec, VoxelShape::CELLS)?;
        let accessor = Accessor::new("keep distances", &set.domain).over(set.topology());
        accessor.run((set.volume.own(set.distance), volume.write(distance)), |_, (from, to)| {
            to.copy_from_slice(from);
        })?;
        Ok(Self { volume, distance, beyond: set.beyond.clone() })
    }
}
