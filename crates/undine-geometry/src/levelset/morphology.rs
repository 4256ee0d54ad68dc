//! Morphology: surfaces moved outwards or inwards by a distance, and what that closes or opens.
//!
//! The surface of a level set moved by δ is where its distance is δ. A band holds it if δ is less than its width; farther
//! ways are gone in steps, each with a new band, because offsets add up: (A ⊕ δ) ⊕ ε = A ⊕ (δ + ε).

use super::LevelSet;
use crate::error::{GeometryError, Result};
use undine_core::domain::VOXELS_PER_BUCKET;
use undine_core::{Accessor, Bucket};

/// All distances are in metres, zero or positive. Where memory runs out on a long way, the surface stays where it was by
/// then. Collective.
impl LevelSet {
    /// Moves the surface outwards: what is within `distance` [m] of the inside becomes inside.
    pub fn dilate(&mut self, distance: f64) -> Result<()> {
        self.offset("dilate", self.check_offset(distance)?, self.longest_step())
    }

    /// Moves the surface inwards: what is within `distance` [m] of the outside becomes outside.
    pub fn erode(&mut self, distance: f64) -> Result<()> {
        self.offset("erode", -self.check_offset(distance)?, self.longest_step())
    }

    /// Erodes and dilates: parts thinner than twice the `distance` [m] go, and edges that stick out are rounded.
    pub fn open(&mut self, distance: f64) -> Result<()> {
        self.erode(distance)?;
        self.offset("dilate", distance, self.good_step())
    }

    /// Dilates and erodes: gaps and holes narrower than twice the `distance` [m] close, and grooves are rounded.
    pub fn close(&mut self, distance: f64) -> Result<()> {
        self.dilate(distance)?;
        self.offset("erode", -distance, self.good_step())
    }

    /// Moves the surface by a distance [m], outwards if it is positive, in steps that the band holds.
    fn offset(&mut self, task: &'static str, distance: f64, first: f64) -> Result<()> {
        let (mut left, mut most) = (distance.abs(), first);
        if self.fills_box && distance > 0.0 {
            // Distances go on beyond the box, for the surface to leave it.
            self.renormalise()?;
            most = self.good_step();
        }
        while left > 0.0 && !self.topology().all().is_empty() {
            let step = left.min(most);
            self.shift(task, step.copysign(distance) as f32)?;
            // Of nearly equal numbers the difference is exact, so that this ends.
            left -= step;
            most = self.good_step();
        }
        Ok(())
    }

    /// Moves the surface by a step [m] that the band holds.
    fn shift(&mut self, task: &'static str, step: f32) -> Result<()> {
        let width = self.width;
        let accessor = Accessor::new(task, &self.domain).over(self.topology());
        accessor.run(self.volume.write(self.distance), |_, distances| {
            for distance in distances {
                *distance = (*distance - step).clamp(-width, width);
            }
        })?;
        self.renormalise()
    }

    /// The longest step that the band holds [m]: voxels next to the surface where it will be, and their neighbours, must
    /// hold distances for it to be seen without a bend.
    fn longest_step(&self) -> f64 {
        let voxel = self.voxel_size();
        (self.reach() - 2.0 * voxel).max(0.5 * voxel)
    }

    /// The longest step [m] through distances that were just made anew: these are best next to the surface.
    fn good_step(&self) -> f64 {
        self.longest_step().min(self.voxel_size())
    }

    fn check_offset(&self, distance: f64) -> Result<f64> {
        // No farther than there are Buckets.
        let most = f64::from(Bucket::limit(0)) * VOXELS_PER_BUCKET as f64 * self.voxel_size();
        if distance >= 0.0 && distance <= most {
            return Ok(distance);
        }
        Err(GeometryError::BadParameter {
            what: "the distance by which a surface moves [m]",
            found: distance,
            wanted: "zero or positive, and no more than the lattice is wide",
        })
    }
}
