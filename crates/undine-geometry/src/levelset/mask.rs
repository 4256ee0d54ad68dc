//! Masks: where an operation has effect, from 0 to 1, with a smooth transition between.
//!
//! The transition is Perlin's smoothstep t²(3 − 2t). Where the effect is 0, voxels keep their distance bit for bit.

use super::{LevelSet, VOXELS};
use crate::error::{GeometryError, Result, positive};
use crate::solid::Solid;
use undine_core::glam::DVec3;
use undine_core::volume::Resolution;
use undine_core::{Accessor, Bucket, Frame, Handle};

/// Where an operation on a level set has effect.
#[derive(Debug, Clone, Copy)]
pub struct Mask<'a> {
    source: Source<'a>,
    inverted: bool,
}

#[derive(Debug, Clone, Copy)]
enum Source<'a> {
    /// Effect 1 at distance 0, and 0 at this one [m].
    Solid(&'a dyn Solid, f64),
    Set(&'a LevelSet, f32),
    /// Effect 0 at the first value, and 1 at the second.
    Ramp(Handle<f32>, f32, f32),
    /// Effect 1 between the two values, and 0 from the third beyond them on.
    Range(Handle<f32>, f32, f32, f32),
}

impl<'a> Mask<'a> {
    /// Full effect in the solid, and none from `transition` [m] outside of it on.
    pub fn solid(solid: &'a dyn Solid, transition: f64) -> Result<Self> {
        positive("the transition of a mask [m]", transition)?;
        Ok(Self { source: Source::Solid(solid, transition), inverted: false })
    }

    /// Full effect inside of a level set on the same lattice, and none from `transition` [m] outside of it on, which is
    /// at most the width of its band.
    pub fn set(set: &'a LevelSet, transition: f64) -> Result<Self> {
        if !(transition > 0.0 && transition <= f64::from(set.width)) {
            return Err(GeometryError::BadParameter {
                what: "the transition of a mask [m]",
                found: transition,
                wanted: "positive, and at most the width of the band of its level set",
            });
        }
        Ok(Self { source: Source::Set(set, transition as f32), inverted: false })
    }

    /// No effect where a channel of the level set that is worked on is at `none` or beyond, full effect where it is at
    /// `full` or beyond. New Buckets hold the channel's default.
    pub fn ramp(channel: Handle<f32>, none: f32, full: f32) -> Result<Self> {
        if none == full || !(none - full).is_finite() {
            return Err(GeometryError::BadParameter {
                what: "the value of a mask's channel with full effect",
                found: f64::from(full),
                wanted: "finite, and another than that with none",
            });
        }
        Ok(Self { source: Source::Ramp(channel, none, full), inverted: false })
    }

    /// Full effect where a channel of the level set that is worked on is from `low` to `high`, and none where it is
    /// farther than `transition` from both. New Buckets hold the channel's default.
    pub fn range(channel: Handle<f32>, low: f32, high: f32, transition: f32) -> Result<Self> {
        positive("the transition of a mask in values of its channel", f64::from(transition))?;
        if low.is_finite() && high.is_finite() && low <= high {
            let source = Source::Range(channel, low, high, transition);
            return Ok(Self { source, inverted: false });
        }
        Err(GeometryError::BadParameter {
            what: "the upper end of a mask's range",
            found: f64::from(high),
            wanted: "finite, and not below a finite lower end",
        })
    }

    /// Effect where there was none, and none where there was full effect.
    pub fn inverted(self) -> Self {
        Self { inverted: !self.inverted, ..self }
    }

    /// The effect in each local Bucket of a level set, by slot. Collective.
    pub(super) fn effects(&self, on: &LevelSet) -> Result<Vec<Effect>> {
        let accessor = Accessor::new("evaluate a mask", &on.domain).over(on.topology());
        let frame = *on.domain.frame();
        if let Source::Set(set, _) = self.source
            && *set.domain.frame() != frame
        {
            return Err(GeometryError::NotPossible {
                what: "a mask by a level set on another lattice",
                why: "its voxels are not those that it masks; resample it first",
            });
        }
        let effects = match self.source {
            Source::Solid(solid, transition) => {
                accessor.map((), |here, ()| in_solid(&frame, here.bucket, solid, transition))?
            }
            Source::Set(set, transition) => {
                accessor.map(set.volume.own(set.distance), |here, distance| {
                    match set.topology().slot(here.bucket) {
                        Some(_) => Effect::of(|place| falling(distance[place] / transition)),
                        None if set.beyond.is_inside(here.bucket) => Effect::Full,
                        None => Effect::None,
                    }
                })?
            }
            Source::Ramp(channel, none, full) => accessor
                .map(on.volume.own(channel), |_, values| {
                    Effect::of(|place| falling((values[place] - full) / (none - full)))
                })?,
            Source::Range(channel, low, high, transition) => {
                accessor.map(on.volume.own(channel), |_, values| {
                    let middle = 0.5 * low + 0.5 * high;
                    let beyond = |value: f32| (value - middle).abs() - (high - middle);
                    Effect::of(|place| falling(beyond(values[place]) / transition))
                })?
            }
        };
        Ok(effects.into_iter().map(|effect| effect.inverted(self.inverted)).collect())
    }
}

/// The effect on the voxels of a Bucket.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Effect {
    None,
    Full,
    Each(Box<[f32; VOXELS]>),
}

impl Effect {
    fn of(effect: impl Fn(usize) -> f32) -> Self {
        let each: [f32; VOXELS] = std::array::from_fn(effect);
        if each.iter().all(|effect| *effect == 0.0) {
            return Self::None;
        }
        if each.iter().all(|effect| *effect == 1.0) {
            return Self::Full;
        }
        Self::Each(Box::new(each))
    }

    fn inverted(self, inverted: bool) -> Self {
        match self {
            effect if !inverted => effect,
            Self::None => Self::Full,
            Self::Full => Self::None,
            Self::Each(each) => Self::Each(Box::new(each.map(|effect| 1.0 - effect))),
        }
    }

    /// Takes voxels back towards what they were `before`, by as much as the effect falls short of 1.
    pub fn limit(&self, before: &[f32], after: &mut [f32]) {
        match self {
            Self::None => after.copy_from_slice(before),
            Self::Full => {}
            Self::Each(each) => {
                for ((after, before), &effect) in after.iter_mut().zip(before).zip(&each[..]) {
                    let between = before + (*after - before) * effect;
                    *after = if effect >= 1.0 { *after } else { between };
                    *after = if effect <= 0.0 { *before } else { *after };
                }
            }
        }
    }

    /// Gives the voxels without any effect back what they were `before`.
    pub fn restore(&self, before: impl Fn(usize) -> f32, after: &mut [f32]) {
        for (place, after) in after.iter_mut().enumerate() {
            let untouched = match self {
                Self::None => true,
                Self::Full => false,
                Self::Each(each) => each[place] <= 0.0,
            };
            if untouched {
                *after = before(place);
            }
        }
    }
}

/// From 1 at 0 and below to 0 at 1 and above. What is not a number has no effect.
fn falling(t: f32) -> f32 {
    if t.is_nan() {
        return 0.0;
    }
    let rest = 1.0 - t.clamp(0.0, 1.0);
    rest * rest * (3.0 - 2.0 * rest)
}

/// The effect of a solid in a Bucket; far from its surface, one question answers for all voxels.
fn in_solid(frame: &Frame, bucket: Bucket, solid: &dyn Solid, transition: f64) -> Effect {
    let voxel = frame.voxel_size(0);
    let distance = solid.distance(frame.centre(bucket));
    // Half of the diagonal of a Bucket: no voxel of it is farther from its centre.
    let radius = 0.5 * 3.0_f64.sqrt() * frame.bucket_size(0);
    if distance >= radius + transition {
        return Effect::None;
    }
    if distance <= -radius {
        return Effect::Full;
    }
    let corner = frame.corner(bucket);
    Effect::of(|place| {
        let [x, y, z] = Resolution::R8.coords(place).map(|n| n as f64 + 0.5);
        falling((solid.distance(corner + voxel * DVec3::new(x, y, z)) / transition) as f32)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_effect_falls_smoothly_from_one_to_zero() {
        assert_eq!((falling(-3.0), falling(0.0), falling(1.0)), (1.0, 1.0, 0.0));
        assert_eq!((falling(f32::INFINITY), falling(f32::NAN), falling(0.5)), (0.0, 0.0, 0.5));
        let steps: Vec<f32> = (0..=1000).map(|n| falling(n as f32 / 1000.0)).collect();
        assert!(steps.windows(2).all(|pair| pair[1] <= pair[0] && pair[0] - pair[1] < 0.0016));
    }

    #[test]
    fn without_effect_nothing_changes_and_with_full_effect_all() {
        let before: Vec<f32> = (0..VOXELS).map(|n| (n as f32).sin()).collect();
        let after: Vec<f32> = (0..VOXELS).map(|n| (n as f32).cos()).collect();
        let half = Effect::of(|place| [0.0, 0.5, 1.0][place % 3]);
        for (effect, wanted) in [(Effect::None, &before), (Effect::Full, &after)] {
            let mut found = after.clone();
            effect.limit(&before, &mut found);
            assert_eq!(found, *wanted);
        }
        let mut found = after.clone();
        half.limit(&before, &mut found);
        for (place, found) in found.iter().enumerate() {
            let middle = before[place] + (after[place] - before[place]) * 0.5;
            assert_eq!(*found, [before[place], middle, after[place]][place % 3]);
        }
        assert_eq!(half.clone().inverted(true).inverted(true), half);
    }
}
