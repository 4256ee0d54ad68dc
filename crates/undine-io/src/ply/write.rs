//! Writing: binary, the least significant byte first, the same bytes for the same tables.

use super::{HIGH_HALF, stem_of_channel};
use crate::error::{IoError, Result};
use crate::table::{Channels, Faces, Points, Values};
use std::collections::BTreeSet;
use std::io::Write;

/// With how many digits positions are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Precision {
    /// `float`: what most programs read fastest.
    #[default]
    Single,
    /// `double`: exactly.
    Double,
}

/// So many rows are put together before they are handed on.
const ROWS: usize = 4096;

/// Writes points, and the faces between them if there are any.
pub fn write(
    out: &mut impl Write,
    points: &Points,
    faces: Option<&Faces>,
    precision: Precision,
) -> Result<()> {
    let count = points.positions.len();
    check(&points.channels, count, &["x", "y", "z"])?;
    let position = if precision == Precision::Double { "double" } else { "float" };
    let mut header = format!(
        "ply\nformat binary_little_endian 1.0\nelement vertex {count}\nproperty {position} x\nproperty {position} y\nproperty {position} z\n"
    );
    declare(&mut header, &points.channels);
    if let Some(faces) = faces {
        check(&faces.channels, faces.polygons.len(), &["vertex_indices"])?;
        header += &format!("element face {}\n", faces.polygons.len());
        header += "property list uint uint vertex_indices\n";
        declare(&mut header, &faces.channels);
    }
    header += "end_header\n";
    out.write_all(header.as_bytes())?;

    rows(out, count, |row, bytes| {
        let [x, y, z] = points.positions[row].to_array();
        match precision {
            Precision::Single => {
                [x, y, z].iter().for_each(|&c| bytes.extend((c as f32).to_le_bytes()));
            }
            Precision::Double => [x, y, z].iter().for_each(|c| bytes.extend(c.to_le_bytes())),
        }
        points.channels.values().for_each(|values| put(values, row, bytes));
    })?;
    let Some(faces) = faces else { return Ok(()) };
    rows(out, faces.polygons.len(), |row, bytes| {
        let corners = faces.polygons.face(row);
        bytes.extend((corners.len() as u32).to_le_bytes());
        corners.iter().for_each(|corner| bytes.extend(corner.to_le_bytes()));
        faces.channels.values().for_each(|values| put(values, row, bytes));
    })
}

fn rows(out: &mut impl Write, count: usize, put: impl Fn(usize, &mut Vec<u8>)) -> Result<()> {
    let mut bytes = Vec::new();
    for first in (0..count).step_by(ROWS) {
        bytes.clear();
        (first..count.min(first + ROWS)).for_each(|row| put(row, &mut bytes));
        out.write_all(&bytes)?;
    }
    Ok(())
}

fn put(values: &Values, row: usize, bytes: &mut Vec<u8>) {
    match values {
        Values::F32(values) => bytes.extend(values[row].to_le_bytes()),
        Values::F64(values) => bytes.extend(values[row].to_le_bytes()),
        Values::I32(values) => bytes.extend(values[row].to_le_bytes()),
        Values::U32(values) => bytes.extend(values[row].to_le_bytes()),
        // Both halves of it, one after the other.
        Values::U64(values) => bytes.extend(values[row].to_le_bytes()),
        Values::Vec3(values) => {
            values[row].to_array().iter().for_each(|c| bytes.extend(c.to_le_bytes()));
        }
        Values::DVec3(values) => {
            values[row].to_array().iter().for_each(|c| bytes.extend(c.to_le_bytes()));
        }
    }
}

fn declare(header: &mut String, channels: &Channels) {
    for (name, values) in channels {
        for (kind, property) in properties(name, values) {
            *header += &format!("property {kind} {property}\n");
        }
    }
}

/// The properties of a channel: type and name.
fn properties(name: &str, values: &Values) -> Vec<(&'static str, String)> {
    let vector =
        |kind| ["x", "y", "z"].map(|end| (kind, format!("{}{end}", stem_of_channel(name))));
    match values {
        Values::F32(_) => vec![("float", name.to_owned())],
        Values::F64(_) => vec![("double", name.to_owned())],
        Values::I32(_) => vec![("int", name.to_owned())],
        Values::U32(_) => vec![("uint", name.to_owned())],
        Values::U64(_) => {
            vec![("uint", name.to_owned()), ("uint", format!("{name}{HIGH_HALF}"))]
        }
        Values::Vec3(_) => vector("float").into(),
        Values::DVec3(_) => vector("double").into(),
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
