//! Coupled buoyancy against closed forms: balls all through a fluid, which make room for each other as the equations say.
//!
//! One ball in the middle of every cell gives every face between cells the same solid share α. In a tank, where nothing flows on balance,
//! (1−α)u_f + αu_s = 0 at each of them by itself. From rest and without drag, u_f' = −g + f/ρ_f and u_s' = −g + f/ρ_s, so that
//!
//! ```text
//! f = g / ((1−α)/ρ_f + α/ρ_s)    with compliance: pressure knows that balls give way
//! f = g ρ_f / (1−α)              without: balls that fall freely are walls to it
//! f = g ρ_f                      where the fluid does not notice them
//! ```

use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::sync::Arc;
use undine_core::glam::{DVec3, Vec3};
use undine_core::memory::MemoryBudget;
use undine_core::mesh::{Curves, Strands};
use undine_geometry::{Pose, Shape};
use undine_schema::setup::{Behavior, Group};
use undine_sim::input::{Data, Geometry, PointCloud};
use undine_sim::offers::Material;
use undine_sim::timeline::Substeps;
use undine_sim::{Simulation, Timeline};

const GRAVITY: f64 = 9.80665;
const WATER: f64 = 998.2;
const AIR: f64 = 1.204;
const VOXEL: f64 = 1.0 / 8.0;
const STEP: f64 = 1.0 / 96.0;

fn cuboid(min: DVec3, max: DVec3) -> Data {
    let pose = Pose { translation: 0.5 * (min + max), ..Pose::IDENTITY };
    shape(Shape::cuboid(0.5 * (max - min)).unwrap().moved(&pose).unwrap())
}

fn shape(shape: Shape) -> Data {
    Data::new(Geometry::Shape(Arc::new(shape)))
}

/// Balls of one radius [m] and density [kg/m³] at these places [m].
fn balls(places: Vec<DVec3>, radius: f64, density: f64) -> Data {
    let count = places.len();
    let mass = density * 4.0 / 3.0 * PI * radius.powi(3);
    Data::new(Geometry::Points(PointCloud {
        positions: places,
        numbers: BTreeMap::from([
            ("mass".to_owned(), vec![mass; count]),
            ("pscale".to_owned(), vec![radius; count]),
        ]),
        ..PointCloud::default()
    }))
}

fn node(declaration: &'static undine_schema::Declaration, name: &str) -> Behavior {
    Behavior::new(declaration).named(name).set("input", name)
}

fn buoyancy() -> Behavior {
    Behavior::new(&undine_actions::coupled::buoyancy::DECLARATION)
}

fn drag() -> Behavior {
    Behavior::new(&undine_actions::coupled::drag::DECLARATION)
}

fn particles() -> Behavior {
    node(&undine_particles::particles::DECLARATION, "balls")
}

fn simulation(setup: Group, inputs: Vec<(&str, Data)>) -> Simulation {
    let pressure = Behavior::new(&undine_fluid::pressure::DECLARATION).set("tolerance", 1e-8);
    let setup = setup.with(pressure).with(Behavior::new(&undine_actions::gravity::DECLARATION));
    let inputs: BTreeMap<String, Arc<Data>> =
        inputs.into_iter().map(|(name, data)| (name.to_owned(), Arc::new(data))).collect();
    let timeline =
        Timeline { fps: 1.0 / STEP, substeps: Substeps::Fixed(1), ..Timeline::default() };
    let budget = MemoryBudget::unlimited();
    Simulation::new(&setup, &undine::behaviors(), timeline, Arc::new(inputs), budget).unwrap()
}

/// A tank of 1 m that is filled 1 m deep with water.
fn tank(solids: Group, inputs: Vec<(&str, Data)>) -> Simulation {
    let walls = Shape::cuboid(DVec3::new(0.5, 0.75, 0.5)).unwrap();
    let pose = Pose { translation: DVec3::new(0.5, 0.75, 0.5), ..Pose::IDENTITY };
    let walls = walls.moved(&pose).unwrap().inverted().unwrap();
    let setup = solids
        .with(node(&undine_liquid::hybrid::DECLARATION, "water").set("voxel", VOXEL))
        .with(node(&undine_actions::collider::DECLARATION, "tank"))
        .with(Behavior::new(&undine_fluid::walls::DECLARATION));
    let more = [("water", cuboid(DVec3::ZERO, DVec3::ONE)), ("tank", shape(walls))];
    simulation(setup, inputs.into_iter().chain(more).collect())
}

fn steps(simulation: &mut Simulation, count: usize) {
    for _ in 0..count {
        simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap();
    }
}

/// The middles of the cells of the water [m].
fn middles() -> Vec<DVec3> {
    let cell = |n: usize| DVec3::new((n % 8) as f64, (n / 64) as f64, (n / 8 % 8) as f64);
    (0..512).map(|n| VOXEL * (cell(n) + 0.5)).collect()
}

/// Where particles of an Object are [m] and how fast [m/s].
fn look(simulation: &Simulation, path: &str) -> Vec<(DVec3, DVec3)> {
    let world = &simulation.world;
    let object = world.objects.iter().find(|object| object.path == path).expect("an Object");
    let particles = match (object.offers.material, object.offers.fluid) {
        (Some(Material::Spatial(on)), _) => on.particles,
        (_, Some(fluid)) => fluid.particles.expect("particles").particles,
        _ => panic!("{path} has no particles"),
    };
    let particles = &world.particles[particles];
    let places = particles.world_positions().unwrap();
    let velocity = particles.column(particles.handle::<Vec3>("v").unwrap()).unwrap();
    let slots = 0..particles.topology().local() as u32;
    let velocities = slots.flat_map(|slot| velocity.chunk(slot)).map(|v| v.as_dvec3());
    places.into_iter().zip(velocities).collect()
}

/// The mean velocity of those that are well inside of the water [m/s]: at its floor and its surface faces are missing.
fn inside(simulation: &Simulation, path: &str) -> DVec3 {
    let all = look(simulation, path);
    let inside: Vec<DVec3> =
        all.iter().filter(|(at, _)| at.y > 0.2 && at.y < 0.8).map(|(_, v)| *v).collect();
    assert!(inside.len() >= 256);
    inside.iter().sum::<DVec3>() / inside.len() as f64
}

/// The radius of a ball that is the share of a cell [m].
fn radius(share: f64) -> f64 {
    (share * VOXEL.powi(3) / (4.0 / 3.0 * PI)).cbrt()
}

/// In the first step balls learn what carries them after it, and in the second from the first: both as the equations say. Particles of water lie
/// unevenly, and where a face has less than 0.7 of its share of them, what is there counts as partly dry: a hundredth of g is allowed for it,
/// while the four ways differ by a third of g at the least.
#[test]
fn a_suspension_begins_to_move_as_its_equations_say() {
    let (share, density) = (0.2, 500.0);
    let mixed = 1.0 / ((1.0 - share) / WATER + share / density);
    for (direction, compliance, carries) in [
        ("both", true, mixed),
        ("both", false, WATER / (1.0 - share)),
        ("to-solids", true, WATER),
        ("to-fluids", true, 0.0),
    ] {
        let balls = balls(middles(), radius(share), density);
        let coupling = buoyancy().set("direction", direction).set("compliance", compliance);
        let mut simulation =
            tank(Group::default().with(particles()).with(coupling), vec![("balls", balls)]);
        let wanted = GRAVITY * (carries / density - 1.0);
        // What pressure takes balls to do.
        let taken = match (direction, compliance) {
            ("to-solids", _) => 0.0,
            ("both", true) => wanted,
            _ => -GRAVITY,
        };
        let of_water = -share / (1.0 - share) * taken;
        for step in 1..=2 {
            steps(&mut simulation, 1);
            let found = ["balls", "water"]
                .map(|path| inside(&simulation, path).y / (f64::from(step) * STEP));
            println!("{direction} {compliance} {step}: {found:?} {wanted} {of_water}");
            // Without compliance, pressure finds in the second step what balls did with what they felt in the first.
            if step == 1 || compliance {
                let off = [found[0] - wanted, found[1] - of_water].map(|off| off.abs() / GRAVITY);
                assert!(off[0] < 0.01 && off[1] < 0.01, "{direction} {step}: {found:?} {off:?}");
            }
        }
    }
}

/// A strand that floats free in the water, as dense as it, ten times as dense, or as dense but not carried.
fn strand(density: f64, is_carried: bool) -> Simulation {
    let places = (0..=10).map(|n| DVec3::new(0.3 + 0.04 * f64::from(n), 0.6, 0.45)).collect();
    let curves = Curves::new("strand", places, Strands::open(vec![0, 11]).unwrap()).unwrap();
    let solids = Group::default()
        .with(
            node(&undine_solid::curves::object::DECLARATION, "strand")
                .set("density", density)
                .set("radius", 2e-3)
                .set("youngs", 1e7),
        )
        .with(Behavior::new(&undine_solid::curves::stretching::DECLARATION))
        .with(Behavior::new(&undine_solid::curves::bending::DECLARATION))
        .with(Behavior::new(&undine_solid::curves::twisting::DECLARATION))
        .with(drag());
    let solids = if is_carried { solids.with(buoyancy()) } else { solids };
    tank(solids, vec![("strand", Data::new(Geometry::Curves(Arc::new(curves))))])
}

/// The mean height of a strand [m].
fn height(simulation: &Simulation) -> f64 {
    let (_, points) = simulation.world.points.iter().next().unwrap();
    let places = points.column(points.position()).unwrap();
    places.iter().map(|at| at.y).sum::<f64>() / places.len() as f64
}

/// A strand of the density of water hangs in it. In its first step it does not know the water yet, and falls by g Δt² = 1.1 mm; drag takes
/// the speed g Δt = 0.1 m/s away over some radii more. From then on nothing but what uneven particles of water miss of its weight moves it:
/// a hundredth of that, whose drag, in proportion to the square of speed, is reached at a tenth of the speed that all of it sinks with.
#[test]
fn a_strand_of_the_density_of_water_hangs_still_in_it() {
    let drift = |density: f64, is_carried: bool| {
        let mut simulation = strand(density, is_carried);
        let start = height(&simulation);
        steps(&mut simulation, 24);
        let settled = height(&simulation);
        steps(&mut simulation, 24);
        [settled - start, height(&simulation) - settled]
    };
    let (hangs, sinks, falls) = (drift(WATER, true), drift(2.0 * WATER, true), drift(WATER, false));
    println!("{hangs:?} {sinks:?} {falls:?}");
    assert!(hangs[0].abs() < 0.015, "{hangs:?}");
    assert!(hangs[1].abs() < 0.1 * falls[1].abs(), "{hangs:?} {falls:?}");
    assert!(sinks[1] < -0.05 && falls[1] < -0.05, "{sinks:?} {falls:?}");
}

/// Air carries as water does, though its own weight is not in its pressure: a ball of a third of its density goes up twice as fast as things
/// fall, and one of twice its density down half as fast. A ball takes 4e-4 of the cells around it, which is how far it moves the air.
#[test]
fn air_carries_what_is_lighter_than_it() {
    for density in [AIR / 3.0, 2.0 * AIR] {
        let room = cuboid(DVec3::ZERO, DVec3::splat(1.5));
        let balls = balls(vec![DVec3::splat(0.75)], 6e-3, density);
        let air = Behavior::new(&undine_gas::air::DECLARATION)
            .named("air")
            .set("input", "room")
            .set("voxel", VOXEL)
            .set("density", AIR);
        let setup = Group::default().with(air).with(particles()).with(buoyancy());
        let mut simulation = simulation(setup, vec![("room", room), ("balls", balls)]);
        let wanted = GRAVITY * (AIR / density - 1.0);
        for step in 1..=6 {
            steps(&mut simulation, 1);
            let [(_, velocity)] = look(&simulation, "balls")[..] else { panic!("one ball") };
            let found = velocity.y / (f64::from(step) * STEP);
            println!("{density} {step}: {found} {wanted}");
            assert!((found - wanted).abs() < 2e-3 * GRAVITY, "{density}: {found} {wanted}");
        }
    }
}

/// Heavy dust in a tank whose water cannot go with it sinks as fast as drag lets each ball by itself, also where all the dust in a cell could
/// bring the water in it to its own velocity within a step (Δt ΣK/m = 2). In balance with Stokes' drag, K (u_s − u_f) = (ρ_s − ρ_f) V g, but for
/// the part α of it, and (1−α)u_f + αu_s = 0. What the first step does not know of pressure is gone by (2/3)ⁿ after n of them.
/// Particles of water lie unevenly, and a face with less than its share of them drags that much less: a tenth is allowed for it. Without
/// foresight dust would be three times as fast.
#[test]
fn dust_sinks_as_its_drag_says_however_much_the_water_is_held() {
    let (share, density) = (0.01, 8.0 * WATER);
    let radius = radius(share);
    for ratio in [0.02, 2.0] {
        let resistance = ratio * WATER * VOXEL.powi(3) / STEP;
        let viscosity = resistance / (6.0 * PI * radius);
        let balls = balls(middles(), radius, density);
        let solids = Group::default()
            .with(particles())
            .with(drag().set("law", "stokes").set("fluid-viscosity", viscosity))
            .with(buoyancy());
        let mut simulation = tank(solids, vec![("balls", balls)]);
        let terminal =
            -(1.0 - share) * (density - WATER) * share * VOXEL.powi(3) * GRAVITY / resistance;
        let mut fastest = 0.0_f64;
        for _ in 0..24 {
            steps(&mut simulation, 1);
            fastest = fastest.max(inside(&simulation, "balls").length());
        }
        let found = inside(&simulation, "balls").y;
        println!("{ratio}: {found} {terminal} m/s, {fastest} m/s at most");
        assert!((found / terminal - 1.0).abs() < 0.1, "{ratio}: {found} {terminal}");
        // Nothing is known of pressure in the first step, and slip is off by no more than all that it does there: g Δt.
        assert!(fastest < terminal.abs() + GRAVITY * STEP, "{ratio}: {fastest}");
    }
}
