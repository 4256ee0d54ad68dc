//! A scene does not know where it is: moved by whole voxels, it goes on as it does at the origin.
//!
//! What is at places that are exact in binary keeps its bits. A cork that is turned, and its pose, are in doubles of the world, which are
//! rounded in another way 10 km away, by 1.8e-12 m. A flow that tumbles makes that grow as it does any other nudge of such a size.

use super::scene::{advance, centre_of_mass, of_particles, simulation};
use crate::page::Case;
use crate::verdict::Verdict;
use undine_core::glam::{DVec3, Vec3};
use undine_sim::{Result, Simulation};

/// A cork.
pub const CORK: Case = Case {
    name: "outside-far-cork",
    doc: "A cork that falls into a pool is where it would be at the origin, up to 10 km away: kinetic energy, momentum and angular \
          momentum about the centre of mass after 6 frames, at two resolutions. Beside it, the most that it changes to nudge the cork at the \
          origin along an axis by 1.8e-12 m, to which places 10 km away are rounded.",
    run: || cork().unwrap_or_else(Verdict::broken),
};

/// Water alone.
pub const WATER: Case = Case {
    name: "outside-far-water",
    doc: "A column of water that breaks down in a tank up to 10 km away has the bits that it has at the origin, and so the energy, after \
          6 frames, at two resolutions.",
    run: || water().unwrap_or_else(Verdict::broken),
};

/// How far away the scene is [m].
const AWAY: [f64; 4] = [1.0, 100.0, 2048.0, 10_000.0];
/// Of voxels [m].
const SIZES: [f64; 2] = [0.03125, 0.015625];
const FRAMES: u32 = 6;
/// To what doubles around 10 km are rounded [m].
const NUDGE: f64 = 1.8e-12;

fn scene(by: f64, content: &str) -> String {
    format!(
        r#"
setup "far" fps=24 frames=7 cfl=1.5 substeps=2
input "tank" {{
    box size="0.3125 1 0.3125 m" centre="{by} 0.5 0 m"
    invert
}}
collider "tank" input="tank"
gravity
{content}
"#
    )
}

/// A pool, and a cork that falls into it.
fn with_cork(by: f64, voxel: f64, nudge: DVec3) -> String {
    let content = format!(
        r#"
input "pool" {{
    box size="0.3125 0.125 0.3125 m" centre="{by} 0.0625 0 m"
}}
input "cork" {{
    box size="0.0625 0.0625 0.0625 m"
    transform translate="{} {} {} m" rotate="20 0 35 deg"
}}
group "water" {{
    hybrid "water" input="pool" voxel="{voxel} m"
    walls against="tank"
    pressure
    rigid-body "cork" input="cork" density="300 kg/m3"
    collision friction=0.4 against="tank"
}}
"#,
        by + 0.0625 + nudge.x,
        0.1875 + nudge.y,
        0.03125 + nudge.z
    );
    scene(by, &content)
}

/// A column of water.
fn with_column(by: f64, voxel: f64) -> String {
    let content = format!(
        r#"
input "column" {{
    box size="0.125 0.25 0.3125 m" centre="{} 0.125 0 m"
}}
hybrid "water" input="column" voxel="{voxel} m"
walls
pressure
"#,
        by - 0.09375
    );
    scene(by, &content)
}

/// A scene after its frames.
fn after(text: &str) -> Result<Simulation> {
    let mut simulation = simulation(text);
    advance(&mut simulation, FRAMES)?;
    Ok(simulation)
}

/// What there is in the end: kinetic energy [J], momentum [kg m/s], angular momentum about the centre of mass [kg m²/s].
fn state(text: &str) -> Result<(f64, DVec3, DVec3)> {
    let simulation = after(text)?;
    let found = simulation.budget()?;
    let turning = found.angular_momentum - centre_of_mass(&simulation)?.cross(found.momentum);
    Ok((found.kinetic_energy, found.momentum, turning))
}

fn cork() -> Result<Verdict> {
    let mut verdict = Verdict::new();
    for voxel in SIZES {
        let here = state(&with_cork(0.0, voxel, DVec3::ZERO))?;
        let differ = |there: (f64, DVec3, DVec3)| {
            [
                ("kinetic energy", (there.0 - here.0).abs() / here.0),
                ("momentum", there.1.distance(here.1) / here.1.length()),
                ("angular momentum", there.2.distance(here.2) / here.2.length()),
            ]
        };
        let name = |what: &str, place: &str| {
            format!("{what}, {place}, voxels of {} mm: difference", 1e3 * voxel)
        };
        for by in AWAY {
            for (what, part) in differ(state(&with_cork(by, voxel, DVec3::ZERO))?) {
                verdict = verdict.at_most(&name(what, &format!("{by} m away")), part, 1e-4);
            }
        }
        let mut nudged = differ(here);
        for axis in DVec3::AXES {
            let again = differ(state(&with_cork(0.0, voxel, NUDGE * axis))?);
            nudged.iter_mut().zip(again).for_each(|(most, (_, part))| most.1 = most.1.max(part));
        }
        for (what, part) in nudged {
            let part = format!("{part:.1e}");
            verdict = verdict.figure(&name(what, "nudged"), part, "is only shown", true);
        }
    }
    Ok(verdict)
}

/// Of each particle: its id, where it is in its Bucket, and how fast it is, by their bits.
fn bits(simulation: &Simulation) -> Result<Vec<(u64, [u32; 6])>> {
    let ids: Vec<u64> = of_particles(simulation, "id")?;
    let places: Vec<Vec3> = of_particles(simulation, "position")?;
    let velocities: Vec<Vec3> = of_particles(simulation, "v")?;
    let moving = places.into_iter().zip(velocities);
    let moving = moving.map(|(at, v)| [at.x, at.y, at.z, v.x, v.y, v.z].map(f32::to_bits));
    Ok(ids.into_iter().zip(moving).collect())
}

fn water() -> Result<Verdict> {
    let mut verdict = Verdict::new();
    for voxel in SIZES {
        let here = after(&with_column(0.0, voxel))?;
        let (wanted, energy) = (bits(&here)?, here.budget()?.kinetic_energy);
        for by in AWAY {
            let there = after(&with_column(by, voxel))?;
            let found = bits(&there)?;
            let missing = wanted.len().abs_diff(found.len());
            let differ = missing + wanted.iter().zip(&found).filter(|(a, b)| a != b).count();
            let where_it_is = format!("{by} m away, voxels of {} mm", 1e3 * voxel);
            let all = found.len();
            verdict = verdict
                .same(&format!("particles of {all} that differ, {where_it_is}"), differ, 0)
                .same(
                    &format!("kinetic energy [J], {where_it_is}"),
                    there.budget()?.kinetic_energy,
                    energy,
                );
        }
    }
    Ok(verdict)
}
