//! From a value in a text to a value in SI, checked against the parameter it is for.

use crate::catalogue::suggestion;
use crate::diagnostic::{Diagnostic, Report};
use crate::document::{Atom, Element, Scalar};
use undine_schema::value::KeysError;
use undine_schema::{
    Dimension, Fallback, Interpolation, Key, Keys, Parameter, Quantity, QuantityError, Setting,
    Type, Value, spelling,
};

/// When frames are, for keys that name frames.
pub trait Clock {
    /// The simulated time at the start of a frame [s].
    fn time(&self, frame: f64) -> f64;
}

impl Clock for crate::settings::Settings {
    fn time(&self, frame: f64) -> f64 {
        Self::time(self, frame)
    }
}

/// The value of an atom for a parameter.
pub fn read(atom: &Atom, parameter: &Parameter) -> Result<Value, Diagnostic> {
    let name = parameter.name;
    if let Some(text) = atom.text().filter(|text| text.trim_start().starts_with('=')) {
        return Err(Diagnostic::error(
            &atom.place,
            "expressions are not available in this version",
        )
        .label(format!("`{}` begins with `=`, which is kept for them", shortened(text)))
        .help(format!(
            "write a value, {}, or keys: {name} {{ key \"0 s\" …; key 48 … }}",
            example(parameter)
        )));
    }
    let value = match parameter.takes {
        Type::Number(dimension) => Value::Number(numbers::<1>(atom, parameter, dimension)?[0]),
        Type::Vector(dimension) => Value::Vector(numbers::<3>(atom, parameter, dimension)?),
        Type::Integer => Value::Integer(integer(atom, parameter)?),
        Type::Flag => match &atom.scalar {
            Scalar::Flag(flag) => Value::Flag(*flag),
            _ => return Err(wrong_type(atom, parameter)),
        },
        Type::Choice(choices) => {
            let text = atom.text().ok_or_else(|| wrong_type(atom, parameter))?;
            if !choices.iter().any(|(word, _)| *word == text) {
                let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
                let help = match spelling::alike(text, words.iter().copied()).as_slice() {
                    [one] => format!("did you mean `{one}`?"),
                    _ => format!("it is one of: {}", words.join(", ")),
                };
                return Err(Diagnostic::error(
                    &atom.place,
                    format!("`{name}` cannot be `{}`", shortened(text)),
                )
                .help(help));
            }
            Value::Text(text.to_owned())
        }
        Type::Text | Type::Input | Type::Target => {
            Value::Text(atom.text().ok_or_else(|| wrong_type(atom, parameter))?.to_owned())
        }
        Type::File => Value::Text(file(atom, parameter)?),
    };
    let numbers = match &value {
        Value::Integer(whole) => vec![*whole as f64],
        value => value.numbers().unwrap_or_default().to_vec(),
    };
    match numbers.iter().find(|&&number| !parameter.range.contains(number)) {
        None => Ok(value),
        Some(_) => Err(Diagnostic::error(&atom.place, format!("`{name}` is out of range"))
            .label(format!("must be {}", bounds(parameter)))
            .help(format!("{name}: {}", parameter.doc))),
    }
}

/// What is unusual about a value, if something is.
pub fn unusual(atom: &Atom, parameter: &Parameter, value: &Value, of: &str) -> Option<Diagnostic> {
    let (least, most) = parameter.usual?;
    let numbers = match value {
        Value::Integer(whole) => vec![*whole as f64],
        Value::Vector(vector) => vec![vector.iter().map(|x| x * x).sum::<f64>().sqrt()],
        value => value.numbers()?.to_vec(),
    };
    // A vector may always be zero: it then says that there is none of it.
    let zero = matches!(value, Value::Vector(_)) && numbers[0] == 0.0;
    let strange = numbers.iter().find(|&&number| number < least || number > most)?;
    let dimension = parameter.dimension().unwrap_or(Dimension::NONE);
    (!zero).then(|| {
        Diagnostic::warning(
            &atom.place,
            format!("{} {} for {of}?", parameter.name, pretty(*strange, dimension)),
        )
        .help(format!(
            "between {} and {} is usual",
            pretty(least, dimension),
            pretty(most, dimension)
        ))
    })
}

/// What a child node `velocity "4 0 0 m/s"` or `velocity { key … }` sets a parameter to; `None` if it is reported.
pub fn setting(
    element: &Element,
    parameter: &Parameter,
    clock: &dyn Clock,
    of: &str,
    report: &mut Report,
) -> Option<Setting> {
    for property in element
        .properties
        .iter()
        .filter(|property| property.name != "interpolation" || !element.block)
    {
        report.add(
            Diagnostic::error(
                &property.place,
                format!("`{}` has no `{}`", parameter.name, property.name),
            )
            .help(format!("write {} {}", parameter.name, example(parameter))),
        );
    }
    if element.block {
        if let Some(first) = element.arguments.first() {
            report.add(
                Diagnostic::error(
                    &first.place,
                    format!("`{}` has a value and keys", parameter.name),
                )
                .help("keep one of them"),
            );
        }
        return keyed(element, parameter, clock, of, report);
    }
    match element.arguments.as_slice() {
        [] => {
            report.add(
                Diagnostic::error(&element.place, format!("`{}` has no value", parameter.name))
                    .help(format!("write {} {}", parameter.name, example(parameter))),
            );
            None
        }
        [atom] => single(atom, parameter, of, report).map(Setting::Constant),
        [first, .., last] => {
            report.add(several(first, last, parameter.name));
            None
        }
    }
}

/// One value, with what is unusual about it.
pub fn single(atom: &Atom, parameter: &Parameter, of: &str, report: &mut Report) -> Option<Value> {
    match read(atom, parameter) {
        Ok(value) => {
            if let Some(warning) = unusual(atom, parameter, &value, of) {
                report.add(warning);
            }
            Some(value)
        }
        Err(error) => {
            report.add(error);
            None
        }
    }
}

/// `velocity 4 0 0`: several words that are one value.
fn several(first: &Atom, last: &Atom, before: &str) -> Diagnostic {
    let place = first.place.to(&last.place);
    let words: Vec<&str> =
        place.text().split_whitespace().map(|word| word.trim_matches('"')).collect();
    Diagnostic::error(&place, "a value of several words stands in quotes")
        .help(format!("write {before} \"{}\"", words.join(" ")))
}

fn keyed(
    element: &Element,
    parameter: &Parameter,
    clock: &dyn Clock,
    of: &str,
    report: &mut Report,
) -> Option<Setting> {
    let errors = report.errors();
    let blends = matches!(parameter.takes, Type::Number(_) | Type::Vector(_));
    let mut interpolation = if blends { Interpolation::Linear } else { Interpolation::Hold };
    if let Some(property) = element.property("interpolation") {
        let word = property.value.text().unwrap_or_default();
        match Interpolation::WORDS.iter().find(|(known, _)| *known == word) {
            Some((_, found)) => interpolation = *found,
            None => {
                let words = Interpolation::WORDS.iter().map(|(word, _)| *word);
                report.add(
                    Diagnostic::error(
                        &property.value.place,
                        format!("there is no interpolation `{word}`"),
                    )
                    .help(suggestion(word, words, "it is one of")),
                );
            }
        }
    }
    let mut keys = Vec::new();
    for child in &element.children {
        if child.name != "key" {
            report.add(
                Diagnostic::error(&child.place, format!("`{}` is no key", child.name)).help(
                    format!(
                        "write key 48 {} with a frame, or a time such as \"2 s\"",
                        example(parameter)
                    ),
                ),
            );
            continue;
        }
        match child.arguments.as_slice() {
            [time, value] => {
                let time = moment(time, clock).map_err(|error| report.add(error)).ok();
                let value = single(value, parameter, of, report);
                keys.extend(time.zip(value).map(|(time, value)| (child, Key { time, value })));
            }
            [_, first, .., last] => {
                let before = format!("key {}", child.arguments[0].place.text());
                report.add(several(first, last, &before));
            }
            _ => report.add(
                Diagnostic::error(&child.header(), "a key is a time and a value").help(format!(
                    "write key 48 {} with a frame, or a time such as \"2 s\"",
                    example(parameter)
                )),
            ),
        }
        for property in &child.properties {
            report.add(
                Diagnostic::error(&property.place, format!("a key has no `{}`", property.name))
                    .help("interpolation stands at the parameter, before its keys"),
            );
        }
    }
    if report.errors() > errors {
        return None;
    }
    let place = |time: f64| {
        keys.iter().rev().find(|(_, key)| key.time == time).map(|(child, _)| child.header())
    };
    match Keys::new(keys.iter().map(|(_, key)| key.clone()).collect(), interpolation) {
        Ok(keys) => Some(Setting::Keyed(keys)),
        Err(error) => {
            let at = match &error {
                KeysError::NotInOrder { time } => place(*time),
                _ => None,
            };
            let at = at.unwrap_or_else(|| element.place.clone());
            report.add(match error {
                KeysError::Empty => {
                    Diagnostic::error(&at, format!("`{}` has no keys", parameter.name)).help(
                        format!("write {} {{ key 1 {} }}", parameter.name, example(parameter)),
                    )
                }
                KeysError::NotInOrder { .. } => {
                    Diagnostic::error(&at, "this key is not later than the one before it")
                        .help("put keys in the order of time, each time once")
                }
                KeysError::NotBlendable { .. } => Diagnostic::error(
                    &element.header(),
                    format!("`{}` cannot change smoothly", parameter.name),
                )
                .help("write interpolation=\"hold\""),
            });
            None
        }
    }
}

/// The time of a key [s]: a bare number is a frame.
fn moment(atom: &Atom, clock: &dyn Clock) -> Result<f64, Diagnostic> {
    let frame = match &atom.scalar {
        Scalar::Integer(whole) => Some(*whole as f64),
        Scalar::Float(number) => Some(*number),
        _ => None,
    };
    if let Some(frame) = frame.filter(|frame| frame.is_finite()) {
        return Ok(clock.time(frame));
    }
    let wrong = |why: String| {
        Diagnostic::error(&atom.place, format!("this is no time of a key{why}"))
            .help("write a frame, key 48 …, or a time with its unit, key \"2 s\" …")
    };
    let text = atom.text().ok_or_else(|| wrong(String::new()))?;
    let quantity = Quantity::parse(text).map_err(|error| wrong(format!(": {error}")))?;
    let [time] = quantity.expect(Dimension::TIME).map_err(|error| wrong(format!(": {error}")))?;
    Ok(time)
}

fn numbers<const N: usize>(
    atom: &Atom,
    parameter: &Parameter,
    dimension: Dimension,
) -> Result<[f64; N], Diagnostic> {
    let bare = match &atom.scalar {
        Scalar::Integer(whole) => Some(*whole as f64),
        Scalar::Float(number) => Some(*number),
        _ => None,
    };
    if let Some(number) = bare {
        if !number.is_finite() {
            return Err(Diagnostic::error(
                &atom.place,
                format!("`{}` must be a finite number", parameter.name),
            )
            .help(format!("write {}", example(parameter))));
        }
        let mut one = [number; N];
        return match N {
            1 => {
                one[0] = number;
                Ok(one)
            }
            _ => Err(wrong_type(atom, parameter)),
        };
    }
    let text = atom.text().ok_or_else(|| wrong_type(atom, parameter))?;
    let quantity = Quantity::parse(text).map_err(|error| unreadable(atom, parameter, &error))?;
    quantity.expect::<N>(dimension).map_err(|error| unreadable(atom, parameter, &error))
}

/// What is wrong with a text that should be a quantity.
fn unreadable(atom: &Atom, parameter: &Parameter, error: &QuantityError) -> Diagnostic {
    let name = parameter.name;
    let takes = format!("`{name}` takes {}", wanted(parameter));
    match error {
        QuantityError::NoNumber { .. } => {
            Diagnostic::error(&atom.place, format!("`{name}` needs a number"))
                .help(format!("{takes}: {}", example(parameter)))
        }
        QuantityError::WrongDimension { .. } => {
            Diagnostic::error(&atom.place, format!("`{name}`: {error}"))
                .help(format!("write {name}={}, with your number", example(parameter)))
        }
        QuantityError::WrongCount { found, wanted: 3 } => {
            let numbers =
                if *found == 1 { "one number".to_owned() } else { format!("{found} numbers") };
            Diagnostic::error(&atom.place, format!("`{name}` is a vector, but this is {numbers}"))
                .help(format!("write all three components: {name}={}", example(parameter)))
        }
        QuantityError::WrongCount { found, .. } => {
            Diagnostic::error(&atom.place, format!("`{name}` is one number, but these are {found}"))
                .help(format!("write {name}={}", example(parameter)))
        }
        QuantityError::Unit(_) | QuantityError::NotFinite { .. } => {
            Diagnostic::error(&atom.place, format!("`{name}`: {error}"))
                .help(format!("{takes}: {}", example(parameter)))
        }
    }
}

fn integer(atom: &Atom, parameter: &Parameter) -> Result<i64, Diagnostic> {
    match &atom.scalar {
        Scalar::Integer(whole) => i64::try_from(*whole).map_err(|_| {
            Diagnostic::error(&atom.place, format!("`{}` is out of range", parameter.name))
                .label(format!("must be {}", bounds(parameter)))
        }),
        // Beyond 2^53 not every whole number is a float.
        Scalar::Float(number) if number.fract() == 0.0 && number.abs() < 9.0e15 => {
            Ok(*number as i64)
        }
        _ => Err(wrong_type(atom, parameter)),
    }
}

fn file(atom: &Atom, parameter: &Parameter) -> Result<String, Diagnostic> {
    let text = atom.text().ok_or_else(|| wrong_type(atom, parameter))?;
    if text.is_empty() {
        return Err(Diagnostic::error(&atom.place, format!("`{}` names no file", parameter.name))
            .help("write a path relative to the scene: \"groom.ply\""));
    }
    if text.contains(|c: char| c.is_control()) {
        return Err(Diagnostic::error(&atom.place, "a `\\` in this path was read as an escape")
            .help("write `/` between folders, or a raw string: #\"C:\\new\\frames\"#"));
    }
    // Relative to the file that says it.
    let path = atom.place.source.folder().join(text);
    Ok(path.to_str().map_or_else(|| text.to_owned(), |path| path.replace('\\', "/")))
}

fn wrong_type(atom: &Atom, parameter: &Parameter) -> Diagnostic {
    let is_vector = matches!(parameter.takes, Type::Vector(_));
    let found = match &atom.scalar {
        Scalar::Text(_) => "this is a text",
        Scalar::Integer(_) | Scalar::Float(_) if is_vector => "this is one number",
        Scalar::Integer(_) | Scalar::Float(_) => "this is a number",
        Scalar::Flag(_) => "this is yes or no",
        Scalar::Null => "this is nothing",
    };
    let name = parameter.name;
    let help = match (&atom.scalar, parameter.takes) {
        (Scalar::Null, _) => {
            format!("remove `{name}` to get its default, or write {name}={}", example(parameter))
        }
        (Scalar::Integer(_) | Scalar::Float(_), Type::Vector(_)) => {
            format!("write all three components: {name}={}", example(parameter))
        }
        _ => format!("write {name}={}", example(parameter)),
    };
    Diagnostic::error(&atom.place, format!("`{name}` takes {}, but {found}", wanted(parameter)))
        .help(help)
}

/// What a parameter takes, in words.
fn wanted(parameter: &Parameter) -> String {
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
fn example(parameter: &Parameter) -> String {
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
fn bounds(parameter: &Parameter) -> String {
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

fn shortened(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
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
