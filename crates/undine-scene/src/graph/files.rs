//! Files as data: points, meshes, curves and level sets of any format; those that were read last stay in memory.

use super::{Fault, flow, lock};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use undine_core::glam::DVec3;
use undine_core::mesh::{Curves, ElementClass, Surface};
use undine_core::{ChannelSpec, MemoryBudget};
use undine_geometry::levelset::LevelSet;
use undine_io::vdb::{ReadOptions, points_of_grid, volume_of_grids};
use undine_io::{FileMetadata, Format, IoError, Names, Points, usd};
use undine_sim::input::{Data, Geometry, PointCloud};
use undine_vdb::{Class, Content, File, Grid, Kind};

/// What is read of a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reading {
    pub file: PathBuf,
    /// The prim of a scene, or the grid of a volume; all there is, if `None`.
    pub part: Option<String>,
    /// The time, in a file that has several [time codes].
    pub time: Option<f64>,
}

/// What was read.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub data: Data,
    /// Whether the file says itself in which unit it is and which axis points up; it is then in metres, with Y up.
    pub says_axes: bool,
}

/// Files that were read last.
#[derive(Debug, Default)]
pub(super) struct Files(Mutex<Vec<(Reading, Arc<Found>)>>);

/// A frame, and those around it that differences are taken of, of two sequences.
const KEPT: usize = 8;

impl Files {
    pub fn read(&self, reading: &Reading, budget: &MemoryBudget) -> Result<Arc<Found>, Fault> {
        let known =
            lock(&self.0).iter().find(|(known, _)| known == reading).map(|(_, d)| d.clone());
        if let Some(data) = known {
            return Ok(data);
        }
        let data = Arc::new(read(reading, budget)?);
        let mut files = lock(&self.0);
        if files.len() == KEPT {
            files.remove(0);
        }
        files.push((reading.clone(), data.clone()));
        Ok(data)
    }
}

/// The times of a file that has several, in order [time codes]; none for every other.
pub(super) fn times(file: &Path) -> Vec<f64> {
    match Format::of(file) {
        // What is wrong with the file is said when it is read.
        Ok(Format::Usda | Format::Usdc | Format::Usd) => {
            usd::time_samples(file).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

fn read(reading: &Reading, budget: &MemoryBudget) -> Result<Found, Fault> {
    let file = reading.file.as_path();
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = stem.unwrap_or_default();
    let format = Format::of(file)?;
    if format != Format::Vdb {
        // It is read whole. What is wrong with it is said then.
        let length = std::fs::metadata(file).map_or(0, |about| about.len());
        budget.check(&file.display().to_string(), length)?;
    }
    let (read, says_axes) = match format {
        Format::Vdb => return read_volume(reading, &name, budget),
        Format::Usda | Format::Usdc | Format::Usd => (read_scene(reading)?, true),
        _ => {
            let read = undine_io::read_file(file, None)?;
            // One that says anything of itself says its axes, too.
            let says_axes = read.metadata != FileMetadata::unknown();
            let read = read.in_metres();
            let mut geometry = read.geometry;
            geometry.points = read.metadata.up.points_from_file(geometry.points);
            (geometry, says_axes)
        }
    };
    let cloud = cloud(read.points);
    let geometry = match (read.faces, read.curves) {
        (Some(faces), _) if !faces.polygons.is_empty() || cloud.positions.is_empty() => {
            let positions = cloud.positions.clone();
            Geometry::Surface(Arc::new(Surface::new(name, positions, faces.polygons)?))
        }
        (_, Some(curves)) if !curves.strands.is_empty() => {
            let mut mesh = Curves::new(name, cloud.positions.clone(), curves.strands)?;
            for (name, values) in &curves.channels {
                add_to_curves(&mut mesh, name, values.numbers(), values.vectors())?;
            }
            let data = Data::new(Geometry::Curves(Arc::new(mesh)));
            // What is known of vertices comes before what is known of their curve.
            let mut spread = data.cloud()?.into_owned();
            spread.numbers.extend(cloud.numbers);
            spread.vectors.extend(cloud.vectors);
            return Ok(Found { data: data.with_cloud(spread)?, says_axes });
        }
        _ => {
            let data = Data::new(Geometry::Points(cloud));
            return Ok(Found { data, says_axes });
        }
    };
    Ok(Found { data: Data::new(geometry).with_cloud(cloud)?, says_axes })
}

/// The geometry of a scene. One of which nothing can be read is an error, unless it is a frame without points.
fn read_scene(reading: &Reading) -> Result<undine_io::Geometry, Fault> {
    let scene = usd::Scene::open(&reading.file)?;
    let (found, notes) = scene.read(reading.time, reading.part.as_deref())?;
    match notes.first() {
        Some(note) if found.points.positions.is_empty() => Err(Fault::Io(IoError::Unreadable {
            what: format!("{}", reading.file.display()),
            found: note.clone(),
            wanted: "points, meshes and curves are read".to_owned(),
        })),
        _ => Ok(found),
    }
}

/// Adds what is known of curves to them, be it numbers or vectors.
pub(super) fn add_to_curves(
    mesh: &mut Curves,
    name: &str,
    numbers: Option<Cow<'_, [f64]>>,
    vectors: Option<Cow<'_, [DVec3]>>,
) -> Result<(), Fault> {
    if let Some(numbers) = numbers {
        let spec = ChannelSpec::new(name.to_owned(), 0.0_f64);
        mesh.add_channel_with(ElementClass::Curve, &spec, numbers.into_owned())?;
    } else if let Some(vectors) = vectors {
        let spec = ChannelSpec::new(name.to_owned(), DVec3::ZERO);
        mesh.add_channel_with(ElementClass::Curve, &spec, vectors.into_owned())?;
    }
    Ok(())
}

fn cloud(points: Points) -> PointCloud {
    let mut cloud = PointCloud { positions: points.positions, ..PointCloud::default() };
    for (name, values) in &points.channels {
        if let Some(numbers) = values.numbers() {
            cloud.numbers.insert(name.clone(), numbers.into_owned());
        } else if let Some(vectors) = values.vectors() {
            cloud.vectors.insert(name.clone(), vectors.into_owned());
        }
    }
    cloud
}

/// A level set with the velocities beside it, or points: the grid of that name, or the first that is either.
fn read_volume(reading: &Reading, name: &str, budget: &MemoryBudget) -> Result<Found, Fault> {
    let mut file = File::open(&reading.file).map_err(IoError::from)?;
    let metadata = FileMetadata::of_vdb(file.metadata());
    let (up, says_axes) = (metadata.up, file.metadata().contains_key("up_axis"));
    if metadata.metres_per_unit != 1.0 {
        return Err(Fault::Io(IoError::Unreadable {
            what: format!("{}", reading.file.display()),
            found: format!("its unit is {} m", metadata.metres_per_unit),
            wanted: "`undine convert` makes a file in metres of it".to_owned(),
        }));
    }
    let is_readable = |class, kind| {
        kind == Kind::Points
            || class == Class::LevelSet && matches!(kind, Kind::Float | Kind::Double)
    };
    let found = match &reading.part {
        Some(part) => Some(file.index_of(part).map_err(IoError::from)?),
        None => file.grids().iter().position(|head| is_readable(head.class, head.kind)),
    };
    let head = found.map(|index| &file.grids()[index]);
    let Some(head) = head.filter(|head| is_readable(head.class, head.kind)) else {
        return Err(match file.warnings().first() {
            Some(warning) => Fault::Io(IoError::Unreadable {
                what: format!("{}", reading.file.display()),
                found: warning.to_string(),
                wanted: "a level set or points are read".to_owned(),
            }),
            None => Fault::WrongData {
                found: "a file without a level set and points",
                wanted: "one that has either",
            },
        });
    };
    let (kind, index) = (head.kind, found.unwrap_or_default());
    let grid = file.grid(index).map_err(IoError::from)?;
    let data = match kind {
        Kind::Points => {
            let points = points_of_grid(&grid, &Names::default(), up)?;
            Data::new(Geometry::Points(cloud(points)))
        }
        _ => {
            let options = ReadOptions { up, budget: budget.clone(), ..ReadOptions::default() };
            let mut set = level_set(&grid, name, &options)?;
            let flow = file.grids().iter().position(|head| flow::has_velocities(head, &options));
            if let Some(index) = flow {
                let velocities = file.grid(index).map_err(IoError::from)?;
                flow::carry(&mut set, &velocities, &options)?;
            }
            Data::new(Geometry::LevelSet(Arc::new(set)))
        }
    };
    Ok(Found { data, says_axes })
}

/// A grid of distances as a level set: leaves are Buckets, and what is inside without them is found anew.
pub fn level_set(grid: &Grid, name: &str, options: &ReadOptions) -> Result<LevelSet, Fault> {
    let (domain, volume) = volume_of_grids(name, std::slice::from_ref(grid), options)?;
    let width = match &grid.content {
        Content::Double(tree) => tree.background.abs(),
        Content::Float(tree) => f64::from(tree.background.abs()),
        _ => 0.0,
    };
    let mut set = LevelSet::empty(name, &domain, width)?;
    set.cover(domain.topology().all())?;
    let channel = volume.channels().infos().next().map(|info| info.name.clone());
    if let Some(channel) = channel {
        let topology = set.topology().clone();
        let mut distances = set.volume().column_mut(set.distance())?;
        for slot in 0..topology.local() as u32 {
            let Some(from) = volume.topology().slot(topology.bucket(slot)) else { continue };
            let chunk = distances.chunk_mut(slot);
            if matches!(grid.content, Content::Double(_)) {
                let column = volume.column(volume.handle::<f64>(&channel)?)?;
                let values = column.chunk(from).iter();
                chunk.iter_mut().zip(values).for_each(|(to, from)| *to = *from as f32);
            } else {
                let column = volume.column(volume.handle::<f32>(&channel)?)?;
                chunk.copy_from_slice(column.chunk(from));
            }
        }
    }
    set.find_beyond()?;
    Ok(set)
}
