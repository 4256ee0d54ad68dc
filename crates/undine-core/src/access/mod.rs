//! Accessors: a kernel declares what it reads, writes and accumulates, and is run over Buckets
//! (Loki §5.4).
//!
//! ```
//! # use undine_core::{*, access::Accessor, volume::VoxelShape};
//! # use glam::DVec3;
//! # fn main() -> Result<()> {
//! # let mut domain = GridDomain::new("air", Frame::new(DVec3::ZERO, 0.1)?);
//! # domain.set_buckets(&domain.buckets_in_box(DVec3::ZERO, DVec3::splat(3.0), 0)?)?;
//! # let mut air = volume::DiscreteVolume::new("air", &domain);
//! # let heat = air.add_channel(&ChannelSpec::new("heat", 1.0_f32), VoxelShape::CELLS)?;
//! # let flow = air.add_channel(&ChannelSpec::new("flow", 0.0_f32), VoxelShape::CELLS)?;
//! Accessor::new("difference along z", &domain).over(air.topology()).run(
//!     (air.around(heat, 1), air.write(flow)),
//!     |_here, (heat, flow)| {
//!         for x in 0..8 {
//!             for y in 0..8 {
//!                 for z in 0..8 {
//!                     let at = |z: i32| heat.at(x, y, z);
//!                     flow[(x * 64 + y * 8 + z) as usize] = at(z + 1) - at(z - 1);
//!                 }
//!             }
//!         }
//!     },
//! )?;
//! # Ok(()) }
//! ```
//!
//! The types keep a kernel local: `own` gives the voxels or particles of the Bucket being visited,
//! `around` also its neighbours', both to read only; `write` gives the visited Bucket's alone;
//! `accumulate` gives a private padded tile, which is added in a fixed order afterwards. There is no
//! way to write a neighbour, or to read what was not declared. Copies of Buckets that other processes
//! own are refreshed when an `around` needs them, while the Buckets inside are already being visited.

mod accessor;
mod claims;
mod halo;
mod particles;
mod scatter;
mod surroundings;
mod tile;
mod voxels;

pub use accessor::{Accessor, Here};
pub use claims::{Access, Viewed};
pub use halo::Refresh;
pub use particles::{ParticleNeighbourhood, ParticlesAround, ParticlesOwn, ParticlesWrite};
pub use scatter::{Accumulate, Scatter};
pub use tile::{Pad, Tile};
pub use voxels::{VoxelNeighbourhood, VoxelsAround, VoxelsOwn, VoxelsWrite};
