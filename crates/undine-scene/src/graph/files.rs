//! Files as data: points, meshes, curves and level sets of any format; those that were read last stay in memory.

use super::{Fault, lock};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use undine_core::mesh::{Curves, Surface};
use undine_geometry::levelset::LevelSet;
use undine_io::vdb::{ReadOptions, points_of_grid, volume_of_grids};
use undine_io::{FileMetadata, Format, IoError, Names, Points, usd};
use undine_sim::input::{Data, Geometry, PointCloud};
use undine_vdb::{Class, File, Kind};

/// What is read of a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reading {
    pub file: PathBuf,
    /// The prim of a scene, or the grid of a volume; all there is, if `None`.
    pub part: Option<String>,
    /// The time, in a file that has several [time codes].
    pub time: Option<f64>,
}

/// Files that were read last.
#[derive(Debug, Default)]
pub(super) struct Files(Mutex<Vec<(Reading, Arc<Data>)>>);

/// A frame, and those around it that differences are taken of, of two sequences.
const KEPT: usize = 8;

impl Files {
    pub fn read(&self, reading: &Reading) -> Result<Arc<Data>, Fault> {
        let known =
            lock(&self.0).iter().find(|(known, _)| known == reading).map(|(_, d)| d.clone());
        if let Some(data) = known {
            return Ok(data);
        }
        let data = Arc::new(read(reading)?);
        let mut files = lock(&self.0);
        if files.len() == KEPT {
            files.remove(0);
        }
        files.push((reading.clone(), data.clone()));
        Ok(data)
    }
}

/// Whether a file says itself in which unit and with which axis up it is; what is read of it is in metres, with Y up.
pub(super) fn says_its_axes(file: &Path) -> bool {
    matches!(Format::of(file), Ok(Format::Usda | Format::Usdc | Format::Usd | Format::Vdb))
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

fn read(reading: &Reading) -> Result<Data, Fault> {
    let file = reading.file.as_path();
    let name =
        file.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let read = match Format::of(file)? {
        Format::Vdb => return read_volume(reading, &name),
        Format::Usda | Format::Usdc | Format::Usd => {
            usd::read(file, reading.time, reading.part.as_deref())?
        }
        _ => undine_io::read(file)?,
    };
    let cloud = cloud(read.points);
    let geometry = match (read.faces, read.curves) {
        (Some(faces), _) if !faces.polygons.is_empty() || cloud.positions.is_empty() => {
            Geometry::Surface(Arc::new(Surface::new(
                name,
                cloud.positions.clone(),
                faces.polygons,
            )?))
        }
        (_, Some(curves)) if !curves.strands.is_empty() => {
            Geometry::Curves(Arc::new(Curves::new(name, cloud.positions.clone(), curves.strands)?))
        }
        _ => return Ok(Data::new(Geometry::Points(cloud))),
    };
    Ok(Data::new(geometry).with_cloud(cloud)?)
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

/// A level set or points: the grid of that name, or the first that is either.
fn read_volume(reading: &Reading, name: &str) -> Result<Data, Fault> {
    let mut file = File::open(&reading.file).map_err(IoError::from)?;
    let up = FileMetadata::of_vdb(file.metadata()).up;
    let heads = file.grids();
    let is_readable = |class, kind| {
        kind == Kind::Points
            || class == Class::LevelSet && matches!(kind, Kind::Float | Kind::Double)
    };
    let found = match &reading.part {
        Some(part) => Some(file.index_of(part).map_err(IoError::from)?),
        None => heads.iter().position(|head| is_readable(head.class, head.kind)),
    };
    let Some(head) =
        found.map(|index| &heads[index]).filter(|head| is_readable(head.class, head.kind))
    else {
        return Err(Fault::WrongData {
            found: "volumes that are no level sets",
            wanted: "a level set or points",
        });
    };
    let (kind, index) = (head.kind, found.unwrap_or_default());
    let grid = file.grid(index).map_err(IoError::from)?;
    if kind == Kind::Points {
        let points = points_of_grid(&grid, &Names::default(), up)?;
        return Ok(Data::new(Geometry::Points(cloud(points))));
    }
    let options = ReadOptions { up, ..ReadOptions::default() };
    let (domain, volume) = volume_of_grids(name, std::slice::from_ref(&grid), &options)?;
    let [channel, ..] =
        &volume.channels().infos().map(|info| info.name.clone()).collect::<Vec<_>>()[..]
    else {
        return Ok(Data::default());
    };
    let width = match &grid.content {
        undine_vdb::Content::Double(tree) => tree.background.abs(),
        undine_vdb::Content::Float(tree) => f64::from(tree.background.abs()),
        _ => 0.0,
    };
    let mut set = LevelSet::empty(name, &domain, width)?;
    set.cover(domain.topology().all())?;
    {
        let topology = set.topology().clone();
        let mut distances = set.volume().column_mut(set.distance())?;
        for slot in 0..topology.local() as u32 {
            let Some(from) = volume.topology().slot(topology.bucket(slot)) else { continue };
            let chunk = distances.chunk_mut(slot);
            match kind {
                Kind::Double => {
                    let column = volume.column(volume.handle::<f64>(channel)?)?;
                    chunk
                        .iter_mut()
                        .zip(column.chunk(from))
                        .for_each(|(to, from)| *to = *from as f32);
                }
                _ => chunk
                    .copy_from_slice(volume.column(volume.handle::<f32>(channel)?)?.chunk(from)),
            }
        }
    }
    set.find_beyond()?;
    Ok(Data::new(Geometry::LevelSet(Arc::new(set))))
}
