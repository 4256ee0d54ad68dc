//! Liquid that flies goes where its velocity takes it, by steps of any length and at any speed.

use super::scene::{GRAVITY, centre_of_mass, simulation, steps_of_frame};
use crate::page::Case;
use crate::verdict::Verdict;
use undine_core::glam::DVec3;
use undine_sim::Result;

/// A ball of water that falls.
pub const FALLING: Case = Case {
    name: "outside-flight-falling",
    doc: "The centre of mass of a ball of water that falls freely for 2 s is at ½gt(t + Δt), as the momentum of steps Δt of backward Euler \
          says: its greatest distance from there in any frame, over the whole way, at three lengths of steps, at those that a scene takes by \
          itself, and at half the voxels.",
    run: || falling().unwrap_or_else(Verdict::broken),
};

/// Water that is thrown at 1 km/s.
pub const THROWN: Case = Case {
    name: "outside-flight-thrown",
    doc: "Water that is thrown at 1 km/s is at vt, and falls meanwhile: the greatest distance of its centre of mass from there in any of 5 \
          frames, over the whole way, at two lengths of steps and at those that a scene takes by itself.",
    run: || thrown().unwrap_or_else(Verdict::broken),
};

/// Frames in a second.
const RATE: f64 = 24.0;

/// Water high above a floor.
fn scene(setup: &str, water: &str) -> String {
    format!(
        r#"
setup "flight" fps=24 frames=49 {setup}
input "ball" {{
    sphere radius="10 cm" centre="0 30 0 m"
}}
input "floor" {{
    plane
}}
hybrid "water" input="ball" {water}
collider "floor" input="floor"
walls
pressure
gravity
"#
    )
}

/// How a liquid flew.
struct Flight {
    /// How far from where it should have been it was in any frame, over the whole way.
    error: f64,
    /// In all.
    steps: usize,
    /// Voxels that were crossed in any step.
    crossed: f64,
}

/// Flies for some frames, in steps of which so many are in a frame, if that is known.
fn flight(text: &str, velocity: DVec3, frames: u32, substeps: Option<u32>) -> Result<Flight> {
    let gravity = -GRAVITY * DVec3::Y;
    let mut simulation = simulation(text);
    let start = centre_of_mass(&simulation)?;
    let (mut speed, mut way, mut off) = (velocity, DVec3::ZERO, 0.0_f64);
    let mut found = Flight { error: 0.0, steps: 0, crossed: 0.0 };
    for frame in 1..=frames {
        for step in steps_of_frame(&mut simulation)? {
            speed += step.step * gravity;
            way += step.step * speed;
            found.steps += 1;
            found.crossed = found.crossed.max(step.cfl);
        }
        let time = f64::from(frame) / RATE;
        let step = substeps.map(|count| 1.0 / (RATE * f64::from(count)));
        let wanted =
            step.map_or(way, |step| time * velocity + 0.5 * time * (time + step) * gravity);
        off = off.max((centre_of_mass(&simulation)? - start).distance(wanted));
        // Of the last frame in the end, where it is farthest.
        found.error = off / wanted.length();
    }
    Ok(found)
}

/// What is wanted, and what has to hold where particles are moved apart.
const LIMIT: f64 = 1e-5;
const MOVED: [f64; 2] = [LIMIT, 5e-5];
const WHY: &str = "keeping the density of particles even moves the centre of mass to and fro by up to 0.03 voxels";

fn falling() -> Result<Verdict> {
    let mut verdict = Verdict::new();
    for (substeps, millimetres) in [(1, 20), (4, 20), (16, 20), (1, 10)] {
        let voxel = format!("voxel=\"{millimetres} mm\"");
        let text = scene(&format!("substeps={substeps}"), &voxel);
        let found = flight(&text, DVec3::ZERO, 48, Some(substeps))?;
        let name = format!("error, {substeps} steps in a frame, voxels of {millimetres} mm");
        verdict = verdict.at_most_or(&name, found.error, MOVED, WHY);
    }
    let still = scene("substeps=16", "voxel=\"20 mm\" keep-volume=#false");
    let found = flight(&still, DVec3::ZERO, 48, Some(16))?;
    let name = "error, 16 steps in a frame, voxels of 20 mm, `keep-volume=#false`";
    verdict = verdict.at_most(name, found.error, LIMIT);
    let found = flight(&scene("", "voxel=\"20 mm\""), DVec3::ZERO, 48, None)?;
    let name = format!("error, {} steps that the scene takes", found.steps);
    Ok(verdict.at_most_or(&name, found.error, MOVED, WHY).at_most(
        "voxels that the longest of them crosses",
        found.crossed,
        2.0 + 1e-9,
    ))
}

const ROUNDED: &str = "velocities are in single precision, and are rounded in each of the steps";

fn thrown() -> Result<Verdict> {
    let velocity = 1000.0 * DVec3::X;
    let water = "voxel=\"2 cm\" velocity=\"1000 0 0 m/s\"";
    let mut verdict = Verdict::new();
    for substeps in [1, 16] {
        let text = scene(&format!("substeps={substeps}"), water);
        let found = flight(&text, velocity, 5, Some(substeps))?;
        let name = format!("error, {substeps} steps in a frame");
        verdict = verdict.at_most(&name, found.error, LIMIT);
    }
    let found = flight(&scene("", water), velocity, 5, None)?;
    let name = format!("error, {} steps that the scene takes", found.steps);
    Ok(verdict.at_most_or(&name, found.error, [LIMIT, 1e-4], ROUNDED))
}
