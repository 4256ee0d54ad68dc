//! Sets a parameter in the text of a scene, and leaves every other byte as it is.
//!
//! The value's own bytes are exchanged; nothing is printed anew, so that comments and layout survive.

use crate::address::name_of;
use crate::diagnostic::{Diagnostic, Place, Report, Source};
use crate::document::{self, Element, Scalar};
use std::ops::Range;
use undine_schema::Value;

/// The text with the parameter at `path` (`wind/inflow.velocity`) set to a value, written as it is given: a
/// [`written`] value, or `"4 0 0 m/s"` with its quotes.
pub fn set(name: &str, text: &str, path: &str, value: &str) -> Result<String, Report> {
    let source = Source::new(name, text);
    let start = Place { source: source.clone(), span: 0..0 };
    let elements = document::parse(&source)?;
    let (bytes, new) = change(&elements, path, value, &start).map_err(|error| {
        let mut report = Report::default();
        report.add(error);
        report
    })?;
    let mut changed = text.to_owned();
    changed.replace_range(bytes, &new);
    // What was given has to be one value.
    let again = Source::new(name, changed.as_str());
    document::parse(&again)?;
    Ok(changed)
}

/// A value as it stands in a scene, in SI.
pub fn written(value: &Value) -> String {
    match value {
        Value::Number(number) if number.is_finite() => digits(*number),
        Value::Number(_) => "#nan".to_owned(),
        Value::Integer(whole) => whole.to_string(),
        Value::Flag(flag) => format!("#{flag}"),
        Value::Vector(vector) => format!("\"{}\"", vector.map(digits).join(" ")),
        Value::Text(text) => kdl_string(text),
    }
}

/// A number without rows of zeros.
fn digits(number: f64) -> String {
    let small = number != 0.0 && number.abs() < 1e-5;
    if small || number.abs() >= 1e15 { format!("{number:e}") } else { number.to_string() }
}

/// A text in quotes, with what must be escaped.
fn kdl_string(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control()
                || crate::syntax::token::is_forbidden(c)
                || crate::syntax::token::is_newline(c) =>
            {
                quoted.push_str(&format!("\\u{{{:x}}}", u32::from(c)));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Which bytes to exchange, and for what.
fn change(
    elements: &[Element],
    path: &str,
    value: &str,
    start: &Place,
) -> Result<(Range<usize>, String), Diagnostic> {
    let nowhere = || {
        Diagnostic::error(start, format!("`{path}` leads nowhere"))
            .help("a path is names of Groups and a Behavior, and a parameter: wind/inflow.velocity")
    };
    let (nodes, parameter) = path.rsplit_once('.').ok_or_else(nowhere)?;
    let names: Vec<&str> = nodes.strip_prefix("input/").unwrap_or(nodes).split('/').collect();
    let of_input = nodes.starts_with("input/");
    let mut level = elements;
    let mut found: Option<&Element> = None;
    for (n, name) in names.iter().enumerate() {
        let wanted = |element: &&Element| {
            name_of(element) == *name && (n > 0 || (element.name == "input") == of_input)
        };
        let element = level.iter().find(wanted).ok_or_else(nowhere)?;
        level = &element.children;
        found = Some(element);
    }
    let element = found.ok_or_else(nowhere)?;
    if let Some(property) = element.property(parameter) {
        return Ok((property.value.place.span.clone(), value.to_owned()));
    }
    if let Some(child) = element.children.iter().find(|child| child.name == parameter) {
        return match child.arguments.as_slice() {
            [atom] if !child.block => Ok((atom.place.span.clone(), value.to_owned())),
            _ => Err(Diagnostic::error(&child.header(), format!("`{parameter}` is set by keys"))
                .help("change its keys, or remove them first")),
        };
    }
    // Behind the last value of the node; a name that is no plain word stands in quotes.
    let end = element.header().span.end;
    let plain = token_is_word(parameter);
    let name = if plain { parameter.to_owned() } else { kdl_string(parameter) };
    Ok((end..end, format!(" {name}={value}")))
}

fn token_is_word(name: &str) -> bool {
    use crate::syntax::token::{Kind, tokens};
    matches!(tokens(name).as_slice(), [token] if token.kind == Kind::Identifier)
}

/// The value that stands at a path in a text, if there is one.
pub fn get(name: &str, text: &str, path: &str) -> Result<Option<Scalar>, Report> {
    let source = Source::new(name, text);
    let start = Place { source: source.clone(), span: 0..0 };
    let elements = document::parse(&source)?;
    let Ok((bytes, _)) = change(&elements, path, "", &start) else { return Ok(None) };
    if bytes.is_empty() {
        return Ok(None);
    }
    let one = Source::new(name, format!("value {}", &text[bytes]));
    Ok(document::parse(&one)?
        .pop()
        .and_then(|mut element| element.arguments.pop())
        .map(|atom| atom.scalar))
}
