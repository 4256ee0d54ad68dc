//! Toy Objects and Actions that live in this test program alone: a phenomenon is added without touching the library.
//!
//! Balls are particles, a pool is a fluid on voxels; `pull`, `brake` and `swirl` are written once and act on both.

use crate::toy_tie::{TIE, Tie};
use std::collections::BTreeMap;
use std::sync::Arc;
use undine_core::glam::{DMat3, DVec3, Mat3, Vec3};
use undine_core::volume::{Resolution, VoxelShape};
use undine_core::{Accessor, ChannelSpec, DiscreteVolume, MemoryBudget, ParticleSystem};
use undine_geometry::random;
use undine_schema::setup::{Behavior, Group};
use undine_schema::{Declaration, Dimension, Kind, Parameter, Type};
use undine_sim::action::force::implicit_kick;
use undine_sim::input::{Data, Geometry, Inputs, PointCloud};
use undine_sim::offers::{Dofs, Embedded, FluidField, Material, Spatial, Walls};
use undine_sim::{
    BehaviorKind, Budget, Courant, Force, Ingest, Moment, Object, ObjectId, Offers, Operator,
    Point, Push, Result, Simulation, Stage, StoreId, Tasks, Timeline, World,
};

/// Every kind of this file.
pub const KINDS: &[BehaviorKind] = &[
    BehaviorKind::object::<Balls>(&BALLS),
    BehaviorKind::object::<Pool>(&POOL),
    BehaviorKind::force::<Pull>(&PULL),
    BehaviorKind::force::<Brake>(&BRAKE),
    BehaviorKind::force::<Swirl>(&SWIRL),
    BehaviorKind::operator::<Meddler>(&MEDDLER),
    BehaviorKind::constraint::<Tie, 1, 2>(&TIE),
];

const fn declare(
    name: &'static str,
    kind: Kind,
    doc: &'static str,
    parameters: &'static [Parameter],
) -> Declaration {
    Declaration { name, kind, doc, about: "", parameters, example: "" }
}

pub static BALLS: Declaration = declare(
    "balls",
    Kind::Object,
    "Balls that fly",
    &[
        Parameter::new("input", Type::Input, "where they begin"),
        Parameter::number("weight", Dimension::MASS, 1.0, "mass of a ball")
            .positive()
            .varies_by("weight"),
        Parameter::vector("velocity", Dimension::VELOCITY, [0.0; 3], "velocity to begin with")
            .varies_by("v"),
        Parameter::number("glow", Dimension::NONE, 0.0, "a number that may be animated"),
        Parameter::number("longest-step", Dimension::TIME, 0.0, "longest step; 0 is any")
            .not_negative(),
        Parameter::new("near", Type::Target, "something that has to be there").optional(),
    ],
);

pub static POOL: Declaration = declare(
    "pool",
    Kind::Object,
    "A box of fluid",
    &[
        Parameter::number("density", Dimension::DENSITY, 1000.0, "density").varies_by("density"),
        Parameter::vector("flow", Dimension::VELOCITY, [0.0; 3], "velocity to begin with"),
        Parameter::number("voxel", Dimension::LENGTH, 0.5, "size of voxels").positive(),
    ],
);

pub static PULL: Declaration = declare(
    "pull",
    Kind::Force,
    "The same acceleration for everything",
    &[
        Parameter::vector("acceleration", Dimension::ACCELERATION, [0.0, -10.0, 0.0], "how strong"),
        Parameter::new("toward", Type::Target, "something that has to be there").optional(),
    ],
);

pub static BRAKE: Declaration = declare(
    "brake",
    Kind::Force,
    "Drag that grows with speed, implicit",
    &[Parameter::number("strength", Dimension::NONE, 0.5, "force per speed, in kg/s")
        .not_negative()
        .varies_by("brake")],
);

pub static SWIRL: Declaration = declare(
    "swirl",
    Kind::Force,
    "Pushes each point about at random, explicit",
    &[Parameter::number("strength", Dimension::ACCELERATION, 5.0, "how strong")],
);

pub static MEDDLER: Declaration = declare(
    "meddler",
    Kind::Operator,
    "Does things to balls that it should not",
    &[
        Parameter::choice(
            "how",
            &[
                ("read", "reads v"),
                ("write", "writes v"),
                ("add", "adds to v"),
                ("user-facing", "is at a Stage where only Behaviors run"),
                ("lie", "says that it reads v, and writes it"),
                ("everywhere", "reads v of everything"),
            ],
            "what it does",
        ),
        Parameter::new("of", Type::Target, "of whom it needs something").optional(),
    ],
);

/// Particles.
pub struct Balls {
    id: ObjectId,
    spatial: Spatial,
    glow: f64,
    longest_step: f64,
}

impl Object for Balls {
    fn create(ingest: &mut Ingest<'_>) -> Result<Vec<Self>> {
        let data = ingest.data("input")?;
        let Geometry::Points(cloud) = &data.geometry else { return Ok(Vec::new()) };
        if data.is_empty() {
            return Ok(Vec::new());
        }
        let values = ingest.values().of_object(&data.attributes);
        let mass: Vec<f32> = to_f32(&values.each_number("weight", cloud)?);
        let velocity = values.each_vector("velocity", cloud)?;
        let velocity: Vec<Vec3> = velocity.iter().map(|v| v.as_vec3()).collect();
        let (glow, longest_step) = (values.number("glow")?, values.number("longest-step")?);

        let domain = ingest.world.domain(0.5)?;
        let mut balls = ParticleSystem::new(ingest.path, &ingest.world.domains[domain])?;
        let vector = |name| ChannelSpec::new(name, Vec3::ZERO);
        let number = |name| ChannelSpec::new(name, 0.0_f32);
        let (velocity_before, position_before) = (
            balls.add_channel(&vector("v-before"))?,
            balls.add_channel(&vector("position-before"))?,
        );
        balls.add_channel(&number("glow"))?;
        let handles = (
            balls.add_channel(&vector("v"))?,
            balls.add_channel(&number("mass"))?,
            balls.add_channel(&number("pscale"))?,
            balls.add_channel(&vector("force"))?,
            balls.add_channel(&ChannelSpec::new("force-slope", Mat3::ZERO))?,
        );
        for name in cloud.numbers.keys() {
            balls.add_channel(&ChannelSpec::new(name.clone(), 0.0_f32))?;
        }
        let mut batch = balls.batch(&cloud.positions)?;
        batch.set("mass", &mass)?;
        batch.set("v", &velocity)?;
        batch.set("pscale", &vec![0.1_f32; mass.len()])?;
        for (name, values) in &cloud.numbers {
            batch.set(name, &to_f32(values))?;
        }
        balls.append(&ingest.world.domains[domain], batch)?;
        let (velocity, mass, radius, force, stiffness) = handles;
        let spatial = Spatial {
            particles: ingest.world.particles.add(balls),
            velocity,
            velocity_before,
            position_before,
            mass,
            radius,
            force,
            stiffness,
        };
        let offers = Offers {
            material: Some(Material::Spatial(spatial)),
            dofs: Some(Dofs::Particles(spatial)),
            boundary: Some(Embedded::Particles(spatial)),
            ..Offers::default()
        };
        let id = ingest.offer(domain, data.attributes.clone(), offers);
        Ok(vec![Self { id, spatial, glow, longest_step }])
    }

    fn update(&mut self, ingest: &mut Ingest<'_>) -> Result<()> {
        self.glow = ingest.values().number("glow")?;
        Ok(())
    }

    fn id(&self) -> ObjectId {
        self.id
    }

    fn tasks(&self, on: &mut Tasks<Self>) {
        let store = StoreId::from(self.spatial.particles);
        on.task(Stage::Predict, "glow", Self::glow).writes(store.channels(["glow"]));
        on.task(Stage::Predict, "remember the start", Self::remember)
            .reads(store.channels(["v", "position"]))
            .writes(store.channels(["v-before", "position-before"]));
        on.task(Stage::ClearForces, "clear forces", Self::clear_forces)
            .writes(store.channels(["force", "force-slope"]));
        on.task(Stage::SolveAlone, "take forces", Self::take_forces)
            .reads(store.channels(["force", "force-slope", "mass"]))
            .writes(store.channels(["v"]));
        on.task(Stage::Advance, "move", Self::advance)
            .reads(store.channels(["v"]))
            .writes(store.channels(["position"]));
        on.task(Stage::Rebucket, "sort", Self::sort).writes([store.everything()]);
    }

    fn budget(&self, world: &World) -> Result<Budget> {
        let balls = &world.particles[self.spatial.particles];
        let (mass, velocity) =
            (balls.column(self.spatial.mass)?, balls.column(self.spatial.velocity)?);
        let slots = 0..balls.topology().local() as u32;
        let each = slots.flat_map(|slot| mass.chunk(slot).iter().zip(velocity.chunk(slot)));
        Ok(each.fold(Budget::default(), |sum, (mass, v)| {
            sum + Budget::of_point(f64::from(*mass), DVec3::ZERO, v.as_dvec3())
        }))
    }

    fn longest_step(&self, _: &World, _: &Courant) -> Result<f64> {
        Ok(if self.longest_step > 0.0 { self.longest_step } else { f64::INFINITY })
    }

    fn output(&self) -> Vec<(Option<&'static str>, StoreId)> {
        vec![(None, self.spatial.particles.into())]
    }
}

impl Balls {
    fn glow(&mut self, world: &mut World, _: &Moment) -> Result<()> {
        let balls = &world.particles[self.spatial.particles];
        let domain = &world.domains[world.object(self.id).domain];
        let (handle, value) = (balls.handle::<f32>("glow")?, self.glow as f32);
        let kernel = balls.write(handle);
        Accessor::new("glow", domain)
            .over(balls.topology())
            .run(kernel, |_, glow| glow.fill(value))?;
        Ok(())
    }

    fn remember(&mut self, world: &mut World, _: &Moment) -> Result<()> {
        let Spatial { velocity, velocity_before, position_before, .. } = self.spatial;
        let balls = &world.particles[self.spatial.particles];
        let domain = &world.domains[world.object(self.id).domain];
        let from = (balls.own(velocity), balls.own(balls.position()));
        let to = (balls.write(velocity_before), balls.write(position_before));
        Accessor::new("remember", domain).over(balls.topology()).run(
            (from, to),
            |_, ((velocity, position), (velocity_before, position_before))| {
                velocity_before.copy_from_slice(velocity);
                position_before.copy_from_slice(position);
            },
        )?;
        Ok(())
    }

    fn clear_forces(&mut self, world: &mut World, _: &Moment) -> Result<()> {
        let balls = &world.particles[self.spatial.particles];
        let domain = &world.domains[world.object(self.id).domain];
        let kernel = (balls.write(self.spatial.force), balls.write(self.spatial.stiffness));
        Accessor::new("clear forces", domain).over(balls.topology()).run(
            kernel,
            |_, (force, stiffness)| {
                force.fill(Vec3::ZERO);
                stiffness.fill(Mat3::ZERO);
            },
        )?;
        Ok(())
    }

    fn take_forces(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        if world.object(self.id).coupled {
            return Ok(());
        }
        let Spatial { velocity, mass, force, stiffness, .. } = self.spatial;
        let balls = &world.particles[self.spatial.particles];
        let domain = &world.domains[world.object(self.id).domain];
        let kernel =
            ((balls.own(force), balls.own(stiffness), balls.own(mass)), balls.write(velocity));
        Accessor::new("take forces", domain).over(balls.topology()).run(
            kernel,
            |_, ((force, stiffness, mass), velocity)| {
                for n in 0..velocity.len() {
                    let (force, stiffness) = (force[n].as_dvec3(), stiffness[n].as_dmat3());
                    velocity[n] +=
                        implicit_kick(force, stiffness, f64::from(mass[n]), now.step).as_vec3();
                }
            },
        )?;
        Ok(())
    }

    fn advance(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        let balls = &world.particles[self.spatial.particles];
        let domain = &world.domains[world.object(self.id).domain];
        let kernel = (balls.own(self.spatial.velocity), balls.write(balls.position()));
        Accessor::new("move", domain).over(balls.topology()).run(
            kernel,
            |_, (velocity, position)| {
                for (position, velocity) in position.iter_mut().zip(velocity) {
                    *position += now.step as f32 * velocity;
                }
            },
        )?;
        Ok(())
    }

    fn sort(&mut self, world: &mut World, _: &Moment) -> Result<()> {
        let domain = world.object(self.id).domain;
        world.particles[self.spatial.particles].rebucketize(&world.domains[domain])?;
        Ok(())
    }
}

/// An Eulerian Volume: a MAC velocity and a density, that stay where they are.
pub struct Pool {
    id: ObjectId,
    fluid: FluidField,
}

impl Object for Pool {
    fn create(ingest: &mut Ingest<'_>) -> Result<Vec<Self>> {
        let values = ingest.values();
        let (density, flow) = (values.number("density")?, values.vector("flow")?);
        let voxel = values.number("voxel")?;
        let id = ingest.world.domain(voxel)?;
        let domain = &mut ingest.world.domains[id];
        let buckets = domain.buckets_in_box(DVec3::ZERO, DVec3::splat(8.5 * voxel), 0)?;
        domain.add(&buckets)?;
        let mut volume = DiscreteVolume::new(ingest.path, domain);
        let velocity = volume.add_mac("v", "m/s", Resolution::R8)?;
        let density = volume
            .add_channel(&ChannelSpec::new("mass-density", density as f32), VoxelShape::CELLS)?;
        for (axis, face) in velocity.faces.into_iter().enumerate() {
            volume.column_mut(face)?.fill(flow[axis] as f32);
        }
        let mac = |volume: &mut DiscreteVolume, name| volume.add_mac(name, "m/s", Resolution::R8);
        let cell = |volume: &mut DiscreteVolume, name: &str| {
            volume.add_channel(&ChannelSpec::new(name, 0.0_f32), VoxelShape::CELLS)
        };
        let velocity_before = mac(&mut volume, "v-before")?;
        let walls = Walls {
            area: mac(&mut volume, "open")?,
            volume: cell(&mut volume, "open-volume")?,
            velocity: mac(&mut volume, "wall-v")?,
            distance: cell(&mut volume, "wall-distance")?,
        };
        let pressure = cell(&mut volume, "pressure")?;
        let cells = volume.add_mask("cells", Resolution::R8)?;
        let volume = ingest.world.volumes.add(volume);
        let fluid = FluidField {
            volume,
            velocity,
            velocity_before,
            density,
            face_mass: None,
            weight: None,
            cells,
            pressure,
            distance: None,
            walls,
            particles: None,
            interior: None,
            fine: None,
        };
        let offers = Offers { fluid: Some(fluid), ..Offers::default() };
        Ok(vec![Self { id: ingest.offer(id, BTreeMap::new(), offers), fluid }])
    }

    fn id(&self) -> ObjectId {
        self.id
    }

    fn tasks(&self, _: &mut Tasks<Self>) {}

    fn budget(&self, _: &World) -> Result<Budget> {
        Ok(Budget::default())
    }

    fn output(&self) -> Vec<(Option<&'static str>, StoreId)> {
        vec![(None, self.fluid.volume.into())]
    }
}

/// f = m a.
pub struct Pull {
    acceleration: DVec3,
}

impl Force for Pull {
    fn create(ingest: &mut Ingest<'_>) -> Result<Self> {
        Ok(Self { acceleration: ingest.values().vector("acceleration")? })
    }

    fn evaluate(&self, at: &Point, _: &[f64]) -> Push {
        Push::explicit(at.mass * self.acceleration)
    }
}

/// f = −k v, with its derivative.
pub struct Brake;

impl Force for Brake {
    const VARIES: &'static [&'static str] = &["strength"];

    fn create(_: &mut Ingest<'_>) -> Result<Self> {
        Ok(Self)
    }

    fn evaluate(&self, at: &Point, varying: &[f64]) -> Push {
        let by_velocity = DMat3::from_diagonal(DVec3::splat(-varying[0]));
        Push { force: by_velocity * at.velocity, by_position: DMat3::ZERO, by_velocity }
    }
}

/// A random force for each point, anew at every time.
pub struct Swirl {
    strength: f64,
}

impl Force for Swirl {
    fn create(ingest: &mut Ingest<'_>) -> Result<Self> {
        Ok(Self { strength: ingest.values().number("strength")? })
    }

    fn evaluate(&self, at: &Point, _: &[f64]) -> Push {
        let seed = at.time.to_bits();
        let [x, y, z] = [0, 1, 2].map(|axis| random::unit(seed, 3 * at.id + axis) - 0.5);
        let place = (at.position * 3.0).map(f64::sin);
        Push::explicit(at.mass * self.strength * (DVec3::new(x, y, z) + 0.1 * place))
    }
}

/// An Operator on the velocity of balls, at the Stage where they glow.
pub struct Meddler {
    how: String,
    on: Vec<Spatial>,
}

impl Operator for Meddler {
    fn create(ingest: &mut Ingest<'_>, scope: &[ObjectId]) -> Result<Option<Self>> {
        let how = ingest.values().text("how")?;
        let material = |id: &ObjectId| match ingest.world.object(*id).offers.material {
            Some(Material::Spatial(spatial)) => Some(spatial),
            _ => None,
        };
        let on: Vec<_> = scope.iter().filter_map(material).collect();
        Ok((!on.is_empty()).then_some(Self { how, on }))
    }

    fn tasks(&self, on: &mut Tasks<Self>) {
        let keys = || self.on.iter().map(|spatial| StoreId::from(spatial.particles).channel("v"));
        let at = |stage, name| (stage, name);
        let (stage, name) = match self.how.as_str() {
            "user-facing" => at(Stage::BeginSubstep, "step in"),
            "lie" => at(Stage::ChoosePoints, "look at velocities"),
            _ => at(Stage::ChoosePoints, "meddle"),
        };
        let task = on.task(stage, name, Self::meddle);
        match self.how.as_str() {
            "write" => task.writes(keys()),
            "add" => task.accumulates(keys()),
            "everywhere" => task.reads(keys()).reaches_everywhere(),
            _ => task.reads(keys()),
        };
    }
}

impl Meddler {
    fn meddle(&mut self, world: &mut World, _: &Moment) -> Result<()> {
        if matches!(self.how.as_str(), "read" | "everywhere") {
            return Ok(());
        }
        for on in &self.on {
            let balls = &world.particles[on.particles];
            let mut velocity = balls.column_mut(on.velocity)?;
            for slot in 0..balls.topology().local() as u32 {
                velocity.chunk_mut(slot).iter_mut().for_each(|v| v.x += 1.0);
            }
        }
        Ok(())
    }
}

fn to_f32(values: &[f64]) -> Vec<f32> {
    values.iter().map(|&value| value as f32).collect()
}

/// A Behavior of a kind, under a name.
pub fn node(declaration: &'static Declaration, name: &str) -> Behavior {
    Behavior::new(declaration).named(name)
}

/// Balls that begin at the input of this name.
pub fn balls(name: &str, input: &str) -> Behavior {
    node(&BALLS, name).set("input", input)
}

/// Inputs: `one` ball, `two` balls, `many` of them, and `none`.
pub fn inputs() -> BTreeMap<String, Arc<Data>> {
    let points = |count: u64| {
        let place = |n: u64| DVec3::from([0, 1, 2].map(|axis| 4.0 * random::unit(7, 3 * n + axis)));
        Data::points((0..count).map(place).collect())
    };
    [("none", 0), ("one", 1), ("two", 2), ("many", 3000)]
        .map(|(name, count)| (name.to_owned(), Arc::new(points(count))))
        .into()
}

/// Balls of one input that has these attributes as a whole, and this channel on its points.
pub fn input_with(
    attributes: &[(&str, f64)],
    channel: Option<(&str, Vec<f64>)>,
) -> BTreeMap<String, Arc<Data>> {
    let count = channel.as_ref().map_or(2, |(_, values)| values.len());
    let cloud = PointCloud {
        positions: (0..count).map(|n| DVec3::new(n as f64, 0.5, 0.5)).collect(),
        numbers: channel.into_iter().map(|(name, values)| (name.to_owned(), values)).collect(),
        ..PointCloud::default()
    };
    let attributes = attributes.iter().map(|(name, value)| ((*name).to_owned(), (*value).into()));
    let attributes = attributes.collect();
    let data = Data { geometry: Geometry::Points(cloud), attributes, motion: None };
    [("input".to_owned(), Arc::new(data))].into()
}

/// A Simulation of a setup of toys.
pub fn simulation(setup: &Group, timeline: Timeline) -> Result<Simulation> {
    with_inputs(setup, timeline, inputs())
}

/// The same with other inputs.
pub fn with_inputs(
    setup: &Group,
    timeline: Timeline,
    inputs: impl Inputs + 'static,
) -> Result<Simulation> {
    Simulation::new(setup, KINDS, timeline, Arc::new(inputs), MemoryBudget::unlimited())
}

/// Simulates so many frames.
pub fn run(simulation: &mut Simulation, frames: u32) -> Result<()> {
    (0..frames).try_for_each(|_| simulation.advance_frame(&mut (), |_, _| Ok(())))
}

/// The numbers of a channel of the balls at a path, by ids.
pub fn numbers(world: &World, path: &str, channel: &str) -> Vec<f64> {
    by_id(world, path, |balls, slot| {
        let column = balls.column(balls.handle::<f32>(channel).unwrap()).unwrap();
        column.chunk(slot).iter().map(|&value| f64::from(value)).collect()
    })
}

/// The velocities of the balls at a path, by ids [m/s].
pub fn velocities(world: &World, path: &str) -> Vec<DVec3> {
    by_id(world, path, |balls, slot| {
        let column = balls.column(balls.handle::<Vec3>("v").unwrap()).unwrap();
        column.chunk(slot).iter().map(|v| v.as_dvec3()).collect()
    })
}

fn by_id<T: Copy>(
    world: &World,
    path: &str,
    of: impl Fn(&ParticleSystem, u32) -> Vec<T>,
) -> Vec<T> {
    let (_, balls) = world.particles.iter().find(|(_, balls)| balls.label() == path).unwrap();
    let ids = balls.column(balls.id()).unwrap();
    let slots = 0..balls.topology().local() as u32;
    let each = slots.flat_map(|slot| ids.chunk(slot).to_vec().into_iter().zip(of(balls, slot)));
    let sorted: BTreeMap<u64, T> = each.collect();
    sorted.into_values().collect()
}

/// The step of a frame without substeps [s].
const STEP: f64 = 1.0 / 24.0;

#[test]
fn declarations_of_toys_are_sound() {
    for kind in KINDS {
        assert_eq!(undine_schema::declaration::faults(kind.declaration), [""; 0]);
    }
}

/// u* = u + Δt a, on particles and on the faces of a fluid alike.
#[test]
fn an_explicit_force_kicks_particles_and_fluids_alike() {
    let setup = Group::default()
        .with(balls("b", "two").set("velocity", [1.0, 2.0, 3.0]))
        .with(node(&POOL, "p").set("flow", [1.0, 2.0, 3.0]))
        .with(node(&PULL, "g").set("acceleration", [0.0, -10.0, 6.0]));
    let mut simulation = simulation(&setup, Timeline::default()).unwrap();
    run(&mut simulation, 1).unwrap();
    let wanted = DVec3::new(1.0, 2.0 - 10.0 * STEP, 3.0 + 6.0 * STEP);
    for v in velocities(&simulation.world, "b") {
        assert!((v - wanted).length() < 1e-6, "{v}, wanted {wanted}");
    }
    let flow = flow(&simulation.world);
    assert!((flow - wanted).length() < 1e-6, "{flow}, wanted {wanted}");
}

/// u* = u + (1/Δt)(m/Δt² − ∂f/∂x)⁻¹ f with f = −k u and ∂f/∂x = −k/Δt is u m / (m + k Δt): stable for any k.
#[test]
fn an_implicit_force_follows_its_closed_form_and_stays_stable() {
    for strength in [0.0, 3.0, 1e3, 1e9] {
        let start = DVec3::new(1.0, -2.0, 3.0);
        let setup = Group::default()
            .with(balls("b", "two").set("velocity", start.to_array()).set("weight", 2.0))
            .with(node(&POOL, "p").set("flow", start.to_array()).set("density", 800.0))
            .with(node(&BRAKE, "drag").set("strength", strength));
        let mut simulation = simulation(&setup, Timeline::default()).unwrap();
        run(&mut simulation, 3).unwrap();
        let after = |mass: f64| start * (mass / (mass + strength * STEP)).powi(3);
        for v in velocities(&simulation.world, "b") {
            assert!((v - after(2.0)).length() < 2e-6, "{strength}: {v}, wanted {}", after(2.0));
        }
        // A face carries the mass of a voxel: 800 kg/m³ · (0.5 m)³.
        let (flow, wanted) = (flow(&simulation.world), after(100.0));
        assert!((flow - wanted).length() < 2e-6, "{strength}: {flow}, wanted {wanted}");
    }
}

/// The velocity of the pool, which is the same on all faces [m/s].
fn flow(world: &World) -> DVec3 {
    let (_, volume) = world.volumes.iter().next().unwrap();
    let mac = volume.mac("v").unwrap();
    DVec3::from(mac.faces.map(|face| {
        let column = volume.column(face).unwrap();
        let slots = 0..volume.topology().local() as u32;
        let all: Vec<f32> = slots.flat_map(|slot| column.chunk(slot).to_vec()).collect();
        assert!(all.len() >= 512 && all.iter().all(|value| *value == all[0]));
        f64::from(all[0])
    }))
}
