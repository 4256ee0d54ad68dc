//! The document is a JSON Schema, holds every parameter, and takes and refuses the scenes that it should.

use super::super::toy::{ALL, BALL, BARE};
use super::*;

/// A source, a filter and settings, so that every place of a scene has its node.
const SPHERE: Declaration = Declaration {
    name: "sphere",
    kind: Kind::Source,
    parameters: &[Parameter::new("file", Type::File, "where from")],
    ..BARE
};
const OUTPUT: Declaration = Declaration { name: "output", kind: Kind::Settings, ..BARE };

fn whole() -> Value {
    let mut declarations = ALL.to_vec();
    declarations.extend([&SPHERE, &OUTPUT]);
    document(&declarations)
}

#[test]
fn the_document_is_valid_json_and_always_the_same() {
    let turned: Vec<&Declaration> = ALL.iter().rev().copied().collect();
    assert_eq!(schema(ALL), schema(&turned));
    let read: Value = serde_json::from_str(&schema(ALL)).unwrap();
    assert_eq!(read, document(ALL));
}

#[test]
fn it_follows_the_rules_of_json_schema() {
    for document in [whole(), document(ALL), document(&[])] {
        check_schema(&document, &document, "#");
    }
}

#[test]
fn every_parameter_is_defined_and_described() {
    let document = whole();
    for declaration in ALL {
        let definition = &document["$defs"][definition_name(declaration)];
        let catalogue = document["x-undine"]["catalogue"].as_array().unwrap();
        let entry = catalogue.iter().find(|entry| entry["name"] == declaration.name).unwrap();
        assert_eq!(resolve(&document, entry["definition"].as_str().unwrap()), Some(definition));
        for (n, parameter) in declaration.parameters.iter().enumerate() {
            let taken = &definition["properties"]["parameters"]["properties"][parameter.name];
            assert_eq!(taken["description"], parameter.doc);
            assert_eq!(entry["parameters"][n]["name"], parameter.name);
            let inherited = &document["$defs"]["group"]["properties"]["parameters"]["properties"];
            assert!(inherited[parameter.name].is_object());
            // A default is a value that the schema itself allows, and its spelling too.
            for value in ["default", "spelt"].map(|key| &entry["parameters"][n][key]) {
                let words = matches!(parameter.takes, Type::Text | Type::File | Type::Choice(_));
                let said = matches!(parameter.takes, Type::Number(_) | Type::Vector(_)) || words;
                if !value.is_null() && (said || !value.is_string()) {
                    assert!(valid(&document, taken, value), "{}: {value}", parameter.name);
                }
            }
        }
    }
}

#[test]
fn the_catalogue_says_all_that_is_declared() {
    let document = document(&[&BALL]);
    let ball = &document["x-undine"]["catalogue"][0];
    assert_eq!(ball["kind"], "object");
    assert_eq!(
        ball["parameters"][1],
        json!({
            "name": "radius",
            "doc": "its radius",
            "type": "number",
            "level": "basic",
            "required": false,
            "default": 0.02,
            "spelt": "2 cm",
            "dimension": "m",
            "quantity": "a length",
            "unit": "m",
            "units": ["m", "cm", "mm", "um", "km"],
            "range": { "least": 0.0, "most": null, "above": true },
            "usual": [0.001, 1.0],
            "channel": "pscale",
        })
    );
    assert_eq!(ball["parameters"][4]["choices"][1]["word"], "steel");
    assert_eq!(ball["parameters"][5]["level"], "advanced");
    assert_eq!(document["x-undine"]["units"]["cm"]["factor"], 0.01);
}

#[test]
fn good_scenes_are_taken() {
    let document = whole();
    let ball = |parameters: Value| json!({ "node": "ball", "parameters": parameters });
    for child in [
        json!({ "node": "bare" }),
        json!({ "node": "bare", "name": "b", "disabled": true, "parameters": {} }),
        ball(json!({})),
        ball(json!({ "radius": 0.1, "velocity": [1, 2.5, -3], "skin": "steel", "seams": 3 })),
        ball(json!({ "radius": "4 cm", "hollow": true, "label": "", "rests-on": "/floor" })),
        ball(json!({ "radius": { "keys": [{ "time": 0, "value": "1 cm" }] } })),
        ball(json!({ "hollow": {
            "keys": [{ "time": "2 s", "value": true }], "interpolation": "hold" } })),
        json!({ "group": "toys", "parameters": { "radius": 0.3 }, "children": [{ "node": "ball" }] }),
    ] {
        let scene = json!({
            "settings": [{ "node": "output" }],
            "inputs": [{ "name": "a", "nodes": [{ "node": "sphere", "parameters": { "file": "x" } }] }],
            "setup": { "children": [child] },
        });
        assert!(valid(&document, &document, &scene), "{scene:#}");
    }
}

#[test]
fn bad_scenes_are_refused() {
    let document = whole();
    let ball = |parameters: Value| json!({ "node": "ball", "parameters": parameters });
    for child in [
        json!({}),
        json!({ "node": "sphere" }),
        json!({ "node": "bare", "size": 1 }),
        json!({ "group": "toys", "parameters": { "colour": 1 } }),
        ball(json!({ "radius": 0 })),
        ball(json!({ "radius": true })),
        ball(json!({ "velocity": [1, 2] })),
        ball(json!({ "skin": "glass" })),
        ball(json!({ "seams": 13 })),
        ball(json!({ "seams": 1.5 })),
        ball(json!({ "colour": "red" })),
        ball(json!({ "radius": { "keys": [] } })),
        ball(json!({ "hollow": { "keys": [{ "time": 0, "value": true }] } })),
    ] {
        let scene = json!({ "setup": { "children": [child] } });
        assert!(!valid(&document, &document, &scene), "{scene:#}");
    }
    let needs_a_file = json!({
        "inputs": [{ "name": "a", "nodes": [{ "node": "sphere" }] }], "setup": { "children": [] },
    });
    assert!(!valid(&document, &document, &needs_a_file));
}

fn resolve<'a>(document: &'a Value, reference: &str) -> Option<&'a Value> {
    document.pointer(reference.strip_prefix('#')?)
}

/// The rules of the meta-schema for the keywords that are used here; any other keyword is refused.
fn check_schema(document: &Value, schema: &Value, at: &str) {
    let Some(keywords) = schema.as_object() else {
        return assert!(schema.is_boolean(), "{at}");
    };
    for (keyword, value) in keywords {
        let at = format!("{at}/{keyword}");
        let texts = || value.as_array().unwrap().iter().map(|text| text.as_str().unwrap());
        match keyword.as_str() {
            "$schema" | "title" | "description" => assert!(value.is_string(), "{at}"),
            "pattern" => assert!(value.as_str().unwrap().starts_with('^'), "{at}"),
            "$ref" => {
                let target = resolve(document, value.as_str().unwrap());
                assert!(target.is_some_and(Value::is_object), "{at}: {value}");
            }
            "type" => {
                let types = ["object", "array", "string", "number", "integer", "boolean"];
                assert!(types.contains(&value.as_str().unwrap()), "{at}");
            }
            "properties" | "$defs" => {
                for (name, schema) in value.as_object().unwrap() {
                    check_schema(document, schema, &format!("{at}/{name}"));
                }
            }
            "required" => {
                for (n, name) in texts().enumerate() {
                    assert!(schema["properties"][name].is_object(), "{at}: {name}");
                    assert!(texts().take(n).all(|other| other != name), "{at}: {name} twice");
                }
            }
            "anyOf" => {
                let schemas = value.as_array().unwrap();
                assert!(!schemas.is_empty(), "{at}");
                for schema in schemas {
                    check_schema(document, schema, &at);
                }
            }
            "items" | "additionalProperties" => check_schema(document, value, &at),
            "enum" => assert!(texts().count() > 0, "{at}"),
            "minimum" | "exclusiveMinimum" | "maximum" => assert!(value.is_number(), "{at}"),
            "minItems" | "maxItems" | "minLength" => assert!(value.is_u64(), "{at}"),
            "const" | "default" => {}
            other => assert!(other.starts_with("x-"), "{at}"),
        }
    }
}

/// Whether a value is valid, for the keywords that are used here; patterns are taken to match whatever begins like a number.
fn valid(document: &Value, schema: &Value, value: &Value) -> bool {
    let Some(keywords) = schema.as_object() else { return *schema == json!(true) };
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    keywords.iter().all(|(keyword, rule)| match keyword.as_str() {
        "$ref" => valid(document, resolve(document, rule.as_str().unwrap()).unwrap(), value),
        "type" => match rule.as_str().unwrap() {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "number" => value.is_number(),
            "integer" => value.is_number() && number(value).fract() == 0.0,
            _ => value.is_boolean(),
        },
        "properties" => value.as_object().is_none_or(|object| {
            object.iter().all(|(name, value)| {
                rule.get(name).is_none_or(|schema| valid(document, schema, value))
            })
        }),
        "additionalProperties" => value.as_object().is_none_or(|object| {
            object.keys().all(|name| schema["properties"].get(name).is_some())
        }),
        "required" => value.as_object().is_none_or(|object| {
            rule.as_array().unwrap().iter().all(|name| object.contains_key(name.as_str().unwrap()))
        }),
        "anyOf" => rule.as_array().unwrap().iter().any(|schema| valid(document, schema, value)),
        "items" => value
            .as_array()
            .is_none_or(|items| items.iter().all(|item| valid(document, rule, item))),
        "minItems" => value.as_array().is_none_or(|items| items.len() >= number(rule) as usize),
        "maxItems" => value.as_array().is_none_or(|items| items.len() <= number(rule) as usize),
        "minLength" => value.as_str().is_none_or(|text| text.len() >= number(rule) as usize),
        "enum" => rule.as_array().unwrap().contains(value),
        "const" => rule == value,
        "minimum" => !value.is_number() || number(value) >= number(rule),
        "exclusiveMinimum" => !value.is_number() || number(value) > number(rule),
        "maximum" => !value.is_number() || number(value) <= number(rule),
        "pattern" => value.as_str().is_none_or(|text| {
            text.trim_start().starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
        }),
        _ => true,
    })
}
