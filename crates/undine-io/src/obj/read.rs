//! Lines of text, into tables.

use crate::Geometry;
use crate::chains::Chains;
use crate::error::{IoError, Place, Result};
use crate::table::{Channels, Faces, Points, Values};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;
use undine_core::glam::{DVec3, Vec3};
use undine_core::mesh::Polygons;

/// The words that may begin a line and say nothing that is lost: all vertices are points, and a file is one object.
const WITHOUT_CONTENT: &[&str] = &["p", "s", "o", "mtllib"];

/// The words that may begin a line and are passed over: texture places, names, materials, and free-form geometry.
const PASSED_OVER: &[&str] = &[
    "vt",
    "vp",
    "g",
    "mg",
    "usemtl",
    "usemap",
    "maplib",
    "cstype",
    "deg",
    "bmat",
    "step",
    "curv",
    "curv2",
    "surf",
    "parm",
    "trim",
    "hole",
    "scrv",
    "sp",
    "end",
    "con",
    "bevel",
    "c_interp",
    "d_interp",
    "lod",
    "shadow_obj",
    "trace_obj",
    "ctech",
    "stech",
    "call",
    "csh",
];

/// Reads an OBJ file from its bytes. `file` is what errors call it.
pub fn parse(bytes: &[u8], file: &Path) -> Result<Geometry> {
    parse_noting(bytes, file, &mut Vec::new())
}

/// As [`parse`]; `notes` takes in words what has no place in tables.
pub fn parse_noting(bytes: &[u8], file: &Path, notes: &mut Vec<String>) -> Result<Geometry> {
    let mut text = Text { bytes, next: 0, line: 0, lines_ahead: 1, file };
    let mut said = Said::default();
    while let Some(line) = text.next_line() {
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            None => {}
            Some("v") => said.vertex(words, &text)?,
            Some("vn") => said.normals.push(vector(&numbers(words, &text, "vn x y z")?).as_vec3()),
            Some("f") => said.face(words, &text)?,
            Some("l") => said.line(words, &text)?,
            Some(word) if word.starts_with('#') || WITHOUT_CONTENT.contains(&word) => {}
            Some(word) if PASSED_OVER.contains(&word) => drop(said.passed_over.insert(word.into())),
            Some(word) if said.positions.is_empty() => {
                let found = format!("`{}` begins no line", shortened(word));
                let wanted = "lines begin with v, vn, f, l, p and the like";
                return Err(text.refused(found, wanted));
            }
            // What a program adds of its own behind the first vertex is for itself.
            Some(_) => {}
        }
    }
    notes.extend(said.left_out());
    said.into_geometry(&text)
}

/// What the lines say so far.
#[derive(Default)]
struct Said {
    positions: Vec<DVec3>,
    /// As many as positions while each had one.
    colours: Vec<Vec3>,
    normals: Vec<Vec3>,
    /// How many corners each face has.
    counts: Vec<u32>,
    /// The vertex at each corner.
    corners: Vec<u32>,
    /// The normal at each corner, counted from 1; 0 if it has none.
    corner_normals: Vec<u32>,
    lines: Chains,
    /// The words of lines that are not read.
    passed_over: BTreeSet<String>,
}

impl Said {
    fn vertex<'a>(&mut self, words: impl Iterator<Item = &'a str>, text: &Text<'_>) -> Result<()> {
        let numbers = numbers(words, text, "v x y z")?;
        // A fourth number is a weight of free-form curves; behind six there may be an opacity.
        if self.colours.len() == self.positions.len()
            && let [_, _, _, r, g, b, ..] = numbers[..]
        {
            self.colours.push(DVec3::new(r, g, b).as_vec3());
        }
        if self.positions.len() >= u32::MAX as usize {
            return Err(text.refused("there are too many vertices".into(), "at most 4294967295"));
        }
        self.positions.push(vector(&numbers));
        Ok(())
    }

    fn face<'a>(&mut self, words: impl Iterator<Item = &'a str>, text: &Text<'_>) -> Result<()> {
        let before = self.corners.len();
        for word in words {
            let mut parts = word.split('/');
            let vertex = index(parts.next(), self.positions.len());
            self.corners.push(vertex.ok_or_else(|| self.no_corner(word, "corner", text))?);
            let normal = match parts.nth(1) {
                None | Some("") => 0,
                named => {
                    let normal = index(named, self.normals.len());
                    1 + normal.ok_or_else(|| {
                        let wanted = format!("there are {} normals so far", self.normals.len());
                        text.refused(format!("`{}` names no normal", shortened(word)), &wanted)
                    })?
                }
            };
            self.corner_normals.push(normal);
        }
        let count = self.corners.len() - before;
        if count < 3 {
            return Err(text.refused(format!("a face has {count} corners"), "three at least"));
        }
        self.counts.push(u32::try_from(count).map_err(|_| {
            text.refused("a face has too many corners".into(), "at most 4294967295")
        })?);
        Ok(())
    }

    fn line<'a>(&mut self, words: impl Iterator<Item = &'a str>, text: &Text<'_>) -> Result<()> {
        let mut line = Vec::new();
        for word in words {
            let vertex = index(word.split('/').next(), self.positions.len());
            line.push(vertex.ok_or_else(|| self.no_corner(word, "vertex of a line", text))?);
        }
        if line.len() < 2 {
            return Err(text.refused(format!("a line has {} vertices", line.len()), "two at least"));
        }
        self.lines.push(&line);
        Ok(())
    }

    fn no_corner(&self, word: &str, noun: &str, text: &Text<'_>) -> IoError {
        let wanted = format!(
            "vertices are counted from 1, or from the last one down from -1, and there are {} so far",
            self.positions.len()
        );
        text.refused(format!("`{}` is no {noun}", shortened(word)), &wanted)
    }

    /// What has no place in tables, in words.
    fn left_out(&self) -> Vec<String> {
        let mut left = Vec::new();
        if !self.passed_over.is_empty() {
            let words: Vec<String> =
                self.passed_over.iter().map(|word| format!("`{word}`")).collect();
            left.push(format!("lines {}", words.join(", ")));
        }
        if !self.counts.is_empty() && !self.lines.is_empty() {
            left.push("curves (`l`) beside faces".to_owned());
        }
        let has_normals = self.corner_normals.iter().any(|&normal| normal > 0);
        if has_normals && self.vertex_normals().is_none() {
            left.push("normals (`vn`), which differ at the corners of one vertex".to_owned());
        }
        if !self.colours.is_empty() && self.colours.len() != self.positions.len() {
            left.push("colours, which not all vertices have".to_owned());
        }
        left
    }

    fn into_geometry(self, text: &Text<'_>) -> Result<Geometry> {
        let mut channels = Channels::new();
        if let Some(normals) = self.vertex_normals() {
            channels.insert("N".to_owned(), Values::Vec3(normals));
        }
        if !self.colours.is_empty() && self.colours.len() == self.positions.len() {
            channels.insert("Cd".to_owned(), Values::Vec3(self.colours));
        }
        let mut points = Points { positions: self.positions, channels };
        if self.counts.is_empty() {
            let mut curves = None;
            if !self.lines.is_empty() {
                let (ordered, found) = self
                    .lines
                    .into_curves(points)
                    .map_err(|found| text.refused(found, "a curve has points of its own"))?;
                (points, curves) = (ordered, Some(found));
            }
            return Ok(Geometry { points, faces: None, curves });
        }
        let polygons = Polygons::from_counts(&self.counts, self.corners)
            .map_err(|fault| text.refused(fault.to_string(), "fewer faces"))?;
        let faces = Some(Faces { polygons, channels: Channels::new() });
        Ok(Geometry { points, faces, curves: None })
    }

    /// The normal of each vertex, if all its corners agree on one.
    fn vertex_normals(&self) -> Option<Vec<Vec3>> {
        let mut chosen: Vec<Option<Vec3>> = vec![None; self.positions.len()];
        for (&vertex, &normal) in self.corners.iter().zip(&self.corner_normals) {
            let normal = self.normals[normal.checked_sub(1)? as usize];
            if *chosen[vertex as usize].get_or_insert(normal) != normal {
                return None;
            }
        }
        (!chosen.is_empty()).then(|| chosen.into_iter().collect())?
    }
}

/// The lines of a file. One that ends with a backslash goes on in the next.
struct Text<'a> {
    bytes: &'a [u8],
    next: usize,
    /// The line read last, from 1 on, and how many lines of the file it took.
    line: u64,
    lines_ahead: u64,
    file: &'a Path,
}

impl<'a> Text<'a> {
    fn next_line(&mut self) -> Option<Cow<'a, str>> {
        self.line += std::mem::replace(&mut self.lines_ahead, 1);
        let line = self.next_part()?;
        if !line.ends_with('\\') {
            return Some(line);
        }
        let mut whole = line.into_owned();
        while whole.ends_with('\\') {
            whole.pop();
            whole.push(' ');
            whole.push_str(&self.next_part().unwrap_or_default());
            self.lines_ahead += 1;
        }
        Some(Cow::Owned(whole))
    }

    fn next_part(&mut self) -> Option<Cow<'a, str>> {
        let rest = self.bytes.get(self.next..).filter(|rest| !rest.is_empty())?;
        let end = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
        self.next += end + 1;
        Some(String::from_utf8_lossy(rest[..end].trim_ascii_end()))
    }

    fn refused(&self, found: String, wanted: &str) -> IoError {
        let place = Place::Line(self.line);
        IoError::Malformed { file: self.file.into(), place, found, wanted: wanted.to_owned() }
    }
}

/// The numbers of a line, three at least and seven at most.
fn numbers<'a>(
    mut words: impl Iterator<Item = &'a str>,
    text: &Text<'_>,
    form: &str,
) -> Result<Vec<f64>> {
    let mut numbers = Vec::with_capacity(7);
    while numbers.len() < 7 {
        let word = match words.next() {
            None if numbers.len() >= 3 => break,
            word => word.unwrap_or("nothing"),
        };
        let number = word.parse::<f64>().ok().filter(|number| number.is_finite());
        numbers.push(number.ok_or_else(|| {
            let found = format!("`{}` is no coordinate", shortened(word));
            text.refused(found, &format!("expected `{form}`"))
        })?);
    }
    Ok(numbers)
}

fn vector(numbers: &[f64]) -> DVec3 {
    DVec3::new(numbers[0], numbers[1], numbers[2])
}

/// What `3` or `-1` names among so many, counted from 0.
fn index(word: Option<&str>, count: usize) -> Option<u32> {
    let number: i64 = word?.parse().ok()?;
    let count = i64::try_from(count).ok()?;
    let index = if number < 0 { count + number } else { number - 1 };
    (0..count).contains(&index).then(|| u32::try_from(index).ok())?
}

/// The beginning of a word, for a message.
fn shortened(word: &str) -> String {
    word.chars().take(60).collect()
}
