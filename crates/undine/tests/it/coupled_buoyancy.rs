//! What is lighter than water rises in it, and what is heavier weighs less.

use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::sync::Arc;
use undine_actions::drag::{Body, Law, Medium, implicit_velocity};
use undine_core::glam::DVec3;
use undine_core::memory::MemoryBudget;
use undine_geometry::{Pose, Shape};
use undine_schema::setup::{Behavior, Group};
use undine_sim::input::{Data, Geometry, PointCloud};
use undine_sim::timeline::Substeps;
use undine_sim::{Simulation, Timeline};

const GRAVITY: f64 = 9.80665;
const WATER: f64 = 998.2;
const VOXEL: f64 = 1.0 / 8.0;
const RADIUS: f64 = 0.01;

fn cuboid(min: DVec3, max: DVec3) -> Shape {
    let pose = Pose { translation: 0.5 * (min + max), ..Pose::IDENTITY };
    Shape::cuboid(0.5 * (max - min)).unwrap().moved(&pose).unwrap()
}

/// Balls of a density [kg/m³] at these places [m] in a tank of 1 m that is filled 1 m deep.
fn scene(density: f64, places: Vec<DVec3>, substeps: u32) -> Simulation {
    let mass = density * 4.0 / 3.0 * PI * RADIUS.powi(3);
    let count = places.len();
    let cloud = PointCloud {
        positions: places,
        numbers: BTreeMap::from([
            ("mass".to_owned(), vec![mass; count]),
            ("pscale".to_owned(), vec![RADIUS; count]),
        ]),
        ..PointCloud::default()
    };
    let tank = cuboid(DVec3::ZERO, DVec3::new(1.0, 1.5, 1.0)).inverted().unwrap();
    let water = cuboid(DVec3::ZERO, DVec3::ONE);
    let shape = |shape: Shape| Arc::new(Data::new(Geometry::Shape(Arc::new(shape))));
    let inputs: BTreeMap<String, Arc<Data>> = BTreeMap::from([
        ("water".to_owned(), shape(water)),
        ("tank".to_owned(), shape(tank)),
        ("balls".to_owned(), Arc::new(Data::new(Geometry::Points(cloud)))),
    ]);
    let node = |declaration, name: &str| Behavior::new(declaration).named(name).set("input", name);
    let setup = Group::default()
        .with(node(&undine_liquid::hybrid::DECLARATION, "water").set("voxel", VOXEL))
        .with(node(&undine_particles::particles::DECLARATION, "balls"))
        .with(node(&undine_actions::collider::DECLARATION, "tank"))
        .with(Behavior::new(&undine_fluid::walls::DECLARATION))
        .with(Behavior::new(&undine_fluid::pressure::DECLARATION))
        .with(Behavior::new(&undine_actions::coupled::drag::DECLARATION))
        .with(Behavior::new(&undine_actions::coupled::buoyancy::DECLARATION))
        .with(Behavior::new(&undine_actions::gravity::DECLARATION));
    let kinds = [
        undine_liquid::BEHAVIORS,
        undine_fluid::BEHAVIORS,
        undine_particles::BEHAVIORS,
        undine_actions::BEHAVIORS,
    ]
    .concat();
    let timeline = Timeline { substeps: Substeps::Fixed(substeps), ..Timeline::default() };
    let budget = MemoryBudget::unlimited();
    Simulation::new(&setup, &kinds, timeline, Arc::new(inputs), budget).unwrap()
}

fn frames(simulation: &mut Simulation, count: usize) {
    for _ in 0..count {
        simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap();
    }
}

/// The mean place [m] and velocity [m/s] of the balls.
fn balls(simulation: &Simulation) -> [DVec3; 2] {
    let (_, balls) = simulation.world.particles.iter().nth(1).unwrap();
    let (_, domain) = simulation.world.domains.iter().next().unwrap();
    let (position, velocity) = (
        balls.column(balls.position()).unwrap(),
        balls.column(balls.handle::<undine_core::glam::Vec3>("v").unwrap()).unwrap(),
    );
    let mut sums = [DVec3::ZERO; 2];
    for slot in 0..balls.topology().local() as u32 {
        let corner = domain.frame().corner(balls.topology().bucket(slot));
        for (at, v) in position.chunk(slot).iter().zip(velocity.chunk(slot)) {
            sums[0] += corner + at.as_dvec3();
            sums[1] += v.as_dvec3();
        }
    }
    sums.map(|sum| sum / balls.len() as f64)
}

/// Weight, buoyancy and drag in balance: (ρ_f − ρ_s) V g = k(|u|) u.
fn terminal(density: f64) -> f64 {
    let volume = 4.0 / 3.0 * PI * RADIUS.powi(3);
    let body = Body { radius: RADIUS, mass: density * volume };
    let water = Medium::new(WATER, 1.002e-3).unwrap();
    let force = DVec3::Y * ((WATER - density) * volume * GRAVITY);
    implicit_velocity(&Law::SchillerNaumann, &water, &body, DVec3::ZERO, (DVec3::ZERO, force), 1e30)
        .y
}

#[test]
fn light_balls_rise_and_heavy_ones_sink_at_their_terminal_speeds() {
    for (density, height) in [(300.0, 0.2), (2500.0, 0.8)] {
        let mut simulation = scene(density, vec![DVec3::new(0.5, height, 0.5)], 4);
        frames(&mut simulation, 9);
        let [_, velocity] = balls(&simulation);
        let wanted = terminal(density);
        // In a tank of eight cells the water that goes along with it is not nothing.
        assert!((velocity.y / wanted - 1.0).abs() < 0.1, "{density}: {velocity} {wanted}");
    }
}

#[test]
fn what_weighs_as_much_as_water_stays_where_it_is() {
    let places =
        vec![DVec3::new(0.3, 0.3, 0.4), DVec3::new(0.6, 0.5, 0.5), DVec3::new(0.5, 0.2, 0.7)];
    let start = places.iter().sum::<DVec3>() / 3.0;
    let mut simulation = scene(WATER, places, 2);
    frames(&mut simulation, 12);
    let [place, velocity] = balls(&simulation);
    // In its first step it falls before the water is known to carry it, and drifts on until drag has stopped it.
    assert!(place.distance(start) < 8e-3, "{place} {start}");
    assert!(velocity.length() < 0.02, "{velocity}");
}
