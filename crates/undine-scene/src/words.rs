//! Parameters and numbers in words, for messages.

use undine_schema::display::{spell, spell_vector};
use undine_schema::{Dimension, Fallback, Parameter, Range, Type};

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
            let text = spell(number, dimension);
            Some(if dimension == Dimension::NONE { text } else { format!("\"{text}\"") })
        }
        Fallback::Vector(vector) if vector != [0.0; 3] => {
            Some(format!("\"{}\"", spell_vector(vector, dimension)))
        }
        _ => None,
    }
}

/// The range of a parameter in words, with its unit.
pub fn bounds(parameter: &Parameter) -> String {
    match parameter.range {
        // What no number of the machine holds is out of range even here.
        Range::ALL => "a smaller number".to_owned(),
        range => range.words_in(parameter.dimension().unwrap_or(Dimension::NONE)),
    }
}

/// A number with a good unit, without the dust of conversions and roots.
pub fn about(number: f64, dimension: Dimension) -> String {
    spell(format!("{number:.5e}").parse().unwrap_or(number), dimension)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_without_dust() {
        for (number, dimension, wanted) in [
            (40e-6, Dimension::LENGTH, "40 um"),
            (0.1 + 0.2, Dimension::LENGTH, "30 cm"),
            (2.0_f64.sqrt(), Dimension::VELOCITY, "1.41421 m/s"),
            (0.5, Dimension::NONE, "0.5"),
            (f64::INFINITY, Dimension::LENGTH, "inf"),
        ] {
            assert_eq!(about(number, dimension), wanted);
        }
    }
}
