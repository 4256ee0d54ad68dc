//! glTF 2.0 in one binary file (`.glb`), for the browser and everyone else; written only.
//!
//! A mesh is triangles, curves are lines, and points without either are points. Positions are metres, Y up, as glTF has them. The
//! channel `N` is `NORMAL` and `Cd` is `COLOR_0`. Every other channel of points has attributes of its own, each one number of single
//! precision: an underscore and its name in capitals, and for vectors the axis, `_PSCALE`, `_VX _VY _VZ`. Vectors are not kept
//! together because Blender 4.2 opens no file whose attributes have different widths, or only by chance. Attributes may not be whole
//! numbers of 32 bits (specification, §3.7.2.1): those up to 2²⁴ are exact as they are, and if a channel has greater ones, the bits
//! from the 24th and from the 48th on follow as `_ID_24` and `_ID_48`.
//!
//! Written with `serde_json` alone: what `gltf-json` adds is types for a model that is far larger than this.

use crate::Geometry;
use crate::error::{IoError, Result};
use crate::metadata::FileMetadata;
use crate::table::{Curves, Points, Precision, Values};
use crate::triangles::triangles;
use serde_json::{Map, Value, json};
use std::io::Write;
use undine_core::glam::{DVec3, Vec3};

const FLOAT: u32 = 5126;
const UNSIGNED_INT: u32 = 5125;
const ARRAY_BUFFER: u32 = 34962;
const ELEMENT_ARRAY_BUFFER: u32 = 34963;
const POINTS: u32 = 0;
const LINES: u32 = 1;
const TRIANGLES: u32 = 4;

/// Writes points, with the faces and curves between them. `name` is what the mesh and its node are called.
pub fn write(
    out: &mut dyn Write,
    name: &str,
    geometry: &Geometry,
    metadata: &FileMetadata,
) -> Result<()> {
    let mut file = Content::default();
    let primitives = file.primitives(geometry)?;
    let mut node = json!({ "name": name });
    let mut root = json!({
        "asset": {
            "version": "2.0",
            "generator": metadata.creator,
            "extras": metadata.to_json(),
        },
        "scene": 0,
        "scenes": [{ "nodes": [0] }],
    });
    // Every list of a glTF file has an entry at least: what is empty is left out.
    if !primitives.is_empty() {
        node["mesh"] = json!(0);
        root["meshes"] = json!([{ "name": name, "primitives": primitives }]);
        root["accessors"] = Value::Array(file.accessors);
        root["bufferViews"] = Value::Array(file.views);
        root["buffers"] = json!([{ "byteLength": file.bytes.len() }]);
    }
    root["nodes"] = json!([node]);
    chunks(out, root.to_string().into_bytes(), file.bytes)
}

/// The two chunks of a file and what stands before them (specification, §4.4).
fn chunks(out: &mut dyn Write, mut json: Vec<u8>, mut binary: Vec<u8>) -> Result<()> {
    json.resize(json.len().next_multiple_of(4), b' ');
    binary.resize(binary.len().next_multiple_of(4), 0);
    let binary_chunk = if binary.is_empty() { 0 } else { 8 + binary.len() };
    let length = u32::try_from(12 + 8 + json.len() + binary_chunk).map_err(|_| {
        let found = format!("it takes {} bytes", 20 + json.len() + binary_chunk);
        unwritable("a glTF file", found, "a .glb file has at most 4294967295")
    })?;
    let word = |number: u32| number.to_le_bytes();
    out.write_all(&[*b"glTF", word(2), word(length)].concat())?;
    out.write_all(&[word(json.len() as u32), *b"JSON"].concat())?;
    out.write_all(&json)?;
    if !binary.is_empty() {
        out.write_all(&[word(binary.len() as u32), *b"BIN\0"].concat())?;
        out.write_all(&binary)?;
    }
    Ok(())
}

/// The binary chunk in the making, and what the JSON says of it.
#[derive(Default)]
struct Content {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Content {
    fn primitives(&mut self, geometry: &Geometry) -> Result<Vec<Value>> {
        let Geometry { points, faces, curves } = geometry;
        if points.positions.is_empty() {
            return Ok(Vec::new());
        }
        // The greatest number would begin a new strip (specification, §3.7.2.1).
        if points.positions.len() > u32::MAX as usize {
            let found = format!("there are {}", points.positions.len());
            return Err(unwritable("the points", found, "at most 4294967295"));
        }
        let attributes = self.attributes(points)?;
        let mut primitives = Vec::new();
        let mut add = |mode: u32, indices: Option<usize>| {
            let mut primitive = json!({ "attributes": &attributes, "mode": mode });
            if let Some(indices) = indices {
                primitive["indices"] = json!(indices);
            }
            primitives.push(primitive);
        };
        if let Some(faces) = faces.as_ref().filter(|faces| !faces.polygons.is_empty()) {
            let triangles = triangles(points, faces)?;
            add(TRIANGLES, Some(self.indices(triangles.as_flattened())));
        }
        let edges = curves.as_ref().map(Curves::edges).unwrap_or_default();
        if !edges.is_empty() {
            add(LINES, Some(self.indices(edges.as_flattened())));
        }
        if primitives.is_empty() {
            primitives.push(json!({ "attributes": attributes, "mode": POINTS }));
        }
        Ok(primitives)
    }

    /// The accessor of each attribute, by its name.
    fn attributes(&mut self, points: &Points) -> Result<Map<String, Value>> {
        points.check_positions(Precision::Single)?;
        let positions: Vec<Vec3> = points.positions.iter().map(|place| place.as_vec3()).collect();
        let least = positions.iter().copied().fold(Vec3::INFINITY, Vec3::min);
        let most = positions.iter().copied().fold(Vec3::NEG_INFINITY, Vec3::max);
        let mut attributes = Map::new();
        let position = self.vectors(&positions);
        self.accessors[position]["min"] = json!(least.to_array());
        self.accessors[position]["max"] = json!(most.to_array());
        attributes.insert("POSITION".to_owned(), json!(position));
        for (name, values) in &points.channels {
            if values.len() != positions.len() {
                let found =
                    format!("it has {} values for {} points", values.len(), positions.len());
                return Err(unwritable(
                    &format!("channel `{name}`"),
                    found,
                    "every point needs one",
                ));
            }
            for (attribute, accessor) in self.channel(name, values)? {
                if attributes.insert(attribute.clone(), json!(accessor)).is_some() {
                    let found = format!("another channel is called `{attribute}` in a glTF file");
                    let what = format!("channel `{name}`");
                    return Err(unwritable(&what, found, "give one of them another name"));
                }
            }
        }
        Ok(attributes)
    }

    /// The attributes of a channel: name and accessor.
    fn channel(&mut self, name: &str, values: &Values) -> Result<Vec<(String, usize)>> {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
        let attribute: String = ['_'].into_iter().chain(name.chars().map(plain)).collect();
        if let Some(vectors) = values.vectors() {
            if name == "N"
                && let Some(normals) = unit_vectors(&vectors)
            {
                return Ok(vec![("NORMAL".to_owned(), self.vectors(&normals))]);
            }
            let vectors: Vec<Vec3> = vectors.iter().map(|vector| vector.as_vec3()).collect();
            refuse_not_finite(name, vectors.iter().position(|vector| !vector.is_finite()))?;
            let is_colour = |c: &Vec3| c.cmpge(Vec3::ZERO).all() && c.cmple(Vec3::ONE).all();
            if name == "Cd" && vectors.iter().all(is_colour) {
                return Ok(vec![("COLOR_0".to_owned(), self.vectors(&vectors))]);
            }
            let axis = |(axis, end): (usize, &str)| {
                (format!("{attribute}{end}"), self.numbers(vectors.iter().map(|v| v[axis])))
            };
            return Ok(["X", "Y", "Z"].into_iter().enumerate().map(axis).collect());
        }
        Ok(match values {
            Values::U64(whole) => {
                self.whole(attribute, whole.iter().map(|&n| (n as i64, (n >> 48) as f32)))
            }
            Values::U32(whole) => self.whole(attribute, whole.iter().map(|&n| (n.into(), 0.0))),
            Values::I32(whole) => self.whole(attribute, whole.iter().map(|&n| (n.into(), 0.0))),
            _ => {
                let numbers = values.numbers().unwrap_or_default();
                let bad = numbers.iter().position(|&number| !(number as f32).is_finite());
                refuse_not_finite(name, bad)?;
                vec![(attribute, self.numbers(numbers.iter().map(|&number| number as f32)))]
            }
        })
    }

    /// Whole numbers: as they are, or the bits up to the 24th, to the 48th (of signed ones with their sign), and the rest.
    fn whole(
        &mut self,
        attribute: String,
        whole: impl Iterator<Item = (i64, f32)> + Clone,
    ) -> Vec<(String, usize)> {
        const PART: i64 = 1 << 24;
        if whole.clone().all(|(n, rest)| (-PART..=PART).contains(&n) && rest == 0.0) {
            return vec![(attribute, self.numbers(whole.map(|(n, _)| n as f32)))];
        }
        let least = self.numbers(whole.clone().map(|(n, _)| n.rem_euclid(PART) as f32));
        let middle = self.numbers(whole.clone().map(|(n, rest)| match n.div_euclid(PART) {
            // Of a number of 64 bits, the rest is said apart.
            part if rest != 0.0 => part.rem_euclid(PART) as f32,
            part => part as f32,
        }));
        let middle_name = format!("{attribute}_24");
        let mut parts = vec![(attribute.clone(), least), (middle_name, middle)];
        if whole.clone().any(|(_, rest)| rest != 0.0) {
            parts.push((format!("{attribute}_48"), self.numbers(whole.map(|(_, rest)| rest))));
        }
        parts
    }

    fn numbers(&mut self, numbers: impl Iterator<Item = f32>) -> usize {
        let numbers: Vec<f32> = numbers.collect();
        self.accessor(bytemuck::cast_slice(&numbers), numbers.len(), "SCALAR", FLOAT, ARRAY_BUFFER)
    }

    fn vectors(&mut self, vectors: &[Vec3]) -> usize {
        self.accessor(bytemuck::cast_slice(vectors), vectors.len(), "VEC3", FLOAT, ARRAY_BUFFER)
    }

    fn indices(&mut self, indices: &[u32]) -> usize {
        let bytes = bytemuck::cast_slice(indices);
        self.accessor(bytes, indices.len(), "SCALAR", UNSIGNED_INT, ELEMENT_ARRAY_BUFFER)
    }

    /// Appends values, whose size is a multiple of four bytes, as glTF wants them to begin at such.
    fn accessor(
        &mut self,
        bytes: &[u8],
        count: usize,
        kind: &str,
        component: u32,
        target: u32,
    ) -> usize {
        self.views.push(json!({
            "buffer": 0,
            "byteOffset": self.bytes.len(),
            "byteLength": bytes.len(),
            "target": target,
        }));
        self.bytes.extend_from_slice(bytes);
        self.accessors.push(json!({
            "bufferView": self.views.len() - 1,
            "componentType": component,
            "count": count,
            "type": kind,
        }));
        self.accessors.len() - 1
    }
}

/// Normals of length 1; `None` if one has no direction.
fn unit_vectors(vectors: &[DVec3]) -> Option<Vec<Vec3>> {
    vectors.iter().map(|vector| Some(vector.try_normalize()?.as_vec3())).collect()
}

fn refuse_not_finite(name: &str, bad: Option<usize>) -> Result<()> {
    let Some(bad) = bad else { return Ok(()) };
    let found = format!("the value of point {bad} is no finite number of single precision");
    Err(unwritable(&format!("channel `{name}`"), found, "glTF has no other"))
}

fn unwritable(what: &str, found: String, wanted: &str) -> IoError {
    IoError::Unwritable { what: what.to_owned(), found, wanted: wanted.to_owned() }
}
