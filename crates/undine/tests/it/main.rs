//! The tests of the library, as one program.

mod afloat;
mod body_in_fluid;
mod cache;
mod coupled_buoyancy;
mod coupled_drag;
mod coupling;
mod displaced;
mod exchange;
mod files;
mod gaps;
#[cfg(feature = "peer-chromium")]
mod peer_chromium;
mod pictures;
mod report;
mod rod_in_air;
mod scenes;
mod shapes;
mod slivers;
mod surfaces;
mod suspension;
mod whole;
