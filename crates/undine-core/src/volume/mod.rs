//! The Discrete Volume: the Eulerian store. Each Bucket that it covers is divided into a small grid
//! of voxels, per channel (Loki §5.3).
//!
//! - [`VoxelShape`]: how a channel divides a Bucket, and where in a voxel its values lie;
//! - [`VoxelColumn`]: the memory of one channel, a chunk per Bucket in the order of an OpenVDB leaf;
//! - [`DiscreteVolume`]: channels that follow the Buckets of a Topology;
//! - [`MacHandle`]: a velocity on the faces of the cells, as one thing;
//! - [`MaskHandle`]: a bit per voxel;
//! - [`Sampler`], [`sample_points`], [`splat_points`]: reading and writing at points;
//! - [`foreign`]: the same at points that any process may own.

mod column;
pub mod foreign;
mod mac;
mod mask;
mod page;
mod sample;
mod shape;
mod splat;
mod store;

pub(crate) use column::ColumnBase;
pub use column::{ErasedVoxels, VoxelColumn, Voxels};
pub use mac::MacHandle;
pub use mask::{Mask, MaskHandle};
pub use sample::{
    Blend, Interpolation, Kernel, MacSampler, Real, Sampler, sample_points, sample_velocities,
};
pub use shape::{Axis, Centring, Resolution, VoxelShape};
pub use splat::splat_points;
pub use store::DiscreteVolume;
