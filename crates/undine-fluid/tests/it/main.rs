//! Tests of fluids on MAC grids.

mod basin;
mod carry;
mod carry_marked;
mod confinement;
mod extend;
mod pressure;
mod pressure_bodies;
mod pressure_mixture;
mod pressure_non_stick;
mod pressure_tension;
mod viscosity;
mod viscosity_bodies;
mod viscosity_setup;
