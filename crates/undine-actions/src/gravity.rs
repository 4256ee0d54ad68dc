//! Gravity: the same acceleration for everything.

use undine_core::glam::DVec3;
use undine_schema::setup::Origin;
use undine_schema::{Declaration, Dimension, Kind, Parameter};
use undine_sim::{Force, Ingest, Point, Push, Result};

/// "Gravity."
pub const DECLARATION: Declaration = Declaration {
    name: "gravity",
    kind: Kind::Force,
    doc: "Pulls everything in its scope with the same acceleration",
    about: "Without `acceleration` it is that of the Earth, down, whichever axis of the scene is up.",
    parameters: &[Parameter::vector(
        "acceleration",
        Dimension::ACCELERATION,
        [0.0, -9.80665, 0.0],
        "which way, and how strongly; if it is not given, down by 9.80665 m/s2",
    )
    .between(-1e6, 1e6)
    .usually(-300.0, 300.0)],
    example: "gravity acceleration=\"0 -1.62 0 m/s2\" // on the Moon",
};

/// Gravity.
pub struct Gravity {
    acceleration: DVec3,
}

impl Force for Gravity {
    fn create(ingest: &mut Ingest<'_>) -> Result<Self> {
        let values = ingest.values();
        let acceleration = values.vector("acceleration")?;
        // The declared default is for scenes whose up is y.
        let is_default = matches!(values.value("acceleration"), Some((_, Origin::Default)));
        let down = -ingest.inputs.up() * acceleration.length();
        Ok(Self { acceleration: if is_default { down } else { acceleration } })
    }

    fn evaluate(&self, at: &Point, _: &[f64]) -> Push {
        Push::explicit(at.mass * self.acceleration)
    }

    fn acceleration(&self) -> Option<DVec3> {
        Some(self.acceleration)
    }

    fn potential(&self, position: DVec3, mass: f64) -> Option<f64> {
        Some(-mass * self.acceleration.dot(position))
    }
}
