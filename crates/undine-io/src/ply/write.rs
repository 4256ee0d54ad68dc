//! Writing: binary, the least significant byte first, or as text; the same bytes for the same tables.

use super::{ALPHA, COLOUR, HIGH_HALF, stem_of_channel};
use crate::Geometry;
use crate::error::{IoError, Result};
use crate::metadata::FileMetadata;
use crate::table::{Channels, Curves, Faces, Points, Precision, Values};
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::io::Write;

/// So many rows are put together before they are handed on.
const ROWS: usize = 4096;

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Style {
    /// With how many digits positions are.
    pub precision: Precision,
    /// As text, which people can read and which is several times as long.
    pub as_text: bool,
}

/// Writes points, and the faces between them if there are any.
pub fn write(
    out: &mut impl Write,
    points: &Points,
    faces: Option<&Faces>,
    precision: Precision,
) -> Result<()> {
    tables(out, points, faces, None, Style { precision, as_text: false }, &[])
}

/// Writes points, with faces or curves through them if there are any. Of curves, their edges are written.
pub fn write_geometry(
    out: &mut dyn Write,
    geometry: &Geometry,
    style: Style,
    metadata: &FileMetadata,
) -> Result<()> {
    let Geometry { points, faces, curves } = geometry;
    tables(out, points, faces.as_ref(), curves.as_ref(), style, &metadata.lines())
}

fn tables(
    out: &mut (impl Write + ?Sized),
    points: &Points,
    faces: Option<&Faces>,
    curves: Option<&Curves>,
    style: Style,
    comments: &[String],
) -> Result<()> {
    points.check_positions(style.precision)?;
    let count = points.positions.len();
    check(&points.channels, count, &["x", "y", "z"])?;
    let is_double = style.precision == Precision::Double;
    let position = if is_double { "double" } else { "float" };
    let format = if style.as_text { "ascii" } else { "binary_little_endian" };
    let mut header = format!("ply\nformat {format} 1.0\n");
    comments.iter().for_each(|comment| header += &format!("comment {comment}\n"));
    header += &format!("element vertex {count}\n");
    ["x", "y", "z"].iter().for_each(|axis| header += &format!("property {position} {axis}\n"));
    let columns = declare(&mut header, &points.channels);
    let mut face_columns = Vec::new();
    if let Some(faces) = faces {
        check(&faces.channels, faces.polygons.len(), &["vertex_indices"])?;
        header += &format!("element face {}\n", faces.polygons.len());
        header += "property list uint uint vertex_indices\n";
        face_columns = declare(&mut header, &faces.channels);
    }
    let edges = curves.map(Curves::edges).unwrap_or_default();
    if !edges.is_empty() {
        let count = edges.len();
        header += &format!("element edge {count}\nproperty uint vertex1\nproperty uint vertex2\n");
    }
    header += "end_header\n";
    out.write_all(header.as_bytes())?;

    rows(out, count, style, |row, line| {
        for coordinate in points.positions[row].to_array() {
            if is_double {
                line.f64(coordinate);
            } else {
                line.f32(coordinate as f32);
            }
        }
        columns.iter().for_each(|column| column.put(row, line));
    })?;
    if let Some(faces) = faces {
        rows(out, faces.polygons.len(), style, |row, line| {
            let corners = faces.polygons.face(row);
            line.u32(corners.len() as u32);
            corners.iter().for_each(|&corner| line.u32(corner));
            face_columns.iter().for_each(|column| column.put(row, line));
        })?;
    }
    rows(out, edges.len(), style, |row, line| edges[row].iter().for_each(|&end| line.u32(end)))
}

/// A row in the making.
struct Line {
    bytes: Vec<u8>,
    as_text: bool,
}

impl Line {
    fn put<const N: usize>(&mut self, value: impl Debug, bytes: [u8; N]) {
        if self.as_text {
            // A vector of bytes takes whatever is written to it.
            let _ = write!(self.bytes, "{value:?} ");
        } else {
            self.bytes.extend(bytes);
        }
    }

    fn f32(&mut self, value: f32) {
        self.put(value, value.to_le_bytes());
    }

    fn f64(&mut self, value: f64) {
        self.put(value, value.to_le_bytes());
    }

    fn u32(&mut self, value: u32) {
        self.put(value, value.to_le_bytes());
    }
}

fn rows(
    out: &mut (impl Write + ?Sized),
    count: usize,
    style: Style,
    put: impl Fn(usize, &mut Line),
) -> Result<()> {
    let mut line = Line { bytes: Vec::new(), as_text: style.as_text };
    for first in (0..count).step_by(ROWS) {
        line.bytes.clear();
        for row in first..count.min(first + ROWS) {
            put(row, &mut line);
            if let (true, Some(blank)) = (style.as_text, line.bytes.last_mut()) {
                *blank = b'\n';
            }
        }
        out.write_all(&line.bytes)?;
    }
    Ok(())
}

/// A channel as a file holds it.
enum Column<'a> {
    Plain(&'a Values),
    /// A colour or its opacity, from 0 to 255.
    Bytes(&'a Values),
}

impl Column<'_> {
    fn put(&self, row: usize, line: &mut Line) {
        match *self {
            Self::Plain(values) => match values {
                Values::F32(values) => line.f32(values[row]),
                Values::F64(values) => line.f64(values[row]),
                Values::I32(values) => line.put(values[row], values[row].to_le_bytes()),
                Values::U32(values) => line.u32(values[row]),
                Values::U64(values) => {
                    line.u32(values[row] as u32);
                    line.u32((values[row] >> 32) as u32);
                }
                Values::Vec3(values) => values[row].to_array().iter().for_each(|&c| line.f32(c)),
                Values::DVec3(values) => values[row].to_array().iter().for_each(|&c| line.f64(c)),
            },
            Self::Bytes(values) => {
                let mut byte = |share: f32| {
                    let byte = (share * 255.0).round() as u8;
                    line.put(byte, [byte]);
                };
                match values {
                    Values::F32(values) => byte(values[row]),
                    Values::Vec3(values) => values[row].to_array().into_iter().for_each(byte),
                    _ => {}
                }
            }
        }
    }
}

fn declare<'a>(header: &mut String, channels: &'a Channels) -> Vec<Column<'a>> {
    let mut columns = Vec::new();
    for (name, values) in channels {
        for (kind, property) in properties(name, values) {
            *header += &format!("property {kind} {property}\n");
        }
        let is_bytes = is_colour(name, values) && are_bytes(values);
        columns.push(if is_bytes { Column::Bytes(values) } else { Column::Plain(values) });
    }
    columns
}

/// The properties of a channel: type and name.
fn properties(name: &str, values: &Values) -> Vec<(&'static str, String)> {
    let vector =
        |kind| ["x", "y", "z"].map(|end| (kind, format!("{}{end}", stem_of_channel(name)))).into();
    if is_colour(name, values) {
        let kind = if are_bytes(values) { "uchar" } else { "float" };
        let names = if name == "Cd" { &COLOUR[..] } else { &[ALPHA] };
        return names.iter().map(|&name| (kind, name.to_owned())).collect();
    }
    match values {
        Values::F32(_) => vec![("float", name.to_owned())],
        Values::F64(_) => vec![("double", name.to_owned())],
        Values::I32(_) => vec![("int", name.to_owned())],
        Values::U32(_) => vec![("uint", name.to_owned())],
        Values::U64(_) => {
            vec![("uint", name.to_owned()), ("uint", format!("{name}{HIGH_HALF}"))]
        }
        Values::Vec3(_) => vector("float"),
        Values::DVec3(_) => vector("double"),
    }
}

fn is_colour(name: &str, values: &Values) -> bool {
    matches!((name, values), ("Cd", Values::Vec3(_)) | ("Alpha", Values::F32(_)))
}

/// Whether all components are 255ths, as which every program reads colours. Others are written as they are: nothing is lost.
fn are_bytes(values: &Values) -> bool {
    let is_byte = |share: f32| {
        (0..=255).contains(&((share * 255.0).round() as i32)) && {
            let byte = (share * 255.0).round();
            (byte / 255.0).to_bits() == share.to_bits()
        }
    };
    match values {
        Values::F32(values) => values.iter().all(|&share| is_byte(share)),
        Values::Vec3(values) => values.iter().all(|c| c.to_array().into_iter().all(is_byte)),
        _ => false,
    }
}

/// Refuses channels that a file could not give back.
fn check(channels: &Channels, count: usize, taken: &[&str]) -> Result<()> {
    let mut names: BTreeSet<String> = taken.iter().map(|&name| name.to_owned()).collect();
    for (name, values) in channels {
        let refused = |found: String, wanted: &str| IoError::Unwritable {
            what: format!("channel `{name}`"),
            found,
            wanted: wanted.to_owned(),
        };
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_graphic()) {
            let found = "its name is empty, or has other characters than letters and digits";
            return Err(refused(found.to_owned(), "a name in a PLY file is one word of ASCII"));
        }
        if values.len() != count {
            let found = format!("it has {} values for {count} elements", values.len());
            return Err(refused(found, "every element needs one"));
        }
        for (_, property) in properties(name, values) {
            if !names.insert(property.clone()) {
                let found = format!("another channel is called `{property}` in a PLY file");
                return Err(refused(found, "give one of them another name"));
            }
        }
    }
    Ok(())
}
