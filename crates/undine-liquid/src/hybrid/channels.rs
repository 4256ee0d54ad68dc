//! The channels of a Hybrid Object, on its particles and on its grid.

use super::band;
use super::declaration::{Settings, Transfer};
use crate::measure::Measured;
use crate::reseed;
use undine_core::glam::{Mat3, Vec3};
use undine_core::volume::{MacHandle, MaskHandle, Resolution};
use undine_core::{ChannelSpec, Combine, DiscreteVolume, Handle, ParticleSystem};
use undine_fluid::field::{self, Fluid};
use undine_sim::offers::{FluidField, FluidParticles};
use undine_sim::{Id, Result, World};

/// What a Hybrid Object has in the World.
#[derive(Debug, Clone, Copy)]
pub struct Channels {
    /// Its particles, and their channels that others need, too.
    pub carried: FluidParticles,
    /// The velocity's gradient around each particle [1/s], for APIC.
    pub affine: Option<Handle<Mat3>>,
    /// Time since birth [s].
    pub age: Handle<f32>,
    /// What is measured at particles.
    pub measured: Measured,
    /// Its grid.
    pub field: FluidField,
    /// Mass at faces [kg].
    pub face_mass: MacHandle,
    /// The faces whose velocity means something, by axis, once it is extended.
    pub known: [MaskHandle; 3],
    /// How many particles cells have, where that is kept within bounds.
    pub count: Option<Handle<u32>>,
    /// The displacement that keeps volume [m], where that is wanted.
    pub shift: Option<MacHandle>,
}

/// Adds stores with these channels to the World.
pub fn add(
    world: &mut World,
    label: &str,
    domain: Id<undine_core::GridDomain>,
    settings: &Settings,
) -> Result<Channels> {
    let particles = ParticleSystem::new(label, &world.domains[domain])?;
    let particles = world.particles.add(particles);
    let store = &mut world.particles[particles];
    let vector = |name: &'static str| ChannelSpec::new(name, Vec3::ZERO);
    let number = |name: &'static str| ChannelSpec::new(name, 0.0_f32);
    let carried = FluidParticles {
        particles,
        velocity: store.add_channel(&vector("v").unit("m/s").combine(Combine::Mean))?,
        position_before: store
            .add_channel(&vector("position-before").unit("m").internal().transient())?,
        mass: store.add_channel(&number("mass").unit("kg").combine(Combine::Sum))?,
        radius: store.add_channel(&number("pscale").unit("m").combine(Combine::Max))?,
    };
    let affine = match settings.transfer {
        Transfer::Apic => {
            let spec = ChannelSpec::new("affine", Mat3::ZERO).unit("1/s");
            let spec = if settings.asked.affine { spec } else { spec.internal() };
            Some(store.add_channel(&spec.combine(Combine::Mean))?)
        }
        Transfer::Flip(_) | Transfer::Pic => None,
    };
    let age = store.add_channel(&number("age").unit("s").combine(Combine::Max))?;
    let measured = Measured::add(store, &settings.asked)?;

    let domain = &world.domains[domain];
    let none = domain.subset(&undine_core::BucketSet::new())?;
    let volume = DiscreteVolume::on(format!("{label} grid"), domain, none);
    let id = world.volumes.add(volume);
    let volume = &mut world.volumes[id];
    let fluid =
        Fluid { density: settings.density as f32, has_surface: true, particles: Some(carried) };
    let mut field = field::add_channels(volume, id, settings.voxel, fluid)?;
    if settings.band.is_some() {
        let full = settings.density * settings.voxel.powi(3);
        field.interior = Some(band::add_channel(volume, full)?);
    }
    let scratch = |name: &'static str, unit: &'static str| {
        ChannelSpec::new(name, 0.0_f32).unit(unit).internal().transient()
    };
    let face_mass = volume.add_mac_channel(&scratch("face-mass", "kg"), Resolution::R8)?;
    field.face_mass = Some(face_mass);
    let mut mask = |name: &'static str| {
        let spec = ChannelSpec::new(name, 0).internal().transient();
        volume.add_mask_channel(&spec, Resolution::R8)
    };
    let known = [mask("v-known.x")?, mask("v-known.y")?, mask("v-known.z")?];
    let shift = match settings.keeps_volume {
        true => Some(volume.add_mac_channel(&scratch("shift", "m"), Resolution::R8)?),
        false => None,
    };
    let count = match settings.reseed {
        Some(_) => Some(reseed::add_channel(volume)?),
        None => None,
    };
    Ok(Channels { carried, affine, age, measured, field, face_mass, known, count, shift })
}
