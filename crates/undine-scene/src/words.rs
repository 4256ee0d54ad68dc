//! Parameters and numbers in words, for messages.

use undine_schema::{Dimension, Fallback, Parameter, Type};

/// What a parameter takes, in words.
pub fn wanted(parameter: &Parameter) -> String {
    let measures = |dimension: Dimension| match dimension.name() {
        Some(name) => format!("{name}{}", unit_words(dimension)),
        None => format!("a number in {dimension}"),
    };
    match parameter.takes {
        Type::Number(Dimension::NONE) => "a number".to_owned(),
        Type::Number(dimension) => measures(dimension),
        Type::Vector(Dimension::NONE) => "three numbers".to_owned(),
        Type::Vector(dimension) => {
            format!("a vector of three components, each {}", measures(dimension))
        }
        Type::Integer => "a whole number".to_owned(),
        Type::Flag => "#true or #false".to_owned(),
        Type::Text => "a text".to_owned(),
        Type::File => "a file".to_owned(),
        Type::Choice(choices) => {
            let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
            format!("one of the words {}", words.join(", "))
        }
        Type::Input => "the name of an input".to_owned(),
        Type::Target => "the name of an Object or a Group".to_owned(),
    }
}

fn unit_words(dimension: Dimension) -> String {
    if dimension == Dimension::NONE { String::new() } else { format!(" ({dimension})") }
}

/// How one sets a parameter: `radius="2 cm"`.
pub fn written(parameter: &Parameter) -> String {
    match parameter.name {
        "frames" => "frames=96".to_owned(),
        name => format!("{name}={}", example(parameter)),
    }
}

/// A value that a parameter would take, as one writes it.
pub fn example(parameter: &Parameter) -> String {
    if let Some(default) = default_example(parameter) {
        return default;
    }
    let unit = |dimension| match dimension {
        Dimension::LENGTH => "2 cm".to_owned(),
        Dimension::TIME => "0.5 s".to_owned(),
        Dimension::VELOCITY => "4 m/s".to_owned(),
        Dimension::ACCELERATION => "9.81 m/s2".to_owned(),
        Dimension::DENSITY => "1000 kg/m3".to_owned(),
        Dimension::PRESSURE => "4 GPa".to_owned(),
        Dimension::DYNAMIC_VISCOSITY => "1e-3 Pa·s".to_owned(),
        Dimension::TEMPERATURE => "20 degC".to_owned(),
        Dimension::ANGLE => "30 deg".to_owned(),
        Dimension::MASS => "2 kg".to_owned(),
        Dimension::SURFACE_TENSION => "0.07 N/m".to_owned(),
        Dimension::FORCE => "3 N".to_owned(),
        Dimension::FREQUENCY => "2 Hz".to_owned(),
        other => format!("1 {other}"),
    };
    match parameter.takes {
        Type::Number(Dimension::NONE) => "0.5".to_owned(),
        Type::Number(dimension) => format!("\"{}\"", unit(dimension)),
        Type::Vector(Dimension::NONE) => "\"1 0 0\"".to_owned(),
        Type::Vector(dimension) => {
            let one = unit(dimension);
            let (number, unit) = one.split_once(' ').unwrap_or((&one, ""));
            format!("\"{number} 0 0 {unit}\"")
        }
        Type::Integer => match parameter.fallback {
            Fallback::Integer(whole) => whole.to_string(),
            _ => "4".to_owned(),
        },
        Type::Flag => "#true".to_owned(),
        Type::Text => "\"some text\"".to_owned(),
        Type::File => "\"groom.ply\"".to_owned(),
        Type::Choice(choices) => format!("\"{}\"", choices.first().map_or("", |(word, _)| word)),
        Type::Input => "\"groom\"".to_owned(),
        Type::Target => "\"hair/strands\"".to_owned(),
    }
}

/// The default of a parameter, where it is a number that says something.
fn default_example(parameter: &Parameter) -> Option<String> {
    let dimension = parameter.dimension()?;
    match parameter.fallback {
        Fallback::Number(number) if number != 0.0 => {
            let text = pretty(number, dimension);
            Some(if dimension == Dimension::NONE { text } else { format!("\"{text}\"") })
        }
        Fallback::Vector([x, y, z]) if [x, y, z] != [0.0; 3] => {
            let unit =
                if dimension == Dimension::NONE { String::new() } else { format!(" {dimension}") };
            Some(format!("\"{x} {y} {z}{unit}\""))
        }
        _ => None,
    }
}

/// The range of a parameter in words, with its unit.
pub fn bounds(parameter: &Parameter) -> String {
    let dimension = parameter.dimension().unwrap_or(Dimension::NONE);
    let (range, number) = (parameter.range, |number| pretty(number, dimension));
    let least = if range.above { "greater than" } else { "at least" };
    match (range.least.is_finite(), range.most.is_finite()) {
        (true, true) if range.above => {
            format!("greater than {} and at most {}", number(range.least), number(range.most))
        }
        (true, true) => format!("from {} to {}", number(range.least), number(range.most)),
        (true, false) => format!("{least} {}", number(range.least)),
        (false, true) => format!("at most {}", number(range.most)),
        (false, false) => "a smaller number".to_owned(),
    }
}

/// A number in a unit that people would use for its size.
pub fn pretty(number: f64, dimension: Dimension) -> String {
    let units: &[(&str, f64)] = match dimension {
        Dimension::NONE => return format!("{number}"),
        Dimension::LENGTH => {
            &[("km", 1e3), ("m", 1.0), ("cm", 1e-2), ("mm", 1e-3), ("um", 1e-6), ("nm", 1e-9)]
        }
        Dimension::TIME => &[("s", 1.0), ("ms", 1e-3), ("us", 1e-6)],
        Dimension::PRESSURE => &[("GPa", 1e9), ("MPa", 1e6), ("kPa", 1e3), ("Pa", 1.0)],
        Dimension::MASS => &[("t", 1e3), ("kg", 1.0), ("g", 1e-3), ("mg", 1e-6)],
        Dimension::DYNAMIC_VISCOSITY => &[("Pa·s", 1.0), ("mPa·s", 1e-3), ("uPa·s", 1e-6)],
        _ => &[],
    };
    let unit = units.iter().find(|(_, size)| number.abs() >= size * (1.0 - 1e-9)).or(units.last());
    match unit {
        Some((symbol, size)) if number != 0.0 => format!("{} {symbol}", rounded(number / size)),
        _ => format!("{} {dimension}", rounded(number)),
    }
}

/// A number without the dust of its conversion.
fn rounded(number: f64) -> f64 {
    format!("{number:.9e}").parse().unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_in_units_of_their_size() {
        for (number, dimension, wanted) in [
            (40e-6, Dimension::LENGTH, "40 um"),
            (1e-5, Dimension::LENGTH, "10 um"),
            (1e-3, Dimension::LENGTH, "1 mm"),
            (40.0, Dimension::LENGTH, "40 m"),
            (0.02, Dimension::LENGTH, "2 cm"),
            (0.0, Dimension::LENGTH, "0 m"),
            (4e9, Dimension::PRESSURE, "4 GPa"),
            (1000.0, Dimension::DENSITY, "1000 kg/m3"),
            (0.5, Dimension::NONE, "0.5"),
        ] {
            assert_eq!(pretty(number, dimension), wanted);
        }
    }
}
