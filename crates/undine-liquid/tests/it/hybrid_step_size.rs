//! How long substeps are: no particle crosses more voxels than the scene allows, whatever the liquid does.

use crate::scene::{
    GRAVITY, Scene, adaptive, cuboid, fixed, hybrid, middle, run, tank, velocities,
};
use undine_core::glam::DVec3;
use undine_geometry::Shape;
use undine_sim::Simulation;
use undine_sim::report::{Observer, SubstepReport};

const VOXEL: f64 = 0.05;

/// Keeps the reports of substeps.
#[derive(Default)]
struct Steps(Vec<SubstepReport>);

impl Observer for Steps {
    fn substep(&mut self, substep: &SubstepReport) {
        self.0.push(substep.clone());
    }
}

fn watched(simulation: &mut Simulation, frames: usize) -> Vec<SubstepReport> {
    let mut steps = Steps::default();
    for _ in 0..frames {
        simulation.advance_frame(&mut steps, |_, _| Ok(())).unwrap();
    }
    steps.0
}

fn ball() -> Shape {
    Shape::sphere(0.2).unwrap()
}

/// At rest it has no speed that a step could be told by, and yet it is fast at the end of a long one.
#[test]
fn liquid_that_falls_from_rest_does_not_outrun_its_first_step() {
    let mut simulation = Scene::of(ball(), VOXEL).under_gravity().simulation(adaptive(2.0, 1.0));
    let start = middle(&simulation).y;
    let steps = watched(&mut simulation, 1);
    let (mut speed, mut way) = (0.0, 0.0);
    for step in &steps {
        speed += GRAVITY * step.step;
        way += speed * step.step;
        assert!(speed * step.step < 1.001 * VOXEL, "{} voxels", speed * step.step / VOXEL);
    }
    // It falls for half a second through 1.2 m, so that 24 voxels need as many steps, and not many more.
    assert!((24..=40).contains(&steps.len()), "{} steps", steps.len());
    let fallen = start - middle(&simulation).y;
    assert!((fallen - way).abs() < 0.01 * VOXEL, "{fallen}, and {way} by its steps");
    assert!(steps.iter().all(|step| step.asked_by.as_deref() == Some("water")), "{steps:?}");
}

#[test]
fn fast_liquid_has_as_many_steps_as_it_crosses_voxels() {
    for (speed, cfl) in [(10.0, 1.0), (10.0, 2.5), (50.0, 5.0)] {
        let kind = hybrid(VOXEL).set("velocity", [speed, 0.0, 0.0]);
        let scene = Scene::of_kind(ball(), kind).weightless(0.0);
        let mut simulation = scene.simulation(adaptive(10.0, cfl));
        let steps = watched(&mut simulation, 1);
        let wanted = (speed * 0.1 / VOXEL / cfl).ceil() as usize;
        assert!((wanted..=wanted + 1).contains(&steps.len()), "{} not {wanted}", steps.len());
        assert!(steps.iter().all(|step| step.cfl < 1.001 * cfl));
        let fastest = velocities(&simulation).iter().map(|v| v.length()).fold(0.0, f64::max);
        assert!((fastest - speed).abs() < 1e-4 * speed, "{fastest}");
    }
}

#[test]
fn a_dam_that_breaks_keeps_to_its_courant_number() {
    let water = cuboid(DVec3::ZERO, DVec3::new(0.4, 0.6, 0.4));
    let walls = tank(DVec3::ZERO, DVec3::new(1.0, 1.0, 0.4));
    let scene = Scene::of(water, VOXEL).with_wall("tank", walls).under_gravity();
    let mut simulation = scene.simulation(adaptive(24.0, 1.0));
    let (mut most, mut count) = (0.0_f64, 0);
    for _ in 0..12 {
        let before = velocities(&simulation).iter().map(|v| v.length()).fold(0.0, f64::max);
        let steps = watched(&mut simulation, 1);
        count += steps.len();
        assert!(steps[0].step * before < 1.001 * VOXEL);
        most = most.max(steps.iter().map(|step| step.cfl).fold(0.0, f64::max));
    }
    println!("dam: CFL number {most:.3} at most, {count} steps in 12 frames");
    assert!(most < 1.001, "{most}");
}

#[test]
fn fixed_steps_are_as_many_as_said_and_the_liquid_goes_the_same_way() {
    let scene = || Scene::of(ball(), VOXEL).under_gravity();
    let mut told = scene().simulation(fixed(4.0, 20));
    let steps = watched(&mut told, 1);
    assert_eq!(steps.len(), 20);
    assert!(steps.iter().all(|step| (step.step - 0.0125).abs() < 1e-12));
    let mut chosen = scene().simulation(adaptive(4.0, 1.0));
    run(&mut chosen, 1);
    let apart = (middle(&told) - middle(&chosen)).length();
    assert!(apart < 0.5 * GRAVITY * 0.25 * 0.07, "{apart}");
}
