//! Surfaces of particles: volumes, sheets, droplets, closed meshes, and the same bits whatever the order.

mod carrying;
mod finishing;
mod invariance;
mod refusals;
pub mod sets;
mod shapes;
