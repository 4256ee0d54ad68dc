//! From a value in a text to a value in SI, checked against the parameter it is for.

use crate::diagnostic::{Diagnostic, Report};
use crate::document::{Atom, Scalar};
use crate::syntax::slips::shortened;
use crate::words::{about, bounds, example, wanted};
use undine_schema::{Dimension, Parameter, Quantity, QuantityError, Range, Type, Value, spelling};

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
            format!("{} {} for {of}?", parameter.name, about(*strange, dimension)),
        )
        .help(format!("{} is usual", Range { least, most, above: false }.words_in(dimension)))
    })
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
        // A vector has three components of its own.
        return if N == 1 { Ok([number; N]) } else { Err(wrong_type(atom, parameter)) };
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
        QuantityError::Unit(_)
        | QuantityError::UnitBetween { .. }
        | QuantityError::NotFinite { .. } => {
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
