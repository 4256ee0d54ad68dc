//! What the tests of whole steps have in common: small scenes of liquid, and looks at it.

use std::collections::BTreeMap;
use std::sync::Arc;
use undine_core::glam::{DVec3, Mat3, Vec3};
use undine_core::memory::MemoryBudget;
use undine_core::{DiscreteVolume, GridDomain, ParticleSystem};
use undine_geometry::{Pose, Shape};
use undine_schema::setup::{Behavior, Group};
use undine_sim::input::{Data, Geometry};
use undine_sim::offers::FluidField;
use undine_sim::timeline::Substeps;
use undine_sim::{BehaviorKind, Simulation, Timeline};

/// Earth's [m/s²].
pub const GRAVITY: f64 = 9.80665;

/// Every Behavior that these tests use.
pub fn kinds() -> Vec<BehaviorKind> {
    [undine_liquid::BEHAVIORS, undine_fluid::BEHAVIORS, undine_actions::BEHAVIORS].concat()
}

/// A scene of liquid, made piece by piece.
#[derive(Default)]
pub struct Scene {
    inputs: BTreeMap<String, Arc<Data>>,
    setup: Group,
}

impl Scene {
    /// A liquid in a solid, with this voxel size [m]: the input `liquid` of the Behavior `water`.
    pub fn of(solid: Shape, voxel: f64) -> Self {
        Self::of_kind(solid, hybrid(voxel))
    }

    /// The same, for a Behavior of which more is said.
    pub fn of_kind(solid: Shape, hybrid: Behavior) -> Self {
        Self::default().with_input("liquid", solid).with(hybrid)
    }

    /// Adds a Behavior.
    pub fn with(mut self, behavior: Behavior) -> Self {
        self.setup = self.setup.with(behavior);
        self
    }

    /// Adds a solid as an input.
    pub fn with_input(self, name: &str, solid: Shape) -> Self {
        self.with_data(name, Data::new(Geometry::Shape(Arc::new(solid))))
    }

    /// Adds an input.
    pub fn with_data(mut self, name: &str, data: Data) -> Self {
        self.inputs.insert(name.to_owned(), Arc::new(data));
        self
    }

    /// Adds a solid that the liquid bumps into.
    pub fn with_wall(self, name: &str, solid: Shape) -> Self {
        self.with_wall_of(name, Data::new(Geometry::Shape(Arc::new(solid))))
    }

    /// Adds something that the liquid bumps into, and that may move.
    pub fn with_wall_of(self, name: &str, data: Data) -> Self {
        let collider =
            Behavior::new(&undine_actions::collider::DECLARATION).named(name).set("input", name);
        self.with_data(name, data).with(collider)
    }

    /// Adds `walls`, `pressure` and `gravity`.
    pub fn under_gravity(self) -> Self {
        self.with(Behavior::new(&undine_fluid::walls::DECLARATION))
            .with(Behavior::new(&undine_fluid::pressure::DECLARATION))
            .with(Behavior::new(&undine_actions::gravity::DECLARATION))
    }

    /// Adds `walls` and `pressure` with a surface tension [N/m]: nothing falls.
    pub fn weightless(self, tension: f64) -> Self {
        let pressure = Behavior::new(&undine_fluid::pressure::DECLARATION).set("tension", tension);
        self.with(Behavior::new(&undine_fluid::walls::DECLARATION)).with(pressure)
    }

    /// The simulation of it.
    pub fn simulation(self, timeline: Timeline) -> Simulation {
        let budget = MemoryBudget::unlimited();
        Simulation::new(&self.setup, &kinds(), timeline, Arc::new(self.inputs), budget).unwrap()
    }
}

/// The Behavior `water`, with this voxel size [m].
pub fn hybrid(voxel: f64) -> Behavior {
    Behavior::new(&undine_liquid::hybrid::DECLARATION)
        .named("water")
        .set("input", "liquid")
        .set("voxel", voxel)
}

/// A box between two corners [m].
pub fn cuboid(min: DVec3, max: DVec3) -> Shape {
    let pose = Pose { translation: 0.5 * (min + max), ..Pose::IDENTITY };
    Shape::cuboid(0.5 * (max - min)).unwrap().moved(&pose).unwrap()
}

/// All that is not within a box [m]: a tank.
pub fn tank(min: DVec3, max: DVec3) -> Shape {
    cuboid(min, max).inverted().unwrap()
}

/// A timeline of so many frames a second, with so many substeps in each.
pub fn fixed(fps: f64, substeps: u32) -> Timeline {
    Timeline { fps, substeps: Substeps::Fixed(substeps), ..Timeline::default() }
}

/// A timeline whose substeps cross at most `cfl` voxels.
pub fn adaptive(fps: f64, cfl: f64) -> Timeline {
    let substeps = Substeps::Adaptive { least: 1, most: 1000, cfl };
    Timeline { fps, substeps, ..Timeline::default() }
}

/// Simulates so many frames.
pub fn run(simulation: &mut Simulation, frames: usize) {
    for _ in 0..frames {
        simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap();
    }
}

/// The particles of the liquid.
pub fn particles(simulation: &Simulation) -> &ParticleSystem {
    simulation.world.particles.iter().next().unwrap().1
}

/// Where its particles are [m], in the order in which they are stored.
pub fn positions(simulation: &Simulation) -> Vec<DVec3> {
    particles(simulation).world_positions().unwrap()
}

/// How fast they are [m/s], in the same order.
pub fn velocities(simulation: &Simulation) -> Vec<DVec3> {
    let store = particles(simulation);
    let column = store.column(store.handle::<Vec3>("v").unwrap()).unwrap();
    (0..store.topology().local() as u32)
        .flat_map(|slot| column.chunk(slot).iter().map(|v| v.as_dvec3()))
        .collect()
}

/// Gives every particle the velocity [m/s] that a flow has where it is, and its gradient.
pub fn stir(simulation: &mut Simulation, flow: impl Fn(DVec3) -> DVec3) {
    let places = positions(simulation);
    let store = particles(simulation);
    let affine = store.handle::<Mat3>("affine").ok();
    let mut velocities = store.column_mut(store.handle::<Vec3>("v").unwrap()).unwrap();
    let mut affine = affine.map(|affine| store.column_mut(affine).unwrap());
    let mut places = places.into_iter();
    for slot in 0..store.topology().local() as u32 {
        for n in 0..velocities.chunk(slot).len() {
            let at = places.next().unwrap();
            velocities.chunk_mut(slot)[n] = flow(at).as_vec3();
            if let Some(affine) = &mut affine {
                let step = 1e-4;
                let slopes = DVec3::AXES.map(|axis| {
                    let change = flow(at + step * axis) - flow(at - step * axis);
                    (change / (2.0 * step)).as_vec3()
                });
                affine.chunk_mut(slot)[n] = Mat3::from_cols(slopes[0], slopes[1], slopes[2]);
            }
        }
    }
}

/// The liquid's grid.
pub fn grid(simulation: &Simulation) -> (&GridDomain, &DiscreteVolume, FluidField) {
    let world = &simulation.world;
    let object = world.objects.iter().find(|object| object.offers.fluid.is_some()).unwrap();
    let field = object.offers.fluid.unwrap();
    (&world.domains[object.domain], &world.volumes[field.volume], field)
}

/// The liquid cells: their centres [m], distances to the surface [m] and pressures [Pa].
pub fn liquid_cells(simulation: &Simulation) -> Vec<(DVec3, f64, f64)> {
    let (domain, volume, field) = grid(simulation);
    let frame = domain.frame();
    let distance = volume.column(field.distance.unwrap()).unwrap();
    let cells = volume.column(field.cells.words).unwrap();
    let pressure = volume.column(field.pressure).unwrap();
    let mut found = Vec::new();
    for (slot, bucket) in volume.topology().buckets().iter().enumerate() {
        let slot = slot as u32;
        for n in (0..512).filter(|n| cells.chunk(slot)[n >> 6] >> (n & 63) & 1 != 0) {
            let cell = DVec3::from_array([n >> 6, n >> 3 & 7, n & 7].map(|c| c as f64 + 0.5));
            let centre = frame.corner(*bucket) + frame.voxel_size(0) * cell;
            let [distance, pressure] =
                [&distance, &pressure].map(|of| f64::from(of.chunk(slot)[n]));
            found.push((centre, distance, pressure));
        }
    }
    found
}

/// The root of the mean square of speeds [m/s].
pub fn rms_speed(simulation: &Simulation) -> f64 {
    let all = velocities(simulation);
    (all.iter().map(|v| v.length_squared()).sum::<f64>() / all.len() as f64).sqrt()
}

/// Energy of motion and of place [J].
pub fn energy(simulation: &Simulation) -> f64 {
    let budget = simulation.budget().unwrap();
    budget.kinetic_energy + budget.potential_energy
}

/// The volume within the surface that was found last [m³].
pub fn volume(simulation: &Simulation) -> f64 {
    let (domain, volume, field) = grid(simulation);
    undine_liquid::density::volume(domain, volume, &field).unwrap()
}

/// The masses of particles [kg], in the order in which they are stored.
pub fn masses(simulation: &Simulation) -> Vec<f64> {
    let store = particles(simulation);
    let column = store.column(store.handle::<f32>("mass").unwrap()).unwrap();
    (0..store.topology().local() as u32)
        .flat_map(|slot| column.chunk(slot).iter().map(|mass| f64::from(*mass)))
        .collect()
}

/// The centre of mass [m].
pub fn middle(simulation: &Simulation) -> DVec3 {
    let (mut sum, mut all) = (DVec3::ZERO, 0.0);
    for (at, mass) in positions(simulation).into_iter().zip(masses(simulation)) {
        sum += mass * at;
        all += mass;
    }
    sum / all
}

/// Whether tests are to try as much as they can.
pub fn is_full_tier() -> bool {
    std::env::var_os("UNDINE_FULL").is_some()
}

/// Runs what takes long where the full tier is asked for.
pub fn in_the_full_tier(test: impl FnOnce()) {
    if is_full_tier() {
        test();
    }
}
