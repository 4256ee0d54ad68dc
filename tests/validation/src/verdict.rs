//! What a case found: figures, each beside what was wanted.

use std::fmt::Display;

/// One measured thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// What was measured, with its unit in brackets.
    pub name: String,
    /// What was found.
    pub value: String,
    /// What was wanted, in words: `≤ 0.01`.
    pub wanted: String,
    /// Whether the one meets the other.
    pub holds: bool,
    /// Where it does not, but is known to: why, and what still has to hold.
    pub short: Option<String>,
}

/// The outcome of a case. It starts as passed, and every figure that does not hold fails it, unless it is known to fall short.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// True while every figure holds.
    pub passed: bool,
    /// The figures, in the order in which they were taken.
    pub figures: Vec<Figure>,
}

impl Default for Verdict {
    fn default() -> Self {
        Self { passed: true, figures: Vec::new() }
    }
}

impl Verdict {
    /// A verdict without figures yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A case that could not be run to its end.
    pub fn broken(why: impl Display) -> Self {
        Self::new().figure("ran to its end", why, "yes", false)
    }

    /// A figure that may not be above `limit`. NaN does not hold.
    pub fn at_most(self, name: &str, value: f64, limit: f64) -> Self {
        self.figure(name, short(value), format!("≤ {}", short(limit)), value <= limit)
    }

    /// A figure that may not be below `limit`. NaN does not hold.
    pub fn at_least(self, name: &str, value: f64, limit: f64) -> Self {
        self.figure(name, short(value), format!("≥ {}", short(limit)), value >= limit)
    }

    /// A figure that must lie within `tolerance` of `expected`. NaN does not hold.
    pub fn near(self, name: &str, value: f64, expected: f64, tolerance: f64) -> Self {
        let wanted = format!("{} ± {}", short(expected), short(tolerance));
        self.figure(name, short(value), wanted, (value - expected).abs() <= tolerance)
    }

    /// A figure that should be within `tolerance` of `expected` and is known not to be, for a reason: it is shown as one that falls
    /// short, and fails the case beyond `bound`. NaN does not hold.
    pub fn near_or(
        self,
        name: &str,
        value: f64,
        [expected, tolerance, bound]: [f64; 3],
        why: &str,
    ) -> Self {
        let off = (value - expected).abs();
        if off <= tolerance || off.is_nan() || off > bound {
            return self.near(name, value, expected, tolerance);
        }
        let wanted = format!("{} ± {}", short(expected), short(tolerance));
        self.falls_short(name, short(value), wanted, format!("± {}: {why}", short(bound)))
    }

    /// The same of a figure that may not be above `limit`.
    pub fn at_most_or(self, name: &str, value: f64, [limit, bound]: [f64; 2], why: &str) -> Self {
        if value <= limit || value.is_nan() || value > bound {
            return self.at_most(name, value, limit);
        }
        let wanted = format!("≤ {}", short(limit));
        self.falls_short(name, short(value), wanted, format!("≤ {}: {why}", short(bound)))
    }

    /// Any other figure that is known to fall short, as the case itself has judged.
    pub fn falls_short(
        mut self,
        name: &str,
        value: impl Display,
        wanted: impl Display,
        why: impl Display,
    ) -> Self {
        self.figures.push(Figure {
            name: name.to_string(),
            value: value.to_string(),
            wanted: wanted.to_string(),
            holds: false,
            short: Some(why.to_string()),
        });
        self
    }

    /// A thing that must be the same as `expected`: a count, a hash, a message.
    pub fn same<T: PartialEq + Display>(self, name: &str, value: T, expected: T) -> Self {
        let holds = value == expected;
        self.figure(name, value, expected, holds)
    }

    /// Any other figure, judged by the case itself.
    pub fn figure(
        mut self,
        name: &str,
        value: impl Display,
        wanted: impl Display,
        holds: bool,
    ) -> Self {
        self.passed &= holds;
        self.figures.push(Figure {
            name: name.to_string(),
            value: value.to_string(),
            wanted: wanted.to_string(),
            holds,
            short: None,
        });
        self
    }
}

/// Four significant digits, plain where that is short to read.
fn short(value: f64) -> String {
    if value == 0.0 || (1e-3..1e6).contains(&value.abs()) {
        let digits = if value == 0.0 {
            0
        } else {
            (3.0 - value.abs().log10().floor()).clamp(0.0, 6.0) as usize
        };
        let text = format!("{value:.digits$}");
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_string()
        } else {
            text
        }
    } else {
        format!("{value:.3e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_figure_that_does_not_hold_fails_the_verdict() {
        let verdict = Verdict::new()
            .at_most("error", 0.5, 1.0)
            .same("hash", "a", "a")
            .near("speed", 9.81, 9.8, 0.02);
        assert!(verdict.passed);
        assert!(!verdict.clone().at_least("order", 0.9, 1.0).passed);
        assert!(!verdict.at_least("order", 0.9, 1.0).at_most("error", 0.0, 1.0).passed);
    }

    #[test]
    fn what_is_known_to_fall_short_fails_beyond_its_bound_alone() {
        let judged = |value| {
            let verdict = Verdict::new().near_or("part", value, [1.0, 0.05, 0.1], "it is coarse");
            let verdict = verdict.at_most_or("error", value - 1.0, [0.05, 0.1], "it is coarse");
            let short = verdict.figures.iter().all(|figure| figure.short.is_some());
            (verdict.passed, short)
        };
        assert_eq!(judged(1.04), (true, false));
        assert_eq!(judged(1.08), (true, true));
        assert_eq!(judged(1.12), (false, false));
        assert_eq!(judged(f64::NAN), (false, false));
    }

    #[test]
    fn nan_never_holds() {
        assert!(!Verdict::new().at_most("a", f64::NAN, 1.0).passed);
        assert!(!Verdict::new().at_least("a", f64::NAN, 1.0).passed);
        assert!(!Verdict::new().near("a", f64::NAN, 1.0, 1.0).passed);
    }

    #[test]
    fn values_are_short() {
        let cases = [
            (0.0, "0"),
            (0.25, "0.25"),
            (1.0, "1"),
            (9.80665, "9.807"),
            (123456.7, "123457"),
            (3.1e-7, "3.100e-7"),
        ];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
        assert_eq!(short(f64::NAN), "NaN");
    }
}
