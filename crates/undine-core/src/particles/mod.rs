//! The Particle System: the Lagrangian store, in one of two orders (Loki §5.3).
//!
//! - [`ParticleSystem`]: *spatial* order, particles stored by Bucket, for fluids and spray;
//! - [`TopologicalParticles`]: the order of a mesh, for solids, with a table from Buckets to indices.
//!
//! **Particles come in batches.** A [`Batch`] holds new particles with all channels at their defaults, to be
//! given values and then appended. A Particle System makes the Buckets it needs by itself; a volume on
//! the same Domain does not see them before the Domain has them, and the volume follows:
//!
//! ```
//! # use undine_core::{*, volume::DiscreteVolume};
//! # use glam::{DVec3, Vec3};
//! # fn main() -> Result<()> {
//! # let mut domain = GridDomain::new("sea", Frame::new(DVec3::ZERO, 0.1)?);
//! # let mut air = DiscreteVolume::new("air", &domain);
//! # let mut spray = ParticleSystem::new("spray", &domain)?;
//! let velocity = spray.add_channel(&ChannelSpec::new("velocity", Vec3::ZERO).unit("m/s"))?;
//! let age = spray.add_channel(&ChannelSpec::new("age", 0.0_f32).unit("s"))?;
//! # let nozzle: Vec<DVec3> = (0..9).map(|n| DVec3::splat(0.05 * f64::from(n))).collect();
//!
//! // Emit. On several processes each names particles of its own, be it none: a batch that all of them
//! // append is there as many times. Wherever they are, they go to their owners.
//! let mut batch = spray.batch(&nozzle)?;
//! batch.set("velocity", &vec![Vec3::new(0.0, 8.0, 0.0); nozzle.len()])?;
//! let ids = spray.append(&domain, batch)?;
//! assert_eq!(ids, 0..9);
//!
//! // Move, let the old ones go, and sort those into their Buckets that left them.
//! Accessor::new("fly", &domain).over(spray.topology()).run(
//!     (spray.own(velocity), spray.write(spray.position()), spray.write(age)),
//!     |_here, (velocity, position, age)| {
//!         for ((v, x), age) in velocity.iter().zip(position).zip(age) {
//!             *x += *v * 0.04;
//!             *age += 0.04;
//!         }
//!     },
//! )?;
//! spray.delete_where(&domain, age, |&age| age > 3.0)?;
//! spray.rebucketize(&domain)?;
//!
//! domain.set_buckets(&spray.topology().all().dilate(1)?)?;
//! air.follow(domain.topology())?;
//! # Ok(()) }
//! ```
//!
//! In a kernel a particle is known by slot and place, which last until the next call that adds, deletes or
//! moves particles; beyond, it is known by its id.

mod batch;
mod column;
mod moving;
mod population;
mod shared;
mod store;
mod topological;

pub use batch::Batch;
pub(crate) use column::ChunkBase;
pub use column::{ErasedParticles, ParticleColumn, Particles};
pub use store::ParticleSystem;
pub use topological::{BucketTable, TopologicalParticles};
