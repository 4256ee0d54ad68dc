//! Rods, against theory and measurement.

mod bad_input;
mod buckling;
mod cantilever;
mod keeping;
mod ring;
mod sag_free;
pub mod scene;
mod vibration;
