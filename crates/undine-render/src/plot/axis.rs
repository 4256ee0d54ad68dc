//! Axes: which values they span, where ticks stand, and what is written at them.

use crate::ticks::power_of_ten;

/// What an axis counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What it is about: `time`.
    pub label: String,
    /// In what it counts.
    pub unit: Unit,
    /// Whether equal lengths are equal differences or equal ratios.
    pub scale: Scale,
    /// Whether zero is always to be seen.
    pub from_zero: bool,
    /// Values that are to be seen whatever the series hold: what two plots side by side have in common.
    pub reaches: Option<[f64; 2]>,
}

/// In what an axis counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unit {
    /// Whole numbers that name something, such as frames.
    Number,
    /// How many there are: 1.5k, 2M.
    Count,
    /// A unit of SI, or bytes, that takes prefixes: 5 ms, 20 MB.
    Prefixed(&'static str),
    /// A unit that takes none, and then powers of ten: 10⁻³ kg.
    Plain(&'static str),
}

/// How values become lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Equal lengths are equal differences.
    Linear,
    /// Equal lengths are equal ratios. What is not positive has no place.
    Log,
}

impl Axis {
    /// A linear axis that shows zero.
    pub fn new(label: &str, unit: Unit) -> Self {
        let label = label.to_owned();
        Self { label, unit, scale: Scale::Linear, from_zero: true, reaches: None }
    }

    /// The same without zero, if the values are far from it.
    pub fn free(self) -> Self {
        Self { from_zero: false, ..self }
    }

    /// The same by ratios.
    pub fn log(self) -> Self {
        Self { scale: Scale::Log, ..self }
    }
}

/// An axis that knows which values it spans.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Spanned {
    pub low: f64,
    pub high: f64,
    pub scale: Scale,
    /// The step between ticks; of logarithmic ones, in decades.
    step: f64,
    unit: Unit,
}

/// Prefixes from 10⁻¹² on, by three powers of ten each.
const PREFIXES: [&str; 10] = ["p", "n", "µ", "m", "", "k", "M", "G", "T", "P"];

impl Spanned {
    /// Over these values, which end at ticks if `round` says so, with about `ticks` of them.
    pub fn new(axis: &Axis, values: impl Iterator<Item = f64>, ticks: f64, round: bool) -> Self {
        let log = axis.scale == Scale::Log;
        let counts =
            |value: &f64| value.is_finite() && value.abs() < 1e300 && (!log || *value > 0.0);
        let all = values.chain(axis.reaches.into_iter().flatten()).filter(counts);
        let (mut low, mut high) = all
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        if low > high {
            (low, high) = if log { (0.1, 1.0) } else { (0.0, 1.0) };
        }
        if log {
            return Self::of_decades(axis, low, high, ticks, round);
        }
        if axis.from_zero {
            (low, high) = (low.min(0.0), high.max(0.0));
        }
        // What differs by no more than rounding is the same.
        let size = low.abs().max(high.abs());
        if high - low <= 1e-12 * size || high == low {
            let room = if size > 0.0 { 0.1 * size } else { 1.0 };
            (low, high) = match axis.unit {
                Unit::Number => (low - 0.5, high + 0.5),
                _ if size == 0.0 => (0.0, 1.0),
                _ => (low - room, high + room),
            };
        }
        let whole = matches!(axis.unit, Unit::Number | Unit::Count);
        let step = round_step((high - low) / ticks, whole);
        if round {
            (low, high) = ((low / step).floor() * step, (high / step).ceil() * step);
        }
        Self { low, high, scale: axis.scale, step, unit: axis.unit.clone() }
    }

    fn of_decades(axis: &Axis, low: f64, high: f64, ticks: f64, round: bool) -> Self {
        let (mut low, mut high) = (low.log10(), high.log10());
        if round {
            (low, high) = (low.floor(), high.ceil());
        }
        if high - low < 1.0 {
            high = low + 1.0;
        }
        let step = round_step((high - low) / ticks, true);
        let power = |exponent: f64| 10.0_f64.powf(exponent);
        Self {
            low: power(low),
            high: power(high),
            scale: axis.scale,
            step,
            unit: axis.unit.clone(),
        }
    }

    /// Where a value lies between the ends, 0 to 1; nothing for what has no place.
    pub fn share(&self, value: f64) -> Option<f64> {
        let share = match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log if value <= 0.0 => return None,
            Scale::Log => (value / self.low).log10() / (self.high / self.low).log10(),
        };
        share.is_finite().then_some(share)
    }

    /// Where ticks stand.
    pub fn ticks(&self) -> Vec<f64> {
        let (low, high) = match self.scale {
            Scale::Linear => (self.low, self.high),
            Scale::Log => (self.low.log10(), self.high.log10()),
        };
        // A share of a step, so that rounding takes no tick away.
        let (first, last) = ((low / self.step - 1e-6).ceil(), (high / self.step + 1e-6).floor());
        let count = (last - first).clamp(0.0, 100.0) as usize;
        let places = (0..=count).map(|n| (first + n as f64) * self.step);
        places.map(|at| if self.scale == Scale::Log { 10.0_f64.powf(at) } else { at }).collect()
    }

    /// What is written at a tick.
    pub fn written(&self, tick: f64) -> String {
        if tick == 0.0 {
            return "0".to_owned();
        }
        if self.scale == Scale::Log {
            return power_of_ten(tick.log10().round() as i32);
        }
        if self.unit == Unit::Count {
            return self.written_count(tick);
        }
        let (_, one) = self.counted();
        fixed(tick / one, decimals(self.step / one))
    }

    fn written_count(&self, tick: f64) -> String {
        let size = self.low.abs().max(self.high.abs());
        let (suffix, one) = match size {
            s if s < 1e4 => ("", 1.0),
            s if s < 1e6 => ("k", 1e3),
            s if s < 1e9 => ("M", 1e6),
            s if s < 1e15 => ("G", 1e9),
            _ => return format!("{tick:e}"),
        };
        fixed(tick / one, decimals(self.step / one)) + suffix
    }

    /// The unit in which ticks are written, and how much one of it is.
    pub fn counted(&self) -> (String, f64) {
        let size = self.low.abs().max(self.high.abs());
        let thousands = (size.log10() / 3.0 + 1e-9).floor().clamp(-100.0, 100.0) as i32;
        match &self.unit {
            Unit::Number | Unit::Count => (String::new(), 1.0),
            Unit::Prefixed(unit) if self.scale == Scale::Log => ((*unit).to_owned(), 1.0),
            Unit::Plain(unit) if self.scale == Scale::Log => ((*unit).to_owned(), 1.0),
            // There is no fraction of a byte.
            Unit::Prefixed("B") if thousands < 1 => ("B".to_owned(), 1.0),
            Unit::Prefixed(unit) => match PREFIXES.get((thousands + 4).max(0) as usize) {
                Some(prefix) if thousands >= -4 => {
                    (format!("{prefix}{unit}"), 1000.0_f64.powi(thousands))
                }
                _ => {
                    (format!("{} {unit}", power_of_ten(3 * thousands)), 1000.0_f64.powi(thousands))
                }
            },
            Unit::Plain(unit) if (-1..=1).contains(&thousands) && size >= 0.01 => {
                ((*unit).to_owned(), 1.0)
            }
            Unit::Plain(unit) => {
                let power = power_of_ten(3 * thousands);
                let text = if unit.is_empty() { power } else { format!("{power} {unit}") };
                (text, 1000.0_f64.powi(thousands))
            }
        }
    }
}

/// The round number (1, 2 or 5 times a power of ten) that is nearest above a step.
fn round_step(step: f64, whole: bool) -> f64 {
    let step = if whole { step.max(1.0) } else { step.max(1e-290) };
    let power = 10.0_f64.powf(step.log10().floor());
    let rounds = [1.0, 2.0, 5.0].map(|n| n * power);
    rounds.into_iter().find(|round| *round >= step * (1.0 - 1e-9)).unwrap_or(10.0 * power)
}

/// How many digits behind the point a step needs.
fn decimals(step: f64) -> usize {
    (-step.log10() - 1e-9).ceil().clamp(0.0, 15.0) as usize
}

/// A number with digits behind the point, a true minus, and no minus before zero.
fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.bytes().any(|digit| (b'1'..=b'9').contains(&digit)) => {
            format!("−{rest}")
        }
        Some(rest) => rest.to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(unit: Unit, values: &[f64]) -> Spanned {
        Spanned::new(&Axis::new("it", unit), values.iter().copied(), 5.0, true)
    }

    fn written(axis: &Spanned) -> Vec<String> {
        axis.ticks().into_iter().map(|tick| axis.written(tick)).collect()
    }

    #[test]
    fn ticks_are_round_numbers_in_a_unit_that_fits() {
        let time = axis(Unit::Prefixed("s"), &[0.003, 0.0117]);
        assert_eq!(written(&time), ["0", "5", "10", "15"]);
        assert_eq!(time.counted().0, "ms");
        let bytes = axis(Unit::Prefixed("B"), &[2.3e9]);
        assert_eq!(
            (written(&bytes).join(" "), bytes.counted().0),
            ("0 0.5 1.0 1.5 2.0 2.5".into(), "GB".into())
        );
        let count = axis(Unit::Count, &[1_480_000.0]);
        assert_eq!(written(&count), ["0", "0.5M", "1.0M", "1.5M"]);
        let momentum = axis(Unit::Plain("kg m/s"), &[-2e-6, 3e-6]);
        assert_eq!(
            (written(&momentum).join(" "), momentum.counted().0),
            ("−2 −1 0 1 2 3".into(), "10⁻⁶ kg m/s".into())
        );
        let one =
            Spanned::new(&Axis::new("frame", Unit::Number).free(), [7.0].into_iter(), 8.0, false);
        assert_eq!(written(&one), ["7"]);
    }

    #[test]
    fn decades_are_written_as_powers() {
        let axis = Spanned::new(
            &Axis::new("residual", Unit::Plain("")).log(),
            [3e-9, 0.5, 0.0, -1.0].into_iter(),
            5.0,
            true,
        );
        assert_eq!(written(&axis), ["10⁻⁸", "10⁻⁶", "10⁻⁴", "10⁻²", "10⁰"]);
        assert_eq!(axis.share(1e-9), Some(0.0));
        assert_eq!(axis.share(1.0), Some(1.0));
        assert_eq!(axis.share(0.0), None);
    }

    #[test]
    fn no_value_makes_an_axis_of_no_length() {
        for values in [
            vec![],
            vec![0.0],
            vec![f64::NAN],
            vec![f64::INFINITY, 1.0],
            vec![1e-300],
            vec![-1e299, 1e299],
            vec![5.0; 3],
            vec![1000.0, 1000.0 + 1e-13],
            vec![f64::MIN_POSITIVE],
        ] {
            for scale in [Scale::Linear, Scale::Log] {
                for from_zero in [true, false] {
                    let axis = Axis { scale, from_zero, ..Axis::new("it", Unit::Plain("kg")) };
                    let spanned = Spanned::new(&axis, values.iter().copied(), 5.0, true);
                    assert!(spanned.low < spanned.high, "{values:?}");
                    let ticks = spanned.ticks();
                    assert!(ticks.len() >= 2 && ticks.len() < 20, "{values:?}: {ticks:?}");
                    assert!(spanned.share(spanned.low).unwrap().abs() < 1e-9);
                    assert!((spanned.share(spanned.high).unwrap() - 1.0).abs() < 1e-9);
                    assert!(ticks.iter().all(|tick| spanned.written(*tick).len() < 30));
                }
            }
        }
    }
}
