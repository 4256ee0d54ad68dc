//! A hair that is clamped at its root, as a scene has it: how it swings and how far it sags, against Euler's and Bernoulli's beam.

use crate::scenes::after;
use std::f64::consts::TAU;
use undine_core::glam::DVec3;
use undine_sim::Simulation;

const LENGTH: f64 = 0.12;
const EDGES: usize = 24;
/// √(EI/ρA), by I/A = r²/4 [m²/s].
const STIFF: f64 = 0.316_227_766_016_838;

fn scene(steps: u32, more: &str) -> String {
    format!(
        r#"
setup "hair" fps={steps} frames=9999
input "h" {{
    grid-of-curves columns=1 rows=1 length="0.12 m" segments={EDGES} axis="x"
}}
group "hair" {{
    curves "h" input="h" density="1200 kg/m3" radius="0.4 mm" youngs="3 GPa" roots="clamped"
    stretching
    bending {more}
    twisting
}}
gravity
"#
    )
}

fn vectors(simulation: &Simulation, channel: &str) -> Vec<DVec3> {
    let (_, points) = simulation.world.points.iter().next().unwrap();
    points.column(points.handle::<DVec3>(channel).unwrap()).unwrap().to_vec()
}

/// The mode of a beam that is clamped where x = 0 and free where x = 1, of this βL.
fn mode(beta: f64, x: f64) -> f64 {
    let (b, sigma) = (beta * x, (beta.cosh() + beta.cos()) / (beta.sinh() + beta.sin()));
    b.cosh() - b.cos() - sigma * (b.sinh() - b.sin())
}

/// f = (βL)²/(2πL²) √(EI/ρA). Let go as it stands out, it swings about where it hangs; the velocity of each mode begins at zero and passes it again after
/// half a period, and after a whole one. Of N edges the first two are slower by 0.845/N² and 4.257/N², by the matrix of vertices of lumped masses, with
/// the curvature of the first edge's angle over half an edge at the root: 0.15 and 0.74 %. Steps of backward Euler take (ωΔt)²/3 more: 0.003 and
/// 0.12 %. What of other modes is in a shape that is only nearly a mode, and the height of the arc, the square of the slope of 1/40, are 5e-4.
#[test]
fn a_clamped_hair_swings_at_the_frequencies_of_a_beam() {
    let steps = 8000;
    let mut simulation = after(&scene(steps, ""), 0);
    let step = 1.0 / f64::from(steps);
    let betas: [(f64, f64); 2] = [(1.875_104_068_7, 0.845), (4.694_091_133, 4.257)];
    let mut before = [0.0; 2];
    let mut passed = [Vec::new(), Vec::new()];
    for n in 1..=700 {
        simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap();
        let velocity = vectors(&simulation, "v");
        for (k, (beta, _)) in betas.iter().enumerate() {
            let share = |(n, v): (usize, &DVec3)| {
                let weight = if n == EDGES { 0.5 } else { 1.0 };
                weight * v.y * mode(*beta, n as f64 / EDGES as f64)
            };
            let now: f64 = velocity.iter().enumerate().map(share).sum();
            if n > 1 && now * before[k] < 0.0 {
                passed[k].push((f64::from(n) - now / (now - before[k])) * step);
            }
            before[k] = now;
        }
    }
    for ((beta, slower), passed) in betas.iter().zip(&passed) {
        let wanted = beta * beta * STIFF / (TAU * LENGTH * LENGTH);
        // Between the first and the last passage, so that what sways with other modes is over.
        let found = match passed[..] {
            [first, .., last] if passed.len() > 2 => {
                0.5 * (passed.len() - 1) as f64 / (last - first)
            }
            _ => 0.5 / passed[0],
        };
        let by_edges = 1.0 - slower / (EDGES * EDGES) as f64;
        let by_steps = 1.0 - (TAU * wanted * step).powi(2) / 3.0;
        println!("{found:.4} Hz of {wanted:.4} Hz, {:.5}", found / wanted);
        assert!((found / wanted - 1.0).abs() < 0.01, "{found} Hz of {wanted} Hz");
        let expected = by_edges * by_steps;
        assert!((found / wanted - expected).abs() < 1e-3, "{found} Hz of {wanted} Hz");
    }
}

/// w = ρgA L⁴/(8EI), of N edges more by 1/N²: at rest, to what large slopes take, (w/L)² of it.
#[test]
fn a_clamped_hair_sags_as_a_beam() {
    let simulation = after(&scene(24, "damping-time=\"20 ms\""), 24);
    let found = -vectors(&simulation, "position")[EDGES].y;
    let wanted = 9.806_65 * LENGTH.powi(4) / (8.0 * STIFF * STIFF);
    println!("{found} m of {wanted} m, {:.5}", found / wanted);
    assert!((found / wanted - 1.0).abs() < 0.01, "{found} m of {wanted} m");
    let of_edges = 1.0 + 1.0 / (EDGES * EDGES) as f64;
    assert!((found / wanted - of_edges).abs() < 1e-3, "{found} m of {wanted} m");
}
