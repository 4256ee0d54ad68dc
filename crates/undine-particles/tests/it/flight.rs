//! Flight under constant forces.

use std::collections::BTreeMap;
use std::sync::Arc;
use undine_core::glam::DVec3;
use undine_core::memory::MemoryBudget;
use undine_schema::setup::{Behavior, Group};
use undine_sim::input::Data;
use undine_sim::timeline::Substeps;
use undine_sim::{BehaviorKind, Simulation, Timeline};

fn kinds() -> Vec<BehaviorKind> {
    [undine_particles::BEHAVIORS, undine_actions::BEHAVIORS].concat()
}

fn simulation(setup: &Group, points: Vec<DVec3>, substeps: u32) -> Simulation {
    let inputs = BTreeMap::from([("cloud".to_owned(), Arc::new(Data::points(points)))]);
    let timeline = Timeline { substeps: Substeps::Fixed(substeps), ..Timeline::default() };
    let budget = MemoryBudget::unlimited();
    Simulation::new(setup, &kinds(), timeline, Arc::new(inputs), budget).unwrap()
}

/// x = x₀ + v₀t + ½gt², for any number of substeps, to what `f32` offsets from Buckets hold.
#[test]
fn a_thrown_ball_follows_its_parabola() {
    let setup = Group::default()
        .with(
            Behavior::new(&undine_particles::particles::DECLARATION)
                .set("input", "cloud")
                .set("velocity", [3.0, 4.0, -1.0]),
        )
        .with(Behavior::new(&undine_actions::gravity::DECLARATION));
    for substeps in [1, 4] {
        let mut simulation = simulation(&setup, vec![DVec3::new(0.3, 2.0, 100.0)], substeps);
        for _ in 0..24 {
            simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap();
        }
        let (_, particles) = simulation.world.particles.iter().next().unwrap();
        let position = particles.world_positions().unwrap()[0];
        let wanted = DVec3::new(3.3, 2.0 + 4.0 - 0.5 * 9.80665, 99.0);
        assert!(position.distance(wanted) < 2e-5, "{position} is not {wanted}");
    }
}
