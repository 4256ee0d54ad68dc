//! Backward Euler for drag and a constant force on one body, solved exactly.
//!
//! m (v − v₀)/Δt = F − k(|u|) u with u = v − w has its solution along b = m (v₀ − w)/Δt + F, so that one number, the speed s,
//! is left: (m/Δt + k(s)) s = |b|. The left side grows with s, so there is one solution, and no step is too long: for
//! Δt → ∞ it is the terminal speed, reached from one side.

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
    wind + settled(law, medium, body, inertia, (velocity - wind) * inertia + force)
}

/// The velocity u [m/s] relative to the fluid for which (inertia [kg/s] + k(|u|)) u = pull [N].
pub fn settled(law: &Law, medium: &Medium, body: &Body, inertia: f64, pull: DVec3) -> DVec3 {
    let Some(direction) = pull.try_normalize() else { return DVec3::ZERO };
    direction * speed_of(law, medium, body, inertia, pull.length())
}

/// The speed s [m/s] at which (inertia + k(s)) s = pull [N].
fn speed_of(law: &Law, medium: &Medium, body: &Body, inertia: f64, pull: f64) -> f64 {
    let resistance = |speed| law.resistance(medium, body, speed);
    // Without drag it would be pull/inertia; if there is no inertia, drag at some speed must be enough.
    let mut high = if inertia > 0.0 { pull / inertia } else { f64::MAX };
    let (mut low, mut speed) = (0.0, high.min(1.0));
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
