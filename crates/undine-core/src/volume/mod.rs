//! The Discrete Volume: the Eulerian store. Each Bucket that it covers is divided into a small grid
//! of voxels, per channel (Loki §5.3).
//!
//! - [`VoxelShape`]: how a channel divides a Bucket, and where in a voxel its values lie;
//! - [`VoxelColumn`]: the memory of one channel, a chunk per Bucket in the order of an OpenVDB leaf;
//! - [`DiscreteVolume`]: channels that follow the Buckets of a Topology;
//! - [`MacHandle`]: a velocity on the faces of the cells, as one thing;
//! - [`MaskHandle`]: a bit per voxel.

mod column;
mod mac;
mod mask;
mod shape;
mod store;

pub(crate) use column::ColumnBase;
pub use column::{ErasedVoxels, VoxelColumn, Voxels};
pub use mac::MacHandle;
pub use mask::{Mask, MaskHandle};
pub use shape::{Axis, Centring, Resolution, VoxelShape};
pub use store::DiscreteVolume;
