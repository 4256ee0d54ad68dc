//! Whole scenes, held against nature and against ill will.

use std::path::Path;
use undine::{RunError, catalogue, prepare};
use undine_core::glam::DVec3;
use undine_core::memory::MemoryBudget;
use undine_scene::Scene;
use undine_sim::Simulation;

fn scene(text: &str) -> Scene {
    let scene = Scene::parse(Path::new("scene.kdl"), text, &catalogue(), &[]);
    scene.unwrap_or_else(|report| panic!("{}", report.render(100)))
}

fn prepared(text: &str) -> Result<Simulation, RunError> {
    prepare::simulation(&scene(text), MemoryBudget::unlimited())
}

pub fn after(text: &str, frames: u32) -> Simulation {
    let mut simulation = prepared(text).unwrap_or_else(|why| panic!("{why}"));
    for _ in 0..frames {
        simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap_or_else(|why| panic!("{why}"));
    }
    simulation
}

fn positions(simulation: &Simulation) -> Vec<DVec3> {
    let stores = simulation.world.particles.iter();
    stores.flat_map(|(_, particles)| particles.world_positions().unwrap()).collect()
}

fn refused(text: &str) -> String {
    match prepared(text) {
        Err(RunError::Scene(report)) => report.render(100),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("not refused"),
    }
}

const JET: &str = r#"
setup "jet" frames=24
input "nozzle" {
    points at="0 0 0 m"
}
particles "drops"
emit input="nozzle" rate="1000 Hz" velocity="10 0 0 m/s"
"#;

/// Born within a step, a particle flies the rest of that step and no more: the front is at v t, for any number of substeps.
#[test]
fn what_is_born_flies_since_its_birth() {
    for substeps in ["1", "7"] {
        let text = JET.replace("frames=24", &format!("frames=24 substeps={substeps}"));
        let simulation = after(&text, 2);
        let front = positions(&simulation).into_iter().fold(0.0, |most: f64, at| most.max(at.x));
        let most = 10.0 * 2.0 / 24.0;
        assert!(front <= most * (1.0 + 1e-6) && front > 0.9 * most, "{front} of {most}");
        assert_eq!(positions(&simulation).len(), 83);
    }
}

#[test]
fn what_is_born_before_a_wall_stays_before_it() {
    let wall = r#"
input "wall" {
    box size="0.02 4 4 m" centre="0.2 0 0 m"
}
collider "wall" input="wall"
collision
"#;
    let simulation = after(&format!("{JET}{wall}"), 12);
    let beyond = positions(&simulation).into_iter().filter(|at| at.x > 0.2).count();
    assert_eq!(beyond, 0, "of {}", positions(&simulation).len());
}

/// A light ball on a soft spring in air comes to rest where m g = k x, also with one Newton iteration.
#[test]
fn a_ball_that_hangs_in_air_sags_by_its_weight() {
    let text = r#"
setup "sag" frames=240 substeps=1
input "ball" {
    points at="0 0 0 m"
}
input "hook" {
    sphere radius="1 mm"
}
particles "ball" input="ball" radius="8 mm" density="1 kg/m3"
rigid-body "hook" input="hook" kinematic=#true spacing="1 mm"
attachment to="hook" normal-stiffness="0.01 N/m" tangent-stiffness="0.01 N/m"
gravity
drag
"#;
    let simulation = after(text, 240);
    let (mass, stiffness) = (4.0 / 3.0 * std::f64::consts::PI * 0.008_f64.powi(3), 0.01);
    let wanted = -mass * 9.80665 / stiffness;
    let found = positions(&simulation)[0].y;
    assert!((found / wanted - 1.0).abs() < 0.02, "{found} m is not {wanted} m");
}

#[test]
fn what_cannot_be_is_refused_at_its_line() {
    let text = JET.replace("rate=", "start=\"2 s\" end=\"1 s\" rate=");
    assert!(refused(&text).contains("before it begins"), "{}", refused(&text));
    let text = r#"
setup "dust" frames=2
input "cloud" {
    points at="0 0 0 m; 1 0 0 m"
    set channel="mass" value="0 kg"
}
particles "dust" input="cloud"
"#;
    assert!(refused(text).contains("mass of 0 kg"), "{}", refused(text));
    let text = text.replace("    set channel=\"mass\" value=\"0 kg\"\n", "");
    let text = text.replace("input=\"cloud\"", "input=\"cloud\" radius=1e-20");
    assert!(refused(&text).contains("mass"), "{}", refused(&text));
}

/// Inputs that name the one before twice are looked at once each, not twice as often each time.
#[test]
fn inputs_that_name_each_other_often_cost_little() {
    let mut text =
        String::from("setup \"many\" frames=2\ninput \"s0\" {\n    points at=\"0 0 0 m\"\n}\n");
    for n in 0..60 {
        text += &format!(
            "input \"s{}\" {{\n    from input=\"s{n}\"\n    merge with=\"s{n}\"\n}}\n",
            n + 1
        );
    }
    text += "particles \"p\" input=\"s3\"\n";
    let simulation = after(&text, 1);
    assert_eq!(positions(&simulation).len(), 8);
}

#[test]
fn more_births_than_memory_are_refused_before_they_take_it() {
    let text = JET.replace("1000 Hz", "1e8 Hz");
    let mut simulation = prepare::simulation(&scene(&text), MemoryBudget::new(64 << 20))
        .unwrap_or_else(|why| panic!("{why}"));
    let why = simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap_err();
    assert!(why.to_string().contains("memory budget"), "{why}");
}

/// More rigid bars than points can follow: the run stops, names the Constraint, and says what would be right.
#[test]
fn bars_that_say_the_same_twice_are_named() {
    let text = r#"
setup "bars" frames=4
input "five" {
    points at="0 0 0 m; 1 0 0 m; 0 1 0 m; 0 0 1 m; 1 1 1 m"
    set channel="v" value="-1 -1 -1 m/s" most="1 1 1 m/s"
}
particles "five" input="five" radius="1 cm"
springs "bars" range="3 m" rigid=#true
"#;
    let mut simulation = prepared(text).unwrap_or_else(|why| panic!("{why}"));
    let why = simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap_err();
    let told = why.to_string();
    assert!(told.contains("bars") && told.contains("leave some out"), "{told}");
}

/// A step that is shorter than what a position in `f32` resolves still counts: v t after many of them.
#[test]
fn slow_particles_get_on_in_short_steps() {
    let text = r#"
setup "slow" frames=48 substeps=200
input "one" {
    points at="0.7 0.7 0.7 m"
}
particles "one" input="one" velocity="0.1 0 0 mm/s"
"#;
    let moved = positions(&after(text, 47))[0].x - 0.7;
    let wanted = 1e-4 * 47.0 / 24.0;
    assert!((moved / wanted - 1.0).abs() < 1e-3, "{moved} m is not {wanted} m");
}

/// Half a second at a rate that grows from 0 to 1000 Hz, and half a second at that: 250 and 500 births.
#[test]
fn a_keyed_rate_bears_its_integral() {
    let rate = "emit input=\"nozzle\" velocity=\"1 0 0 m/s\" {\n    rate {\n        key \"0 s\" \"0 Hz\"\n        key \"0.5 s\" \"1000 Hz\"\n    }\n}";
    let text = JET.replace("emit input=\"nozzle\" rate=\"1000 Hz\" velocity=\"10 0 0 m/s\"", rate);
    assert_eq!(positions(&after(&text, 24)).len(), 750);
}

/// Chosen anew in every step, the same pair is held as before: it sags once, and does not creep.
#[test]
fn what_is_chosen_again_is_held_as_before() {
    let text = r#"
setup "held" frames=96 substeps=4
input "ball" {
    points at="0.3 -5 0.2 mm"
}
input "hook" {
    sphere radius="1 mm"
}
particles "ball" input="ball" radius="1 cm"
rigid-body "hook" input="hook" kinematic=#true spacing="1 mm"
attachment to="hook" every-step=#true normal-stiffness="1 kN/m" tangent-stiffness="1 kN/m" damping-time="10 ms"
gravity
"#;
    let mass = 4.0 / 3.0 * std::f64::consts::PI * 1e-6 * 1000.0;
    let wanted = -mass * 9.80665 / 1000.0;
    for frames in [24, 95] {
        let found = positions(&after(text, frames))[0].y + 5e-3;
        assert!((found / wanted - 1.0).abs() < 0.05, "{found} m is not {wanted} m");
    }
}

#[test]
fn a_channel_that_a_force_cannot_take_is_named() {
    let text = r#"
setup "air" frames=4
input "cloud" {
    points at="0 0 0 m; 1 0 0 m"
    set channel="air-density" value="-3 kg/m3"
}
particles "dust" input="cloud"
gravity
drag
"#;
    let mut simulation = prepared(text).unwrap_or_else(|why| panic!("{why}"));
    let told = simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap_err().to_string();
    assert!(told.contains("air-density") && told.contains("drag"), "{told}");
}

/// A ball in free fall keeps its energy: ½ m v² − m g·x, far from the origin as near to it; and bodies count like particles.
#[test]
fn what_falls_turns_energy_of_place_into_energy_of_motion() {
    for object in [
        "particles \"it\" input=\"it\" radius=\"10 cm\" velocity=\"1 3 0 m/s\"",
        "rigid-body \"it\" input=\"it\" shape=\"ball\" velocity=\"1 3 0 m/s\"",
    ] {
        let text = format!(
            "setup \"fall\" frames=24\ninput \"it\" {{\n    points at=\"0 20 0 m\"\n}}\n\
             input \"ball\" {{\n    sphere radius=\"10 cm\"\n}}\n{object}\ngravity\n"
        );
        let start = prepared(&text).unwrap_or_else(|why| panic!("{why}")).budget().unwrap();
        let wanted = start.mass * 9.80665 * 20.0;
        assert!((start.potential_energy / wanted - 1.0).abs() < 1e-6, "{start:?}");
        let end = after(&text, 23).budget().unwrap();
        assert!(end.potential_energy < 0.95 * start.potential_energy, "{end:?}");
        let energy = |budget: &undine_sim::Budget| budget.kinetic_energy + budget.potential_energy;
        // Bodies take a backward Euler step, which loses ½ m (g Δt)² in each.
        let lost = 23.0 * 0.5 * start.mass * (9.80665_f64 / 24.0).powi(2);
        let change = energy(&end) - energy(&start);
        assert!(change.abs() <= 1.01 * lost + 1e-5 * wanted, "{change} J of {wanted} J");
    }
}

/// What spins fast asks for short steps, too.
#[test]
fn a_spinning_body_asks_for_steps_by_the_speed_of_its_boundary() {
    let text = r#"
setup "spin" frames=4 cfl=1 max-substeps=100000
input "box" {
    box size="1 1 1 m"
}
rigid-body "box" input="box" spin="0 100 0 rad/s" voxel="10 cm"
"#;
    let (step, object) = after(text, 1).longest_step().unwrap();
    assert_eq!(object, "box");
    // Boundary particles are on the faces, between half a side and half a diagonal from the axis.
    assert!((0.1 / 100.0 / 0.71..0.1 / 100.0 / 0.4).contains(&step), "{step} s");
}
