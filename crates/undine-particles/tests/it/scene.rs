//! What the tests of this crate have in common: small scenes, and looks at particles.

use std::collections::BTreeMap;
use std::sync::Arc;
use undine_core::glam::{DVec3, Vec3};
use undine_core::memory::MemoryBudget;
use undine_core::{Element, ParticleSystem};
use undine_schema::setup::{Behavior, Group};
use undine_sim::input::{Data, Geometry, PointCloud};
use undine_sim::timeline::Substeps;
use undine_sim::{BehaviorKind, Simulation, Timeline};

/// Every Behavior that these tests use.
pub fn kinds() -> Vec<BehaviorKind> {
    [undine_particles::BEHAVIORS, undine_actions::BEHAVIORS].concat()
}

/// Inputs by name.
pub type Inputs = BTreeMap<String, Arc<Data>>;

/// An input under a name.
pub fn input(name: &str, data: Data) -> Inputs {
    BTreeMap::from([(name.to_owned(), Arc::new(data))])
}

/// The particles of input `cloud`.
pub fn particles() -> Behavior {
    Behavior::new(&undine_particles::particles::DECLARATION).set("input", "cloud")
}

/// Earth's.
pub fn gravity() -> Behavior {
    Behavior::new(&undine_actions::gravity::DECLARATION)
}

/// Points with channels of numbers.
pub fn cloud(positions: Vec<DVec3>, numbers: &[(&str, Vec<f64>)]) -> Data {
    let numbers =
        numbers.iter().map(|(name, values)| ((*name).to_owned(), values.clone())).collect();
    let cloud = PointCloud { positions, numbers, ..PointCloud::default() };
    Data { geometry: Geometry::Points(cloud), ..Data::default() }
}

/// A timeline of so many substeps in each of 24 frames a second.
pub fn timeline(substeps: u32) -> Timeline {
    Timeline { substeps: Substeps::Fixed(substeps), ..Timeline::default() }
}

/// A scene.
pub fn simulation(setup: &Group, inputs: Inputs, timeline: Timeline) -> Simulation {
    let budget = MemoryBudget::unlimited();
    Simulation::new(setup, &kinds(), timeline, Arc::new(inputs), budget).unwrap()
}

/// Simulates so many frames.
pub fn run(simulation: &mut Simulation, frames: usize) {
    for _ in 0..frames {
        simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap();
    }
}

/// The particles of the n-th Object.
pub fn store(simulation: &Simulation, n: usize) -> &ParticleSystem {
    simulation.world.particles.iter().nth(n).unwrap().1
}

/// The values of a channel, in the order of ids.
pub fn values<T: Element>(particles: &ParticleSystem, name: &str) -> Vec<T> {
    by_id(particles, flat(particles, name))
}

/// World positions [m], in the order of ids.
pub fn positions(particles: &ParticleSystem) -> Vec<DVec3> {
    by_id(particles, particles.world_positions().unwrap())
}

/// Velocities [m/s], in the order of ids.
pub fn velocities(particles: &ParticleSystem) -> Vec<DVec3> {
    values::<Vec3>(particles, "v").into_iter().map(|v| v.as_dvec3()).collect()
}

fn flat<T: Element>(particles: &ParticleSystem, name: &str) -> Vec<T> {
    let column = particles.column(particles.handle::<T>(name).unwrap()).unwrap();
    let slots = 0..particles.topology().local() as u32;
    slots.flat_map(|slot| column.chunk(slot).to_vec()).collect()
}

fn by_id<T>(particles: &ParticleSystem, values: Vec<T>) -> Vec<T> {
    let mut all: Vec<(u64, T)> = flat::<u64>(particles, "id").into_iter().zip(values).collect();
    all.sort_by_key(|(id, _)| *id);
    all.into_iter().map(|(_, value)| value).collect()
}
