//! The drag of a rigid sphere, as what it is beyond Stokes' law: φ(Re) = C_d Re / 24, and its slope.
//!
//! In this form nothing is divided by a speed: φ → 1 as Re → 0, and the drag is −6πμr φ u at every speed.

use std::f64::consts::LN_10;

/// How much larger a drag is than Stokes', and how steeply it grows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Excess {
    /// φ = C_d Re / 24 [1].
    pub factor: f64,
    /// ψ = d ln φ / d ln Re [1]: 0 for Stokes' law, 1 for Newton's.
    pub slope: f64,
}

/// The constant coefficient of Schiller and Naumann's law, and of Newton's regime in it [1].
pub const NEWTON_COEFFICIENT: f64 = 0.44;

/// Schiller and Naumann 1933: C_d = 24/Re (1 + 0.15 Re^0.687), and never less than 0.44.
///
/// The two meet at Re = 989. Customarily they are switched at Re = 1000, where the coefficient then jumps up by 0.4 %; taking
/// the larger one changes nothing else and leaves the force continuous.
pub fn schiller_naumann(reynolds: f64) -> Excess {
    let more = 0.15 * reynolds.powf(0.687);
    let newton = NEWTON_COEFFICIENT / 24.0 * reynolds;
    if newton >= 1.0 + more {
        Excess { factor: newton, slope: 1.0 }
    } else {
        Excess { factor: 1.0 + more, slope: 0.687 * more / (1.0 + more) }
    }
}

/// The Reynolds number above which [`standard`] keeps its coefficient. The drag crisis lies far above.
const LAST_REYNOLDS: f64 = 1.2e4;
/// Where the ranges of [`standard`] meet: log10 of Re = 20, 260 and 1500.
const MEETINGS: [f64; 3] = [1.301_029_995_663_981, 2.414_973_347_970_818, 3.176_091_259_055_681];
/// How far to each side of a meeting both formulas count, in decades of Re.
const BLEND: f64 = 0.15;

/// The standard drag curve of a sphere (Clift, Grace and Weber 1978, *Bubbles, Drops and Particles*, Table 5.2), to Re = 12000;
/// above that the coefficient stays as it is.
///
/// The table's formulas differ by up to 0.7 % where their ranges meet. Within 0.15 decades of such a place they are
/// blended, so that force and derivative are continuous.
pub fn standard(reynolds: f64) -> Excess {
    if reynolds <= 0.0 {
        return Excess { factor: 1.0, slope: 0.0 };
    }
    if reynolds > LAST_REYNOLDS {
        let last = standard(LAST_REYNOLDS);
        return Excess { factor: last.factor * (reynolds / LAST_REYNOLDS), slope: 1.0 };
    }
    // All in decades: w = log10 Re, and each range gives log10 φ with its derivative by w.
    let w = reynolds.log10();
    let log_24 = 24.0_f64.log10();
    let ranges = [
        one_and_power(0.1315, w * (0.82 - 0.05 * w), 0.82 - 0.1 * w),
        one_and_power(0.1935, 0.6305 * w, 0.6305),
        (1.6435 - log_24 + w * (-0.1242 + w * 0.1558), -0.1242 + w * 0.3116),
        (
            -2.4571 - log_24 + w * (3.5558 + w * (-0.9295 + w * 0.1049)),
            3.5558 + w * (-1.859 + w * 0.3147),
        ),
    ];
    let (mut log_factor, mut slope) = ranges[0];
    for (&meeting, &(next, next_slope)) in MEETINGS.iter().zip(&ranges[1..]) {
        let t = ((w - meeting) / (2.0 * BLEND) + 0.5).clamp(0.0, 1.0);
        let (share, share_slope) = (t * t * (3.0 - 2.0 * t), 6.0 * t * (1.0 - t) / (2.0 * BLEND));
        slope += share * (next_slope - slope) + share_slope * (next - log_factor);
        log_factor += share * (next - log_factor);
    }
    Excess { factor: (LN_10 * log_factor).exp(), slope }
}

/// log10(1 + a 10^e) and its derivative, where `de` is that of the exponent e.
fn one_and_power(a: f64, e: f64, de: f64) -> (f64, f64) {
    let more = a * (LN_10 * e).exp();
    ((1.0 + more).log10(), more / (1.0 + more) * de)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reynolds_numbers() -> impl Iterator<Item = f64> {
        (0..=4000).map(|n| 10_f64.powf(-6.0 + 12.0 * f64::from(n) / 4000.0))
    }

    #[test]
    fn both_curves_tend_to_stokes_law() {
        for law in [schiller_naumann, standard] {
            assert_eq!(law(0.0), Excess { factor: 1.0, slope: 0.0 });
            assert!((law(1e-4).factor - 1.0).abs() < 5e-4);
        }
    }

    #[test]
    fn forces_grow_steadily_with_speed_and_without_jumps() {
        for law in [schiller_naumann, standard] {
            let mut before = law(1e-7);
            for re in reynolds_numbers() {
                let now = law(re);
                // The force is φ·u: it grows strictly, and a fortieth of a decade later is hardly larger.
                assert!(
                    now.factor >= before.factor && now.factor < before.factor * 1.02 + 1e-9,
                    "{re}"
                );
                assert!((0.0..1.25).contains(&now.slope), "Re {re}: {now:?}");
                before = now;
            }
        }
    }

    #[test]
    fn slopes_are_the_derivatives() {
        for law in [schiller_naumann, standard] {
            for re in reynolds_numbers().filter(|re| !(985.0..993.0).contains(re) && *re > 1e-3) {
                let step = 1e-5;
                let up = law(re * (1.0 + step)).factor.ln();
                let down = law(re * (1.0 - step)).factor.ln();
                let found = (up - down) / (2.0 * step);
                let near_last = (re - LAST_REYNOLDS).abs() < 1.0;
                assert!((found - law(re).slope).abs() < 1e-6 || near_last, "Re {re}");
            }
        }
    }

    #[test]
    fn the_standard_curve_passes_the_tables_own_values() {
        // C_d of the unblended formulas, in the middle of each range.
        for (re, coefficient) in [(1.0, 27.156), (100.0, 1.0870), (600.0, 0.5282), (5000.0, 0.3873)]
        {
            let found = standard(re).factor * 24.0 / re;
            assert!((found / coefficient - 1.0).abs() < 2e-3, "Re {re}: {found}");
        }
    }
}
