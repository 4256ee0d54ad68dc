//! A hair that is clamped at its root is a cantilever: how it swings and how far it sags, against the beam of Euler and Bernoulli.

use super::scene::{GRAVITY, advance, of_points, simulation};
use crate::page::Case;
use crate::verdict::Verdict;
use std::f64::consts::TAU;
use undine_core::glam::DVec3;
use undine_sim::Result;

/// The case.
pub const HAIR: Case = Case {
    name: "outside-hair",
    doc: "The first two frequencies of a clamped hair, (βL)²/(2πL²) √(EI/ρA), and how far its tip sags, ρgAL⁴/(8EI), after Euler and \
          Bernoulli, of 12, 24 and 48 edges in steps of 1/8000 s: within 1 % of 24 edges, and of second order in their length.",
    run: || run().unwrap_or_else(Verdict::broken),
};

/// Of the hair [m].
const LENGTH: f64 = 0.12;
/// √(EI/ρA), by I/A = r²/4, E = 3 GPa, ρ = 1200 kg/m³ and r = 0.4 mm [m²/s].
const STIFF: f64 = 0.316_227_766_016_838;
/// The roots βL of cosh βL cos βL = −1.
const BETAS: [f64; 2] = [1.875_104_068_7, 4.694_091_133];
/// Steps in a second.
const RATE: f64 = 8000.0;

fn scene(fps: f64, edges: usize, damping: &str) -> String {
    format!(
        r#"
setup "hair" fps={fps} frames=9999 substeps=1
input "h" {{
    grid-of-curves columns=1 rows=1 length="0.12 m" segments={edges} axis="x"
}}
group "hair" {{
    curves "h" input="h" density="1200 kg/m3" radius="0.4 mm" youngs="3 GPa" roots="clamped"
    stretching
    bending {damping}
    twisting
}}
gravity
"#
    )
}

/// The mode of a beam that is clamped where x = 0 and free where x = 1.
fn mode(beta: f64, x: f64) -> f64 {
    let (b, sigma) = (beta * x, (beta.cosh() + beta.cos()) / (beta.sinh() + beta.sin()));
    b.cosh() - b.cos() - sigma * (b.sinh() - b.sin())
}

/// The first two frequencies over those of the beam. It is let go as it stands out, and swings about how it hangs: the velocity of each
/// mode begins at zero, and passes it after every half of a period.
fn frequencies(edges: usize) -> Result<[f64; 2]> {
    let mut simulation = simulation(&scene(RATE, edges, ""));
    let mut before = [0.0; 2];
    let mut passed = [Vec::new(), Vec::new()];
    for n in 1..=700 {
        advance(&mut simulation, 1)?;
        let velocity: Vec<DVec3> = of_points(&simulation, "v")?;
        for (k, beta) in BETAS.into_iter().enumerate() {
            let share = |(n, v): (usize, &DVec3)| {
                let weight = if n == edges { 0.5 } else { 1.0 };
                weight * v.y * mode(beta, n as f64 / edges as f64)
            };
            let now: f64 = velocity.iter().enumerate().map(share).sum();
            if n > 1 && now * before[k] < 0.0 {
                passed[k].push((f64::from(n) - now / (now - before[k])) / RATE);
            }
            before[k] = now;
        }
    }
    Ok([0, 1].map(|k| {
        let wanted = BETAS[k] * BETAS[k] * STIFF / (TAU * LENGTH * LENGTH);
        // Between the first and the last passage where there are many, because what sways with other modes is over by then.
        let found = match passed[k][..] {
            [first, .., last] if passed[k].len() > 2 => {
                0.5 * (passed[k].len() - 1) as f64 / (last - first)
            }
            [first, ..] => 0.5 / first,
            [] => f64::NAN,
        };
        found / wanted
    }))
}

/// How far the tip hangs down at rest over what the beam's does.
fn sag(edges: usize) -> Result<f64> {
    let mut simulation = simulation(&scene(24.0, edges, "damping-time=\"20 ms\""));
    advance(&mut simulation, 24)?;
    let places: Vec<DVec3> = of_points(&simulation, "position")?;
    Ok(-places[edges].y / (GRAVITY * LENGTH.powi(4) / (8.0 * STIFF * STIFF)))
}

fn run() -> Result<Verdict> {
    let counts = [12, 24, 48];
    let mut found = Vec::new();
    for edges in counts {
        let [first, second] = frequencies(edges)?;
        found.push([first, second, sag(edges)?]);
    }
    let mut verdict = Verdict::new();
    for (k, what) in ["first frequency", "second frequency", "sag"].into_iter().enumerate() {
        for (edges, found) in counts.into_iter().zip(&found) {
            let name = format!("{what} over that of the beam, {edges} edges");
            verdict = match edges {
                12 => verdict.figure(&name, format!("{:.5}", found[k]), "is only shown", true),
                _ => verdict.near(&name, found[k], 1.0, 0.01),
            };
        }
        // By what two refinements change, which what steps and large slopes add is not in.
        let order = ((found[1][k] - found[0][k]) / (found[2][k] - found[1][k])).log2();
        verdict = verdict.near(&format!("order of the {what}"), order, 2.0, 0.2);
    }
    Ok(verdict)
}
