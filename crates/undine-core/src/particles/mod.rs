//! The Particle System: the Lagrangian store, in one of two orders (design: *two orders of
//! particles*; Loki §5.3).
//!
//! - [`ParticleSystem`]: *spatial* order, particles stored by Bucket, for fluids and spray;
//! - [`TopologicalParticles`]: the order of a mesh, for solids, with a table from Buckets to indices.

mod batch;
mod column;
mod moving;
mod population;
mod store;
mod topological;

pub use batch::Batch;
pub(crate) use column::ChunkBase;
pub use column::{ErasedParticles, ParticleColumn, Particles};
pub use store::ParticleSystem;
pub use topological::{BucketTable, TopologicalParticles};
