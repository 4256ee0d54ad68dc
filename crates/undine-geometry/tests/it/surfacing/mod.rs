//! Surfaces of particles: volumes, sheets, droplets, closed meshes, and the same bits whatever the order.

mod invariance;
mod refusals;
mod sets;
mod shapes;
