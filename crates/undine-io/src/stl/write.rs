//! Writing: polygons as triangles, each with its normal, binary or as text.

use super::{HEAD, TRIANGLE};
use crate::error::{IoError, Result};
use crate::metadata::FileMetadata;
use crate::table::{Faces, Points, Precision};
use crate::triangles::triangles;
use std::io::Write;
use undine_core::glam::Vec3;

/// So many triangles are put together before they are handed on.
const GATHERED: usize = 4096;

/// How long the first line of a text may become [bytes].
const LONGEST_LINE: usize = 400;

/// Writes the triangles of faces. A text is for people to read, and several times as long.
pub fn write(
    out: &mut dyn Write,
    points: &Points,
    faces: &Faces,
    as_text: bool,
    metadata: &FileMetadata,
) -> Result<()> {
    points.check_positions(Precision::Single)?;
    let triangles = triangles(points, faces)?;
    let places = |triangle: &[u32; 3]| triangle.map(|v| points.positions[v as usize].as_vec3());
    if as_text {
        writeln!(out, "solid undine; {}", metadata.line(LONGEST_LINE))?;
        for triangle in &triangles {
            let [a, b, c] = places(triangle);
            writeln!(out, "facet normal {}\nouter loop", words(normal([a, b, c])))?;
            for corner in [a, b, c] {
                writeln!(out, "vertex {}", words(corner))?;
            }
            writeln!(out, "endloop\nendfacet")?;
        }
        writeln!(out, "endsolid undine")?;
        return Ok(());
    }
    let count = u32::try_from(triangles.len()).map_err(|_| IoError::Unwritable {
        what: "a mesh".to_owned(),
        found: format!("it has {} triangles", triangles.len()),
        wanted: format!("an STL file has at most {}", u32::MAX),
    })?;
    // It begins with a unit, never with `solid`, as a text does.
    let mut bytes = metadata.header::<{ HEAD - 4 }>().to_vec();
    bytes.extend(count.to_le_bytes());
    for some in triangles.chunks(GATHERED) {
        bytes.reserve(GATHERED * TRIANGLE);
        for triangle in some {
            let [a, b, c] = places(triangle);
            for vector in [normal([a, b, c]), a, b, c] {
                vector.to_array().iter().for_each(|number| bytes.extend(number.to_le_bytes()));
            }
            bytes.extend([0; 2]);
        }
        out.write_all(&bytes)?;
        bytes.clear();
    }
    Ok(out.write_all(&bytes)?)
}

/// The normal of a triangle; 0 if it has no area. In double precision, where squares of lengths do not run over.
fn normal([a, b, c]: [Vec3; 3]) -> Vec3 {
    let [a, b, c] = [a, b, c].map(|place| place.as_dvec3());
    (b - a).cross(c - a).normalize_or_zero().as_vec3()
}

fn words(vector: Vec3) -> String {
    format!("{:?} {:?} {:?}", vector.x, vector.y, vector.z)
}
