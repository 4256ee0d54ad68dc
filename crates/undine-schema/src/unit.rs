//! Units: symbols with prefixes, and products and quotients of them, as `kg/m3`, `m/s^2`, `Pa s` or `1/s`.
//!
//! A text is factors, divided by more of them: `/` stands before what it divides by, so that `kg/m/s` is kg/(m·s). Between
//! factors stands a space, `*` or `·`. A power is a number behind a symbol, `m3`, `m^3` or `m³`, also negative.
//!
//! Degrees are the trap: `20 degC` is the temperature 293.15 K, never a difference of 20 K. A unit cannot know which of the two
//! a parameter means, so a difference of temperatures is written in K; and where degrees are part of a product, as in
//! `J/degC`, they are refused rather than guessed.
//!
//! The size of a unit is kept as a quotient of two numbers that are mostly whole, because a hundredth is no binary number:
//! `35 cm` is 35/100, the same bits as 0.35, and `1 g/cm3` is exactly 1000.

use crate::dimension::Dimension;
use crate::spelling;
use std::f64::consts::{PI, TAU};

/// A unit: what it measures, and what one of it is in SI.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit {
    /// What it measures.
    pub dimension: Dimension,
    /// One of it, in SI.
    pub factor: f64,
    /// Its zero in SI; for degrees of temperature alone.
    pub zero: f64,
    /// The factor is `over` divided by `under`.
    over: f64,
    under: f64,
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
    pub const ONE: Self = Self::new(Dimension::NONE, 1.0, 1.0, 0.0);

    const fn new(dimension: Dimension, over: f64, under: f64, zero: f64) -> Self {
        Self { dimension, factor: over / under, zero, over, under }
    }

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
        let sound = |size: f64| size.is_finite() && size > 0.0;
        if ![unit.over, unit.under, unit.factor].into_iter().all(sound) {
            return Err(malformed("its size is beyond all numbers"));
        }
        Ok(unit)
    }

    /// The value in SI of so many of it.
    pub fn to_si(&self, value: f64) -> f64 {
        value * self.over / self.under + self.zero
    }

    /// How many of it a value in SI is, up to rounding.
    pub fn from_si(&self, value: f64) -> f64 {
        (value - self.zero) * self.under / self.over
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
        let power = |size: f64| size.powi(exponent.unsigned_abs().into());
        let (over, under) = (power(base.over), power(base.under));
        Ok(match exponent {
            0.. => Self::new(dimension, over, under, 0.0),
            _ => Self::new(dimension, under, over, 0.0),
        })
    }

    /// A symbol, with a prefix if it may have one.
    fn symbol(symbol: &str) -> Result<Self, UnitError> {
        if let Some(found) = SYMBOLS.iter().find(|known| known.symbol == symbol) {
            return Ok(found.unit());
        }
        for (prefix, over, under) in PREFIXES {
            let Some(rest) = symbol.strip_prefix(prefix) else { continue };
            if let Some(found) = SYMBOLS.iter().find(|known| known.symbol == rest && known.prefixed)
            {
                let unit = found.unit();
                let (over, under) = lowest_terms(unit.over * over, unit.under * under);
                return Ok(Self::new(unit.dimension, over, under, unit.zero));
            }
        }
        let known = SYMBOLS.iter().map(|known| known.symbol);
        let nearest = spelling::alike(symbol, known).into_iter().take(3).collect();
        Err(UnitError::Unknown { symbol: symbol.to_owned(), nearest })
    }

    fn times(self, other: Self) -> Self {
        let (over, under) = lowest_terms(self.over * other.over, self.under * other.under);
        Self::new(self.dimension * other.dimension, over, under, self.zero + other.zero)
    }

    fn per(self, other: Self) -> Self {
        let (over, under) = lowest_terms(self.over * other.under, self.under * other.over);
        Self::new(self.dimension / other.dimension, over, under, self.zero)
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

/// A quotient of whole numbers in lowest terms, so that sizes stay exact and far from overflow; any other as it is.
fn lowest_terms(over: f64, under: f64) -> (f64, f64) {
    // Beyond 2⁵³ whole numbers are no longer exact.
    let whole = |size: f64| size.fract() == 0.0 && (1.0..9e15).contains(&size);
    if !(whole(over) && whole(under)) {
        return (over, under);
    }
    let (mut a, mut b) = (over, under);
    while b > 0.0 {
        (a, b) = (b, a % b);
    }
    (over / a, under / a)
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
pub struct Symbol {
    /// What is written.
    pub symbol: &'static str,
    /// What it is called in full.
    pub name: &'static str,
    /// Whether `k`, `m` and the like may stand before it.
    pub prefixed: bool,
    unit: Unit,
}

impl Symbol {
    const fn si(symbol: &'static str, name: &'static str, dimension: Dimension) -> Self {
        Self { symbol, name, prefixed: true, unit: Unit::new(dimension, 1.0, 1.0, 0.0) }
    }

    /// So large that `over` of SI are `under` of it.
    const fn sized(mut self, over: f64, under: f64) -> Self {
        self.unit = Unit::new(self.unit.dimension, over, under, 0.0);
        self
    }

    /// With its zero there [SI].
    const fn with_zero(mut self, zero: f64) -> Self {
        self.unit.zero = zero;
        self
    }

    /// No prefix may stand before it.
    const fn alone(mut self) -> Self {
        self.prefixed = false;
        self
    }

    /// The unit that it stands for.
    pub const fn unit(&self) -> Unit {
        self.unit
    }
}

/// What may stand before a prefixed symbol, and its size as a quotient.
pub const PREFIXES: &[(&str, f64, f64)] = &[
    ("n", 1.0, 1e9),
    ("u", 1.0, 1e6),
    ("µ", 1.0, 1e6),
    ("μ", 1.0, 1e6),
    ("m", 1.0, 1e3),
    ("c", 1.0, 1e2),
    ("d", 1.0, 1e1),
    ("h", 1e2, 1.0),
    ("k", 1e3, 1.0),
    ("M", 1e6, 1.0),
    ("G", 1e9, 1.0),
];

/// Every symbol. A mass is prefixed from the gram, whose thousandfold is the SI unit.
///
/// `fps` is frames per second, as everybody who makes pictures has it; feet per second are `ft/s`.
pub const SYMBOLS: &[Symbol] = &[
    Symbol::si("m", "metre", Dimension::LENGTH),
    Symbol::si("in", "inch", Dimension::LENGTH).sized(254.0, 1e4).alone(),
    Symbol::si("ft", "foot", Dimension::LENGTH).sized(3048.0, 1e4).alone(),
    Symbol::si("mi", "mile", Dimension::LENGTH).sized(1_609_344.0, 1e3).alone(),
    Symbol::si("g", "gram", Dimension::MASS).sized(1.0, 1e3),
    Symbol::si("t", "tonne", Dimension::MASS).sized(1e3, 1.0),
    Symbol::si("lb", "pound", Dimension::MASS).sized(45_359_237.0, 1e8).alone(),
    Symbol::si("s", "second", Dimension::TIME),
    Symbol::si("min", "minute", Dimension::TIME).sized(60.0, 1.0).alone(),
    Symbol::si("h", "hour", Dimension::TIME).sized(3600.0, 1.0).alone(),
    Symbol::si("K", "kelvin", Dimension::TEMPERATURE),
    Symbol::si("degC", "degree Celsius", Dimension::TEMPERATURE).with_zero(273.15).alone(),
    Symbol::si("°C", "degree Celsius", Dimension::TEMPERATURE).with_zero(273.15).alone(),
    Symbol::si("degF", "degree Fahrenheit", Dimension::TEMPERATURE)
        .sized(5.0, 9.0)
        .with_zero(273.15 - 32.0 / 1.8)
        .alone(),
    Symbol::si("°F", "degree Fahrenheit", Dimension::TEMPERATURE)
        .sized(5.0, 9.0)
        .with_zero(273.15 - 32.0 / 1.8)
        .alone(),
    Symbol::si("rad", "radian", Dimension::ANGLE),
    Symbol::si("deg", "degree", Dimension::ANGLE).sized(PI, 180.0).alone(),
    Symbol::si("°", "degree", Dimension::ANGLE).sized(PI, 180.0).alone(),
    Symbol::si("turn", "full turn", Dimension::ANGLE).sized(TAU, 1.0).alone(),
    Symbol::si("rev", "revolution", Dimension::ANGLE).sized(TAU, 1.0).alone(),
    Symbol::si("rpm", "revolution per minute", Dimension::ANGULAR_VELOCITY)
        .sized(TAU, 60.0)
        .alone(),
    Symbol::si("Hz", "hertz", Dimension::FREQUENCY),
    Symbol::si("fps", "frame per second", Dimension::FREQUENCY).alone(),
    Symbol::si("N", "newton", Dimension::FORCE),
    Symbol::si("dyn", "dyne", Dimension::FORCE).sized(1.0, 1e5).alone(),
    Symbol::si("Pa", "pascal", Dimension::PRESSURE),
    Symbol::si("bar", "bar", Dimension::PRESSURE).sized(1e5, 1.0),
    Symbol::si("atm", "atmosphere", Dimension::PRESSURE).sized(101_325.0, 1.0).alone(),
    Symbol::si("J", "joule", Dimension::ENERGY),
    Symbol::si("W", "watt", Dimension::POWER),
    Symbol::si("P", "poise", Dimension::DYNAMIC_VISCOSITY).sized(1.0, 10.0),
    Symbol::si("St", "stokes", Dimension::KINEMATIC_VISCOSITY).sized(1.0, 1e4),
    Symbol::si("l", "litre", Dimension::VOLUME).sized(1.0, 1e3),
    Symbol::si("L", "litre", Dimension::VOLUME).sized(1.0, 1e3),
    Symbol::si("kn", "knot", Dimension::VELOCITY).sized(1852.0, 3600.0).alone(),
    Symbol::si("mph", "mile per hour", Dimension::VELOCITY).sized(1_609_344.0, 3.6e6).alone(),
    Symbol::si("%", "per cent", Dimension::NONE).sized(1.0, 100.0).alone(),
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
            ("l", Dimension::VOLUME, 1e-3),
            ("mm", Dimension::LENGTH, 1e-3),
            ("km", Dimension::LENGTH, 1e3),
            ("in", Dimension::LENGTH, 0.0254),
            ("ft", Dimension::LENGTH, 0.3048),
            ("g", Dimension::MASS, 1e-3),
            ("t", Dimension::MASS, 1e3),
            ("lb", Dimension::MASS, 0.453_592_37),
            ("h", Dimension::TIME, 3600.0),
            ("fps", Dimension::FREQUENCY, 1.0),
            ("N", Dimension::FORCE, 1.0),
            ("kN", Dimension::FORCE, 1e3),
            ("dyn", Dimension::FORCE, 1e-5),
            ("dyn/cm", Dimension::SURFACE_TENSION, 1e-3),
            ("N/m", Dimension::SURFACE_TENSION, 1.0),
            ("Pa", Dimension::PRESSURE, 1.0),
            ("kPa", Dimension::PRESSURE, 1e3),
            ("MPa", Dimension::PRESSURE, 1e6),
            ("bar", Dimension::PRESSURE, 1e5),
            ("mbar", Dimension::PRESSURE, 100.0),
            ("atm", Dimension::PRESSURE, 101_325.0),
            ("J", Dimension::ENERGY, 1.0),
            ("W", Dimension::POWER, 1.0),
            ("mPa·s", Dimension::DYNAMIC_VISCOSITY, 1e-3),
            ("St", Dimension::KINEMATIC_VISCOSITY, 1e-4),
            ("cSt", Dimension::KINEMATIC_VISCOSITY, 1e-6),
            ("rad", Dimension::ANGLE, 1.0),
            ("rev", Dimension::ANGLE, TAU),
            ("rev/s", Dimension::ANGULAR_VELOCITY, TAU),
            ("g/cm3", Dimension::DENSITY, 1000.0),
            ("m s-1", Dimension::VELOCITY, 1.0),
            ("m/s²", Dimension::ACCELERATION, 1.0),
            ("mph", Dimension::VELOCITY, 0.447_04),
            ("N m/rad", Dimension::TORSIONAL_STIFFNESS, 1.0),
            ("J/kg/K", Dimension::SPECIFIC_HEAT, 1.0),
            ("W/m/K", Dimension::THERMAL_CONDUCTIVITY, 1.0),
            ("kg/s", Dimension::MASS_FLOW, 1.0),
            ("l/min", Dimension::VOLUME_FLOW, 1.0 / 60e3),
            ("g cm2", Dimension::INERTIA, 1e-7),
            ("N/m3", Dimension::FORCE_DENSITY, 1.0),
            ("deg/s2", Dimension::ANGULAR_ACCELERATION, 0.017_453_292_519_943_295),
            ("g/m2", Dimension::AREA_DENSITY, 1e-3),
            ("mm/N", Dimension::COMPLIANCE, 1e-3),
        ] {
            let found = unit(text);
            assert_eq!(found.dimension, dimension, "{text}");
            assert!((found.factor / factor - 1.0).abs() < 1e-14, "{text}: {}", found.factor);
            assert_eq!(found.zero, 0.0, "{text}");
        }
    }

    #[test]
    fn decimals_come_out_as_the_nearest_number() {
        for (text, value, si) in [
            ("cm", 35.0, 0.35),
            ("um", 43.0, 43e-6),
            ("g/cm3", 1.3, 1300.0),
            ("km/h", 36.0, 10.0),
            ("mm2", 3.0, 3e-6),
            ("ml", 7.0, 7e-6),
            ("cm-1", 3.0, 300.0),
            ("deg", 90.0, PI / 2.0),
            ("%", 7.0, 0.07),
        ] {
            assert_eq!(unit(text).to_si(value), si, "{value} {text}");
        }
    }

    #[test]
    fn a_size_beyond_all_numbers_is_refused() {
        for text in ["um60", "Gm60", "1/um60", "um30 um30", "um60/um60"] {
            assert!(Unit::parse(text).is_err(), "{text}");
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
            for (prefix, ..) in PREFIXES {
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
