//! What `undine schema` prints: one JSON document that is a JSON Schema (2020-12) of a scene as JSON data, and a catalogue.
//!
//! The schema has a definition for each node, under `$defs` by kind and name, `object.ball`. A scene in JSON is
//!
//! ```json
//! { "settings": [{ "node": "output", "parameters": { "dir": "cache" } }],
//!   "inputs": [{ "name": "balls", "nodes": [{ "node": "sphere", "parameters": { "radius": "1 m" } }] }],
//!   "setup": { "children": [
//!     { "group": "toys", "children": [{ "node": "ball", "name": "red", "parameters": { "input": "balls" } }] },
//!     { "node": "gravity" } ] } }
//! ```
//!
//! The catalogue, under `x-undine`, holds what a form needs beyond what is valid: the order of parameters, units, what is
//! usual, for whom a parameter is, and by which channel it varies. Numbers of it are in SI.

use super::{KINDS, default, of_kind};
use crate::declaration::{Declaration, Kind};
use crate::display;
use crate::parameter::{Fallback, Level, Parameter, Range, Type};
use crate::unit::Unit;
use crate::value::Interpolation;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The document, indented, with a line feed at its end. The same declarations give the same bytes, in whatever order they come.
pub fn schema(declarations: &[&Declaration]) -> String {
    format!("{:#}\n", document(declarations))
}

/// The document as data.
pub fn document(declarations: &[&Declaration]) -> Value {
    let sorted: Vec<&Declaration> =
        KINDS.iter().flat_map(|(kind, ..)| of_kind(declarations, *kind)).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Undine scene",
        "description": "A scene of Undine as JSON data. Numbers are in SI; texts may carry other units, such as \"2 cm\".",
        "type": "object",
        "properties": {
            "settings": { "type": "array", "items": one_of(&sorted, |kind| kind == Kind::Settings) },
            "inputs": { "type": "array", "items": reference("input") },
            "setup": reference("root"),
        },
        "required": ["setup"],
        "additionalProperties": false,
        "$defs": definitions(&sorted),
        "x-undine": { "catalogue": catalogue(&sorted), "units": units(&sorted) },
    })
}

fn reference(definition: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{definition}") })
}

/// The name of a node's definition.
fn definition_name(declaration: &Declaration) -> String {
    format!("{}.{}", declaration.kind.noun().to_lowercase(), declaration.name)
}

/// A node of these kinds. If there is none, nothing is valid: an empty `anyOf` would be no schema.
fn one_of(declarations: &[&Declaration], kinds: impl Fn(Kind) -> bool) -> Value {
    let nodes: Vec<Value> = declarations
        .iter()
        .filter(|declaration| kinds(declaration.kind))
        .map(|declaration| reference(&definition_name(declaration)))
        .collect();
    if nodes.is_empty() { json!(false) } else { json!({ "anyOf": nodes }) }
}

fn definitions(declarations: &[&Declaration]) -> Value {
    let mut definitions = Map::new();
    for declaration in declarations {
        definitions.insert(definition_name(declaration), node(declaration));
    }
    let behavior = one_of(declarations, Kind::is_behavior);
    let children = json!({
        "description": "What it holds, in order",
        "type": "array",
        "items": { "anyOf": [reference("group"), behavior] },
    });
    let parameters = inherited(declarations);
    let mut shared = |name: &str, definition| definitions.insert(name.to_owned(), definition);
    shared(
        "root",
        json!({
            "description": "The root of the tree of Groups and Behaviors",
            "type": "object",
            "properties": { "parameters": parameters, "children": children },
            "required": ["children"],
            "additionalProperties": false,
        }),
    );
    shared(
        "group",
        json!({
            "description": "A Group: gives scope to what it holds, and values to what is set nowhere nearer",
            "type": "object",
            "properties": {
                "group": { "description": "Its name", "type": "string", "minLength": 1 },
                "disabled": disabled(),
                "parameters": parameters,
                "children": children,
            },
            "required": ["group"],
            "additionalProperties": false,
        }),
    );
    shared(
        "input",
        json!({
            "description": "A named input: a source of data, and what changes it, in order",
            "type": "object",
            "properties": {
                "name": { "type": "string", "minLength": 1 },
                "nodes": {
                    "type": "array",
                    "minItems": 1,
                    "items": one_of(declarations, |kind| matches!(kind, Kind::Source | Kind::Filter)),
                },
            },
            "required": ["name", "nodes"],
            "additionalProperties": false,
        }),
    );
    shared(
        "quantity",
        json!({
            "description": "A number with a unit behind it, such as \"2 cm\"",
            "type": "string",
            "pattern": format!("^\\s*{NUMBER}"),
        }),
    );
    shared(
        "quantity-vector",
        json!({
            "description": "Three numbers with a unit behind them, such as \"4 0 0 m/s\"",
            "type": "string",
            "pattern": format!("^\\s*{NUMBER}[\\s,]+{NUMBER}[\\s,]+{NUMBER}"),
        }),
    );
    Value::Object(definitions)
}

/// A decimal number, as a regular expression.
const NUMBER: &str = "[+-]?(\\d+\\.?\\d*|\\.\\d+)([eE][+-]?\\d+)?";

fn disabled() -> Value {
    json!({ "description": "Whether it is left out", "type": "boolean", "default": false })
}

/// A node's definition.
fn node(declaration: &Declaration) -> Value {
    let parameters: Map<String, Value> = declaration
        .parameters
        .iter()
        .map(|parameter| (parameter.name.to_owned(), setting(parameter)))
        .collect();
    let mut taken = json!({
        "type": "object",
        "properties": parameters,
        "additionalProperties": false,
    });
    let mut required = vec!["node"];
    // A Behavior may get what it needs from a Group around it; nothing else can.
    let missing: Vec<&str> = declaration
        .parameters
        .iter()
        .filter(|parameter| parameter.fallback == Fallback::Required)
        .map(|parameter| parameter.name)
        .collect();
    if !declaration.kind.is_behavior() && !missing.is_empty() {
        taken["required"] = json!(missing);
        required.push("parameters");
    }
    json!({
        "title": declaration.name,
        "description": declaration.doc,
        "type": "object",
        "properties": {
            "node": { "const": declaration.name },
            "name": { "description": "Its own name, by default what it is", "type": "string", "minLength": 1 },
            "disabled": disabled(),
            "parameters": taken,
        },
        "required": required,
        "additionalProperties": false,
    })
}

/// What a Group may set: every parameter of every Behavior, as any of those Behaviors takes it.
fn inherited(declarations: &[&Declaration]) -> Value {
    let mut owners: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for declaration in declarations.iter().filter(|declaration| declaration.kind.is_behavior()) {
        let definition = definition_name(declaration);
        for parameter in declaration.parameters {
            let path = format!("{definition}/properties/parameters/properties/{}", parameter.name);
            owners.entry(parameter.name).or_default().push(reference(&path));
        }
    }
    let properties: Map<String, Value> =
        owners.into_iter().map(|(name, any)| (name.to_owned(), json!({ "anyOf": any }))).collect();
    json!({
        "description": "Values for all Behaviors within that have such a parameter and do not set it",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    })
}

/// What a parameter may be set to: a value, or one that changes over time.
fn setting(parameter: &Parameter) -> Value {
    let constant = constant(parameter);
    let keyable = !matches!(parameter.takes, Type::Text | Type::File | Type::Input | Type::Target);
    let mut forms = vec![constant.clone()];
    if keyable {
        forms.push(keyed(parameter, constant));
    }
    let mut setting = json!({ "description": parameter.doc, "anyOf": forms });
    if let Some(default) = default_in_si(parameter) {
        setting["default"] = default;
    }
    setting
}

/// One value.
fn constant(parameter: &Parameter) -> Value {
    match parameter.takes {
        Type::Number(_) => {
            json!({ "anyOf": [bounded("number", parameter.range), reference("quantity")] })
        }
        Type::Vector(_) => json!({ "anyOf": [
            {
                "type": "array",
                "items": bounded("number", parameter.range),
                "minItems": 3,
                "maxItems": 3,
            },
            reference("quantity-vector"),
        ] }),
        Type::Integer => bounded("integer", parameter.range),
        Type::Flag => json!({ "type": "boolean" }),
        Type::Text => json!({ "type": "string" }),
        Type::File | Type::Input | Type::Target => json!({ "type": "string", "minLength": 1 }),
        Type::Choice(choices) => {
            let words: Vec<Value> = choices
                .iter()
                .map(|(word, doc)| json!({ "const": word, "description": doc }))
                .collect();
            json!({ "anyOf": words })
        }
    }
}

fn bounded(what: &str, range: Range) -> Value {
    let mut number = json!({ "type": what });
    if range.least.is_finite() {
        let keyword = if range.above { "exclusiveMinimum" } else { "minimum" };
        number[keyword] = json!(range.least);
    }
    if range.most.is_finite() {
        number["maximum"] = json!(range.most);
    }
    number
}

/// Values at times. Between those that are no numbers there is nothing, so they hold.
fn keyed(parameter: &Parameter, constant: Value) -> Value {
    let blends = matches!(parameter.takes, Type::Number(_) | Type::Vector(_));
    let words: Vec<&str> = Interpolation::WORDS
        .iter()
        .filter(|(_, way)| blends || *way == Interpolation::Hold)
        .map(|(word, _)| *word)
        .collect();
    json!({
        "type": "object",
        "properties": {
            "keys": {
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "properties": {
                        "time": { "anyOf": [{ "type": "number" }, reference("quantity")] },
                        "value": constant,
                    },
                    "required": ["time", "value"],
                    "additionalProperties": false,
                },
            },
            "interpolation": { "enum": words },
        },
        "required": if blends { json!(["keys"]) } else { json!(["keys", "interpolation"]) },
        "additionalProperties": false,
    })
}

fn default_in_si(parameter: &Parameter) -> Option<Value> {
    Some(match parameter.fallback {
        Fallback::Required | Fallback::Absent => return None,
        Fallback::Number(number) => json!(number),
        Fallback::Vector(vector) => json!(vector),
        Fallback::Integer(whole) => json!(whole),
        Fallback::Flag(flag) => json!(flag),
        Fallback::Text(text) => json!(text),
    })
}

fn catalogue(declarations: &[&Declaration]) -> Vec<Value> {
    declarations
        .iter()
        .map(|declaration| {
            let parameters: Vec<Value> = declaration.parameters.iter().map(described).collect();
            json!({
                "name": declaration.name,
                "kind": declaration.kind.noun().to_lowercase(),
                "definition": format!("#/$defs/{}", definition_name(declaration)),
                "doc": declaration.doc,
                "about": declaration.about,
                "example": declaration.example,
                "parameters": parameters,
            })
        })
        .collect()
}

/// All that is declared of a parameter. What it does not have is left out.
fn described(parameter: &Parameter) -> Value {
    let mut all = json!({
        "name": parameter.name,
        "doc": parameter.doc,
        "type": type_word(parameter.takes),
        "level": match parameter.level {
            Level::Basic => "basic",
            Level::Advanced => "advanced",
        },
        "required": parameter.fallback == Fallback::Required,
    });
    let mut add = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            all[key] = value;
        }
    };
    add("default", default_in_si(parameter));
    add("spelt", default(parameter).map(Value::from));
    let dimension = parameter.dimension();
    add("dimension", dimension.map(|dimension| json!(dimension.to_string())));
    add("quantity", dimension.and_then(|dimension| dimension.name()).map(Value::from));
    add("unit", dimension.map(|dimension| json!(display::customary_unit(dimension))));
    add("units", dimension.map(|dimension| json!(display::customary_units(dimension))));
    let Range { least, most, above } = parameter.range;
    if parameter.range != Range::ALL {
        // JSON has no infinity: null is no bound.
        add("range", Some(json!({ "least": least, "most": most, "above": above })));
    }
    add("usual", parameter.usual.map(|(least, most)| json!([least, most])));
    add("channel", parameter.channel.map(Value::from));
    if let Type::Choice(choices) = parameter.takes {
        let choices = choices.iter().map(|(word, doc)| json!({ "word": word, "doc": doc }));
        add("choices", Some(choices.collect()));
    }
    all
}

const fn type_word(takes: Type) -> &'static str {
    match takes {
        Type::Number(_) => "number",
        Type::Vector(_) => "vector",
        Type::Integer => "integer",
        Type::Flag => "flag",
        Type::Text => "text",
        Type::File => "file",
        Type::Choice(_) => "choice",
        Type::Input => "input",
        Type::Target => "target",
    }
}

/// Every unit that the catalogue names: a value in SI is `value * factor + zero`.
fn units(declarations: &[&Declaration]) -> Map<String, Value> {
    let dimensions = declarations
        .iter()
        .flat_map(|declaration| declaration.parameters)
        .filter_map(Parameter::dimension);
    dimensions
        .flat_map(|dimension| {
            let own = display::customary_unit(dimension);
            display::customary_units(dimension)
                .iter()
                .map(|unit| (*unit).to_owned())
                .chain([own])
                .collect::<Vec<_>>()
        })
        .filter_map(|text| {
            let unit = Unit::parse(&text).ok()?;
            Some((text, json!({ "factor": unit.factor, "zero": unit.zero })))
        })
        .collect()
}

#[cfg(test)]
mod tests;
