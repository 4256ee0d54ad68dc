//! Round numbers along an axis: steps of 1, 2 or 5 times a power of ten (Heckbert 1990, "Nice numbers for graph labels"), and
//! how they are written.

/// No axis has more ticks, whatever is asked for.
const MOST: usize = 1000;

/// Round numbers within a range, and how to write them.
#[derive(Debug, Clone, PartialEq)]
pub struct Ticks {
    /// The numbers, rising.
    pub values: Vec<f64>,
    /// How far they are apart.
    pub step: f64,
    /// Labels are numbers of this power of ten; 0 for numbers as they are.
    pub power: i32,
    /// How many digits after the point labels have.
    decimals: usize,
}

impl Ticks {
    /// Round numbers from `low` to `high`, about as many as asked for. None if there is no range.
    pub fn within(low: f64, high: f64, about: usize) -> Self {
        let nothing = Self { values: Vec::new(), step: 1.0, power: 0, decimals: 0 };
        let range = high - low;
        if !(range.is_finite() && range > 0.0) {
            return nothing;
        }
        let step = round_step(range / about.clamp(1, MOST) as f64);
        // Numbers so close to each other that rounding shows have no round ones between them.
        let largest = low.abs().max(high.abs());
        if !step.is_normal() || largest / step > 1e12 {
            return nothing;
        }
        let slack = 1e-9 * range;
        let first = ((low - slack) / step).ceil();
        let last = ((high + slack) / step).floor();
        let count = (last - first + 1.0).clamp(0.0, 4.0 * MOST as f64) as usize;
        // Whole multiples: sums would drift, and zero would not be zero.
        let values: Vec<f64> = (0..count).map(|n| (first + n as f64) * step + 0.0).collect();
        let magnitude = largest.log10().floor() as i32;
        let power = if (-3..5).contains(&magnitude) { 0 } else { magnitude };
        let places = power - (step.log10() + 1e-9).floor() as i32;
        Self { values, step, power, decimals: places.clamp(0, 15) as usize }
    }

    /// How one of the numbers is written, without the power of ten.
    pub fn label(&self, value: f64) -> String {
        let value = value / 10_f64.powi(self.power);
        signed(format!("{value:.*}", self.decimals))
    }

    /// What labels are multiplied with, such as `×10⁻⁵`; empty for numbers as they are.
    pub fn factor(&self) -> String {
        if self.power == 0 { String::new() } else { format!("×{}", power_of_ten(self.power)) }
    }
}

/// Powers of ten from `low` to `high`, at most about as many as asked for: for logarithmic axes. None unless both are positive.
pub fn powers_within(low: f64, high: f64, about: usize) -> Vec<i32> {
    if !(low > 0.0 && high.is_finite() && high >= low) {
        return Vec::new();
    }
    let first = (low.log10() - 1e-9).ceil() as i32;
    let last = (high.log10() + 1e-9).floor() as i32;
    let step = ((last - first + 1).max(1) as usize).div_ceil(about.max(1)) as i32;
    (first..=last).filter(|power| power.rem_euclid(step) == 0).collect()
}

/// How a power of ten is written: `10⁻⁵`.
pub fn power_of_ten(power: i32) -> String {
    let raised = |sign: char| match sign {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => digit.to_digit(10).and_then(|n| char::from_u32(0x2070 + n)).unwrap_or(digit),
    };
    format!("10{}", power.to_string().chars().map(raised).collect::<String>())
}

/// A number with three digits that count, such as `0.125`, `12.5`, `12 500` or `1.25×10⁻⁵`.
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        let name = if value.is_nan() { "–" } else { "∞" };
        return if value < 0.0 { format!("−{name}") } else { name.into() };
    }
    if value == 0.0 {
        return "0".into();
    }
    let magnitude = value.abs().log10().floor() as i32;
    if !(-3..7).contains(&magnitude) {
        let scaled = trimmed(format!("{:.2}", value / 10_f64.powi(magnitude)));
        return format!("{}×{}", signed(scaled), power_of_ten(magnitude));
    }
    signed(grouped(trimmed(format!("{value:.*}", (2 - magnitude).max(0) as usize))))
}

/// The least of 1, 2 or 5 times a power of ten that is not less.
fn round_step(rough: f64) -> f64 {
    let power = 10_f64.powi(rough.log10().floor() as i32);
    let times = [1.0, 2.0, 5.0].into_iter().find(|times| rough <= times * power * (1.0 + 1e-9));
    times.unwrap_or(10.0) * power
}

/// Without zeros at the end of a fraction.
fn trimmed(text: String) -> String {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// With thin gaps between thousands, from 10 000 on.
fn grouped(text: String) -> String {
    let whole = text.find('.').unwrap_or(text.len());
    let digits = text[..whole].trim_start_matches('-').len();
    if digits < 5 {
        return text;
    }
    let gap = |n: usize| whole > n && (whole - n).is_multiple_of(3) && n > whole - digits;
    let signs = text.chars().enumerate();
    signs.flat_map(|(n, sign)| gap(n).then_some('\u{202f}').into_iter().chain([sign])).collect()
}

/// With the sign that is as wide as a digit.
fn signed(text: String) -> String {
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(low: f64, high: f64, about: usize) -> Vec<String> {
        let ticks = Ticks::within(low, high, about);
        ticks.values.iter().map(|&value| ticks.label(value)).collect()
    }

    #[test]
    fn ticks_are_at_round_numbers() {
        assert_eq!(labels(0.0, 10.0, 5), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(labels(-0.3, 0.31, 6), ["−0.2", "0.0", "0.2"]);
        assert_eq!(labels(0.13, 0.57, 5), ["0.2", "0.3", "0.4", "0.5"]);
        assert_eq!(labels(1200.0, 9100.0, 4), ["2000", "4000", "6000", "8000"]);
    }

    #[test]
    fn very_large_and_small_numbers_have_a_factor() {
        let ticks = Ticks::within(0.0, 3e-5, 3);
        assert_eq!((ticks.label(2e-5), ticks.factor()), ("2".into(), "×10⁻⁵".into()));
        let ticks = Ticks::within(0.0, 2.5e7, 5);
        assert_eq!((ticks.label(5e6), ticks.factor()), ("0.5".into(), "×10⁷".into()));
    }

    #[test]
    fn where_there_is_no_range_there_are_no_ticks() {
        for (low, high) in
            [(1.0, 1.0), (2.0, 1.0), (f64::NAN, 1.0), (0.0, f64::INFINITY), (-f64::MAX, f64::MAX)]
        {
            assert!(Ticks::within(low, high, 5).values.is_empty(), "{low} {high}");
        }
        assert!(Ticks::within(1.0, 1.0 + 1e-15, 5).values.is_empty());
        assert!(
            powers_within(0.0, 1.0, 5).is_empty() && powers_within(1.0, f64::NAN, 5).is_empty()
        );
    }

    #[test]
    fn powers_of_ten_are_thinned_out() {
        assert_eq!(powers_within(1e-3, 1e2, 10), [-3, -2, -1, 0, 1, 2]);
        assert_eq!(powers_within(1e-8, 1.0, 5), [-8, -6, -4, -2, 0]);
        assert_eq!(power_of_ten(-12), "10⁻¹²");
    }

    #[test]
    fn numbers_have_three_digits_that_count() {
        let found =
            [0.0, 0.125, -1.5, 12.345, 999.0, 12_500.0, 1_234_567.0, 1.25e-5, 2e9].map(number);
        let wanted = [
            "0",
            "0.125",
            "−1.5",
            "12.3",
            "999",
            "12\u{202f}500",
            "1\u{202f}234\u{202f}567",
            "1.25×10⁻⁵",
            "2×10⁹",
        ];
        assert_eq!(found, wanted);
        assert_eq!([f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(number), ["–", "∞", "−∞"]);
    }

    proptest! {
        #[test]
        fn ticks_lie_within_and_are_about_as_many_as_asked(low in -1e6..1e6_f64, size in -6..6_i32, about in 2..12_usize) {
            let range = 10_f64.powi(size) * 3.7;
            let ticks = Ticks::within(low, low + range, about);
            if range / low.abs().max(1.0) > 1e-9 {
                prop_assert!(ticks.values.len() <= about + 1);
                prop_assert!(ticks.values.len() * 5 >= about - 1 || about < 3);
                let slack = 1e-6 * range + 1e-9 * low.abs();
                let inside = low - slack..=low + range + slack;
                prop_assert!(ticks.values.iter().all(|value| inside.contains(value)));
            }
        }
    }
}
