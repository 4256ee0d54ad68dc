//! Bodies that swim in a liquid: a box that floats, and one that sinks.

use std::collections::BTreeMap;
use std::sync::Arc;
use undine_core::glam::{DQuat, DVec3};
use undine_core::memory::MemoryBudget;
use undine_geometry::{Pose, Shape};
use undine_schema::setup::{Behavior, Group};
use undine_sim::input::{Data, Geometry};
use undine_sim::timeline::Substeps;
use undine_sim::{Simulation, Timeline};

const GRAVITY: f64 = 9.80665;
const WATER: f64 = 998.2;
const VOXEL: f64 = 1.0 / 16.0;
/// How deep the tank is filled [m].
const DEPTH: f64 = 0.5;
/// The edges of the box [m].
const BOX: DVec3 = DVec3::new(0.4, 0.2, 0.4);

fn cuboid(min: DVec3, max: DVec3) -> Shape {
    let pose = Pose { translation: 0.5 * (min + max), ..Pose::IDENTITY };
    Shape::cuboid(0.5 * (max - min)).unwrap().moved(&pose).unwrap()
}

/// A box of a density [kg/m³] in a tank of water, its middle at a height [m].
fn scene(density: f64, height: f64, substeps: u32) -> Simulation {
    let middle = DVec3::new(0.5, height, 0.5);
    let float = cuboid(middle - 0.5 * BOX, middle + 0.5 * BOX);
    let tank = cuboid(DVec3::ZERO, DVec3::new(1.0, 1.5, 1.0));
    let water = cuboid(DVec3::ZERO, DVec3::new(1.0, DEPTH, 1.0)).minus(float.clone(), 0.0);
    let inputs: BTreeMap<String, Arc<Data>> =
        [("water", water.unwrap()), ("tank", tank.inverted().unwrap()), ("float", float)]
            .into_iter()
            .map(|(name, shape)| {
                (name.to_owned(), Arc::new(Data::new(Geometry::Shape(Arc::new(shape)))))
            })
            .collect();
    let node = |declaration, name: &str| Behavior::new(declaration).named(name).set("input", name);
    let setup = Group::default()
        .with(node(&undine_liquid::hybrid::DECLARATION, "water").set("voxel", VOXEL))
        .with(node(&undine_solid::rigid::body::DECLARATION, "float").set("density", density))
        .with(node(&undine_actions::collider::DECLARATION, "tank"))
        .with(Behavior::new(&undine_fluid::walls::DECLARATION))
        .with(Behavior::new(&undine_fluid::pressure::DECLARATION))
        .with(Behavior::new(&undine_actions::gravity::DECLARATION));
    let kinds = [
        undine_liquid::BEHAVIORS,
        undine_fluid::BEHAVIORS,
        undine_solid::BEHAVIORS,
        undine_actions::BEHAVIORS,
    ]
    .concat();
    let timeline = Timeline { substeps: Substeps::Fixed(substeps), ..Timeline::default() };
    let budget = MemoryBudget::unlimited();
    Simulation::new(&setup, &kinds, timeline, Arc::new(inputs), budget).unwrap()
}

fn height(simulation: &Simulation) -> f64 {
    let (_, bodies) = simulation.world.points.iter().next().unwrap();
    bodies.column(bodies.position()).unwrap()[0].y
}

fn lean(simulation: &Simulation) -> f64 {
    let (_, bodies) = simulation.world.points.iter().next().unwrap();
    let turn = bodies.column(bodies.handle::<DQuat>("orient").unwrap()).unwrap()[0];
    (turn * DVec3::Y).dot(DVec3::Y).clamp(-1.0, 1.0).acos()
}

/// A box of half the density of water is half under it. Pushed a little, it bobs: by Archimedes alone with the period 2π√(d/g) for a
/// draught d, and more slowly by what the water around it weighs.
#[test]
fn a_box_floats_at_its_draught_and_bobs() {
    let density = 0.5 * WATER;
    let draught = 0.5 * BOX.y;
    // Released too high by this much; when it comes down, the level around it rises.
    let high = 0.03;
    let part = BOX.x * BOX.z;
    let rest = DEPTH + part * high + 0.5 * BOX.y - draught;
    let mut simulation = scene(density, DEPTH + 0.5 * BOX.y - draught + high, 2);
    let mut heights = vec![height(&simulation)];
    for _ in 0..60 {
        simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap();
        heights.push(height(&simulation));
    }
    let mean = heights[20..].iter().sum::<f64>() / (heights.len() - 20) as f64;
    println!(
        "draught: middle at {mean:.4} m, wanted {rest:.4} m; leans by {:.4}",
        lean(&simulation)
    );
    assert!((mean - rest).abs() < 0.25 * VOXEL, "{mean} not {rest}");
    assert!(lean(&simulation) < 0.05);
    let zeros: Vec<f64> = heights
        .windows(2)
        .enumerate()
        .filter(|(_, pair)| (pair[0] - mean) * (pair[1] - mean) < 0.0)
        .map(|(n, pair)| (n as f64 + (pair[0] - mean) / (pair[0] - pair[1])) / 24.0)
        .collect();
    let period = 2.0 * (zeros[2] - zeros[0]) / 2.0;
    let dry = std::f64::consts::TAU * (draught / GRAVITY).sqrt();
    println!("bobbing: {period:.3} s; without added mass {dry:.3} s");
    assert!((1.0..1.7).contains(&(period / dry)), "{period} of {dry}");
}

#[test]
fn a_heavy_box_sinks_and_a_light_one_comes_up() {
    let mut sinks = scene(2.0 * WATER, 0.4, 2);
    let mut rises = scene(0.2 * WATER, 0.25, 2);
    let start = [height(&sinks), height(&rises)];
    for _ in 0..6 {
        sinks.advance_frame(&mut (), |_, _| Ok(())).unwrap();
        rises.advance_frame(&mut (), |_, _| Ok(())).unwrap();
    }
    let moved = [height(&sinks) - start[0], height(&rises) - start[1]];
    println!("sank by {:.3} m, rose by {:.3} m", moved[0], moved[1]);
    assert!(moved[0] < -0.02 && moved[1] > 0.05, "{moved:?}");
}
