//! What is attached to surfaces, between their vertices: it follows the triangle that it is on, and pulls at bodies where it is.

use crate::contact::{collider, shape};
use crate::same_bytes;
use crate::scene::{
    Run, attachment, body, frames, moving, octahedron, store, turn, vector, vectors,
};
use std::sync::Arc;
use undine_core::glam::{DMat3, DQuat, DVec3};
use undine_core::memory::MemoryBudget;
use undine_core::mesh::{Polygons, Surface};
use undine_geometry::{Motion, Pose, Shape, Triangles, Twist, gallery};
use undine_schema::setup::{Behavior, Group};
use undine_sim::elements::ElementSet;
use undine_sim::input::{Data, Geometry, Inputs};
use undine_sim::newton::NewtonSettings;
use undine_sim::timeline::Substeps;
use undine_sim::{Result, Simulation, Timeline};

/// A triangle of some metres that moves, turns and is stretched to another shape; and a body of a gram or less above its middle.
struct Cloak {
    /// How high above the triangle the body's tip is [m].
    height: f64,
}

const WEIGHTS: [f64; 3] = [0.3, 0.25, 0.45];
const TIP: f64 = 0.01;

impl Cloak {
    fn corners(time: f64) -> [DVec3; 3] {
        let turn = DQuat::from_scaled_axis(DVec3::new(0.7, -1.1, 0.4) * time);
        let stretch = DVec3::new(1.0 + 0.5 * time, 1.0 - 0.3 * time, 1.0);
        let rest = [DVec3::ZERO, DVec3::new(4.0, 0.0, 0.5), DVec3::new(0.5, 0.3, -3.0)];
        let sheared = |at: DVec3| at + DVec3::X * (0.4 * time * at.z);
        rest.map(|at| turn * (stretch * sheared(at)) + DVec3::new(0.3, 0.2, -0.5) * time)
    }

    /// The place of the triangle that holds the body, and the triangle's frame.
    fn place(time: f64) -> (DVec3, DMat3) {
        let [a, b, c] = Self::corners(time);
        let normal = (b - a).cross(c - a).normalize();
        let along = (b - a).normalize();
        let [u, v, w] = WEIGHTS;
        (u * a + v * b + w * c, DMat3::from_cols(along, normal.cross(along), normal))
    }

    /// Where the tip of the body is to be.
    fn tip(&self, time: f64) -> DVec3 {
        let (place, frame) = Self::place(time);
        place + frame.z_axis * self.height
    }
}

impl Inputs for Cloak {
    fn data(&self, name: &str, time: f64) -> Result<Arc<Data>> {
        if name == "bead" {
            // Its lowest tip is the one that is nearest, since it stands on the triangle's normal.
            let (_, frame) = Self::place(0.0);
            let start = octahedron(DVec3::ZERO, DVec3::splat(TIP));
            let Geometry::Surface(surface) = &start.geometry else { unreachable!() };
            let (places, indices) = Triangles::of_surface(surface)?.into_parts();
            let centre = self.tip(0.0) + frame.z_axis * TIP;
            let places = places.into_iter().map(|at| centre + frame * at).collect();
            let mesh = Triangles::new(places, indices)?.into_surface("bead")?;
            return Ok(Arc::new(Data { geometry: Geometry::Surface(mesh.into()), ..start }));
        }
        let triangle = Polygons::triangles(vec![[0, 1, 2]])?;
        let surface = Surface::new("cloak", Self::corners(time).to_vec(), triangle)?;
        Ok(Arc::new(Data { geometry: Geometry::Surface(Arc::new(surface)), ..Data::default() }))
    }

    fn changes(&self, name: &str) -> bool {
        name == "cloak"
    }
}

fn anchors(name: &str) -> Behavior {
    Behavior::new(&undine_actions::anchors::DECLARATION).named(name).set("input", name)
}

fn simulation_of(
    setup: &Group,
    inputs: impl Inputs + 'static,
    substeps: u32,
) -> Result<Simulation> {
    let kinds = [undine_solid::BEHAVIORS, undine_actions::BEHAVIORS].concat();
    let timeline = Timeline {
        fps: 24.0,
        substeps: Substeps::Fixed(substeps),
        newton: NewtonSettings { iterations: 6, tolerance: 1e-13, ..NewtonSettings::default() },
        ..Timeline::default()
    };
    Simulation::new(setup, &kinds, timeline, Arc::new(inputs), MemoryBudget::unlimited())
}

/// A bead that is welded to the cloak.
fn on_cloak(cloak: Behavior, height: f64) -> Simulation {
    let weld = attachment("cloak")
        .set("normal-stiffness", 1e7)
        .set("tangent-stiffness", 1e7)
        .set("orientation-stiffness", [1e3; 3]);
    let bead = body("bead").set("density", 1.0);
    let setup = Group::default().with(bead).with(cloak).with(weld);
    simulation_of(&setup, Cloak { height }, 2).unwrap()
}

/// The elements of the attachment.
fn joints(simulation: &Simulation) -> &ElementSet {
    let mut all = simulation.world.elements.iter();
    all.find(|(_, elements)| elements.handle::<f64>("axis-1-x").is_ok()).unwrap().1
}

fn numbers(simulation: &Simulation, channel: &str) -> Vec<f64> {
    let joints = joints(simulation);
    joints.column(joints.handle::<f64>(channel).unwrap()).unwrap().to_vec()
}

/// The bead has 1.3 mg. It begins at rest, and the first step of 1/48 s brings it to the speed of the cloak, some 3 m/s, with 140 m/s²: 0.2 mN
/// press what holds it by 2·10⁻¹¹ m with 10⁷ N/m. Its moment of inertia of 5·10⁻¹¹ kg m² turns with 100 rad/s², which is nothing to 10³ J.
#[test]
fn what_is_on_a_triangle_stays_at_its_place_however_the_triangle_moves() {
    let collider = || collider("cloak").set("thickness", 1e-3);
    for height in [0.05, 0.0] {
        for target in [anchors("cloak"), collider()] {
            let mut simulation = on_cloak(target, height);
            let start = Cloak::place(0.0).1;
            for frame in 1..=12 {
                frames(&mut simulation, 1);
                let time = f64::from(frame) / 24.0;
                let tip = vectors(&simulation, "bead boundary", "position")[5];
                let off = tip.distance(Cloak { height }.tip(time));
                assert!(off < 1e-9, "frame {frame}, {height} m above: off by {off:e} m");
                let turned = DMat3::from_quat(turn(&simulation, "bead", "orient"));
                let wanted = Cloak::place(time).1 * start.transpose();
                assert!(turned.abs_diff_eq(wanted, 1e-9), "frame {frame}: {turned} for {wanted}");
            }
            // It is held between the corners, and there alone.
            assert_eq!(joints(&simulation).len(), 1);
            for (k, wanted) in WEIGHTS.into_iter().enumerate() {
                let found = numbers(&simulation, &format!("weight-{k}"))[0];
                assert!((found - wanted).abs() < 1e-12, "weight {k} is {found}");
            }
        }
    }
}

/// On points alone, it is a corner that holds it.
#[test]
fn points_of_a_surface_are_held_where_that_is_asked_for() {
    let weld = attachment("cloak").set("on", "points");
    let setup = Group::default().with(body("bead")).with(anchors("cloak")).with(weld);
    let mut simulation = simulation_of(&setup, Cloak { height: 0.05 }, 1).unwrap();
    frames(&mut simulation, 1);
    let tip = Cloak { height: 0.05 }.tip(0.0);
    let nearest = Cloak::corners(0.0).map(|at| at.distance(tip)).into_iter().reduce(f64::min);
    let length = numbers(&simulation, "length")[0];
    assert!((length - nearest.unwrap()).abs() < 2.0 * TIP, "{length} m");
}

/// A range is one from the triangle: its corners are farther away than a metre.
#[test]
fn a_range_is_from_the_triangle() {
    for emission in ["closest", "pair", "range"] {
        for (range, held) in [(0.051, true), (0.049, false)] {
            let tie = attachment("cloak").set("emission", emission).set("range", range);
            let setup = Group::default().with(body("bead")).with(anchors("cloak")).with(tie);
            let mut simulation = simulation_of(&setup, Cloak { height: 0.05 }, 1).unwrap();
            frames(&mut simulation, 1);
            let found = numbers(&simulation, "length");
            assert_eq!(found.len(), usize::from(held), "{emission} within {range} m");
            assert!(found.iter().all(|length| (length - 0.05).abs() < 1e-12), "{found:?}");
        }
    }
}

/// Something as an input of triangles, of which nothing is asked.
fn mesh(mesh: Triangles) -> Data {
    let surface = mesh.into_surface("mesh").unwrap();
    Data { geometry: Geometry::Surface(Arc::new(surface)), ..Data::default() }
}

/// A sphere that moves as a whole, by a formula, holds a bead on its surface.
#[test]
fn a_shape_that_moves_holds_what_is_on_it() {
    let twist = Twist { linear: DVec3::X * 0.4, angular: DVec3::new(0.0, 1.0, 2.0) };
    let motion = Motion::steady(Pose::at(DVec3::Y), twist).unwrap();
    let tip = DVec3::new(0.6, 0.0, 0.8) * 0.55;
    let weld = attachment("ball")
        .set("normal-stiffness", 1e7)
        .set("tangent-stiffness", 1e7)
        .set("orientation-stiffness", [1e3; 3]);
    let setup =
        Group::default().with(body("bead").set("density", 1.0)).with(collider("ball")).with(weld);
    let ball = moving(shape(Shape::sphere(0.5).unwrap()), motion.clone());
    let turned = DQuat::from_rotation_arc(DVec3::X, tip.normalize());
    let bead = {
        let start = octahedron(DVec3::ZERO, DVec3::splat(TIP));
        let Geometry::Surface(surface) = &start.geometry else { unreachable!() };
        let centre = DVec3::Y + tip + tip.normalize() * TIP;
        mesh(Triangles::of_surface(surface).unwrap().mapped(|at| centre + turned * at))
    };
    let run = Run { substeps: 2, iterations: 6 };
    let mut simulation = run.of(&setup, vec![("bead", bead), ("ball", ball)]);
    frames(&mut simulation, 12);
    let found = vectors(&simulation, "bead boundary", "position")[1];
    let wanted = motion.pose(0.5).to_world(tip);
    assert!(found.distance(wanted) < 1e-9, "{found} for {wanted}");
    assert!((numbers(&simulation, "length")[0] - 0.05).abs() < 1e-12);
}

/// A bead on the middle of a face of a box that flies and spins: what pulls at the one pulls at the other, so that linear momentum is kept to
/// rounding, and angular momentum to first order in the step, which is what backward Euler has.
#[test]
fn a_body_feels_what_hangs_on_its_face() {
    let tie = attachment("box").set("normal-stiffness", 500.0).set("tangent-stiffness", 300.0);
    for tie in [
        tie.clone(),
        tie.clone().set("flexibility", 1.0),
        tie.set("orientation-stiffness", [2.0; 3]),
    ] {
        let setup = Group::default()
            .with(body("bob").set("velocity", [0.3, 0.5, -0.1]).set("spin", [0.5, 2.0, -1.0]))
            .with(body("box").set("velocity", [0.0, 0.1, 0.2]).set("spin", [0.0, -1.0, 1.5]))
            .with(tie);
        let half = DVec3::new(0.3, 0.2, 0.25);
        let inputs = vec![
            ("bob", octahedron(DVec3::new(0.07, 0.4, 0.05), DVec3::splat(0.1))),
            ("box", mesh(gallery::cuboid(half))),
        ];
        let lost = |substeps| {
            let mut simulation = Run { substeps, iterations: 8 }.of(&setup, inputs.clone());
            let before = simulation.budget().unwrap();
            frames(&mut simulation, 6);
            let after = simulation.budget().unwrap();
            let size = before.momentum.length();
            assert!(after.momentum.distance(before.momentum) < 1e-9 * size);
            // Straight below the lowest tip, which no vertex of the box is near to.
            let joints = joints(&simulation);
            assert_eq!(joints.len(), 1);
            assert!((numbers(&simulation, "length")[0] - 0.1).abs() < 1e-12);
            let body = joints.column(joints.handle::<u64>("corner-0").unwrap()).unwrap()[0];
            let spun = vector(&simulation, "box", "angular-momentum");
            assert!(body == 0 && spun.is_finite());
            after.angular_momentum.distance(before.angular_momentum)
                / before.angular_momentum.length()
        };
        let (coarse, fine) = (lost(16), lost(64));
        assert!(fine < 1e-3 && fine < 0.4 * coarse, "{coarse} to {fine}");
    }
}

/// A kinematic body holds by its faces, too, and so does each of several pieces: `range` holds one place on each.
#[test]
fn each_piece_within_range_holds_by_one_place() {
    let cube = gallery::cuboid(DVec3::splat(0.2));
    let (mut positions, mut triangles) = cube.clone().into_parts();
    let first = positions.len() as u32;
    positions.extend(cube.positions().iter().map(|at| *at + DVec3::X * 0.6));
    triangles.extend(cube.indices().iter().map(|corners| corners.map(|corner| corner + first)));
    let cubes = mesh(Triangles::new(positions, triangles).unwrap());
    let twist = Twist { linear: DVec3::ZERO, angular: DVec3::Y };
    let cubes = moving(cubes, Motion::steady(Pose::IDENTITY, twist).unwrap());
    let tie = attachment("cubes").set("emission", "range").set("range", 0.12);
    let setup =
        Group::default().with(body("bob")).with(body("cubes").set("kinematic", true)).with(tie);
    // Tips along x are 0.03 m from the cubes on both sides, those along the other axes beside them.
    let bob = octahedron(DVec3::new(0.3, 0.05, 0.0), DVec3::splat(0.07));
    let mut simulation =
        Run { substeps: 4, iterations: 4 }.of(&setup, vec![("bob", bob), ("cubes", cubes)]);
    frames(&mut simulation, 1);
    let found = numbers(&simulation, "length");
    let wanted = [0.03, 0.1, 0.1, 0.03, 0.1, 0.1];
    let near = |wanted: f64| found.iter().filter(|length| (**length - wanted).abs() < 1e-9).count();
    assert_eq!((near(0.03), near(0.1), found.len()), (2, 8, 10), "{found:?} for {wanted:?}");
}

/// Who is caught by a surface stays at its place, also where places are chosen in every step.
#[test]
fn what_is_held_in_every_step_does_not_slide() {
    let tie = attachment("plate")
        .set("every-step", true)
        .set("range", 0.02)
        .set("damping-time", 0.05)
        .set("orientation-stiffness", [1e3; 3]);
    let setup = Group::default()
        .with(body("bob").set("velocity", [0.5, -1.0, 0.0]))
        .with(collider("plate").set("thickness", 1e-3))
        .with(tie);
    let square = vec![[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
    let square = square.into_iter().map(|[x, z]| DVec3::new(x, 0.0, z)).collect();
    let plate = mesh(Triangles::new(square, vec![[0, 2, 1], [0, 3, 2]]).unwrap());
    let bob = octahedron(DVec3::new(0.0, 0.2, 0.1), DVec3::splat(0.1));
    let mut simulation =
        Run { substeps: 8, iterations: 4 }.of(&setup, vec![("bob", bob), ("plate", plate)]);
    frames(&mut simulation, 3);
    assert_eq!(joints(&simulation).len(), 1, "it is caught");
    let weights =
        |simulation: &Simulation| [0, 1, 2].map(|k| numbers(simulation, &format!("weight-{k}"))[0]);
    let before = weights(&simulation);
    for _ in 0..6 {
        frames(&mut simulation, 1);
        assert_eq!(weights(&simulation), before);
    }
    let speed = vector(&simulation, "bob", "v").length();
    assert!(speed < 0.3, "{speed} m/s");
}

#[test]
fn a_run_on_surfaces_has_the_same_bytes_when_it_goes_on_and_on_any_threads() {
    same_bytes::check(3, || {
        let tie = attachment("cloak").set("damping-time", 0.02).set("friction-limit", 0.5);
        let held = attachment("cloak").named("near").set("emission", "range").set("range", 0.06);
        let setup = Group::default()
            .with(body("bead"))
            .with(collider("cloak").set("thickness", 1e-3))
            .with(tie)
            .with(held.set("every-step", true));
        simulation_of(&setup, Cloak { height: 0.05 }, 3).unwrap()
    });
}

/// The message of a run that fails.
fn failure(setup: &Group, inputs: Vec<(&str, Data)>) -> String {
    let mut simulation = Run::default().of(setup, inputs);
    let failed = simulation.advance_frame(&mut (), |_, _| Ok(()));
    format!("{}", failed.unwrap_err())
}

#[test]
fn surfaces_that_cannot_hold_anything_are_refused() {
    let setup = |target: Behavior| {
        let tie = attachment("target");
        Group::default().with(body("bob")).with(target.named("target")).with(tie)
    };
    let bob = || ("bob", octahedron(DVec3::ZERO, DVec3::splat(0.1)));
    let line = vec![DVec3::X, DVec3::X * 2.0, DVec3::X * 3.0];
    let flat = mesh(Triangles::new(line, vec![[0, 1, 2]]).unwrap());
    let message = failure(&setup(anchors("target")), vec![bob(), ("target", flat.clone())]);
    assert!(message.contains("none of its 1 triangles has an area"), "{message}");
    // Its points are still there to hold by.
    let by_points = Group::default()
        .with(body("bob"))
        .with(anchors("target"))
        .with(attachment("target").set("on", "points"));
    let mut simulation = Run::default().of(&by_points, vec![bob(), ("target", flat)]);
    frames(&mut simulation, 1);
    assert_eq!(joints(&simulation).len(), 1);
    // One triangle of two is as good as one.
    let corner = vec![DVec3::X, DVec3::X * 2.0, DVec3::X * 3.0, DVec3::new(2.0, 1.0, 0.5)];
    let half = mesh(Triangles::new(corner, vec![[0, 1, 2], [0, 2, 3]]).unwrap());
    let mut simulation =
        Run::default().of(&setup(anchors("target")), vec![bob(), ("target", half)]);
    frames(&mut simulation, 1);
    let length = numbers(&simulation, "length")[0];
    assert!((length - 0.9).abs() < 1e-12, "{length} m");
    assert_eq!(store(&simulation, "bob").len(), 1);
}
