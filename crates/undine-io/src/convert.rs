//! From one format to another, file by file: points, meshes and curves among their formats, points also to and from `.vdb`, and
//! volumes among `.vdb` files.
//!
//! Every file is written whole or not at all, and no file of the input is ever written to.

mod loss;
mod plan;
mod volumes;

pub(crate) use loss::loose_points;
pub use plan::{Job, plan};

use crate::error::{IoError, Result};
use crate::format::Format;
use crate::names::{Names, UpAxis, turn_channels};
use crate::reading::{Reading, read_file};
use crate::table::{Channels, Precision};
use crate::vdb::{points_of_grid, without_channel};
use crate::whole::write_whole;
use crate::write::{WriteOptions, encode, left_out};
use crate::{FileMetadata, Geometry};
use std::path::Path;
use undine_core::glam::DVec3;
use undine_vdb::codec::Codec;
use undine_vdb::{File, Kind};

/// What changes on the way.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ConvertOptions {
    /// Positions of 64 bits, where the format has a choice.
    pub precision: Precision,
    /// Text, where the format has a choice.
    pub as_text: bool,
    /// The axis that points up; else that which the file says, or Y. glTF is always Y up.
    pub up: Option<UpAxis>,
    /// The axis that points up in what is read, for files that do not say so.
    pub from_up: Option<UpAxis>,
    /// Other names for channels and grids: from, to.
    pub rename: Vec<(String, String)>,
    /// The grids to keep; all if there is none.
    pub grids: Vec<String>,
    /// Whether values of grids are kept as half floats; else as they were.
    pub half: Option<bool>,
    /// How grids are compressed; else as they were.
    pub codec: Option<Codec>,
}

/// Refuses what has no meaning.
fn check(from: &Path, read: Format, to: &Path, written: Format) -> Result<()> {
    let why = match (read, written) {
        (Format::Glb, _) => "glTF is written only: convert to it last",
        (Format::Stl, Format::Vdb) => {
            "a volume is not made of faces here; read them as the input of a scene"
        }
        _ => return Ok(()),
    };
    Err(no_conversion(from, to, why))
}

/// Converts a file. Returns what is worth knowing, in words: what was left out, what the format has no place for, what was asked
/// for in vain.
pub fn convert(job: &Job, options: &ConvertOptions) -> Result<Vec<String>> {
    let (read, written) = (Format::of(&job.from)?, Format::of(&job.to)?);
    check(&job.from, read, &job.to, written)?;
    check_names(&options.rename)?;
    let mut notes = loss::without_effect(options, read, written);
    let reading = match (read, written) {
        (Format::Vdb, Format::Vdb) => {
            notes.extend(volumes::convert(job, options)?);
            return Ok(notes);
        }
        (Format::Vdb, _) => points_of_file(job, options)?,
        _ => read_file(&job.from, job.frame.filter(|_| job.of_scene).map(|frame| frame as f64))?,
    };
    let Reading { mut geometry, mut metadata, up_in_file, notes: left } = reading.in_metres();
    notes.extend(left.into_iter().map(|note| format!("left out: {note}")));
    // A scene says its axis, and is turned already.
    let is_scene = matches!(read, Format::Usda | Format::Usdc | Format::Usd);
    let given_up = options.from_up.filter(|_| !is_scene);
    let is_y_up = written == Format::Glb;
    let up = options.up.or(given_up).unwrap_or(up_in_file);
    let up = if is_y_up { UpAxis::Y } else { up };
    turn(&mut geometry, given_up.unwrap_or(metadata.up), up);
    metadata.up = up;
    metadata.frame = job.frame.or(metadata.frame);
    if metadata.creator.is_empty() {
        metadata.creator = FileMetadata::default().creator;
    }
    rename(&mut geometry, &options.rename)?;
    let precision = loss::precision(&geometry, options.precision, written);
    let writing = WriteOptions { precision, as_text: options.as_text, metadata };
    write_whole(&job.to, |out| encode(out, written, &job.name, &geometry, &writing))?;
    let left = left_out(&geometry, written);
    if !left.is_empty() {
        notes.push(format!("{written} has no place for {}", left.join(", ")));
    }
    notes.extend(loss::rounded(&geometry, precision, written));
    notes.extend(loss::not_shown(&geometry, written));
    if is_y_up && options.up == Some(UpAxis::Z) {
        notes.push(format!("{written} is written Y up, and says so"));
    }
    Ok(notes)
}

/// The points of a file that is to become another, in metres: of a `.vdb` file those of the grid of this name, or of the first
/// that has points.
pub fn read_points(job: &Job, grid: Option<&str>) -> Result<Reading> {
    let reading = match Format::of(&job.from)? {
        Format::Vdb => {
            let grids = grid.map(str::to_owned).into_iter().collect();
            points_of_file(job, &ConvertOptions { grids, ..ConvertOptions::default() })?
        }
        _ => read_file(&job.from, job.frame.filter(|_| job.of_scene).map(|frame| frame as f64))?,
    };
    Ok(reading.in_metres())
}

/// Refuses two names that would become one.
fn check_names(names: &[(String, String)]) -> Result<()> {
    for (n, (from, to)) in names.iter().enumerate() {
        for (other, also) in &names[..n] {
            if to == also {
                return Err(not_renamed(from, format!("`{other}` is to be `{to}` already"), ""));
            }
            if from == other {
                return Err(not_renamed(from, format!("it is to be `{also}` already"), ""));
            }
        }
    }
    Ok(())
}

/// The points of the grids of points of a file, the one that is asked for or the first.
fn points_of_file(job: &Job, options: &ConvertOptions) -> Result<Reading> {
    let in_input = |why| IoError::in_vdb(&job.from, why);
    let mut file = File::open(&job.from).map_err(in_input)?;
    let index = match &options.grids[..] {
        [] => file.grids().iter().position(|head| head.kind == Kind::Points),
        [name] => Some(file.index_of(name).map_err(in_input)?),
        _ => {
            let why = "several grids would become one; choose one of them by --grid";
            return Err(no_conversion(&job.from, &job.to, why));
        }
    };
    let is_points = index.filter(|&index| file.grids()[index].kind == Kind::Points);
    let Some(index) = is_points else {
        let why =
            "a volume has no faces; a surface has to be made of it first, which is not done here";
        return Err(no_conversion(&job.from, &job.to, why));
    };
    let mut notes = Vec::new();
    if options.grids.is_empty() {
        let others = file.grids().iter().enumerate().filter(|&(n, _)| n != index);
        notes.extend(others.map(|(_, head)| match head.kind {
            Kind::Points => format!("the points `{}`, which --grid would choose", head.name),
            _ => format!("the volume `{}`", head.name),
        }));
    }
    let metadata = FileMetadata::of_vdb(file.metadata());
    let grid = file.grid(index).map_err(in_input)?;
    // What is wrong with attributes is known once they are read.
    notes.extend(file.warnings().iter().map(ToString::to_string));
    notes.extend(without_channel(&grid));
    let points = points_of_grid(&grid, &Names::default(), UpAxis::Y)?;
    let geometry = Geometry { points, faces: None, curves: None };
    Ok(Reading { geometry, up_in_file: metadata.up, metadata, notes })
}

fn no_conversion(from: &Path, to: &Path, why: &str) -> IoError {
    let [from, to] = [from, to].map(|path| path.display().to_string());
    IoError::NoConversion { from, to, why: why.to_owned() }
}

/// Turns positions and vectors from one axis up to another. Colours have no direction.
pub(crate) fn turn(geometry: &mut Geometry, from: UpAxis, to: UpAxis) {
    if from == to {
        return;
    }
    let turned = |vector: DVec3| to.to_file(from.from_file(vector));
    geometry.points.positions.iter_mut().for_each(|place| *place = turned(*place));
    let of_faces = geometry.faces.as_mut().map(|faces| &mut faces.channels);
    let of_curves = geometry.curves.as_mut().map(|curves| &mut curves.channels);
    let all = [Some(&mut geometry.points.channels), of_faces, of_curves];
    all.into_iter().flatten().for_each(|channels| turn_channels(channels, turned));
}

fn rename(geometry: &mut Geometry, names: &[(String, String)]) -> Result<()> {
    let of_faces = geometry.faces.as_mut().map(|faces| &mut faces.channels);
    let of_curves = geometry.curves.as_mut().map(|curves| &mut curves.channels);
    let mut all: Vec<&mut Channels> =
        [Some(&mut geometry.points.channels), of_faces, of_curves].into_iter().flatten().collect();
    for (from, to) in names {
        let mut found = false;
        for channels in &mut all {
            if channels.contains_key(from) && channels.contains_key(to) && from != to {
                return Err(not_renamed(from, format!("there is a channel `{to}` already"), ""));
            }
            if let Some(values) = channels.remove(from) {
                channels.insert(to.clone(), values);
                found = true;
            }
        }
        if !found {
            let there: Vec<&str> =
                all.iter().flat_map(|channels| channels.keys()).map(String::as_str).collect();
            return Err(not_renamed(
                from,
                "there is no such channel".to_owned(),
                &there.join(", "),
            ));
        }
    }
    Ok(())
}

fn not_renamed(name: &str, found: String, there: &str) -> IoError {
    let wanted = if there.is_empty() {
        "choose another name".to_owned()
    } else {
        format!("there are: {there}")
    };
    IoError::Unwritable { what: format!("`{name}` under another name"), found, wanted }
}
