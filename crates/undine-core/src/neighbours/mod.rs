//! Neighbour search: for each particle, those within a radius of it, in its own or another Particle
//! System of the same Domain.
//!
//! ```
//! # use undine_core::{*, neighbours::Neighbours};
//! # use glam::DVec3;
//! # fn main() -> Result<()> {
//! # let domain = GridDomain::new("sea", Frame::new(DVec3::ZERO, 0.1)?);
//! # let mut water = ParticleSystem::new("water", &domain)?;
//! # let mass = water.add_channel(&ChannelSpec::new("mass", 1.0_f32))?;
//! # let density = water.add_channel(&ChannelSpec::new("density", 0.0_f32))?;
//! # let points: Vec<DVec3> = (0..9).map(|n| DVec3::splat(0.05 * f64::from(n))).collect();
//! # water.append(&domain, water.batch(&points)?)?;
//! let h = 0.2_f32;
//! Neighbours::new("density", &domain, &water, f64::from(h))?.for_each(
//!     (water.around(mass), water.write(density)),
//!     |_here, (mass, density), i, near| {
//!         let weight = |distance2: f32| (h * h - distance2).powi(3);
//!         let others = near.iter().map(|j| mass.of(j.neighbour) * weight(j.distance2));
//!         density[i] = mass.chunk()[i] * weight(0.0) + others.sum::<f32>();
//!     },
//! )?;
//! # Ok(()) }
//! ```
//!
//! **How it is done.** Each Bucket is divided into cells at least as wide as the radius, and its
//! particles are sorted by cell once (*cells*). For the Bucket being visited, its particles and those
//! in the first layer of cells around it are gathered by cell (*patch*). Particles of three cells that
//! are neighbours along z then lie in a row, so that nine rows hold all that may be near to the
//! particles of a cell; they are copied into one list, which each particle of the cell is tested
//! against, eight at a time (*candidates*, *hits*).
//!
//! **Who is a neighbour** is the same from both sides, bit for bit, also across Buckets: the offset from
//! i to j is `(x_j − x_i) + step · width` in `f32`, with positions as stored, and the step from i's
//! Bucket to j's. Rounding to nearest commutes with a change of sign, so each of the two operations,
//! and hence the offset, changes just its sign when i and j change places, and the square of
//! the distance stays. World positions are not used, so it is the same at any origin.
//!
//! **The order** of a particle's neighbours depends on their cells and their places in their Buckets
//! alone.

mod candidates;
mod cells;
mod hits;
mod lists;
mod neighbour;
mod patch;
mod search;

pub use hits::{Near, Nearby};
pub use lists::NeighbourLists;
pub use neighbour::Neighbour;
pub use search::Neighbours;
