//! Rigid bodies in a fluid that does not flow around them: each is a ball of its volume and mass, dragged along and carried.

use crate::exchange::{AIR, Exchanged, exchanged, shared};
use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::sync::Arc;
use undine_core::glam::DVec3;
use undine_core::memory::MemoryBudget;
use undine_geometry::{Pose, Shape};
use undine_schema::setup::{Behavior, Group};
use undine_schema::{Declaration, Kind};
use undine_sim::input::{Data, Geometry};
use undine_sim::offers::{Material, ObjectId};
use undine_sim::timeline::Substeps;
use undine_sim::{BehaviorKind, Ingest, Operator, Result, Simulation, Tasks, Timeline};

fn data(shape: Shape, at: DVec3) -> Arc<Data> {
    let pose = Pose { translation: at, ..Pose::IDENTITY };
    Arc::new(Data::new(Geometry::Shape(Arc::new(shape.moved(&pose).unwrap()))))
}

fn cuboid(min: DVec3, max: DVec3) -> Arc<Data> {
    data(Shape::cuboid(0.5 * (max - min)).unwrap(), 0.5 * (min + max))
}

fn ball(radius: f64, at: DVec3) -> Arc<Data> {
    data(Shape::sphere(radius).unwrap(), at)
}

fn inputs<const N: usize>(all: [(&str, Arc<Data>); N]) -> BTreeMap<String, Arc<Data>> {
    all.into_iter().map(|(name, data)| (name.to_owned(), data)).collect()
}

fn node(declaration: &'static Declaration, name: &str) -> Behavior {
    Behavior::new(declaration).named(name).set("input", name)
}

/// How fast the body called `ball` is [m/s].
fn velocity(simulation: &Simulation) -> DVec3 {
    let world = &simulation.world;
    let object = world.objects.iter().find(|object| object.path == "ball").unwrap();
    let Some(Material::Topological(on)) = object.offers.material else { panic!("no body") };
    world.points[on.points].column(on.velocity).unwrap()[0]
}

const RADIUS: f64 = 2.5e-3;
const DENSITY: f64 = 20.0;
const VOXEL: f64 = 0.02;
const STEP: f64 = 1.0 / 24.0;
const WIND: DVec3 = DVec3::new(0.25, 0.125, 0.0);
const VELOCITY: DVec3 = DVec3::new(-1.5, 0.375, 0.5);
const PLACE: DVec3 = DVec3::new(0.013, 0.004, -0.017);

/// A light ball that flies through a wind, with no pressure and nothing else that acts; what is exchanged in its first step. What the Behavior
/// `before` does to it comes before drag looks at what there is.
fn flying(
    iterations: usize,
    before: Option<&'static Declaration>,
    kinds: &[BehaviorKind],
) -> Exchanged {
    let air = node(&undine_gas::air::DECLARATION, "air")
        .set("voxel", VOXEL)
        .set("density", AIR)
        .set("velocity", WIND.to_array());
    let body = node(&undine_solid::rigid::body::DECLARATION, "ball")
        .set("density", DENSITY)
        .set("velocity", VELOCITY.to_array());
    let mut setup = Group::default().with(air).with(body);
    if let Some(before) = before {
        setup = setup.with(Behavior::new(before));
    }
    let setup = setup.with(Behavior::new(&undine_actions::coupled::drag::DECLARATION));
    let room = cuboid(DVec3::splat(-0.2), DVec3::splat(0.2));
    let inputs = inputs([("air", room), ("ball", ball(RADIUS, PLACE))]);
    let (_, steps) = exchanged(setup, inputs, (STEP, iterations), kinds, 1);
    steps[0]
}

/// The drag on a ball [N s/m]: 3πμd (1 + 0.15 Re^0.687).
fn schiller_naumann(speed: f64) -> f64 {
    let (viscosity, diameter) = (1.81e-5, 2.0 * RADIUS);
    let reynolds = AIR * speed * diameter / viscosity;
    assert!(reynolds < 1000.0);
    3.0 * PI * viscosity * diameter * (1.0 + 0.15 * reynolds.powf(0.687))
}

/// Where a function that rises is zero, between two numbers.
fn root(function: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        *(if function(middle) > 0.0 { &mut high } else { &mut low }) = middle;
    }
    0.5 * (low + high)
}

/// The ball gets Δt K(e) e, and the air the opposite, where e is the slip between both at the end of the step: what is left of u − v when the air has answered,
/// e (1 + Δt K(e) Σw²/(ρh³)) = u − v, with the faces that it shares with itself. In one iteration u − v is that at which backward Euler would end without the air's
/// answer in K, and in several that of v itself.
#[test]
fn a_ball_is_dragged_as_schiller_and_naumann_say_and_the_air_gets_the_opposite() {
    let mass = DENSITY * 4.0 / 3.0 * PI * RADIUS.powi(3);
    let (slip, way) = ((VELOCITY - WIND).length(), (VELOCITY - WIND).normalize());
    let left = |s: f64, at: DVec3| {
        let most = (0..3).map(|axis| shared(at, at, axis, VOXEL)).fold(0.0, f64::max);
        let answer = |e: f64| STEP * schiller_naumann(e) * most / (AIR * VOXEL.powi(3));
        root(|e| e * (1.0 + answer(e)) - s, 0.0, s)
    };
    for iterations in [1, 8] {
        let Exchanged { solids, air } = flying(iterations, None, &[]);
        let end = match iterations {
            1 => {
                let alone = |s: f64| mass * (s - slip) + STEP * schiller_naumann(s) * s;
                let s = root(alone, 0.0, slip);
                let e = left(s, PLACE + STEP * VELOCITY);
                mass * slip / (mass + STEP * schiller_naumann(e) * e / s)
            }
            _ => {
                let both = |s: f64| {
                    let e = left(s, PLACE + STEP * (WIND + s * way));
                    mass * (s - slip) + STEP * schiller_naumann(e) * e
                };
                root(both, 0.0, slip)
            }
        };
        let wanted = mass * (end - slip) * way;
        println!("{iterations} iterations: {solids} {wanted}, {air}; slip {slip} to {end} m/s");
        assert!((solids - wanted).length() < 1e-5 * wanted.length(), "{solids} {wanted}");
        assert!((solids + air).length() < 1e-5 * solids.length(), "{solids} {air}");
    }
}

/// Takes away what solids offer as material particles, so that only boundary particles are left.
struct Shed;

static SHED: Declaration = Declaration {
    name: "shed",
    kind: Kind::Operator,
    doc: "Leaves only boundary particles",
    about: "",
    parameters: &[],
    example: "",
};

impl Operator for Shed {
    fn create(ingest: &mut Ingest<'_>, scope: &[ObjectId]) -> Result<Option<Self>> {
        for object in scope {
            ingest.world.objects[object.0].offers.material = None;
        }
        Ok(None)
    }

    fn tasks(&self, _: &mut Tasks<Self>) {}
}

/// Boundary particles hang on what has mass, and that is dragged, once.
#[test]
fn what_offers_boundary_particles_alone_is_dragged_by_what_they_hang_on() {
    let plain = flying(1, None, &[]);
    let shed = flying(1, Some(&SHED), &[BehaviorKind::operator::<Shed>(&SHED)]);
    assert!(plain.solids.length() > 0.0);
    assert_eq!([plain.solids, plain.air], [shed.solids, shed.air]);
}

/// A body of density ρ_s that nothing but its weight and the fluid moves gains g (ρ_f/ρ_s − 1) in a second: of water in a tank, and of air. It is in no
/// Group with the pressure, which would flow around it. Its volume counts once: by its boundary particles as well it would be carried twice.
/// What the fluid does is known from the second step on. The ball takes 1e-3 of the cells around it, which is how much it moves the fluid.
#[test]
fn a_body_is_carried_as_archimedes_says() {
    let (gravity, voxel, step) = (9.80665, 0.125, 1.0 / 96.0);
    let radius: f64 = 8e-3;
    let pressure = || Behavior::new(&undine_fluid::pressure::DECLARATION).set("tolerance", 1e-8);
    let water = || {
        Group::new("tank")
            .with(node(&undine_liquid::hybrid::DECLARATION, "water").set("voxel", voxel))
            .with(node(&undine_actions::collider::DECLARATION, "walls"))
            .with(Behavior::new(&undine_fluid::walls::DECLARATION))
            .with(pressure())
    };
    let air = || {
        let air = node(&undine_gas::air::DECLARATION, "air");
        Group::new("room").with(air.set("voxel", voxel).set("density", AIR)).with(pressure())
    };
    for (fluid, density, ratio) in
        [(water(), 998.2, 0.5), (water(), 998.2, 2.0), (air(), AIR, 0.5), (air(), AIR, 2.0)]
    {
        let ball_of = node(&undine_solid::rigid::body::DECLARATION, "ball");
        let setup = Group::default()
            .with(fluid)
            .with(ball_of.set("density", ratio * density))
            .with(Behavior::new(&undine_actions::coupled::buoyancy::DECLARATION))
            .with(Behavior::new(&undine_actions::gravity::DECLARATION));
        let walls = Shape::cuboid(DVec3::new(0.5, 0.75, 0.5)).unwrap().inverted().unwrap();
        let inputs = inputs([
            ("water", cuboid(DVec3::ZERO, DVec3::ONE)),
            ("walls", data(walls, DVec3::new(0.5, 0.75, 0.5))),
            ("air", cuboid(DVec3::ZERO, DVec3::splat(1.5))),
            ("ball", ball(radius, DVec3::splat(0.55))),
        ]);
        let timeline =
            Timeline { fps: 1.0 / step, substeps: Substeps::Fixed(1), ..Timeline::default() };
        let (kinds, budget) = (undine::behaviors(), MemoryBudget::unlimited());
        let mut simulation =
            Simulation::new(&setup, &kinds, timeline, Arc::new(inputs), budget).unwrap();
        simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap();
        let wanted = gravity * (1.0 / ratio - 1.0);
        for n in 2..=5 {
            let before = velocity(&simulation);
            simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap();
            let found = (velocity(&simulation) - before) / step;
            println!("{ratio} of {density}, step {n}: {found} {wanted}");
            let off = (found - DVec3::Y * wanted).length();
            assert!(off < 1e-2 * gravity, "{ratio} of {density}, step {n}: {found} {wanted}");
        }
    }
}
