//! A dam breaks onto a box: SPHERIC test 2, measured at MARIN (K. M. T. Kleefsman et al., *A Volume-of-Fluid Based Simulation Method
//! for Wave Impact Problems*, 2005).
//!
//! A tank of 3.22 × 1 × 1 m, water 0.55 m deep behind x = 1.992 m, a box in its way. Heights are told at mid-width by place (the columns
//! H1 and H3 of the published file are exchanged with respect to its description, as the times at which water comes show).

use super::scene::{Cell, cells, cuboid, water};
use crate::page::Case;
use crate::verdict::Verdict;
use undine_core::glam::DVec3;

/// The case.
pub const MARIN: Case = Case {
    name: "liquid-marin",
    doc: "Heights and impact of a dam break onto a box, against SPHERIC test 2 (Kleefsman et al. 2005), 24 cells across the tank.",
    run,
};

const VOXEL: f64 = 1.0 / 24.0;
/// Frames in a second.
const RATE: f64 = 100.0;
/// How long [s].
const LENGTH: f64 = 2.5;

/// The time [s], and the heights at x = 2.638 and 0.992 m [m].
const HEIGHTS: [[f64; 3]; 23] = [
    [0.0, 0.550, 0.001],
    [0.1, 0.534, 0.001],
    [0.2, 0.511, 0.001],
    [0.3, 0.486, 0.001],
    [0.4, 0.459, 0.046],
    [0.5, 0.427, 0.099],
    [0.6, 0.395, 0.119],
    [0.7, 0.363, 0.131],
    [0.8, 0.332, 0.147],
    [0.9, 0.303, 0.166],
    [1.0, 0.279, 0.179],
    [1.1, 0.254, 0.185],
    [1.2, 0.233, 0.195],
    [1.3, 0.214, 0.207],
    [1.4, 0.197, 0.201],
    [1.5, 0.182, 0.236],
    [1.6, 0.170, 0.256],
    [1.7, 0.159, 0.319],
    [1.8, 0.147, 0.333],
    [1.9, 0.138, 0.289],
    [2.0, 0.130, 0.286],
    [2.25, 0.115, 0.290],
    [2.5, 0.104, 0.281],
];

/// The highest pressure at the gauge P2, 61 mm above the floor on the face of the box [Pa], and when a quarter of it is passed [s].
const PEAK: [f64; 2] = [8127.0, 0.412];

fn run() -> Verdict {
    match simulate() {
        Ok(verdict) => verdict,
        Err(why) => Verdict::broken(why),
    }
}

fn simulate() -> undine_sim::Result<Verdict> {
    let tank = cuboid(DVec3::ZERO, DVec3::new(3.22, 1.0, 1.0)).inverted()?;
    let obstacle = cuboid(DVec3::new(0.6635, -0.1, 0.2955), DVec3::new(0.8245, 0.161, 0.6985));
    let column = cuboid(DVec3::new(1.992, 0.0, 0.0), DVec3::new(3.22, 0.55, 1.0));
    let mut simulation = water(column, vec![tank, obstacle], VOXEL, RATE)?;
    let budget = simulation.budget()?;
    let (mass, start) = (budget.mass, budget.kinetic_energy + budget.potential_energy);

    let frames = (RATE * LENGTH) as usize;
    let (mut pressures, mut gauges, mut volumes, mut gained) =
        (vec![0.0], Vec::new(), Vec::new(), 0.0_f64);
    for frame in 1..=frames {
        simulation.advance_frame(&mut (), |_, _| Ok(()))?;
        let all = cells(&simulation);
        if frame == 1 {
            gauges.push([2.638, 0.992].map(|x| height(&all, x)));
        }
        gauges.push([2.638, 0.992].map(|x| height(&all, x)));
        pressures.push(pressure(&all));
        volumes.push(all.iter().map(|cell| cell.part).sum::<f64>());
        let budget = simulation.budget()?;
        gained = gained.max((budget.kinetic_energy + budget.potential_energy) / start - 1.0);
    }

    let mut verdict = Verdict::new();
    for (n, (x, most)) in [(2.638, 0.55), (0.992, 0.333)].into_iter().enumerate() {
        let errors = HEIGHTS.map(|row| {
            let at = ((row[0] * RATE).round() as usize).min(frames);
            (gauges[at][n] - row[n + 1]).abs()
        });
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        let name = format!("mean error of the height at x = {x} m, over its maximum");
        verdict = verdict.at_most(&name, mean / most, 0.12);
    }
    let early = &pressures[..(0.6 * RATE) as usize];
    let peak = early.iter().fold(0.0_f64, |most, p| most.max(*p));
    let came = early.iter().position(|p| *p > 0.25 * peak).unwrap_or(0) as f64 / RATE;
    let drift = volumes.iter().map(|v| (v / volumes[0] - 1.0).abs()).fold(0.0, f64::max);
    let lost = (simulation.budget()?.mass / mass - 1.0).abs();
    Ok(verdict
        .near("P2, highest pressure of the impact [Pa]", peak, PEAK[0], 0.2 * PEAK[0])
        .near("P2, when it comes [s]", came, PEAK[1], 0.2 * PEAK[1])
        // Spray looks larger than what it is made of.
        .at_most("drift of the volume in 2.5 s", drift, 0.03)
        .at_most("drift of the mass", lost, 1e-6)
        .at_most("energy gained, over that of the start", gained, 0.005))
}

/// How deep the water is at mid-width [m]: all that is above the floor there.
fn height(cells: &[Cell], x: f64) -> f64 {
    let here = |cell: &&Cell| {
        (cell.centre.x - x).abs() <= 0.5 * VOXEL
            && (cell.centre.z - 0.5 + 1e-6).abs() <= 0.5 * VOXEL
    };
    cells.iter().filter(here).map(|cell| VOXEL * cell.part).sum()
}

/// The pressure at the gauge P2 [Pa], in the cell in front of the box; nothing where there is no water.
fn pressure(cells: &[Cell]) -> f64 {
    let gauge = DVec3::new(0.8245 + 0.5 * VOXEL, 0.061, 0.471);
    let near = cells.iter().filter(|cell| (cell.centre - gauge).abs().max_element() <= VOXEL);
    let (mut sum, mut weights) = (0.0, 0.0);
    for cell in near {
        // By a tent along each axis, of the cells that hold water.
        let tent = DVec3::ONE - (cell.centre - gauge).abs() / VOXEL;
        let weight = tent.x.max(0.0) * tent.y.max(0.0) * tent.z.max(0.0);
        sum += weight * cell.pressure;
        weights += weight;
    }
    if weights > 0.0 { sum / weights } else { 0.0 }
}
