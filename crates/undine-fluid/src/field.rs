//! The channels of a fluid on a MAC grid: what liquids, gases and all that acts on them agree on.

use undine_core::glam::Vec3;
use undine_core::volume::{MacHandle, MaskHandle, Resolution, VoxelShape};
use undine_core::{ChannelSpec, DiscreteVolume};
use undine_sim::offers::{Coupling, FluidField, FluidParticles, Walls};
use undine_sim::{Id, Result};

/// What a fluid is like, beside its velocity.
#[derive(Debug, Clone, Copy)]
pub struct Fluid {
    /// Density [kg/m³].
    pub density: f32,
    /// Whether it has a surface, and so a channel of distances to it.
    pub has_surface: bool,
    /// The particles that carry it.
    pub particles: Option<FluidParticles>,
}

/// How far from its surface the distance of a liquid is told, in voxels.
pub const SURFACE_REACH: f32 = 3.0;

/// The channel with what cells of a liquid hold themselves, where it has an [`Interior`](undine_sim::offers::Interior).
pub const INTERIOR: &str = "deep-mass";

/// The mask of cells in gaps between rigid bodies and other solids.
pub const GAPS: &str = "gaps";

/// The cells in gaps between rigid bodies and other solids, so thin that no particles tell whether they are wet.
pub fn gaps(volume: &DiscreteVolume) -> Option<MaskHandle> {
    volume.mask(GAPS).ok()
}

/// Adds the channels of a fluid to a volume, on cells and faces of 8³ to a Bucket.
///
/// | channel | on | |
/// |---|---|---|
/// | `v`, `v-before` | faces | velocity [m/s]: the iterate, and at the start of the substep |
/// | `mass-density` | cells | [kg/m³] |
/// | `pressure` | cells | [Pa] |
/// | `surface` | cells | signed distance to the surface [m], of a liquid |
/// | `cells` | cells | which of them hold fluid |
/// | `open`, `open-volume` | faces, cells | how much solids leave open; `open-volume` is negative where that is not known yet |
/// | `gaps` | cells | which of them lie between solids that face each other |
/// | `wall-v` | faces | velocity of the nearest solid across the face [m/s] |
/// | `wall-distance` | cells | signed distance to the nearest solid [m] |
pub fn add_channels(
    volume: &mut DiscreteVolume,
    id: Id<DiscreteVolume>,
    voxel: f64,
    fluid: Fluid,
) -> Result<FluidField> {
    add_channels_in_wind(volume, id, voxel, fluid, Vec3::ZERO)
}

/// The same for a fluid in surroundings that move [m/s]: where it has no Buckets yet, it moves with them.
pub fn add_channels_in_wind(
    volume: &mut DiscreteVolume,
    id: Id<DiscreteVolume>,
    voxel: f64,
    fluid: Fluid,
    wind: Vec3,
) -> Result<FluidField> {
    let number = |name: &'static str, default: f32| ChannelSpec::new(name, default);
    let cells = VoxelShape::CELLS;
    let edge = Resolution::R8;
    let outside = SURFACE_REACH * voxel as f32;
    let walls = Walls {
        area: volume.add_mac_channel(&number("open", 1.0).internal(), edge)?,
        volume: volume.add_channel(&number("open-volume", -1.0).internal(), cells)?,
        velocity: volume.add_mac_channel(&number("wall-v", 0.0).unit("m/s").internal(), edge)?,
        distance: volume.add_channel(
            &number("wall-distance", Walls::FAR * voxel as f32).unit("m").internal(),
            cells,
        )?,
    };
    volume.add_mask_channel(&ChannelSpec::new(GAPS, 0).internal().transient(), edge)?;
    let distance = match fluid.has_surface {
        true => Some(volume.add_channel(&number("surface", outside).unit("m"), cells)?),
        false => None,
    };
    Ok(FluidField {
        volume: id,
        velocity: volume.add_mac_with(&number("v", 0.0).unit("m/s"), wind.to_array(), edge)?,
        velocity_before: volume.add_mac_with(
            &number("v-before", 0.0).unit("m/s").internal().transient(),
            wind.to_array(),
            edge,
        )?,
        density: volume
            .add_channel(&number("mass-density", fluid.density).unit("kg/m3").internal(), cells)?,
        face_mass: None,
        weight: None,
        cells: volume
            .add_mask_channel(&ChannelSpec::new("cells", 0).internal().transient(), edge)?,
        pressure: volume.add_channel(&number("pressure", 0.0).unit("Pa"), cells)?,
        distance,
        walls,
        particles: fluid.particles,
        interior: None,
        fine: None,
    })
}

/// Channels that pressure makes of a [`Coupling`], see [`Mixed`].
pub const MIXED: [&str; 3] = ["mixed-flux", "mixed-inverse", "fluid-inverse"];

/// What a pressure solve makes of a [`Coupling`], on faces.
#[derive(Debug, Clone, Copy)]
pub struct Mixed {
    /// (1−α)u_f + αu_s after drag, before pressure [m/s].
    pub flux: MacHandle,
    /// The coefficient of −Δt∇p in it [m³/kg].
    pub inverse_density: MacHandle,
    /// The coefficient of −Δt∇p in u_f [m³/kg].
    pub of_fluid: MacHandle,
}

/// Adds the channels with which Objects inside of a fluid act on it, and those that pressure makes of them.
pub fn add_coupling(volume: &mut DiscreteVolume) -> Result<Coupling> {
    let coupling = Coupling::add(volume)?;
    add_mixed(volume)?;
    Ok(coupling)
}

/// Adds the channels that pressure makes of a [`Coupling`] to a fluid that something acts on, unless it has them.
pub fn add_mixed(volume: &mut DiscreteVolume) -> Result<()> {
    if Coupling::of(volume).is_none() || coupling(volume).is_some() {
        return Ok(());
    }
    for (name, unit) in MIXED.into_iter().zip(["m/s", "m3/kg", "m3/kg"]) {
        let spec = ChannelSpec::new(name, 0.0_f32).unit(unit).internal().transient();
        volume.add_mac_channel(&spec, Resolution::R8)?;
    }
    Ok(())
}

/// The channels with which Objects inside of a fluid act on it, where something does, and those that pressure makes of them.
pub fn coupling(volume: &DiscreteVolume) -> Option<(Coupling, Mixed)> {
    let [flux, inverse_density, of_fluid] = MIXED.map(|name| volume.mac(name).ok());
    let mixed = Mixed { flux: flux?, inverse_density: inverse_density?, of_fluid: of_fluid? };
    Some((Coupling::of(volume)?, mixed))
}
