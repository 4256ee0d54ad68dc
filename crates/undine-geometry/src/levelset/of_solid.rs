//! The level set of anything that knows its distance: coarse Buckets that the surface cannot reach are never divided.

use super::LevelSet;
use crate::error::{GeometryError, Result, positive};
use crate::solid::Solid;
use rayon::prelude::*;
use undine_core::domain::MAX_LEVEL;
use undine_core::mesh::Bounds;
use undine_core::volume::VoxelShape;
use undine_core::{Accessor, Bucket, BucketSet, GridDomain};

/// Where a level set has voxels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Extent {
    /// Within so many voxels of the surface, on either side. Three is customary.
    Band(f64),
    /// Everywhere in the box around the inside, padded by so many voxels, two at least.
    Full(f64),
}

impl Extent {
    /// The customary band.
    pub const NARROW: Self = Self::Band(3.0);
}

/// What reads distances on the surface looks so many voxels beyond it.
pub(crate) const LEAST_PADDING: f64 = 2.0;

/// Bytes that a Bucket of a level set needs, for estimates before it is made: two channels and tables.
pub(crate) const BYTES_PER_BUCKET: u64 = 2 * super::VOXELS as u64 * 4 + 200;

impl LevelSet {
    /// The level set of a solid on the lattice of `domain`. Collective.
    ///
    /// An unbounded solid is refused: intersect it with a box.
    pub fn of_solid(
        label: &str,
        domain: &GridDomain,
        solid: &dyn Solid,
        extent: Extent,
    ) -> Result<Self> {
        let Some(bounds) = solid.bounds() else {
            return Err(GeometryError::Unbounded { what: label.to_owned() });
        };
        let voxel = domain.frame().voxel_size(0);
        let (padding, width) = match extent {
            Extent::Band(voxels) => {
                let width = positive("the voxels of a band", voxels)? * voxel;
                (width, width)
            }
            // The nearest point of the surface is never farther away than the box is wide.
            Extent::Full(voxels) => {
                let voxels = positive("the padding of a level set in voxels", voxels)?;
                let padding = voxels.max(LEAST_PADDING) * voxel;
                (padding, bounds.size().length() + 2.0 * padding + 16.0 * voxel)
            }
        };
        let bounds = Bounds { min: bounds.min - padding, max: bounds.max + padding };
        let mut set = Self::empty(label, domain, width)?;
        set.fills_box = matches!(extent, Extent::Full(_));
        let wanted = match extent {
            Extent::Band(_) => reached(domain, solid, bounds, width)?,
            Extent::Full(_) => domain.buckets_in_box(bounds.min, bounds.max, 0)?,
        };
        set.cover(&wanted)?;

        let frame = *set.domain.frame();
        let resolution = VoxelShape::CELLS.resolution;
        let accessor = Accessor::new("measure distances", &set.domain).over(set.topology());
        accessor.run(set.volume.write(set.distance), |here, distances| {
            let corner = frame.corner(here.bucket);
            for (place, distance) in distances.iter_mut().enumerate() {
                let [x, y, z] = resolution.coords(place).map(|n| n as f64 + 0.5);
                let centre = corner + voxel * undine_core::glam::DVec3::new(x, y, z);
                let found = solid.distance(centre) as f32;
                *distance = found.clamp(-set.width, set.width);
            }
        })?;
        match extent {
            Extent::Band(_) => set.trim()?,
            Extent::Full(_) => set.find_beyond()?,
        }
        Ok(set)
    }
}

/// The Buckets that may be within `width` [m] of the surface, and some more.
fn reached(
    domain: &GridDomain,
    solid: &dyn Solid,
    bounds: Bounds,
    width: f64,
) -> Result<BucketSet> {
    let frame = domain.frame();
    // Begin with Buckets of about the size of the whole.
    let size = bounds.size().max_element();
    let level = (0..MAX_LEVEL).find(|&level| frame.bucket_size(level) >= size).unwrap_or(MAX_LEVEL);
    let mut buckets: Vec<Bucket> =
        domain.buckets_in_box(bounds.min, bounds.max, level)?.buckets().collect();
    for level in (0..=level).rev() {
        // Half of the diagonal of a Bucket: no voxel of it is farther from its centre.
        let radius = 0.5 * 3.0_f64.sqrt() * frame.bucket_size(level);
        let near = |bucket: &Bucket| solid.distance(frame.centre(*bucket)).abs() <= radius + width;
        buckets = buckets.into_par_iter().filter(near).collect();
        if level > 0 {
            let needed = (8 * buckets.len()) as u64 * BYTES_PER_BUCKET / 8;
            domain.budget().check("the Buckets around a surface", needed)?;
            buckets = buckets.into_par_iter().flat_map_iter(|bucket| bucket.children()).collect();
        }
    }
    Ok(BucketSet::from_buckets(buckets)?)
}
