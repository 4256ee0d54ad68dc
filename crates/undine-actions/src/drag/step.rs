//! Backward Euler for drag and a constant force on one body, solved exactly.
//!
//! m (v − v₀)/Δt = F − k(|u|) u with u = v − w has its solution along b = m (v₀ − w)/Δt + F, so that one number, the speed s,
//! is left: (m/Δt + k(s)) s = |b|. The left side grows with s, so there is one solution, and no step is too long: for
//! Δt → ∞ it is the terminal speed, reached from one side.
//!
//! In the drag crisis the force falls, and with long steps there may be three solutions, of which the middle one is not stable. Kept is the first
//! one on the way from the speed before, |v₀ − w|, to where the left side is nearer to the right: what falls from rest stays below the crisis
//! for as long as anything there holds it, and what comes from above stays above it.

use super::law::{Body, Law, Medium, Resistance};
use undine_core::glam::DVec3;

/// Iterations at most. Newton's take about five; the halvings among them, from the largest number on, some sixty.
const ITERATIONS: usize = 200;

/// The velocity [m/s] after a step [s], from a velocity [m/s], in a `wind` [m/s], under a force [N] that does not change.
pub fn implicit_velocity(
    law: &Law,
    medium: &Medium,
    body: &Body,
    wind: DVec3,
    (velocity, force): (DVec3, DVec3),
    step: f64,
) -> DVec3 {
    if step <= 0.0 {
        return velocity;
    }
    let inertia = body.mass / step;
    let before = velocity - wind;
    wind + settled(law, medium, body, inertia, before * inertia + force, before.length())
}

/// The velocity u [m/s] relative to the fluid for which (inertia [kg/s] + k(|u|)) u = pull [N]; the one next to a speed before [m/s], if there are
/// several.
pub fn settled(
    law: &Law,
    medium: &Medium,
    body: &Body,
    inertia: f64,
    pull: DVec3,
    before: f64,
) -> DVec3 {
    let Some(direction) = pull.try_normalize() else { return DVec3::ZERO };
    let pull = pull.length();
    // Without drag it would be pull/inertia; if there is no inertia, drag at some speed must be enough.
    let high = if inertia > 0.0 { pull / inertia } else { f64::MAX };
    let excess =
        |speed: f64| (inertia + law.resistance(medium, body, speed).coefficient) * speed - pull;
    let range = match law.crisis(medium, body) {
        Some(crisis) if high > crisis[0] => on_the_way(crisis, high, before, excess),
        _ => [0.0, high],
    };
    direction * speed_of(law, medium, body, (inertia, pull), range)
}

/// Of all speeds up to the highest [m/s], those among which the excess over a pull first changes its sign on the way from the speed before, down from
/// what is too fast and up from what is too slow.
fn on_the_way(
    [from, to]: [f64; 2],
    high: f64,
    before: f64,
    excess: impl Fn(f64) -> f64,
) -> [f64; 2] {
    let before = before.min(high);
    let ends = [0.0, from, to.min(high), high];
    match excess(before) > 0.0 {
        true => {
            let low = |&low: &f64| low < before && excess(low) <= 0.0;
            let low = ends.into_iter().rev().find(low).unwrap_or(0.0);
            let above = |&end: &f64| end > low;
            [low, ends.into_iter().find(above).unwrap_or(high).min(before)]
        }
        false => {
            let above = |&end: &f64| end > before && excess(end) >= 0.0;
            let above = ends.into_iter().find(above).unwrap_or(high);
            let below = |&end: &f64| end < above;
            [ends.into_iter().rev().find(below).unwrap_or(0.0).max(before), above]
        }
    }
}

/// The speed s [m/s] at which (inertia [kg/s] + k(s)) s = pull [N], within a range in which there is one.
fn speed_of(
    law: &Law,
    medium: &Medium,
    body: &Body,
    (inertia, pull): (f64, f64),
    [mut low, mut high]: [f64; 2],
) -> f64 {
    let resistance = |speed| law.resistance(medium, body, speed);
    let mut speed = high.min(1.0).max(low);
    for _ in 0..ITERATIONS {
        let Resistance { coefficient: k, slope } = resistance(speed);
        let excess = (inertia + k) * speed - pull;
        if excess == 0.0 {
            break;
        }
        *(if excess > 0.0 { &mut high } else { &mut low }) = speed;
        let newton = speed - excess / (inertia + k * (1.0 + slope));
        // Outside of what is known to hold the solution, its geometric middle: speeds span many powers of ten.
        let middle = if low > 0.0 { low.sqrt() * high.sqrt() } else { 0.1 * high };
        let next = if newton > low && newton < high { newton } else { middle };
        if (next - speed).abs() <= 1e-15 * speed {
            return next;
        }
        speed = next;
    }
    speed
}
