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

/// Where the ranges of [`standard`] meet: log10 of Re, and how far to each side both formulas count, in decades. The table has Re = 20, 260, 1500,
/// 1.2·10⁴, 4.4·10⁴, 3.38·10⁵, 4·10⁵ and 10⁶; but at 4·10⁵ its formulas differ by 21 %, and are one at 4.033·10⁵.
const MEETINGS: [(f64, f64); 8] = [
    (1.301_029_995_663_981, 0.15),
    (2.414_973_347_970_818, 0.15),
    (3.176_091_259_055_681, 0.15),
    (4.079_181_246_047_625, 0.05),
    (4.643_452_676_486_188, 0.05),
    (5.528_916_700_277_635, 0.02),
    (5.605_555_555_555_556, 0.01),
    (6.0, 0.1),
];

/// The Reynolds numbers between which the force of [`standard`] falls as the speed rises: the boundary layer becomes turbulent, and the wake
/// narrow.
pub const CRISIS: [f64; 2] = [3.3722e5, 4.0643e5];

/// The Reynolds number above which [`blunt`] keeps its coefficient.
const LAST_BLUNT: f64 = 1.2e4;

/// The standard drag curve of a smooth sphere in a quiet flow, with the drag crisis (Clift, Grace and Weber 1978, *Bubbles, Drops and
/// Particles*, Table 5.2).
///
/// The table's formulas differ by up to 0.8 % where their ranges meet. Near such a place they are blended, so that force and derivative are
/// continuous.
pub fn standard(reynolds: f64) -> Excess {
    if reynolds <= 0.0 {
        return Excess { factor: 1.0, slope: 0.0 };
    }
    let w = reynolds.log10();
    let range = MEETINGS.iter().take_while(|(meeting, _)| w > *meeting).count();
    let (mut log_factor, mut slope) = range_of_standard(range, w);
    // The meeting before it, or that behind it, may be near.
    let near =
        |n: &usize| MEETINGS.get(*n).is_some_and(|(meeting, blend)| (w - meeting).abs() < *blend);
    if let Some(n) = [range.wrapping_sub(1), range].into_iter().find(near) {
        let (meeting, blend) = MEETINGS[n];
        let t = (w - meeting) / (2.0 * blend) + 0.5;
        let (share, share_slope) = (t * t * (3.0 - 2.0 * t), 6.0 * t * (1.0 - t) / (2.0 * blend));
        let [before, after] = match n == range {
            true => [(log_factor, slope), range_of_standard(n + 1, w)],
            false => [range_of_standard(n, w), (log_factor, slope)],
        };
        slope = before.1 + share * (after.1 - before.1) + share_slope * (after.0 - before.0);
        log_factor = before.0 + share * (after.0 - before.0);
    }
    Excess { factor: (LN_10 * log_factor).exp(), slope }
}

/// The same for what is blunt and has no crisis, such as a drop that is flat: above Re = 12000 the coefficient stays as it is.
pub fn blunt(reynolds: f64) -> Excess {
    if reynolds <= LAST_BLUNT {
        return standard(reynolds);
    }
    let last = standard(LAST_BLUNT);
    Excess { factor: last.factor * (reynolds / LAST_BLUNT), slope: 1.0 }
}

/// log10 φ by one range of the table, and its derivative; all in decades, w = log10 Re.
fn range_of_standard(range: usize, w: f64) -> (f64, f64) {
    // Of log10 C_d and its derivative, and of C_d and its derivative.
    let of_log = |log: f64, slope: f64| (log - LOG_24 + w, slope + 1.0);
    let of =
        |coefficient: f64, slope: f64| of_log(coefficient.log10(), slope / (LN_10 * coefficient));
    match range {
        0 => one_and_power(0.1315, w * (0.82 - 0.05 * w), 0.82 - 0.1 * w),
        1 => one_and_power(0.1935, 0.6305 * w, 0.6305),
        2 => of_log(1.6435 + w * (-1.1242 + w * 0.1558), -1.1242 + w * 0.3116),
        3 => of_log(
            -2.4571 + w * (2.5558 + w * (-0.9295 + w * 0.1049)),
            2.5558 + w * (-1.859 + w * 0.3147),
        ),
        4 => of_log(-1.9181 + w * (0.6370 - w * 0.0636), 0.6370 - w * 0.1272),
        5 => of_log(-4.3390 + w * (1.5809 - w * 0.1546), 1.5809 - w * 0.3092),
        6 => of(29.78 - 5.3 * w, -5.3),
        7 => of(0.1 * w - 0.49, 0.1),
        _ => {
            let less = 8e4 * (-LN_10 * w).exp();
            of(0.19 - less, LN_10 * less)
        }
    }
}

/// log10 24.
const LOG_24: f64 = 1.380_211_241_711_606;

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
        for law in [schiller_naumann, blunt, standard] {
            let mut before = law(1e-7);
            // Up to the drag crisis, where it has one; φ falls a little before φ·u does.
            let crisis = 0.99 * CRISIS[0];
            let all = reynolds_numbers().filter(|re| law(3e6).slope == 1.0 || *re < crisis);
            for re in all {
                let now = law(re);
                // The force is φ·u: it grows strictly, and a fortieth of a decade later is hardly larger.
                assert!(
                    now.factor >= before.factor && now.factor < before.factor * 1.02 + 1e-9,
                    "{re}"
                );
                // Where a blend leads from a flat range into the falling one of the crisis, the force first rises a little faster.
                let steepest = if re < 3e5 { 1.25 } else { 2.0 };
                assert!((0.0..steepest).contains(&now.slope), "Re {re}: {now:?}");
                before = now;
            }
        }
    }

    #[test]
    fn slopes_are_the_derivatives() {
        for law in [schiller_naumann, blunt, standard] {
            for re in reynolds_numbers().filter(|re| !(985.0..993.0).contains(re) && *re > 1e-3) {
                let step = 1e-5;
                let up = law(re * (1.0 + step)).factor.ln();
                let down = law(re * (1.0 - step)).factor.ln();
                let found = (up - down) / (2.0 * step);
                let near_last = (re - LAST_BLUNT).abs() < 1.0;
                // In the crisis the slope changes by 30 in 0.02 decades.
                let tolerance = if (3e5..4.5e5).contains(&re) { 1e-4 } else { 1e-6 };
                let off = (found - law(re).slope).abs();
                assert!(off < tolerance || near_last, "Re {re}: off by {off}");
            }
        }
    }

    #[test]
    fn the_standard_curve_passes_the_tables_own_values() {
        // C_d of the unblended formulas, in the middle of each range.
        let table = [
            (1.0, 27.156),
            (100.0, 1.0870),
            (600.0, 0.5282),
            (5000.0, 0.3873),
            (2.3e4, 0.44705),
            (1.2e5, 0.50384),
            (3.7e5, 0.26853),
            (6e5, 0.0878),
            (1e7, 0.1820),
        ];
        for (re, coefficient) in table {
            let found = standard(re).factor * 24.0 / re;
            assert!((found / coefficient - 1.0).abs() < 2e-3, "Re {re}: {found}");
        }
    }

    /// The force falls between the two ends of the crisis and nowhere else, to a fifth.
    #[test]
    fn the_force_falls_in_the_crisis_alone() {
        let force = |re: f64| standard(re).factor * re;
        let mut before = force(1e5);
        for n in 1..=20_000 {
            let re = 10_f64.powf(5.0 + 2.0 * f64::from(n) / 2e4);
            let now = force(re);
            let [from, to] = CRISIS;
            // Where it turns is known to a step.
            match re {
                re if re < 0.9997 * from || re > 1.0003 * to => assert!(now > before, "Re {re}"),
                re if re > 1.0003 * from && re < 0.9997 * to => assert!(now < before, "Re {re}"),
                _ => {}
            }
            before = now;
        }
        let fallen = force(CRISIS[1]) / force(CRISIS[0]);
        assert!((0.19..0.21).contains(&fallen), "{fallen}");
    }
}
