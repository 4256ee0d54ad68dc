//! Union, intersection and difference of two level sets, sharp or blended.
//!
//! With a and b the distances: min(a, b), max(a, b) and max(a, −b), or their [blends](crate::blend). Sharp ones are
//! distances wherever the nearest point of a surface is part of the result, bit for bit those of its operand; around an
//! edge where the surfaces meet they may be too small. Blended ones are measured anew.

use super::LevelSet;
use super::resample::Resampling;
use crate::blend::smooth_min;
use crate::error::{GeometryError, Result};
use crate::pose::Pose;
use undine_core::{Accessor, Bucket};

/// Which of the places that two level sets divide space into belong to the result: ± smooth_min(± a, ± b).
#[derive(Clone, Copy)]
struct Boolean {
    task: &'static str,
    /// The signs of the first, of the second and of the result.
    signs: [f32; 3],
}

const UNION: Boolean = Boolean { task: "unite two level sets", signs: [1.0, 1.0, 1.0] };
const INTERSECTION: Boolean =
    Boolean { task: "intersect two level sets", signs: [-1.0, -1.0, -1.0] };
const DIFFERENCE: Boolean =
    Boolean { task: "take one level set from another", signs: [-1.0, 1.0, -1.0] };

/// All three take the `other` onto this one's lattice if it has another, and give a band as wide as the narrower of the
/// two. The width of the blend [m] may be zero, for a sharp edge. Channels other than the distance are left behind.
/// Collective.
impl LevelSet {
    /// What lies in one or the other, blended over `blend` [m] where they meet.
    pub fn union(&self, other: &Self, blend: f64) -> Result<Self> {
        self.combine(other, UNION, blend)
    }

    /// What lies in both, blended over `blend` [m] where they meet.
    pub fn intersection(&self, other: &Self, blend: f64) -> Result<Self> {
        self.combine(other, INTERSECTION, blend)
    }

    /// What lies in this one and not in the other, blended over `blend` [m] where they meet.
    pub fn difference(&self, other: &Self, blend: f64) -> Result<Self> {
        self.combine(other, DIFFERENCE, blend)
    }

    fn combine(&self, other: &Self, boolean: Boolean, blend: f64) -> Result<Self> {
        if !(blend >= 0.0 && blend.is_finite()) {
            return Err(GeometryError::BadParameter {
                what: "the width of a blend [m]",
                found: blend,
                wanted: "zero or positive, and finite",
            });
        }
        let width = f64::from(self.width.min(other.width));
        if other.domain.frame() != self.domain.frame() {
            let other = other.resample(&self.domain, &Pose::IDENTITY, width, Resampling::Cubic)?;
            return self.combine(&other, boolean, blend);
        }
        // Of one that fills a box, the band of the other is enough.
        match [self.fills_box, other.fills_box] {
            [true, false] => return self.with_width(width)?.combine(other, boolean, blend),
            [false, true] => return self.combine(&other.with_width(width)?, boolean, blend),
            _ => {}
        }
        if blend <= width {
            return self.combine_in_bands(other, boolean, blend);
        }
        // A blended surface lies as far as the blend is wide from those that it joins.
        let wide = blend + self.voxel_size();
        let (one, other) = (self.with_width(wide)?, other.with_width(wide)?);
        one.combine_in_bands(&other, boolean, blend)?.with_width(width)
    }

    /// The same, of two on the same lattice whose bands are as wide as the blend.
    fn combine_in_bands(&self, other: &Self, boolean: Boolean, blend: f64) -> Result<Self> {
        let width = self.width.min(other.width);
        let mut result = Self::empty(self.volume.label(), &self.domain, f64::from(width))?;
        result.fills_box = self.fills_box && other.fills_box;
        result.cover(&self.topology().all().union(other.topology().all()))?;
        let [of_one, of_other, of_result] = boolean.signs;
        let accessor = Accessor::new(boolean.task, &result.domain).over(result.topology());
        let access = (
            self.volume.own(self.distance),
            other.volume.own(other.distance),
            result.volume.write(result.distance),
        );
        accessor.run(access, |here, (one, other_one, to)| {
            let one = Operand::new(self, here.bucket, one);
            let other_one = Operand::new(other, here.bucket, other_one);
            for (place, to) in to.iter_mut().enumerate() {
                let [a, b] = [of_one * one.at(place), of_other * other_one.at(place)];
                let smallest = if blend > 0.0 { blended(a, b, blend) } else { a.min(b) };
                *to = (of_result * smallest).clamp(-width, width);
            }
        })?;
        result.find_beyond()?;
        // Beyond the end of its box, an operand does not know its distance.
        if blend > 0.0 || result.fills_box {
            result.renormalise()?;
        } else {
            // Where two bands meet but no surface is left, there is nothing to be near to.
            result.drop_far()?;
        }
        Ok(result)
    }

    /// The same level set with a band of another width [m] on either side. Channels other than the distance are left
    /// behind. Collective.
    pub fn with_width(&self, width: f64) -> Result<Self> {
        let mut result = Self::empty(self.volume.label(), &self.domain, width)?;
        result.cover(self.topology().all())?;
        let limit = result.width;
        let accessor = Accessor::new("copy distances", &result.domain).over(result.topology());
        let access = (self.volume.own(self.distance), result.volume.write(result.distance));
        accessor.run(access, |_, (from, to)| {
            for (to, from) in to.iter_mut().zip(from) {
                *to = from.clamp(-limit, limit);
            }
        })?;
        result.find_beyond()?;
        if limit <= self.width && !self.fills_box {
            result.trim()?;
            return Ok(result);
        }
        result.cover(&result.around_surface(width)?)?;
        result.renormalise()?;
        Ok(result)
    }
}

fn blended(a: f32, b: f32, blend: f64) -> f32 {
    smooth_min(f64::from(a), f64::from(b), blend) as f32
}

/// A Bucket of one of the two, which may lack its voxels.
enum Operand<'v> {
    Voxels(&'v [f32]),
    Everywhere(f32),
}

impl<'v> Operand<'v> {
    fn new(set: &LevelSet, bucket: Bucket, voxels: &'v [f32]) -> Self {
        if set.topology().slot(bucket).is_some() {
            return Self::Voxels(voxels);
        }
        let inside = set.beyond.is_inside(bucket);
        Self::Everywhere(if inside { -set.width } else { set.width })
    }

    #[inline]
    fn at(&self, place: usize) -> f32 {
        match self {
            Self::Voxels(voxels) => voxels[place],
            Self::Everywhere(distance) => *distance,
        }
    }
}
