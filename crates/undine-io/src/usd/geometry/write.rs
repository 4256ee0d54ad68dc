//! Tables to prims.

use super::identifier;
use crate::Geometry;
use crate::error::{IoError, Result};
use crate::metadata::{Datum, FileMetadata};
use crate::names::{REST, UpAxis, has_direction};
use crate::table::{Channels, Curves, Faces, Points, Precision, Values};
use crate::usd::layer::{Array, Attribute, Fields, Layer, Prim, Value};
use std::collections::BTreeSet;
use undine_core::glam::{DVec3, Vec3};

/// How geometry is put down.
#[derive(Debug, Clone)]
pub struct Form {
    /// The name of the prim; [`identifier`] makes it one.
    pub name: String,
    /// The time of the values [time codes, which are frames]; `None` for values at all times.
    pub time: Option<f64>,
    /// What positions are written relative to [m], as the prim's translation.
    ///
    /// Positions have 24 bits: at 10 km from the origin that is a millimetre. A cache keeps *one* origin for all its frames, for
    /// a translation that changed would be seen as a motion of its own by whoever blurs it.
    pub origin: DVec3,
    /// With how many digits channels of 64 bits are written. Blender reads those of 32 only.
    pub precision: Precision,
    /// What the file says of itself. Lengths are in metres whatever it says.
    pub metadata: FileMetadata,
}

impl Default for Form {
    fn default() -> Self {
        Self {
            name: "Geometry".to_owned(),
            time: None,
            origin: DVec3::ZERO,
            precision: Precision::Single,
            metadata: FileMetadata::default(),
        }
    }
}

/// An origin for positions that lie far from zero for their extent [m]: whole metres near their middle; else zero.
pub fn origin_for(positions: &[DVec3]) -> DVec3 {
    let Some((low, high)) = bounds(positions.iter().copied()) else { return DVec3::ZERO };
    let middle = 0.5 * (low + high);
    // Where less than 16 of the 24 bits are left for differences.
    let is_far = middle.abs().max_element() > 256.0 * (high - low).max_element().max(1.0);
    if is_far { middle.round() } else { DVec3::ZERO }
}

/// A layer with one prim: a `Mesh` if there are faces, `BasisCurves` if there are curves, else `Points`.
///
/// It opens as it is, and with a time it also serves as a clip of a [`Stage`](crate::usd::stage::Stage).
pub fn layer(geometry: &Geometry, form: &Form) -> Result<Layer> {
    let name = identifier(&form.name);
    let mut fields = scene_fields(&name, &form.metadata);
    if let Some(time) = form.time {
        fields.insert("startTimeCode".to_owned(), Value::Double(time));
        fields.insert("endTimeCode".to_owned(), Value::Double(time));
    }
    let prim = prim(geometry, name, form)?;
    Ok(Layer { fields, prims: vec![prim], passed_over: Vec::new() })
}

/// What every file of ours says of units, axes and times, and of itself.
pub(in crate::usd) fn scene_fields(default_prim: &str, metadata: &FileMetadata) -> Fields {
    let fps = metadata.fps.unwrap_or(24.0);
    let mut data = Fields::new();
    for (name, datum) in metadata.entries() {
        // Scene description has its own fields for these.
        if !["fps", "metres_per_unit", "up_axis"].contains(&name) {
            let value = match datum {
                Datum::Text(text) => Value::String(text),
                Datum::Number(number) => Value::Double(number),
                Datum::Whole(whole) => Value::Int64(whole),
            };
            data.insert(name.to_owned(), value);
        }
    }
    [
        ("customLayerData", Value::Dictionary(data)),
        ("defaultPrim", Value::Token(default_prim.to_owned())),
        ("framesPerSecond", Value::Double(fps)),
        ("metersPerUnit", Value::Double(1.0)),
        ("timeCodesPerSecond", Value::Double(fps)),
        ("upAxis", Value::Token(metadata.up.word().to_owned())),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

/// The attributes that put a prim at an origin; none if it is at zero.
fn placing(origin: DVec3) -> Vec<Attribute> {
    if origin == DVec3::ZERO {
        return Vec::new();
    }
    let value = Value::DoubleVec(origin.to_array().to_vec());
    let order = Value::Array(Array::Token(vec!["xformOp:translate".to_owned()]));
    vec![constant("xformOp:translate", "double3", value), uniform("xformOpOrder", "token[]", order)]
}

fn prim(geometry: &Geometry, name: String, form: &Form) -> Result<Prim> {
    let Geometry { points, faces, curves } = geometry;
    let mut sheet = Sheet {
        attributes: Vec::new(),
        time: form.time,
        precision: form.precision,
        up: form.metadata.up,
        origin: form.origin,
        names: BTreeSet::new(),
    };
    let type_name = match (faces, curves) {
        (Some(_), Some(_)) => {
            return Err(IoError::Unwritable {
                what: format!("the prim `{name}`"),
                found: "it has faces and curves".to_owned(),
                wanted: "each as a prim of its own".to_owned(),
            });
        }
        (Some(faces), None) => {
            sheet.faces(faces)?;
            "Mesh"
        }
        (None, Some(curves)) => {
            sheet.curves(curves)?;
            "BasisCurves"
        }
        (None, None) => "Points",
    };
    sheet.points(points)?;
    let mut attributes = sheet.attributes;
    attributes.extend(placing(form.metadata.up.to_file(form.origin)));
    Ok(Prim { name, type_name: type_name.to_owned(), attributes, ..Prim::default() })
}

/// The attributes of a prim as they come together.
struct Sheet {
    attributes: Vec<Attribute>,
    time: Option<f64>,
    precision: Precision,
    up: UpAxis,
    /// What places are relative to [m].
    origin: DVec3,
    names: BTreeSet<String>,
}

impl Sheet {
    /// A value at the time of the sheet, or at all times.
    fn put(&mut self, name: &str, type_name: &str, value: Value, interpolation: Option<&str>) {
        let mut attribute = constant(name, type_name, value);
        if let Some(time) = self.time {
            attribute.samples.extend(attribute.default.take().map(|value| (time, value)));
        }
        if let Some(word) = interpolation {
            let word = Value::Token(word.to_owned());
            attribute.fields.insert("interpolation".to_owned(), word);
        }
        self.names.insert(name.to_owned());
        self.attributes.push(attribute);
    }

    fn points(&mut self, points: &Points) -> Result<()> {
        let (up, origin) = (self.up, self.origin);
        let local = || points.positions.iter().map(|&p| up.to_file(p - origin).as_vec3());
        self.put("points", "point3f[]", vectors(local()), None);
        self.channels(&points.channels, points.positions.len(), "vertex")?;

        // Points reach beyond their centres by half their width.
        let radius = points.channels.get("pscale").and_then(Values::numbers);
        let radius = radius.iter().flat_map(|values| values.iter().copied());
        let most = radius.filter(|radius| radius.is_finite()).fold(0.0, f64::max);
        let bounds = bounds(local().map(Vec3::as_dvec3));
        let (low, high) = bounds.map_or((DVec3::ZERO, DVec3::ZERO), |(low, high)| {
            (low - DVec3::splat(most), high + DVec3::splat(most))
        });
        let corners = [low.as_vec3(), high.as_vec3()];
        self.put("extent", "float3[]", vectors(corners.into_iter()), None);
        Ok(())
    }

    fn faces(&mut self, faces: &Faces) -> Result<()> {
        let polygons = &faces.polygons;
        let counts = polygons.faces().map(|face| whole(face.len())).collect::<Result<Vec<_>>>()?;
        let corners = polygons.corners().iter().map(|&corner| whole(corner as usize));
        let corners = corners.collect::<Result<Vec<_>>>()?;
        self.put("faceVertexCounts", "int[]", Value::Array(Array::Int(counts, 1)), None);
        self.put("faceVertexIndices", "int[]", Value::Array(Array::Int(corners, 1)), None);
        let scheme = Value::Token("none".to_owned());
        self.attributes.push(uniform("subdivisionScheme", "token", scheme));
        self.channels(&faces.channels, polygons.len(), "uniform")
    }

    fn curves(&mut self, curves: &Curves) -> Result<()> {
        let strands = &curves.strands;
        let closed = (0..strands.len()).filter(|&curve| strands.is_closed(curve)).count();
        if closed > 0 && closed < strands.len() {
            return Err(IoError::Unwritable {
                what: "the curves".to_owned(),
                found: format!("{closed} of {} are closed", strands.len()),
                wanted: "all of a prim, or none".to_owned(),
            });
        }
        let counts = (0..strands.len()).map(|curve| whole(strands.vertices(curve).len()));
        let counts = counts.collect::<Result<Vec<_>>>()?;
        self.put("curveVertexCounts", "int[]", Value::Array(Array::Int(counts, 1)), None);
        let wrap = if closed > 0 { "periodic" } else { "nonperiodic" };
        for (name, word) in [("type", "linear"), ("wrap", wrap)] {
            self.attributes.push(uniform(name, "token", Value::Token(word.to_owned())));
        }
        self.channels(&curves.channels, strands.len(), "uniform")
    }

    /// The type and value of a channel as a primvar. Vectors that turn with the world say so by their type, and so do places.
    fn primvar(&self, name: &str, values: &Values) -> (&'static str, Value) {
        let turned = |v: DVec3| match name {
            REST => self.up.to_file(v - self.origin),
            _ if has_direction(name) => self.up.to_file(v),
            _ => v,
        };
        let kinds = match name {
            REST => ["point3d[]", "point3f[]"],
            _ if has_direction(name) => ["vector3d[]", "vector3f[]"],
            _ => ["color3d[]", "color3f[]"],
        };
        let is_double = self.precision == Precision::Double;
        let (kind, array) = match numbers(values, self.precision) {
            Some(numbers) => numbers,
            None => {
                let vectors = values.vectors().unwrap_or_default();
                let turned = vectors.iter().map(|&v| turned(v));
                match is_double && matches!(values, Values::DVec3(_)) {
                    true => {
                        (kinds[0], Array::Double(turned.flat_map(|v| v.to_array()).collect(), 3))
                    }
                    false => {
                        let turned = turned.flat_map(|v| v.as_vec3().to_array());
                        (kinds[1], Array::Float(turned.collect(), 3))
                    }
                }
            }
        };
        (kind, Value::Array(array))
    }

    fn channels(&mut self, channels: &Channels, count: usize, interpolation: &str) -> Result<()> {
        for (name, values) in channels {
            let refused = |found: String, wanted: &str| IoError::Unwritable {
                what: format!("channel `{name}`"),
                found,
                wanted: wanted.to_owned(),
            };
            if values.len() != count {
                let found = format!("it has {} values for {count} elements", values.len());
                return Err(refused(found, "every element needs one"));
            }
            let primvar = format!("primvars:{}", identifier(name));
            let is_of_points = interpolation == "vertex";
            // What scene description has a name of its own for.
            match (name.as_str(), values) {
                ("v", _) if is_of_points && values.vectors().is_some() => {
                    let v = values.vectors().unwrap_or_default();
                    let value = vectors(v.iter().map(|&v| self.up.to_file(v).as_vec3()));
                    self.put("velocities", "vector3f[]", value, None);
                    continue;
                }
                ("N", _) if is_of_points && values.vectors().is_some() => {
                    let normals = values.vectors().unwrap_or_default();
                    let value = vectors(normals.iter().map(|&n| self.up.to_file(n).as_vec3()));
                    self.put("normals", "normal3f[]", value, Some(interpolation));
                    continue;
                }
                ("pscale", _) if values.numbers().is_some() && !self.names.contains("widths") => {
                    let radii = values.numbers().unwrap_or_default();
                    let widths = radii.iter().map(|radius| (2.0 * radius) as f32).collect();
                    let value = Value::Array(Array::Float(widths, 1));
                    self.put("widths", "float[]", value, Some(interpolation));
                    continue;
                }
                ("id", _) if is_of_points && values.ids().is_some() => {
                    let ids = values.ids().unwrap_or_default();
                    let wide: Result<Vec<i64>, _> =
                        ids.iter().map(|&id| i64::try_from(id)).collect();
                    let wide = wide.map_err(|_| {
                        let found = "an id needs all of 64 bits".to_owned();
                        refused(found, "ids up to 9223372036854775807")
                    })?;
                    self.put("ids", "int64[]", Value::Array(Array::Int64(wide)), None);
                }
                _ => {}
            }
            if self.names.contains(&primvar) {
                let found = format!("another channel is called `{primvar}` in the scene");
                return Err(refused(found, "give one of them another name"));
            }
            let (kind, value) = self.primvar(name, values);
            self.put(&primvar, kind, value, Some(interpolation));
        }
        Ok(())
    }
}

/// The type and value of numbers. Whole ones are `int` if they can be: all programs know that type.
fn numbers(values: &Values, precision: Precision) -> Option<(&'static str, Array)> {
    Some(match values {
        Values::F32(values) => ("float[]", Array::Float(values.clone(), 1)),
        Values::F64(values) if precision == Precision::Double => {
            ("double[]", Array::Double(values.clone(), 1))
        }
        Values::F64(values) => {
            ("float[]", Array::Float(values.iter().map(|&value| value as f32).collect(), 1))
        }
        Values::I32(values) => ("int[]", Array::Int(values.clone(), 1)),
        Values::U32(values) => match short(values) {
            Some(short) => ("int[]", Array::Int(short, 1)),
            None => ("uint[]", Array::UInt(values.clone())),
        },
        Values::U64(values) => match short(values) {
            Some(short) => ("int[]", Array::Int(short, 1)),
            None => match values.iter().map(|&value| i64::try_from(value).ok()).collect() {
                Some(wide) => ("int64[]", Array::Int64(wide)),
                None => ("uint64[]", Array::UInt64(values.clone())),
            },
        },
        Values::Vec3(_) | Values::DVec3(_) => return None,
    })
}

/// Whole numbers of 31 bits; `None` if one is larger.
fn short<T: Copy>(values: &[T]) -> Option<Vec<i32>>
where
    i32: TryFrom<T>,
{
    values.iter().map(|&value| i32::try_from(value).ok()).collect()
}

fn vectors(values: impl Iterator<Item = Vec3>) -> Value {
    Value::Array(Array::Float(values.flat_map(|value| value.to_array()).collect(), 3))
}

fn whole(number: usize) -> Result<i32> {
    i32::try_from(number).map_err(|_| IoError::Unwritable {
        what: "the mesh".to_owned(),
        found: format!("it has a number {number}"),
        wanted: "scene description counts to 2147483647".to_owned(),
    })
}

/// The corners of a box around all that is finite; `None` if nothing is.
fn bounds(positions: impl Iterator<Item = DVec3>) -> Option<(DVec3, DVec3)> {
    let mut finite = positions.filter(|position| position.is_finite());
    let first = finite.next()?;
    Some(finite.fold((first, first), |(low, high), p| (low.min(p), high.max(p))))
}

pub(in crate::usd) fn constant(name: &str, type_name: &str, value: Value) -> Attribute {
    Attribute {
        name: name.to_owned(),
        type_name: type_name.to_owned(),
        default: Some(value),
        ..Attribute::default()
    }
}

pub(in crate::usd) fn uniform(name: &str, type_name: &str, value: Value) -> Attribute {
    Attribute { uniform: true, ..constant(name, type_name, value) }
}
