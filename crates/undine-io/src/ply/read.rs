//! The rows behind the header, into tables.

use super::header::{Element, Format, Header, Property, Scalar};
use super::{ALPHA, COLOUR, HIGH_HALF, channel_of_stem};
use crate::Geometry;
use crate::chains::Chains;
use crate::error::{IoError, Place, Result};
use crate::table::{Channels, Faces, Points, Values};
use std::path::Path;
use undine_core::glam::{DVec3, Vec3};
use undine_core::mesh::Polygons;

/// Reads a PLY file from its bytes. `file` is what errors call it.
pub fn parse(bytes: &[u8], file: &Path) -> Result<Geometry> {
    parse_noting(bytes, file, &mut Vec::new())
}

/// As [`parse`]; `notes` takes in words what has no place in tables.
pub fn parse_noting(bytes: &[u8], file: &Path, notes: &mut Vec<String>) -> Result<Geometry> {
    let header = Header::parse(bytes, file)?;
    let mut rows =
        Rows { bytes, at: header.end, line: header.end_line, format: header.format, file };
    let mut geometry = Geometry::default();
    let mut found_points = false;
    let mut strips = None;
    let mut edges = Vec::new();
    notes.extend(header.elements.iter().flat_map(passed_over));
    for element in &header.elements {
        let table = rows.table(element)?;
        let vertices = vertex_count(&header);
        match element.name.as_str() {
            "vertex" => {
                geometry.points = table.into_points(&rows)?;
                found_points = true;
            }
            "face" => {
                geometry.faces = table.into_faces(&rows, vertices)?;
            }
            "tristrips" => strips = table.into_strips(&rows, vertices)?,
            "edge" => edges = table.into_edges(&rows, vertices)?,
            _ => {}
        }
    }
    if !found_points {
        return Err(rows.refused("there is no element `vertex`", "points are the element `vertex`"));
    }
    geometry.faces = geometry.faces.or(strips);
    if geometry.faces.is_some() && !edges.is_empty() {
        notes.push(format!("{} edges beside faces", edges.len()));
    }
    if geometry.faces.is_none() && !edges.is_empty() {
        let mut lines = Chains::default();
        lines.push_edges(&edges);
        let (points, curves) = lines
            .into_curves(geometry.points)
            .map_err(|found| rows.refused(&found, "a curve has points of its own"))?;
        (geometry.points, geometry.curves) = (points, Some(curves));
    }
    Ok(geometry)
}

/// What of an element is not read, in words.
fn passed_over(element: &Element) -> Vec<String> {
    let name = element.name.as_str();
    if !matches!(name, "vertex" | "face" | "tristrips" | "edge") {
        return vec![format!("{} elements `{name}`", element.count)];
    }
    let lists = element.properties.iter().filter(|property| {
        property.length.is_some()
            && !matches!(property.name.as_str(), "vertex_indices" | "vertex_index")
    });
    lists.map(|list| format!("the lists `{}` of elements `{name}`", list.name)).collect()
}

fn vertex_count(header: &Header) -> u64 {
    header.elements.iter().find(|element| element.name == "vertex").map_or(0, |found| found.count)
}

/// What is read of an element: a column for each property, and the lists of one.
struct Table {
    columns: Vec<(String, Values)>,
    /// The lengths and the items of the list of vertices.
    lists: Option<(Vec<u32>, Vec<f64>)>,
}

/// The bytes that are left, and how to read them.
struct Rows<'a> {
    bytes: &'a [u8],
    at: usize,
    line: u64,
    format: Format,
    file: &'a Path,
}

impl Rows<'_> {
    fn table(&mut self, element: &Element) -> Result<Table> {
        let count = self.backed_count(element)?;
        let is_kept = matches!(element.name.as_str(), "vertex" | "face" | "edge");
        let mut columns: Vec<Option<Values>> = element
            .properties
            .iter()
            .map(|property| {
                let scalar = if share(property) == 1.0 { property.scalar } else { Scalar::F32 };
                (is_kept && property.length.is_none()).then(|| column(scalar, count))
            })
            .collect();
        let is_corners = |property: &Property| {
            matches!(element.name.as_str(), "face" | "tristrips")
                && property.length.is_some()
                && matches!(property.name.as_str(), "vertex_indices" | "vertex_index")
        };
        let mut lists = element.properties.iter().any(is_corners).then(|| (Vec::new(), Vec::new()));

        // Rows without any property take no place, however many there are said to be.
        let rows = if element.properties.is_empty() { 0 } else { count };
        for row in 0..rows {
            for (property, column) in element.properties.iter().zip(&mut columns) {
                let Some(length) = property.length else {
                    let value = self.number(property.scalar)?;
                    if !value.is_finite() {
                        let found =
                            format!("`{}` of {} {row} is {value}", property.name, element.name);
                        return Err(self.refused(&found, "every value must be a finite number"));
                    }
                    if let Some(column) = column {
                        push(column, value / share(property));
                    }
                    continue;
                };
                let length = self.list_length(length, property, row)?;
                let mut kept = lists.as_mut().filter(|_| is_corners(property));
                if let Some((lengths, _)) = &mut kept {
                    lengths.push(length);
                }
                for _ in 0..length {
                    let item = self.number(property.scalar)?;
                    if let Some((_, items)) = &mut kept {
                        items.push(item);
                    }
                }
            }
        }
        let named = element.properties.iter().map(|property| property.name.clone()).zip(columns);
        let columns = named.filter_map(|(name, column)| Some((name, column?))).collect();
        Ok(Table { columns, lists })
    }

    /// The number of rows, if what is left of the file can hold so many.
    fn backed_count(&self, element: &Element) -> Result<usize> {
        let least = |property: &Property| match (self.format, property.length) {
            // A digit and a blank.
            (Format::Ascii, _) => 2,
            (_, Some(length)) => length.bytes(),
            (_, None) => property.scalar.bytes(),
        };
        let row: usize = element.properties.iter().map(least).sum();
        // Behind the last number of a text there need not be a blank.
        let left = (self.bytes.len() - self.at) as u64 + u64::from(self.format == Format::Ascii);
        if row > 0 && element.count > left / row as u64 {
            let found = format!(
                "{} elements `{}` of at least {row} bytes each are declared, but {left} bytes are left",
                element.count, element.name
            );
            return Err(self.refused(&found, "the file is cut off, or its header wrong"));
        }
        Ok(usize::try_from(element.count).unwrap_or(0))
    }

    fn list_length(&mut self, scalar: Scalar, property: &Property, row: usize) -> Result<u32> {
        let length = self.number(scalar)?;
        let least = if self.format == Format::Ascii { 2 } else { property.scalar.bytes() };
        let left = (self.bytes.len() - self.at + 1) / least;
        if !(0.0..=left.min(u32::MAX as usize) as f64).contains(&length) {
            let found =
                format!("the list `{}` of row {row} is said to have {length} items", property.name);
            return Err(self.refused(&found, "the rest of the file does not hold so many"));
        }
        Ok(length as u32)
    }

    /// The next number. A double holds every number of every type exactly.
    fn number(&mut self, scalar: Scalar) -> Result<f64> {
        if self.format == Format::Ascii {
            return self.number_of_text(scalar);
        }
        Ok(match scalar {
            Scalar::I8 => f64::from(i8::from_le_bytes(self.take()?)),
            Scalar::U8 => f64::from(u8::from_le_bytes(self.take()?)),
            Scalar::I16 => f64::from(i16::from_le_bytes(self.take()?)),
            Scalar::U16 => f64::from(u16::from_le_bytes(self.take()?)),
            Scalar::I32 => f64::from(i32::from_le_bytes(self.take()?)),
            Scalar::U32 => f64::from(u32::from_le_bytes(self.take()?)),
            Scalar::F32 => f64::from(f32::from_le_bytes(self.take()?)),
            Scalar::F64 => f64::from_le_bytes(self.take()?),
        })
    }

    /// The next bytes, the least significant first.
    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let Some(bytes) = self.bytes[self.at..].first_chunk::<N>() else {
            return Err(self.refused("the file ends within its rows", "it is cut off"));
        };
        self.at += N;
        let mut bytes = *bytes;
        if self.format == Format::BigEndian {
            bytes.reverse();
        }
        Ok(bytes)
    }

    fn number_of_text(&mut self, scalar: Scalar) -> Result<f64> {
        while let Some(byte) = self.bytes.get(self.at).filter(|byte| byte.is_ascii_whitespace()) {
            self.line += u64::from(*byte == b'\n');
            self.at += 1;
        }
        let rest = &self.bytes[self.at..];
        let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        if end == 0 {
            return Err(self.refused("the file ends within its rows", "it is cut off"));
        }
        let word = String::from_utf8_lossy(&rest[..end.min(64)]).into_owned();
        let (least, most) = match scalar {
            Scalar::I8 => (-128.0, 127.0),
            Scalar::U8 => (0.0, 255.0),
            Scalar::I16 => (-32768.0, 32767.0),
            Scalar::U16 => (0.0, 65535.0),
            Scalar::I32 => (f64::from(i32::MIN), f64::from(i32::MAX)),
            Scalar::U32 => (0.0, f64::from(u32::MAX)),
            Scalar::F32 => (-f64::from(f32::MAX), f64::from(f32::MAX)),
            Scalar::F64 => (f64::MIN, f64::MAX),
        };
        let is_real = matches!(scalar, Scalar::F32 | Scalar::F64);
        let value: Option<f64> = if end <= 64 { word.parse().ok() } else { None };
        let good = value
            .filter(|value| (least..=most).contains(value) && (is_real || value.fract() == 0.0));
        let Some(value) = good else {
            let wanted = if is_real {
                "expected a finite number".to_owned()
            } else {
                format!("expected a whole number from {least} to {most}")
            };
            return Err(self.refused(&format!("`{word}` does not fit its property"), &wanted));
        };
        self.at += end;
        Ok(if scalar == Scalar::F32 { f64::from(value as f32) } else { value })
    }

    fn refused(&self, found: &str, wanted: &str) -> IoError {
        let place = match self.format {
            Format::Ascii => Place::Line(self.line),
            _ => Place::Byte(self.at as u64),
        };
        let (found, wanted) = (found.to_owned(), wanted.to_owned());
        IoError::Malformed { file: self.file.into(), place, found, wanted }
    }
}

impl Table {
    fn into_points(mut self, rows: &Rows<'_>) -> Result<Points> {
        let mut axis = |name: &str| {
            let place = self.columns.iter().position(|(found, _)| found == name);
            place.map(|place| self.columns.remove(place).1)
        };
        let axes = [axis("x"), axis("y"), axis("z")];
        let numbers = axes.each_ref().map(|axis| axis.as_ref().and_then(Values::numbers));
        let [Some(x), Some(y), Some(z)] = numbers else {
            let found = "the element `vertex` has no x, y and z";
            return Err(rows.refused(found, "a position is the three properties x, y and z"));
        };
        let positions =
            x.iter().zip(&*y).zip(&*z).map(|((&x, &y), &z)| DVec3::new(x, y, z)).collect();
        Ok(Points { positions, channels: joined(self.columns) })
    }

    fn into_faces(self, rows: &Rows<'_>, vertices: u64) -> Result<Option<Faces>> {
        let Some((lengths, items)) = self.lists else { return Ok(None) };
        let corners = items
            .iter()
            .map(|&item| vertex(item, "a face", rows, vertices))
            .collect::<Result<_>>()?;
        let polygons = Polygons::from_counts(&lengths, corners)
            .map_err(|fault| rows.refused(&fault.to_string(), "every face needs three corners"))?;
        Ok(Some(Faces { polygons, channels: joined(self.columns) }))
    }

    /// Each vertex of a strip makes a triangle with the two before it, every second one turned; -1 begins a new strip.
    fn into_strips(self, rows: &Rows<'_>, vertices: u64) -> Result<Option<Faces>> {
        let Some((lengths, items)) = self.lists else { return Ok(None) };
        let mut triangles = Vec::new();
        let mut rest = &items[..];
        for length in lengths {
            let (row, after) = rest.split_at(length as usize);
            rest = after;
            for strip in row.split(|&item| item == -1.0) {
                let strip: Vec<u32> = strip
                    .iter()
                    .map(|&item| vertex(item, "a strip", rows, vertices))
                    .collect::<Result<_>>()?;
                triangles.extend(
                    strip
                        .array_windows()
                        .enumerate()
                        .map(|(n, &[a, b, c])| if n % 2 == 0 { [a, b, c] } else { [b, a, c] }),
                );
            }
        }
        let polygons = Polygons::triangles(triangles)
            .map_err(|fault| rows.refused(&fault.to_string(), "fewer triangles"))?;
        Ok(Some(Faces { polygons, channels: Channels::new() }))
    }

    fn into_edges(self, rows: &Rows<'_>, vertices: u64) -> Result<Vec<[u32; 2]>> {
        let ends = ["vertex1", "vertex2"].map(|name| {
            let found = self.columns.iter().find(|(found, _)| found == name);
            found.and_then(|(_, values)| values.numbers())
        });
        let [Some(from), Some(to)] = ends else { return Ok(Vec::new()) };
        let edges = from.iter().zip(&*to);
        edges
            .map(|(&from, &to)| {
                Ok([
                    vertex(from, "an edge", rows, vertices)?,
                    vertex(to, "an edge", rows, vertices)?,
                ])
            })
            .collect()
    }
}

fn vertex(number: f64, noun: &str, rows: &Rows<'_>, vertices: u64) -> Result<u32> {
    if number >= 0.0 && number < vertices as f64 && number <= f64::from(u32::MAX) {
        return Ok(number as u32);
    }
    let found = format!("{noun} has the vertex {number}");
    Err(rows.refused(&found, &format!("there are {vertices}, counted from 0")))
}

/// What a value is divided by: whole numbers that are colours go from 0 to 1.
fn share(property: &Property) -> f64 {
    let is_colour = COLOUR.contains(&colour(&property.name)) || colour(&property.name) == ALPHA;
    match property.scalar {
        Scalar::U8 if is_colour => 255.0,
        Scalar::U16 if is_colour => 65535.0,
        _ => 1.0,
    }
}

/// The name of a colour without what old files put before it.
fn colour(name: &str) -> &str {
    name.strip_prefix("diffuse_").unwrap_or(name)
}

fn column(scalar: Scalar, count: usize) -> Values {
    match scalar {
        Scalar::F32 => Values::F32(Vec::with_capacity(count)),
        Scalar::F64 => Values::F64(Vec::with_capacity(count)),
        Scalar::I8 | Scalar::I16 | Scalar::I32 => Values::I32(Vec::with_capacity(count)),
        Scalar::U8 | Scalar::U16 | Scalar::U32 => Values::U32(Vec::with_capacity(count)),
    }
}

fn push(column: &mut Values, value: f64) {
    match column {
        Values::F32(values) => values.push(value as f32),
        Values::F64(values) => values.push(value),
        Values::I32(values) => values.push(value as i32),
        Values::U32(values) => values.push(value as u32),
        // Columns of a file are numbers; these are made of them afterwards.
        Values::U64(_) | Values::Vec3(_) | Values::DVec3(_) => {}
    }
}

/// Columns as channels: three in a row that are called alike but for x, y, z are vectors, two halves are an id.
fn joined(columns: Vec<(String, Values)>) -> Channels {
    let mut channels = Channels::new();
    let mut rest = &columns[..];
    while let Some(((name, values), after)) = rest.split_first() {
        let (channel, values, used) = match rest {
            [x, y, z, ..] if let Some((stem, vectors)) = vector(x, y, z) => (stem, vectors, 3),
            [r, g, b, ..] if let Some(colours) = colours(r, g, b) => ("Cd", colours, 3),
            [low, high, ..] if let Some(ids) = id(low, high) => (name.as_str(), ids, 2),
            // Places on a texture; `v` is a velocity.
            [u, v, ..] if u.0 == "u" && v.0 == "v" => {
                channels.insert("texture_u".to_owned(), u.1.clone());
                ("texture_v", v.1.clone(), 2)
            }
            _ if colour(name) == ALPHA => ("Alpha", values.clone(), 1),
            _ => (name.as_str(), values.clone(), 1),
        };
        channels.insert(channel.to_owned(), values);
        rest = &after[used - 1..];
    }
    channels
}

fn colours(r: &(String, Values), g: &(String, Values), b: &(String, Values)) -> Option<Values> {
    let (Values::F32(red), Values::F32(green), Values::F32(blue)) = (&r.1, &g.1, &b.1) else {
        return None;
    };
    ([&r.0, &g.0, &b.0].map(|name| colour(name)) == COLOUR).then(|| {
        let both = red.iter().zip(green).zip(blue);
        Values::Vec3(both.map(|((&r, &g), &b)| Vec3::new(r, g, b)).collect())
    })
}

fn vector<'a>(
    x: &'a (String, Values),
    y: &'a (String, Values),
    z: &'a (String, Values),
) -> Option<(&'a str, Values)> {
    let stem = x.0.strip_suffix('x').filter(|stem| !stem.is_empty())?;
    if y.0.strip_suffix('y') != Some(stem) || z.0.strip_suffix('z') != Some(stem) {
        return None;
    }
    let vectors = match (&x.1, &y.1, &z.1) {
        (Values::F32(x), Values::F32(y), Values::F32(z)) => {
            Values::Vec3(x.iter().zip(y).zip(z).map(|((&x, &y), &z)| Vec3::new(x, y, z)).collect())
        }
        (Values::F64(x), Values::F64(y), Values::F64(z)) => Values::DVec3(
            x.iter().zip(y).zip(z).map(|((&x, &y), &z)| DVec3::new(x, y, z)).collect(),
        ),
        _ => return None,
    };
    Some((channel_of_stem(stem.trim_end_matches(['_', '.'])), vectors))
}

fn id(low: &(String, Values), high: &(String, Values)) -> Option<Values> {
    if high.0.strip_suffix(HIGH_HALF) != Some(low.0.as_str()) {
        return None;
    }
    let (Values::U32(low), Values::U32(high)) = (&low.1, &high.1) else { return None };
    let whole = low.iter().zip(high).map(|(&low, &high)| u64::from(high) << 32 | u64::from(low));
    Some(Values::U64(whole.collect()))
}
