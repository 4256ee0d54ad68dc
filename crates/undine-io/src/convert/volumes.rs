//! A `.vdb` file into another: grids keep what they hold, with other names, codecs, units or axes.

use super::{ConvertOptions, Job, not_renamed};
use crate::FileMetadata;
use crate::error::{IoError, Result};
use crate::names::{self, Names, UpAxis, has_direction};
use crate::vdb::GridValue;
use crate::whole::write_whole;
use undine_core::glam::DVec3;
use undine_vdb::codec::Codec;
use undine_vdb::points::{Column, POSITION};
use undine_vdb::{Class, Content, Entry, File, Grid, Kind, Metadata, Tree, write};

/// Under which name a file or a grid says how long its unit is [m].
const METRES_PER_UNIT: &str = "metres_per_unit";

/// A file of grids, one grid in memory at a time besides what is compressed already.
pub(super) fn convert(job: &Job, options: &ConvertOptions) -> Result<Vec<String>> {
    let in_input = |why| IoError::in_vdb(&job.from, why);
    let mut file = File::open(&job.from).map_err(in_input)?;
    let mut notes = Vec::new();
    let wanted: Vec<usize> = if options.grids.is_empty() {
        (0..file.grids().len()).collect()
    } else {
        let found = options.grids.iter().map(|name| file.index_of(name));
        found.collect::<undine_vdb::Result<_>>().map_err(in_input)?
    };
    for (from, _) in &options.rename {
        file.index_of(from).map_err(in_input)?;
    }
    let kept: Vec<&str> = wanted.iter().map(|&index| file.grids()[index].name.as_str()).collect();
    for (from, to) in &options.rename {
        let is_given_away = options.rename.iter().any(|(other, _)| other == to);
        if from != to && kept.contains(&to.as_str()) && !is_given_away {
            return Err(not_renamed(from, format!("there is a grid `{to}` already"), ""));
        }
    }
    let mut metadata = file.metadata().clone();
    let metres = FileMetadata::of_vdb(&metadata).metres_per_unit;
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
        scale_grid(&mut grid, metres);
        if let Some(up) = options.up {
            turn_grid(&mut grid, options.from_up, up, &metadata)?;
        }
        encoded
            .push(write::encode_grid(&grid, compression).map_err(|w| IoError::in_vdb(&job.to, w))?);
    }
    notes.extend(file.warnings().iter().map(|warning| format!("left out: {warning}")));
    if metres != 1.0 {
        metadata.insert(METRES_PER_UNIT.to_owned(), Entry::Double(1.0));
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

/// Puts a grid into metres: its place in the world, distances, and velocities. A grid may have a unit of its own.
fn scale_grid(grid: &mut Grid, of_file: f64) {
    let says = grid.metadata.contains_key(METRES_PER_UNIT);
    let metres = if says { FileMetadata::of_vdb(&grid.metadata).metres_per_unit } else { of_file };
    if metres == 1.0 {
        return;
    }
    if says {
        grid.metadata.insert(METRES_PER_UNIT.to_owned(), Entry::Double(1.0));
    }
    grid.transform.rows.iter_mut().flat_map(|row| &mut row[..3]).for_each(|c| *c *= metres);
    let customary = Names::default();
    let known = names::volume(customary.volume_channel(&grid.name));
    let is_length = grid.class == Class::LevelSet || known.is_some_and(|known| known.is_length());
    fn values<T: Copy>(tree: &mut Tree<T>, scaled: impl Fn(T) -> T) {
        tree.background = scaled(tree.background);
        tree.tiles.iter_mut().for_each(|tile| tile.value = scaled(tile.value));
        tree.leaves.values.iter_mut().for_each(|value| *value = scaled(*value));
    }
    let single = |value: f32| (f64::from(value) * metres) as f32;
    match &mut grid.content {
        Content::Points(tree) => {
            let is_scaled = |name: &str| names::is_length(customary.points_channel(name));
            for found in tree.attributes.iter_mut().filter(|found| is_scaled(&found.name)) {
                match &mut found.values {
                    // Positions count in voxels.
                    _ if found.name == POSITION => {}
                    Column::Float(all) => all.iter_mut().for_each(|v| *v = single(*v)),
                    Column::Double(all) => all.iter_mut().for_each(|v| *v *= metres),
                    Column::Vec3s(all) => all.iter_mut().for_each(|v| *v = v.map(single)),
                    Column::Vec3d(all) => all.iter_mut().for_each(|v| *v = v.map(|c| c * metres)),
                    _ => {}
                }
            }
        }
        _ if !is_length => {}
        Content::Float(tree) => values(tree, single),
        Content::Double(tree) => values(tree, |value| value * metres),
        Content::Vec3s(tree) => values(tree, |value| value.map(single)),
        Content::Vec3d(tree) => values(tree, |value| value.map(|c| c * metres)),
        _ => {}
    }
}
