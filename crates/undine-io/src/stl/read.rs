//! Triangles with a place for each corner, into faces between vertices.

use super::{HEAD, TRIANGLE};
use crate::Geometry;
use crate::error::{IoError, Place, Result};
use crate::table::{Channels, Faces, Points};
use std::collections::HashMap;
use std::path::Path;
use undine_core::glam::DVec3;
use undine_core::mesh::Polygons;

/// Reads an STL file from its bytes. `file` is what errors call it.
pub fn parse(bytes: &[u8], file: &Path) -> Result<Geometry> {
    let mut mesh =
        Welded { file, places: HashMap::new(), positions: Vec::new(), triangles: Vec::new() };
    // Binary files may begin with `solid`, too: only their length tells them from texts for certain.
    let count =
        bytes.get(HEAD - 4..HEAD).and_then(<[u8]>::first_chunk).map(|&n| u32::from_le_bytes(n));
    let length = count.map(|count| HEAD as u64 + u64::from(count) * TRIANGLE as u64);
    let says_solid =
        bytes.trim_ascii_start().get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"solid"));
    match (count, length) {
        (Some(count), Some(length)) if length == bytes.len() as u64 || !says_solid => {
            if length > bytes.len() as u64 {
                let found = format!(
                    "{count} triangles take {length} bytes, but the file has {}",
                    bytes.len()
                );
                return Err(mesh.refused(
                    Place::Byte(80),
                    found,
                    "it is cut off, or is no STL file",
                ));
            }
            mesh.binary(&bytes[HEAD..length as usize])?;
        }
        _ if says_solid => mesh.text(bytes)?,
        _ => {
            let found =
                format!("the file has {} bytes and does not begin with `solid`", bytes.len());
            let wanted = "a text does, and a binary file has 84 bytes before its triangles";
            return Err(mesh.refused(Place::Byte(0), found, wanted));
        }
    }
    mesh.finished()
}

/// A mesh in the making.
struct Welded<'a> {
    file: &'a Path,
    /// The vertex at each place. Only looked up in, never walked through.
    places: HashMap<[u64; 3], u32>,
    positions: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
}

impl Welded<'_> {
    fn binary(&mut self, bytes: &[u8]) -> Result<()> {
        for (n, triangle) in bytes.as_chunks::<TRIANGLE>().0.iter().enumerate() {
            let mut corners = [0; 3];
            for (c, corner) in corners.iter_mut().enumerate() {
                let number = |axis: usize| {
                    let at = 12 + 12 * c + 4 * axis;
                    let bytes = triangle[at..].first_chunk().copied().unwrap_or_default();
                    f64::from(f32::from_le_bytes(bytes))
                };
                let at = Place::Byte((HEAD + n * TRIANGLE + 12 + 12 * c) as u64);
                *corner = self.vertex(DVec3::new(number(0), number(1), number(2)), at)?;
            }
            self.triangles.push(corners);
        }
        Ok(())
    }

    fn text(&mut self, bytes: &[u8]) -> Result<()> {
        let mut corners: Vec<u32> = Vec::with_capacity(3);
        let mut in_loop = false;
        for (line, text) in (1..).zip(bytes.split(|&byte| byte == b'\n')) {
            let place = Place::Line(line);
            let text = String::from_utf8_lossy(text).to_ascii_lowercase();
            let words: Vec<&str> = text.split_ascii_whitespace().take(5).collect();
            match words[..] {
                []
                | ["solid" | "endsolid" | "color", ..]
                | ["facet", "normal", ..]
                | ["endfacet"]
                    if !in_loop => {}
                ["outer", "loop"] if !in_loop => in_loop = true,
                ["vertex", ref axes @ ..] if in_loop => {
                    let axis = |n: usize| axes.get(n).and_then(|word| word.parse::<f64>().ok());
                    let (3, Some(x), Some(y), Some(z)) = (axes.len(), axis(0), axis(1), axis(2))
                    else {
                        let found = format!("`{}` is no vertex", text.trim());
                        return Err(self.refused(place, found, "expected `vertex x y z`"));
                    };
                    corners.push(self.vertex(DVec3::new(x, y, z), place)?);
                    if corners.len() > 3 {
                        return Err(self.refused(
                            place,
                            "a facet has a fourth vertex".into(),
                            "three",
                        ));
                    }
                }
                ["endloop"] if in_loop => {
                    let Ok(triangle) = <[u32; 3]>::try_from(&corners[..]) else {
                        let found = format!("a facet has {} vertices", corners.len());
                        return Err(self.refused(place, found, "three"));
                    };
                    self.triangles.push(triangle);
                    corners.clear();
                    in_loop = false;
                }
                _ => {
                    let found = format!("`{}` does not belong here", shortened(text.trim()));
                    let wanted = if in_loop {
                        "within a loop stand three lines `vertex x y z`, then `endloop`"
                    } else {
                        "expected `facet normal x y z`, `outer loop`, `endfacet` or `endsolid`"
                    };
                    return Err(self.refused(place, found, wanted));
                }
            }
        }
        let lines = bytes.split(|&byte| byte == b'\n').count() as u64;
        let last = bytes.trim_ascii_end().split(|&byte| byte == b'\n').next_back();
        let ends = last.is_some_and(|line| {
            line.trim_ascii().get(..8).is_some_and(|word| word.eq_ignore_ascii_case(b"endsolid"))
        });
        if in_loop || !ends {
            let found = "the text does not end with `endsolid`".to_owned();
            return Err(self.refused(Place::Line(lines), found, "it is cut off"));
        }
        Ok(())
    }

    /// The vertex at a place.
    fn vertex(&mut self, at: DVec3, place: Place) -> Result<u32> {
        if !at.is_finite() {
            let found = format!("a vertex is at {} {} {}", at.x, at.y, at.z);
            return Err(self.refused(place, found, "every coordinate must be a finite number"));
        }
        // −0 and 0 are one place.
        let bits = at.to_array().map(|c| (c + 0.0).to_bits());
        let next = self.positions.len() as u32;
        let vertex = *self.places.entry(bits).or_insert(next);
        if vertex == next {
            self.positions.push(at + DVec3::ZERO);
        }
        Ok(vertex)
    }

    fn finished(self) -> Result<Geometry> {
        let polygons = Polygons::triangles(self.triangles).map_err(|fault| IoError::Malformed {
            file: self.file.into(),
            place: Place::Byte(0),
            found: fault.to_string(),
            wanted: "fewer triangles".to_owned(),
        })?;
        Ok(Geometry {
            points: Points { positions: self.positions, channels: Channels::new() },
            faces: Some(Faces { polygons, channels: Channels::new() }),
            curves: None,
        })
    }

    fn refused(&self, place: Place, found: String, wanted: &str) -> IoError {
        IoError::Malformed { file: self.file.into(), place, found, wanted: wanted.to_owned() }
    }
}

/// The beginning of a line, for a message.
fn shortened(text: &str) -> String {
    text.chars().take(60).collect()
}
