//! The ground of Undine: where things are, and who may touch them.
//!
//! A [`GridDomain`](domain::GridDomain) divides space into sparse Buckets. Particle Systems and
//! Discrete Volumes store their channels by Bucket, meshes by element. Kernels reach channels through
//! Accessors, which run them over Buckets on all threads, and keep what other processes own fresh.

pub mod access;
pub mod channel;
pub mod domain;
pub mod element;
pub mod error;
pub mod memory;
pub mod mesh;
mod migrate;
pub mod neighbours;
pub mod particles;
mod prefetch;
pub mod process;
pub mod transfer;
pub mod volume;

pub use access::Accessor;
pub use channel::{ChannelInfo, ChannelSpec, Combine, Handle};
pub use domain::{Bucket, BucketKey, BucketSet, Frame, GridDomain, Partition, Topology};
pub use element::{Element, ElementType};
pub use error::{CoreError, Result};
pub use memory::{MemoryBudget, MemoryReport};
pub use particles::ParticleSystem;
pub use process::{Processes, Single, launch};
pub use volume::DiscreteVolume;

/// The vector and matrix types of channels.
pub use glam;
