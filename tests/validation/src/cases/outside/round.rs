//! Round bodies roll, slide and bounce as what they are, and not as polyhedra.

use super::scene::{GRAVITY, advance, of_points, simulation};
use crate::page::Case;
use crate::verdict::Verdict;
use undine_core::glam::DVec3;
use undine_sim::{Result, Simulation};

/// Down a slope.
pub const ROLLING: Case = Case {
    name: "outside-round-rolling",
    doc: "A ball rolls down a slope of 20° by ½at(t + Δt) in 2 s, a = 5/7 g sin θ, in steps Δt of backward Euler: straight down, and on \
          the slope, at three lengths of steps.",
    run: || rolling().unwrap_or_else(Verdict::broken),
};

/// On a floor.
pub const SLIDING: Case = Case {
    name: "outside-round-sliding",
    doc: "A ball that slides at 2 m/s onto a floor with μ = 0.25 rolls from t₁ = 2/7 v₀/(μg) on, with 5/7 of its speed, and has come \
          v₀t₁ − ½μgt₁² + 5/7 v₀(t − t₁) far in 2 s, at three lengths of steps.",
    run: || sliding().unwrap_or_else(Verdict::broken),
};

/// On the spot.
pub const BOUNCING: Case = Case {
    name: "outside-round-bouncing",
    doc: "A ball with e = 0.8 that falls from 1.3 m comes e²ⁿ of that high after its n-th bounce: the largest error of the first four, which \
          falls with the length of steps.",
    run: || bouncing().unwrap_or_else(Verdict::broken),
};

const RADIUS: f64 = 0.1;

fn place(simulation: &Simulation) -> Result<DVec3> {
    Ok(of_points(simulation, "position")?[0])
}

/// Where a ball is after 2 s, on a plane with a normal.
fn rolled(substeps: u32, normal: DVec3, friction: f64, velocity: &str) -> Result<DVec3> {
    let DVec3 { x, y, z } = RADIUS * normal;
    let mut simulation = simulation(&format!(
        r#"
setup "roll" fps=24 frames=49 substeps={substeps}
input "ball" {{
    sphere radius="10 cm" centre="{x} {y} {z} m"
}}
input "floor" {{
    plane normal="{} {} {}"
}}
rigid-body "ball" input="ball" velocity="{velocity} m/s"
collider "floor" input="floor" friction={friction}
collision
gravity
"#,
        normal.x, normal.y, normal.z
    ));
    advance(&mut simulation, 48)?;
    place(&simulation)
}

/// The figures of a ball that should have come so far in some direction.
fn way(verdict: Verdict, steps: u32, [along, across, off]: [f64; 3], wanted: f64) -> Verdict {
    let name = |what: &str| format!("{what} [m], {steps} steps in a frame");
    verdict
        .near(&name("way"), along, wanted, 0.01 * wanted)
        .near(&name("aside"), across, 0.0, 1e-3)
        .near(&name("off the ground"), off, 0.0, 1e-3)
}

fn rolling() -> Result<Verdict> {
    let (sin, cos) = 20_f64.to_radians().sin_cos();
    let (normal, down) = (DVec3::new(sin, cos, 0.0), DVec3::new(cos, -sin, 0.0));
    let acceleration = 5.0 / 7.0 * GRAVITY * sin;
    let mut verdict = Verdict::new();
    for substeps in [1, 4, 16] {
        let at = rolled(substeps, normal, 0.6, "0 0 0")?;
        let step = 1.0 / (24.0 * f64::from(substeps));
        let wanted = 0.5 * acceleration * 2.0 * (2.0 + step);
        let found = [at.dot(down), at.z, at.dot(normal) - RADIUS];
        verdict = way(verdict, substeps, found, wanted);
    }
    Ok(verdict)
}

fn sliding() -> Result<Verdict> {
    let (speed, friction) = (2.0, 0.25);
    let slides = 2.0 / 7.0 * speed / (friction * GRAVITY);
    let wanted = speed * slides - 0.5 * friction * GRAVITY * slides * slides
        + 5.0 / 7.0 * speed * (2.0 - slides);
    let mut verdict = Verdict::new();
    for substeps in [1, 4, 16] {
        let at = rolled(substeps, DVec3::Y, friction, "2 0 0")?;
        verdict = way(verdict, substeps, [at.x, at.z, at.y - RADIUS], wanted);
    }
    Ok(verdict)
}

/// How high a ball comes after each of four bounces, as a part of what it should.
fn bounces(substeps: u32) -> Result<Vec<f64>> {
    let mut simulation = simulation(&format!(
        r#"
setup "bounce" fps=96 frames=289 substeps={substeps}
input "ball" {{
    sphere radius="5 cm" centre="0 1.35 0 m"
}}
input "floor" {{
    plane
}}
rigid-body "ball" input="ball"
collider "floor" input="floor"
collision restitution=0.8
gravity
"#
    ));
    let mut heights = Vec::new();
    for _ in 0..288 {
        advance(&mut simulation, 1)?;
        heights.push(place(&simulation)?.y - 0.05);
    }
    // The parabola through three frames about the highest is exact, unless it bounces in one of them.
    let tops = heights.windows(3).filter(|it| it[1] > it[0] && it[1] >= it[2]);
    let tops =
        tops.map(|it| it[1] - (it[2] - it[0]).powi(2) / (8.0 * (it[0] - 2.0 * it[1] + it[2])));
    Ok(tops.take(4).zip(1..).map(|(top, n)| top / (1.3 * 0.64_f64.powi(n))).collect())
}

fn bouncing() -> Result<Verdict> {
    let worst = |substeps: u32| -> Result<f64> {
        let found = bounces(substeps)?;
        let missing = if found.len() < 4 { f64::NAN } else { 0.0 };
        Ok(missing + found.iter().map(|part| (part - 1.0).abs()).fold(0.0, f64::max))
    };
    let [rough, coarse, fine] = [worst(4)?, worst(16)?, worst(64)?];
    Ok(Verdict::new()
        .figure("error, 384 steps/s", format!("{rough:.4}"), "is only shown", true)
        .figure("error, 1536 steps/s", format!("{coarse:.4}"), "is only shown", true)
        .at_most("error, 6144 steps/s", fine, 0.01)
        .at_most("error at 6144 steps/s over that at 1536", fine / coarse, 0.6))
}
