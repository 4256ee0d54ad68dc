//! Contact of boundary particles, written on what Objects offer: whatever has boundary particles that hang on unknowns bumps into
//! colliders and into rigid bodies, whatever kind of Object it is (Loki §6.3).
//!
//! *Detection* (`find`) looks for contacts at the iterate of the Newton loop, along the whole way since the step began. *Response* is
//! hard, where contacts go into the coupled system as they are, which finds forces that fulfil Coulomb's law exactly
//! ([`undine_sim::newton::touch`]); or it is by penalties, where they give way as stiff springs do ([`undine_sim::newton::contact`]). Forces are kept in channels, for the next step to begin with. What overlaps when a step begins is parted
//! without a jolt, and what a fluid has pushed into something is taken out again (`part`). What would pass through something all the same is held back (`hold_back`).

mod against;
mod features;
mod find;
mod hold_back;
mod memory;
mod pairs;
mod part;
mod share;

use find::{Found, Key, Limits, Part, Surroundings};
use memory::Memory;
pub(crate) use pairs::Overlaps;
use pairs::{Candidates, Lattice};
use std::collections::BTreeMap;
use std::sync::Arc;
use undine_core::glam::{DQuat, DVec3};
use undine_geometry::Pose;
use undine_geometry::collider::Collider;
use undine_sim::coupling::{self, Coupling};
use undine_sim::newton::shape::Rods as Held;
use undine_sim::newton::{Contact, Contacts, Embedded as Hung, Term};
use undine_sim::offers::{Embedded, SolidBodies};
use undine_sim::world::ChannelKey;
use undine_sim::{Id, Ingest, Moment, ObjectId, Result, StoreId, World};

/// Friction between bodies, where the scene says nothing.
const BODY_FRICTION: f64 = 0.3;
/// How often a step is made again at most because contacts are off.
const MOST_AGAIN: usize = 4;
/// How often it is at most because thin things are too deep in something, without passing it.
const MOST_FOR_DEPTH: usize = 4;
/// The radius of boundary particles of bodies, as a part of the body's.
const SKIN: f64 = 1e-6;

/// How contacts behave.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Manner {
    /// What is left of the speed of an impact.
    pub restitution: f64,
    /// The coefficient of friction; without it, that of each collider.
    pub friction: Option<f64>,
    /// With a stiffness [N/m], contacts are penalties; without one, they are hard.
    pub stiffness: Option<f64>,
    /// Whether thin things touch each other.
    pub each_other: bool,
}

/// Boundary particles of some Objects against colliders and rigid bodies.
pub struct Touching {
    sides: Vec<Side>,
    colliders: Vec<(ObjectId, Id<Option<Collider>>)>,
    bodies: Vec<Bodies>,
    memory: Memory,
    /// How contacts behave.
    pub manner: Manner,
    found: Vec<Found>,
    /// Who may come near to whom in this step.
    known: Candidates,
    /// How often this step was made again because of contacts.
    again: usize,
    /// How far thin things would go in this step without forces, apart from what all of them do, in the root of the mean square [m].
    ways: f64,
    /// How far apart two bodies may have been that have bounced off each other in this step [m].
    rebound: f64,
    /// The frame in which it was last told that bodies were stopped.
    told: Option<i64>,
}

/// An Object whose boundary particles bump into things, during a step.
struct Side {
    object: ObjectId,
    boundary: Embedded,
    ids: Vec<u64>,
    /// The body that each particle is fixed to, if they are.
    body: Vec<u32>,
    /// Which particles each stands between, where some were added; its own number thrice of one that was not.
    between: Vec<[u32; 3]>,
    /// The radius of each particle [m].
    radius: Vec<f64>,
    /// Particles that the scene holds where they are: no contact can move them. Empty if there are none.
    held: Vec<bool>,
    /// The edges that its Object offers, by ids.
    offered: Option<Arc<[[u64; 2]]>>,
    /// Edges between particles that move by themselves; where there are none, each particle for itself.
    edges: Vec<[u32; 2]>,
    /// The neighbours of each particle along edges, and where those of each begin.
    beside: (Vec<u32>, Vec<u32>),
    /// The first particle of all that edges join with each.
    strand: Vec<u32>,
    /// Which of the Objects of bodies it is, if these touch with features of their shapes, and not with particles.
    exact: Option<usize>,
    /// Where bodies are when the step begins: centre and orientation.
    bodies: Vec<(DVec3, DQuat)>,
    /// Where they are when the step begins, and where they would be without forces [m].
    start: Vec<DVec3>,
    flight: Vec<DVec3>,
}

/// An Object of rigid bodies that things bump into, during a step.
struct Bodies {
    object: ObjectId,
    solids: SolidBodies,
    start: Vec<Pose>,
    flight: Vec<Pose>,
    /// Where the centre of each is in its form [m].
    pivot: Vec<DVec3>,
}

/// Where particles and forms of bodies are at an iterate, side by side and Object by Object.
#[derive(Default)]
struct Here {
    places: Vec<Vec<DVec3>>,
    poses: Vec<Vec<Pose>>,
}

impl Touching {
    /// Those of the scope that can bump into colliders and bodies of all these Objects; none if nothing can.
    pub fn new(
        ingest: &mut Ingest<'_>,
        scope: &[ObjectId],
        all: &[ObjectId],
    ) -> Result<Option<Self>> {
        let world = &*ingest.world;
        let offers = |id: &ObjectId| &world.object(*id).offers;
        // Particles in spatial order are swept instead.
        let side = |id: &ObjectId| match (offers(id).boundary, offers(id).dofs) {
            (Some(boundary), Some(_)) if !matches!(boundary, Embedded::Particles(_)) => {
                Some(Side::new(*id, boundary))
            }
            _ => None,
        };
        let mut sides: Vec<Side> = scope.iter().filter_map(side).collect();
        let colliders: Vec<_> =
            all.iter().filter_map(|id| Some((*id, offers(id).collider?))).collect();
        let bodies: Vec<Bodies> = all
            .iter()
            .filter_map(|id| Some(Bodies::new(*id, offers(id).solids.clone()?)))
            .collect();
        for side in &mut sides {
            let has_features = |bodies: &Bodies| {
                let all = &bodies.solids.features;
                bodies.object == side.object && !all.is_empty() && all.iter().all(Option::is_some)
            };
            side.exact = bodies.iter().position(has_features);
        }
        let count = |solids: &SolidBodies| world.points[solids.bodies.centres.points].len();
        let alone = bodies.len() == 1
            && sides.len() == 1
            && bodies[0].object == sides[0].object
            && count(&bodies[0].solids) == 1;
        // Strands and the like touch each other.
        let thin = sides.iter().any(|side| !matches!(side.boundary, Embedded::OnBodies(_)));
        let nothing = colliders.is_empty() && (bodies.is_empty() || alone) && !thin;
        if sides.is_empty() || nothing {
            return Ok(None);
        }
        for object in sides.iter().map(|side| side.object).chain(bodies.iter().map(|b| b.object)) {
            ingest.world.objects[object.0].coupled = true;
        }
        let memory = Memory::new(ingest)?;
        let manner = Manner::default();
        let (found, known) = (Vec::new(), Candidates::default());
        Ok(Some(Self {
            sides,
            colliders,
            bodies,
            memory,
            manner,
            found,
            known,
            again: 0,
            ways: 0.0,
            rebound: 0.0,
            told: None,
        }))
    }

    /// Whether it is asked for bounces that it cannot make: springs give way to an impact, and what they give back follows from the step.
    pub fn swallows_bounces(&self) -> bool {
        self.manner.stiffness.is_some() && self.manner.restitution > 0.0
    }

    /// The stores that it looks at.
    pub fn reads(&self, world: &World) -> Vec<ChannelKey> {
        let mut stores: Vec<StoreId> = Vec::new();
        for side in &self.sides {
            stores.push(side.boundary.store());
            stores.extend(world.object(side.object).offers.dofs.map(|dofs| dofs.store()));
        }
        let centres = |bodies: &Bodies| StoreId::from(bodies.solids.bodies.centres.points);
        stores.extend(self.bodies.iter().map(centres));
        stores.sort();
        stores.dedup();
        stores.into_iter().map(StoreId::everything).collect()
    }

    /// The store where it keeps what the next step begins with.
    pub fn memory(&self) -> StoreId {
        self.memory.store()
    }

    /// Looks at where a step begins.
    pub fn begin(&mut self, world: &World) -> Result<()> {
        for side in &mut self.sides {
            let ids = coupling::ids(world, &side.boundary)?;
            let is_known = ids == side.ids;
            side.ids = ids;
            side.body = coupling::bodies(world, &side.boundary)?;
            let between = world.object(side.object).offers.between;
            side.between = coupling::between(world, &side.boundary, between)?;
            side.start = coupling::places(world, &side.boundary, 0.0)?;
            side.measure(world, is_known)?;
            side.flight.clear();
        }
        for bodies in &mut self.bodies {
            bodies.start = poses(world, &bodies.solids)?;
            let points = &world.points[bodies.solids.bodies.centres.points];
            bodies.pivot = points.column(bodies.solids.pivot)?.to_vec();
            bodies.flight.clear();
        }
        self.found.clear();
        self.known = Candidates::default();
        (self.again, self.ways, self.rebound) = (0, 0.0, 0.0);
        self.memory.recall(world)
    }

    /// Which edges of thin things overlap where a step has begun.
    pub(crate) fn overlapping_edges(
        &self,
        world: &World,
        now: &Moment,
    ) -> Result<Option<Overlaps>> {
        let Some(lattice) = self.lattice(world) else { return Ok(None) };
        let here = Here {
            places: self.sides.iter().map(|side| side.start.clone()).collect(),
            poses: Vec::new(),
        };
        self.surroundings(world, &here, now).overlaps(&lattice)
    }

    /// Keeps the forces that the next step begins with.
    pub fn remember(&mut self, world: &mut World) -> Result<()> {
        self.memory.remember(world, &self.found)
    }

    /// Where everything is at the iterate of a step. The first look in a step is at where it would be without forces.
    fn iterate(&mut self, world: &World, now: &Moment) -> Result<Here> {
        let mut here = Here::default();
        let is_first = self.sides.iter().any(|side| side.flight.is_empty());
        for side in &mut self.sides {
            let places = coupling::places(world, &side.boundary, now.step)?;
            if side.flight.is_empty() {
                side.flight.clone_from(&places);
            }
            here.places.push(places);
        }
        for bodies in &mut self.bodies {
            let poses = poses(world, &bodies.solids)?;
            if bodies.flight.is_empty() {
                bodies.flight.clone_from(&poses);
            }
            here.poses.push(poses);
        }
        if is_first {
            self.ways = self.surroundings(world, &here, now).own_ways();
            self.rebound = self.farthest_rebound();
        }
        Ok(here)
    }

    /// How far apart two bodies may have been that have bounced off each other in this step [m]. They had to come together, each as far as it
    /// flies at the most, and what has pushed them apart may not be forgotten where they are apart now.
    fn farthest_rebound(&self) -> f64 {
        if self.manner.restitution == 0.0 {
            return 0.0;
        }
        let of_bodies = self.sides.iter().filter(|side| !side.body.is_empty());
        let ways = of_bodies.flat_map(|side| {
            side.start.iter().zip(&side.flight).map(|(from, to)| from.distance_squared(*to))
        });
        2.0 * ways.fold(0.0, f64::max).sqrt()
    }

    fn surroundings<'a>(
        &'a self,
        world: &'a World,
        here: &'a Here,
        now: &Moment,
    ) -> Surroundings<'a> {
        Surroundings {
            sides: &self.sides,
            places: &here.places,
            bodies: &self.bodies,
            poses: &here.poses,
            manner: self.manner,
            step: now.step,
            ways: self.ways,
            rebound: self.rebound,
            processes: &**world.processes(),
        }
    }

    /// Contacts with colliders and rigid bodies.
    fn against_solids(
        &self,
        surroundings: &Surroundings<'_>,
        world: &World,
        now: &Moment,
        out: &mut Vec<Found>,
    ) -> Result<()> {
        for (object, id) in &self.colliders {
            let Some(collider) = &world.colliders[*id] else { continue };
            let step = collider.during(now.time, now.time + now.step)?;
            surroundings.against_collider(*object, &step, out)?;
        }
        surroundings.against_bodies(out)
    }

    /// Where to look for pairs of thin things, if there are any that touch.
    fn lattice<'w>(&self, world: &'w World) -> Option<Lattice<'w>> {
        let side = self.sides.iter().find(|side| side.body.is_empty() && self.manner.each_other)?;
        let domain = &world.domains[world.object(side.object).domain];
        Some(Lattice { frame: *domain.frame(), budget: &world.budget })
    }

    /// Contacts of edges that the last solve of this step has put to work, where everything is now. What they hold apart does not come near
    /// any more, so that a look finds it at another place, or not at all; without them the next solve would let it through. An edge that lies
    /// on two ridges of a mesh is deepest on the one when it is held off the other.
    fn still_at_work(
        &self,
        world: &World,
        before: &[Found],
        here: &Here,
        now: &Moment,
    ) -> Vec<Found> {
        let surroundings = self.surroundings(world, here, now);
        let acts = before.iter().filter(|found| found.contact.force != DVec3::ZERO);
        let again =
            |found: &Found| surroundings.again(found).or(surroundings.again_on_solid(found));
        acts.filter_map(again).collect()
    }

    /// Tells whether thin things that rest on something are off where a step [s] has led to; not for ever.
    fn off(&self, limits: Limits) -> impl Fn(&Found) -> bool + Sync + Send + use<> {
        let acts = self.found.iter().filter(|found| found.contact.force != DVec3::ZERO);
        let forces: BTreeMap<Key, DVec3> =
            acts.map(|found| (found.key, found.contact.force)).collect();
        let thin = self.sides.iter().filter(|side| side.body.is_empty());
        let thin: Vec<u32> = thin.map(|side| side.object.0 as u32).collect();
        let looks = self.again < MOST_AGAIN;
        move |found| {
            let force = forces.get(&found.key).copied().unwrap_or(DVec3::ZERO);
            looks && thin.contains(&found.key.objects[0]) && found.is_off(force, &limits)
        }
    }

    /// Keeps contacts beside those that were found, but for those that were found again.
    fn keep(&mut self, kept: Vec<Found>) {
        let places: BTreeMap<Key, usize> =
            self.found.iter().enumerate().map(|(n, found)| (found.key, n)).collect();
        for kept in kept {
            match places.get(&kept.key).map(|&n| &mut self.found[n]) {
                Some(found) if found.is_same(&kept) => {}
                known => {
                    // The force is that of the one that is kept.
                    if let Some(found) = known {
                        found.contact.force = DVec3::ZERO;
                    }
                    self.found.push(kept);
                }
            }
        }
    }

    /// Adds contacts with what they hang on.
    fn hang<'a>(
        &self,
        hung: &dyn Fn(ObjectId) -> Hung<'a>,
        out: &mut Contacts,
        contact: impl Fn(&Found) -> Contact,
    ) {
        for found in &self.found {
            out.add(contact(found), |ends| {
                for (part, sign) in [(&found.first, 1.0), (&found.second, -1.0)] {
                    match part {
                        Part::Still => {}
                        Part::Particles { object, on } => {
                            let hung = hung(*object);
                            for &(particle, weight) in on.iter().filter(|on| on.1 != 0.0) {
                                hung.touch(particle as usize, found.at, sign * weight, ends);
                            }
                        }
                        Part::Body { object, body } => {
                            hung(*object).touch_body(*body as usize, found.at, sign, ends);
                        }
                    }
                }
            });
        }
    }
}

impl Side {
    fn new(object: ObjectId, boundary: Embedded) -> Self {
        Self {
            object,
            boundary,
            ids: Vec::new(),
            body: Vec::new(),
            between: Vec::new(),
            radius: Vec::new(),
            held: Vec::new(),
            offered: None,
            edges: Vec::new(),
            beside: (Vec::new(), Vec::new()),
            strand: Vec::new(),
            exact: None,
            bodies: Vec::new(),
            start: Vec::new(),
            flight: Vec::new(),
        }
    }

    /// Which particles edges join. Where particles are those of the step before (`is_known`), they are joined as they were.
    fn connect(&mut self, world: &World, is_known: bool) {
        let offered = &world.object(self.object).offers.edges;
        let same = match (offered, &self.offered) {
            (Some(now), Some(then)) => Arc::ptr_eq(now, then),
            (None, None) => !self.edges.is_empty(),
            _ => false,
        };
        if is_known && same {
            return;
        }
        self.offered.clone_from(offered);
        let places: BTreeMap<u64, u32> = self.ids.iter().copied().zip(0..).collect();
        let place = |id: &u64| places.get(id).copied();
        let edges = offered.as_deref().unwrap_or(&[]);
        self.edges = edges.iter().filter_map(|[a, b]| Some([place(a)?, place(b)?])).collect();
        let mut pairs: Vec<[u32; 2]> =
            self.edges.iter().flat_map(|&[a, b]| [[a, b], [b, a]]).collect();
        pairs.sort_unstable();
        let starts = (0..=self.ids.len() as u32)
            .map(|n| pairs.partition_point(|pair| pair[0] < n) as u32)
            .collect();
        self.beside = (starts, pairs.into_iter().map(|pair| pair[1]).collect());
        self.strand = hold_back::strands(self.ids.len(), &self.edges);
        if self.edges.is_empty() {
            self.edges = (0..self.ids.len() as u32).map(|n| [n, n]).collect();
        }
    }

    fn is_held(&self, particle: usize) -> bool {
        self.held.get(particle).is_some_and(|held| *held)
    }

    fn neighbours(&self, particle: u32) -> &[u32] {
        let (starts, beside) = &self.beside;
        let n = particle as usize;
        &beside[starts[n] as usize..starts[n + 1] as usize]
    }

    /// How large particles are. Those on bodies are points; they keep a millionth of the body's size, so that rounding does not decide on
    /// which side of a sheet they are.
    fn measure(&mut self, world: &World, is_known: bool) -> Result<()> {
        let Embedded::OnBodies(on) = &self.boundary else {
            let radius = coupling::numbers(world, &self.boundary, "pscale")?;
            self.radius = radius.unwrap_or_else(|| vec![0.0; self.start.len()]);
            if let Embedded::OnRods(on) = &self.boundary {
                let points = &world.points[on.vertices.points];
                let held = points.column(on.held)?;
                self.held = held.iter().map(|held| held & Held::PLACE != 0).collect();
            }
            self.connect(world, is_known);
            return Ok(());
        };
        let points = &world.points[on.bodies.centres.points];
        let size = points.column(on.bodies.centres.radius)?;
        self.radius = self.body.iter().map(|&body| SKIN * size[body as usize]).collect();
        let (centre, turn) =
            (points.column(points.position())?, points.column(on.bodies.orientation)?);
        self.bodies = centre.iter().copied().zip(turn.iter().copied()).collect();
        Ok(())
    }
}

impl Bodies {
    fn new(object: ObjectId, solids: SolidBodies) -> Self {
        Self { object, solids, start: Vec::new(), flight: Vec::new(), pivot: Vec::new() }
    }
}

impl Coupling for Touching {
    fn objects(&self) -> Vec<ObjectId> {
        self.sides.iter().map(|side| side.object).collect()
    }

    fn terms<'a>(&'a self, _: &dyn Fn(ObjectId) -> Hung<'a>) -> Vec<Box<dyn Term + 'a>> {
        Vec::new()
    }

    fn take_multipliers(&mut self, _: &mut dyn Iterator<Item = Vec<f64>>) {}

    fn find_contacts(&mut self, world: &World, now: &Moment) -> Result<()> {
        let here = self.iterate(world, now)?;
        let mut known = std::mem::take(&mut self.known);
        let surroundings = self.surroundings(world, &here, now);
        let mut found = Vec::new();
        self.against_solids(&surroundings, world, now, &mut found)?;
        if let Some(lattice) = self.lattice(world) {
            surroundings.against_each_other(&lattice, &mut known, &mut found)?;
        }
        self.known = known;
        let before = std::mem::replace(&mut self.found, found);
        if !before.is_empty() {
            self.found.iter_mut().for_each(|found| found.was_broken = found.is_broken());
        }
        self.memory.guess(&before, &mut self.found);
        match self.manner.stiffness {
            // Springs along surfaces begin with what the step before has left.
            Some(_) => self.found.iter_mut().for_each(|found| self.memory.stretch(found)),
            None => {
                let kept = self.still_at_work(world, &before, &here, now);
                self.keep(kept);
            }
        }
        Ok(())
    }

    fn breaks_laws(&mut self, world: &World, now: &Moment) -> Result<bool> {
        // What was to bounce may break its law wherever it is.
        if self.manner.restitution > 0.0 {
            self.find_contacts(world, now)?;
            return Ok(self.found.iter().any(Found::is_broken));
        }
        let here = self.iterate(world, now)?;
        let mut known = std::mem::take(&mut self.known);
        let surroundings = self.surroundings(world, &here, now);
        let mut found = Vec::new();
        self.against_solids(&surroundings, world, now, &mut found)?;
        let off = self.off(Limits::of(surroundings.own_ways(), now.step));
        // What is a little deep is left to the next step, and only what passes is not, once that is all that is left.
        let through_alone = self.again >= MOST_FOR_DEPTH;
        let is_bad = |found: &Found| match through_alone {
            true => found.passes,
            false => found.is_broken() || off(found),
        };
        let any = found.iter().any(is_bad)
            || match self.lattice(world) {
                Some(lattice) => surroundings.any_pair(&lattice, &mut known, is_bad)?,
                None => false,
            };
        self.known = known;
        self.again = self.again.saturating_add(usize::from(any));
        Ok(any)
    }

    fn contacts<'a>(&self, hung: &dyn Fn(ObjectId) -> Hung<'a>, out: &mut Contacts) {
        self.hang(hung, out, |found| found.contact);
    }

    fn take_contact_forces(&mut self, forces: &mut dyn Iterator<Item = DVec3>) {
        for (found, force) in self.found.iter_mut().zip(forces) {
            found.contact.force = force;
        }
    }

    fn give_up(&mut self, world: &World, now: &Moment) -> Result<()> {
        self.hold_back(world, now)
    }
}

/// Where the forms of bodies are at the iterate: from their own coordinates to the world.
fn poses(world: &World, solids: &SolidBodies) -> Result<Vec<Pose>> {
    let points = &world.points[solids.bodies.centres.points];
    let (centre, turn) =
        (points.column(points.position())?, points.column(solids.bodies.orientation)?);
    let (principal, pivot) = (points.column(solids.principal)?, points.column(solids.pivot)?);
    Ok((0..points.len())
        .map(|n| {
            let rotation = (turn[n] * principal[n].inverse()).normalize();
            Pose { rotation, translation: centre[n] - rotation * pivot[n] }
        })
        .collect())
}
