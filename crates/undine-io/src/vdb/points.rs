//! Tables of points to and from grids of points.

use crate::error::{IoError, Result};
use crate::names::{Names, UpAxis};
use crate::table::{Points, Values};
use std::collections::BTreeMap;
use undine_core::glam::{DVec3, Vec3};
use undine_vdb::points::{Attribute, Column, POSITION, voxel_size_for};
use undine_vdb::{Class, Content, Entry, Grid, Metadata, PointTree, Transform};

/// How points become a grid.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PointOptions {
    /// What channels are called.
    pub names: Names,
    /// The axis that points up in the file.
    pub up: UpAxis,
    /// The side of the voxels that points are sorted into [m]; without it, such that there are some points in each.
    pub voxel_size: Option<f64>,
}

/// A grid of points: positions are as exact as voxels are small, every channel is an attribute under its customary name, and
/// the unit of each is in the metadata.
pub fn points_grid(name: &str, points: &Points, options: &PointOptions) -> Result<Grid> {
    let points = options.up.points_to_file(points);
    let positions: &[[f64; 3]] = bytemuck::cast_slice(&points.positions);
    if let Some(point) = points.positions.iter().position(|position| !position.is_finite()) {
        return Err(IoError::Unwritable {
            what: format!("point {point} of `{name}`"),
            found: format!("it is at {}", points.positions[point]),
            wanted: "positions must be finite".into(),
        });
    }
    let size = options.voxel_size.unwrap_or_else(|| voxel_size_for(positions));
    let transform = Transform::uniform(size, [0.0; 3]);
    let mut attributes = Vec::new();
    let mut metadata = Metadata::new();
    metadata.insert("unit:P".into(), Entry::String("m".into()));
    for (channel, values) in &points.channels {
        let file = attribute_name(options.names.of_points(channel));
        if let Some(known) = crate::names::points(channel).filter(|known| !known.unit.is_empty()) {
            metadata.insert(format!("unit:{file}"), Entry::String(known.unit.into()));
        }
        attributes.push(Attribute::new(file, column(channel, values)?));
    }
    let tree = PointTree::from_points(&transform, positions, attributes)?;
    Ok(Grid {
        name: name.to_owned(),
        class: Class::Unknown,
        transform,
        saved_as_half: false,
        metadata,
        content: Content::Points(tree),
    })
}

/// OpenVDB allows letters, digits, `_`, `|` and `:`.
fn attribute_name(name: &str) -> String {
    name.replace(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '|' | ':'), "_")
}

fn column(channel: &str, values: &Values) -> Result<Column> {
    Ok(match values {
        Values::F32(values) => Column::Float(values.clone()),
        Values::F64(values) => Column::Double(values.clone()),
        Values::I32(values) => Column::Int32(values.clone()),
        Values::U32(values) => {
            Column::Int64(values.iter().map(|&value| i64::from(value)).collect())
        }
        Values::U64(values) => {
            let values: Result<Vec<i64>, _> = values.iter().map(|&id| i64::try_from(id)).collect();
            Column::Int64(values.map_err(|_| IoError::Unwritable {
                what: format!("channel `{channel}`"),
                found: "a number of it is 2⁶³ or more".into(),
                wanted: "OpenVDB has no type for such".into(),
            })?)
        }
        Values::Vec3(values) => Column::Vec3s(values.iter().map(Vec3::to_array).collect()),
        Values::DVec3(values) => Column::Vec3d(values.iter().map(DVec3::to_array).collect()),
    })
}

/// The points of a grid in the order of the file, channels under the names that stores have for them. Groups are channels of 0
/// and 1; attributes without a type here (matrices, quaternions, text, several values a point) are passed over: [`without_channel`] lists them.
pub fn points_of_grid(grid: &Grid, names: &Names, up: UpAxis) -> Result<Points> {
    let refused = |found: String, wanted: &str| IoError::Unreadable {
        what: format!("the grid `{}` as points", grid.name),
        found,
        wanted: wanted.to_owned(),
    };
    let Content::Points(tree) = &grid.content else {
        let found = format!("it holds {:?}", grid.content.kind());
        return Err(refused(found, "only a grid of points has points"));
    };
    // A frame without points has no leaves, and without leaves there are no attributes.
    let positions =
        if tree.is_empty() { Some(Vec::new()) } else { tree.world_positions(&grid.transform) };
    let Some(positions) = positions else {
        return Err(refused("its points have no positions".into(), "they need the attribute `P`"));
    };
    let mut channels = BTreeMap::new();
    let others = tree.attributes.iter().filter(|attribute| attribute.name != POSITION);
    for attribute in others.filter(|attribute| attribute.stride == 1) {
        if let Some(values) = values(&attribute.values) {
            channels.insert(names.points_channel(&attribute.name).to_owned(), values);
        }
    }
    for (group, members) in &tree.groups {
        let members = members.iter().map(|&member| i32::from(member)).collect();
        channels.entry(group.clone()).or_insert(Values::I32(members));
    }
    let positions = positions.into_iter().map(DVec3::from_array).collect();
    Ok(up.points_from_file(Points { positions, channels }))
}

/// The attributes of a grid of points that have no channel in a table, in words.
pub fn without_channel(grid: &Grid) -> Vec<String> {
    let Content::Points(tree) = &grid.content else { return Vec::new() };
    let others = tree.attributes.iter().filter(|attribute| attribute.name != POSITION);
    let left = others.filter(|found| found.stride != 1 || values(&found.values).is_none());
    let word = |found: &Attribute| {
        let (name, kind) = (&found.name, found.values.word());
        let of = &grid.name;
        match found.stride {
            1 => format!("the attribute `{name}` of `{of}`, {kind}"),
            several => format!("the attribute `{name}` of `{of}`, {several} {kind} for each point"),
        }
    };
    left.map(word).collect()
}

fn values(column: &Column) -> Option<Values> {
    Some(match column {
        Column::Float(values) => Values::F32(values.clone()),
        Column::Double(values) => Values::F64(values.clone()),
        Column::Int8(values) => Values::I32(values.iter().map(|&value| value.into()).collect()),
        Column::Int16(values) => Values::I32(values.iter().map(|&value| value.into()).collect()),
        Column::Int32(values) => Values::I32(values.clone()),
        Column::Bool(values) => Values::I32(values.iter().map(|&value| value.into()).collect()),
        // Ids, or numbers below 0, of which up to 2⁵³ are kept to their last digit.
        Column::Int64(values) => {
            match values.iter().map(|&value| u64::try_from(value).ok()).collect() {
                Some(ids) => Values::U64(ids),
                None => Values::F64(values.iter().map(|&value| value as f64).collect()),
            }
        }
        Column::Vec3s(values) => Values::Vec3(values.iter().map(|&v| v.into()).collect()),
        Column::Vec3d(values) => Values::DVec3(values.iter().map(|&v| v.into()).collect()),
        Column::Vec3i(values) => {
            let vector = |v: &[i32; 3]| DVec3::from_array(v.map(f64::from));
            Values::DVec3(values.iter().map(vector).collect())
        }
        _ => return None,
    })
}
