//! Colliders whose input changes from frame to frame, and what every declaration owes.

use crate::scene::{gravity, kinds, particles, positions, run, store, timeline, velocities};
use std::sync::Arc;
use undine_core::glam::DVec3;
use undine_core::memory::MemoryBudget;
use undine_core::mesh::{Polygons, Surface};
use undine_schema::declaration::{clashes, faults};
use undine_schema::setup::{Behavior, Group};
use undine_sim::input::{Data, Geometry, Inputs};
use undine_sim::simulation::Clock;
use undine_sim::{Result, Simulation};

/// A sheet that rises at 1 m/s, frame by frame, and points above it.
struct Rising;

impl Inputs for Rising {
    fn data(&self, name: &str, time: f64) -> Result<Arc<Data>> {
        if name == "cloud" {
            return Ok(Arc::new(Data::points(vec![DVec3::new(0.1, 0.5, 0.2)])));
        }
        let corners = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
        let corners = corners.map(|[x, z]| DVec3::new(x, time, z)).to_vec();
        let faces = Polygons::triangles(vec![[0, 2, 1], [0, 3, 2]])?;
        let surface = Surface::new("sheet", corners, faces)?;
        Ok(Arc::new(Data { geometry: Geometry::Surface(Arc::new(surface)), ..Data::default() }))
    }

    fn changes(&self, name: &str) -> bool {
        name == "wall"
    }
}

fn scene() -> Simulation {
    let setup = Group::default()
        .with(particles())
        .with(Behavior::new(&undine_actions::collider::DECLARATION).set("input", "wall"))
        .with(gravity())
        .with(Behavior::new(&undine_actions::collision::DECLARATION));
    let budget = MemoryBudget::unlimited();
    Simulation::new(&setup, &kinds(), timeline(1), Arc::new(Rising), budget).unwrap()
}

#[test]
fn a_deforming_sheet_lifts_what_falls_on_it() {
    let mut simulation = scene();
    run(&mut simulation, 36);
    let (x, v) = (positions(store(&simulation, 0))[0], velocities(store(&simulation, 0))[0]);
    assert!((x.y - 1.5).abs() < 3e-3 && x.y > 1.5, "{x}");
    assert!(v.distance(DVec3::Y) < 0.05, "{v}");
}

/// A run that begins again in the middle looks at the input of that step alone.
#[test]
fn a_collider_carries_nothing_from_step_to_step() {
    let mut simulation = scene();
    simulation.set_clock(Clock { frame: 9, substeps: 8 });
    // At the start of the step the sheet is at 1/3 m, below the ball at 0.5 m, and at the end of it no higher than 0.38 m.
    run(&mut simulation, 1);
    let x = positions(store(&simulation, 0))[0];
    assert!((x.y - (0.5 - 0.5 * 9.80665 / 576.0)).abs() < 1e-5, "{x}");
}

#[test]
fn every_declaration_is_whole() {
    let declarations: Vec<_> = kinds().iter().map(|kind| kind.declaration).collect();
    for declaration in &declarations {
        assert_eq!(faults(declaration), [""; 0]);
        assert!(!declaration.example.is_empty());
    }
    assert_eq!(clashes(&declarations), [""; 0]);
}
