//! Where the Buckets of a Grid Domain lie in the world.

use super::bucket::{Bucket, MAX_LEVEL};
use crate::error::{CoreError, Result};
use glam::{DVec3, IVec3, Vec3};
use rayon::prelude::*;

/// Voxels along a Bucket's edge at the customary resolution: an OpenVDB leaf.
pub const VOXELS_PER_BUCKET: usize = 8;

/// The lattice of a Grid Domain in the world: an origin in `f64` and the size of a voxel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame {
    origin: DVec3,
    voxel_size: f64,
}

impl Frame {
    /// A lattice whose Bucket (0, 0, 0) has its lower corner at `origin` [m], and whose finest voxels,
    /// eight along a Bucket, are `voxel_size` [m] wide.
    pub fn new(origin: DVec3, voxel_size: f64) -> Result<Self> {
        if !origin.is_finite() {
            return Err(CoreError::NotFinite {
                what: "the origin of a Grid Domain".into(),
                position: origin,
            });
        }
        if !(voxel_size > 0.0 && voxel_size.is_finite()) {
            return Err(CoreError::BadLength { what: "voxel size", found: voxel_size });
        }
        // Squares of lengths, up to the widest Bucket, must be normal numbers in f32, because fluid
        // kernels compute in f32.
        if !(1e-15..=1e12).contains(&voxel_size) {
            return Err(CoreError::BadValue {
                what: "voxel size".into(),
                found: format!("{voxel_size:e} m"),
                wanted: "a length from 1e-15 m to 1e12 m",
            });
        }
        Ok(Self { origin, voxel_size })
    }

    /// The lower corner of Bucket (0, 0, 0) [m].
    pub fn origin(&self) -> DVec3 {
        self.origin
    }

    /// The width of a voxel on a level, at eight voxels along a Bucket [m].
    pub fn voxel_size(&self, level: u8) -> f64 {
        self.voxel_size * f64::from(1_u32 << level)
    }

    /// The width of a Bucket on a level [m].
    pub fn bucket_size(&self, level: u8) -> f64 {
        self.voxel_size(level) * VOXELS_PER_BUCKET as f64
    }

    /// The lower corner of a Bucket [m].
    pub fn corner(&self, bucket: Bucket) -> DVec3 {
        self.origin + bucket.coord.as_dvec3() * self.bucket_size(bucket.level)
    }

    /// The centre of a Bucket [m].
    pub fn centre(&self, bucket: Bucket) -> DVec3 {
        self.origin + (bucket.coord.as_dvec3() + 0.5) * self.bucket_size(bucket.level)
    }

    /// The world position of an offset [m] from a Bucket's corner.
    pub fn world(&self, bucket: Bucket, offset: Vec3) -> DVec3 {
        self.corner(bucket) + offset.as_dvec3()
    }

    /// The Bucket on `level` that contains a world position, and the offset [m] from its corner.
    ///
    /// The offset lies in `0 .. bucket_size`; a position that rounds up to the far side belongs to
    /// the next Bucket. `what` names the owner of the position in errors.
    pub fn locate(&self, position: DVec3, level: u8, what: &str) -> Result<(Bucket, Vec3)> {
        let (bucket, offset) = self.locate_freely(position, level, what)?;
        Ok((bucket.check(what)?, offset))
    }

    /// What `keep` makes of the Bucket and the offset of each world position. If one has none, the error
    /// is that of the first such; `what` names the owner of a position by its number.
    pub(crate) fn locate_all<R: Send>(
        &self,
        positions: &[DVec3],
        level: u8,
        what: impl Fn(usize) -> String,
        keep: impl Fn(Bucket, Vec3) -> R + Sync,
    ) -> Result<Vec<R>> {
        let located = |position: DVec3, what: &str| {
            self.locate(position, level, what).map(|(bucket, offset)| keep(bucket, offset))
        };
        // Names are made only where something is wrong.
        if let Some(kept) = positions.par_iter().map(|&at| located(at, "").ok()).collect() {
            return Ok(kept);
        }
        let named = |(n, &at): (usize, &DVec3)| located(at, "").or_else(|_| located(at, &what(n)));
        positions.iter().enumerate().map(named).collect()
    }

    /// The last Bucket on `level` that a box reaches into which ends at `position`: along an axis where
    /// it ends on a Bucket's face, not the Bucket behind that face.
    pub(super) fn locate_end(&self, position: DVec3, level: u8, what: &str) -> Result<Bucket> {
        let (bucket, offset) = self.locate_freely(position, level, what)?;
        let on_face = offset.cmpeq(Vec3::ZERO);
        let back = IVec3::new(on_face.x.into(), on_face.y.into(), on_face.z.into());
        // A box may begin and end on the lowest face of all.
        let lowest = IVec3::splat(-Bucket::limit(level));
        Bucket::at(level, (bucket.coord - back).max(lowest.min(bucket.coord))).check(what)
    }

    /// [`Self::locate`], whose Bucket may lie one beyond the index range.
    fn locate_freely(&self, position: DVec3, level: u8, what: &str) -> Result<(Bucket, Vec3)> {
        if !position.is_finite() {
            return Err(CoreError::NotFinite { what: what.to_owned(), position });
        }
        if level > MAX_LEVEL {
            return Err(CoreError::NoSuchLevel { found: level, max: MAX_LEVEL });
        }
        let size = self.bucket_size(level);
        let from_origin = position - self.origin;
        let cell = (from_origin / size).floor();
        let limit = f64::from(Bucket::limit(level));
        if cell.abs().max_element() > limit {
            return Err(CoreError::OutOfRange {
                what: what.to_owned(),
                coord: cell.to_array().map(|c| c as i64),
                level,
                limit: limit as i64,
            });
        }
        let mut coord = cell.as_ivec3();
        // Not from the corner in the world, which far from zero is rounded: so the same place has the
        // same offset at any origin, if it is exact in f64.
        let mut offset = (from_origin - cell * size).as_vec3().max(Vec3::ZERO);
        let far = offset.cmpge(Vec3::splat(size as f32));
        coord += IVec3::new(far.x.into(), far.y.into(), far.z.into());
        offset = Vec3::select(far, Vec3::ZERO, offset);
        Ok((Bucket::at(level, coord), offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn locate_and_world_are_inverse_to_rounding(
            position in prop::array::uniform3(-900.0..900.0_f64),
            voxel in 0.001..0.5_f64,
            level in 0..4_u8,
        ) {
            let frame = Frame::new(DVec3::new(0.1, 0.2, 0.3), voxel).unwrap();
            let position = DVec3::from_array(position);
            let (bucket, offset) = frame.locate(position, level, "a point").unwrap();
            let size = frame.bucket_size(level) as f32;
            prop_assert!(offset.min_element() >= 0.0 && offset.max_element() < size);
            let error = (frame.world(bucket, offset) - position).abs().max_element();
            prop_assert!(error <= f64::from(size * f32::EPSILON) + 1e-12);
        }
    }

    #[test]
    fn an_exact_place_has_the_same_offset_at_any_origin() {
        let here = Frame::new(DVec3::ZERO, 0.1).unwrap();
        let origin = DVec3::new(10_240.0, -5_120.0, 20_480.0);
        let far = Frame::new(origin, 0.1).unwrap();
        for n in -500..500 {
            let place = DVec3::new(f64::from(n), f64::from(7 * n), f64::from(3 - n)) / 1024.0;
            let found = far.locate(origin + place, 0, "a point").unwrap();
            assert_eq!(found, here.locate(place, 0, "a point").unwrap(), "{place}");
        }
    }

    #[test]
    fn bad_sizes_and_positions_are_refused() {
        for size in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(Frame::new(DVec3::ZERO, size), Err(CoreError::BadLength { .. })));
        }
        assert!(Frame::new(DVec3::NAN, 1.0).is_err());
        let frame = Frame::new(DVec3::ZERO, 1.0).unwrap();
        assert!(matches!(frame.locate(DVec3::NAN, 0, "x"), Err(CoreError::NotFinite { .. })));
        assert!(matches!(
            frame.locate(DVec3::splat(1e300), 0, "x"),
            Err(CoreError::OutOfRange { .. })
        ));
        assert!(matches!(frame.locate(DVec3::ZERO, 99, "x"), Err(CoreError::NoSuchLevel { .. })));
    }
}
