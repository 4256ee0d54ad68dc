//! The grids of a VDB file. Heads are cheap; values are read one grid at a time.

use super::part::{ChannelInfo, Part, Range, mapped};
use super::{Depth, FileInfo};
use crate::error::{IoError, Result};
use std::path::Path;
use undine_core::glam::DVec3;
use undine_vdb::codec::Codec;
use undine_vdb::points::{Column, PointTree};
use undine_vdb::{
    Bounds, Content, Entry, File, GridHead, Kind, Level, MaskBit, Metadata, Tree, VOXELS, Value,
};

/// Adds what the grids of a file are.
pub(super) fn inspect(path: &Path, depth: Depth, info: &mut FileInfo) -> Result<()> {
    let failed = |why| IoError::in_vdb(path, why);
    let mut file = File::open(path).map_err(failed)?;
    info.metadata = words(file.metadata());
    for index in 0..file.grids().len() {
        let head = file.grids()[index].clone();
        let mut part = of_head(&head);
        if depth == Depth::Values {
            match file.grid(index) {
                Ok(grid) => of_content(&grid.content, &head, &mut part),
                Err(why) => {
                    info.damaged |= why.is_damage();
                    info.warnings.push(format!("grid `{}`: {why}", head.name));
                }
            }
        }
        let strange = part.channels.iter().filter(|channel| channel.not_finite > 0);
        info.warnings.extend(strange.map(|channel| {
            format!("grid `{}`: {} values are no finite numbers", head.name, channel.not_finite)
        }));
        info.parts.push(part);
    }
    // What is wrong with the attributes of points is known once they are read.
    info.warnings.extend(file.warnings().iter().map(ToString::to_string));
    Ok(())
}

fn of_head(head: &GridHead) -> Part {
    let codec = match head.compression.codec {
        Codec::None => "not compressed",
        Codec::Zip => "zip",
        Codec::Blosc => "blosc",
    };
    let mask = if head.compression.active_mask { " and active mask" } else { "" };
    let half = if head.saved_as_half { "saved as half, " } else { "" };
    let on = if head.kind == Kind::Points { "points" } else { "voxels" };
    let kind = if head.kind == Kind::Points { "points" } else { head.class.word() };
    Part {
        name: head.name.clone(),
        kind: kind.to_owned(),
        storage: format!("{half}{codec}{mask}, {} bytes", head.bytes.end - head.bytes.start),
        counts: head.active_voxels.map(|count| ("active voxels", count)).into_iter().collect(),
        bounds: head.bounds.and_then(|bounds| world(bounds, head)),
        transform: Some(head.transform.rows),
        voxel_size: Some(head.transform.voxel_size()),
        channels: vec![ChannelInfo {
            name: head.name.clone(),
            on,
            kind: head.kind.word().to_owned(),
            range: None,
            not_finite: 0,
        }],
        memory: None,
        metadata: words(&head.metadata),
    }
}

/// The box of voxels in the world; voxels are cubes around their centres.
fn world(Bounds { min, max }: Bounds, head: &GridHead) -> Option<undine_core::mesh::Bounds> {
    let corner = |voxel: [i32; 3], half: f64| DVec3::from_array(voxel.map(|c| f64::from(c) + half));
    mapped(corner(min, -0.5), corner(max, 0.5), |place| {
        DVec3::from_array(head.transform.world(place.to_array()))
    })
}

/// A type of value as numbers.
trait Numbers: Value {
    const COMPONENTS: usize = 1;
    fn numbers(self) -> [f64; 3];
}

macro_rules! numbers {
    ($type:ty, $components:expr, |$value:ident| $numbers:expr) => {
        impl Numbers for $type {
            const COMPONENTS: usize = $components;
            fn numbers(self) -> [f64; 3] {
                let $value = self;
                $numbers
            }
        }
    };
}
numbers!(f32, 1, |value| [f64::from(value); 3]);
numbers!(f64, 1, |value| [value; 3]);
numbers!(i32, 1, |value| [f64::from(value); 3]);
numbers!(i64, 1, |value| [value as f64; 3]);
numbers!(bool, 1, |value| [f64::from(u8::from(value)); 3]);
numbers!(MaskBit, 1, |value| [f64::from(u8::from(value.0)); 3]);
numbers!([f32; 3], 3, |value| value.map(f64::from));
numbers!([f64; 3], 3, |value| value);
numbers!([i32; 3], 3, |value| value.map(f64::from));

fn of_content(content: &Content, head: &GridHead, part: &mut Part) {
    match content {
        Content::Float(tree) => of_tree(tree, head, part),
        Content::Double(tree) => of_tree(tree, head, part),
        Content::Int32(tree) => of_tree(tree, head, part),
        Content::Int64(tree) => of_tree(tree, head, part),
        Content::Bool(tree) => of_tree(tree, head, part),
        Content::Mask(tree) => of_tree(tree, head, part),
        Content::Vec3s(tree) => of_tree(tree, head, part),
        Content::Vec3d(tree) => of_tree(tree, head, part),
        Content::Vec3i(tree) => of_tree(tree, head, part),
        Content::Points(tree) => of_points(tree, head, part),
    }
}

fn of_tree<T: Numbers>(tree: &Tree<T>, head: &GridHead, part: &mut Part) {
    let leaves = &tree.leaves;
    part.counts = vec![
        ("active voxels", tree.active_voxels()),
        ("leaves", leaves.origins.len() as u64),
        ("tiles", tree.tiles.len() as u64),
    ];
    let leaf = VOXELS * size_of::<T>() + VOXELS / 8 + size_of::<[i32; 3]>();
    let tile = size_of::<undine_vdb::Tile<T>>();
    part.memory = Some((leaves.origins.len() * leaf + tree.tiles.len() * tile) as u64);
    part.bounds = active_box(tree).and_then(|bounds| world(bounds, head));
    let voxels = leaves.masks.iter().zip(leaves.values.chunks_exact(VOXELS));
    let active = voxels.flat_map(|(mask, values)| mask.iter().map(|voxel| values[voxel]));
    let tiles = tree.tiles.iter().filter(|tile| tile.active).map(|tile| tile.value);
    let numbers =
        active.chain(tiles).flat_map(|value| value.numbers().into_iter().take(T::COMPONENTS));
    let (range, not_finite) = Range::of(numbers, T::COMPONENTS);
    if let Some(channel) = part.channels.first_mut() {
        (channel.range, channel.not_finite) = (range, not_finite);
    }
}

fn of_points(tree: &PointTree, head: &GridHead, part: &mut Part) {
    part.counts = vec![
        ("points", tree.len() as u64),
        ("active voxels", tree.voxels.active_voxels()),
        ("leaves", tree.voxels.leaves.origins.len() as u64),
    ];
    part.bounds = tree.world_positions(&head.transform).and_then(|positions| {
        undine_core::mesh::Bounds::around(positions.into_iter().map(DVec3::from_array))
    });
    let attributes = tree.attributes.iter().map(|attribute| {
        let (numbers, components) = numbers_of(&attribute.values);
        let (range, not_finite) = Range::of(numbers.into_iter(), components);
        ChannelInfo {
            name: attribute.name.clone(),
            on: "points",
            kind: attribute.values.word().to_owned(),
            range,
            not_finite,
        }
    });
    let groups = tree.groups.iter().map(|(name, members)| ChannelInfo {
        name: name.clone(),
        on: "points",
        kind: "group".to_owned(),
        range: Range::of(members.iter().map(|&is_in| f64::from(u8::from(is_in))), 1).0,
        not_finite: 0,
    });
    part.channels = attributes.chain(groups).collect();
}

/// The values of a column as numbers, and how many make a value; of texts there are none.
fn numbers_of(column: &Column) -> (Vec<f64>, usize) {
    fn of<T: Copy>(values: &[T], number: impl Fn(T) -> f64) -> Vec<f64> {
        values.iter().map(|&value| number(value)).collect()
    }
    match column {
        Column::Float(values) => (of(values, f64::from), 1),
        Column::Double(values) => (values.clone(), 1),
        Column::Int8(values) => (of(values, f64::from), 1),
        Column::Int16(values) => (of(values, f64::from), 1),
        Column::Int32(values) => (of(values, f64::from), 1),
        Column::Int64(values) => (of(values, |value| value as f64), 1),
        Column::Bool(values) => (of(values, |value| f64::from(u8::from(value))), 1),
        Column::Vec3s(values) => (of(values.as_flattened(), f64::from), 3),
        Column::Vec3d(values) => (values.as_flattened().to_vec(), 3),
        Column::Vec3i(values) => (of(values.as_flattened(), f64::from), 3),
        Column::Quats(values) => (of(values.as_flattened(), f64::from), 4),
        Column::Quatd(values) => (values.as_flattened().to_vec(), 4),
        Column::Mat3s(values) => (of(values.as_flattened(), f64::from), 9),
        Column::Mat3d(values) => (values.as_flattened().to_vec(), 9),
        Column::Mat4s(values) => (of(values.as_flattened(), f64::from), 16),
        Column::Mat4d(values) => (values.as_flattened().to_vec(), 16),
        Column::String(_) => (Vec::new(), 1),
    }
}

/// The box of all active voxels.
fn active_box<T: Value>(tree: &Tree<T>) -> Option<Bounds> {
    let mut found: Option<Bounds> = None;
    let mut add = |min: [i32; 3], max: [i32; 3]| {
        let bounds = found.get_or_insert(Bounds { min, max });
        for axis in 0..3 {
            bounds.min[axis] = bounds.min[axis].min(min[axis]);
            bounds.max[axis] = bounds.max[axis].max(max[axis]);
        }
    };
    let last = |origin: [i32; 3], level: Level| origin.map(|c| c.saturating_add(level.side() - 1));
    for tile in tree.tiles.iter().filter(|tile| tile.active) {
        add(tile.origin, last(tile.origin, tile.level));
    }
    for (origin, mask) in tree.leaves.origins.iter().zip(&tree.leaves.masks) {
        for n in mask.iter() {
            let n = n as i32;
            let voxel = [origin[0] + (n >> 6), origin[1] + (n >> 3 & 7), origin[2] + (n & 7)];
            add(voxel, voxel);
        }
    }
    found
}

fn words(metadata: &Metadata) -> std::collections::BTreeMap<String, String> {
    metadata.iter().map(|(name, entry)| (name.clone(), word(entry))).collect()
}

fn word(entry: &Entry) -> String {
    fn list<T: ToString>(numbers: &[T]) -> String {
        numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    }
    match entry {
        Entry::Bool(value) => value.to_string(),
        Entry::Int32(value) => value.to_string(),
        Entry::Int64(value) => value.to_string(),
        Entry::Float(value) => value.to_string(),
        Entry::Double(value) => value.to_string(),
        Entry::String(value) => value.clone(),
        Entry::Vec2i(value) => list(value),
        Entry::Vec2s(value) => list(value),
        Entry::Vec2d(value) => list(value),
        Entry::Vec3i(value) => list(value),
        Entry::Vec3s(value) => list(value),
        Entry::Vec3d(value) => list(value),
        Entry::Vec4i(value) => list(value),
        Entry::Vec4s(value) => list(value),
        Entry::Vec4d(value) => list(value),
        Entry::Mat4s(value) => list(value),
        Entry::Mat4d(value) => list(value),
        Entry::Other { kind, bytes } => format!("{} bytes of type {kind}", bytes.len()),
    }
}
