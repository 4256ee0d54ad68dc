//! The little of a simulation's state that is not in channels, and who wrote it.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Which program and which scene a checkpoint belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Identity {
    /// The build of the program, for example a version and a commit.
    pub build: String,
    /// A fingerprint of the scene and its inputs.
    pub scene: String,
}

/// Where a simulation is in time, and small named values of the framework.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct State {
    /// The frame whose end this is.
    pub frame: i64,
    /// Seconds of simulated time since the beginning [s].
    #[serde(with = "bits")]
    pub time: f64,
    /// Substeps since the beginning.
    pub step: u64,
    /// Anything else, by name.
    pub values: BTreeMap<String, Value>,
}

/// A small value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Value {
    /// A whole number.
    U64(u64),
    /// A real number, kept to the last bit.
    F64(#[serde(with = "bits")] f64),
    /// Text.
    Text(String),
}

/// A number as the 64 bits that it is made of: exact, also for NaN.
mod bits {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
        value.to_bits().serialize(to)
    }

    pub fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<f64, D::Error> {
        u64::deserialize(from).map(f64::from_bits)
    }
}
