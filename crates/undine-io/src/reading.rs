//! A file of points or of a mesh as it is read: its tables, what it says of itself, and what of it found no place in them.

use crate::error::{IoError, Result};
use crate::format::Format;
use crate::metadata::FileMetadata;
use crate::names::{self, UpAxis};
use crate::table::{Channels, Values};
use crate::{Geometry, comments, obj, ply, stl, usd};
use std::path::Path;

/// A file that was read.
#[derive(Debug, Clone)]
pub struct Reading {
    /// What it holds.
    pub geometry: Geometry,
    /// What it says of itself. Unit and axis are those of the tables.
    pub metadata: FileMetadata,
    /// The axis that points up in the file. A scene is turned when it is read, all else is not.
    pub up_in_file: UpAxis,
    /// What was left out, in words.
    pub notes: Vec<String>,
}

/// Reads a file of points or of a mesh, of the format that its name ends with; a scene at a time [time codes], or its earliest.
/// The tables are in the unit of the file: see [`Reading::in_metres`].
pub fn read_file(path: &Path, time: Option<f64>) -> Result<Reading> {
    let format = Format::of(path)?;
    let parse = match format {
        Format::Ply => ply::parse_noting,
        Format::Obj => obj::parse_noting,
        Format::Stl => |bytes: &[u8], path: &Path, _: &mut Vec<String>| stl::parse(bytes, path),
        // A scene is more than the bytes of one file.
        Format::Usda | Format::Usdc | Format::Usd => return read_scene(path, time),
        Format::Glb | Format::Vdb => {
            return Err(IoError::NotReadable {
                file: path.into(),
                format,
                help: match format {
                    Format::Glb => "glTF is written only: convert to it last",
                    _ => "it holds grids",
                },
            });
        }
    };
    let bytes =
        std::fs::read(path).map_err(|source| IoError::Read { file: path.into(), source })?;
    let mut notes = Vec::new();
    let geometry = parse(&bytes, path, &mut notes)?;
    let metadata = comments::metadata(&bytes, format);
    Ok(Reading { geometry, up_in_file: metadata.up, metadata, notes })
}

/// The geometry of a scene, in metres and Y up, whatever the file has.
fn read_scene(path: &Path, time: Option<f64>) -> Result<Reading> {
    let scene = usd::Scene::open(path)?;
    let found = scene.read_prims(time, None)?;
    if found.prims == 0 {
        let left = match &found.notes[..] {
            [] => "there are no points, meshes or curves in it".to_owned(),
            notes => format!("nothing in it can be read: {}", notes.join("; ")),
        };
        return Err(IoError::Unreadable {
            what: path.display().to_string(),
            found: left,
            wanted: "prims of type Points, Mesh or BasisCurves".to_owned(),
        });
    }
    let mut metadata = scene.metadata();
    // What it says of one frame is not true of another, such as the earliest.
    let time = match time {
        None if metadata.frame.is_some() => scene.time_samples()?.first().copied(),
        time => time,
    };
    if let Some(time) = time.filter(|&time| metadata.frame.is_none_or(|said| said as f64 != time)) {
        metadata.time = None;
        metadata.frame = (time.fract() == 0.0).then_some(time as i64);
    }
    let up_in_file = if scene.is_z_up() { UpAxis::Z } else { UpAxis::Y };
    Ok(Reading { geometry: found.geometry, metadata, up_in_file, notes: found.notes })
}

impl Reading {
    /// The same with all lengths in metres, and velocities in metres per second.
    pub fn in_metres(mut self) -> Self {
        let metres = std::mem::replace(&mut self.metadata.metres_per_unit, 1.0);
        if metres != 1.0 {
            let Geometry { points, faces, curves } = &mut self.geometry;
            points.positions.iter_mut().for_each(|place| *place *= metres);
            let of_faces = faces.as_mut().map(|faces| &mut faces.channels);
            let of_curves = curves.as_mut().map(|curves| &mut curves.channels);
            let all = [Some(&mut points.channels), of_faces, of_curves];
            all.into_iter().flatten().for_each(|channels| scale_lengths(channels, metres));
        }
        self
    }
}

/// Scales the channels that are lengths, or lengths per time.
fn scale_lengths(channels: &mut Channels, factor: f64) {
    for (name, values) in channels.iter_mut().filter(|(name, _)| names::is_length(name)) {
        match values {
            // Positions are scaled without being rounded to single precision, and what is the same as they are stays the same.
            Values::Vec3(places) if name == names::REST => {
                *values = Values::DVec3(places.iter().map(|at| at.as_dvec3() * factor).collect());
            }
            Values::F32(values) => {
                values.iter_mut().for_each(|v| *v = (f64::from(*v) * factor) as f32);
            }
            Values::F64(values) => values.iter_mut().for_each(|v| *v *= factor),
            Values::Vec3(values) => {
                values.iter_mut().for_each(|v| *v = (v.as_dvec3() * factor).as_vec3());
            }
            Values::DVec3(values) => values.iter_mut().for_each(|v| *v *= factor),
            Values::I32(_) | Values::U32(_) | Values::U64(_) => {}
        }
    }
}
