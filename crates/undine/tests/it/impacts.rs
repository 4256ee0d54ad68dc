//! Bodies hit bodies that stand close to others: what they have of momentum stays, and of energy no more than it was.

use std::path::Path;
use undine::{catalogue, prepare};
use undine_core::memory::MemoryBudget;
use undine_scene::Scene;
use undine_sim::Simulation;

fn prepared(text: &str) -> Simulation {
    let scene = Scene::parse(Path::new("scene.kdl"), text, &catalogue(), &[]);
    let scene = scene.unwrap_or_else(|report| panic!("{}", report.render(100)));
    prepare::simulation(&scene, MemoryBudget::unlimited()).unwrap_or_else(|why| panic!("{why}"))
}

/// A body that flies into a row of others, a gap [m] apart.
fn row(shape: &str, others: usize, gap: f64, restitution: f64, substeps: u32) -> String {
    let at = |n: usize| format!("{} 0.1 0 m", n as f64 * (0.2 + gap));
    let places: Vec<String> = (0..others).map(at).collect();
    format!(
        "setup \"row\" fps=24 frames=25 substeps={substeps}\n\
         input \"row\" {{\n    points at=\"{}\"\n}}\ninput \"hit\" {{\n    points at=\"-0.6 0.1 0 m\"\n}}\n\
         input \"body\" {{\n    {shape}\n}}\nrigid-body \"row\" input=\"row\" shape=\"body\"\n\
         rigid-body \"hit\" input=\"hit\" shape=\"body\" velocity=\"1 0 0 m/s\"\n\
         collision restitution={restitution} friction=0\n",
        places.join("; ")
    )
}

#[test]
fn what_hits_a_row_keeps_its_momentum() {
    let ball = "sphere radius=\"10 cm\"";
    let cases = [
        (ball, 2, 0.001, 1.0, 8),
        (ball, 4, 0.001, 1.0, 32),
        (ball, 2, 0.0001, 0.5, 8),
        (ball, 2, 0.005, 0.9, 16),
        ("box size=\"20 20 20 cm\"", 2, 0.001, 1.0, 8),
        ("sphere radius=\"10 cm\" form=\"surface\"", 2, 0.001, 1.0, 8),
    ];
    for (shape, others, gap, restitution, substeps) in cases {
        let mut simulation = prepared(&row(shape, others, gap, restitution, substeps));
        let start = simulation.budget().unwrap();
        for _ in 0..24 {
            simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap_or_else(|why| panic!("{why}"));
        }
        let now = simulation.budget().unwrap();
        let kept = now.momentum.x / start.momentum.x;
        let energy = now.kinetic_energy / start.kinetic_energy;
        println!(
            "{shape}, {others} others, gap {gap}, {restitution}, {substeps}: {kept} of momentum, {energy} of energy"
        );
        assert!((kept - 1.0).abs() < 1e-6, "{shape}, {others} others, {gap}: {kept}");
        // That of the momentum shared by all is the least that can be left.
        let least = 1.0 / (others as f64 + 1.0);
        assert!(energy > least - 1e-6 && energy < 1.001, "{shape}, {gap}: {energy}");
    }
}

/// Forty times as far as it is wide in a step, and half as far along the floor: what it meets on its way is far behind it where the step ends.
#[test]
fn what_hits_a_floor_aslant_keeps_its_energy_by_coarse_steps() {
    let shapes = [
        "sphere radius=\"10 cm\"",
        "box size=\"20 20 20 cm\"",
        "sphere radius=\"10 cm\" form=\"surface\"",
    ];
    for (shape, velocity) in
        shapes.iter().flat_map(|shape| ["0 -200 0", "100 -200 30"].map(|v| (shape, v)))
    {
        let text = format!(
            "setup \"hit\" fps=24 frames=3 substeps=1\ninput \"at\" {{\n    points at=\"0.3 1 0.1 m\"\n}}\n\
             input \"body\" {{\n    {shape}\n}}\ninput \"floor\" {{\n    box size=\"40 1 40 m\" centre=\"0 -50 0 cm\"\n}}\n\
             collider \"floor\" input=\"floor\"\nrigid-body \"ball\" input=\"at\" shape=\"body\" velocity=\"{velocity} m/s\"\n\
             collision restitution=1 friction=0\n"
        );
        let mut simulation = prepared(&text);
        let start = simulation.budget().unwrap();
        for _ in 0..2 {
            simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap_or_else(|why| panic!("{why}"));
        }
        let now = simulation.budget().unwrap();
        let energy = now.kinetic_energy / start.kinetic_energy;
        assert!((energy - 1.0).abs() < 1e-3, "{shape}, {velocity} m/s: {energy} of energy");
        let back = now.momentum.y / start.momentum.y;
        assert!((back + 1.0).abs() < 1e-3, "{shape}, {velocity} m/s: {back} of momentum");
    }
}
