//! A fluid made for tests: particles that fly straight, on a volume that follows them; and scenes of it with colliders.

use std::collections::BTreeMap;
use std::sync::Arc;
use undine_core::glam::{DVec3, Vec3};
use undine_core::memory::MemoryBudget;
use undine_core::mesh::{Polygons, Surface};
use undine_core::{Accessor, ChannelSpec, DiscreteVolume, ParticleSystem};
use undine_fluid::field::{Fluid, add_channels};
use undine_geometry::motion::Motion;
use undine_geometry::shape::Shape;
use undine_schema::setup::{Behavior, Group};
use undine_schema::{Declaration, Dimension, Kind, Parameter, Type};
use undine_sim::input::{Data, Geometry};
use undine_sim::offers::{FluidField, FluidParticles};
use undine_sim::timeline::Substeps;
use undine_sim::{
    BehaviorKind, Budget, Ingest, Moment, Object, ObjectId, Offers, Result, Simulation, Stage,
    StoreId, Tasks, Timeline, World,
};

const DECLARATION: Declaration = Declaration {
    name: "swarm",
    kind: Kind::Object,
    doc: "Particles of a fluid that fly straight",
    about: "For tests.",
    parameters: &[
        Parameter::new("input", Type::Input, "the points to begin with"),
        Parameter::number("voxel", Dimension::LENGTH, 0.1, "size of voxels").positive(),
    ],
    example: "swarm input=\"cloud\"",
};

/// Particles of a fluid that fly straight.
struct Swarm {
    id: ObjectId,
    fluid: FluidField,
    on: FluidParticles,
}

impl Object for Swarm {
    fn create(ingest: &mut Ingest<'_>) -> Result<Vec<Self>> {
        let data = ingest.data("input")?;
        let cloud = data.at(ingest.time)?.cloud()?.into_owned();
        let voxel = ingest.values().number("voxel")?;
        let domain = ingest.world.domain(voxel)?;
        let particles = ParticleSystem::new(ingest.path, &ingest.world.domains[domain])?;
        let id = ingest.world.particles.add(particles);
        let particles = &mut ingest.world.particles[id];
        let vector = |name: &'static str| ChannelSpec::new(name, Vec3::ZERO);
        let on = FluidParticles {
            particles: id,
            velocity: particles.add_channel(&vector("v"))?,
            position_before: particles.add_channel(&vector("position-before").transient())?,
            mass: particles.add_channel(&ChannelSpec::new("mass", 0.5_f32))?,
            radius: particles.add_channel(&ChannelSpec::new("pscale", 0.01_f32))?,
        };
        let mut batch = particles.batch(&cloud.positions)?;
        if let Some(velocities) = cloud.vectors.get("v") {
            batch.set("v", &velocities.iter().map(|v| v.as_vec3()).collect::<Vec<_>>())?;
        }
        particles.append(&ingest.world.domains[domain], batch)?;
        let volume = DiscreteVolume::new(ingest.path, &ingest.world.domains[domain]);
        let volume = ingest.world.volumes.add(volume);
        let fluid = Fluid { density: 1000.0, has_surface: false, particles: Some(on) };
        let fluid = add_channels(&mut ingest.world.volumes[volume], volume, voxel, fluid)?;
        let offers = Offers { fluid: Some(fluid), ..Offers::default() };
        let id = ingest.offer(domain, BTreeMap::new(), offers);
        Ok(vec![Self { id, fluid, on }])
    }

    fn id(&self) -> ObjectId {
        self.id
    }

    fn tasks(&self, on: &mut Tasks<Self>) {
        let particles = StoreId::from(self.on.particles);
        on.task(Stage::UpdateTopology, "follow", Self::follow)
            .writes([StoreId::from(self.fluid.volume).everything()]);
        on.task(Stage::Advance, "fly", Self::fly)
            .reads([particles.channel("v")])
            .writes(particles.channels(["position", "position-before"]));
        on.task(Stage::Rebucket, "sort", Self::sort).writes([particles.everything()]);
    }

    fn budget(&self, _: &World) -> Result<Budget> {
        Ok(Budget::default())
    }

    fn output(&self) -> Vec<(Option<&'static str>, StoreId)> {
        Vec::new()
    }
}

impl Swarm {
    fn follow(&mut self, world: &mut World, _: &Moment) -> Result<()> {
        let domain = &world.domains[world.objects[self.id.0].domain];
        let wanted = world.particles[self.on.particles].topology().all().dilate(1)?;
        let topology = domain.subset(&wanted)?;
        Ok(world.volumes[self.fluid.volume].follow(&topology)?)
    }

    fn fly(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        let particles = &world.particles[self.on.particles];
        let domain = &world.domains[world.objects[self.id.0].domain];
        let kernel = (
            particles.own(self.on.velocity),
            particles.write(particles.position()),
            particles.write(self.on.position_before),
        );
        Accessor::new("fly", domain).over(particles.topology()).run(
            kernel,
            |_, (velocity, position, before)| {
                before.copy_from_slice(position);
                for (position, velocity) in position.iter_mut().zip(velocity) {
                    *position += now.step as f32 * *velocity;
                }
            },
        )?;
        Ok(())
    }

    fn sort(&mut self, world: &mut World, _: &Moment) -> Result<()> {
        let domain = &world.domains[world.objects[self.id.0].domain];
        Ok(world.particles[self.on.particles].rebucketize(domain)?)
    }
}

/// A scene of a swarm among colliders.
pub struct Scene {
    inputs: BTreeMap<String, Arc<Data>>,
    setup: Group,
    walls: Behavior,
    colliders: usize,
}

impl Scene {
    /// Particles by place [m] and velocity [m/s], in voxels of a size [m].
    pub fn new(voxel: f64, swarm: &[(DVec3, DVec3)]) -> Self {
        let mut points = Data::points(swarm.iter().map(|(at, _)| *at).collect());
        if let Geometry::Points(cloud) = &mut points.geometry {
            cloud.vectors.insert("v".into(), swarm.iter().map(|(_, v)| *v).collect());
        }
        let swarm = Behavior::new(&DECLARATION).set("input", "cloud").set("voxel", voxel);
        Self {
            inputs: BTreeMap::from([("cloud".to_owned(), Arc::new(points))]),
            setup: Group::default().with(swarm),
            walls: Behavior::new(&undine_fluid::walls::DECLARATION),
            colliders: 0,
        }
    }

    pub fn friction(mut self, friction: f64) -> Self {
        self.walls = self.walls.set("friction", friction);
        self
    }

    pub fn collider(mut self, data: Data) -> Self {
        let name = format!("wall-{}", self.colliders);
        self.colliders += 1;
        let collider =
            Behavior::new(&undine_actions::collider::DECLARATION).set("input", name.as_str());
        self.setup = self.setup.with(collider);
        self.inputs.insert(name, Arc::new(data));
        self
    }

    /// The scene at its beginning, with so many substeps in a frame of 1/24 s.
    pub fn start(self, substeps: u32) -> Simulation {
        let kinds = [
            &[BehaviorKind::object::<Swarm>(&DECLARATION)],
            undine_actions::BEHAVIORS,
            undine_fluid::BEHAVIORS,
        ]
        .concat();
        let timeline = Timeline { substeps: Substeps::Fixed(substeps), ..Timeline::default() };
        let setup = self.setup.with(self.walls);
        let budget = MemoryBudget::unlimited();
        let mut simulation =
            Simulation::new(&setup, &kinds, timeline, Arc::new(self.inputs), budget).unwrap();
        simulation.audited(true);
        simulation
    }

    /// What becomes of the particles after so many frames: places [m] and velocities [m/s] of those that are left, by id.
    pub fn after(self, frames: usize, substeps: u32) -> Vec<(DVec3, DVec3)> {
        let mut simulation = self.start(substeps);
        run(&mut simulation, frames);
        particles(&simulation)
    }
}

pub fn run(simulation: &mut Simulation, frames: usize) {
    for _ in 0..frames {
        simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap();
    }
}

/// Places [m] and velocities [m/s], by id.
pub fn particles(simulation: &Simulation) -> Vec<(DVec3, DVec3)> {
    let particles = simulation.world.particles.iter().next().unwrap().1;
    let (ids, places) = (particles.id(), particles.world_positions().unwrap());
    let ids = particles.column(ids).unwrap();
    let velocity = particles.column(particles.handle::<Vec3>("v").unwrap()).unwrap();
    let slots = 0..particles.topology().local() as u32;
    let flat = slots.flat_map(|slot| {
        ids.chunk(slot)
            .iter()
            .copied()
            .zip(velocity.chunk(slot).iter().copied())
            .collect::<Vec<_>>()
    });
    let mut all: Vec<_> = flat.zip(places).map(|((id, v), at)| (id, at, v.as_dvec3())).collect();
    all.sort_by_key(|one| one.0);
    all.into_iter().map(|(_, at, v)| (at, v)).collect()
}

/// The volume of the swarm.
pub fn volume(simulation: &Simulation) -> &DiscreteVolume {
    simulation.world.volumes.iter().next().unwrap().1
}

pub fn shape(shape: Shape) -> Data {
    Data { geometry: Geometry::Shape(Arc::new(shape)), ..Data::default() }
}

pub fn moved(data: Data, motion: Motion) -> Data {
    Data { motion: Some(motion), ..data }
}

/// A square sheet without thickness of this half edge [m] across a normal, around a place.
pub fn sheet(at: DVec3, normal: DVec3, half: f64) -> Data {
    let [u, v] = {
        let u = normal.any_orthonormal_vector() * half;
        [u, normal.cross(u)]
    };
    let corners = vec![at - u - v, at + u - v, at + u + v, at - u + v];
    let faces = Polygons::triangles(vec![[0, 1, 2], [0, 2, 3]]).unwrap();
    let surface = Surface::new("sheet", corners, faces).unwrap();
    Data { geometry: Geometry::Surface(Arc::new(surface)), ..Data::default() }
}
