//! Colliders and rigid bodies are walls of fluids: they are cut out of cells, and keep particles out.

pub(crate) mod apart;
mod cut;
mod keep_out;
mod near;
mod plain;
pub(crate) mod settled;
mod swallowed;

use crate::bodies::Swimmers;
use cut::Solids;
use near::{Near, Seen};
use swallowed::Swallowed;
use undine_core::mesh::Bounds;
use undine_geometry::collider::{Collider, ColliderStep};
use undine_geometry::solid::Solid;
use undine_schema::{Declaration, Dimension, Kind, Parameter, Type};
use undine_sim::offers::{FluidField, FluidParticles};
use undine_sim::{Id, Ingest, Moment, ObjectId, Operator, Result, Stage, StoreId, Tasks, World};

/// "Colliders are walls of fluids."
pub const DECLARATION: Declaration = Declaration {
    name: "walls",
    kind: Kind::Operator,
    doc: "Makes colliders the walls of fluids, however thin and however they move",
    about: "Every fluid in its scope against every collider and rigid body in its scope. What they leave open of a cell is measured, \
            so that slopes are smooth at any resolution, and a wall thinner than a voxel closes the faces that it crosses. \
            Particles are followed on their whole way, so that none gets through. Vessels should have walls no thinner than two voxels: beside \
            thinner ones, above all round and turned ones, liquid may lose some of its volume. Fluids slip along walls unless \
            `friction` is given; the friction of a collider itself is for what is dry.",
    parameters: &[
        Parameter::number(
            "friction",
            Dimension::NONE,
            0.0,
            "coefficient of Coulomb friction of particles that meet a wall; 0 lets them slip",
        )
        .not_negative()
        .usually(0.0, 2.0),
        Parameter::new(
            "against",
            Type::Target,
            "colliders that are walls, beside those in its scope",
        )
        .optional(),
        Parameter::flag(
            "sealed",
            false,
            "no liquid comes between a rigid body and what it lies on: where the gap is thinner than a voxel, the pressure above the \
             body holds it down",
        )
        .advanced(),
    ],
    example: "walls",
};

/// Makes colliders the walls of fluids.
pub struct Walls {
    fluids: Vec<(ObjectId, FluidField)>,
    colliders: Vec<(ObjectId, Id<Option<Collider>>)>,
    bodies: Swimmers,
    friction: f64,
    sealed: bool,
    /// The frame in which it was last told that a collider is too fast.
    told: Option<i64>,
    /// The colliders as they were when cells were last cut. What is cut depends on nothing but them, so that without it,
    /// after a resume, all is cut anew to the same numbers.
    seen: Option<Vec<Option<Seen>>>,
}

impl Operator for Walls {
    fn create(ingest: &mut Ingest<'_>, scope: &[ObjectId]) -> Result<Option<Self>> {
        let mut all = scope.to_vec();
        if let Some(path) = ingest.values().optional_text("against")? {
            let others = (ingest.targets)(&path);
            all.extend(others.into_iter().filter(|object| !scope.contains(object)));
        }
        let world = &*ingest.world;
        let offers = |id: &ObjectId| &world.object(*id).offers;
        let fluids: Vec<_> = scope.iter().filter_map(|id| Some((*id, offers(id).fluid?))).collect();
        let colliders: Vec<_> =
            all.iter().filter_map(|id| Some((*id, offers(id).collider?))).collect();
        let bodies = Swimmers::among(world, &all);
        if fluids.is_empty() || (colliders.is_empty() && bodies.is_empty()) {
            return Ok(None);
        }
        let mut walls = Self {
            fluids,
            colliders,
            bodies,
            friction: 0.0,
            sealed: false,
            told: None,
            seen: None,
        };
        walls.update(ingest)?;
        Ok(Some(walls))
    }

    fn update(&mut self, ingest: &mut Ingest<'_>) -> Result<()> {
        self.friction = ingest.values().number("friction")?;
        let sealed = ingest.values().flag("sealed")?;
        if sealed != self.sealed {
            self.seen = None;
        }
        self.sealed = sealed;
        Ok(())
    }

    fn tasks(&self, on: &mut Tasks<Self>) {
        let volumes = || self.fluids.iter().map(|(_, fluid)| StoreId::from(fluid.volume));
        let particles = || self.carried().map(|(_, _, on)| StoreId::from(on.particles));
        let everything = || particles().map(|store| store.everything());
        if self.carried().next().is_some() {
            on.task(Stage::GroupEnter, "take out of walls", Self::take_out)
                .reads(self.bodies.channels())
                .accumulates(everything());
        }
        on.task(Stage::CutCells, "cut solids out of cells", Self::cut_cells)
            .reads(self.bodies.channels())
            .writes(volumes().flat_map(|store| {
                store.channels(["open", "open-volume", "gaps", "wall-v", "wall-distance"])
            }));
        // · Stage::SolvePressure    what is open of faces                Operator
        // · Stage::Advance          particles move                       Object
        if self.carried().next().is_some() {
            on.task(Stage::Collide, "keep particles out of walls", Self::keep_particles_out)
                .reads(volumes().map(|store| store.channel("wall-distance")))
                .reads(self.bodies.channels())
                .reads(particles().map(|store| store.channel("position-before")))
                .writes(particles().flat_map(|store| store.channels(["position", "v"])));
            on.task(Stage::GroupExit, "end what walls have swallowed", Self::end_swallowed)
                .reads(volumes().map(|store| store.channel("wall-distance")))
                .reads(self.bodies.channels())
                .accumulates(everything());
        }
    }
}

impl Walls {
    /// The fluids that particles carry.
    fn carried(&self) -> impl Iterator<Item = (ObjectId, &FluidField, FluidParticles)> {
        self.fluids.iter().filter_map(|(object, fluid)| Some((*object, fluid, fluid.particles?)))
    }

    /// The colliders that are there now, by their places in the list, and then bodies.
    fn present(&self, world: &World, bodies: Vec<Collider>) -> Vec<Option<Collider>> {
        let colliders = self.colliders.iter().map(|(_, id)| world.colliders[*id].clone());
        colliders.chain(bodies.into_iter().map(Some)).collect()
    }

    /// Before the first step, takes the liquid out of walls that begins in one.
    fn take_out(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        if now.count > 0 {
            return Ok(());
        }
        let start = Moment { step: 0.0, ..*now };
        let colliders = self.present(world, self.bodies.end(world, &start)?);
        let steps: Vec<_> = during(&colliders, &start)?.into_iter().flatten().collect();
        let near: Vec<Near<'_>> = steps.iter().map(Near::new).collect();
        for (object, _, on) in self.carried() {
            let entry = &world.objects[object.0];
            let domain = &world.domains[entry.domain];
            let apart = keep_out::APART * domain.frame().voxel_size(0);
            let particles = &mut world.particles[on.particles];
            let done = swallowed::take_out(domain, particles, &on, &near, apart)?;
            done.tell(&entry.path, "begin");
        }
        Ok(())
    }

    fn cut_cells(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        let bodies = self.bodies.begin(world, now)?;
        let colliders = self.present(world, bodies);
        let steps = during(&colliders, now)?;
        let seen = Seen::all(&colliders, &steps);
        let stale = near::stale(self.seen.as_deref(), &seen);
        self.tell_of_fast(world, &steps, now);
        let (walls, bodies) = steps.split_at(match self.sealed {
            true => steps.len(),
            false => self.colliders.len(),
        });
        let solids = Solids {
            walls: walls.iter().flatten().map(Near::new).collect(),
            apart: bodies.iter().flatten().map(Near::new).collect(),
        };
        for (object, fluid) in &self.fluids {
            let domain = &world.domains[world.object(*object).domain];
            cut::cut(domain, &world.volumes[fluid.volume], &fluid.walls, &solids, &stale)?;
        }
        self.seen = Some(seen);
        Ok(())
    }

    /// Warns of colliders that cross too many voxels, once in a frame.
    fn tell_of_fast(&mut self, world: &World, steps: &[Option<ColliderStep<'_>>], now: &Moment) {
        let domain = |object: &ObjectId| &world.domains[world.object(*object).domain];
        let voxels = self.fluids.iter().map(|(object, _)| domain(object).frame().voxel_size(0));
        let voxel = voxels.fold(f64::INFINITY, f64::min);
        for ((object, _), step) in self.colliders.iter().zip(steps) {
            let crossed = step.as_ref().filter(|step| step.moves()).map_or(0.0, way) / voxel;
            if crossed > FASTEST && self.told != Some(now.frame) {
                self.told = Some(now.frame);
                tracing::warn!(
                    "{}: crosses {crossed:.1} voxels in a substep of {:.3e} s, in frame {}; fluids follow walls of up to {FASTEST} \
                     well. Lower `cfl`, or ask for {:.0} times as many substeps",
                    world.object(*object).path,
                    now.step,
                    now.frame,
                    (crossed / FASTEST).ceil()
                );
            }
        }
    }

    fn keep_particles_out(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        let colliders = self.present(world, self.bodies.end(world, now)?);
        let steps: Vec<ColliderStep<'_>> = during(&colliders, now)?.into_iter().flatten().collect();
        if steps.is_empty() {
            return Ok(());
        }
        for (object, fluid, on) in self.carried() {
            let domain = &world.domains[world.object(object).domain];
            let volume = &world.volumes[fluid.volume];
            let particles = &world.particles[on.particles];
            keep_out::keep_out(
                domain,
                (volume, fluid.walls.distance),
                (particles, &on),
                &steps,
                self.friction,
            )?;
        }
        Ok(())
    }

    /// Ends what is deep inside of walls when the step is over.
    fn end_swallowed(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        let colliders = self.present(world, self.bodies.end(world, now)?);
        let steps: Vec<ColliderStep<'_>> = during(&colliders, now)?.into_iter().flatten().collect();
        let near: Vec<Near<'_>> = steps.iter().map(Near::new).collect();
        for (object, fluid, on) in self.carried() {
            let entry = &world.objects[object.0];
            let domain = &world.domains[entry.domain];
            let volume = (&world.volumes[fluid.volume], fluid.walls.distance);
            let particles = &mut world.particles[on.particles];
            let ended: Swallowed = swallowed::end_deep(domain, volume, particles, &on, &near)?;
            ended.tell(&entry.path, "have come to be");
        }
        Ok(())
    }
}

/// In a step, a collider should cross no more voxels than this: beyond it, what it pushes away is not where it was.
const FASTEST: f64 = 5.0;

/// How far a collider goes in a step [m], where that is known.
fn way(step: &ColliderStep<'_>) -> f64 {
    let origin = step.pose().translation;
    let Bounds { min, max } = step.bounds().unwrap_or(Bounds { min: origin, max: origin });
    let way = step.way_near(0.5 * (min + max), 0.5 * (max - min).length());
    if way.is_finite() { way } else { 0.0 }
}

/// Colliders during a step.
fn during<'c>(
    colliders: &'c [Option<Collider>],
    now: &Moment,
) -> Result<Vec<Option<ColliderStep<'c>>>> {
    let step = |collider: &'c Option<Collider>| match collider {
        Some(collider) => Ok(Some(collider.during(now.time, now.time + now.step)?)),
        None => Ok(None),
    };
    colliders.iter().map(step).collect()
}
