//! Tests of fluids on MAC grids.

mod advect;
mod basin;
mod carry;
mod extend;
mod pressure;
mod pressure_bodies;
mod pressure_mixture;
mod pressure_non_stick;
mod pressure_tension;
mod viscosity;
mod viscosity_setup;
