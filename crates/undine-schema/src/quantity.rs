//! A value as people write it, `2 cm`, `4 0 0 m/s`, `20 degC`, in SI.

use crate::dimension::Dimension;
use crate::display;
use crate::unit::{Unit, UnitError};

/// Numbers in SI, and what they measure.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantity {
    /// One number, or the components of a vector, in SI.
    pub values: Vec<f64>,
    /// What they measure; `None` for bare numbers, which are in SI whatever is asked for.
    pub dimension: Option<Dimension>,
}

/// What can be wrong with a value.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum QuantityError {
    /// There is no number.
    #[error("`{text}` has no number; write for example `2 cm` or `4 0 0 m/s`")]
    NoNumber {
        /// The text found.
        text: String,
    },
    /// A number that is not finite.
    #[error("`{number}` is not a finite number")]
    NotFinite {
        /// The number found.
        number: String,
    },
    /// A unit between the numbers.
    #[error(
        "`{text}` has a unit between its numbers; one unit stands behind them all, as in `20 10 30 cm`"
    )]
    UnitBetween {
        /// The text found.
        text: String,
    },
    /// The unit is none.
    #[error(transparent)]
    Unit(#[from] UnitError),
    /// It measures something else.
    #[error("{}", wrong_dimension(.found, .wanted))]
    WrongDimension {
        /// What it measures.
        found: Dimension,
        /// What was asked for.
        wanted: Dimension,
    },
    /// It has another number of components.
    #[error("{found} {} given, but {wanted} {} wanted", is_or_are(.found), is_or_are(.wanted))]
    WrongCount {
        /// How many there are.
        found: usize,
        /// How many are wanted.
        wanted: usize,
    },
}

fn is_or_are(count: &usize) -> &'static str {
    if *count == 1 { "number is" } else { "numbers are" }
}

fn wrong_dimension(found: &Dimension, wanted: &Dimension) -> String {
    let describe = |dimension: &Dimension| match dimension.name() {
        Some(name) if *dimension != Dimension::NONE => {
            format!("{name} ({})", display::customary_unit(*dimension))
        }
        Some(name) => name.to_owned(),
        None => dimension.to_string(),
    };
    let hint = match (*found, *wanted) {
        (Dimension::KINEMATIC_VISCOSITY, Dimension::DYNAMIC_VISCOSITY) => {
            "; multiply it by the density"
        }
        (Dimension::DYNAMIC_VISCOSITY, Dimension::KINEMATIC_VISCOSITY) => {
            "; divide it by the density"
        }
        (Dimension::FREQUENCY, Dimension::ANGULAR_VELOCITY) => "; write rad/s or rpm",
        _ => "",
    };
    format!("this is {}, but {} is wanted{hint}", describe(found), describe(wanted))
}

impl Quantity {
    /// Reads numbers with a unit behind them, or without one.
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        let mut rest = text.trim();
        let mut numbers = Vec::new();
        while let Some((number, after)) = leading_number(rest) {
            let value: f64 = number
                .parse()
                .map_err(|_| QuantityError::NotFinite { number: number.to_owned() })?;
            if !value.is_finite() {
                return Err(QuantityError::NotFinite { number: number.to_owned() });
            }
            numbers.push(value);
            rest = after;
        }
        if numbers.is_empty() {
            return Err(QuantityError::NoNumber { text: text.trim().to_owned() });
        }
        if rest.is_empty() {
            return Ok(Self { values: numbers, dimension: None });
        }
        // `20 cm 30 cm`: a blank and then a number, where only the unit should be.
        let between = rest.split_whitespace().skip(1).any(|word| leading_number(word).is_some());
        if between && Unit::parse(rest).is_err() {
            return Err(QuantityError::UnitBetween { text: text.trim().to_owned() });
        }
        // `2 1/s` is two per second: a lone 1 before the slash was taken for a number.
        let per = rest.starts_with('/') && numbers.len() > 1 && numbers.last() == Some(&1.0);
        let unit = if per {
            numbers.pop();
            Unit::parse(&format!("1{rest}"))?
        } else {
            Unit::parse(rest)?
        };
        let values: Vec<f64> = numbers.iter().map(|&number| unit.to_si(number)).collect();
        if let Some(n) = values.iter().position(|value| !value.is_finite()) {
            return Err(QuantityError::NotFinite { number: format!("{} {rest}", numbers[n]) });
        }
        Ok(Self { values, dimension: Some(unit.dimension) })
    }

    /// The components, if they are so many and measure what is wanted.
    pub fn expect<const N: usize>(&self, wanted: Dimension) -> Result<[f64; N], QuantityError> {
        if let Some(found) = self.dimension.filter(|&found| found != wanted) {
            return Err(QuantityError::WrongDimension { found, wanted });
        }
        let count = QuantityError::WrongCount { found: self.values.len(), wanted: N };
        self.values.as_slice().try_into().map_err(|_| count)
    }
}

/// A number at the start of a text, and what follows it.
fn leading_number(text: &str) -> Option<(&str, &str)> {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut end = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let whole = digits(end);
    end += whole;
    let mut fraction = 0;
    if bytes.get(end) == Some(&b'.') {
        fraction = digits(end + 1);
        end += 1 + fraction;
    }
    if whole + fraction == 0 {
        return None;
    }
    // An exponent, if digits follow the `e`.
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let power = digits((end + 1 + sign).min(bytes.len()));
        if power > 0 {
            end += 1 + sign + power;
        }
    }
    let (number, after) = text.split_at(end);
    Some((number, after.trim_start_matches(|c: char| c.is_whitespace() || c == ',')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str, wanted: Dimension) -> Result<f64, QuantityError> {
        Quantity::parse(text)?.expect::<1>(wanted).map(|[value]| value)
    }

    #[test]
    fn values_are_read_as_people_write_them() {
        for (text, dimension, value) in [
            ("2 cm", Dimension::LENGTH, 0.02),
            ("2cm", Dimension::LENGTH, 0.02),
            (" -1.5e-3 m ", Dimension::LENGTH, -0.0015),
            (".5 m", Dimension::LENGTH, 0.5),
            ("1300 kg/m3", Dimension::DENSITY, 1300.0),
            ("20 degC", Dimension::TEMPERATURE, 293.15),
            ("4 GPa", Dimension::PRESSURE, 4e9),
            ("40 um", Dimension::LENGTH, 40e-6),
            ("2 1/s", Dimension::FREQUENCY, 2.0),
            ("3 Hz", Dimension::FREQUENCY, 3.0),
            ("7", Dimension::DENSITY, 7.0),
            ("1e3", Dimension::NONE, 1000.0),
            ("50 %", Dimension::NONE, 0.5),
        ] {
            let found = one(text, dimension).unwrap_or_else(|why| panic!("{text}: {why}"));
            assert!((found - value).abs() <= 1e-15 * value.abs(), "{text}: {found}");
        }
        let velocity = Quantity::parse("4 0 -0.5 km/h").unwrap();
        let [x, y, z] = velocity.expect::<3>(Dimension::VELOCITY).unwrap();
        assert!((x - 4.0 / 3.6).abs() < 1e-15 && y == 0.0 && (z + 0.5 / 3.6).abs() < 1e-15);
        assert_eq!(Quantity::parse("1, 2, 3").unwrap().values, [1.0, 2.0, 3.0]);
    }

    #[test]
    fn another_dimension_is_refused_with_both_named() {
        let refused = one("1e-6 m2/s", Dimension::DYNAMIC_VISCOSITY).unwrap_err().to_string();
        assert_eq!(
            refused,
            "this is a kinematic viscosity (m2/s), but a dynamic viscosity (Pa·s) is wanted; multiply it by the density"
        );
        let refused = one("2 kg", Dimension::LENGTH).unwrap_err().to_string();
        assert_eq!(refused, "this is a mass (kg), but a length (m) is wanted");
        let refused = one("2 m/s2", Dimension::NONE).unwrap_err().to_string();
        assert_eq!(refused, "this is an acceleration (m/s2), but a bare number is wanted");
        let refused = Quantity::parse("4 0 m/s").unwrap().expect::<3>(Dimension::VELOCITY);
        assert_eq!(
            refused.unwrap_err().to_string(),
            "2 numbers are given, but 3 numbers are wanted"
        );
    }

    #[test]
    fn a_unit_between_numbers_is_told_apart() {
        for text in ["20 cm 30 cm 2 m", "1 m 2 m"] {
            let refused = Quantity::parse(text).unwrap_err().to_string();
            assert!(refused.contains("one unit stands behind them all"), "{refused}");
        }
        assert!(Quantity::parse("3 m 5 s").is_err());
    }

    #[test]
    fn what_is_no_value_is_refused() {
        for text in ["", "m/s", "fast", "-", ".", "1e999 m", "5 furlongs", "1 2 /", "1e305 Mm"] {
            assert!(Quantity::parse(text).is_err(), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_is_too_strange(text in "[ -~·²µ°]{0,24}") {
            if let Ok(quantity) = Quantity::parse(&text) {
                assert!(quantity.values.iter().all(|value| value.is_finite()));
            }
        }

        #[test]
        fn what_is_printed_is_read_back(value in -1e30..1e30_f64) {
            let again = one(&format!("{value} m"), Dimension::LENGTH).unwrap();
            assert_eq!(again, value);
        }
    }
}
