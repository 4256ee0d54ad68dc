//! The channels of air.

use super::declaration::Settings;
use super::fine::Fine;
use undine_core::volume::VoxelShape;
use undine_core::{BucketSet, ChannelSpec, DiscreteVolume, GridDomain, Handle};
use undine_fluid::field::{self, Fluid};
use undine_sim::offers::FluidField;
use undine_sim::{Id, Ingest, Result, World};

/// What air has in the World.
#[derive(Debug, Clone)]
pub struct Channels {
    /// Its grid.
    pub field: FluidField,
    /// The finer grid of what it carries along, if it is not beside the velocity.
    pub fine: Option<Fine>,
    /// Density of smoke; 1 is what is usual.
    pub smoke: Handle<f32>,
    /// Temperature [K].
    pub temperature: Handle<f32>,
    /// What of an acceleration acts on a cell: (ρ − ρ₀)/ρ₀.
    pub weight: Handle<f32>,
    /// All that is carried along, on cells: these two, and those that the scene names.
    pub carried: Vec<Handle<f32>>,
}

impl Channels {
    /// Those that the scene names.
    pub fn named(&self) -> &[Handle<f32>] {
        &self.carried[2..]
    }
}

/// Adds a store with these channels to the World.
pub fn add(
    world: &mut World,
    label: &str,
    domain: Id<GridDomain>,
    settings: &Settings,
    named: &[String],
) -> Result<Channels> {
    let fine = settings.fine.then(|| Fine::add(world, label, settings)).transpose()?;
    let domain = &world.domains[domain];
    let none = domain.subset(&BucketSet::new())?;
    let id = world.volumes.add(DiscreteVolume::on(label, domain, none));
    let volume = &mut world.volumes[id];
    let fluid = Fluid { density: settings.density as f32, has_surface: false, particles: None };
    let wind = settings.wind.as_vec3();
    let mut field = field::add_channels_in_wind(volume, id, settings.voxel, fluid, wind)?;
    let weight = ChannelSpec::new("weight", 0.0).internal().transient();
    let weight = volume.add_channel(&weight, VoxelShape::CELLS)?;
    let carries = fine.map_or(id, |fine| fine.grid.volume);
    let volume = &mut world.volumes[carries];
    let mut cells = |spec: ChannelSpec<f32>| volume.add_channel(&spec, VoxelShape::CELLS);
    let smoke = cells(ChannelSpec::new("density", 0.0))?;
    let temperature = cells(ChannelSpec::new("temperature", settings.ambient as f32).unit("K"))?;
    let mut carried = vec![smoke, temperature];
    for name in named {
        carried.push(cells(ChannelSpec::new(name.as_str(), 0.0))?);
    }
    field.weight = Some(weight);
    field.fine = fine.map(|fine| fine.grid);
    Ok(Channels { field, fine, smoke, temperature, weight, carried })
}

/// The names of channels that a scene asks for.
pub fn named(ingest: &Ingest<'_>) -> Result<Vec<String>> {
    let text = ingest.values().optional_text("channels")?.unwrap_or_default();
    let mut names: Vec<String> = Vec::new();
    for name in text.split_whitespace() {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let what = if OWN.contains(&name) {
            format!("`{name}` is a channel of air already")
        } else if !name.chars().all(is_word) || !name.starts_with(|c: char| c.is_ascii_alphabetic())
        {
            format!("`{name}` is no name of a channel")
        } else if names.iter().any(|known| known == name) {
            format!("`{name}` is there twice")
        } else {
            names.push(name.to_owned());
            continue;
        };
        let help = "give each a name of its own of letters, digits, `-` and `_`, such as `dye`";
        return Err(ingest.bad("channels", what, help));
    }
    Ok(names)
}

/// Channels that air has anyway.
const OWN: &[&str] = &[
    "v",
    "v-before",
    "density",
    "temperature",
    "weight",
    "pressure",
    "mass-density",
    "cells",
    "open",
    "open-volume",
    "wall-v",
    "wall-distance",
    "inflow",
];
