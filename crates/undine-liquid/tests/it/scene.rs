//! What the tests of whole steps have in common: small scenes of liquid, and looks at it.

use std::collections::BTreeMap;
use std::sync::Arc;
use undine_core::ParticleSystem;
use undine_core::glam::{DVec3, Vec3};
use undine_core::memory::MemoryBudget;
use undine_geometry::{Pose, Shape};
use undine_schema::setup::{Behavior, Group};
use undine_sim::input::{Data, Geometry};
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
        let hybrid = Behavior::new(&undine_liquid::hybrid::DECLARATION)
            .named("water")
            .set("input", "liquid")
            .set("voxel", voxel);
        Self::default().with_input("liquid", solid).with(hybrid)
    }

    /// Adds a Behavior.
    pub fn with(mut self, behavior: Behavior) -> Self {
        self.setup = self.setup.with(behavior);
        self
    }

    /// Sets a parameter for the whole setup.
    pub fn set(mut self, name: &str, value: impl Into<undine_schema::Value>) -> Self {
        self.setup = self.setup.set(name, value);
        self
    }

    /// Adds a solid as an input.
    pub fn with_input(mut self, name: &str, solid: Shape) -> Self {
        let data = Data::new(Geometry::Shape(Arc::new(solid)));
        self.inputs.insert(name.to_owned(), Arc::new(data));
        self
    }

    /// Adds a solid that the liquid bumps into.
    pub fn with_wall(self, name: &str, solid: Shape) -> Self {
        let collider = Behavior::new(&undine_actions::collider::DECLARATION)
            .named(name)
            .set("input", name);
        self.with_input(name, solid).with(collider)
    }

    /// Adds `walls`, `pressure` and `gravity`.
    pub fn under_gravity(self) -> Self {
        self.with(Behavior::new(&undine_fluid::walls::DECLARATION))
            .with(Behavior::new(&undine_fluid::pressure::DECLARATION))
            .with(Behavior::new(&undine_actions::gravity::DECLARATION))
    }

    /// The simulation of it.
    pub fn simulation(self, timeline: Timeline) -> Simulation {
        let budget = MemoryBudget::unlimited();
        Simulation::new(&self.setup, &kinds(), timeline, Arc::new(self.inputs), budget).unwrap()
    }
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
