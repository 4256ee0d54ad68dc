//! The tests of the library, as one program.

mod afloat;
mod anywhere;
mod body_in_fluid;
mod cache;
mod clamped_hair;
mod coupled_buoyancy;
mod coupled_drag;
mod coupling;
mod displaced;
mod exchange;
mod falling;
mod files;
mod gaps;
mod impacts;
mod long_steps;
#[cfg(feature = "peer-chromium")]
mod peer_chromium;
mod pictures;
mod random_scenes;
mod report;
mod rising;
mod rod_in_air;
mod round_bodies;
mod scenes;
mod shapes;
mod slivers;
mod slots;
mod stacks;
mod surfaces;
mod suspension;
mod vessels;
mod viscous_bodies;
mod whole;
