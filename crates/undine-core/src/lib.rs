//! The ground of Undine: where things are, and who may touch them.
//!
//! A [`GridDomain`] divides space into sparse Buckets. A [`ParticleSystem`] and a [`DiscreteVolume`] store
//! their channels by Bucket, a [`mesh`] by element. Kernels reach channels through an [`Accessor`], which
//! runs them over Buckets on all threads, and keeps copies of what other processes own fresh.
//!
//! Where to begin:
//!
//! - a kernel on voxels, with its neighbours or with an interpolated field: [`access`];
//! - particles that come, move and go: [`particles`];
//! - between particles and grids: [`transfer`]; among particles: [`neighbours`];
//! - a run on several processes, and what it asks of every call: [`process`].

pub mod access;
pub mod channel;
pub mod domain;
pub mod element;
pub mod error;
pub mod forest;
pub mod memory;
pub mod mesh;
mod migrate;
pub mod neighbours;
pub mod particles;
pub mod process;
pub mod transfer;
pub mod volume;

pub use access::Accessor;
pub use channel::{ChannelInfo, ChannelSpec, Combine, Handle};
pub use domain::{Bucket, BucketKey, BucketSet, Frame, GridDomain, Partition, Topology};
pub use element::{Element, ElementType};
pub use error::{CoreError, Result};
pub use forest::Forest;
pub use memory::{MemoryBudget, MemoryReport};
pub use particles::ParticleSystem;
pub use process::{Processes, Single, launch};
pub use volume::DiscreteVolume;

/// The vector and matrix types of channels.
pub use glam;

/// The README, so that its example is compiled and run with those of the code.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
