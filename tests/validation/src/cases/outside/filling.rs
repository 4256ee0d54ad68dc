//! What is thin beside a voxel: films that are to be filled with liquid, and what is left between a wall and a lattice plane.

use super::scene::{GRAVITY, advance, simulation, steps_of_frame};
use crate::page::Case;
use crate::verdict::Verdict;
use undine_sim::Result;

/// Films.
pub const FILM: Case = Case {
    name: "outside-film",
    doc: "Films of 0.1, 2 and 25 mm of water have the mass of their shapes, and keep it as they fall into a tank for 10 frames, at two \
          resolutions.",
    run: || film().unwrap_or_else(Verdict::broken),
};

/// Walls.
pub const WALL: Case = Case {
    name: "outside-wall-beside-plane",
    doc: "A dam breaks against a wall that is on a lattice plane, 1e-12 m past it or 1 µm past it: the same energy after the impact, at three \
          resolutions. No frame gains energy, but for the ½Δt·g·p_y by which steps Δt of symplectic Euler are off it in free fall.",
    run: || wall().unwrap_or_else(Verdict::broken),
};

fn film() -> Result<Verdict> {
    let mut verdict = Verdict::new();
    for voxel in [2.0, 1.0] {
        for thickness in [0.1, 2.0, 25.0] {
            let mut simulation = simulation(&format!(
                r#"
setup "film" fps=24 frames=11 cfl=1.5
input "film" {{
    box size="200 {thickness} 200 mm" centre="0 100 0 mm"
}}
input "tank" {{
    box size="40 60 40 cm" centre="0 30 0 cm"
    invert
}}
hybrid "water" input="film" voxel="{voxel} cm"
collider "tank" input="tank"
walls
pressure
gravity
"#
            ));
            let wanted = 998.2 * 0.2 * 0.2 * 1e-3 * thickness;
            for (frames, when) in [(0, "in the beginning"), (10, "after 10 frames")] {
                advance(&mut simulation, frames)?;
                let found = simulation.budget()?.mass;
                let name = format!("mass of {thickness} mm [kg] {when}, voxels of {voxel} cm");
                verdict = verdict.near(&name, found, wanted, 0.01 * wanted);
            }
        }
    }
    Ok(verdict)
}

const WHY: &str = "in one frame of the impact, at coarse voxels; it falls with them";

/// A dam that breaks in a tank whose far wall is at 0.5 m and so much more.
fn dam(voxel: f64, more: f64) -> String {
    let (length, middle) = (0.5 + more, 0.25 + 0.5 * more);
    format!(
        r#"
setup "dam" fps=24 frames=9 cfl=1.5 substeps=2
input "tank" {{
    box size="{length} 1 0.25 m" centre="{middle} 0.5 0.125 m"
    invert
}}
input "pool" {{
    box size="0.25 0.25 0.25 m" centre="0.125 0.125 0.125 m"
}}
hybrid "water" input="pool" voxel="{voxel} m"
collider "tank" input="tank"
walls
pressure
gravity
"#
    )
}

/// The energy after the impact [J], and the largest part that any frame gains.
fn breaks(voxel: f64, more: f64) -> Result<[f64; 2]> {
    let mut simulation = simulation(&dam(voxel, more));
    let mut before = simulation.budget()?;
    let mut gained = 0.0_f64;
    for _ in 0..8 {
        let steps = steps_of_frame(&mut simulation)?;
        let step = steps.iter().map(|step| step.step).sum::<f64>() / steps.len() as f64;
        let now = simulation.budget()?;
        let falls = 0.5 * step * GRAVITY * (now.momentum.y - before.momentum.y);
        gained = gained.max((now.energy() - before.energy() - falls) / before.energy());
        before = now;
    }
    Ok([before.energy(), gained])
}

fn wall() -> Result<Verdict> {
    let mut verdict = Verdict::new();
    for voxel in [0.03125, 0.015625, 0.0078125] {
        let name =
            |what: &str, wall: &str| format!("{what}, wall {wall}, voxels of {} mm", 1e3 * voxel);
        let [aligned, gained] = breaks(voxel, 0.0)?;
        let gain = name("largest gain of a frame", "on a plane");
        verdict = verdict.at_most_or(&gain, gained, [0.002, 0.004], WHY);
        for (more, wall) in [(1e-12, "1e-12 m past it"), (1e-6, "1 µm past it")] {
            let [energy, gained] = breaks(voxel, more)?;
            verdict = verdict
                .near(
                    &name("energy over that of a wall on a plane", wall),
                    energy / aligned,
                    1.0,
                    0.01,
                )
                .at_most_or(&name("largest gain of a frame", wall), gained, [0.002, 0.004], WHY);
        }
    }
    Ok(verdict)
}
