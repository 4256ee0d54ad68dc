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
//! way to write a neighbour. Reading further than declared is caught in builds with assertions. Copies of
//! Buckets that other processes own are refreshed when an `around` needs them, whole and only if they are
//! stale, while the Buckets inside are already being visited. A radius of 0 needs no copies.
//!
//! What a kernel writes cannot be what it reads around it: a step from *now* to *next* has two channels,
//! whose handles the caller exchanges afterwards.
//!
//! **Reading at points.** A [`Sampler`](crate::volume::Sampler) is made outside of the kernel, from a claimed column,
//! and captured. It interpolates anywhere in what is stored here. Nobody declared how far it will reach, so
//! that on several processes its channels are to be refreshed before. Here smoke is carried by a velocity, each
//! cell looking back to where its smoke was (semi-Lagrangian; Stam 1999):
//!
//! ```
//! # use undine_core::{*, access::Accessor, volume::{DiscreteVolume, Interpolation, MacSampler, Resolution, Sampler, VoxelShape}};
//! # use glam::{DVec3, Vec3};
//! # fn main() -> Result<()> {
//! # let mut domain = GridDomain::new("air", Frame::new(DVec3::ZERO, 0.1)?);
//! # domain.set_buckets(&domain.buckets_in_box(DVec3::ZERO, DVec3::splat(3.0), 0)?)?;
//! # let mut air = DiscreteVolume::new("air", &domain);
//! # let velocity = air.add_mac("velocity", "m/s", Resolution::R8)?;
//! # let smoke = air.add_channel(&ChannelSpec::new("smoke", 0.0_f32), VoxelShape::CELLS)?;
//! # let next = air.add_channel(&ChannelSpec::new("smoke, next", 0.0_f32), VoxelShape::CELLS)?;
//! # let dt = 0.04;
//! air.refresh(&domain, smoke)?;
//! for face in velocity.faces {
//!     air.refresh(&domain, face)?;
//! }
//! let [u, v, w] = velocity.faces.map(|face| air.column(face));
//! let (u, v, w, smoke) = (u?, v?, w?, air.column(smoke)?);
//! let velocity = MacSampler::new([&u, &v, &w], air.topology(), Interpolation::Linear)?;
//! let smoke = Sampler::new(&smoke, air.topology(), Interpolation::MonotoneCubic);
//! let voxel = domain.frame().voxel_size(0) as f32;
//! Accessor::new("advect smoke", &domain).over(air.topology()).run(air.write(next), |here, next| {
//!     for (n, next) in next.iter_mut().enumerate() {
//!         let cell = Vec3::new((n >> 6) as f32, (n >> 3 & 7) as f32, (n & 7) as f32);
//!         let x = (cell + 0.5) * voxel; // from the corner of the Bucket
//!         *next = smoke.at(here.slot, x - dt * velocity.at(here.slot, x));
//!     }
//! })?;
//! # Ok(()) }
//! ```
//!
//! Slots are those of the sampled volume's own Topology: `here.slot` only because the kernel runs over that one,
//! otherwise `topology.slot(here.bucket)`. Behind the copies of neighbouring Buckets a sampler sees the
//! background; longer traces belong to [`foreign::sample`](crate::volume::foreign::sample).

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
