//! Water that flows out through a slot in the floor of a tank.

use super::scene::{GRAVITY, advance, simulation};
use crate::page::Case;
use crate::verdict::Verdict;
use undine_sim::{Result, Simulation};

/// Plates of several thicknesses.
pub const SLOT: Case = Case {
    name: "outside-slot",
    doc: "A stream through a slot of 8 cm, in a plate no thicker than half of that, separates from its upper edges and fills 0.616 of it, in a \
          tank five times as wide (von Mises 1917), whatever the thickness of the plate, at two resolutions.",
    run: || slot().unwrap_or_else(Verdict::broken),
};

/// Of the tank, of the slot, and how high the water is to begin with [m].
const WIDE: f64 = 0.4;
const SLOT_WIDTH: f64 = 0.08;
const HIGH: f64 = 0.3;
/// Frames in a second.
const FPS: f64 = 50.0;
/// The part of the slot that the stream fills.
const CONTRACTION: f64 = 0.616;

const WHY: &str =
    "the error is half a voxel at each edge of the stream, and halves with the voxels";

fn slot() -> Result<Verdict> {
    let mut verdict = Verdict::new();
    for (voxel, plates) in [(0.01, &[0.5, 1.0, 2.0, 4.0][..]), (0.005, &[2.0, 4.0])] {
        for thick in plates {
            let found = contraction(voxel, thick * voxel)?;
            let name = format!(
                "part that is filled, {thick} voxels thick, voxels of {} cm",
                100.0 * voxel
            );
            let limits = [1.0, 0.05, 0.09].map(|part| part * CONTRACTION);
            verdict = verdict.near_or(&name, found, limits, WHY);
        }
    }
    Ok(verdict)
}

fn tank(voxel: f64, thick: f64) -> String {
    let (deep, aside) = (4.0 * voxel, 0.5 * (WIDE + SLOT_WIDTH));
    let plate = |name: &str, x: f64| {
        let (deep, middle) = (2.0 * deep, -0.5 * thick);
        format!(
            r#"
input "{name}" {{
    box size="{WIDE} {thick} {deep} m" centre="{x} {middle} 0 m"
}}
collider "{name}" input="{name}""#
        )
    };
    let (plates, middle) = ([plate("left", -aside), plate("right", aside)].concat(), 0.5 * HIGH);
    format!(
        r#"
setup "slot" fps={FPS} frames=60 cfl=1
input "water" {{
    box size="{WIDE} {HIGH} {deep} m" centre="0 {middle} 0 m"
}}
input "tank" {{
    box size="{WIDE} 6 {deep} m"
    invert
}}
input "below" {{
    plane centre="0 -0.3 0 m"
}}{plates}
hybrid "water" input="water" voxel="{voxel} m"
collider "tank" input="tank"
kill inside="below"
walls
pressure
gravity
"#
    )
}

/// How many particles are over the floor.
fn over_the_floor(simulation: &Simulation) -> Result<usize> {
    let mut count = 0;
    for (_, particles) in simulation.world.particles.iter() {
        count += particles.world_positions()?.iter().filter(|at| at.y > 0.0).count();
    }
    Ok(count)
}

/// The part of the slot that the stream fills: √h of the height h of the water falls in a straight line of time, by
/// ½ C w/W √(2g / (1 − (C w/W)²)), once the stream has set up.
fn contraction(voxel: f64, thick: f64) -> Result<f64> {
    let mut simulation = simulation(&tank(voxel, thick));
    let begun = over_the_floor(&simulation)?;
    let mut line = Vec::new();
    for frame in 1..60 {
        advance(&mut simulation, 1)?;
        let left = over_the_floor(&simulation)? as f64 / begun as f64;
        if left < 0.6 {
            break;
        }
        if left < 0.85 {
            line.push((f64::from(frame) / FPS, (HIGH * left).sqrt()));
        }
    }
    let count = line.len() as f64;
    let (t, h) = line.iter().fold((0.0, 0.0), |(t, h), at| (t + at.0 / count, h + at.1 / count));
    let (rise, run) = line.iter().fold((0.0, 0.0), |(rise, run), at| {
        (rise + (at.0 - t) * (at.1 - h), run + (at.0 - t).powi(2))
    });
    // q = C w/W / √(1 − (C w/W)²)
    let q = -2.0 * rise / run / (2.0 * GRAVITY).sqrt();
    Ok(q / (1.0 + q * q).sqrt() * WIDE / SLOT_WIDTH)
}
