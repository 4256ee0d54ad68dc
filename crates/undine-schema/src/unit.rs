//! Units: symbols with prefixes, and products and quotients of them, as `kg/m3`, `m/s^2`, `Pa s` or `1/s`.
//!
//! A text is factors, divided by more of them: `/` stands before what it divides by, so that `kg/m/s` is kg/(m·s). Between
//! factors stands a space, `*` or `·`. A power is a number behind a symbol, `m3`, `m^3` or `m³`, also negative.

use crate::dimension::Dimension;
use crate::spelling;

/// A unit: what it measures, and what one of it is in SI.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit {
    /// What it measures.
    pub dimension: Dimension,
    /// One of it, in SI.
    pub factor: f64,
    /// Its zero in SI; for degrees of temperature alone.
    pub zero: f64,
}

/// What can be wrong with a unit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// No unit has this symbol.
    #[error("`{symbol}` is no unit{}", did_you_mean(.nearest))]
    Unknown {
        /// The symbol found.
        symbol: String,
        /// Symbols that are spelt alike.
        nearest: Vec<&'static str>,
    },
    /// A text that is no product of units.
    #[error("`{text}` is no unit: {why}")]
    Malformed {
        /// The text found.
        text: String,
        /// What is wrong with it, and what would be right.
        why: &'static str,
    },
}

fn did_you_mean(nearest: &[&str]) -> String {
    match nearest {
        [] => String::new(),
        names => format!("; did you mean `{}`?", names.join("` or `")),
    }
}

impl Unit {
    /// A bare number.
    pub const ONE: Self = Self { dimension: Dimension::NONE, factor: 1.0, zero: 0.0 };

    /// Reads a unit as people write it.
    pub fn parse(text: &str) -> Result<Self, UnitError> {
        let malformed = |why| UnitError::Malformed { text: text.to_owned(), why };
        let mut unit = Self::ONE;
        let mut factors = 0;
        for (part, group) in text.split('/').enumerate() {
            let words: Vec<&str> = group
                .split(|c: char| c.is_whitespace() || c == '*' || c == '·')
                .filter(|word| !word.is_empty())
                .collect();
            if words.is_empty() {
                return Err(malformed("something must stand before and behind each `/`"));
            }
            for word in words {
                let factor = Self::factor(word).map_err(|error| error.within(text))?;
                unit = if part == 0 { unit.times(factor) } else { unit.per(factor) };
                factors += 1;
                // Degrees have a zero of their own, which a product loses.
                if factor.zero != 0.0 && (factors > 1 || text.contains('/')) {
                    return Err(malformed("degrees stand alone; write K for a difference"));
                }
                if unit.zero != 0.0 && factors > 1 {
                    return Err(malformed("degrees stand alone; write K for a difference"));
                }
            }
        }
        if !(unit.factor.is_finite() && unit.factor > 0.0) {
            return Err(malformed("its size is beyond all numbers"));
        }
        Ok(unit)
    }

    /// The value in SI of so many of it.
    pub fn to_si(&self, value: f64) -> f64 {
        value * self.factor + self.zero
    }

    /// A symbol with a power behind it.
    fn factor(word: &str) -> Result<Self, UnitError> {
        let digits = |c: char| c.is_ascii_digit() || SUPERSCRIPTS.contains(&c);
        let end = word.find(|c: char| digits(c) || c == '^' || c == '-' || c == '⁻');
        let (symbol, power) = word.split_at(end.unwrap_or(word.len()));
        if symbol.is_empty() {
            // `1/s`: the 1 is a bare number.
            return match word {
                "1" => Ok(Self::ONE),
                _ => Err(UnitError::Malformed {
                    text: word.to_owned(),
                    why: "a number belongs before the unit",
                }),
            };
        }
        let malformed = || UnitError::Malformed {
            text: word.to_owned(),
            why: "a power is a whole number behind the symbol, such as m3 or s^-2",
        };
        let exponent = match power {
            "" => 1,
            _ => plain(power.strip_prefix('^').unwrap_or(power))
                .parse::<i8>()
                .map_err(|_| malformed())?,
        };
        let base = Self::symbol(symbol)?;
        if exponent == 1 {
            return Ok(base);
        }
        if base.zero != 0.0 {
            return Err(UnitError::Malformed {
                text: word.to_owned(),
                why: "degrees stand alone; write K for a difference",
            });
        }
        let dimension = base.dimension.power(exponent).ok_or_else(malformed)?;
        Ok(Self { dimension, factor: base.factor.powi(exponent.into()), zero: 0.0 })
    }

    /// A symbol, with a prefix if it may have one.
    fn symbol(symbol: &str) -> Result<Self, UnitError> {
        if let Some(found) = SYMBOLS.iter().find(|known| known.symbol == symbol) {
            return Ok(found.unit());
        }
        for (prefix, factor) in PREFIXES {
            let Some(rest) = symbol.strip_prefix(prefix) else { continue };
            if let Some(found) = SYMBOLS.iter().find(|known| known.symbol == rest && known.prefixed)
            {
                let unit = found.unit();
                return Ok(Self { factor: unit.factor * factor, ..unit });
            }
        }
        let known = SYMBOLS.iter().map(|known| known.symbol);
        let nearest = spelling::alike(symbol, known).into_iter().take(3).collect();
        Err(UnitError::Unknown { symbol: symbol.to_owned(), nearest })
    }

    fn times(self, other: Self) -> Self {
        Self {
            dimension: self.dimension * other.dimension,
            factor: self.factor * other.factor,
            zero: self.zero + other.zero,
        }
    }

    fn per(self, other: Self) -> Self {
        Self {
            dimension: self.dimension / other.dimension,
            factor: self.factor / other.factor,
            zero: self.zero,
        }
    }
}

impl UnitError {
    /// The same, about the whole text.
    fn within(self, whole: &str) -> Self {
        match self {
            Self::Malformed { why, .. } => Self::Malformed { text: whole.to_owned(), why },
            unknown => unknown,
        }
    }
}

const SUPERSCRIPTS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];

/// A power with plain digits.
fn plain(power: &str) -> String {
    let digit = |c: char| match SUPERSCRIPTS.iter().position(|&s| s == c) {
        Some(digit) => char::from(b'0' + digit as u8),
        None if c == '⁻' => '-',
        None => c,
    };
    power.chars().map(digit).collect()
}

/// A symbol that stands for a unit.
struct Symbol {
    symbol: &'static str,
    dimension: Dimension,
    factor: f64,
    zero: f64,
    /// Whether `k`, `m` and the like may stand before it.
    prefixed: bool,
}

impl Symbol {
    const fn si(symbol: &'static str, dimension: Dimension) -> Self {
        Self { symbol, dimension, factor: 1.0, zero: 0.0, prefixed: true }
    }

    const fn other(symbol: &'static str, dimension: Dimension, factor: f64) -> Self {
        Self { symbol, dimension, factor, zero: 0.0, prefixed: false }
    }

    fn unit(&self) -> Unit {
        Unit { dimension: self.dimension, factor: self.factor, zero: self.zero }
    }
}

const PREFIXES: &[(&str, f64)] = &[
    ("n", 1e-9),
    ("u", 1e-6),
    ("µ", 1e-6),
    ("μ", 1e-6),
    ("m", 1e-3),
    ("c", 1e-2),
    ("d", 1e-1),
    ("h", 1e2),
    ("k", 1e3),
    ("M", 1e6),
    ("G", 1e9),
];

/// Every symbol. A mass is prefixed from the gram, whose thousandfold is the SI unit.
const SYMBOLS: &[Symbol] = &[
    Symbol::si("m", Dimension::LENGTH),
    Symbol::other("in", Dimension::LENGTH, 0.0254),
    Symbol::other("ft", Dimension::LENGTH, 0.3048),
    Symbol::other("mi", Dimension::LENGTH, 1609.344),
    Symbol { factor: 1e-3, ..Symbol::si("g", Dimension::MASS) },
    Symbol { factor: 1e3, ..Symbol::si("t", Dimension::MASS) },
    Symbol::other("lb", Dimension::MASS, 0.453_592_37),
    Symbol::si("s", Dimension::TIME),
    Symbol::other("min", Dimension::TIME, 60.0),
    Symbol::other("h", Dimension::TIME, 3600.0),
    Symbol::si("K", Dimension::TEMPERATURE),
    Symbol { zero: 273.15, ..Symbol::other("degC", Dimension::TEMPERATURE, 1.0) },
    Symbol { zero: 273.15, ..Symbol::other("°C", Dimension::TEMPERATURE, 1.0) },
    Symbol {
        zero: 273.15 - 32.0 / 1.8,
        ..Symbol::other("degF", Dimension::TEMPERATURE, 1.0 / 1.8)
    },
    Symbol::si("rad", Dimension::ANGLE),
    Symbol::other("deg", Dimension::ANGLE, std::f64::consts::PI / 180.0),
    Symbol::other("°", Dimension::ANGLE, std::f64::consts::PI / 180.0),
    Symbol::other("turn", Dimension::ANGLE, std::f64::consts::TAU),
    Symbol::other("rpm", Dimension::ANGULAR_VELOCITY, std::f64::consts::TAU / 60.0),
    Symbol::si("Hz", Dimension::FREQUENCY),
    Symbol::si("N", Dimension::FORCE),
    Symbol::si("Pa", Dimension::PRESSURE),
    Symbol { factor: 1e5, ..Symbol::si("bar", Dimension::PRESSURE) },
    Symbol::other("atm", Dimension::PRESSURE, 101_325.0),
    Symbol::si("J", Dimension::ENERGY),
    Symbol::si("W", Dimension::POWER),
    Symbol { factor: 0.1, ..Symbol::si("P", Dimension::DYNAMIC_VISCOSITY) },
    Symbol { factor: 1e-4, ..Symbol::si("St", Dimension::KINEMATIC_VISCOSITY) },
    Symbol { factor: 1e-3, ..Symbol::si("l", Dimension::VOLUME) },
    Symbol { factor: 1e-3, ..Symbol::si("L", Dimension::VOLUME) },
    Symbol::other("kn", Dimension::VELOCITY, 1852.0 / 3600.0),
    Symbol::other("mph", Dimension::VELOCITY, 0.447_04),
    Symbol::other("%", Dimension::NONE, 0.01),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(text: &str) -> Unit {
        Unit::parse(text).unwrap_or_else(|why| panic!("{text}: {why}"))
    }

    #[test]
    fn units_are_what_the_books_say() {
        for (text, dimension, factor) in [
            ("cm", Dimension::LENGTH, 0.01),
            ("um", Dimension::LENGTH, 1e-6),
            ("µm", Dimension::LENGTH, 1e-6),
            ("kg", Dimension::MASS, 1.0),
            ("mg", Dimension::MASS, 1e-6),
            ("ms", Dimension::TIME, 1e-3),
            ("min", Dimension::TIME, 60.0),
            ("m/s", Dimension::VELOCITY, 1.0),
            ("km/h", Dimension::VELOCITY, 1.0 / 3.6),
            ("m/s2", Dimension::ACCELERATION, 1.0),
            ("m/s^2", Dimension::ACCELERATION, 1.0),
            ("m s⁻²", Dimension::ACCELERATION, 1.0),
            ("kg/m3", Dimension::DENSITY, 1.0),
            ("g/cm³", Dimension::DENSITY, 1000.0),
            ("kg*m^-3", Dimension::DENSITY, 1.0),
            ("GPa", Dimension::PRESSURE, 1e9),
            ("kN/m2", Dimension::PRESSURE, 1e3),
            ("Pa·s", Dimension::DYNAMIC_VISCOSITY, 1.0),
            ("Pa s", Dimension::DYNAMIC_VISCOSITY, 1.0),
            ("kg/m/s", Dimension::DYNAMIC_VISCOSITY, 1.0),
            ("cP", Dimension::DYNAMIC_VISCOSITY, 1e-3),
            ("m2/s", Dimension::KINEMATIC_VISCOSITY, 1.0),
            ("mN/m", Dimension::SURFACE_TENSION, 1e-3),
            ("1/s", Dimension::FREQUENCY, 1.0),
            ("Hz", Dimension::FREQUENCY, 1.0),
            ("deg", Dimension::ANGLE, 0.017_453_292_519_943_295),
            ("rpm", Dimension::ANGULAR_VELOCITY, 0.104_719_755_119_659_77),
            ("%", Dimension::NONE, 0.01),
            ("ml", Dimension::VOLUME, 1e-6),
        ] {
            let found = unit(text);
            assert_eq!(found.dimension, dimension, "{text}");
            assert!((found.factor / factor - 1.0).abs() < 1e-14, "{text}: {}", found.factor);
            assert_eq!(found.zero, 0.0, "{text}");
        }
    }

    #[test]
    fn degrees_have_a_zero_and_stand_alone() {
        assert_eq!(unit("degC").to_si(20.0), 293.15);
        assert!((unit("degF").to_si(212.0) - 373.15).abs() < 1e-10);
        assert_eq!(unit("K").to_si(20.0), 20.0);
        for text in ["degC/s", "J/degC", "degC2", "kg degC", "degC kg"] {
            let refused = Unit::parse(text).unwrap_err().to_string();
            assert!(refused.contains("write K"), "{text}: {refused}");
        }
    }

    #[test]
    fn symbols_and_their_prefixes_are_never_two_things() {
        for symbol in SYMBOLS.iter().filter(|symbol| symbol.prefixed) {
            for (prefix, _) in PREFIXES {
                let both = format!("{prefix}{}", symbol.symbol);
                let taken = SYMBOLS.iter().any(|other| other.symbol == both);
                // The one case that everybody knows: `min` is a minute, and no unit is called `in` with a prefix.
                assert!(!taken, "{both} is a unit and a prefixed one");
            }
        }
        for (n, symbol) in SYMBOLS.iter().enumerate() {
            assert!(SYMBOLS[..n].iter().all(|other| other.symbol != symbol.symbol));
        }
    }

    #[test]
    fn what_is_no_unit_is_refused_with_what_may_have_been_meant() {
        for (text, wanted) in [
            ("metre", "`metre` is no unit"),
            ("", "something must stand"),
            ("m/", "something must stand"),
            ("/s", "something must stand"),
            ("m^x", "a power is a whole number"),
            ("m2.5", "a power is a whole number"),
            ("m999", "a power is a whole number"),
            ("3", "a number belongs before"),
            ("pa", "did you mean `Pa`"),
            ("Kg", "is no unit"),
        ] {
            let refused = Unit::parse(text).unwrap_err().to_string();
            assert!(refused.contains(wanted), "{text}: {refused}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_is_too_strange(text in "[ -~·²³⁻µ°]{0,24}") {
            if let Ok(unit) = Unit::parse(&text) {
                assert!(unit.factor > 0.0 && unit.factor.is_finite());
            }
        }
    }
}
