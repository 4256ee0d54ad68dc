//! Filters on whole data and on channels: `merge` and `set`.

use super::{Call, Fault};
use std::collections::BTreeMap;
use std::sync::Arc;
use undine_core::glam::DVec3;
use undine_core::mesh::{Body, Curves, Polygons, Strands, Surface, Tetrahedra};
use undine_geometry::{Shape, random};
use undine_schema::{Declaration, Kind, Parameter, Type, Value};
use undine_sim::input::{Data, Geometry, PointCloud};

pub(super) static MERGE: Declaration = Declaration {
    name: "merge",
    kind: Kind::Filter,
    doc: "Puts another input beside this one",
    about: "Both are of one kind: points, curves, surfaces, tetrahedra, or solids, which become their union. A channel that only one of them has \
            is zero on the other. Ids that would clash are left out.",
    parameters: &[Parameter::new(
        "with",
        Type::Input,
        "the other input; by default what the nodes within make",
    )
    .optional()],
    example: "merge { sphere radius=\"10 cm\" }",
};

pub(super) static SET: Declaration = Declaration {
    name: "set",
    kind: Kind::Filter,
    doc: "Sets a channel to a value, or to random ones of a range",
    about: "Random values depend on the seed and on each point's id, so that a point keeps its own. On solids and level sets, which have no \
            points, the value holds for the whole.",
    parameters: &[
        Parameter::new(
            "channel",
            Type::Text,
            "the name of the channel: v, mass, pscale, temperature",
        ),
        Parameter::new(
            "value",
            Type::Text,
            "the value with its unit, or the least of a range: one number or three",
        ),
        Parameter::new("most", Type::Text, "the greatest of a range of random values").optional(),
        Parameter::integer("seed", 0, "other seeds give other random values"),
    ],
    example: "set channel=\"pscale\" value=\"1 mm\" most=\"3 mm\"",
};

pub(super) fn merge(call: &Call<'_>) -> Result<Data, Fault> {
    merged(&call.data_at_rest()?, &other(call)?)
}

/// What a filter on two takes beside its own data, at rest: the input that `with` names, or what the nodes within make.
pub(super) fn other(call: &Call<'_>) -> Result<Data, Fault> {
    let other = match (&call.within, call.given.optional_text("with")?) {
        (Some(within), None) => within.clone(),
        (None, Some(_)) => call.input("with")?,
        (Some(_), Some(name)) => {
            let wanted = "either an input is named or nodes stand within, not both";
            return Err(Fault::parameter("with", format!("`{name}`"), wanted));
        }
        (None, None) => return Err(Fault::parameter("with", "not given", "it is needed")),
    };
    Ok(other.at(call.time)?)
}

/// Both, one beside the other, at rest.
pub(super) fn merged(one: &Data, other: &Data) -> Result<Data, Fault> {
    let geometry = match (&one.geometry, &other.geometry) {
        (Geometry::Empty, geometry) | (geometry, Geometry::Empty) => geometry.clone(),
        (Geometry::Points(a), Geometry::Points(b)) => Geometry::Points(joined(a, b)),
        (Geometry::Shape(a), Geometry::Shape(b)) => {
            let parts = vec![Shape::clone(a), Shape::clone(b)];
            Geometry::Shape(Arc::new(Shape::union(parts, 0.0)?))
        }
        (Geometry::Surface(a), Geometry::Surface(b)) => {
            let first = a.vertex_count() as u32;
            let (a, b) = (a.connectivity(), b.connectivity());
            let counts: Vec<u32> =
                a.faces().chain(b.faces()).map(|face| face.len() as u32).collect();
            let later = b.corners().iter().map(|corner| corner.saturating_add(first));
            let corners = a.corners().iter().copied().chain(later).collect();
            let cloud = joined(&*one.cloud()?, &*other.cloud()?);
            let polygons = Polygons::from_counts(&counts, corners)?;
            let surface = Surface::new("merged", cloud.positions.clone(), polygons)?;
            return with(Geometry::Surface(Arc::new(surface)), cloud, one, other);
        }
        (Geometry::Curves(a), Geometry::Curves(b)) => {
            let (a, b) = (a.connectivity(), b.connectivity());
            let lengths = (0..a.len()).map(|n| (a.vertices(n).len(), a.is_closed(n)));
            let lengths =
                lengths.chain((0..b.len()).map(|n| (b.vertices(n).len(), b.is_closed(n))));
            let (mut offsets, mut closed, mut end) = (vec![0], Vec::new(), 0_u32);
            for (length, is_closed) in lengths {
                end = end.saturating_add(length as u32);
                offsets.push(end);
                closed.push(is_closed);
            }
            let cloud = joined(&*one.cloud()?, &*other.cloud()?);
            let strands = Strands::new(offsets, closed)?;
            let curves = Curves::new("merged", cloud.positions.clone(), strands)?;
            return with(Geometry::Curves(Arc::new(curves)), cloud, one, other);
        }
        (Geometry::Body(a), Geometry::Body(b)) => {
            let first = a.vertex_count() as u32;
            let later = b.connectivity().cells().iter();
            let later = later.map(|cell| cell.map(|vertex| vertex.saturating_add(first)));
            let cells = a.connectivity().cells().iter().copied().chain(later).collect();
            let cloud = joined(&*one.cloud()?, &*other.cloud()?);
            let body = Body::new("merged", cloud.positions.clone(), Tetrahedra::new(cells))?;
            return with(Geometry::Body(Arc::new(body)), cloud, one, other);
        }
        _ => {
            let wanted = "two of one kind: points, curves, surfaces, tetrahedra or solids";
            return Err(Fault::WrongData { found: other.noun(), wanted });
        }
    };
    Ok(Data { geometry, attributes: attributes(one, other), motion: None })
}

fn with(geometry: Geometry, cloud: PointCloud, one: &Data, other: &Data) -> Result<Data, Fault> {
    let data = Data { geometry, attributes: attributes(one, other), motion: None };
    Ok(data.with_cloud(cloud)?)
}

/// What is said of either as a whole; of both, the first has the word.
fn attributes(one: &Data, other: &Data) -> BTreeMap<String, Value> {
    let mut attributes = other.attributes.clone();
    attributes.extend(one.attributes.clone());
    attributes
}

fn joined(a: &PointCloud, b: &PointCloud) -> PointCloud {
    let counts = [a.positions.len(), b.positions.len()];
    let mut numbers = both(&a.numbers, &b.numbers, counts, 0.0);
    // Ids name a point: two of one name would be taken for each other.
    if let Some(ids) = numbers.get("id") {
        let mut sorted = ids.clone();
        sorted.sort_by(f64::total_cmp);
        if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
            numbers.remove("id");
        }
    }
    let first = counts[0] as u32;
    let later = b.edges.iter().map(|edge| edge.map(|end| end.saturating_add(first)));
    PointCloud {
        positions: a.positions.iter().chain(&b.positions).copied().collect(),
        numbers,
        vectors: both(&a.vectors, &b.vectors, counts, DVec3::ZERO),
        edges: a.edges.iter().copied().chain(later).collect(),
    }
}

fn both<T: Copy>(
    a: &BTreeMap<String, Vec<T>>,
    b: &BTreeMap<String, Vec<T>>,
    counts: [usize; 2],
    zero: T,
) -> BTreeMap<String, Vec<T>> {
    let names = a.keys().chain(b.keys()).cloned();
    let channel = |name: String| {
        let part = |from: &BTreeMap<String, Vec<T>>, count: usize| {
            from.get(&name).cloned().unwrap_or_else(|| vec![zero; count])
        };
        let values = [part(a, counts[0]), part(b, counts[1])].concat();
        (name, values)
    };
    names.map(channel).collect()
}

pub(super) fn set(call: &Call<'_>) -> Result<Data, Fault> {
    let given = &call.given;
    let channel = given.text("channel")?;
    if channel.is_empty() || matches!(channel.as_str(), "P" | "position") {
        return Err(Fault::parameter(
            "channel",
            format!("`{channel}`"),
            "positions are moved by `transform`",
        ));
    }
    let least = given.optional_quantity("value", &channel)?;
    let Some(least) = least else {
        return Err(Fault::parameter("value", "not given", "it is needed"));
    };
    let most = given.optional_quantity("most", &channel)?.unwrap_or_else(|| least.clone());
    let seed = given.seed()?;
    let mut data = Data::clone(&call.data);
    if matches!(data.geometry, Geometry::Shape(_) | Geometry::LevelSet(_)) {
        data.attributes.insert(channel, least);
        return Ok(data);
    }
    let mut cloud = data.cloud()?.into_owned();
    let ids = cloud.ids();
    let part = |id: u64, axis: u64| random::unit(seed ^ random::bits(0, axis), id);
    match (&least, &most) {
        (Value::Number(a), Value::Number(b)) => {
            let values = ids.iter().map(|&id| a + (b - a) * part(id, 0)).collect();
            cloud.vectors.remove(&channel);
            cloud.numbers.insert(channel, values);
        }
        (Value::Vector(a), Value::Vector(b)) => {
            let axis = |id: u64, k: usize| a[k] + (b[k] - a[k]) * part(id, k as u64);
            let vector = |&id: &u64| DVec3::new(axis(id, 0), axis(id, 1), axis(id, 2));
            let values = ids.iter().map(vector).collect();
            cloud.numbers.remove(&channel);
            cloud.vectors.insert(channel, values);
        }
        _ => return Err(Fault::parameter("most", most, "as many numbers as `value` are wanted")),
    }
    Ok(data.with_cloud(cloud)?)
}
