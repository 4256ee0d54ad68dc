//! Points on surfaces and in volumes: evenly spread at random, one per jittered cell, or as Poisson disks.
//!
//! The same request always gives the same points, for any number of threads.

mod poisson;
mod surface;
mod volume;

pub use surface::{SurfacePoint, sample_surface, sample_surface_poisson};
pub use volume::{sample_volume_jittered, sample_volume_poisson};

use crate::error::{GeometryError, Result};

/// What every sampling is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampling {
    /// Other seeds give other points.
    pub seed: u64,
    /// How many points there may be at most; a request that needs more is refused.
    pub most: usize,
}

impl Default for Sampling {
    fn default() -> Self {
        Self { seed: 0, most: 1 << 26 }
    }
}

impl Sampling {
    /// Refuses more points than allowed.
    fn check(&self, wanted: u64) -> Result<()> {
        let (what, limit) = ("the points of a sampling", self.most as u64);
        if wanted > limit {
            Err(GeometryError::TooMany { what, found: wanted, most: limit })
        } else {
            Ok(())
        }
    }
}
