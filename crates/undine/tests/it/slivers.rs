//! Walls beside lattice planes: what is left between both is no cell of its own.

use std::path::Path;
use undine::{catalogue, prepare};
use undine_core::memory::MemoryBudget;
use undine_scene::Scene;
use undine_sim::Simulation;

const VOXEL: f64 = 0.03125;
const SUBSTEPS: u32 = 8;

/// A dam breaks in a tank, whose far wall is at x = 0.5 m and so much more.
fn dam(more: f64) -> Simulation {
    let (long, middle) = (0.5 + more, 0.25 + 0.5 * more);
    let text = format!(
        "setup \"dam\" fps=24 frames=12 substeps={SUBSTEPS}\n\
         input \"tank\" {{\n    box size=\"{long:?} 1 0.25 m\" centre=\"{middle:?} 0.5 0.125 m\"\n    invert\n}}\n\
         input \"pool\" {{\n    box size=\"0.25 0.25 0.25 m\" centre=\"0.125 0.125 0.125 m\"\n}}\n\
         hybrid \"water\" input=\"pool\" voxel=\"{VOXEL} m\"\ncollider \"tank\" input=\"tank\"\n\
         walls\npressure\ngravity\noutput dir=\"cache\"\n"
    );
    let scene = Scene::parse(Path::new("scene.kdl"), &text, &catalogue(), &[])
        .unwrap_or_else(|report| panic!("{}", report.render(100)));
    prepare::simulation(&scene, MemoryBudget::unlimited()).unwrap_or_else(|why| panic!("{why}"))
}

/// The energy of every frame [J], with what symplectic Euler's differs by: v falls by gΔt before y takes it, so that in free fall
/// E − ½Δt·g·p_y stays.
fn energies(more: f64) -> Vec<f64> {
    let mut simulation = dam(more);
    let step = 1.0 / (24.0 * f64::from(SUBSTEPS));
    let mut found = Vec::new();
    for _ in 0..9 {
        let now = simulation.budget().unwrap();
        let falls = 0.5 * step * 9.80665 * now.momentum.y;
        found.push(now.kinetic_energy + now.potential_energy - falls);
        simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap_or_else(|why| panic!("{why}"));
    }
    found
}

#[test]
fn a_wall_beside_a_lattice_plane_is_as_good_as_one_on_it() {
    let aligned = energies(0.0);
    let more = if std::env::var_os("UNDINE_FULL").is_some() { vec![1e-13] } else { Vec::new() };
    let beside = [3e-11, 6.4e-5].into_iter().chain(more);
    let beside = beside.map(|voxels| (voxels, energies(voxels * VOXEL)));
    for (voxels, found) in std::iter::once((0.0, aligned.clone())).chain(beside) {
        let gained = found.windows(2).map(|pair| pair[1] / pair[0] - 1.0).fold(0.0, f64::max);
        let off = found[8] / aligned[8] - 1.0;
        println!(
            "{voxels} voxels on: {:+.2} % of the aligned wall's, gains {:.3} %",
            100.0 * off,
            100.0 * gained
        );
        assert!(off.abs() < 0.01, "{voxels}: {off}");
        assert!(gained < 0.003, "{voxels}: {gained}");
    }
}
