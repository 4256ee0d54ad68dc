//! Round bodies roll, bounce and rest as what they are, and not as the polyhedra of their boundary particles.

use std::path::Path;
use undine::{catalogue, prepare};
use undine_core::glam::DVec3;
use undine_core::memory::MemoryBudget;
use undine_scene::Scene;
use undine_sim::Simulation;

const G: f64 = 9.80665;
const RADIUS: f64 = 0.1;

fn prepared(text: &str) -> Simulation {
    let scene = Scene::parse(Path::new("scene.kdl"), text, &catalogue(), &[]);
    let scene = scene.unwrap_or_else(|report| panic!("{}", report.render(100)));
    prepare::simulation(&scene, MemoryBudget::unlimited()).unwrap_or_else(|why| panic!("{why}"))
}

fn frames(simulation: &mut Simulation, count: u32) {
    for _ in 0..count {
        simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap_or_else(|why| panic!("{why}"));
    }
}

/// The centre of the first body of an Object [m].
fn centre(simulation: &Simulation, name: &str) -> DVec3 {
    let (_, bodies) =
        simulation.world.points.iter().find(|(_, points)| points.label() == name).unwrap();
    bodies.column(bodies.position()).unwrap()[0]
}

/// The place of the centre after two seconds in frames of 1/24 s.
fn after_two_seconds(text: &str) -> DVec3 {
    let mut simulation = prepared(text);
    frames(&mut simulation, 48);
    centre(&simulation, "body")
}

/// A body that begins at rest on a slope of 20°, rolls down it, and where it is after two seconds: along the slope, across it and off it [m].
fn rolls_down(shape: &str, floor: &str, substeps: u32) -> [f64; 3] {
    let text = format!(
        r#"
setup "roll" fps=24 frames=49 substeps={substeps}
input "body" {{
    {shape}
    transform translate="0.03420201433256687 0.09396926207859085 0 m"
}}
input "floor" {{
    {floor}
}}
rigid-body "body" input="body"
collider "floor" input="floor" friction=0.6
collision
gravity
"#
    );
    let at = after_two_seconds(&text);
    let (sin, cos) = 20_f64.to_radians().sin_cos();
    let (normal, down) = (DVec3::new(sin, cos, 0.0), DVec3::new(cos, -sin, 0.0));
    [at.dot(down), at.z, at.dot(normal) - RADIUS]
}

const SLOPE: &str = r#"plane normal="0.3420201433256687 0.9396926207859084 0""#;

/// ½ a t (t + Δt) with a = g sin θ/(1 + I/(m r²)), as backward Euler makes it; straight down the slope, and on it.
fn assert_rolls(shape: &str, moment: f64, floor: &str, substeps: u32) {
    let [along, across, off] = rolls_down(shape, floor, substeps);
    let step = 1.0 / (24.0 * f64::from(substeps));
    let acceleration = G * 20_f64.to_radians().sin() / (1.0 + moment);
    let wanted = 0.5 * acceleration * 2.0 * (2.0 + step);
    let context = format!("{shape} on {floor}, {substeps} substeps");
    println!("{along} of {wanted} m, {across} m across, {off} m off: {context}");
    assert!((along - wanted).abs() < 0.01 * wanted, "{along} of {wanted} m: {context}");
    assert!(across.abs() < 1e-3, "{across} m across: {context}");
    assert!(off.abs() < 1e-3, "{off} m off: {context}");
}

#[test]
fn balls_roll_down_a_slope() {
    for substeps in [1, 4, 16] {
        assert_rolls(r#"sphere radius="10 cm""#, 0.4, SLOPE, substeps);
    }
}

/// The same on a box, which knows distances everywhere, on a mesh, and on a level set, which knows them near its surface.
#[test]
fn balls_roll_on_boxes_meshes_and_level_sets_as_on_planes() {
    let turned = r#"transform rotate="0 0 -20 deg""#;
    let board = format!(r#"box size="12 0.5 1 m" centre="0 -0.25 0 m"; {turned}"#);
    assert_rolls(r#"sphere radius="10 cm""#, 0.4, &board, 4);
    let mesh = format!(r#"box size="12 0.5 1 m" centre="0 -0.25 0 m" form="surface"; {turned}"#);
    assert_rolls(r#"sphere radius="10 cm""#, 0.4, &mesh, 4);
    let voxels = format!("{board}; to-distance voxel=\"5 cm\"");
    assert_rolls(r#"sphere radius="10 cm""#, 0.4, &voxels, 4);
}

/// Cylinders, capsules and tori about a level axis across the slope. Of a torus of radii R and r, I = m (R² + ¾ r²).
#[test]
fn cylinders_capsules_and_rings_roll_down_a_slope() {
    let cylinder = r#"cylinder radius="10 cm" height="30 cm" axis="z""#;
    let torus = r#"torus ring="7 cm" tube="3 cm" axis="z""#;
    for substeps in [1, 4, 16] {
        assert_rolls(cylinder, 0.5, SLOPE, substeps);
    }
    // m = ρ(V_c + V_s), I = V_c r²/2 + V_s 2r²/5 with V_c : V_s = h : 4r/3.
    let (middle, ends) = (0.2, 4.0 / 3.0 * RADIUS);
    let moment = (0.5 * middle + 0.4 * ends) / (middle + ends);
    assert_rolls(r#"capsule radius="10 cm" length="20 cm" axis="z""#, moment, SLOPE, 4);
    assert_rolls(torus, (0.07_f64.powi(2) + 0.75 * 0.03_f64.powi(2)) / 0.01, SLOPE, 4);
}

/// A ball that slides at first rolls in the end: v₀ t₁ − ½ μ g t₁² + 5/7 v₀ (t − t₁), t₁ = 2/7 v₀/(μ g).
#[test]
fn what_slides_comes_to_roll() {
    let (speed, friction) = (2.0, 0.25);
    let slides = 2.0 / 7.0 * speed / (friction * G);
    let wanted =
        speed * slides - 0.5 * friction * G * slides * slides + 5.0 / 7.0 * speed * (2.0 - slides);
    for substeps in [1, 4, 16] {
        let at = after_two_seconds(&format!(
            r#"
setup "roll" fps=24 frames=49 substeps={substeps}
input "body" {{
    sphere radius="10 cm" centre="0 0.1 0 m"
}}
input "floor" {{
    plane
}}
rigid-body "body" input="body" velocity="2 0 0 m/s"
collider "floor" input="floor" friction=0.25
collision
gravity
"#
        ));
        println!("{at} of {wanted} m, {substeps} substeps");
        assert!((at.x - wanted).abs() < 0.01 * wanted, "{} of {wanted} m", at.x);
        assert!(at.z.abs() < 1e-3 && (at.y - RADIUS).abs() < 1e-6, "{at}");
    }
}

/// How high a ball that falls from `height` comes after each of four bounces, as parts of e²ⁿ h.
fn bounces(substeps: u32, count: u32) -> [f64; 4] {
    let mut simulation = prepared(&format!(
        r#"
setup "bounce" fps=96 frames={count} substeps={substeps}
input "body" {{
    sphere radius="5 cm" centre="0 1.35 0 m"
}}
input "floor" {{
    plane
}}
rigid-body "body" input="body"
collider "floor" input="floor"
collision restitution=0.8
gravity
"#
    ));
    let mut heights: Vec<f64> = Vec::new();
    let mut last = [f64::NEG_INFINITY; 2];
    for _ in 1..count {
        frames(&mut simulation, 1);
        let height = centre(&simulation, "body").y - 0.05;
        // The parabola through three frames is exact, but for the one in which it bounces.
        let [a, b, c] = [last[0], last[1], height];
        if a.is_finite() && b > a && b >= c {
            let bend = a - 2.0 * b + c;
            heights.push(b - (c - a).powi(2) / (8.0 * bend));
        }
        last = [b, c];
    }
    std::array::from_fn(|n| heights[n] / (1.3 * 0.64_f64.powi(n as i32 + 1)))
}

/// e²ⁿ h, the more so the shorter the steps are.
#[test]
fn balls_bounce_as_high_as_they_should() {
    let worst = |substeps: u32| {
        let found = bounces(substeps, 289);
        println!("{substeps} substeps: {found:?}");
        found.iter().map(|part| (part - 1.0).abs()).fold(0.0, f64::max)
    };
    let [coarse, fine] = [16, 64].map(worst);
    assert!(fine < 0.01, "{fine}");
    assert!(fine < 0.6 * coarse, "{fine} after {coarse}");
}

/// A ball between floor and wall of a tank rests on the one and keeps off the other: it touches both at once. So does one in a groove.
#[test]
fn balls_touch_what_is_hollow_in_several_places() {
    let mut simulation = prepared(
        r#"
setup "corner" fps=24 frames=25 substeps=4
input "body" {
    sphere radius="10 cm" centre="0.85 0.1 0 m"
}
input "tank" {
    box size="2 2 2 m" centre="0 1 0 m"
    invert
}
rigid-body "body" input="body" velocity="2 0 0 m/s"
collider "tank" input="tank" friction=0.3
collision
gravity
"#,
    );
    let mut farthest = f64::NEG_INFINITY;
    for _ in 0..24 {
        frames(&mut simulation, 1);
        let at = centre(&simulation, "body");
        farthest = farthest.max(at.x);
        assert!(at.y > 0.1 - 1e-6 && at.x < 0.9 + 1e-6, "{at}");
    }
    assert!(farthest > 0.9 - 1e-6, "{farthest}");
}

/// A capsule across a box, a ring and a can on the floor: what is stable stays where it is.
#[test]
fn round_bodies_rest() {
    let mut simulation = prepared(
        r#"
setup "rest" fps=24 frames=25 substeps=2
input "block" {
    box size="30 10 30 cm" centre="0 0.05 0 m"
}
input "capsule" {
    capsule radius="5 cm" length="40 cm" axis="x"
    transform translate="0 0.15 0 m"
}
input "ring" {
    torus ring="10 cm" tube="3 cm" axis="y" centre="1 0.03 0 m"
}
input "can" {
    cylinder radius="5 cm" height="20 cm" axis="y"
    transform translate="2 0.1 0 m"
}
input "floor" {
    plane
}
rigid-body "block" input="block"
rigid-body "capsule" input="capsule"
rigid-body "ring" input="ring"
rigid-body "can" input="can"
collider "floor" input="floor"
collision
gravity
"#,
    );
    let all = ["block", "capsule", "ring", "can"];
    let begun = all.map(|name| centre(&simulation, name));
    frames(&mut simulation, 24);
    for (name, begun) in all.into_iter().zip(begun) {
        let moved = centre(&simulation, name).distance(begun);
        println!("{name}: {moved:e} m");
        assert!(moved < 1e-6, "{name} has moved by {moved:e} m");
    }
}
