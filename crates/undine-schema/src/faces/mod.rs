//! What people and programs read about Behaviors: help, reference and JSON schema, each made from the declarations alone.
//!
//! One description, many faces: nothing is written twice, so nothing can disagree. All of it is text from data; printing
//! it and writing files is for those who call.

pub mod help;
pub mod json;
pub mod reference;

use crate::declaration::{Declaration, Kind};
use crate::dimension::Dimension;
use crate::display;
use crate::parameter::{Fallback, Parameter, Range, Type};

/// The kinds of nodes in the order in which one meets them, with a heading and what they are for.
const KINDS: &[(Kind, &str, &str)] = &[
    (Kind::Settings, "Settings", "How the whole run goes"),
    (Kind::Source, "Sources", "Where data comes from, before anything is simulated"),
    (Kind::Filter, "Filters", "What changes data, before anything is simulated"),
    (Kind::Object, "Objects", "What is simulated through time"),
    (Kind::Force, "Forces", "What pushes and pulls on each point of Objects"),
    (Kind::Constraint, "Constraints", "What holds points of Objects together"),
    (Kind::Operator, "Operators", "Everything else that works on Objects"),
];

/// The declarations of a kind, by name.
fn of_kind<'a>(declarations: &[&'a Declaration], kind: Kind) -> Vec<&'a Declaration> {
    let mut found: Vec<_> =
        declarations.iter().copied().filter(|declaration| declaration.kind == kind).collect();
    found.sort_by_key(|declaration| declaration.name);
    found
}

/// `a Force`, `an Object`, `settings`.
fn with_article(kind: Kind) -> String {
    let noun = kind.noun();
    match kind {
        Kind::Settings => noun.to_owned(),
        Kind::Object | Kind::Operator => format!("an {noun}"),
        _ => format!("a {noun}"),
    }
}

/// What a parameter takes, in a word or two: `length [m]`, `vector [m/s]`, `choice`.
fn takes(parameter: &Parameter) -> String {
    let unit = |what: &str, dimension: Dimension| match display::customary_unit(dimension) {
        unit if unit.is_empty() => what.to_owned(),
        unit => format!("{what} [{unit}]"),
    };
    match parameter.takes {
        Type::Number(Dimension::NONE) => "number".to_owned(),
        Type::Number(dimension) => {
            let name = dimension.name().unwrap_or("a number");
            unit(name.split_once(' ').map_or(name, |(_article, name)| name), dimension)
        }
        Type::Vector(dimension) => unit("vector", dimension),
        Type::Integer => "whole number".to_owned(),
        Type::Flag => "flag".to_owned(),
        Type::Text => "text".to_owned(),
        Type::File => "file".to_owned(),
        Type::Choice(_) => "choice".to_owned(),
        Type::Input => "input".to_owned(),
        Type::Target => "Object or Group".to_owned(),
    }
}

/// A parameter's default as one would write it; `None` if it has none.
fn default(parameter: &Parameter) -> Option<String> {
    let dimension = parameter.dimension().unwrap_or(Dimension::NONE);
    Some(match parameter.fallback {
        Fallback::Required | Fallback::Absent => return None,
        Fallback::Number(number) => display::spell(number, dimension),
        Fallback::Vector(vector) => display::spell_vector(vector, dimension),
        Fallback::Integer(whole) => whole.to_string(),
        Fallback::Flag(flag) => format!("#{flag}"),
        Fallback::Text(text) if matches!(parameter.takes, Type::Choice(_)) => text.to_owned(),
        Fallback::Text(text) => format!("{text:?}"),
    })
}

/// What numbers a parameter allows, in words; `None` if all.
fn range(parameter: &Parameter) -> Option<String> {
    let dimension = parameter.dimension().unwrap_or(Dimension::NONE);
    (parameter.range != Range::ALL).then(|| parameter.range.words_in(dimension))
}

/// What numbers one would expect, in words.
fn usual(parameter: &Parameter) -> Option<String> {
    let (least, most) = parameter.usual?;
    let dimension = parameter.dimension().unwrap_or(Dimension::NONE);
    Some(format!("usually {}", Range { least, most, above: false }.words_in(dimension)))
}

/// What numbers a parameter takes and how it varies, in brackets, to stand behind its doc line; empty if there is nothing to say.
fn notes(parameter: &Parameter) -> String {
    let channel = parameter.channel.map(|channel| format!("varies by channel `{channel}`"));
    let all = [range(parameter), usual(parameter), channel];
    let said: Vec<String> = all.into_iter().flatten().collect();
    if said.is_empty() { String::new() } else { format!(" ({})", said.join("; ")) }
}

/// The words that a parameter may be, each with its doc line; none for other types.
fn choices(parameter: &Parameter) -> &'static [(&'static str, &'static str)] {
    match parameter.takes {
        Type::Choice(choices) => choices,
        _ => &[],
    }
}

/// A text in paragraphs and list items, each on one line: what stands between blank lines, or begins with `- `.
fn paragraphs(text: &str) -> Vec<String> {
    let mut paragraphs: Vec<String> = Vec::new();
    let mut open = false;
    for line in text.lines().map(str::trim) {
        let item = line.starts_with("- ");
        match paragraphs.last_mut() {
            _ if line.is_empty() => open = false,
            Some(last) if open && !item => {
                last.push(' ');
                last.push_str(line);
            }
            _ => {
                paragraphs.push(line.to_owned());
                open = true;
            }
        }
    }
    paragraphs
}

#[cfg(test)]
mod odd;
#[cfg(test)]
mod toy;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_heading_and_its_own_place() {
        // A match without a rest, so that a new kind cannot be forgotten here.
        let place = |kind: Kind| match kind {
            Kind::Settings => 0,
            Kind::Source => 1,
            Kind::Filter => 2,
            Kind::Object => 3,
            Kind::Force => 4,
            Kind::Constraint => 5,
            Kind::Operator => 6,
        };
        for (n, (kind, ..)) in KINDS.iter().enumerate() {
            assert_eq!(place(*kind), n);
        }
        assert_eq!(KINDS.len(), 7);
    }

    #[test]
    fn what_a_parameter_takes_is_said_in_a_word_or_two() {
        let said = |takes_this| takes(&Parameter::new("p", takes_this, "doc"));
        assert_eq!(said(Type::Number(Dimension::DYNAMIC_VISCOSITY)), "dynamic viscosity [Pa·s]");
        assert_eq!(said(Type::Number(Dimension::NONE)), "number");
        assert_eq!(said(Type::Number(Dimension::of(-2, 0, 0))), "number [1/m2]");
        assert_eq!(said(Type::Vector(Dimension::VELOCITY)), "vector [m/s]");
        assert_eq!(said(Type::Vector(Dimension::NONE)), "vector");
    }

    #[test]
    fn lines_join_to_paragraphs_and_items_stand_alone() {
        let text = "one\ntwo\n\nthree\n- first\n  more\n- second\n\n";
        assert_eq!(paragraphs(text), ["one two", "three", "- first more", "- second"]);
        assert!(paragraphs(" \n ").is_empty());
    }
}
