//! Parameters that stand as nodes of their own, `velocity "4 0 0 m/s"`, and those that change over time by keys.

use crate::catalogue::suggestion;
use crate::diagnostic::{Diagnostic, Report};
use crate::document::{Atom, Element, Scalar};
use crate::settings::Settings;
use crate::values::single;
use crate::words::example;
use undine_schema::value::KeysError;
use undine_schema::{Dimension, Interpolation, Key, Keys, Parameter, Quantity, Setting, Type};

/// What a child node `velocity "4 0 0 m/s"` or `velocity { key … }` sets a parameter to; `None` if it is reported.
pub fn setting(
    element: &Element,
    parameter: &Parameter,
    clock: &Settings,
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
    clock: &Settings,
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
fn moment(atom: &Atom, clock: &Settings) -> Result<f64, Diagnostic> {
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
