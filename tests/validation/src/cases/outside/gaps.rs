//! Cubes under water, on or over the floor of a tank: water gets into the gap between, however thin it is, and out of it.
//!
//! By potential flow the added mass of a cube of the side L at a gap g over a floor is (0.641 + 0.0465 L/g) ρL³.

use super::scene::{GRAVITY, advance, of_points, simulation};
use crate::page::Case;
use crate::verdict::Verdict;
use undine_core::glam::DVec3;
use undine_sim::Result;

/// Light cubes.
pub const RISING: Case = Case {
    name: "outside-gaps-rising",
    doc: "How long cubes of foam (60 kg/m³) and wood (500 kg/m³) take to rise by 2 cm from the floor under 20 cm of water, by potential \
          flow with an added mass of (0.641 + 0.0465 L/g) ρL³ over a gap g, at two resolutions. On the floor itself, with no gap at all, \
          it takes at most twice as long as from a gap of 3 mm.",
    run: || rising().unwrap_or_else(Verdict::broken),
};

/// A heavy cube.
pub const SINKING: Case = Case {
    name: "outside-gaps-sinking",
    doc: "A cube of 1900 kg/m³ sinks onto the floor from a gap of 3 cm in the time that potential flow with the same added mass gives it, \
          and lies there for the rest of a second: it neither bounces nor hangs over the floor, at two resolutions and two lengths of steps.",
    run: || sinking().unwrap_or_else(Verdict::broken),
};

/// The side of the cubes [m].
const SIDE: f64 = 0.12;
/// Of a frame [s].
const FRAME: f64 = 0.01;
/// Of voxels [m].
const SIZES: [f64; 2] = [0.02, 0.01];

/// A tank of 60 × 40 cm with 20 cm of water, and cubes in it: by name, density [kg/m³], place along the tank [m] and gap below [m].
fn tank(voxel: f64, substeps: u32, cubes: &[(&str, f64, f64, f64)]) -> String {
    let mut text = format!(
        r#"
setup "tank" fps=100 frames=101 substeps={substeps}
input "tank" {{
    box size="60 80 40 cm" centre="0 40 0 cm"
    invert
}}
"#
    );
    let (mut taken, mut bodies) = (String::new(), String::new());
    for (name, density, along, gap) in cubes {
        let height = 0.5 * SIDE + gap;
        text += &format!(
            r#"
input "{name}" {{
    box size="{SIDE} {SIDE} {SIDE} m" centre="{along} {height} 0 m"
}}
"#
        );
        taken += &format!("    subtract with=\"{name}\"\n");
        bodies += &format!("rigid-body \"{name}\" input=\"{name}\" density=\"{density} kg/m3\"\n");
    }
    text + &format!(
        r#"
input "pool" {{
    box size="60 20 40 cm" centre="0 10 0 cm"
{taken}}}
hybrid "water" input="pool" voxel="{voxel} m"
{bodies}
walls
pressure
collision friction=0.4
collider "tank" input="tank"
gravity
"#
    )
}

/// The heights of the bottoms over the floor [m] after each of some frames, and in the beginning.
fn heights(text: &str, frames: u32) -> Result<Vec<Vec<f64>>> {
    let mut simulation = simulation(text);
    let mut all = Vec::new();
    for frame in 0..=frames {
        if frame > 0 {
            advance(&mut simulation, 1)?;
        }
        let places: Vec<DVec3> = of_points(&simulation, "position")?;
        all.push(places.iter().map(|at| at.y - 0.5 * SIDE).collect());
    }
    Ok(all)
}

/// When a body first passes a height [s], between frames; infinite if it does not.
fn passes(heights: &[Vec<f64>], body: usize, wanted: f64) -> f64 {
    let off = |n: usize| heights[n][body] - wanted;
    let after = (1..heights.len()).find(|&n| off(n) == 0.0 || off(n) * off(0) < 0.0);
    after.map_or(f64::INFINITY, |n| FRAME * (n as f64 - off(n) / (off(n) - off(n - 1))))
}

const COARSE: &str = "6 voxels to the side of a cube; 12 come within the limit";

fn rising() -> Result<Verdict> {
    // The gap [m], and the times of foam and wood [s].
    let wanted = [(0.003, [0.082, 0.128]), (0.01, [0.069, 0.112]), (0.02, [0.062, 0.104])];
    let cubes = |gap: f64| [("foam", 60.0, 0.14, gap), ("wood", 500.0, -0.14, gap)];
    let mut verdict = Verdict::new();
    for voxel in SIZES {
        let times = |gap: f64| -> Result<[f64; 2]> {
            let found = heights(&tank(voxel, 1, &cubes(gap)), 30)?;
            Ok([0, 1].map(|body| passes(&found, body, gap + 0.02)))
        };
        let name = |what: &str, gap: f64| {
            format!(
                "{what} from {} mm, voxels of {} mm: time to rise by 2 cm [s]",
                1e3 * gap,
                1e3 * voxel
            )
        };
        for (gap, wanted) in wanted {
            for ((what, found), wanted) in ["foam", "wood"].into_iter().zip(times(gap)?).zip(wanted)
            {
                let name = name(what, gap);
                verdict = match voxel == SIZES[0] {
                    true => {
                        verdict.near_or(&name, found, [1.0, 0.15, 0.2].map(|c| c * wanted), COARSE)
                    }
                    false => verdict.near(&name, found, wanted, 0.15 * wanted),
                };
            }
        }
        for ((what, found), first) in ["foam", "wood"].into_iter().zip(times(0.0)?).zip(wanted[0].1)
        {
            verdict = verdict.at_most(&name(what, 0.0), found, 2.0 * first);
        }
    }
    Ok(verdict)
}

/// How long potential flow takes a cube of a density, as a part of that of water, from one gap to a smaller one [s]: by energy,
/// ½ (s + 0.641 + 0.0465 L/h) v² = (s − 1) g (h₀ − h), and h₀ − h = u² takes away what is singular.
fn sinks_in(density: f64, from: f64, to: f64) -> f64 {
    const PARTS: usize = 10_000;
    let whole = (from - to).sqrt();
    let part = |n: usize| {
        let u = whole * (n as f64 + 0.5) / PARTS as f64;
        let moved = density + 0.641 + 0.0465 * SIDE / (from - u * u);
        2.0 * (moved / (2.0 * (density - 1.0) * GRAVITY)).sqrt() * whole / PARTS as f64
    };
    (0..PARTS).map(part).sum()
}

fn sinking() -> Result<Verdict> {
    let (from, touches, frames) = (0.03, 0.001, 100);
    let wanted = sinks_in(1900.0 / 998.2, from, touches);
    let mut verdict = Verdict::new();
    for (voxel, substeps) in [(SIZES[0], 1), (SIZES[0], 2), (SIZES[1], 1)] {
        let brick = [("brick", 1900.0, 0.0, from)];
        let found = heights(&tank(voxel, substeps, &brick), frames)?;
        let time = passes(&found, 0, touches);
        let all: Vec<f64> = found.iter().map(|bodies| bodies[0]).collect();
        let down = all.iter().position(|height| *height <= touches).unwrap_or(all.len());
        let highest = all[down..].iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let last = all[all.len() - 1];
        let still = all[all.len() - 10..].iter().map(|height| (height - last).abs());
        let name = |what: &str| {
            format!("{what}, voxels of {} mm, {} steps/s", 1e3 * voxel, 100 * substeps)
        };
        verdict = verdict
            .near(&name("time to a gap of 1 mm [s]"), time, wanted, 0.15 * wanted)
            .at_most(&name("greatest gap from there on [m]"), highest, touches)
            .near(&name("gap in the end [m]"), last, 0.0, 1e-4)
            .at_most(&name("way in the last 0.1 s [m]"), still.fold(0.0, f64::max), 1e-5);
    }
    Ok(verdict)
}
