//! Force density fields: a vector at every place and time, per mass [m/s²] or per volume [N/m³], within masks.
//!
//! A [`Form`] is one by a formula, a [`VolumeField`] one sampled from a volume. A [`ForceField`] is a form with the
//! [`Mask`]s that limit it; they multiply.
//!
//! As a [`Force`] a field is implicit where it has a derivative: of that, the part that pulls back is used, which is the nearest
//! negative semidefinite matrix, so that no step is too long for it. What pushes away is explicit.

pub mod form;
pub mod mask;
pub mod noise;
pub mod volume;

pub use form::{Falloff, Form, Sample};
pub use mask::{Mask, Weight};
pub use noise::Turbulence;
pub use volume::VolumeField;

use undine_core::glam::{DMat3, DVec3};
use undine_schema::{Declaration, Dimension, Kind, Parameter};
use undine_sim::constraint::project::project;
use undine_sim::{Force, Ingest, Point, Push, Result};

/// "A force field."
pub const DECLARATION: Declaration = Declaration {
    name: "force-field",
    kind: Kind::Force,
    doc: "Pushes everything in its scope by a field over space and time",
    about: "Per mass, as gravity, by `strength`; or per volume, as buoyancy, by `force-density`. What is radial or around an \
            axis falls off as (1 + (r/reach)^2)^(-power/2). Masks limit it to the inside of an input, to a time, and to \
            particles by their channel `weight`.",
    parameters: &[
        Parameter::choice(
            "form",
            &[
                ("uniform", "the same everywhere, along `axis`"),
                ("radial", "towards `centre`; away from it if the strength is negative"),
                ("vortex", "around `axis` through `centre`, by the right hand"),
                ("axial", "along `axis` through `centre`, weaker away from it"),
                ("turbulence", "swirls without sources"),
            ],
            "how it points",
        ),
        Parameter::number("strength", Dimension::ACCELERATION, 1.0, "how strong, per mass")
            .between(-1e9, 1e9)
            .usually(-1e3, 1e3),
        Parameter::number(
            "force-density",
            Dimension::FORCE_DENSITY,
            1.0,
            "how strong, per volume; instead of `strength`",
        )
        .between(-1e12, 1e12)
        .optional(),
        Parameter::vector("centre", Dimension::LENGTH, [0.0; 3], "the middle, or a point of the axis; of turbulence, where it is counted from"),
        Parameter::vector("axis", Dimension::NONE, [0.0, 1.0, 0.0], "the axis; its length does not count"),
        Parameter::number("reach", Dimension::LENGTH, 1.0, "how far from the middle it begins to fall off")
            .positive()
            .usually(1e-3, 1e4),
        Parameter::number("power", Dimension::NONE, 2.0, "with which power of the distance it falls off; 0 does not")
            .between(0.0, 16.0),
        Parameter::number("size", Dimension::LENGTH, 1.0, "size of the largest swirls of turbulence")
            .positive()
            .usually(1e-3, 1e4),
        Parameter::number("period", Dimension::TIME, 1.0, "how long the largest swirls of turbulence live")
            .positive()
            .usually(1e-3, 1e4),
        Parameter::integer("octaves", 3, "how many sizes of swirls there are, each half of the one before").between(1.0, 16.0),
        Parameter::number(
            "gain",
            Dimension::NONE,
            0.63,
            "how strong swirls are, relative to those of twice their size; the default is Kolmogorov's",
        )
        .between(0.0, 1.0)
        .advanced(),
        Parameter::integer("seed", 0, "other seeds make other turbulence").not_negative(),
        mask::MASK,
        mask::EDGE,
        mask::OUTSIDE,
        mask::WEIGHT,
        mask::START,
        mask::END,
        mask::FADE,
    ],
    example: "force-field form=\"vortex\" strength=\"20 m/s2\" reach=\"50 cm\"",
};

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

impl Force for ForceField {
    const VARIES: &'static [&'static str] = &["weight"];

    fn create(ingest: &mut Ingest<'_>) -> Result<Self> {
        let values = ingest.values();
        let (strength, per) = match values.optional_number("force-density")? {
            Some(density) => (density, Per::Volume),
            None => (values.number("strength")?, Per::Mass),
        };
        let whole = |name: &str| values.integer(name);
        let (octaves, seed) = (whole("octaves")? as u32, whole("seed")? as u64);
        let form = values.text("form")?;
        let (centre, axis) = (values.vector("centre")?, values.vector("axis")?);
        let number = |name: &str| values.number(name);
        let (reach, power) = (number("reach")?, number("power")?);
        let (size, period, gain) = (number("size")?, number("period")?, number("gain")?);
        let made = || -> crate::Result<Form> {
            let falloff = Falloff::new(reach, power)?;
            Ok(match form.as_str() {
                "radial" => Form::Radial { centre, strength, falloff },
                "vortex" => Form::vortex(centre, axis, strength, falloff)?,
                "axial" => Form::axial(centre, axis, strength, falloff)?,
                "turbulence" => {
                    let swirls = Turbulence::new(seed, strength, size, period, (octaves, gain))?;
                    Form::Turbulent(swirls.about(centre))
                }
                _ => Form::uniform(axis, strength)?,
            })
        };
        let help = "stay within what `undine help force-field` says";
        let form = made().map_err(|why| ingest.bad("form", why.to_string(), help))?;
        Ok(Self { form, per, masks: mask::masks(ingest)? })
    }

    fn evaluate(&self, at: &Point, varying: &[f64]) -> Push {
        let Sample { value, jacobian } = self.at(at.position, at.time);
        let amount = varying[0] * self.per.amount(at.mass, at.volume());
        let back = jacobian.map_or(DMat3::ZERO, |jacobian| pulling_back(jacobian * amount));
        Push { by_position: back, ..Push::explicit(value * amount) }
    }
}

/// The negative semidefinite matrix that is nearest to the symmetric part of a derivative.
fn pulling_back(jacobian: DMat3) -> DMat3 {
    let mut stiffness = (-0.5 * (jacobian + jacobian.transpose())).to_cols_array_2d();
    project(&mut stiffness, 3);
    -DMat3::from_cols_array_2d(&stiffness)
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
