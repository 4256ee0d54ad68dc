//! Rods, against theory and measurement.

mod attached;
mod bad_input;
mod buckling;
mod cantilever;
mod contact;
mod damped;
mod derivatives;
mod energy;
mod equilibrium;
mod helix;
mod hysteresis;
mod keeping;
mod on_sheet;
mod on_skin;
mod properties;
mod rest_shape;
mod ring;
mod sag_free;
pub mod scene;
mod vibration;
mod wind;
