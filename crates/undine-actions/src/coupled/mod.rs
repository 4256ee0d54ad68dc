//! Fluids and what is in them, both ways, with no code for any pair: all that offers material points meets all that offers a fluid
//! field (Loki, §6.4; Stomakhin et al. 2020).
//!
//! [`drag`] exchanges momentum by how fast the one moves past the other; [`buoyancy`] lets both share the pressure that keeps a fluid's
//! volume. Both read what is in a fluid as points, and spread what they give it over its faces.

pub mod buoyancy;
pub mod drag;
mod faces;
mod places;
mod points;
mod slip;
