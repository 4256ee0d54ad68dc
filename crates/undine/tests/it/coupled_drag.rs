//! Drag between a simulated fluid and what is in it, both ways.

use std::collections::BTreeMap;
use std::sync::Arc;
use undine_core::glam::{DVec3, Vec3};
use undine_core::memory::MemoryBudget;
use undine_geometry::{Pose, Shape};
use undine_schema::setup::{Behavior, Group};
use undine_sim::input::{Data, Geometry, PointCloud};
use undine_sim::newton::NewtonSettings;
use undine_sim::registry::digests;
use undine_sim::timeline::Substeps;
use undine_sim::{Budget, Simulation, Timeline};

const VOXEL: f64 = 1.0 / 8.0;
const WATER: f64 = 998.2;

/// Balls of this radius [m] and density [kg/m³] in the middle of a cube of still water of 2 m, all at this velocity [m/s].
struct Scene {
    balls: usize,
    radius: f64,
    density: f64,
    velocity: DVec3,
    substeps: u32,
    iterations: usize,
    direction: &'static str,
    law: &'static str,
    viscosity: f64,
    with_pressure: bool,
}

impl Scene {
    fn simulation(&self) -> Simulation {
        let pose = Pose { translation: DVec3::splat(1.0), ..Pose::IDENTITY };
        let water = Shape::cuboid(DVec3::splat(1.0)).unwrap().moved(&pose).unwrap();
        let mass = self.density * 4.0 / 3.0 * std::f64::consts::PI * self.radius.powi(3);
        let place = |n: usize| {
            let at = |k: usize| ((n * k) % 97) as f64 / 97.0;
            DVec3::splat(1.0) + 0.3 * (DVec3::new(at(31), at(53), at(71)) - 0.5)
        };
        let cloud = PointCloud {
            positions: (0..self.balls).map(place).collect(),
            numbers: BTreeMap::from([
                ("mass".to_owned(), vec![mass; self.balls]),
                ("pscale".to_owned(), vec![self.radius; self.balls]),
            ]),
            vectors: BTreeMap::from([("v".to_owned(), vec![self.velocity; self.balls])]),
            ..PointCloud::default()
        };
        let inputs: BTreeMap<String, Arc<Data>> = BTreeMap::from([
            ("water".to_owned(), Arc::new(Data::new(Geometry::Shape(Arc::new(water))))),
            ("balls".to_owned(), Arc::new(Data::new(Geometry::Points(cloud)))),
        ]);
        let node =
            |declaration, name: &str| Behavior::new(declaration).named(name).set("input", name);
        let drag = Behavior::new(&undine_actions::coupled::drag::DECLARATION)
            .set("direction", self.direction)
            .set("law", self.law)
            .set("fluid-viscosity", self.viscosity);
        let mut setup = Group::default()
            .with(node(&undine_liquid::hybrid::DECLARATION, "water").set("voxel", VOXEL))
            .with(node(&undine_particles::particles::DECLARATION, "balls"))
            .with(drag);
        if self.with_pressure {
            setup = setup.with(Behavior::new(&undine_fluid::pressure::DECLARATION));
        }
        let kinds = [
            undine_liquid::BEHAVIORS,
            undine_fluid::BEHAVIORS,
            undine_particles::BEHAVIORS,
            undine_actions::BEHAVIORS,
        ]
        .concat();
        let timeline = Timeline {
            substeps: Substeps::Fixed(self.substeps),
            newton: NewtonSettings {
                iterations: self.iterations,
                tolerance: 0.0,
                ..NewtonSettings::default()
            },
            ..Timeline::default()
        };
        let budget = MemoryBudget::unlimited();
        Simulation::new(&setup, &kinds, timeline, Arc::new(inputs), budget).unwrap()
    }
}

const PLAIN: Scene = Scene {
    balls: 40,
    radius: 5e-3,
    density: 2500.0,
    velocity: DVec3::new(2.0, -0.5, 1.0),
    substeps: 2,
    iterations: 1,
    direction: "both",
    law: "schiller-naumann",
    viscosity: 1.002e-3,
    with_pressure: false,
};

fn frame(simulation: &mut Simulation) {
    simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap();
}

/// Mass [kg] and momentum [kg m/s] of the water and of the balls.
fn budgets(simulation: &Simulation) -> [Budget; 2] {
    let (_, domain) = simulation.world.domains.iter().next().unwrap();
    let mut of_stores = simulation.world.particles.iter().map(|(_, particles)| {
        let (velocity, mass) = (particles.handle("v").unwrap(), particles.handle("mass").unwrap());
        Budget::of_particles(domain, particles, velocity, mass).unwrap()
    });
    [of_stores.next().unwrap(), of_stores.next().unwrap()]
}

fn mean_velocity(simulation: &Simulation) -> DVec3 {
    let [_, balls] = budgets(simulation);
    balls.momentum / balls.mass
}

/// Before projection, all that balls lose goes to the water.
#[test]
fn what_balls_lose_in_momentum_the_water_gains() {
    let mut simulation = PLAIN.simulation();
    let [_, before] = budgets(&simulation);
    for _ in 0..4 {
        frame(&mut simulation);
        let [water, balls] = budgets(&simulation);
        let lost = before.momentum - balls.momentum;
        assert!(lost.length() > 0.02 * before.momentum.length(), "{lost}");
        let off = (water.momentum - lost).length() / lost.length();
        assert!(off < 1e-5, "{lost} {} {off:e}", water.momentum);
    }
}

/// A single ball in much water: m v̇ = −k(|v|) v, integrated finely elsewhere.
#[test]
fn a_ball_slows_down_as_the_law_says() {
    use undine_actions::drag::{Body, Law, Medium};
    let scene = Scene { balls: 1, substeps: 8, with_pressure: true, ..PLAIN };
    let mut simulation = scene.simulation();
    for _ in 0..6 {
        frame(&mut simulation);
    }
    let found = mean_velocity(&simulation).length();
    let water = Medium::new(WATER, 1.002e-3).unwrap();
    let mass = scene.density * 4.0 / 3.0 * std::f64::consts::PI * scene.radius.powi(3);
    let body = Body { radius: scene.radius, mass };
    let (mut speed, steps) = (scene.velocity.length(), 100_000);
    for _ in 0..steps {
        let k = Law::SchillerNaumann.resistance(&water, &body, speed).coefficient;
        speed -= 0.25 / f64::from(steps) * k * speed / mass;
    }
    // The water that it drags along slows it down a little less, and backward Euler is of first order.
    assert!((found / speed - 1.0).abs() < 0.05, "{found} {speed}");
}

/// However strong drag is and however long the step, balls and water never pass their common velocity.
#[test]
fn dust_and_water_come_to_one_velocity_and_never_pass_it() {
    let scene = Scene { balls: 2000, radius: 3e-3, density: 8000.0, substeps: 1, ..PLAIN };
    let mut simulation = scene.simulation();
    let first = scene.velocity;
    let mut last = first.length();
    for _ in 0..6 {
        frame(&mut simulation);
        let velocity = mean_velocity(&simulation);
        let along = velocity.dot(first.normalize());
        assert!(along > 0.0 && along < last * (1.0 + 1e-6), "{along} after {last}");
        last = along;
        let (_, particles) = simulation.world.particles.iter().next().unwrap();
        let velocities = particles.column(particles.handle::<Vec3>("v").unwrap()).unwrap();
        for slot in 0..particles.topology().local() as u32 {
            for v in velocities.chunk(slot) {
                assert!(v.length() < 1.01 * first.length() as f32, "{v}");
            }
        }
    }
}

/// Where drag is linear (Stokes) and nothing else acts, one iteration says it all, and more of them the same: what the water took up in one
/// is not there when the next begins. In water as viscous as honey, drag brings both to one velocity within the step.
#[test]
fn more_iterations_change_nothing_of_linear_drag() {
    let dust =
        Scene { balls: 2000, radius: 3e-3, density: 8000.0, substeps: 1, viscosity: 10.0, ..PLAIN };
    let ended = |iterations| {
        let mut simulation = Scene { law: "stokes", iterations, ..dust }.simulation();
        frame(&mut simulation);
        mean_velocity(&simulation)
    };
    let (one, five) = (ended(1), ended(5));
    let slowed = 1.0 - one.length() / dust.velocity.length();
    assert!(slowed > 0.1, "{slowed}");
    // Single precision, a few times.
    assert!((five - one).length() < 1e-5 * one.length(), "{one} {five}");
}

#[test]
fn one_way_drag_leaves_the_other_side_as_it_is() {
    let mut to_solids = Scene { direction: "to-solids", ..PLAIN }.simulation();
    frame(&mut to_solids);
    let [water, balls] = budgets(&to_solids);
    assert!(water.momentum.length() < 1e-6 * balls.momentum.length());
    assert!(mean_velocity(&to_solids).length() < 0.9 * PLAIN.velocity.length());

    let mut to_fluids = Scene { direction: "to-fluids", ..PLAIN }.simulation();
    frame(&mut to_fluids);
    let [water, _] = budgets(&to_fluids);
    assert!((mean_velocity(&to_fluids) - PLAIN.velocity).length() < 1e-5);
    assert!(water.momentum.dot(PLAIN.velocity) > 0.0);
}

#[test]
fn the_bits_do_not_depend_on_threads() {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut simulation = Scene { with_pressure: true, ..PLAIN }.simulation();
            for _ in 0..2 {
                frame(&mut simulation);
            }
            digests(&simulation.world).unwrap()
        })
    };
    assert_eq!(run(1), run(2));
}

/// Balls in the middles of all cells of still air give each face as much as each of them takes: m_s (v − v₀) = −Δt K(e) e and m (u − u₀) = Δt K(e) e, with the slip
/// e = v − u between both at the end of the step. So (e₀ − e)/(1/m_s + 1/m) = Δt K(e) e, which bisection solves, with drag by the square of speed, two thousand
/// times as strong as in nature. With K of the slip before the air answers, a fifth too much would be exchanged.
#[test]
fn a_crowd_and_its_air_end_a_step_with_the_drag_between_both() {
    const AIR: f64 = 1.204;
    let (radius, density, strength, step) = (5e-3, 7600.0, 2000.0, 1.0 / 24.0);
    let velocity = DVec3::new(2.0, -0.5, 1.0);
    let mass = density * 4.0 / 3.0 * std::f64::consts::PI * f64::powi(radius, 3);
    let cell = |n: usize| DVec3::new((n % 16) as f64, (n / 256) as f64, (n / 16 % 16) as f64);
    let cloud = PointCloud {
        positions: (0..4096).map(|n| VOXEL * (cell(n) + 0.5)).collect(),
        numbers: BTreeMap::from([
            ("mass".to_owned(), vec![mass; 4096]),
            ("pscale".to_owned(), vec![radius; 4096]),
        ]),
        vectors: BTreeMap::from([("v".to_owned(), vec![velocity; 4096])]),
        ..PointCloud::default()
    };
    let pose = Pose { translation: DVec3::splat(1.0), ..Pose::IDENTITY };
    let room = Shape::cuboid(DVec3::splat(1.0)).unwrap().moved(&pose).unwrap();
    let inputs: BTreeMap<String, Arc<Data>> = BTreeMap::from([
        ("air".to_owned(), Arc::new(Data::new(Geometry::Shape(Arc::new(room))))),
        ("balls".to_owned(), Arc::new(Data::new(Geometry::Points(cloud)))),
    ]);
    let node = |declaration, name: &str| Behavior::new(declaration).named(name).set("input", name);
    let air = node(&undine_gas::air::DECLARATION, "air").set("voxel", VOXEL).set("density", AIR);
    let drag = Behavior::new(&undine_actions::coupled::drag::DECLARATION)
        .set("law", "newton")
        .set("coefficient", 0.44)
        .set("strength", strength);
    let setup = Group::default()
        .with(air)
        .with(node(&undine_particles::particles::DECLARATION, "balls"))
        .with(drag);
    let timeline = Timeline {
        fps: 1.0 / step,
        substeps: Substeps::Fixed(1),
        newton: NewtonSettings { iterations: 8, tolerance: 0.0, ..NewtonSettings::default() },
        ..Timeline::default()
    };
    let budget = MemoryBudget::unlimited();
    let kinds = undine::behaviors();
    let mut simulation =
        Simulation::new(&setup, &kinds, timeline, Arc::new(inputs), budget).unwrap();
    frame(&mut simulation);

    let resistance = |speed: f64| {
        strength * 0.5 * AIR * 0.44 * std::f64::consts::PI * f64::powi(radius, 2) * speed
    };
    let (start, air) = (velocity.length(), AIR * VOXEL.powi(3));
    let (mut low, mut high) = (0.0, start);
    for _ in 0..100 {
        let slip: f64 = 0.5 * (low + high);
        let lost = step * resistance(slip) * slip;
        *(if lost * (1.0 / mass + 1.0 / air) > start - slip { &mut high } else { &mut low }) = slip;
    }
    let wanted = velocity * (1.0 - step * resistance(low) * low / (mass * start));
    let (_, balls) = simulation.world.particles.iter().next().unwrap();
    let column = balls.column(balls.handle::<undine_core::glam::Vec3>("v").unwrap()).unwrap();
    let places = balls.world_positions().unwrap();
    let slots = 0..balls.topology().local() as u32;
    let velocities = slots.flat_map(|slot| column.chunk(slot)).map(|v| v.as_dvec3());
    let is_inside = |at: &DVec3| (*at - 1.0).abs().max_element() < 0.7;
    let inside: Vec<DVec3> = places
        .into_iter()
        .zip(velocities)
        .filter(|(at, _)| is_inside(at))
        .map(|(_, v)| v)
        .collect();
    assert!(inside.len() > 500);
    let off = inside.iter().fold(0.0_f64, |most, v| most.max(v.distance(wanted)));
    println!("{} for {wanted}, off by {off}; slip {start} to {low}", inside[0]);
    assert!(off < 1e-5 * start, "off by {off}: {} for {wanted}", inside[0]);
}
