//! The prims of a USD layer, as they stand in the one file: each in its own space, in metres. Before them, what is seen of the scene
//! when all that it refers to is put together, at its first and its last frame.

use super::part::{ChannelInfo, Part, Range};
use super::{Depth, FileInfo, geometry};
use crate::Geometry;
use crate::error::Result;
use crate::names::{UpAxis, turn_channels};
use crate::usd;
use crate::usd::layer::{Array, Attribute, Fields, Layer, Prim, Value};
use std::collections::BTreeMap;
use std::path::Path;
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;

/// Adds what a scene is, and what the prims of its own file are.
pub(super) fn inspect(path: &Path, depth: Depth, info: &mut FileInfo) -> Result<()> {
    let layer = usd::load(path)?;
    info.metadata = words(&layer.fields);
    if let Some(Value::Dictionary(own)) = layer.fields.get("customLayerData") {
        info.metadata.extend(words(own));
    }
    let is_put_together = depth == Depth::Values
        && match scene(path, info) {
            Ok(()) => true,
            Err(why) => {
                info.damaged |= why.is_damage();
                info.warnings.push(format!("the scene cannot be put together: {why}"));
                false
            }
        };
    if !is_put_together {
        info.warnings.extend(layer.passed_over.iter().cloned());
    }
    prims(&layer, info);
    Ok(())
}

/// Adds what is seen at the first and at the last frame, and the frames there are.
fn scene(path: &Path, info: &mut FileInfo) -> Result<()> {
    let scene = usd::Scene::open(path)?;
    let times = scene.time_samples()?;
    if !times.is_empty() {
        info.metadata.insert("frames".to_owned(), in_words(&times));
    }
    let ends = times.first().copied().zip(times.last().copied());
    let moments: Vec<(&str, Option<f64>)> = match scene.range().or(ends) {
        None => vec![("scene", None)],
        Some((first, last)) if first >= last => vec![("scene", Some(first))],
        Some((first, last)) => {
            vec![("scene, first frame", Some(first)), ("scene, last frame", Some(last))]
        }
    };
    for (name, time) in moments {
        let found = scene.read_prims(time, None)?;
        for note in found.notes.iter().map(|note| format!("not read: {note}")) {
            if !info.warnings.contains(&note) {
                info.warnings.push(note);
            }
        }
        if found.prims > 0 {
            // As the file has it, and as its prims are shown below.
            let geometry =
                if scene.is_z_up() { as_in_file(found.geometry) } else { found.geometry };
            let mut part = Part { name: name.to_owned(), ..geometry::part(&geometry) };
            part.metadata.extend(time.map(|time| ("frame".to_owned(), time.to_string())));
            info.parts.push(part);
        }
    }
    Ok(())
}

/// Geometry that was turned when it was read, with Z up again.
fn as_in_file(mut geometry: Geometry) -> Geometry {
    let turn = |vector| UpAxis::Z.to_file(vector);
    geometry.points = UpAxis::Z.points_to_file(&geometry.points).into_owned();
    let of_faces = geometry.faces.as_mut().map(|faces| &mut faces.channels);
    let of_curves = geometry.curves.as_mut().map(|curves| &mut curves.channels);
    [of_faces, of_curves].into_iter().flatten().for_each(|channels| turn_channels(channels, turn));
    geometry
}

/// So many runs of frames are listed.
const MOST_RUNS: usize = 20;

/// Times in order as people write frames: `1-24, 30`.
fn in_words(times: &[f64]) -> String {
    let runs: Vec<&[f64]> = times.chunk_by(|a, b| b - a == 1.0).collect();
    let word = |run: &&[f64]| match run {
        [first, .., last] => format!("{first}-{last}"),
        [one] => one.to_string(),
        [] => String::new(),
    };
    let mut words: Vec<String> = runs.iter().take(MOST_RUNS).map(word).collect();
    if let ([.., last], true) = (times, runs.len() > MOST_RUNS) {
        words.push(format!("… {last}: {} in all", times.len()));
    }
    words.join(", ")
}

/// Adds what the prims of a layer are.
fn prims(layer: &Layer, info: &mut FileInfo) {
    // A layer that says nothing is in centimetres.
    let unit = layer.fields.get("metersPerUnit").and_then(Value::number);
    let metres = unit.filter(|unit| unit.is_finite() && *unit > 0.0).unwrap_or(0.01);
    let mut next: Vec<(String, &Prim)> =
        layer.prims.iter().rev().map(|prim| (format!("/{}", prim.name), prim)).collect();
    while let Some((path, prim)) = next.pop() {
        let below = prim.children.iter().rev();
        next.extend(below.map(|child| (format!("{path}/{}", child.name), child)));
        // A prim without a type only adds to another, or holds others.
        if !prim.type_name.is_empty() || !prim.attributes.is_empty() {
            info.parts.push(part(path, prim, metres));
        }
    }
}

fn part(path: String, prim: &Prim, metres: f64) -> Part {
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
        let places: Vec<DVec3> =
            numbers.as_chunks::<3>().0.iter().map(|&p| metres * DVec3::from(p)).collect();
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
