//! From one format to another, file by file: points, meshes and curves among their formats, points also to and from `.vdb`, and
//! volumes among `.vdb` files.
//!
//! Every file is written whole or not at all, and no file of the input is ever written to.

use crate::error::{IoError, Result};
use crate::format::Format;
use crate::names::{Names, UpAxis, has_direction, turn_channels};
use crate::pattern::Pattern;
use crate::table::{Channels, Precision};
use crate::vdb::{GridValue, points_of_grid};
use crate::whole::write_whole;
use crate::write::{WriteOptions, left_out};
use crate::{FileMetadata, Geometry, usd};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use undine_core::glam::DVec3;
use undine_vdb::codec::Codec;
use undine_vdb::points::{Column, POSITION};
use undine_vdb::{Class, Content, Entry, File, Grid, Kind, Metadata, Tree, write};

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

/// A file to convert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Its frame, in a sequence.
    pub frame: Option<i64>,
    /// The file to read.
    pub from: PathBuf,
    /// The file to write.
    pub to: PathBuf,
    /// Whether the file to read is a scene of all frames.
    pub of_scene: bool,
}

/// What there is to do from a file to a file, or from a pattern to a pattern, for all frames there are or those from first to last.
pub fn plan(from: &Pattern, to: &Pattern, frames: Option<(i64, i64)>) -> Result<Vec<Job>> {
    let formats = [from, to].map(|pattern| Format::of(&pattern.file(0)));
    let [read, written] = formats;
    let read = read?;
    check(&from.file(0), read, &to.file(0), written?)?;
    let job = |frame| Job {
        frame: Some(frame),
        from: from.file(frame),
        to: to.file(frame),
        of_scene: !from.is_numbered(),
    };
    let is_wanted = |frame: &i64| frames.is_none_or(|(first, last)| (first..=last).contains(frame));
    let refused = |why: &str| no_conversion(&from.file(0), &to.file(0), why);
    let jobs: Vec<Job> = if from.is_numbered() {
        let found = from.frames()?;
        let jobs: Vec<Job> =
            found.iter().filter(|frame| is_wanted(frame)).map(|&f| job(f)).collect();
        if let ([], Some(&some)) = (&jobs[..], found.first()) {
            return Err(refused(&format!("none of these frames is there; {some} is")));
        }
        if jobs.is_empty() {
            // Names the file that is not there.
            from.find(frames.map_or(1, |(first, _)| first))?;
        }
        if !to.is_numbered() && jobs.len() > 1 {
            return Err(refused(
                "many files would become one; number the second name, too, as in out.####.ply",
            ));
        }
        jobs
    } else if to.is_numbered() {
        // A scene has many times in one file.
        let is_scene = matches!(read, Format::Usda | Format::Usdc | Format::Usd);
        let times = if is_scene { usd::time_samples(&from.file(0))? } else { Vec::new() };
        let whole = times.into_iter().filter(|time| time.fract() == 0.0).map(|time| time as i64);
        let jobs: Vec<Job> = whole.filter(is_wanted).map(job).collect();
        if jobs.is_empty() {
            return Err(refused("one file would become many; write the second name out"));
        }
        jobs
    } else {
        vec![Job { frame: None, from: from.file(0), to: to.file(0), of_scene: false }]
    };
    let inputs: BTreeSet<PathBuf> = jobs.iter().map(|job| canonical(&job.from)).collect();
    if let Some(job) = jobs.iter().find(|job| inputs.contains(&canonical(&job.to))) {
        let why = "it would be written over a file that is read; give it another name";
        return Err(no_conversion(&job.from, &job.to, why));
    }
    Ok(jobs)
}

/// A file's name without links, so that two names of one file are the same.
fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).canonicalize().unwrap_or_default();
        folder.join(path.file_name().unwrap_or_default())
    })
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

/// Converts a file. Returns what is worth knowing, in words: what the format has no place for.
pub fn convert(job: &Job, options: &ConvertOptions) -> Result<Vec<String>> {
    let (read, written) = (Format::of(&job.from)?, Format::of(&job.to)?);
    check(&job.from, read, &job.to, written)?;
    let (mut geometry, mut metadata) = match (read, written) {
        (Format::Vdb, Format::Vdb) => return volumes(job, options),
        (Format::Vdb, _) => points_of_file(job, options)?,
        (Format::Usda | Format::Usdc | Format::Usd, _) if job.of_scene => {
            crate::read_scene(&job.from, job.frame.map(|frame| frame as f64))?
        }
        _ => crate::read_with_metadata(&job.from)?,
    };
    let read_up = options.from_up.unwrap_or(metadata.up);
    let is_y_up = written == Format::Glb;
    let up = if is_y_up { UpAxis::Y } else { options.up.unwrap_or(read_up) };
    turn(&mut geometry, read_up, up);
    metadata.up = up;
    metadata.frame = job.frame.or(metadata.frame);
    if metadata.creator.is_empty() {
        metadata.creator = FileMetadata::default().creator;
    }
    rename(&mut geometry, &options.rename)?;
    let (left, wanted_up) = (left_out(&geometry, written), options.up);
    let options = WriteOptions { precision: options.precision, as_text: options.as_text, metadata };
    crate::write(&job.to, &geometry, &options)?;
    let mut notes = Vec::new();
    if !left.is_empty() {
        notes.push(format!("{written} has no place for {}", left.join(", ")));
    }
    if is_y_up && wanted_up == Some(UpAxis::Z) {
        notes.push(format!("{written} is written Y up, and says so"));
    }
    Ok(notes)
}

/// The points of the grids of points of a file, the one that is asked for or the first.
fn points_of_file(job: &Job, options: &ConvertOptions) -> Result<(Geometry, FileMetadata)> {
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
    let metadata = FileMetadata::of_vdb(file.metadata());
    let grid = file.grid(index).map_err(in_input)?;
    let up = options.from_up.unwrap_or(metadata.up);
    let points = points_of_grid(&grid, &Names::default(), UpAxis::Y)?;
    let metadata = FileMetadata { up, ..metadata };
    Ok((Geometry { points, faces: None, curves: None }, metadata))
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

/// A file of grids, one grid in memory at a time besides what is compressed already.
fn volumes(job: &Job, options: &ConvertOptions) -> Result<Vec<String>> {
    let in_input = |why| IoError::in_vdb(&job.from, why);
    let mut file = File::open(&job.from).map_err(in_input)?;
    let left_out = file.warnings().iter().map(|warning| format!("left out: {warning}"));
    let mut notes: Vec<String> = left_out.collect();
    let wanted: Vec<usize> = if options.grids.is_empty() {
        (0..file.grids().len()).collect()
    } else {
        let found = options.grids.iter().map(|name| file.index_of(name));
        found.collect::<undine_vdb::Result<_>>().map_err(in_input)?
    };
    for (from, _) in &options.rename {
        file.index_of(from).map_err(in_input)?;
    }
    let mut metadata = file.metadata().clone();
    let mut encoded = Vec::new();
    for index in wanted {
        let head = &file.grids()[index];
        let compression = write::Compression {
            codec: options.codec.unwrap_or(head.compression.codec),
            active_mask: head.compression.active_mask,
        };
        let mut grid = file.grid(index).map_err(in_input)?;
        if options.codec == Some(Codec::Zip)
            && matches!(grid.class, Class::LevelSet | Class::FogVolume)
        {
            notes.push(format!(
                "the {} `{}` is not compressed: OpenVDB has zip for other grids only; blosc is smaller",
                grid.class.word(),
                grid.name
            ));
        }
        if let Some((_, to)) = options.rename.iter().find(|(from, _)| *from == grid.name) {
            grid.name.clone_from(to);
        }
        grid.saved_as_half = options.half.unwrap_or(grid.saved_as_half);
        if let Some(up) = options.up {
            turn_grid(&mut grid, options.from_up, up, &metadata)?;
        }
        encoded
            .push(write::encode_grid(&grid, compression).map_err(|w| IoError::in_vdb(&job.to, w))?);
    }
    if let Some(up) = options.up {
        metadata.insert("up_axis".to_owned(), Entry::String(up.word().to_owned()));
    }
    write_whole(&job.to, |out| {
        write::write(out, &metadata, &encoded).map_err(|why| match why {
            undine_vdb::VdbError::Io(source) => IoError::Write(source),
            why => IoError::in_vdb(&job.to, why),
        })
    })?;
    Ok(notes)
}

/// Turns a grid from the axis that points up in its file to another: its place in the world, and its vectors.
fn turn_grid(grid: &mut Grid, from: Option<UpAxis>, to: UpAxis, of_file: &Metadata) -> Result<()> {
    let said =
        [&grid.metadata, of_file].into_iter().find_map(|metadata| match metadata.get("up_axis") {
            Some(Entry::String(word)) => UpAxis::of_word(word),
            _ => None,
        });
    let from = from.or(said).unwrap_or_default();
    if from == to {
        return Ok(());
    }
    if grid.class == Class::Staggered {
        return Err(IoError::Unwritable {
            what: format!("the grid `{}` with another axis up", grid.name),
            found: "its vectors are on the faces of voxels, which do not turn".to_owned(),
            wanted: "leave it as it is, or sample it at the centres of voxels".to_owned(),
        });
    }
    for row in &mut grid.transform.rows {
        let turned = to.to_file(from.from_file(DVec3::new(row[0], row[1], row[2])));
        row[..3].copy_from_slice(&turned.to_array());
    }
    if grid.metadata.contains_key("up_axis") {
        grid.metadata.insert("up_axis".to_owned(), Entry::String(to.word().to_owned()));
    }
    fn vectors<T: GridValue>(tree: &mut Tree<T>, from: UpAxis, to: UpAxis) {
        let turned = |value: T| value.of_file(from).to_file(to);
        tree.background = turned(tree.background);
        tree.tiles.iter_mut().for_each(|tile| tile.value = turned(tile.value));
        tree.leaves.values.iter_mut().for_each(|value| *value = turned(*value));
    }
    match &mut grid.content {
        // Colours and scales stay as they are.
        content if content.kind() != Kind::Points && !has_direction(&grid.name) => {}
        Content::Vec3s(tree) => vectors(tree, from, to),
        Content::Vec3d(tree) => vectors(tree, from, to),
        Content::Vec3i(tree) => vectors(tree, from, to),
        Content::Points(tree) => {
            // Positions count from the centre of their voxel, and turn with it.
            let is_turned = |name: &str| name != POSITION && has_direction(name);
            for attribute in tree.attributes.iter_mut().filter(|found| is_turned(&found.name)) {
                match &mut attribute.values {
                    Column::Vec3s(values) => {
                        values.iter_mut().for_each(|v| *v = v.of_file(from).to_file(to));
                    }
                    Column::Vec3d(values) => {
                        values.iter_mut().for_each(|v| *v = v.of_file(from).to_file(to));
                    }
                    _ => {}
                }
            }
        }
        _ => {}
    }
    Ok(())
}
