//! Discrete Volumes and points to and from OpenVDB's grids.
//!
//! - [`VdbFile`]: one file from all processes;
//! - [`each_grid`], [`grids`]: the channels of a volume as grids; a chunk of 8³ voxels *is* a leaf's buffer;
//! - [`Active`]: which voxels of a grid are active;
//! - [`points_grid`], [`points_of_grid, without_channel`]: tables of points;
//! - [`volume_of_grids`]: grids as a volume;
//! - [`VolumeSampler`]: any grid at places in the world;
//! - [`VolumeOptions`]: several levels, staggered velocities, the axis that points up.

mod grid;
mod inside;
mod leaves;
mod points;
mod read;
mod sampler;
mod source;
mod value;
mod write;

pub use grid::{
    ChannelGrid, GridVisitor, Levels, Sampling, Velocity, VolumeGrid, VolumeOptions, each_grid,
    grids, masks,
};
pub use leaves::{Active, Masks, VoxelLeaves};
pub use points::{PointOptions, points_grid, points_of_grid, without_channel};
pub use read::{ReadOptions, volume_of_grids};
pub use sampler::VolumeSampler;
pub use value::{GridValue, VoxelValue};
pub use write::VdbFile;

pub(crate) use write::agree;
