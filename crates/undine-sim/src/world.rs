//! The World: all simulated state, in channels, and what Objects offer to whoever acts on them.
//!
//! Objects and Actions hold ids and parameters; nothing that is simulated lives in them. Whatever looks at a simulation
//! (checkpoint, check for NaN, memory report, files) walks the World, and keeps no list of its own.
//!
//! In a distributed run, particles in spatial order and voxels are shared out among processes by Buckets. All else is whole on
//! every process: particles in the order of a mesh, rigid bodies, elements of Constraints, colliders. They are few beside a fluid, and hang
//! together in one system, of which each process solves its part (`newton/share.rs`).

use crate::arena::{Arena, Id};
use crate::elements::ElementSet;
use crate::error::Result;
use crate::offers::{ObjectId, Offers};
use crate::registry::{Store, StoreMut, Stores};
use crate::report::{SolveRecord, Unsettled};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::sync::Arc;
use undine_core::glam::DVec3;
use undine_core::memory::MemoryBudget;
use undine_core::particles::TopologicalParticles;
use undine_core::process::{Processes, Single};
use undine_core::{DiscreteVolume, Frame, GridDomain, ParticleSystem, Partition};
use undine_geometry::collider::Collider;
use undine_schema::Value;

/// All simulated state.
pub struct World {
    /// Where things are: one Grid Domain for each size of voxels.
    pub domains: Arena<GridDomain>,
    /// Particles in spatial order: fluids, spray.
    pub particles: Arena<ParticleSystem>,
    /// Particles in the order of a mesh: solids.
    pub points: Arena<TopologicalParticles>,
    /// Voxels.
    pub volumes: Arena<DiscreteVolume>,
    /// What Constraints act on, with their rest state and memory.
    pub elements: Arena<ElementSet>,
    /// The Objects there are.
    pub objects: Vec<ObjectEntry>,
    /// How the solves of this substep went.
    pub solves: Vec<SolveRecord>,
    /// What contacts are left with in this substep, if that is not little enough.
    pub unsettled: Option<Unsettled>,
    /// The largest change of a velocity in this Newton iteration [m/s]; whoever solves raises it.
    pub largest_change: f64,
    /// What things bump into; nothing, while an input is empty.
    pub colliders: Arena<Option<Collider>>,
    /// What all channels together may take.
    pub budget: MemoryBudget,
    /// Who computes it.
    processes: Arc<dyn Processes>,
    /// Where the lattices of all Domains begin [m], so that their Buckets come out even.
    origin: DVec3,
}

/// An Object, as the World knows it.
#[derive(Debug, Clone)]
pub struct ObjectEntry {
    /// Its path in the setup: `hair/strands`.
    pub path: String,
    /// What it offers.
    pub offers: Offers,
    /// What its input says of it as a whole, by channel names.
    pub attributes: BTreeMap<String, Value>,
    /// In which Domain it lives.
    pub domain: Id<GridDomain>,
    /// Whether a Constraint acts on it, so that it is solved in one system with others.
    pub coupled: bool,
    /// Whether a fluid may carry it, so that it moves by its velocity at the end of the step, as the fluid does.
    pub swims: bool,
    /// Whether rest parameters of its Constraints are chosen such that it is in balance where it begins.
    pub begins_at_rest: bool,
    /// The acceleration that the pressure of its surroundings carries, of a fluid that has a weight among its like: the sum of what Forces
    /// gave it in this iteration [m/s²].
    pub carried: DVec3,
}

impl World {
    /// An empty World whose channels may take this much.
    pub fn new(budget: MemoryBudget) -> Self {
        Self::distributed(budget, Arc::new(Single))
    }

    /// An empty World of several processes, whose channels may take this much on each.
    pub fn distributed(budget: MemoryBudget, processes: Arc<dyn Processes>) -> Self {
        Self {
            domains: Arena::default(),
            particles: Arena::default(),
            points: Arena::default(),
            volumes: Arena::default(),
            elements: Arena::default(),
            objects: Vec::new(),
            solves: Vec::new(),
            unsettled: None,
            largest_change: 0.0,
            colliders: Arena::default(),
            budget,
            processes,
            origin: DVec3::ZERO,
        }
    }

    /// Lets the lattices of Domains begin at a place [m]. To be called before there are any.
    pub fn begin_at(&mut self, origin: DVec3) {
        debug_assert!(self.domains.iter().next().is_none(), "Domains have begun elsewhere");
        self.origin = origin;
    }

    /// Where the lattices of all Domains begin [m].
    pub fn origin(&self) -> DVec3 {
        self.origin
    }

    /// Who computes it.
    pub fn processes(&self) -> &Arc<dyn Processes> {
        &self.processes
    }

    /// The Domain of this voxel size [m], made when first asked for: Objects of one size share one.
    pub fn domain(&mut self, voxel: f64) -> Result<Id<GridDomain>> {
        let found = self.domains.iter().find(|(_, domain)| domain.frame().voxel_size(0) == voxel);
        if let Some((id, _)) = found {
            return Ok(id);
        }
        let label = format!("voxels of {voxel} m");
        let frame = Frame::new(self.origin, voxel)?;
        // All Domains are cut by the same planes of space.
        let cut = self.domains.iter().next().map(|(_, domain)| domain.partition().clone());
        let cut = cut.unwrap_or_else(|| Arc::new(Partition::even(frame, self.processes.count())));
        let domain = GridDomain::distributed(label, frame, self.processes.clone(), cut);
        Ok(self.domains.add(domain.with_budget(self.budget.clone())))
    }

    /// The Domain that stores on this frame lie in.
    pub fn domain_with(&self, frame: &Frame) -> Option<&GridDomain> {
        self.domains.iter().map(|(_, domain)| domain).find(|domain| domain.frame() == frame)
    }

    /// An Object.
    pub fn object(&self, id: ObjectId) -> &ObjectEntry {
        &self.objects[id.0]
    }

    /// How messages call a store.
    pub fn label(&self, store: StoreId) -> &str {
        match store {
            StoreId::Particles(id) => self.particles[id].label(),
            StoreId::Points(id) => self.points[id].label(),
            StoreId::Volume(id) => self.volumes[id].label(),
            StoreId::Elements(id) => self.elements[id].label(),
        }
    }
}

/// A store of the World.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StoreId {
    /// Particles in spatial order.
    Particles(Id<ParticleSystem>),
    /// Particles in the order of a mesh.
    Points(Id<TopologicalParticles>),
    /// Voxels.
    Volume(Id<DiscreteVolume>),
    /// What a Constraint acts on.
    Elements(Id<ElementSet>),
}

impl StoreId {
    /// A channel of this store.
    pub fn channel(self, name: impl Into<Cow<'static, str>>) -> ChannelKey {
        ChannelKey { store: self, channel: name.into() }
    }

    /// Every channel of this store, and which elements there are.
    pub fn everything(self) -> ChannelKey {
        self.channel(ChannelKey::EVERYTHING)
    }

    /// Several channels of this store.
    pub fn channels<const N: usize>(self, names: [&'static str; N]) -> [ChannelKey; N] {
        names.map(|name| self.channel(name))
    }
}

/// A channel of the World, by store and name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChannelKey {
    /// The store.
    pub store: StoreId,
    /// The name of the channel.
    pub channel: Cow<'static, str>,
}

impl ChannelKey {
    /// Stands for every channel of a store.
    pub const EVERYTHING: &'static str = "*";

    /// Whether two keys have a channel in common.
    pub fn meets(&self, other: &Self) -> bool {
        self.covers(other) || other.covers(self)
    }

    /// Whether all that another key means is part of what this one means: the same channel, a component of a MAC velocity
    /// (`v` covers `v.x`), or any, where this one means every channel of the store.
    pub fn covers(&self, other: &Self) -> bool {
        self.store == other.store && self.names(&other.channel)
    }

    /// Whether a channel of its store is one that it means.
    pub fn names(&self, channel: &str) -> bool {
        let component = || match channel.strip_prefix(&*self.channel) {
            Some(rest) => matches!(rest, ".x" | ".y" | ".z"),
            None => false,
        };
        self.channel == Self::EVERYTHING || self.channel == channel || component()
    }

    /// As people read it: `spray.v`.
    pub fn name(&self, world: &World) -> String {
        format!("{}.{}", world.label(self.store), self.channel)
    }
}

impl From<Id<ParticleSystem>> for StoreId {
    fn from(id: Id<ParticleSystem>) -> Self {
        Self::Particles(id)
    }
}

impl From<Id<TopologicalParticles>> for StoreId {
    fn from(id: Id<TopologicalParticles>) -> Self {
        Self::Points(id)
    }
}

impl From<Id<DiscreteVolume>> for StoreId {
    fn from(id: Id<DiscreteVolume>) -> Self {
        Self::Volume(id)
    }
}

impl From<Id<ElementSet>> for StoreId {
    fn from(id: Id<ElementSet>) -> Self {
        Self::Elements(id)
    }
}

impl Display for ObjectEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)
    }
}

/// Checkpoint, check for NaN, digests and memory report all take this walk.
impl Stores for World {
    fn each(&self, visit: &mut dyn FnMut(Store<'_>)) {
        self.domains.iter().for_each(|(_, domain)| visit(Store::Domain(domain)));
        self.particles.iter().for_each(|(_, particles)| visit(Store::Particles(particles)));
        self.points.iter().for_each(|(_, points)| visit(Store::Topological(points)));
        self.volumes.iter().for_each(|(_, volume)| visit(Store::Volume(volume)));
        for (_, elements) in self.elements.iter() {
            visit(Store::Flat(elements.channels(), elements.len()));
        }
    }

    fn each_mut(&mut self, visit: &mut dyn FnMut(StoreMut<'_>)) {
        self.domains.iter_mut().for_each(|domain| visit(StoreMut::Domain(domain)));
        let domains = &self.domains;
        let of = |frame: &Frame| {
            domains.iter().map(|(_, domain)| domain).find(|domain| domain.frame() == frame)
        };
        for particles in self.particles.iter_mut() {
            if let Some(domain) = of(&particles.topology().frame().clone()) {
                visit(StoreMut::Particles(particles, domain));
            }
        }
        self.points.iter_mut().for_each(|points| visit(StoreMut::Topological(points)));
        for volume in self.volumes.iter_mut() {
            if let Some(domain) = of(&volume.topology().frame().clone()) {
                visit(StoreMut::Volume(volume, domain));
            }
        }
        for elements in self.elements.iter_mut() {
            let (channels, len) = elements.parts_mut();
            visit(StoreMut::Flat(channels, len));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_meet_where_they_have_a_channel_in_common() {
        let mut arena = Arena::default();
        let [one, other] = ["a", "b"].map(|label| StoreId::from(arena.add(ElementSet::new(label))));
        let meets = |a: &str, b: &str| {
            let [a, b] = [a, b].map(|name| one.channel(name.to_owned()));
            assert_eq!(a.meets(&b), b.meets(&a), "both ways alike");
            a.meets(&b)
        };
        assert!(meets("v", "v") && meets("v", "*") && meets("*", "*"));
        assert!(meets("v", "v.x") && meets("v", "v.z"));
        assert!(!meets("v.x", "v.y") && !meets("v", "v-before") && !meets("v", "v.w"));
        assert!(!one.channel("v").meets(&other.channel("v")));
        assert!(one.channel("v").covers(&one.channel("v.x")));
        assert!(!one.channel("v.x").covers(&one.channel("v")));
        assert!(!one.channel("v").covers(&one.everything()));
    }
}
