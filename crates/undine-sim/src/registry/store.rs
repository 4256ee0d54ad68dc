//! Every kind of store behind one name, and the walk over all of them.

use super::column::{Column, Values};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display};
use undine_core::channel::{ChannelSet, Flat};
use undine_core::mesh::AnyMesh;
use undine_core::particles::TopologicalParticles;
use undine_core::{DiscreteVolume, GridDomain, ParticleSystem, Result};

/// Whatever owns the stores of a simulation.
///
/// Both walks visit every store once. The order is always the same for the same scene, because checkpoints follow it. Of one
/// kind of store no two may have the same label.
pub trait Stores {
    /// Calls `visit` with every store.
    fn each(&self, visit: &mut dyn FnMut(Store<'_>));

    /// Calls `visit` with every store, to be changed; those that lie on a Grid Domain come with it.
    fn each_mut(&mut self, visit: &mut dyn FnMut(StoreMut<'_>));
}

/// One store, to be read.
#[derive(Debug, Clone, Copy)]
pub enum Store<'a> {
    /// Buckets, and where they lie.
    Domain(&'a GridDomain),
    /// Particles in spatial order.
    Particles(&'a ParticleSystem),
    /// Particles in the order of a mesh.
    Topological(&'a TopologicalParticles),
    /// Voxels.
    Volume(&'a DiscreteVolume),
    /// A mesh of any kind.
    Mesh(&'a AnyMesh),
    /// Channels as plain arrays, all of this length.
    Flat(&'a ChannelSet<Flat>, usize),
}

/// One store, to be changed.
#[derive(Debug)]
pub enum StoreMut<'a> {
    /// Buckets, and where they lie.
    Domain(&'a mut GridDomain),
    /// Particles in spatial order, and the Domain that they are on.
    Particles(&'a mut ParticleSystem, &'a GridDomain),
    /// Particles in the order of a mesh.
    Topological(&'a mut TopologicalParticles),
    /// Voxels, and the Domain that they are on.
    Volume(&'a mut DiscreteVolume, &'a GridDomain),
    /// A mesh of any kind.
    Mesh(&'a mut AnyMesh),
    /// Channels as plain arrays, and the length of them all.
    Flat(&'a mut ChannelSet<Flat>, &'a mut usize),
}

/// What kind of store it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StoreKind {
    /// A Grid Domain.
    Domain,
    /// Particles in spatial order.
    Particles,
    /// Particles in the order of a mesh.
    Topological,
    /// A Discrete Volume.
    Volume,
    /// A mesh.
    Mesh,
    /// Channels as plain arrays.
    Flat,
}

impl Display for StoreKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Domain => "Grid Domain",
            Self::Particles => "Particle System",
            Self::Topological => "topological Particle System",
            Self::Volume => "Discrete Volume",
            Self::Mesh => "mesh",
            Self::Flat => "set of channels",
        })
    }
}

impl Store<'_> {
    /// What kind of store it is.
    pub fn kind(&self) -> StoreKind {
        match self {
            Self::Domain(_) => StoreKind::Domain,
            Self::Particles(_) => StoreKind::Particles,
            Self::Topological(_) => StoreKind::Topological,
            Self::Volume(_) => StoreKind::Volume,
            Self::Mesh(_) => StoreKind::Mesh,
            Self::Flat(..) => StoreKind::Flat,
        }
    }

    /// How messages call the store.
    pub fn label(&self) -> &str {
        match self {
            Self::Domain(domain) => domain.label(),
            Self::Particles(particles) => particles.label(),
            Self::Topological(particles) => particles.label(),
            Self::Volume(volume) => volume.label(),
            Self::Mesh(mesh) => mesh.name(),
            Self::Flat(channels, _) => channels.label(),
        }
    }

    /// Calls `visit` with every column, claimed for reading in the name of `task`. Fails if one is being written.
    pub fn each_column(&self, task: &'static str, mut visit: impl FnMut(Column<'_>)) -> Result<()> {
        match *self {
            Self::Domain(_) => Ok(()),
            Self::Particles(store) => store.channels().each_column(task, |info, column| {
                visit(Column {
                    class: None,
                    info,
                    values: Values::Particles(column, store.topology()),
                });
            }),
            Self::Topological(store) => store.channels().each_column(task, |info, column| {
                visit(Column { class: None, info, values: Values::Flat(column, store.len()) });
            }),
            Self::Volume(store) => store.channels().each_column(task, |info, column| {
                visit(Column {
                    class: None,
                    info,
                    values: Values::Voxels(column, store.topology()),
                });
            }),
            Self::Mesh(store) => store.kind().classes().iter().try_for_each(|&class| {
                store.channels(class)?.each_column(task, |info, column| {
                    let values = Values::Flat(column, column.len());
                    visit(Column { class: Some(class), info, values });
                })
            }),
            Self::Flat(store, _) => store.each_column(task, |info, column| {
                visit(Column { class: None, info, values: Values::Flat(column, column.len()) });
            }),
        }
    }
}

impl StoreMut<'_> {
    /// The same store, to be read.
    pub fn as_ref(&self) -> Store<'_> {
        match self {
            Self::Domain(domain) => Store::Domain(domain),
            Self::Particles(particles, _) => Store::Particles(particles),
            Self::Topological(particles) => Store::Topological(particles),
            Self::Volume(volume, _) => Store::Volume(volume),
            Self::Mesh(mesh) => Store::Mesh(mesh),
            Self::Flat(channels, len) => Store::Flat(channels, **len),
        }
    }
}
