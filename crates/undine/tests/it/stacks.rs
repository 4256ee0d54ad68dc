//! Stacks of crates: contacts that are few, solved, and told of where they are not.

use std::path::Path;
use undine::{catalogue, prepare};
use undine_core::glam::DVec3;
use undine_core::memory::MemoryBudget;
use undine_scene::Scene;
use undine_sim::Simulation;
use undine_sim::report::{Observer, SolveRecord, SubstepReport};

fn prepared(text: &str) -> Simulation {
    let scene = Scene::parse(Path::new("scene.kdl"), text, &catalogue(), &[]);
    let scene = scene.unwrap_or_else(|report| panic!("{}", report.render(100)));
    prepare::simulation(&scene, MemoryBudget::unlimited()).unwrap_or_else(|why| panic!("{why}"))
}

/// How contacts were solved, substep by substep.
#[derive(Default)]
struct Solves(Vec<SolveRecord>);

impl Observer for Solves {
    fn substep(&mut self, report: &SubstepReport) {
        self.0.extend(report.solves.iter().filter(|solve| solve.system == "contacts").cloned());
    }
}

fn places(simulation: &Simulation) -> Vec<DVec3> {
    let (_, bodies) =
        simulation.world.points.iter().find(|(_, points)| points.label() == "crates").unwrap();
    bodies.column(bodies.position()).unwrap().to_vec()
}

/// Two stacks of three crates that stand on each other exactly, or turned.
fn stacks(turned: &str, substeps: u32) -> String {
    format!(
        r#"
setup "stack" fps=24 frames=13 substeps={substeps}
input "floor" {{
    plane
}}
input "crate" {{
    box size="12 12 12 cm"
    transform rotate="0 {turned} 0 deg"
}}
input "places" {{
    points at="0 6 0 cm; 0 18 0 cm; 0 30 0 cm; 20 6 0 cm; 20 18 0 cm; 20 30 0 cm"
}}
rigid-body "crates" input="places" shape="crate" density="500 kg/m3"
collider "floor" input="floor"
collision friction=0.4
gravity
"#
    )
}

/// Each solve gets there, in few sweeps, with no more contacts than corners; and nothing moves.
#[test]
fn stacks_at_rest_converge() {
    for (turned, substeps) in [("0", 1), ("0", 4)] {
        let mut simulation = prepared(&stacks(turned, substeps));
        let begun = places(&simulation);
        let mut solves = Solves::default();
        for _ in 0..12 {
            simulation
                .advance_frame(&mut solves, |_, _| Ok(()))
                .unwrap_or_else(|why| panic!("{why}"));
        }
        let most = solves.0.iter().map(|solve| solve.iterations).max().unwrap();
        let contacts = solves.0.iter().map(|solve| solve.unknowns).max().unwrap();
        let moved = begun.iter().zip(places(&simulation)).map(|(a, b)| a.distance(b));
        let moved = moved.fold(0.0, f64::max);
        println!("{turned}°, {substeps}: {most} sweeps, {contacts} contacts, {moved:e} m");
        assert!(solves.0.iter().all(|solve| solve.converged), "{:?}", solves.0.last());
        assert!(most <= 200, "{most} sweeps");
        assert!(contacts <= 6 * 8, "{contacts} contacts");
        assert!(moved < 1e-5, "{moved:e} m");
    }
}

/// A crate on the corner of a table that carries three quarters of it stays; one that is carried by less than half of it falls.
#[test]
fn crates_stand_on_what_is_under_them() {
    let over = |x: f64| {
        let text =
            stacks("0", 2).replace("plane", r#"box size="1 1 1 m" centre="0 -0.5 0 m""#).replace(
                "0 6 0 cm; 0 18 0 cm; 0 30 0 cm; 20 6 0 cm; 20 18 0 cm; 20 30 0 cm",
                &format!("{x} 6 0 cm"),
            );
        let mut simulation = prepared(&text);
        let begun = places(&simulation)[0];
        for _ in 0..12 {
            simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap_or_else(|why| panic!("{why}"));
        }
        places(&simulation)[0].distance(begun)
    };
    let [stays, falls] = [47.0, 51.5].map(over);
    println!("{stays:e} m and {falls} m");
    assert!(stays < 1e-6 && falls > 0.02, "{stays:e} m and {falls} m");
}
