//! Writing: the same text for the same tables, with as many digits as give every number back.

use crate::Geometry;
use crate::error::Result;
use crate::metadata::FileMetadata;
use crate::table::{Precision, Values};
use std::fmt::Write as _;
use std::io::Write;
use undine_core::glam::DVec3;

/// So many rows are put together before they are handed on.
const ROWS: usize = 4096;

/// Writes points, with faces or curves through them if there are any; the channels `N` and `Cd` are written, others have no place.
pub fn write(
    out: &mut dyn Write,
    geometry: &Geometry,
    precision: Precision,
    metadata: &FileMetadata,
) -> Result<()> {
    let Geometry { points, faces, curves } = geometry;
    points.check_positions(precision)?;
    let count = points.positions.len();
    let channel = |name: &str| {
        let values = points.channels.get(name).and_then(Values::vectors);
        values.filter(|values| values.len() == count && values.iter().all(|v| v.is_finite()))
    };
    for comment in metadata.lines() {
        writeln!(out, "# {comment}")?;
    }
    let colours = channel("Cd");
    rows(out, count, |row, text| {
        let position = points.positions[row];
        *text += "v";
        match precision {
            Precision::Double => put(text, position),
            Precision::Single => put_single(text, position),
        }
        if let Some(colours) = &colours {
            put_single(text, colours[row]);
        }
        *text += "\n";
    })?;
    if let Some(faces) = faces.as_ref().filter(|faces| !faces.polygons.is_empty()) {
        let normals = channel("N");
        if let Some(normals) = &normals {
            rows(out, count, |row, text| {
                *text += "vn";
                put_single(text, normals[row]);
                *text += "\n";
            })?;
        }
        return rows(out, faces.polygons.len(), |row, text| {
            *text += "f";
            for &corner in faces.polygons.face(row) {
                let vertex = u64::from(corner) + 1;
                // A `String` takes whatever is written to it.
                let _ = match normals {
                    Some(_) => write!(text, " {vertex}//{vertex}"),
                    None => write!(text, " {vertex}"),
                };
            }
            *text += "\n";
        });
    }
    if let Some(curves) = curves {
        return rows(out, curves.strands.len(), |row, text| {
            let vertices = curves.strands.vertices(row);
            // A line has two vertices at least.
            if vertices.len() < 2 {
                return;
            }
            *text += "l";
            let comes_back = vertices.len() > 2 && curves.strands.is_closed(row);
            let back = comes_back.then_some(vertices.start);
            for vertex in vertices.chain(back) {
                let _ = write!(text, " {}", vertex + 1);
            }
            *text += "\n";
        });
    }
    rows(out, count, |row, text| {
        let _ = writeln!(text, "p {}", row + 1);
    })
}

fn rows(out: &mut dyn Write, count: usize, put: impl Fn(usize, &mut String)) -> Result<()> {
    let mut text = String::new();
    for first in (0..count).step_by(ROWS) {
        text.clear();
        (first..count.min(first + ROWS)).for_each(|row| put(row, &mut text));
        out.write_all(text.as_bytes())?;
    }
    Ok(())
}

fn put(text: &mut String, vector: DVec3) {
    let _ = write!(text, " {:?} {:?} {:?}", vector.x, vector.y, vector.z);
}

fn put_single(text: &mut String, vector: DVec3) {
    let vector = vector.as_vec3();
    let _ = write!(text, " {:?} {:?} {:?}", vector.x, vector.y, vector.z);
}
