//! Gravity: the same acceleration for everything.

use undine_core::glam::DVec3;
use undine_schema::{Declaration, Dimension, Kind, Parameter};
use undine_sim::{Force, Ingest, Point, Push, Result};

/// "Gravity."
pub const DECLARATION: Declaration = Declaration {
    name: "gravity",
    kind: Kind::Force,
    doc: "Pulls everything in its scope with the same acceleration",
    about: "",
    parameters: &[Parameter::vector(
        "acceleration",
        Dimension::ACCELERATION,
        [0.0, -9.80665, 0.0],
        "which way, and how strongly",
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
        Ok(Self { acceleration: ingest.values().vector("acceleration")? })
    }

    fn evaluate(&self, at: &Point, _: &[f64]) -> Push {
        Push::explicit(at.mass * self.acceleration)
    }
}
