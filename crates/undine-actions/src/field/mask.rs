//! Where and when a force field counts: a weight from 0 to 1 at every place and time.
//!
//! A mask that an element's own channel holds is no function of place; multiply a [`Sample`](super::Sample) by it instead.

use super::noise::noise;
use crate::error::{Result, in_range, not_negative, positive};
use std::sync::Arc;
use undine_core::glam::DVec3;
use undine_geometry::Solid;
use undine_schema::{Dimension, Parameter, Type};
use undine_sim::Ingest;

/// Where it counts.
pub const MASK: Parameter =
    Parameter::new("mask", Type::Input, "only inside of this shape, surface or level set")
        .optional();
/// How sharply.
pub const EDGE: Parameter =
    Parameter::number("mask-edge", Dimension::LENGTH, 0.0, "how wide the soft edge of the mask is")
        .not_negative()
        .usually(0.0, 1e3);
/// Everywhere else.
pub const OUTSIDE: Parameter =
    Parameter::flag("mask-outside", false, "outside of the mask instead");
/// How much.
pub const WEIGHT: Parameter =
    Parameter::number("weight", Dimension::NONE, 1.0, "how much of it counts")
        .between(-1e6, 1e6)
        .varies_by("weight");
/// Since when.
pub const START: Parameter =
    Parameter::number("start", Dimension::TIME, 0.0, "when it begins; without it, it always was")
        .optional();
/// Until when.
pub const END: Parameter =
    Parameter::number("end", Dimension::TIME, 0.0, "when it ends; without it, never").optional();
/// How suddenly.
pub const FADE: Parameter =
    Parameter::number("fade", Dimension::TIME, 0.0, "how long it takes to begin, and to end")
        .not_negative();

/// The masks that a scene gives a Behavior by [`MASK`] to [`FADE`].
pub fn masks(ingest: &Ingest<'_>) -> undine_sim::Result<Vec<Mask>> {
    let values = ingest.values();
    let help = format!("stay within what `undine help {}` says", ingest.scope.declaration.name);
    let wrong = |parameter: &str, why: crate::ActionError| {
        ingest.bad(parameter, why.to_string(), help.clone())
    };
    let mut masks = Vec::new();
    if let Some(solid) = ingest.optional_solid("mask")? {
        let mask = Mask::inside(solid, values.number("mask-edge")?);
        let mask = mask.map_err(|why| wrong("mask-edge", why))?;
        let outside = values.flag("mask-outside")?;
        masks.push(if outside { Mask::Not(Box::new(mask)) } else { mask });
    }
    let (start, end) = (values.optional_number("start")?, values.optional_number("end")?);
    if start.is_some() || end.is_some() {
        let (start, end) = (start.unwrap_or(f64::NEG_INFINITY), end.unwrap_or(f64::INFINITY));
        let mask = Mask::during(start, end, values.number("fade")?);
        let mask = mask.map_err(|why| wrong("end", why))?;
        masks.push(mask.over([ingest.since, ingest.time]));
    }
    Ok(masks)
}

/// How much of a field counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weight {
    /// From 0 to 1.
    pub value: f64,
    /// How it changes with the place [1/m].
    pub gradient: DVec3,
}

/// A mask.
#[derive(Debug, Clone)]
pub enum Mask {
    /// Inside of a solid, with an edge that is soft over a width [m].
    Inside {
        /// The solid.
        solid: Arc<dyn Solid + Send + Sync>,
        /// The width [m] of the edge, half of it inside; zero is a hard one.
        edge: f64,
    },
    /// Where noise is high.
    Noise {
        /// Other seeds are high elsewhere.
        seed: u64,
        /// The size of its patches [m].
        size: f64,
        /// How long a patch lives [s].
        period: f64,
        /// Above which value of the noise, whose mean is 0 and which is mostly within ±0.5.
        threshold: f64,
        /// Over which values it fades in, centred at the threshold; zero is a hard edge.
        softness: f64,
    },
    /// From one time to another.
    During {
        /// When it begins [s].
        start: f64,
        /// When it ends [s].
        end: f64,
        /// How long it takes to fade in after the start, and out before the end [s].
        fade: f64,
    },
    /// The same weight everywhere, and for all of a step.
    Even(f64),
    /// All that another mask leaves out.
    Not(Box<Mask>),
}

impl Mask {
    /// Inside of a solid, with a soft edge [m].
    pub fn inside(solid: Arc<dyn Solid + Send + Sync>, edge: f64) -> Result<Self> {
        Ok(Self::Inside { solid, edge: not_negative("the soft edge of a mask [m]", edge)? })
    }

    /// Where noise with patches of a size [m] that live for a period [s] is above a threshold.
    pub fn noise(
        seed: u64,
        size: f64,
        period: f64,
        (threshold, softness): (f64, f64),
    ) -> Result<Self> {
        in_range("the threshold of a mask", threshold, threshold.is_finite(), "finite")?;
        Ok(Self::Noise {
            seed,
            size: positive("the size of a mask's patches [m]", size)?,
            period: positive("the period of a mask's patches [s]", period)?,
            threshold,
            softness: not_negative("the softness of a mask", softness)?,
        })
    }

    /// From `start` to `end` [s], with fades [s].
    pub fn during(start: f64, end: f64, fade: f64) -> Result<Self> {
        in_range("the start of a mask [s]", start, !start.is_nan(), "a time")?;
        in_range("the end of a mask [s]", end, end >= start, "not before its start")?;
        Ok(Self::During { start, end, fade: not_negative("the fade of a mask [s]", fade)? })
    }

    /// What stands for it in a step between two times [s]. Of a step in which it begins or ends, its mean counts, so that an impulse is
    /// the same by steps of any length.
    #[must_use]
    pub fn over(self, [since, time]: [f64; 2]) -> Self {
        match self {
            Self::During { start, end, fade } if since < time && (since < start || end < time) => {
                Self::Even(mean_of_window([since, time], [start, end], fade))
            }
            mask => mask,
        }
    }

    /// The weight at a place [m] and time [s].
    pub fn at(&self, place: DVec3, time: f64) -> Weight {
        match self {
            Self::Inside { solid, edge } => {
                let nearest = solid.nearest(place);
                let (value, slope) = ramp(-nearest.distance, *edge);
                Weight { value, gradient: nearest.normal * -slope }
            }
            Self::Noise { seed, size, period, threshold, softness } => {
                let (found, change) = noise(*seed, (place / *size).extend(time / period));
                let (value, slope) = ramp(found - threshold, *softness);
                Weight { value, gradient: change.truncate() * (slope / size) }
            }
            Self::During { start, end, fade } => {
                // Half a fade later, so that nothing counts before the start.
                let (value, _) = ramp((time - start).min(end - time) - 0.5 * fade, *fade);
                Weight { value, gradient: DVec3::ZERO }
            }
            Self::Even(value) => Weight { value: *value, gradient: DVec3::ZERO },
            Self::Not(mask) => {
                let Weight { value, gradient } = mask.at(place, time);
                Weight { value: 1.0 - value, gradient: -gradient }
            }
        }
    }
}

/// From 0 to 1 over a width around 0, smoothly, and its derivative. Without width it is a step, and 1 at 0.
fn ramp(x: f64, width: f64) -> (f64, f64) {
    if width == 0.0 {
        return (if x >= 0.0 { 1.0 } else { 0.0 }, 0.0);
    }
    let t = (x / width + 0.5).clamp(0.0, 1.0);
    (t * t * (3.0 - 2.0 * t), 6.0 * t * (1.0 - t) / width)
}

/// The mean weight between two times of a window that fades in and out.
fn mean_of_window([since, time]: [f64; 2], [start, end]: [f64; 2], fade: f64) -> f64 {
    // The weight until so long after the start, or from so long before the end on.
    let sum = |long: f64| match long.max(0.0) {
        long if long < fade => {
            let t = long / fade;
            fade * t * t * t * (1.0 - 0.5 * t)
        }
        long => long - 0.5 * fade,
    };
    let middle = 0.5 * (start + end);
    let (first, last) =
        ([since.min(middle), time.min(middle)], [since.max(middle), time.max(middle)]);
    let mut all = 0.0;
    if first[0] < first[1] {
        all += sum(first[1] - start) - sum(first[0] - start);
    }
    if last[0] < last[1] {
        all += sum(end - last[0]) - sum(end - last[1]);
    }
    let mean = all / (time - since);
    // What ends with the step, but for rounding, counts for all of it.
    match mean {
        mean if mean < ROUNDING => 0.0,
        mean if mean > 1.0 - ROUNDING => 1.0,
        mean => mean,
    }
}

/// A part of a step that is none.
const ROUNDING: f64 = 1e-9;
