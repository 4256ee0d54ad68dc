//! SI values as a person would write them: `40 um`, `20 degC`, `4 GPa`, each read back as exactly the same value.
//!
//! Of the units that are customary for a dimension that of SI is taken where a number is handy in it, and else the one with
//! the shortest number. Only what
//! [`Quantity::parse`] turns into the very same bits is ever offered, so that a form, a help page or a rewritten scene never
//! changes a value by showing it.

use crate::dimension::Dimension;
use crate::quantity::Quantity;
use crate::unit::Unit;
use std::ops::Range;

/// A number in SI, with a good unit, as one would write it in a scene.
///
/// A bare number has no unit. What is not finite, which no scene can hold, is `NaN`, `inf` or `-inf`.
pub fn spell(value: f64, dimension: Dimension) -> String {
    spell_all(&[value], dimension)
}

/// The components of a vector in SI, with one good unit behind them: `0 -9.81 0 m/s2`.
pub fn spell_vector(vector: [f64; 3], dimension: Dimension) -> String {
    spell_all(&vector, dimension)
}

/// The unit that one expects a dimension in, `Pa·s` rather than `kg/m/s`; empty for a bare number.
///
/// It is SI: a bare number in a scene is in this unit.
pub fn customary_unit(dimension: Dimension) -> String {
    match customary_units(dimension) {
        [first, ..] => (*first).to_owned(),
        [] if dimension == Dimension::NONE => String::new(),
        [] => dimension.to_string(),
    }
}

/// The units that are customary for a dimension, the one of SI first; empty where none is.
pub fn customary_units(dimension: Dimension) -> &'static [&'static str] {
    CUSTOMARY.iter().find(|(known, _)| *known == dimension).map_or(&[], |(_, units)| units)
}

/// Frequencies are in hertz, and so are rates, although one would say 1/s of those: `24 1/s` is hard to read.
const CUSTOMARY: &[(Dimension, &[&str])] = &[
    (Dimension::LENGTH, &["m", "cm", "mm", "um", "km"]),
    (Dimension::AREA, &["m2", "cm2", "mm2"]),
    (Dimension::VOLUME, &["m3", "l", "ml"]),
    (Dimension::MASS, &["kg", "g", "mg", "t"]),
    (Dimension::TIME, &["s", "ms", "us"]),
    (Dimension::FREQUENCY, &["Hz", "kHz", "MHz"]),
    (Dimension::VELOCITY, &["m/s", "cm/s", "mm/s"]),
    (Dimension::ACCELERATION, &["m/s2"]),
    (Dimension::DENSITY, &["kg/m3"]),
    (Dimension::AREA_DENSITY, &["kg/m2", "g/m2"]),
    (Dimension::FORCE, &["N", "kN", "mN", "uN"]),
    (Dimension::FORCE_DENSITY, &["N/m3", "kN/m3"]),
    (Dimension::PRESSURE, &["Pa", "kPa", "MPa", "GPa"]),
    (Dimension::ENERGY, &["J", "kJ", "mJ", "uJ"]),
    (Dimension::POWER, &["W", "kW", "mW"]),
    (Dimension::DYNAMIC_VISCOSITY, &["Pa·s"]),
    (Dimension::KINEMATIC_VISCOSITY, &["m2/s"]),
    (Dimension::SURFACE_TENSION, &["N/m", "kN/m", "mN/m"]),
    (Dimension::COMPLIANCE, &["m/N", "mm/N"]),
    (Dimension::TEMPERATURE, &["K", "degC"]),
    (Dimension::SPECIFIC_HEAT, &["J/kg/K", "kJ/kg/K"]),
    (Dimension::THERMAL_CONDUCTIVITY, &["W/m/K"]),
    (Dimension::MASS_FLOW, &["kg/s", "g/s"]),
    (Dimension::VOLUME_FLOW, &["m3/s", "l/s", "ml/s"]),
    (Dimension::ANGLE, &["rad", "deg"]),
    (Dimension::ANGULAR_VELOCITY, &["rad/s", "rpm", "deg/s"]),
    (Dimension::ANGULAR_ACCELERATION, &["rad/s2", "deg/s2"]),
    (Dimension::TORSIONAL_STIFFNESS, &["N·m/rad"]),
    (Dimension::INERTIA, &["kg·m2", "g·cm2"]),
];

fn spell_all(values: &[f64], dimension: Dimension) -> String {
    let bare = || values.iter().map(|&value| digits(value)).collect::<Vec<_>>().join(" ");
    if dimension == Dimension::NONE || !values.iter().all(|value| value.is_finite()) {
        return bare();
    }
    let own = [customary_unit(dimension)];
    let units = match customary_units(dimension) {
        [] => own.iter().map(String::as_str).collect(),
        units => units.to_vec(),
    };
    let best = units
        .into_iter()
        .enumerate()
        .filter_map(|(n, unit)| {
            let numbers = numbers_in(values, &Unit::parse(unit).ok()?)?;
            let text = format!("{numbers} {unit}");
            let read = Quantity::parse(&text).ok()?;
            let same = read.values == values && read.dimension == Some(dimension);
            // SI where it is handy; else what is short and easy to read; else SI: `1e9 N/m`, not `1000000 kN/m`.
            let length = if is_easy(&numbers) { numbers.len() } else { usize::MAX };
            let key = (n > 0 || !is_handy(&numbers), length);
            same.then_some((key, text))
        })
        // The first of equals: SI before others.
        .min_by_key(|(key, _)| *key);
    // A power that no unit can be written with: a bare number is SI.
    best.map_or_else(bare, |(_, text)| text)
}

/// Whether numbers, with blanks between them, are of a size that one grasps, and have few digits.
fn is_handy(numbers: &str) -> bool {
    all_within(numbers, 5, 1.0..1e3)
}

/// Whether numbers, with blanks between them, can be read without counting zeros.
fn is_easy(numbers: &str) -> bool {
    all_within(numbers, 6, 0.01..1e6)
}

/// Whether each number has at most so many letters without its sign, and is zero or of such a size.
fn all_within(numbers: &str, letters: usize, sizes: Range<f64>) -> bool {
    numbers.split(' ').all(|text| {
        let size = text.trim_start_matches('-');
        let number: f64 = size.parse().unwrap_or(f64::NAN);
        size.len() <= letters && !size.contains('e') && (number == 0.0 || sizes.contains(&number))
    })
}

/// The numbers to write before a unit; `None` if no decimal number comes back as one of the values.
fn numbers_in(values: &[f64], unit: &Unit) -> Option<String> {
    let numbers: Option<Vec<String>> =
        values.iter().map(|&value| number_in(value, unit).map(digits)).collect();
    Some(numbers?.join(" "))
}

/// The number with the fewest digits that is `value` in this unit.
fn number_in(value: f64, unit: &Unit) -> Option<f64> {
    let near = unit.from_si(value);
    // Seventeen digits tell every number from its neighbours.
    (0..17)
        .filter_map(|places| format!("{near:.places$e}").parse().ok())
        .chain([near, near.next_up(), near.next_down()])
        .find(|&number| unit.to_si(number) == value)
}

/// A number without needless digits: `0.001`, `1.81e-5`, `101325`, `4e9`.
pub fn digits(number: f64) -> String {
    /// Longer than this, a number is hard to read without an exponent.
    const READABLE: usize = 7;
    // Minus zero says nothing to anybody.
    let number = if number == 0.0 { 0.0 } else { number };
    let plain = number.to_string();
    let scientific = format!("{number:e}");
    let long = plain.trim_start_matches('-').len() > READABLE;
    if long && scientific.len() < plain.len() { scientific } else { plain }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    #[test]
    fn values_are_spelt_as_people_write_them() {
        for (value, dimension, wanted) in [
            (0.02, Dimension::LENGTH, "2 cm"),
            (0.35, Dimension::LENGTH, "35 cm"),
            (40e-6, Dimension::LENGTH, "40 um"),
            (1.5, Dimension::LENGTH, "1.5 m"),
            (1.25, Dimension::LENGTH, "1.25 m"),
            (1e4, Dimension::VELOCITY, "10000 m/s"),
            (-1e4, Dimension::VELOCITY, "-10000 m/s"),
            (4e12, Dimension::ENERGY, "4e12 J"),
            (250.0, Dimension::VELOCITY, "250 m/s"),
            (1e9, Dimension::SURFACE_TENSION, "1e9 N/m"),
            (1e-6, Dimension::SURFACE_TENSION, "1e-6 N/m"),
            (0.123_456_789, Dimension::LENGTH, "0.123456789 m"),
            (-2e3, Dimension::LENGTH, "-2 km"),
            (0.0, Dimension::LENGTH, "0 m"),
            (-0.0, Dimension::LENGTH, "0 m"),
            (0.001, Dimension::DYNAMIC_VISCOSITY, "0.001 Pa·s"),
            (1.81e-5, Dimension::DYNAMIC_VISCOSITY, "1.81e-5 Pa·s"),
            (1.2, Dimension::DENSITY, "1.2 kg/m3"),
            (1300.0, Dimension::DENSITY, "1300 kg/m3"),
            (4e9, Dimension::PRESSURE, "4 GPa"),
            (101_325.0, Dimension::PRESSURE, "101325 Pa"),
            (293.15, Dimension::TEMPERATURE, "20 degC"),
            (300.0, Dimension::TEMPERATURE, "300 K"),
            (0.0728, Dimension::SURFACE_TENSION, "72.8 mN/m"),
            (PI / 2.0, Dimension::ANGLE, "90 deg"),
            (1.0, Dimension::ANGLE, "1 rad"),
            (120.0 * 2.0 * PI / 60.0, Dimension::ANGULAR_VELOCITY, "120 rpm"),
            (24.0, Dimension::FREQUENCY, "24 Hz"),
            (0.001, Dimension::TIME, "1 ms"),
            (0.3, Dimension::NONE, "0.3"),
            (2.0, Dimension::LENGTH / Dimension::VOLUME, "2 1/m2"),
            (f64::INFINITY, Dimension::LENGTH, "inf"),
        ] {
            assert_eq!(spell(value, dimension), wanted);
        }
        assert_eq!(spell_vector([0.0, -9.81, 0.0], Dimension::ACCELERATION), "0 -9.81 0 m/s2");
        assert_eq!(spell_vector([0.01, 0.02, 1.0], Dimension::LENGTH), "1 2 100 cm");
        assert_eq!(spell_vector([1.0, 1.0, 1.0], Dimension::FREQUENCY), "1 1 1 Hz");
    }

    #[test]
    fn customary_units_measure_what_they_are_for_and_begin_with_si() {
        for (dimension, units) in CUSTOMARY {
            for unit in *units {
                assert_eq!(Unit::parse(unit).unwrap().dimension, *dimension, "{unit}");
            }
            let first = Unit::parse(units[0]).unwrap();
            assert_eq!((first.factor, first.zero), (1.0, 0.0), "{}", units[0]);
        }
    }

    #[test]
    fn a_power_that_no_unit_has_is_left_bare() {
        let strange = Dimension { length: -128, ..Dimension::NONE };
        assert_eq!(spell(2.0, strange), "2");
    }

    /// Every kind of finite number, and those that people write.
    fn any_value() -> impl proptest::strategy::Strategy<Value = f64> {
        use proptest::prelude::*;
        let written = (-999_i32..1000, -12_i32..10)
            .prop_map(|(digits, power)| format!("{digits}e{power}").parse::<f64>().unwrap());
        prop_oneof![written, proptest::num::f64::NORMAL, proptest::num::f64::SUBNORMAL, -1e3..1e3]
    }

    proptest::proptest! {
        #[test]
        fn what_is_spelt_is_read_back_to_the_bit(
            value in any_value(), n in 0..CUSTOMARY.len(), powers in [-3..4_i8, -2..3_i8, -3..4_i8]
        ) {
            let strange = Dimension::of(powers[0], powers[1], powers[2]);
            for dimension in [CUSTOMARY[n].0, strange, Dimension::NONE] {
                let text = spell(value, dimension);
                let [read] = Quantity::parse(&text).unwrap().expect::<1>(dimension).unwrap();
                assert_eq!(read, value, "{text}");
            }
        }

        #[test]
        fn vectors_are_read_back_to_the_bit(
            x in any_value(), y in any_value(), z in any_value(), n in 0..CUSTOMARY.len()
        ) {
            let text = spell_vector([x, y, z], CUSTOMARY[n].0);
            let read = Quantity::parse(&text).unwrap().expect::<3>(CUSTOMARY[n].0).unwrap();
            assert_eq!(read, [x, y, z], "{text}");
        }
    }
}
