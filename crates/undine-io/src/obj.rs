//! OBJ, Wavefront's text: vertices `v` and faces `f`. Texture places, normals, groups and materials are passed over.

use crate::Geometry;
use crate::error::{IoError, Place, Result};
use crate::table::{Channels, Faces, Points};
use std::path::Path;
use undine_core::glam::DVec3;
use undine_core::mesh::Polygons;

/// Reads an OBJ file from its bytes. `file` is what errors call it.
pub fn parse(bytes: &[u8], file: &Path) -> Result<Geometry> {
    let mut positions = Vec::new();
    let (mut counts, mut corners) = (Vec::new(), Vec::new());
    for (line, text) in (1..).zip(bytes.split(|&byte| byte == b'\n')) {
        let refused = |found: String, wanted: &str| IoError::Malformed {
            file: file.into(),
            place: Place::Line(line),
            found,
            wanted: wanted.to_owned(),
        };
        let text = String::from_utf8_lossy(text);
        let mut words = text.split_ascii_whitespace();
        match words.next() {
            Some("v") => {
                let mut axis = || {
                    let word = words.next().unwrap_or("nothing");
                    let number = word.parse::<f64>().ok().filter(|number| number.is_finite());
                    number.ok_or_else(|| {
                        refused(format!("`{word}` is no coordinate"), "expected `v x y z`")
                    })
                };
                positions.push(DVec3::new(axis()?, axis()?, axis()?));
            }
            Some("f") => {
                let before = corners.len();
                for word in words {
                    let corner = corner(word, positions.len()).ok_or_else(|| {
                        let wanted = format!(
                            "vertices are counted from 1, or from the last one down from -1, and there are {} so far",
                            positions.len()
                        );
                        refused(format!("`{word}` is no corner"), &wanted)
                    })?;
                    corners.push(corner);
                }
                let count = corners.len() - before;
                if count < 3 {
                    return Err(refused(format!("a face has {count} corners"), "three at least"));
                }
                // No overflow: a corner takes two bytes at least, and its index fits.
                counts.push(u32::try_from(count).map_err(|_| {
                    refused("a face has too many corners".into(), "at most 4294967295")
                })?);
            }
            _ => {}
        }
    }
    let polygons = Polygons::from_counts(&counts, corners).map_err(|fault| IoError::Malformed {
        file: file.into(),
        place: Place::Line(1),
        found: fault.to_string(),
        wanted: "fewer faces".to_owned(),
    })?;
    let points = Points { positions, channels: Channels::new() };
    Ok(Geometry {
        points,
        faces: Some(Faces { polygons, channels: Channels::new() }),
        curves: None,
    })
}

/// The vertex of `3`, `3/1`, `3//2` or `-1`, counted from 0.
fn corner(word: &str, vertices: usize) -> Option<u32> {
    let number: i64 = word.split('/').next()?.parse().ok()?;
    let vertices = i64::try_from(vertices).ok()?;
    let index = if number < 0 { vertices + number } else { number - 1 };
    (0..vertices).contains(&index).then(|| u32::try_from(index).ok())?
}
