//! Blending: the smallest of two distances, rounded off where both are nearly the same.
//!
//! Where |a − b| < w, smooth_min(a, b) = min(a, b) − (w − |a − b|)² / 4w, the quadratic polynomial that meets min(a, b) at
//! |a − b| = w with its slope: surfaces join in a fillet without a crease. Elsewhere it is min(a, b), bit for bit.

/// The smaller of two distances, blended where they differ by less than `width`; it is below both by a quarter of the
/// width at most. A width that is zero, negative or NaN blends nothing.
#[inline]
pub fn smooth_min(a: f64, b: f64, width: f64) -> f64 {
    let overlap = width - (a - b).abs();
    if overlap > 0.0 { a.min(b) - overlap * overlap / (4.0 * width) } else { a.min(b) }
}

/// The larger of two distances, blended in the same way.
#[inline]
pub fn smooth_max(a: f64, b: f64, width: f64) -> f64 {
    -smooth_min(-a, -b, width)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random;

    #[test]
    fn a_blend_is_exact_outside_smooth_inside_and_a_quarter_of_its_width_deep() {
        for n in 0..10_000 {
            let [a, b, width] = [0, 1, 2].map(|seed| 4.0 * random::unit(seed, n) - 2.0);
            let blended = smooth_min(a, b, width);
            if width <= 0.0 || (a - b).abs() >= width {
                assert_eq!(blended.to_bits(), a.min(b).to_bits());
            }
            let deepest = 0.25 * width.max(0.0);
            assert!(blended <= a.min(b) && blended >= a.min(b) - deepest - 1e-15);
            assert_eq!(blended, smooth_min(b, a, width), "the order does not matter");
            assert_eq!(smooth_max(a, b, width), -smooth_min(-a, -b, width));
        }
        assert_eq!(smooth_min(1.0, 1.0, 2.0), 0.5);
    }

    #[test]
    fn the_slope_of_a_blend_does_not_jump() {
        let (width, step) = (0.5, 1e-4);
        let slope = |a: f64| (smooth_min(a + step, 0.0, width) - smooth_min(a, 0.0, width)) / step;
        let slopes: Vec<f64> = (-10_000..10_000).map(|n| slope(f64::from(n) * step)).collect();
        for pair in slopes.windows(2) {
            assert!((pair[1] - pair[0]).abs() < 2.0 * step / width, "{pair:?}");
        }
        assert!((slopes[0] - 1.0).abs() < 1e-9 && slopes[19_999].abs() < 1e-9);
    }

    #[test]
    fn a_width_or_a_distance_that_is_not_a_number_blends_nothing() {
        assert_eq!(smooth_min(1.0, 2.0, f64::NAN), 1.0);
        assert_eq!(smooth_min(1.0, f64::INFINITY, 0.5), 1.0);
        assert_eq!(smooth_max(1.0, f64::NEG_INFINITY, 0.5), 1.0);
    }
}
