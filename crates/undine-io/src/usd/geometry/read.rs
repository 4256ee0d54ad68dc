//! Prims to tables.

use super::super::compose::Composed;
use super::super::layer::{Array, Value};
use super::super::type_name::{Role, TypeName};
use crate::names::REST;
use crate::table::{Channels, Values};
use undine_core::glam::{DMat3, DMat4, DVec3, Vec3};

/// More attributes than any prim has: each is looked for among all.
const MOST_ATTRIBUTES: usize = 10_000;

/// The tables of one prim, before they are joined with those of others.
#[derive(Default)]
pub(super) struct Piece {
    pub positions: Vec<DVec3>,
    pub channels: Channels,
    pub elements: Elements,
}

/// What lies between the points of a prim.
#[derive(Default)]
pub(super) enum Elements {
    #[default]
    None,
    /// Corners of each face, and the points at them.
    Faces { counts: Vec<u32>, corners: Vec<u32>, channels: Channels },
    /// Points of each curve.
    Curves { counts: Vec<u32>, closed: bool, channels: Channels },
}

/// Whether prims of this type are read.
pub(super) fn is_geometry(type_name: &str) -> bool {
    matches!(type_name, "Mesh" | "Points" | "BasisCurves")
}

/// Whether an attribute has to do with what is read of a prim.
pub(in crate::usd) fn is_read(attribute: &str) -> bool {
    let names = [
        "points",
        "velocities",
        "widths",
        "ids",
        "normals",
        "faceVertexCounts",
        "faceVertexIndices",
        "curveVertexCounts",
    ];
    names.contains(&attribute)
        || attribute.starts_with("primvars:")
        || attribute.starts_with("xformOp:")
}

/// How a prim's own space lies in the one that we read into.
struct Space {
    matrix: DMat4,
    linear: DMat3,
    normal: DMat3,
    /// By what lengths grow, on the whole.
    growth: f64,
}

impl Space {
    fn new(matrix: DMat4) -> Self {
        let linear = DMat3::from_mat4(matrix);
        let volume = linear.determinant();
        // A space that is flattened has no normals of its own; they stay as they are.
        let normal = if volume == 0.0 { DMat3::IDENTITY } else { linear.inverse().transpose() };
        Self { matrix, linear, normal, growth: volume.abs().cbrt() }
    }

    fn place(&self, role: Role, vector: DVec3) -> DVec3 {
        match role {
            Role::None => vector,
            Role::Point => self.matrix.transform_point3(vector),
            Role::Vector => self.linear * vector,
            Role::Normal => (self.normal * vector).normalize_or_zero(),
        }
    }
}

/// What is read of a prim at a time, put into a space by a matrix. `notes` takes what is left out; `Err` says what is wrong.
pub(super) fn piece(
    prim: &Composed,
    time: Option<f64>,
    matrix: DMat4,
    notes: &mut Vec<String>,
) -> Result<Piece, String> {
    let attributes = prim.attribute_names().len();
    if attributes > MOST_ATTRIBUTES {
        return Err(format!("it has {attributes} attributes, more than {MOST_ATTRIBUTES}"));
    }
    let space = Space::new(matrix);
    let mut piece = Piece::default();
    if let Some(points) = prim.value("points", time) {
        let points = vectors(&points).ok_or("its `points` are no vectors")?;
        piece.positions = points.map(|point| space.place(Role::Point, point)).collect();
    }
    if let Some(n) = piece.positions.iter().position(|position| !position.is_finite()) {
        return Err(format!("point {n} is not at a finite place"));
    }
    piece.elements = match prim.type_name() {
        "Mesh" => faces(prim, time, piece.positions.len())?,
        "BasisCurves" => curves(prim, time, piece.positions.len(), notes)?,
        _ => Elements::None,
    };
    channels(prim, time, &space, &mut piece, notes);
    Ok(piece)
}

fn faces(prim: &Composed, time: Option<f64>, points: usize) -> Result<Elements, String> {
    let counts = counts_of(prim, "faceVertexCounts", time)?;
    let mut corners = counts_of(prim, "faceVertexIndices", time)?;
    let wanted: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    if wanted != corners.len() as u64 {
        let found = corners.len();
        return Err(format!("its faces have {wanted} corners, but there are {found} indices"));
    }
    if let Some(corner) = corners.iter().find(|&&corner| corner as usize >= points) {
        return Err(format!("a face has the point {corner}, but there are {points}"));
    }
    if let Some(face) = counts.iter().position(|&count| count < 3) {
        return Err(format!("face {face} has {} corners, not three at least", counts[face]));
    }
    if prim.value("orientation", time).as_deref().and_then(Value::text) == Some("leftHanded") {
        let mut rest = &mut corners[..];
        for &count in &counts {
            let (face, behind) = rest.split_at_mut(count as usize);
            face.reverse();
            rest = behind;
        }
    }
    Ok(Elements::Faces { counts, corners, channels: Channels::new() })
}

fn curves(
    prim: &Composed,
    time: Option<f64>,
    points: usize,
    notes: &mut Vec<String>,
) -> Result<Elements, String> {
    let counts = counts_of(prim, "curveVertexCounts", time)?;
    let wanted: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    if wanted != points as u64 {
        return Err(format!("its curves have {wanted} points, but there are {points}"));
    }
    let word = |name: &str| Some(prim.value(name, time)?.text()?.to_owned());
    if word("type").is_none_or(|word| word == "cubic") {
        notes.push(format!("{}: the form of the curves between their control points", prim.path));
    }
    let closed = word("wrap").as_deref() == Some("periodic");
    Ok(Elements::Curves { counts, closed, channels: Channels::new() })
}

/// Whole numbers from 0 on.
fn counts_of(prim: &Composed, name: &str, time: Option<f64>) -> Result<Vec<u32>, String> {
    let Some(value) = prim.value(name, time) else { return Ok(Vec::new()) };
    let Value::Array(Array::Int(values, 1)) = &*value else {
        return Err(format!("its `{name}` are no whole numbers"));
    };
    let whole = values.iter().map(|&value| u32::try_from(value));
    whole.collect::<Result<_, _>>().map_err(|_| format!("a number of its `{name}` is negative"))
}

/// Where the values of an attribute belong.
#[derive(Clone, Copy, PartialEq)]
enum Seat {
    Points,
    Elements,
}

fn channels(
    prim: &Composed,
    time: Option<f64>,
    space: &Space,
    piece: &mut Piece,
    notes: &mut Vec<String>,
) {
    for name in prim.attribute_names() {
        let (channel, role) = match name {
            "velocities" => ("v", Some(Role::Vector)),
            "normals" => ("N", Some(Role::Normal)),
            "widths" => ("pscale", None),
            "ids" => ("id", None),
            _ => match name.strip_prefix("primvars:") {
                // `ids` are said again for those who do not read them.
                Some("id") if prim.value("ids", time).is_some() => continue,
                // Other programs write these places as plain `float3`.
                Some(REST) => (REST, Some(Role::Point)),
                Some(channel) if !channel.ends_with(":indices") => (channel, None),
                _ => continue,
            },
        };
        let Some(value) = prim.value(name, time) else { continue };
        let size = prim.attribute_field(name, "elementSize").and_then(Value::number);
        let values = match &*value {
            Value::Array(array) if size.is_none_or(|size| size == 1.0) => values(array),
            _ => None,
        };
        let Some(mut values) = values else {
            notes
                .push(format!("{}: `{name}` has values that are no numbers or vectors", prim.path));
            continue;
        };
        if let Some(indices) = prim.value(&format!("{name}:indices"), time) {
            match picked(&values, &indices) {
                Some(found) => values = found,
                None => {
                    notes.push(format!("{}: the indices of `{name}` lead nowhere", prim.path));
                    continue;
                }
            }
        }
        // One value for everything: only widths are so usual that they are spread.
        let said = prim.attribute_field(name, "interpolation").and_then(Value::text);
        if name == "widths" && values.len() == 1 && said.is_none_or(|word| word == "constant") {
            values = repeated(&values, piece.positions.len());
        }
        let Some(seat) = seat(name, said, values.len(), piece) else {
            let word = said.unwrap_or("no");
            let note =
                format!("{}: `{name}`, {} values of {word} interpolation", prim.path, values.len());
            notes.push(note);
            continue;
        };
        let declared = prim.declaration(name).and_then(|found| TypeName::parse(&found.type_name));
        let role = role.or(declared.map(|of| of.role)).unwrap_or(Role::None);
        let values = match channel {
            "pscale" => scaled(values, 0.5 * space.growth),
            _ => placed(values, role, space),
        };
        let channels = match (seat, &mut piece.elements) {
            (Seat::Points, _) => &mut piece.channels,
            (_, Elements::Faces { channels, .. } | Elements::Curves { channels, .. }) => channels,
            (_, Elements::None) => continue,
        };
        channels.insert(channel.to_owned(), values);
    }
}

/// Where so many values belong: where the attribute says, if they are as many, or else where they fit.
fn seat(name: &str, said: Option<&str>, count: usize, piece: &Piece) -> Option<Seat> {
    let points = piece.positions.len();
    let elements = match &piece.elements {
        Elements::None => None,
        Elements::Faces { counts, .. } | Elements::Curves { counts, .. } => Some(counts.len()),
    };
    let of_points = (count == points).then_some(Seat::Points);
    match said {
        Some("vertex" | "varying") => of_points,
        Some("uniform") => (elements == Some(count)).then_some(Seat::Elements),
        // Corners of faces have no channels here, and one value for all is none for each.
        Some(_) if name.starts_with("primvars:") => None,
        None if name.starts_with("primvars:") => None,
        _ => of_points,
    }
}

fn vectors(value: &Value) -> Option<Box<dyn Iterator<Item = DVec3> + '_>> {
    match value {
        Value::Array(Array::Float(values, 3) | Array::Half(values, 3)) => {
            Some(Box::new(values.chunks_exact(3).map(|v| Vec3::new(v[0], v[1], v[2]).as_dvec3())))
        }
        Value::Array(Array::Double(values, 3)) => {
            Some(Box::new(values.chunks_exact(3).map(|v| DVec3::new(v[0], v[1], v[2]))))
        }
        _ => None,
    }
}

fn values(array: &Array) -> Option<Values> {
    Some(match array {
        Array::Bool(values) => Values::U32(values.iter().map(|&value| u32::from(value)).collect()),
        Array::UChar(values) => Values::U32(values.iter().map(|&value| u32::from(value)).collect()),
        Array::Int(values, 1) => Values::I32(values.clone()),
        Array::UInt(values) => Values::U32(values.clone()),
        Array::Int64(values) => {
            match values.iter().map(|&value| u64::try_from(value).ok()).collect() {
                Some(ids) => Values::U64(ids),
                None => {
                    let short = values.iter().map(|&value| i32::try_from(value).ok());
                    Values::I32(short.collect::<Option<_>>()?)
                }
            }
        }
        Array::UInt64(values) => Values::U64(values.clone()),
        Array::Half(values, 1) | Array::Float(values, 1) => Values::F32(values.clone()),
        Array::Double(values, 1) => Values::F64(values.clone()),
        Array::Half(values, 3) | Array::Float(values, 3) => {
            Values::Vec3(values.chunks_exact(3).map(|v| Vec3::new(v[0], v[1], v[2])).collect())
        }
        Array::Double(values, 3) => {
            Values::DVec3(values.chunks_exact(3).map(|v| DVec3::new(v[0], v[1], v[2])).collect())
        }
        _ => return None,
    })
}

/// The values that indices name; `None` if one names none.
fn picked(values: &Values, indices: &Value) -> Option<Values> {
    let Value::Array(Array::Int(indices, 1)) = indices else { return None };
    fn pick<T: Copy>(values: &[T], indices: &[i32]) -> Option<Vec<T>> {
        indices.iter().map(|&n| values.get(usize::try_from(n).ok()?).copied()).collect()
    }
    Some(match values {
        Values::F32(values) => Values::F32(pick(values, indices)?),
        Values::F64(values) => Values::F64(pick(values, indices)?),
        Values::I32(values) => Values::I32(pick(values, indices)?),
        Values::U32(values) => Values::U32(pick(values, indices)?),
        Values::U64(values) => Values::U64(pick(values, indices)?),
        Values::Vec3(values) => Values::Vec3(pick(values, indices)?),
        Values::DVec3(values) => Values::DVec3(pick(values, indices)?),
    })
}

/// The first of the values, so many times. Widths alone come here, which are numbers.
fn repeated(values: &Values, count: usize) -> Values {
    let first = values.numbers().and_then(|numbers| numbers.first().copied()).unwrap_or(0.0);
    Values::F32(vec![first as f32; count])
}

fn scaled(values: Values, factor: f64) -> Values {
    match values {
        Values::F32(values) => {
            Values::F32(values.iter().map(|&v| (f64::from(v) * factor) as f32).collect())
        }
        Values::F64(values) => Values::F64(values.iter().map(|v| v * factor).collect()),
        other => other,
    }
}

fn placed(values: Values, role: Role, space: &Space) -> Values {
    match values {
        // As positions are: where both are the same, they stay the same.
        Values::Vec3(values) if role == Role::Point => {
            Values::DVec3(values.iter().map(|v| space.place(role, v.as_dvec3())).collect())
        }
        Values::Vec3(values) if role != Role::None => {
            Values::Vec3(values.iter().map(|v| space.place(role, v.as_dvec3()).as_vec3()).collect())
        }
        Values::DVec3(values) if role != Role::None => {
            Values::DVec3(values.iter().map(|&v| space.place(role, v)).collect())
        }
        other => other,
    }
}
