//! A scene does not know where it is: moved by whole voxels, everything in it is the same, and lies at the same places of it.
//!
//! What the scene puts at places that are exact in binary, and what is only on voxels, keeps its bits. Bodies and walls that are turned are
//! in doubles of the world, so that rounding is another one 10 km away: 1.8e-12 m. In a flow that tumbles it grows as any nudge of that size
//! does, some tenfold in a frame: a cork that is nudged by it where it is has 4e-6 of its energy more or less after 5 frames, and 1.5e-4
//! after 7.

use std::path::Path;
use undine::{catalogue, prepare};
use undine_core::glam::{DQuat, DVec3, Vec3};
use undine_core::memory::MemoryBudget;
use undine_scene::Scene;
use undine_sim::{Budget, Simulation};

fn parsed(text: &str) -> Scene {
    let scene = Scene::parse(Path::new("scene.kdl"), text, &catalogue(), &[]);
    scene.unwrap_or_else(|report| panic!("{}", report.render(100)))
}

/// A scene after some frames.
fn after(scene: &Scene, frames: u32) -> Simulation {
    let simulation = prepare::simulation(scene, MemoryBudget::unlimited());
    let mut simulation = simulation.unwrap_or_else(|why| panic!("{why}"));
    for _ in 0..frames {
        simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap_or_else(|why| panic!("{why}"));
    }
    simulation
}

/// A text with all centres written as places from `by` [m].
fn moved(text: &str, by: DVec3) -> Scene {
    let mut text = text.to_owned();
    for (axis, name) in ["X", "Y", "Z"].into_iter().enumerate() {
        let begin = format!("{name}(");
        let mut parts = text.split(&begin);
        let mut made = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (number, rest) = part.split_once(')').expect("a place");
            let number: f64 = number.parse().expect("a number");
            made += &format!("{}{rest}", number + by[axis]);
        }
        text = made;
    }
    parsed(&text)
}

/// By how much scenes are moved [m]: whole voxels of all of them.
fn moves() -> Vec<DVec3> {
    if std::env::var_os("UNDINE_FULL").is_none() {
        return vec![DVec3::X, DVec3::new(0.0, -100.0, 10_000.0)];
    }
    let axes = [DVec3::X, DVec3::Y, DVec3::Z];
    let far = [1.0, 100.0, 1_000.0, 10_000.0];
    axes.into_iter().flat_map(|axis| far.map(|far| far * axis)).collect()
}

/// All spatial particles: by ids, in which Bucket and where in it, and how fast.
fn bits(simulation: &Simulation) -> Vec<(u64, [i32; 3], [u32; 6])> {
    let mut all = Vec::new();
    for (_, particles) in simulation.world.particles.iter() {
        let id = particles.column(particles.id()).unwrap();
        let velocity = particles.column(particles.handle::<Vec3>("v").unwrap()).unwrap();
        let offset = particles.column(particles.position()).unwrap();
        let topology = particles.topology();
        for slot in 0..topology.local() as u32 {
            let bucket = topology.bucket(slot).coord.to_array();
            let moving = offset.chunk(slot).iter().zip(velocity.chunk(slot));
            for (id, (at, v)) in id.chunk(slot).iter().zip(moving) {
                let bits = [at.x, at.y, at.z, v.x, v.y, v.z].map(f32::to_bits);
                all.push((*id, bucket, bits));
            }
        }
    }
    all
}

/// Where particles are in a scene that was moved [m].
fn places(simulation: &Simulation, by: DVec3) -> Vec<DVec3> {
    let stores = simulation.world.particles.iter();
    let places = stores.flat_map(|(_, particles)| particles.world_positions().unwrap());
    places.map(|at| at - by).collect()
}

/// Where points are, and how they are turned if they are bodies, in a scene that was moved [m].
fn poses(simulation: &Simulation, by: DVec3) -> Vec<(DVec3, DQuat)> {
    let mut all = Vec::new();
    for (_, points) in simulation.world.points.iter() {
        let places = points.column(points.position()).unwrap();
        let turns = points.handle::<DQuat>("orient").ok().map(|orient| points.column(orient));
        let turns = turns.map(Result::unwrap);
        let turn = |n: usize| turns.as_ref().map_or(DQuat::IDENTITY, |turns| turns[n]);
        all.extend((0..points.len()).map(|n| (places[n] - by, turn(n))));
    }
    all
}

/// What differs between a scene and the same moved: of energies, of momenta, and of angular momenta about the same place of it, as parts of what
/// there is.
fn differences(here: &Simulation, there: &Simulation, by: DVec3) -> [f64; 3] {
    let [one, other] = [here, there].map(|simulation| simulation.budget().unwrap());
    let energy = |budget: &Budget| budget.kinetic_energy + budget.elastic_energy;
    let turning = other.angular_momentum - by.cross(other.momentum);
    let scale = (2.0 * one.mass * energy(&one)).sqrt().max(1e-30);
    [
        (energy(&other) - energy(&one)).abs() / energy(&one).max(1e-30),
        other.momentum.distance(one.momentum) / scale,
        turning.distance(one.angular_momentum) / scale,
    ]
}

const TANK: &str = r#"
setup "anywhere" fps=24 frames=8 cfl=1.5 substeps=2
input "tank" {
    box size="0.3125 1 0.3125 m" centre="X(0) Y(0.5) Z(0) m"
    invert
}
collider "tank" input="tank"
gravity
"#;

const POOL: &str = r#"
input "pool" {
    box size="0.125 0.25 0.3125 m" centre="X(-0.09375) Y(0.125) Z(0) m"
}
group "water" {
    hybrid "water" input="pool" voxel="3.125 cm"
    walls against="tank"
    pressure
}
"#;

const CORK: &str = r#"
input "pool" {
    box size="0.3125 0.125 0.3125 m" centre="X(0) Y(0.0625) Z(0) m"
}
input "cork" {
    box size="0.0625 0.0625 0.0625 m"
    transform translate="X(0.0625) Y(0.1875) Z(0.03125) m" rotate="20 0 35 deg"
}
group "water" {
    hybrid "water" input="pool" voxel="3.125 cm"
    walls against="tank"
    pressure
    rigid-body "cork" input="cork" density="300 kg/m3"
    collision friction=0.4 against="tank"
}
"#;

const GRAINS: &str = r#"
input "cloud" {
    box size="0.1875 0.03125 0.1875 m" centre="X(0) Y(0.125) Z(0) m"
    scatter spacing="2 cm"
}
group "grains" {
    particles "p" input="cloud" radius="3 mm" density="2000 kg/m3"
    collision restitution=0.3 against="tank"
}
"#;

#[test]
fn water_in_a_tank_keeps_its_bits_wherever_it_is() {
    let text = format!("{TANK}{POOL}");
    let here = bits(&after(&moved(&text, DVec3::ZERO), 4));
    assert!(here.len() > 1000);
    for by in moves() {
        let there = bits(&after(&moved(&text, by), 4));
        assert_eq!(there.len(), here.len(), "{by}");
        let differ = here.iter().zip(&there).filter(|(one, other)| one != other).count();
        assert_eq!(differ, 0, "{by}: of {}", here.len());
    }
}

/// So many frames a nudge of the size of rounding takes to grow to less than 1e-4.
const CORK_FRAMES: u32 = 5;

#[test]
fn a_cork_floats_in_the_same_way_wherever_it_is() {
    let text = format!("{TANK}{CORK}");
    let here = after(&moved(&text, DVec3::ZERO), CORK_FRAMES);
    for by in moves().into_iter().chain([2048.0 * DVec3::X]) {
        let there = after(&moved(&text, by), CORK_FRAMES);
        assert_eq!(places(&there, by).len(), places(&here, DVec3::ZERO).len(), "{by}");
        let found = differences(&here, &there, by);
        assert!(found.iter().all(|off| *off < 1e-4), "{by}: {found:?}");
        let (one, other) = (poses(&here, DVec3::ZERO), poses(&there, by));
        assert_eq!(one.len(), other.len(), "boundary particles at {by}");
        for (one, other) in one.iter().zip(&other) {
            let off = one.0.distance(other.0) / 0.0625 + one.1.angle_between(other.1);
            assert!(off < 1e-4, "{by}: {one:?} {other:?}");
        }
    }
}

#[test]
fn grains_are_as_many_and_fall_in_the_same_way_wherever_they_are() {
    let text = format!("{TANK}{GRAINS}");
    let begun = places(&after(&moved(&text, DVec3::ZERO), 0), DVec3::ZERO);
    let here = after(&moved(&text, DVec3::ZERO), 6);
    let far = [DVec3::new(0.37, -2.003, 1234.5), DVec3::new(10_000.0, 0.0, 0.0)];
    for by in moves().into_iter().chain(far) {
        let there = places(&after(&moved(&text, by), 0), by);
        assert_eq!(there.len(), begun.len(), "{by}");
        let off = begun.iter().zip(&there).map(|(one, other)| one.distance(*other));
        let off = off.fold(0.0, f64::max);
        // Positions in Buckets of 80 cm are floats.
        assert!(off < 1e-7, "{by}: {off}");
        let there = after(&moved(&text, by), 6);
        let found = differences(&here, &there, by);
        assert!(found.iter().all(|off| *off < 1e-4), "{by}: {found:?}");
    }
}

/// The filter that moves inputs, as a scene would write it.
fn transform(by: DVec3) -> undine_scene::GraphNode {
    let DVec3 { x, y, z } = by;
    let text = format!(
        "setup \"a\" frames=1\ninput \"a\" {{\n box size=\"1 1 1 m\"\n transform translate=\"{x} {y} {z} m\"\n}}\n"
    );
    parsed(&text).inputs.remove(0).nodes.remove(1)
}

/// An example with every input moved that Behaviors take.
fn example(name: &str, by: DVec3) -> Scene {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let file = file.join(name).join("scene.kdl");
    let text = std::fs::read_to_string(&file).unwrap();
    let mut scene = Scene::parse(&file, &text, &catalogue(), &[]).unwrap();
    for input in &mut scene.inputs {
        // What stands at every point of another input goes with those.
        if (name, input.name.as_str()) != ("chained-boxes", "box") {
            input.nodes.push(transform(by));
        }
    }
    scene
}

#[test]
fn examples_go_in_the_same_way_wherever_they_are() {
    let full = std::env::var_os("UNDINE_FULL").is_some();
    let (names, frames): (&[&str], u32) = match full {
        false => (&["chained-boxes", "falling-drops", "tumbling-box"], 4),
        true => (
            &[
                "bouncing-balls",
                "chained-boxes",
                "curtain",
                "dam-break",
                "falling-drops",
                "floating-boxes",
                "hair-in-the-wind",
                "honey-coil",
                "paddle-wheel",
                "pouring",
                "shaking-head",
                "smoke-plume",
                "thrown-balls",
                "tumbling-box",
                "wet-hair",
            ],
            8,
        ),
    };
    for name in names {
        let here = after(&example(name, DVec3::ZERO), frames);
        for by in moves() {
            let there = after(&example(name, by), frames);
            assert_eq!(places(&there, by).len(), places(&here, DVec3::ZERO).len(), "{name} {by}");
            assert_eq!(poses(&there, by).len(), poses(&here, DVec3::ZERO).len(), "{name} {by}");
            let found = differences(&here, &there, by);
            assert!(found.iter().all(|off| *off < 1e-4), "{name} at {by}: {found:?}");
        }
    }
}
