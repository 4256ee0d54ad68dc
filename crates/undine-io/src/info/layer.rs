//! The prims of a USD layer, as they stand in the one file.

use super::FileInfo;
use super::part::{ChannelInfo, Part, Range};
use crate::usd::layer::{Array, Attribute, Fields, Layer, Prim, Value};
use std::collections::BTreeMap;
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;

/// Adds what the prims of a layer are.
pub(super) fn inspect(layer: &Layer, info: &mut FileInfo) {
    info.metadata = words(&layer.fields);
    info.warnings.extend(layer.passed_over.iter().cloned());
    let mut next: Vec<(String, &Prim)> =
        layer.prims.iter().rev().map(|prim| (format!("/{}", prim.name), prim)).collect();
    while let Some((path, prim)) = next.pop() {
        let below = prim.children.iter().rev();
        next.extend(below.map(|child| (format!("{path}/{}", child.name), child)));
        // A prim without a type only adds to another, or holds others.
        if !prim.type_name.is_empty() || !prim.attributes.is_empty() {
            info.parts.push(part(path, prim));
        }
    }
}

fn part(path: String, prim: &Prim) -> Part {
    let first = |name: &str| prim.attribute(name).and_then(|found| found.held_at(f64::MIN));
    let length = |name: &str| first(name).and_then(array).map(|array| elements(array) as u64);
    let samples = prim.attributes.iter().map(|attribute| attribute.samples.len()).max();
    let counts = [
        ("points", length("points")),
        ("faces", length("faceVertexCounts")),
        ("curves", length("curveVertexCounts")),
        ("time samples", samples.filter(|&count| count > 0).map(|count| count as u64)),
    ];
    let points = prim.attribute("points").into_iter().flat_map(values);
    let points = points.filter_map(array).flat_map(|array| {
        let numbers = numbers(array);
        let places: Vec<DVec3> = numbers.as_chunks::<3>().0.iter().map(|&p| p.into()).collect();
        places
    });
    Part {
        kind: if prim.type_name.is_empty() { "prim".to_owned() } else { prim.type_name.clone() },
        name: path,
        counts: counts.into_iter().filter_map(|(name, count)| Some((name, count?))).collect(),
        bounds: Bounds::around(points),
        channels: prim.attributes.iter().map(channel).collect(),
        metadata: words(&prim.fields),
        ..Part::default()
    }
}

fn channel(attribute: &Attribute) -> ChannelInfo {
    let arrays = || values(attribute).filter_map(array);
    let width = arrays().map(width).next().unwrap_or(1);
    let (range, not_finite) = Range::of(arrays().flat_map(numbers), width);
    let is_for_each = arrays().next().is_some();
    ChannelInfo {
        name: attribute.name.clone(),
        on: if is_for_each { "elements" } else { "prim" },
        kind: attribute.type_name.clone(),
        range,
        not_finite,
    }
}

/// All values of an attribute.
fn values(attribute: &Attribute) -> impl Iterator<Item = &Value> {
    attribute.default.iter().chain(attribute.samples.iter().map(|(_, value)| value))
}

fn array(value: &Value) -> Option<&Array> {
    if let Value::Array(array) = value { Some(array) } else { None }
}

fn width(array: &Array) -> usize {
    match array {
        Array::Int(_, width) | Array::Half(_, width) => *width,
        Array::Float(_, width) | Array::Double(_, width) => *width,
        _ => 1,
    }
}

fn elements(array: &Array) -> usize {
    let numbers = match array {
        Array::Bool(values) => values.len(),
        Array::UChar(values) => values.len(),
        Array::Int(values, _) => values.len(),
        Array::UInt(values) => values.len(),
        Array::Int64(values) => values.len(),
        Array::UInt64(values) => values.len(),
        Array::Half(values, _) | Array::Float(values, _) => values.len(),
        Array::Double(values, _) => values.len(),
        Array::String(values) | Array::Token(values) | Array::Asset(values) => values.len(),
    };
    numbers / width(array).max(1)
}

fn numbers(array: &Array) -> Vec<f64> {
    match array {
        Array::Bool(values) => values.iter().map(|&value| f64::from(u8::from(value))).collect(),
        Array::UChar(values) => values.iter().map(|&value| value.into()).collect(),
        Array::Int(values, _) => values.iter().map(|&value| value.into()).collect(),
        Array::UInt(values) => values.iter().map(|&value| value.into()).collect(),
        Array::Int64(values) => values.iter().map(|&value| value as f64).collect(),
        Array::UInt64(values) => values.iter().map(|&value| value as f64).collect(),
        Array::Half(values, _) | Array::Float(values, _) => {
            values.iter().map(|&value| value.into()).collect()
        }
        Array::Double(values, _) => values.clone(),
        Array::String(_) | Array::Token(_) | Array::Asset(_) => Vec::new(),
    }
}

/// The fields that are single values.
fn words(fields: &Fields) -> BTreeMap<String, String> {
    let word = |value: &Value| {
        Some(match value {
            Value::Bool(value) => value.to_string(),
            Value::UChar(value) => value.to_string(),
            Value::Int(value) => value.to_string(),
            Value::UInt(value) => value.to_string(),
            Value::Int64(value) => value.to_string(),
            Value::UInt64(value) => value.to_string(),
            Value::Half(value) | Value::Float(value) => value.to_string(),
            Value::Double(value) => value.to_string(),
            Value::String(text) | Value::Token(text) | Value::Asset(text) => text.clone(),
            _ => return None,
        })
    };
    fields.iter().filter_map(|(name, value)| Some((name.clone(), word(value)?))).collect()
}
