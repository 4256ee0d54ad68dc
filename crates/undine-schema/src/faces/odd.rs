//! Declarations that nobody would write: every face stays whole, whatever the texts in them are.

use super::{help, json, reference};
use crate::declaration::{Declaration, Kind};
use crate::dimension::Dimension;
use crate::parameter::{Fallback, Level, Parameter, Range, Type};
use proptest::prelude::*;

/// Declarations are static; those of tests are few and small enough to be left.
fn leak<T: ?Sized>(kept: Box<T>) -> &'static T {
    Box::leak(kept)
}

fn any_text() -> impl Strategy<Value = &'static str> {
    "[ -~·²µ\\n\\t]{0,90}".prop_map(|text| leak(text.into_boxed_str()))
}

fn any_name() -> impl Strategy<Value = &'static str> {
    "[a-z][a-z0-9-]{0,50}".prop_map(|text| leak(text.into_boxed_str()))
}

fn any_dimension() -> impl Strategy<Value = Dimension> {
    let power = || prop_oneof![-3..4_i8, Just(i8::MIN), Just(i8::MAX)];
    (power(), power(), power(), power(), power()).prop_map(
        |(length, mass, time, temperature, angle)| Dimension {
            length,
            mass,
            time,
            temperature,
            angle,
        },
    )
}

fn any_parameter() -> impl Strategy<Value = Parameter> {
    let kind = (0..9_usize, any_dimension(), any_text());
    let numbers = (any::<f64>(), any::<f64>(), any::<f64>(), any::<bool>());
    (any_name(), any_text(), kind, numbers, proptest::option::of(any_text())).prop_map(
        |(name, doc, (which, dimension, text), (value, least, most, flag), channel)| {
            let choices = leak(Box::new([(text, doc), (name, text)]));
            let (takes, fallback) = match which {
                0 => (Type::Number(dimension), Fallback::Number(value)),
                1 => (Type::Vector(dimension), Fallback::Vector([value, least, most])),
                2 => (Type::Integer, Fallback::Integer(value as i64)),
                3 => (Type::Flag, Fallback::Flag(flag)),
                4 => (Type::Text, Fallback::Text(text)),
                5 => (Type::File, Fallback::Required),
                6 => (Type::Choice(choices), Fallback::Text(text)),
                7 => (Type::Input, Fallback::Absent),
                // A default that is not of the type: a fault, but none that may stop a face.
                _ => (Type::Target, Fallback::Vector([value; 3])),
            };
            let level = if flag { Level::Basic } else { Level::Advanced };
            let range = Range { least, most, above: flag };
            let usual = flag.then_some((most, least));
            Parameter {
                name,
                doc,
                takes,
                fallback,
                range,
                usual,
                channel,
                level,
                resolves: false,
                instead: None,
            }
        },
    )
}

fn any_declaration() -> impl Strategy<Value = Declaration> {
    let kinds = [Kind::Object, Kind::Source, Kind::Settings, Kind::Constraint];
    let parameters = proptest::collection::vec(any_parameter(), 0..5);
    let words = (any_text(), any_text(), any_text());
    (any_name(), 0..kinds.len(), words, parameters).prop_map(
        move |(name, kind, (doc, about, example), parameters)| Declaration {
            name,
            kind: kinds[kind],
            doc,
            about,
            example,
            parameters: leak(parameters.into_boxed_slice()),
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn every_face_of_an_odd_declaration_is_whole(
        one in any_declaration(), other in any_declaration(), width in 0..150_usize
    ) {
        let all = [&one, &other];
        for declaration in all {
            let page = help::help(declaration, width, true);
            prop_assert!(declaration.parameters.iter().all(|p| page.contains(p.name)));
        }
        prop_assert!(help::overview(&all, width).contains(other.name));
        for (file, text) in reference::reference(&all) {
            // A table's rows all have as many cells as its head.
            let mut cells = None;
            let mut fence = None;
            for line in text.lines() {
                let ticks = line.len() - line.trim_start_matches('`').len();
                if ticks >= 3 && fence.is_none() && line.ends_with("kdl") {
                    fence = Some(ticks);
                } else if fence == Some(ticks) && line.len() == ticks {
                    fence = None;
                }
                let row = line.starts_with("| ") && line.ends_with(" |") && fence.is_none();
                let found = row.then(|| line.replace("\\|", "").matches('|').count());
                if let (Some(wanted), Some(found)) = (cells, found) {
                    prop_assert_eq!(wanted, found, "{}: {}", file, line);
                }
                cells = found.or(cells.filter(|_| line.starts_with("|--")));
            }
            prop_assert_eq!(fence, None);
        }
        let schema: serde_json::Value = serde_json::from_str(&json::schema(&all)).unwrap();
        prop_assert_eq!(schema["x-undine"]["catalogue"].as_array().map(Vec::len), Some(2));
    }
}
