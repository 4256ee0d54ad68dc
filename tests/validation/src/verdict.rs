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
}

/// The outcome of a case. It starts as passed, and every figure that does not hold fails it.
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
