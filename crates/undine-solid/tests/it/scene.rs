//! What tests of bodies in the pipeline share: octahedra with vertices on their axes, and setups of them.

use std::collections::BTreeMap;
use std::sync::Arc;
use undine_core::glam::{DQuat, DVec3};
use undine_core::memory::MemoryBudget;
use undine_core::particles::TopologicalParticles;
use undine_geometry::{Motion, Triangles};
use undine_schema::setup::{Behavior, Group};
use undine_sim::input::{Data, Geometry};
use undine_sim::newton::NewtonSettings;
use undine_sim::timeline::Substeps;
use undine_sim::{BehaviorKind, Simulation, Timeline};

/// Vertices at ±radii along the axes: +x, −x, +y, −y, +z, −z.
pub fn octahedron(centre: DVec3, radii: DVec3) -> Data {
    let mut positions = Vec::new();
    for axis in 0..3 {
        let arm = DVec3::AXES[axis] * radii;
        positions.extend([centre + arm, centre - arm]);
    }
    let mut triangles = Vec::new();
    for n in 0..8_u32 {
        let [x, y, z] = [n & 1, 2 + (n >> 1 & 1), 4 + (n >> 2 & 1)];
        // An odd number of minus signs turns the corner inside out.
        triangles.push(if n.count_ones() % 2 == 0 { [x, y, z] } else { [x, z, y] });
    }
    let mesh = Triangles::new(positions, triangles).unwrap().into_surface("octahedron").unwrap();
    Data { geometry: Geometry::Surface(Arc::new(mesh)), ..Data::default() }
}

/// The same, moving.
pub fn moving(data: Data, motion: Motion) -> Data {
    Data { motion: Some(motion), ..data }
}

pub fn body(name: &str) -> Behavior {
    Behavior::new(&undine_solid::rigid::body::DECLARATION).named(name).set("input", name)
}

pub fn springs() -> Behavior {
    Behavior::new(&undine_actions::springs::DECLARATION)
}

pub fn attachment(to: &str) -> Behavior {
    Behavior::new(&undine_actions::attachment::DECLARATION).set("to", to).set("emission", "pair")
}

/// A run of frames of 1/24 s.
#[derive(Clone, Copy)]
pub struct Run {
    pub substeps: u32,
    pub iterations: usize,
}

/// A run of frames that last as long as is said [s].
pub struct LongRun {
    run: Run,
    frame_seconds: f64,
}

impl Default for Run {
    fn default() -> Self {
        Self { substeps: 1, iterations: 1 }
    }
}

impl Run {
    pub fn of(&self, setup: &Group, inputs: Vec<(&str, Data)>) -> Simulation {
        self.with_frame(1.0 / 24.0).of(setup, inputs)
    }

    pub fn with_frame(self, frame_seconds: f64) -> LongRun {
        LongRun { run: self, frame_seconds }
    }
}

impl LongRun {
    pub fn of(&self, setup: &Group, inputs: Vec<(&str, Data)>) -> Simulation {
        self.try_of(setup, inputs).unwrap()
    }

    pub fn try_of(
        &self,
        setup: &Group,
        inputs: Vec<(&str, Data)>,
    ) -> undine_sim::Result<Simulation> {
        let inputs: BTreeMap<String, Arc<Data>> =
            inputs.into_iter().map(|(name, data)| (name.to_owned(), Arc::new(data))).collect();
        let kinds: Vec<BehaviorKind> =
            [undine_solid::BEHAVIORS, undine_actions::BEHAVIORS].concat();
        let timeline = Timeline {
            fps: 1.0 / self.frame_seconds,
            substeps: Substeps::Fixed(self.run.substeps),
            newton: NewtonSettings {
                iterations: self.run.iterations,
                tolerance: 1e-13,
                ..NewtonSettings::default()
            },
            ..Timeline::default()
        };
        let budget = MemoryBudget::unlimited();
        Simulation::new(setup, &kinds, timeline, Arc::new(inputs), budget)
    }
}

pub fn frames(simulation: &mut Simulation, count: usize) {
    for _ in 0..count {
        simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap();
    }
}

/// The store of this label: `name` has the centres, `name boundary` the boundary particles.
pub fn store<'a>(simulation: &'a Simulation, label: &str) -> &'a TopologicalParticles {
    let mut stores = simulation.world.points.iter();
    stores.find(|(_, points)| points.label() == label).unwrap().1
}

pub fn vectors(simulation: &Simulation, label: &str, channel: &str) -> Vec<DVec3> {
    let points = store(simulation, label);
    points.column(points.handle::<DVec3>(channel).unwrap()).unwrap().to_vec()
}

pub fn vector(simulation: &Simulation, label: &str, channel: &str) -> DVec3 {
    vectors(simulation, label, channel)[0]
}

pub fn number(simulation: &Simulation, label: &str, channel: &str) -> f64 {
    let points = store(simulation, label);
    points.column(points.handle::<f64>(channel).unwrap()).unwrap()[0]
}

pub fn turn(simulation: &Simulation, label: &str, channel: &str) -> DQuat {
    let points = store(simulation, label);
    points.column(points.handle::<DQuat>(channel).unwrap()).unwrap()[0]
}
