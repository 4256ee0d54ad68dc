//! What rests stays at rest: in vessels with walls hardly thicker than a voxel, in shallow water, and in honey.

use std::path::Path;
use undine::{catalogue, prepare};
use undine_core::memory::MemoryBudget;
use undine_scene::Scene;
use undine_sim::Simulation;

fn simulation(text: &str) -> Simulation {
    let scene = Scene::parse(Path::new("scene.kdl"), text, &catalogue(), &[])
        .unwrap_or_else(|report| panic!("{}", report.render(100)));
    prepare::simulation(&scene, MemoryBudget::unlimited()).unwrap_or_else(|why| panic!("{why}"))
}

/// Water in an open jar, 8.2 cm wide, in voxels of 5 mm.
fn jar(walls: f64) -> Simulation {
    simulation(&format!(
        "setup \"jar\" fps=24 frames=8\n\
         input \"jar\" {{\n    box size=\"{0} 8 {0} cm\" centre=\"0 4 0 cm\"\n    subtract {{\n        \
         box size=\"8.2 8 8.2 cm\" centre=\"0 5 0 cm\"\n    }}\n}}\n\
         input \"fill\" {{\n    box size=\"8.2 4 8.2 cm\" centre=\"0 3 0 cm\"\n}}\n\
         hybrid \"water\" input=\"fill\" voxel=\"5 mm\"\ncollider \"jar\" input=\"jar\"\n\
         walls\npressure\ngravity\n",
        8.2 + 2.0 * walls
    ))
}

/// Cells in walls have the surface of the liquid on the side that they are open to: what leads to the other side lets it out.
#[test]
fn a_jar_with_walls_of_a_voxel_and_a_fifth_stays_full() {
    for walls in [0.6, 0.8, 1.0] {
        let mut simulation = jar(walls);
        let full = simulation.budget().unwrap().potential_energy;
        for _ in 0..8 {
            simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap_or_else(|why| panic!("{why}"));
        }
        let left = simulation.budget().unwrap().potential_energy / full - 1.0;
        println!("walls of {walls} cm: potential energy {:+.2} %", 100.0 * left);
        assert!(left.abs() < 0.01, "{walls} cm: {left}");
    }
}

/// Beside a plank that has hardly risen, faces are all but closed: what the pressure does to the velocity there has a bound.
#[test]
fn a_plank_in_shallow_water_at_rest_stays_quiet() {
    let mut simulation = simulation(
        "setup \"shallow\" fps=24 frames=8\n\
         input \"tank\" {\n    box size=\"60 60 40 cm\" centre=\"0 30 0 cm\"\n    invert\n}\n\
         input \"pool\" {\n    box size=\"60 3 40 cm\" centre=\"0 1.5 0 cm\"\n    \
         subtract { box size=\"20 4 8 cm\" centre=\"12 2 -10 cm\"; }\n}\n\
         input \"plank\" {\n    box size=\"20 4 8 cm\" centre=\"12 2 -10 cm\"\n}\n\
         group \"all\" {\n    hybrid \"water\" input=\"pool\" voxel=\"2 cm\"\n    \
         rigid-body \"plank\" input=\"plank\" density=\"600 kg/m3\"\n    walls\n    pressure\n    \
         collision friction=0.4\n    collider \"tank\" input=\"tank\"\n}\ngravity\n",
    );
    for frame in 2..=8 {
        simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap_or_else(|why| panic!("{why}"));
        let energy = simulation.budget().unwrap().kinetic_energy;
        assert!(energy < 0.01, "{energy} J in frame {frame}");
    }
}

/// Viscosity alone would shear what gravity has accelerated for a step along the walls.
#[test]
fn honey_at_rest_in_a_box_rests() {
    let mut simulation = simulation(
        "setup \"honey\" fps=24 frames=8\n\
         input \"tank\" {\n    box size=\"8 20 8 cm\" centre=\"0 10 0 cm\"\n    invert\n}\n\
         input \"fill\" {\n    box size=\"8 4 8 cm\" centre=\"0 2 0 cm\"\n}\n\
         hybrid \"honey\" input=\"fill\" density=\"1400 kg/m3\" voxel=\"5 mm\"\ncollider \"tank\" input=\"tank\"\n\
         walls\nviscosity viscosity=\"10 Pa·s\"\npressure\ngravity\n",
    );
    for _ in 0..8 {
        simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap_or_else(|why| panic!("{why}"));
    }
    let now = simulation.budget().unwrap();
    let speed = (2.0 * now.kinetic_energy / now.mass).sqrt();
    println!("honey goes round at {speed:.2e} m/s");
    assert!(speed < 2e-3, "{speed} m/s");
}
