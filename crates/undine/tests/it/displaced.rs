//! Water rises by the volume of what is dipped into it, and falls again by as much.
//!
//! Stiff strands hang from above in a tank, one in the middle of every four columns of cells, so that all of these have the same solid share α
//! from the tips of the strands on upwards. The water of a depth h₀ then has the level h with h − α(h − tip) = h₀.

use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::sync::Arc;
use undine_core::glam::{DVec3, Vec3};
use undine_core::memory::MemoryBudget;
use undine_core::mesh::{Curves, Strands};
use undine_geometry::motion::{Interpolation, Key, Motion};
use undine_geometry::{Pose, Shape};
use undine_schema::setup::{Behavior, Group};
use undine_sim::input::{Data, Geometry};
use undine_sim::offers::{FluidField, Interior};
use undine_sim::timeline::Substeps;
use undine_sim::{Simulation, Timeline};

const GRAVITY: f64 = 9.80665;
const WATER: f64 = 998.2;
/// Cells across the tank.
const ACROSS: usize = 12;
const VOXEL: f64 = 1.0 / 16.0;
const WIDTH: f64 = ACROSS as f64 * VOXEL;
/// How deep the water is to begin with [m].
const DEPTH: f64 = 8.0 * VOXEL;
/// How long strands are [m].
const LENGTH: f64 = 12.0 * VOXEL;
/// Where their tips are above the water, and in it [m].
const ABOVE: f64 = DEPTH + 2.0 * VOXEL;
const BELOW: f64 = 2.0 * VOXEL;
const STEP: f64 = 1.0 / 48.0;
/// Steps until strands are down, those that they stay there or above, and until they are up again.
const DOWN: usize = 32;
const STAY: usize = 16;
const UP: usize = 32;

fn shape(shape: Shape) -> Data {
    Data::new(Geometry::Shape(Arc::new(shape)))
}

fn cuboid(size: DVec3) -> Shape {
    let pose = Pose { translation: 0.5 * size, ..Pose::IDENTITY };
    Shape::cuboid(0.5 * size).unwrap().moved(&pose).unwrap()
}

/// Strands with their tips at a height of 0, that the scene lowers into the water and takes out again.
fn strands() -> Data {
    let (mut places, mut offsets) = (Vec::new(), vec![0]);
    let vertices = (LENGTH / VOXEL) as u32 + 1;
    for column in 0..(ACROSS / 2).pow(2) {
        let [x, z] = [column % (ACROSS / 2), column / (ACROSS / 2)].map(|n| (2 * n + 1) as f64);
        let vertex = |n| DVec3::new(x * VOXEL, LENGTH - f64::from(n) * VOXEL, z * VOXEL);
        places.extend((0..vertices).map(vertex));
        offsets.push(places.len() as u32);
    }
    let curves = Curves::new("strands", places, Strands::open(offsets).unwrap()).unwrap();
    let key = |steps: usize, height: f64| Key {
        time: steps as f64 * STEP,
        pose: Pose { translation: DVec3::new(0.0, height, 0.0), ..Pose::IDENTITY },
    };
    let stays = DOWN + STAY;
    let keys = vec![key(0, ABOVE), key(DOWN, BELOW), key(stays, BELOW), key(stays + UP, ABOVE)];
    let mut data = Data::new(Geometry::Curves(Arc::new(curves)));
    data.motion = Some(Motion::keyed(keys, Interpolation::Linear).unwrap());
    data
}

/// A tank with strands that take this share of the cells that they are in.
fn tank(share: f64, water: Behavior) -> Simulation {
    let radius = VOXEL * (4.0 * share / PI).sqrt();
    let node = |declaration, name: &str| Behavior::new(declaration).named(name).set("input", name);
    let setup = Group::default()
        .with(
            node(&undine_solid::curves::object::DECLARATION, "strands")
                .set("density", 1300.0)
                .set("radius", radius)
                .set("youngs", 1e9)
                .set("roots", "clamped"),
        )
        .with(Behavior::new(&undine_solid::curves::stretching::DECLARATION))
        .with(Behavior::new(&undine_solid::curves::bending::DECLARATION))
        .with(Behavior::new(&undine_solid::curves::twisting::DECLARATION))
        .with(water.named("water").set("input", "water").set("voxel", VOXEL))
        .with(node(&undine_actions::collider::DECLARATION, "tank"))
        .with(Behavior::new(&undine_fluid::walls::DECLARATION))
        .with(Behavior::new(&undine_fluid::pressure::DECLARATION))
        .with(Behavior::new(&undine_actions::gravity::DECLARATION))
        .with(Behavior::new(&undine_actions::coupled::buoyancy::DECLARATION));
    let inputs: BTreeMap<String, Arc<Data>> = [
        ("strands", strands()),
        ("water", shape(cuboid(DVec3::new(WIDTH, DEPTH, WIDTH)))),
        ("tank", shape(cuboid(DVec3::new(WIDTH, 2.0, WIDTH)).inverted().unwrap())),
    ]
    .into_iter()
    .map(|(name, data)| (name.to_owned(), Arc::new(data)))
    .collect();
    let timeline =
        Timeline { fps: 1.0 / STEP, substeps: Substeps::Fixed(1), ..Timeline::default() };
    let budget = MemoryBudget::unlimited();
    Simulation::new(&setup, &undine::behaviors(), timeline, Arc::new(inputs), budget).unwrap()
}

fn hybrid() -> Behavior {
    Behavior::new(&undine_liquid::hybrid::DECLARATION)
}

fn field(simulation: &Simulation) -> FluidField {
    let mut offers = simulation.world.objects.iter().map(|object| &object.offers);
    offers.find_map(|offers| offers.fluid).expect("a fluid")
}

/// The mean height at which the surface crosses columns of cells [m]; none of them may have a hole.
fn level(simulation: &Simulation) -> f64 {
    let field = field(simulation);
    let volume = &simulation.world.volumes[field.volume];
    let distance = volume.column(field.distance.unwrap()).unwrap();
    let mut columns: BTreeMap<[i32; 2], Vec<(i32, f64)>> = BTreeMap::new();
    for (slot, bucket) in volume.topology().buckets().iter().enumerate() {
        for (n, &distance) in distance.chunk(slot as u32).iter().enumerate() {
            let cell = [n >> 6, n >> 3 & 7, n & 7].map(|c| c as i32);
            let [x, y, z] = [0, 1, 2].map(|axis| 8 * bucket.coord[axis] + cell[axis]);
            let is_inside = |c: i32| (0..ACROSS as i32).contains(&c);
            if is_inside(x) && is_inside(z) && y >= 0 {
                columns.entry([x, z]).or_default().push((y, f64::from(distance)));
            }
        }
    }
    assert_eq!(columns.len(), ACROSS * ACROSS);
    let height = |(place, column): (&[i32; 2], &mut Vec<(i32, f64)>)| {
        column.sort_by_key(|cell| cell.0);
        let crossings: Vec<f64> = column
            .windows(2)
            .filter(|pair| (pair[0].1 < 0.0) != (pair[1].1 < 0.0))
            .map(|pair| f64::from(pair[0].0) + 0.5 + pair[0].1 / (pair[0].1 - pair[1].1))
            .collect();
        assert_eq!(crossings.len(), 1, "the surface at {place:?}: {crossings:?}");
        crossings[0]
    };
    VOXEL * columns.iter_mut().map(height).sum::<f64>() / (ACROSS * ACROSS) as f64
}

/// How much water lies in each layer of cells, as a part of what it would hold without strands; what lies between the middles of two layers
/// counts for both. The lowest one has all that is below its middle.
fn layers(simulation: &Simulation) -> Vec<f64> {
    let field = field(simulation);
    let carried = field.particles.expect("particles");
    let particles = &simulation.world.particles[carried.particles];
    let mut held = vec![0.0; 32];
    let mut add = |height: f64, mass: f64| {
        let from_first = (height - 0.5).max(0.0);
        let (below, part) = (from_first as usize, from_first.fract());
        held[below] += (1.0 - part) * mass;
        held[below + 1] += part * mass;
    };
    let masses = particles.column(carried.mass).unwrap();
    let slots = 0..particles.topology().local() as u32;
    let masses = slots.flat_map(|slot| masses.chunk(slot));
    for (place, mass) in particles.world_positions().unwrap().iter().zip(masses) {
        add(place.y / VOXEL, f64::from(*mass));
    }
    if let Some(Interior { parts, part }) = field.interior {
        let volume = &simulation.world.volumes[field.volume];
        let parts = volume.column(parts).unwrap();
        for (slot, bucket) in volume.topology().buckets().iter().enumerate() {
            for (n, &parts) in parts.chunk(slot as u32).iter().enumerate() {
                // What is spread all over a cell, at the middles of its halves.
                let y = f64::from(8 * bucket.coord.y + (n >> 3 & 7) as i32);
                let half = 0.5 * f64::from(parts) * part;
                add(y + 0.25, half);
                add(y + 0.75, half);
            }
        }
    }
    let full = WATER * WIDTH * WIDTH * VOXEL;
    held.iter().map(|mass| mass / full).collect()
}

/// The fastest particle of the water [m/s].
fn fastest(simulation: &Simulation) -> f64 {
    let carried = field(simulation).particles.expect("particles");
    let particles = &simulation.world.particles[carried.particles];
    let velocity = particles.column(carried.velocity).unwrap();
    let slots = 0..particles.topology().local() as u32;
    let speeds = slots.flat_map(|slot| velocity.chunk(slot)).map(|v: &Vec3| v.length());
    speeds.fold(0.0, f32::max).into()
}

fn steps(simulation: &mut Simulation, count: usize) {
    for _ in 0..count {
        simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap();
    }
}

/// Looks at water at rest: its level, whether it is as dense as the room that strands leave says, and that nothing is lost or moves.
///
/// Distances are good to a tenth of a voxel, as in any pool, and within a voxel of the surface a density that is too large by a twentieth
/// passes for chance, which is as much of a voxel by 1−α more. Layers have some 800 particles, which chance spreads by 1/√800, and what
/// is evened out is good to a twentieth. (Of cells along walls, strands seem to take an eighth more than α, since none of them is so near to
/// a wall that it is spread into it: less than 0.02 of a layer.) What pressure does not hold of particles at the surface is less than half of what gravity gives
/// them in a step.
fn look(simulation: &Simulation, tip: Option<f64>, share: f64) -> f64 {
    let wanted = match tip {
        Some(tip) => (DEPTH - share * tip) / (1.0 - share),
        None => DEPTH,
    };
    let (level, layers) = (level(simulation), layers(simulation));
    let mass: f64 = layers.iter().sum();
    let fastest = fastest(simulation);
    println!(
        "level {:.3} of {:.3} voxels, mass {mass}, {fastest:.3} m/s, layers {:.3?}",
        level / VOXEL,
        wanted / VOXEL,
        &layers[..12],
    );
    let off = (level - wanted).abs() / VOXEL;
    assert!(off < 0.1 + 0.05 / (1.0 - share), "{level} m instead of {wanted} m");
    // Strands are spread over the layer below their tips, too.
    let (from, held) = tip.map_or((1, 1.0), |tip| ((tip / VOXEL) as usize + 1, 1.0 - share));
    let to = (wanted / VOXEL) as usize - 1;
    for (n, found) in layers.iter().enumerate().take(to).skip(from) {
        assert!((found / held - 1.0).abs() < 0.08, "layer {n} holds {found} of {held}");
    }
    assert!(fastest < 0.5 * GRAVITY * STEP, "{fastest} m/s");
    mass
}

fn rises_and_falls(share: f64, water: Behavior) {
    let mut simulation = tank(share, water);
    steps(&mut simulation, 1);
    let before = look(&simulation, None, share);
    steps(&mut simulation, DOWN + STAY - 1);
    let in_water = look(&simulation, Some(BELOW), share);
    steps(&mut simulation, UP + STAY);
    let after = look(&simulation, None, share);
    // Masses are in single precision, and their halves exact.
    let most = 8.0 * f64::from(f32::EPSILON);
    assert!((in_water / before - 1.0).abs() < most && (after / before - 1.0).abs() < most);
}

#[test]
fn water_rises_by_the_volume_of_what_is_dipped_into_it() {
    rises_and_falls(0.3, hybrid());
}

#[test]
fn water_in_a_narrow_band_rises_as_much() {
    rises_and_falls(0.3, hybrid().set("band", 3_i64));
}
