//! Morphology: surfaces moved outwards or inwards by a distance, and what that closes or opens.
//!
//! The surface of a level set moved by δ is where its distance is δ. A band holds it if δ is less than its width; farther
//! ways are gone in steps, each with a new band, because offsets add up: (A ⊕ δ) ⊕ ε = A ⊕ (δ + ε).

use super::LevelSet;
use crate::error::{GeometryError, Result};
use undine_core::Bucket;
use undine_core::domain::VOXELS_PER_BUCKET;

/// All distances are in metres, zero or positive. Collective.
impl LevelSet {
    /// Moves the surface outwards: what is within `distance` [m] of the inside becomes inside.
    pub fn dilate(&mut self, distance: f64) -> Result<()> {
        self.offset("dilate", self.check_offset(distance)?)
    }

    /// Moves the surface inwards: what is within `distance` [m] of the outside becomes outside.
    pub fn erode(&mut self, distance: f64) -> Result<()> {
        self.offset("erode", -self.check_offset(distance)?)
    }

    /// Erodes and dilates: parts thinner than twice the `distance` [m] go, and edges that stick out are rounded.
    pub fn open(&mut self, distance: f64) -> Result<()> {
        self.erode(distance)?;
        self.dilate(distance)
    }

    /// Dilates and erodes: gaps and holes narrower than twice the `distance` [m] close, and grooves are rounded.
    pub fn close(&mut self, distance: f64) -> Result<()> {
        self.dilate(distance)?;
        self.erode(distance)
    }

    /// Moves the surface by a distance [m], outwards if it is positive, in steps that the band holds.
    fn offset(&mut self, task: &'static str, distance: f64) -> Result<()> {
        // Voxels on both sides of the surface where it will be must hold distances: those are a voxel apart at most.
        let voxel = self.voxel_size();
        let longest = (f64::from(self.width) - voxel).max(0.5 * voxel);
        let longest = std::env::var("STEP").map_or(longest, |s| s.parse::<f64>().unwrap() * voxel);
        let steps = (distance.abs() / longest).ceil();
        let (step, width) = ((distance / steps.max(1.0)) as f32, self.width);
        for _ in 0..steps as u64 {
            if self.topology().all().is_empty() {
                break;
            }
            self.update(task, 0, |_, tile, to| {
                for (n, row) in to.chunks_exact_mut(8).enumerate() {
                    let at = tile.index(n as i32 >> 3, n as i32 & 7, 0);
                    for (to, own) in row.iter_mut().zip(&tile.values()[at..at + 8]) {
                        *to = (own - step).clamp(-width, width);
                    }
                }
            })?;
            self.renormalise()?;
        }
        Ok(())
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
