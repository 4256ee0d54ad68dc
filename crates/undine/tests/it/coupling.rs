//! Constraints between Objects of different kinds: nobody wrote code for the pair.

use std::collections::BTreeMap;
use std::sync::Arc;
use undine_core::glam::{DQuat, DVec3};
use undine_core::memory::MemoryBudget;
use undine_core::mesh::{Polygons, Surface};
use undine_core::particles::TopologicalParticles;
use undine_schema::Declaration;
use undine_schema::setup::{Behavior, Group};
use undine_sim::input::{Data, Geometry, PointCloud};
use undine_sim::newton::NewtonSettings;
use undine_sim::timeline::Substeps;
use undine_sim::{BehaviorKind, Simulation, Timeline};

/// An octahedron with vertices at ±radius along the axes: +x, −x, +y, −y, +z, −z.
fn octahedron(centre: DVec3, radius: f64) -> Data {
    let corner =
        |axis: usize| [centre + DVec3::AXES[axis] * radius, centre - DVec3::AXES[axis] * radius];
    let positions = [0, 1, 2].map(corner).concat();
    let face = |n: u32| {
        let [x, y, z] = [n & 1, 2 + (n >> 1 & 1), 4 + (n >> 2 & 1)];
        // An odd number of minus signs turns the corner inside out.
        if n.count_ones().is_multiple_of(2) { [x, y, z] } else { [x, z, y] }
    };
    let faces = Polygons::triangles((0..8).map(face).collect()).unwrap();
    let surface = Surface::new("octahedron", positions, faces).unwrap();
    Data { geometry: Geometry::Surface(Arc::new(surface)), ..Data::default() }
}

/// Particles of 1 kg.
fn points(positions: Vec<DVec3>) -> Data {
    let numbers = BTreeMap::from([("mass".to_owned(), vec![1.0; positions.len()])]);
    let cloud = PointCloud { positions, numbers, ..PointCloud::default() };
    Data { geometry: Geometry::Points(cloud), ..Data::default() }
}

fn node(declaration: &'static Declaration, name: &str) -> Behavior {
    Behavior::new(declaration).named(name)
}

fn body(name: &str) -> Behavior {
    node(&undine_solid::rigid::body::DECLARATION, name).set("input", name)
}

fn particles(name: &str) -> Behavior {
    node(&undine_particles::particles::DECLARATION, name).set("input", name)
}

fn attachment(to: &str) -> Behavior {
    node(&undine_actions::attachment::DECLARATION, "hold").set("to", to)
}

fn simulation(setup: &Group, inputs: Vec<(&str, Data)>, substeps: u32) -> Simulation {
    let inputs: BTreeMap<String, Arc<Data>> =
        inputs.into_iter().map(|(name, data)| (name.to_owned(), Arc::new(data))).collect();
    let kinds: Vec<BehaviorKind> =
        [undine_solid::BEHAVIORS, undine_particles::BEHAVIORS, undine_actions::BEHAVIORS].concat();
    let timeline = Timeline {
        substeps: Substeps::Fixed(substeps),
        newton: NewtonSettings { iterations: 6, tolerance: 1e-8, ..NewtonSettings::default() },
        ..Timeline::default()
    };
    let budget = MemoryBudget::unlimited();
    Simulation::new(setup, &kinds, timeline, Arc::new(inputs), budget).unwrap()
}

fn frames(simulation: &mut Simulation, count: usize) {
    for _ in 0..count {
        simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap();
    }
}

fn bodies(simulation: &Simulation) -> &TopologicalParticles {
    simulation.world.points.iter().next().unwrap().1
}

/// Where the first particle is, seen from the first body [m].
fn seen_from_body(simulation: &Simulation) -> DVec3 {
    let points = bodies(simulation);
    let centre = points.column(points.position()).unwrap()[0];
    let turn = points.column(points.handle::<DQuat>("orientation").unwrap()).unwrap()[0];
    let (_, particles) = simulation.world.particles.iter().next().unwrap();
    turn.inverse() * (particles.world_positions().unwrap()[0] - centre)
}

/// A light particle beside a heavy body that spins and flies: with ξ = 0 it goes round with it, with ξ = 1 it is only kept at
/// its distance from the corner. Neither changes the momentum of both.
#[test]
fn a_particle_rides_on_a_spinning_body() {
    let held = |flexibility: f64| {
        let bond = attachment("top").set("flexibility", flexibility).set("emission", "pair");
        let setup = Group::default()
            .with(body("top").set("spin", [0.0, 0.0, 2.0]).set("velocity", [0.5, 0.0, 0.0]))
            .with(particles("fly").set("velocity", [0.5, 1.0, 0.0]))
            .with(bond.set("normal-stiffness", 1e5).set("tangent-stiffness", 1e5));
        let top = octahedron(DVec3::ZERO, 0.3);
        let inputs = vec![("top", top), ("fly", points(vec![DVec3::X * 0.5]))];
        let mut simulation = simulation(&setup, inputs, 16);
        let (start, before) = (seen_from_body(&simulation), simulation.budget().unwrap());
        frames(&mut simulation, 12);
        let after = simulation.budget().unwrap();
        let off = after.momentum.distance(before.momentum);
        assert!(off < 1e-6 * before.momentum.length(), "{off} kg m/s");
        seen_from_body(&simulation).distance(start)
    };
    // Stretched by mω²r/k = 1 kg · 4/s² · 0.5 m / 1e5 N/m, and what single precision adds.
    let (rigid, loose) = (held(0.0), held(1.0));
    assert!((rigid - 2e-5).abs() < 4e-6, "{rigid} m");
    assert!(loose > 10.0 * rigid, "{loose} m");
}

/// Springs in range tie particles to bodies, and bodies to bodies.
#[test]
fn springs_tie_whatever_has_points() {
    let setup = Group::default()
        .with(body("one").set("velocity", [0.0, 0.3, 0.0]).set("spin", [1.0, 0.0, 0.5]))
        .with(particles("cloud").set("velocity", [0.1, -0.2, 0.4]))
        .with(
            node(&undine_actions::springs::DECLARATION, "ties")
                .set("range", 0.45)
                .set("stiffness", 500.0)
                .set("rest-scale", 0.8),
        );
    let cloud = points(vec![DVec3::X * 0.5, DVec3::X * 0.8, DVec3::Y * 0.6]);
    let inputs = vec![("one", octahedron(DVec3::ZERO, 0.3)), ("cloud", cloud)];
    let mut simulation = simulation(&setup, inputs, 8);
    let (before, start) = (simulation.budget().unwrap(), seen_from_body(&simulation));
    frames(&mut simulation, 12);
    let after = simulation.budget().unwrap();
    let off = after.momentum.distance(before.momentum);
    assert!(off < 1e-5 * before.momentum.length(), "{off} kg m/s");
    assert!(seen_from_body(&simulation).distance(start) > 1e-3, "nothing pulled");
    assert_eq!(after.mass, before.mass);
}

/// Pairs by ids: the second particle to the body's corner 2, and nothing else.
#[test]
fn a_network_says_which_points_are_held() {
    let mut network = points(vec![DVec3::ZERO]);
    if let Geometry::Points(cloud) = &mut network.geometry {
        cloud.numbers.insert("source".to_owned(), vec![1.0]);
        cloud.numbers.insert("target".to_owned(), vec![2.0]);
    }
    let bond = attachment("top").set("emission", "network").set("network", "pairs");
    let setup = Group::default()
        .with(body("top").set("kinematic", true))
        .with(particles("pair"))
        .with(bond)
        .with(node(&undine_actions::gravity::DECLARATION, "gravity"));
    let pair = points(vec![DVec3::X * 2.0, DVec3::Y * 0.5]);
    let inputs = vec![("top", octahedron(DVec3::ZERO, 0.3)), ("pair", pair), ("pairs", network)];
    let mut simulation = simulation(&setup, inputs, 8);
    frames(&mut simulation, 24);
    let (_, elements) = simulation.world.elements.iter().next().unwrap();
    assert_eq!(elements.len(), 1);
    let (_, particles) = simulation.world.particles.iter().next().unwrap();
    let mut heights: Vec<f64> =
        particles.world_positions().unwrap().iter().map(|at| at.y).collect();
    heights.sort_by(f64::total_cmp);
    assert!(heights[0] < -4.0, "{heights:?}");
    assert!((heights[1] - 0.5).abs() < 0.01, "{heights:?}");
}
