//! What is left of the slip between a fluid and a point when the fluid has answered.

/// How near to its solution [`left_of_slip`] comes. The ratio is of single precision.
const NEAR: f64 = 1e-8;

/// The part x of a slip for which x (1 + ratio q(x)) = 1, where q is what is left of resistance at that part of it, and x q(x) rises.
///
/// By the Illinois variant of false position, from where it would be if resistance did not depend on the slip: a handful of evaluations.
pub fn left_of_slip(ratio: f64, resistance: impl Fn(f64) -> f64) -> f64 {
    let excess = |part: f64| part * (1.0 + ratio * resistance(part)) - 1.0;
    let (mut low, mut high) = ((0.0, -1.0), (1.0, ratio));
    let mut part = 1.0 / (1.0 + ratio);
    // Which end was moved the last time.
    let mut last = 0.0;
    for _ in 0..50 {
        let found = excess(part);
        if found.abs() <= NEAR {
            break;
        }
        if found > 0.0 {
            high = (part, found);
            low.1 *= if last > 0.0 { 0.5 } else { 1.0 };
        } else {
            low = (part, found);
            high.1 *= if last < 0.0 { 0.5 } else { 1.0 };
        }
        last = found;
        part = (low.0 * high.1 - high.0 * low.1) / (high.1 - low.1);
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a power of the slip, for which there are closed forms: none of it, its square root and itself.
    #[test]
    fn what_is_left_of_a_slip_is_that_of_its_closed_forms() {
        for ratio in [0.0, 1e-12, 1e-3, 0.5, 3.0, 1e3, 1e9] {
            let linear = left_of_slip(ratio, |_| 1.0);
            assert_eq!(linear, 1.0 / (1.0 + ratio));
            let square = left_of_slip(ratio, |part| part);
            // x + R x² = 1.
            let wanted = 2.0 / (1.0 + (1.0 + 4.0 * ratio).sqrt());
            assert!((square / wanted - 1.0).abs() < 2.0 * NEAR, "{ratio}: {square} {wanted}");
            let calls = std::cell::Cell::new(0);
            let count = |part: f64| {
                calls.set(calls.get() + 1);
                part.sqrt()
            };
            let root = left_of_slip(ratio, count);
            assert!((root * (1.0 + ratio * root.sqrt()) - 1.0).abs() <= NEAR, "{ratio}: {root}");
            assert!(calls.get() <= 20, "{ratio}: {} evaluations", calls.get());
        }
    }
}
