//! How a rigid body turns over a step when nothing turns it.
//!
//! The energy ½ Π·I⁻¹Π of the momentum Π in the body's frame is a sum of parts whose motions are all known rotations
//! (McLachlan 1993; Dullweber, Leimkuhler and McLachlan 1997). Usually one takes a part per principal axis. Here the middle
//! axis' moment I_b is taken out of all three:
//!
//! ½ Π·I⁻¹Π = |Π|²/(2 I_b) + ½ δ_a Π_a² + ½ δ_c Π_c²,  δ_a = 1/I_a − 1/I_b,  δ_c = 1/I_c − 1/I_b.
//!
//! The first part turns the body about the world's fixed momentum L, and goes along with the others whatever their order, so
//! it is done once, exactly, however fast the spin. Only the two others have to be taken in turns: by the
//! symmetric fourth-order scheme of Blanes and Moan (2002, Table 2, S6). For a symmetric top one of them vanishes, and the step
//! is exact. L is not integrated at all and does not change by a bit; the energy's error is bounded.

use super::inertia::Inertia;
use undine_core::glam::{DQuat, DVec3};

/// The largest angle [rad] by which a part turns the body in one inner step.
const LARGEST_TURN: f64 = 0.25;
/// Inner steps at most. Spins that need more lose the digits of their phase, but neither momentum nor bounds.
const MOST_STEPS: f64 = 4096.0;

/// Blanes and Moan's coefficients of the first part, up to the middle.
const A: [f64; 4] = [
    0.079_203_696_431_195_7,
    0.353_172_906_049_774,
    -0.042_065_080_357_719_5,
    1.0 - 2.0 * (0.079_203_696_431_195_7 + 0.353_172_906_049_774 - 0.042_065_080_357_719_5),
];
/// And of the second.
const B: [f64; 3] = [
    0.209_515_106_613_362,
    -0.143_851_773_179_818,
    0.5 - (0.209_515_106_613_362 - 0.143_851_773_179_818),
];
/// The fractions of a step of the two parts in turn; the first part's first one ends the step.
const STAGES: [(f64, f64); 6] =
    [(A[0], B[0]), (A[1], B[1]), (A[2], B[2]), (A[3], B[2]), (A[2], B[1]), (A[1], B[0])];

/// The orientation after `time` [s], of a body with angular momentum L [kg m²/s] in the world's directions, which stays as it is.
///
/// Momentum about an axis without a moment of inertia turns nothing. A negative time goes back.
pub fn spin(inertia: &Inertia, orientation: DQuat, momentum: DVec3, time: f64) -> DQuat {
    let inverse = inertia.inverse_moments();
    // The middle one of the moments that can turn; a rod has its axis first.
    let [a, b, c] = by_size(inertia.moments());
    let about_momentum = DQuat::from_scaled_axis(momentum * (inverse[b] * time));
    let first = Part { axis: inertia.axes() * DVec3::AXES[a], rate: inverse[a] - inverse[b] };
    let second = Part { axis: inertia.axes() * DVec3::AXES[c], rate: inverse[c] - inverse[b] };

    let mut turned = orientation;
    let steps = inner_steps(inertia, orientation, momentum, [(a, &first), (c, &second)], time);
    let step = time / f64::from(steps);
    for _ in 0..steps {
        for (one, other) in STAGES {
            turned = first.turn(turned, momentum, one * step);
            turned = second.turn(turned, momentum, other * step);
        }
        turned = first.turn(turned, momentum, A[0] * step);
        // Products of unit quaternions leave the unit by a rounding each.
        turned = turned.normalize();
    }
    (about_momentum * turned).normalize()
}

/// The axes from the smallest to the largest moment.
fn by_size(moments: DVec3) -> [usize; 3] {
    let mut order = [0, 1, 2];
    order.sort_by(|&i, &j| moments[i].total_cmp(&moments[j]));
    order
}

/// One part ½ δ Π_i² of the energy.
struct Part {
    /// The principal axis e_i in the body's frame, of length 1.
    axis: DVec3,
    /// δ [1/(kg m²)].
    rate: f64,
}

impl Part {
    /// Turns the body by what this part alone does in a time: about e_i by the angle δ Π_i t. Π_i does not change by it.
    #[inline]
    fn turn(&self, orientation: DQuat, momentum: DVec3, time: f64) -> DQuat {
        let along = momentum.dot(orientation * self.axis);
        orientation * DQuat::from_axis_angle(self.axis, self.rate * along * time)
    }
}

/// As many inner steps as keep every turn small. They depend on momentum and energy alone, which do not change as it turns, so
/// that every step of a free body takes as many.
fn inner_steps(
    inertia: &Inertia,
    orientation: DQuat,
    momentum: DVec3,
    parts: [(usize, &Part); 2],
    time: f64,
) -> u32 {
    let (total, energy) = (momentum.length(), inertia.spin_energy(orientation, momentum));
    if parts.iter().any(|(_, part)| part.rate == 0.0) {
        return 1;
    }
    let fastest = parts
        .map(|(axis, part)| {
            // Π_i is bounded by |Π|, and by the energy: thin rods hardly turn about themselves.
            let most = (2.0 * energy * inertia.moments()[axis]).sqrt().min(total);
            (part.rate * most).abs()
        })
        .into_iter()
        .fold(0.0, f64::max);
    (fastest * time.abs() / LARGEST_TURN).ceil().clamp(1.0, MOST_STEPS) as u32
}
