//! Fields by formulas, with their exact derivatives.

use super::noise::Turbulence;
use crate::error::{ActionError, Result, in_range, not_negative, positive};
use undine_core::glam::{DMat3, DVec3};

/// A field at a place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// f [m/s²] or [N/m³].
    pub value: DVec3,
    /// ∂f/∂x; column j is the derivative along axis j. Without one, a force is taken explicitly.
    pub jacobian: Option<DMat3>,
}

/// How a field weakens with the distance r from its middle: (1 + (r/R)²)^(−n/2), smooth everywhere, and falling as r^−n.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Falloff {
    reach: f64,
    power: f64,
}

impl Falloff {
    /// With a reach R [m] and a power n [1]; a power of 0 does not fall.
    pub fn new(reach: f64, power: f64) -> Result<Self> {
        Ok(Self {
            reach: positive("the reach of a force field [m]", reach)?,
            power: not_negative("the power with which a force field falls", power)?,
        })
    }

    /// Its value at r² = `square` [m²], and the derivative by r, over r [1/m²].
    fn at(&self, square: f64) -> (f64, f64) {
        let base = 1.0 + square / (self.reach * self.reach);
        let value = base.powf(-0.5 * self.power);
        (value, -self.power * value / (base * self.reach * self.reach))
    }
}

/// A field by a formula.
#[derive(Debug, Clone, PartialEq)]
pub enum Form {
    /// The same everywhere.
    Uniform(DVec3),
    /// Towards a point (away from it where the strength is negative).
    Radial {
        /// The point [m].
        centre: DVec3,
        /// Strength.
        strength: f64,
        /// With the distance from the point. The direction fades within the reach's thousandth of the point.
        falloff: Falloff,
    },
    /// Around an axis, by the right hand.
    Vortex {
        /// A point of the axis [m].
        centre: DVec3,
        /// The axis, of length 1.
        axis: DVec3,
        /// Strength.
        strength: f64,
        /// With the distance from the axis.
        falloff: Falloff,
    },
    /// Along an axis.
    Axial {
        /// A point of the axis [m].
        centre: DVec3,
        /// The axis, of length 1.
        axis: DVec3,
        /// Strength.
        strength: f64,
        /// With the distance from the axis.
        falloff: Falloff,
    },
    /// Swirling without sources.
    Turbulent(Turbulence),
}

/// Within this part of the reach of its middle a direction fades, so that the field is smooth there.
const CORE: f64 = 1e-3;

impl Form {
    /// Of a strength along an axis [any length].
    pub fn uniform(axis: DVec3, strength: f64) -> Result<Self> {
        Ok(Self::Uniform(direction(axis)? * strength))
    }

    /// Around an axis [any length].
    pub fn vortex(centre: DVec3, axis: DVec3, strength: f64, falloff: Falloff) -> Result<Self> {
        Ok(Self::Vortex { centre, axis: direction(axis)?, strength, falloff })
    }

    /// Along an axis [any length].
    pub fn axial(centre: DVec3, axis: DVec3, strength: f64, falloff: Falloff) -> Result<Self> {
        Ok(Self::Axial { centre, axis: direction(axis)?, strength, falloff })
    }

    /// The field at a place [m] and time [s].
    pub fn at(&self, place: DVec3, time: f64) -> Sample {
        match *self {
            Self::Uniform(value) => Sample { value, jacobian: Some(DMat3::ZERO) },
            Self::Radial { centre, strength, falloff } => {
                directed(centre - place, -DMat3::IDENTITY, strength, &falloff)
            }
            Self::Vortex { centre, axis, strength, falloff } => {
                // axis × x is as long as x is far from the axis.
                let turn = DMat3::from_cols(
                    axis.cross(DVec3::X),
                    axis.cross(DVec3::Y),
                    axis.cross(DVec3::Z),
                );
                directed(axis.cross(place - centre), turn, strength, &falloff)
            }
            Self::Axial { centre, axis, strength, falloff } => {
                let arm = place - centre;
                let off = arm - axis * arm.dot(axis);
                let (weight, slope) = falloff.at(off.length_squared());
                let gradient = off * (slope * strength);
                let jacobian =
                    DMat3::from_cols(axis * gradient.x, axis * gradient.y, axis * gradient.z);
                Sample { value: axis * (strength * weight), jacobian: Some(jacobian) }
            }
            Self::Turbulent(ref turbulence) => {
                Sample { value: turbulence.at(place, time), jacobian: None }
            }
        }
    }
}

/// strength · falloff(|d|) · d/√(|d|² + core²), where d changes with the place by `change`.
fn directed(d: DVec3, change: DMat3, strength: f64, falloff: &Falloff) -> Sample {
    let square = d.length_squared();
    let (weight, slope) = falloff.at(square);
    let length = (square + (CORE * falloff.reach).powi(2)).sqrt();
    let size = strength * weight / length;
    // The derivative of size by d is d times this.
    let steep = strength * slope / length - size / (length * length);
    let by_d = DMat3::from_diagonal(DVec3::splat(size))
        + DMat3::from_cols(d * d.x, d * d.y, d * d.z) * steep;
    Sample { value: d * size, jacobian: Some(by_d * change) }
}

fn direction(axis: DVec3) -> Result<DVec3> {
    let (what, wanted) = ("the length of a force field's axis", "positive and finite");
    let found = axis.length();
    in_range(what, found, found > 0.0 && found.is_finite(), wanted)?;
    axis.try_normalize().ok_or(ActionError::BadParameter { what, found, wanted })
}
