//! Bodies that touch colliders and each other, against what Coulomb's law says.

use crate::same_bytes;
use crate::scene::{Run, body, frames, number, vector, vectors};
use std::f64::consts::PI;
use std::sync::Arc;
use undine_core::glam::{DQuat, DVec3};
use undine_geometry::{Pose, Shape, Triangles, gallery};
use undine_schema::setup::{Behavior, Group};
use undine_sim::Simulation;
use undine_sim::input::{Data, Geometry};

const G: f64 = 9.81;

pub fn shape(shape: Shape) -> Data {
    Data { geometry: Geometry::Shape(Arc::new(shape)), ..Data::default() }
}

/// A cuboid of these half sizes, turned about its centre.
fn cuboid(half: DVec3, turn: DQuat, centre: DVec3) -> Data {
    let (positions, triangles) = gallery::cuboid(half).into_parts();
    let positions = positions.into_iter().map(|at| centre + turn * at).collect();
    let mesh = Triangles::new(positions, triangles).unwrap().into_surface("cuboid").unwrap();
    Data { geometry: Geometry::Surface(Arc::new(mesh)), ..Data::default() }
}

pub fn collision() -> Behavior {
    Behavior::new(&undine_actions::collision::DECLARATION)
}

pub fn collider(name: &str) -> Behavior {
    Behavior::new(&undine_actions::collider::DECLARATION).named(name).set("input", name)
}

fn gravity() -> Behavior {
    Behavior::new(&undine_actions::gravity::DECLARATION).set("acceleration", [0.0, -G, 0.0])
}

/// A block of 20 cm by 10 cm by 20 cm on a plane that is inclined by an angle [rad], about the z axis.
fn incline(angle: f64, friction: f64, run: &Run) -> Simulation {
    let turn = DQuat::from_rotation_z(-angle);
    let plane = Shape::half_space(turn * DVec3::Y, 0.0).unwrap();
    let half = DVec3::new(0.1, 0.05, 0.1);
    let block = cuboid(half, turn, turn * DVec3::Y * half.y);
    let setup = Group::default()
        .with(body("block"))
        .with(collider("plane"))
        .with(collision().set("friction", friction))
        .with(gravity());
    run.of(&setup, vec![("block", block), ("plane", shape(plane))])
}

/// With μ = 1.1 tan θ a block must not move, however long: 1e-6 m in five seconds.
#[test]
fn a_block_does_not_creep_down_a_plane() {
    for angle in [10.0_f64, 30.0] {
        let angle = angle.to_radians();
        let mut simulation = incline(angle, 1.1 * angle.tan(), &Run::default());
        let start = vector(&simulation, "block", "position");
        frames(&mut simulation, 120);
        let moved = (vector(&simulation, "block", "position") - start).length();
        assert!(moved < 1e-6, "{moved:e} m at {angle} rad");
    }
}

/// a = g (sin θ − μ cos θ) along the plane, to the rounding of backward Euler's own closed form: x = ½ a t (t + Δt).
#[test]
fn a_block_slides_as_fast_as_friction_lets_it() {
    for (degrees, friction) in [(20.0_f64, 0.2), (30.0, 0.0), (30.0, 0.5)] {
        let angle = degrees.to_radians();
        let run = Run { substeps: 2, ..Run::default() };
        let mut simulation = incline(angle, friction, &run);
        let start = vector(&simulation, "block", "position");
        frames(&mut simulation, 24);
        let moved = vector(&simulation, "block", "position") - start;
        let down = DQuat::from_rotation_z(-angle) * DVec3::X;
        let acceleration = G * (angle.sin() - friction * angle.cos());
        let wanted = 0.5 * acceleration * (1.0 + 1.0 / 48.0);
        assert!(
            (moved - wanted * down).length() < 1e-6 * wanted,
            "{moved} of {wanted} at {degrees}"
        );
    }
}

/// The forces of contacts that the last step has left.
fn forces(simulation: &Simulation) -> Vec<DVec3> {
    let mut stores = simulation.world.elements.iter();
    let contacts = stores.find(|(_, elements)| elements.label() == "collision").unwrap().1;
    contacts.column(contacts.handle::<DVec3>("force").unwrap()).unwrap().to_vec()
}

/// The same, each with the normal of its contact.
pub fn forces_and_normals(simulation: &Simulation) -> Vec<[DVec3; 2]> {
    let mut stores = simulation.world.elements.iter();
    let contacts = stores.find(|(_, elements)| elements.label() == "collision").unwrap().1;
    let column = |name: &str| contacts.column(contacts.handle::<DVec3>(name).unwrap()).unwrap();
    column("force").iter().zip(column("normal").iter()).map(|(f, n)| [*f, *n]).collect()
}

/// Forces are on the cone of friction where it slides, and within where it sticks; together they carry the weight.
#[test]
fn forces_are_on_the_cone_and_carry_the_weight() {
    let angle = 20.0_f64.to_radians();
    let normal = DQuat::from_rotation_z(-angle) * DVec3::Y;
    for (friction, slides) in [(0.2, true), (0.5, false)] {
        let mut simulation = incline(angle, friction, &Run::default());
        frames(&mut simulation, 6);
        let weight = number(&simulation, "block", "mass") * G;
        let mut sum = DVec3::ZERO;
        for force in forces(&simulation) {
            let across = force.dot(normal);
            let along = (force - across * normal).length();
            assert!(across > 0.0 && along <= friction * across * (1.0 + 1e-9), "{force}");
            assert!(!slides || along > friction * across * (1.0 - 1e-9), "{force}");
            sum += force;
        }
        let across = weight * angle.cos();
        assert!((sum.dot(normal) - across).abs() < 1e-6 * across, "{sum}");
        let along = if slides { friction * across } else { weight * angle.sin() };
        assert!(((sum - sum.dot(normal) * normal).length() - along).abs() < 1e-6 * along);
    }
}

fn floor() -> Data {
    shape(Shape::half_space(DVec3::Y, 0.0).unwrap())
}

/// Boxes of 20 cm, one on the other.
fn stack(count: usize, friction: f64) -> (Group, Vec<(String, Data)>) {
    let half = DVec3::splat(0.1);
    let mut setup = Group::default().with(collider("floor"));
    let mut inputs = vec![("floor".to_owned(), floor())];
    for n in 0..count {
        let name = format!("box{n}");
        // Edges that cross have points too.
        setup = setup.with(body(&name).set("spacing", 0.05));
        let centre = DVec3::Y * (0.1 + 0.2 * n as f64);
        inputs.push((name, cuboid(half, DQuat::from_rotation_y(0.2 * n as f64), centre)));
    }
    (setup.with(collision().set("friction", friction)).with(gravity()), inputs)
}

fn named(inputs: &[(String, Data)]) -> Vec<(&str, Data)> {
    inputs.iter().map(|(name, data)| (name.as_str(), data.clone())).collect()
}

#[test]
fn a_stack_of_boxes_stands() {
    let (setup, inputs) = stack(4, 0.4);
    let mut simulation = Run::default().of(&setup, named(&inputs));
    let places = |simulation: &Simulation| -> Vec<DVec3> {
        (0..4).map(|n| vector(simulation, &format!("box{n}"), "position")).collect()
    };
    let start = places(&simulation);
    frames(&mut simulation, 48);
    for (n, (before, after)) in start.iter().zip(places(&simulation)).enumerate() {
        assert!((after - *before).length() < 1e-6, "box {n} moved by {}", after - *before);
    }
}

/// A bar of 40 cm by 10 cm by 10 cm with an edge up, and one across it with an edge down: they touch by edges alone, which have no vertices there.
/// Points on edges are 40 cm / 9 apart, since nine spacings of a tenth of the length and no ten are less than it. The upper bar comes down until
/// two of them, one on each side, lie on the faces of the lower one, which fall off by 45°: by half of their distance at most. There it stays.
#[test]
fn bars_that_cross_edge_on_edge_hold_each_other() {
    let half = DVec3::new(0.2, 0.05, 0.05);
    let (edge_up, across) = (DQuat::from_rotation_x(PI / 4.0), DQuat::from_rotation_y(PI / 2.0));
    let high = 0.05 * 2.0_f64.sqrt();
    let lower = cuboid(half, edge_up, DVec3::ZERO);
    let upper = cuboid(half, across * edge_up, DVec3::Y * 2.0 * high);
    let setup = Group::default()
        .with(body("lower").set("kinematic", true))
        .with(body("upper"))
        .with(collision().set("friction", 0.5))
        .with(gravity());
    let run = Run { substeps: 4, iterations: 2 };
    let mut simulation = run.of(&setup, vec![("lower", lower), ("upper", upper)]);
    let least = 2.0 * high - 0.5 * 0.4 / 9.0;
    for frame in 1..=48 {
        frames(&mut simulation, 1);
        let at = vector(&simulation, "upper", "position");
        assert!(at.y > least - 1e-3, "{} m at frame {frame}, and not {least} m", at.y);
        assert!(at.x.abs().max(at.z.abs()) < 0.01, "{at} at frame {frame}");
    }
    let speed = vector(&simulation, "upper", "v").length();
    assert!(speed < 1e-3, "at rest, but for {speed} m/s");
}

/// A plate of 1 m by 1 m on a block of 20 cm by 20 cm that no vertex of it is near to, and which has no points of its own.
#[test]
fn a_plate_rests_on_what_is_between_its_vertices() {
    let plate = cuboid(DVec3::new(0.5, 0.025, 0.5), DQuat::IDENTITY, DVec3::Y * 0.025);
    let block = Shape::cuboid(DVec3::new(0.1, 0.1, 0.1)).unwrap();
    let block = block.moved(&Pose::at(-0.1 * DVec3::Y)).unwrap();
    let setup = Group::default()
        .with(body("plate"))
        .with(collider("block"))
        .with(collision().set("friction", 0.4))
        .with(gravity());
    let mut simulation = Run::default().of(&setup, vec![("plate", plate), ("block", shape(block))]);
    let start = vector(&simulation, "plate", "position");
    frames(&mut simulation, 48);
    let moved = vector(&simulation, "plate", "position") - start;
    assert!(moved.length() < 1e-6, "{moved}");
}

/// A collision off centre, with friction: momentum of both together stays, and energy does not grow. Forces act where the step ends, so that
/// angular momentum is kept to first order.
#[test]
fn bodies_that_meet_keep_their_momentum() {
    let half = DVec3::new(0.1, 0.05, 0.08);
    let one = cuboid(half, DQuat::from_rotation_z(0.3), DVec3::new(-0.2, 0.03, 0.01));
    let two = cuboid(half, DQuat::from_rotation_x(0.5), DVec3::new(0.12, 0.0, 0.0));
    let setup = Group::default()
        .with(body("one").set("velocity", [2.0, 0.1, 0.0]).set("spin", [1.0, 2.0, -1.0]))
        .with(body("two").set("velocity", [-0.5, 0.0, 0.1]))
        .with(collision().set("friction", 0.4));
    let turned = |substeps: u32| {
        let inputs = vec![("one", one.clone()), ("two", two.clone())];
        let mut simulation = Run { substeps, iterations: 8 }.of(&setup, inputs);
        let start = simulation.budget().unwrap();
        let mut energy = start.kinetic_energy;
        for _ in 0..6 {
            frames(&mut simulation, 1);
            let budget = simulation.budget().unwrap();
            let scale = start.momentum.length();
            assert!((budget.momentum - start.momentum).length() < 1e-12 * scale);
            assert!(budget.kinetic_energy <= energy * (1.0 + 1e-9), "{} grew", energy);
            energy = budget.kinetic_energy;
        }
        assert!(energy < 0.9 * start.kinetic_energy, "they have met");
        let scale = start.angular_momentum.length() + 0.2 * start.momentum.length();
        (simulation.budget().unwrap().angular_momentum - start.angular_momentum).length() / scale
    };
    let found = [8, 64].map(turned);
    assert!(found[1] < 0.01 && found[1] < 0.5 * found[0], "{found:?}");
}

/// Bodies fall, tumble and come to rest: mechanical energy only ever falls.
#[test]
fn energy_never_grows_where_a_box_tumbles() {
    let half = DVec3::new(0.1, 0.05, 0.15);
    let block = cuboid(half, DQuat::from_rotation_z(0.6), DVec3::Y * 0.4);
    let setup = Group::default()
        .with(body("block").set("velocity", [1.0, 0.0, 0.3]).set("spin", [0.0, 3.0, 5.0]))
        .with(collider("floor"))
        .with(collision().set("friction", 0.3))
        .with(gravity());
    let mut simulation = Run { substeps: 4, ..Run::default() }
        .of(&setup, vec![("block", block), ("floor", floor())]);
    let energy = |simulation: &Simulation| {
        let budget = simulation.budget().unwrap();
        budget.kinetic_energy + budget.potential_energy
    };
    let whole = energy(&simulation);
    let mut last = whole;
    for frame in 0..48 {
        frames(&mut simulation, 1);
        let now = energy(&simulation);
        assert!(now <= last + 1e-3 * whole.abs(), "{last} to {now} at frame {frame}");
        last = now;
        let lowest = vectors(&simulation, "block boundary", "position");
        let lowest = lowest.iter().fold(f64::INFINITY, |low, at| low.min(at.y));
        assert!(lowest > -2e-3, "{lowest} m at frame {frame}");
    }
    let speed = vector(&simulation, "block", "v").length();
    assert!(speed < 1e-3, "at rest, but for {speed} m/s");
}

/// However fast and however long the step, a sheet is not passed.
#[test]
fn nothing_passes_through_a_sheet() {
    let positions = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
    let positions = positions.map(|[y, z]| DVec3::new(0.0, y, z)).to_vec();
    let sheet = Triangles::new(positions, vec![[0, 1, 2], [0, 2, 3]]).unwrap();
    let sheet = Data {
        geometry: Geometry::Surface(Arc::new(sheet.into_surface("sheet").unwrap())),
        ..Data::default()
    };
    for speed in [3.0, 40.0, 1000.0] {
        let bullet = cuboid(DVec3::splat(0.05), DQuat::from_rotation_y(0.4), DVec3::X * -0.5);
        let setup = Group::default()
            .with(body("bullet").set("velocity", [speed, 0.3, 0.1]))
            .with(collider("sheet"))
            .with(collision());
        let inputs = vec![("bullet", bullet), ("sheet", sheet.clone())];
        let mut simulation = Run::default().of(&setup, inputs);
        frames(&mut simulation, 12);
        let farthest = vectors(&simulation, "bullet boundary", "position");
        let farthest = farthest.iter().fold(f64::NEG_INFINITY, |most, at| most.max(at.x));
        assert!((-0.5..1e-3).contains(&farthest), "{farthest} m at {speed} m/s");
    }
}

/// A ball of restitution e that falls from h comes back to e²h, up to what the first order of the step makes of it.
#[test]
fn what_bounces_comes_back_as_high_as_it_should() {
    let drop = |substeps: u32| {
        let cube = cuboid(DVec3::splat(0.05), DQuat::IDENTITY, DVec3::Y * 0.55);
        let setup = Group::default()
            .with(body("cube"))
            .with(collider("floor"))
            .with(collision().set("restitution", 0.6))
            .with(gravity());
        let mut simulation =
            Run { substeps, ..Run::default() }.of(&setup, vec![("cube", cube), ("floor", floor())]);
        let (mut highest, mut rises) = (0.0_f64, false);
        for _ in 0..24 {
            frames(&mut simulation, 1);
            rises |= vector(&simulation, "cube", "v").y > 0.0;
            if rises {
                highest = highest.max(vector(&simulation, "cube", "position").y - 0.05);
            }
        }
        highest / 0.5
    };
    let found = [16, 64].map(drop);
    assert!((found[0] - 0.36).abs() < 0.03 && (found[1] - 0.36).abs() < 0.01, "{found:?}");
}

/// A block on a slope without friction hangs on a spring, which it stretches by m g sin θ/k: contacts on what springs tie together.
#[test]
fn a_block_that_hangs_on_a_spring_rests_on_a_slope() {
    let angle = 0.5_f64;
    let turn = DQuat::from_rotation_z(-angle);
    let half = DVec3::splat(0.1);
    let block = cuboid(half, turn, turn * DVec3::new(0.0, 0.1, 0.0));
    let peg = cuboid(half, turn, turn * DVec3::new(-0.4, 0.1, 0.0));
    let setup = Group::default()
        .with(body("peg").set("kinematic", true))
        .with(body("block"))
        .with(collider("slope"))
        .with(
            Behavior::new(&undine_actions::springs::DECLARATION)
                .set("range", 0.201)
                .set("stiffness", 1000.0)
                .set("damping-time", 0.05),
        )
        .with(collision().set("friction", 0.0).set("against", "slope"))
        .with(gravity());
    let slope = shape(Shape::half_space(turn * DVec3::Y, 0.0).unwrap());
    let inputs = vec![("block", block), ("peg", peg), ("slope", slope)];
    let mut simulation = Run { substeps: 2, ..Run::default() }.of(&setup, inputs);
    let start = vector(&simulation, "block", "position");
    frames(&mut simulation, 72);
    let moved = turn.inverse() * (vector(&simulation, "block", "position") - start);
    // Four springs, from corner to corner.
    let wanted = number(&simulation, "block", "mass") * G * angle.sin() / 4000.0;
    assert!((moved.x - wanted).abs() < 1e-3 * wanted, "{moved} of {wanted}");
    assert!(moved.y.abs() < 1e-6, "{moved}");
}

#[test]
fn a_resumed_stack_has_the_same_bytes_and_so_has_one_on_more_threads() {
    let (setup, inputs) = stack(3, 0.3);
    same_bytes::check(2, || Run { substeps: 2, ..Run::default() }.of(&setup, named(&inputs)));
}

#[test]
fn a_body_that_begins_inside_of_something_is_refused() {
    let inside = cuboid(DVec3::splat(0.1), DQuat::IDENTITY, DVec3::Y * 0.05);
    let setup = Group::default().with(body("crate")).with(collider("floor")).with(collision());
    let mut simulation = Run::default().of(&setup, vec![("crate", inside), ("floor", floor())]);
    let error = simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap_err().to_string();
    assert!(error.contains("boundary particles begin inside of `floor`"), "{error}");
    assert!(error.contains("5.00e-2 m"), "{error}");
}

/// Everything that a Task changes is declared.
#[test]
fn contacts_change_what_they_declare() {
    let (setup, inputs) = stack(2, 0.3);
    let mut simulation = Run::default().of(&setup, named(&inputs));
    simulation.audited(true);
    frames(&mut simulation, 2);
}

/// With penalties a block sinks in by its weight over the stiffness of its corners, and creeps no more than one on hard contacts.
#[test]
fn a_block_on_penalties_rests_as_deep_as_it_is_heavy() {
    let angle = 20.0_f64.to_radians();
    let turn = DQuat::from_rotation_z(-angle);
    let half = DVec3::new(0.1, 0.05, 0.1);
    let block = cuboid(half, turn, turn * DVec3::Y * half.y);
    let stiffness = 1e5;
    let penalties = collision()
        .set("friction", 1.1 * angle.tan())
        .set("response", "penalty")
        .set("stiffness", stiffness);
    let setup = Group::default()
        .with(body("block"))
        .with(collider("plane"))
        .with(penalties)
        .with(gravity());
    let plane = shape(Shape::half_space(turn * DVec3::Y, 0.0).unwrap());
    let run = Run { substeps: 2, iterations: 4 };
    let mut simulation = run.of(&setup, vec![("block", block), ("plane", plane)]);
    let start = vector(&simulation, "block", "position");
    frames(&mut simulation, 48);
    let rests = vector(&simulation, "block", "position");
    let sunk = -(rests - start).dot(turn * DVec3::Y);
    let wanted = number(&simulation, "block", "mass") * G * angle.cos() / (4.0 * stiffness);
    assert!((sunk - wanted).abs() < 0.02 * wanted, "{sunk} of {wanted}");
    frames(&mut simulation, 48);
    let crept = (vector(&simulation, "block", "position") - rests).length();
    assert!(crept < 1e-6, "{crept:e} m");
}

/// Both responses at once, on one Object: a block that is hard against the plane, and a lid on it by penalties. The lid sinks in by its weight
/// over the stiffness of its four corners; the block does not give way, and nothing creeps.
#[test]
fn a_block_is_hard_against_a_plane_and_soft_against_its_lid() {
    let angle = 10.0_f64.to_radians();
    let turn = DQuat::from_rotation_z(-angle);
    let (half, flat) = (DVec3::new(0.1, 0.05, 0.1), DVec3::new(0.05, 0.02, 0.05));
    let block = cuboid(half, turn, turn * DVec3::Y * half.y);
    let lid = cuboid(flat, turn, turn * DVec3::Y * (2.0 * half.y + flat.y));
    let (friction, stiffness) = (1.5 * angle.tan(), 1e5);
    let hard = collision().set("friction", friction).set("against", "ground/plane");
    let soft = collision()
        .set("friction", friction)
        .set("response", "penalty")
        .set("stiffness", stiffness);
    let bodies = Group::new("bodies")
        .with(Group::new("below").with(body("block")).with(hard))
        .with(body("lid"))
        .with(soft);
    let setup = Group::default()
        .with(Group::new("ground").with(collider("plane")))
        .with(bodies)
        .with(gravity());
    let plane = shape(Shape::half_space(turn * DVec3::Y, 0.0).unwrap());
    let run = Run { substeps: 2, iterations: 4 };
    let inputs = vec![("block", block), ("lid", lid), ("plane", plane)];
    let mut simulation = run.of(&setup, inputs);
    let places = |simulation: &Simulation| {
        ["bodies/below/block", "bodies/lid"].map(|name| vector(simulation, name, "position"))
    };
    let start = places(&simulation);
    frames(&mut simulation, 48);
    let rest = places(&simulation);
    assert!((rest[0] - start[0]).length() < 1e-6, "{}", rest[0] - start[0]);
    let sunk = -(rest[1] - start[1]).dot(turn * DVec3::Y);
    let wanted = number(&simulation, "bodies/lid", "mass") * G * angle.cos() / (4.0 * stiffness);
    assert!((sunk - wanted).abs() < 0.02 * wanted, "{sunk} of {wanted}");
    frames(&mut simulation, 48);
    for (before, after) in rest.iter().zip(places(&simulation)) {
        assert!((after - *before).length() < 1e-6, "{} crept", after - *before);
    }
}
