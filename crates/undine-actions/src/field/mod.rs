//! Force density fields: a vector at every place and time, per mass [m/s²] or per volume [N/m³], within masks.
//!
//! A [`Form`] is one by a formula, a [`VolumeField`] one sampled from a volume. A [`ForceField`] is a form with the
//! [`Mask`]s that limit it; they multiply.

pub mod form;
pub mod mask;
pub mod noise;
pub mod volume;

pub use form::{Falloff, Form, Sample};
pub use mask::{Mask, Weight};
pub use noise::Turbulence;
pub use volume::VolumeField;

use undine_core::glam::{DMat3, DVec3};

/// What a field's vectors are a force per.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Per {
    /// Per mass [m/s²], as gravity.
    Mass,
    /// Per volume [N/m³], as buoyancy.
    Volume,
}

impl Per {
    /// By what a field is multiplied to be a force: the mass [kg] or the volume [m³].
    pub fn amount(self, mass: f64, volume: f64) -> f64 {
        match self {
            Self::Mass => mass,
            Self::Volume => volume,
        }
    }
}

/// A field within masks.
#[derive(Debug)]
pub struct ForceField {
    /// The vectors, before masks.
    pub form: Form,
    /// What they are a force per.
    pub per: Per,
    /// Where and when they count; all of them must let a place through.
    pub masks: Vec<Mask>,
}

impl ForceField {
    /// The field at a place [m] and time [s], with its derivative where all of its parts have one.
    pub fn at(&self, place: DVec3, time: f64) -> Sample {
        masked(self.form.at(place, time), &self.masks, place, time)
    }
}

/// A field's value within masks: f w, and its derivative w ∂f/∂x + f ⊗ ∂w/∂x.
pub fn masked(field: Sample, masks: &[Mask], place: DVec3, time: f64) -> Sample {
    masks.iter().fold(field, |sample, mask| {
        let Weight { value, gradient } = mask.at(place, time);
        let Sample { value: f, jacobian } = sample;
        let outer = DMat3::from_cols(f * gradient.x, f * gradient.y, f * gradient.z);
        Sample { value: f * value, jacobian: jacobian.map(|j| j * value + outer) }
    })
}
