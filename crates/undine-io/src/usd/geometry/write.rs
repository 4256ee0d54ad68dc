//! Tables to prims.

use super::identifier;
use crate::Geometry;
use crate::error::{IoError, Result};
use crate::table::{Channels, Curves, Faces, Points, Precision, Values};
use crate::usd::layer::{Array, Attribute, Fields, Layer, Prim, Value};
use std::collections::BTreeSet;
use undine_core::glam::{DVec3, Vec3};

/// Which axis points up in a scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Up {
    /// As in Undine itself.
    #[default]
    Y,
    /// As in Blender. Positions stay as they are, and the prim is turned by a quarter about X.
    Z,
}

/// How geometry is put down.
#[derive(Debug, Clone)]
pub struct Form {
    /// The name of the prim; [`identifier`] makes it one.
    pub name: String,
    /// The time of the values [time codes, which are frames]; `None` for values at all times.
    pub time: Option<f64>,
    /// Frames a second.
    pub fps: f64,
    /// Which axis points up.
    pub up: Up,
    /// What positions are written relative to [m], as the prim's translation.
    ///
    /// Positions have 24 bits: at 10 km from the origin that is a millimetre. A cache keeps *one* origin for all its frames, for
    /// a translation that changed would be seen as a motion of its own by whoever blurs it.
    pub origin: DVec3,
    /// With how many digits channels of 64 bits are written. Blender reads those of 32 only.
    pub precision: Precision,
    /// What else is to be said of the file: `customLayerData`.
    pub data: Fields,
}

impl Default for Form {
    fn default() -> Self {
        Self {
            name: "Geometry".to_owned(),
            time: None,
            fps: 24.0,
            up: Up::Y,
            origin: DVec3::ZERO,
            precision: Precision::Single,
            data: Fields::new(),
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
    let mut fields = scene_fields(&name, form.fps, form.up);
    if let Some(time) = form.time {
        fields.insert("startTimeCode".to_owned(), Value::Double(time));
        fields.insert("endTimeCode".to_owned(), Value::Double(time));
    }
    if !form.data.is_empty() {
        fields.insert("customLayerData".to_owned(), Value::Dictionary(form.data.clone()));
    }
    let prim = prim(geometry, name, form)?;
    Ok(Layer { fields, prims: vec![prim], passed_over: Vec::new() })
}

/// What every file of ours says of units, axes and times.
pub(in crate::usd) fn scene_fields(default_prim: &str, fps: f64, up: Up) -> Fields {
    let axis = if up == Up::Y { "Y" } else { "Z" };
    [
        ("defaultPrim", Value::Token(default_prim.to_owned())),
        ("framesPerSecond", Value::Double(fps)),
        ("metersPerUnit", Value::Double(1.0)),
        ("timeCodesPerSecond", Value::Double(fps)),
        ("upAxis", Value::Token(axis.to_owned())),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

/// The attributes that place a prim: its origin, and the turn that lets Y point to Z.
pub(in crate::usd) fn placing(origin: DVec3, up: Up) -> Vec<Attribute> {
    let mut attributes = Vec::new();
    // Operations stand from the outermost to the innermost.
    if up == Up::Z {
        attributes.push(constant("xformOp:rotateX", "float", Value::Float(90.0)));
    }
    if origin != DVec3::ZERO {
        let value = Value::DoubleVec(origin.to_array().to_vec());
        attributes.push(constant("xformOp:translate", "double3", value));
    }
    if !attributes.is_empty() {
        let names = attributes.iter().map(|attribute| attribute.name.clone()).collect();
        let order = Value::Array(Array::Token(names));
        attributes.push(uniform("xformOpOrder", "token[]", order));
    }
    attributes
}

fn prim(geometry: &Geometry, name: String, form: &Form) -> Result<Prim> {
    let Geometry { points, faces, curves } = geometry;
    let mut sheet = Sheet {
        attributes: Vec::new(),
        time: form.time,
        precision: form.precision,
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
    sheet.points(points, form.origin)?;
    let mut attributes = sheet.attributes;
    attributes.extend(placing(form.origin, form.up));
    Ok(Prim { name, type_name: type_name.to_owned(), attributes, ..Prim::default() })
}

/// The attributes of a prim as they come together.
struct Sheet {
    attributes: Vec<Attribute>,
    time: Option<f64>,
    precision: Precision,
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

    fn points(&mut self, points: &Points, origin: DVec3) -> Result<()> {
        let local = || points.positions.iter().map(|&position| (position - origin).as_vec3());
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
                    let value = vectors(v.iter().map(|v| v.as_vec3()));
                    self.put("velocities", "vector3f[]", value, None);
                    continue;
                }
                ("N", _) if is_of_points && values.vectors().is_some() => {
                    let normals = values.vectors().unwrap_or_default();
                    let value = vectors(normals.iter().map(|normal| normal.as_vec3()));
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
            let (kind, value) = primvar_of(values, self.precision);
            self.put(&primvar, kind, value, Some(interpolation));
        }
        Ok(())
    }
}

/// The type and value of a channel as a primvar. Whole numbers are `int` if they can be: all programs know that one.
fn primvar_of(values: &Values, precision: Precision) -> (&'static str, Value) {
    let is_double = precision == Precision::Double;
    let float3 = |values: Vec<f32>| ("float3[]", Array::Float(values, 3));
    let (kind, array) = match values {
        Values::F32(values) => ("float[]", Array::Float(values.clone(), 1)),
        Values::F64(values) if is_double => ("double[]", Array::Double(values.clone(), 1)),
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
        Values::Vec3(values) => float3(values.iter().flat_map(|v| v.to_array()).collect()),
        Values::DVec3(values) if is_double => {
            ("double3[]", Array::Double(values.iter().flat_map(|v| v.to_array()).collect(), 3))
        }
        Values::DVec3(values) => {
            float3(values.iter().flat_map(|v| v.as_vec3().to_array()).collect())
        }
    };
    (kind, Value::Array(array))
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
