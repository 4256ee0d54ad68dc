//! What is in a grid, one fact per line: the same lines that `tests/peer/describe.py` prints of what OpenVDB finds.

use undine_vdb::{Content, Entry, Grid, Level, MaskBit, Metadata, Transform, Tree, VOXELS, Value};

/// A value as the script prints it: whole numbers plain, others by the bits of their double.
pub trait Text {
    /// The text.
    fn text(&self) -> String;
}

macro_rules! text {
    ($($type:ty: |$value:ident| $text:expr),+) => {
        $(impl Text for $type {
            fn text(&self) -> String {
                let $value = self;
                $text
            }
        })+
    };
}
text!(
    bool: |value| u8::from(*value).to_string(),
    MaskBit: |value| u8::from(value.0).to_string(),
    i32: |value| value.to_string(),
    i64: |value| value.to_string(),
    u32: |value| value.to_string(),
    f32: |value| f64::from(*value).text(),
    f64: |value| format!("{:016x}", value.to_bits())
);
impl<T: Text, const N: usize> Text for [T; N] {
    fn text(&self) -> String {
        self.iter().map(Text::text).collect::<Vec<_>>().join(",")
    }
}

/// The lines for grids, block after block in the order of their text: a file may order grids of one name as it likes.
pub fn grids<'a>(grids: impl IntoIterator<Item = &'a Grid>) -> Vec<String> {
    in_order(grids.into_iter().map(grid).collect())
}

/// Lines that a script printed, in the same order as those of [`grids`]. Those about the file come first.
pub fn of_script(said: &str) -> Vec<String> {
    let mut blocks: Vec<Vec<String>> = vec![Vec::new()];
    for line in said.lines() {
        if line.starts_with("grid ") {
            blocks.push(Vec::new());
        }
        blocks.last_mut().expect("there is always one").push(line.to_string());
    }
    let head = blocks.remove(0);
    [head, in_order(blocks)].concat()
}

/// The lines for the metadata of a file.
pub fn file(metadata: &Metadata) -> Vec<String> {
    metadata.iter().map(|(name, value)| format!("file {name} {}", entry(value))).collect()
}

/// Fails with the first line that differs.
pub fn assert_same(found: &[String], wanted: &[String]) {
    if let Some(at) = (0..found.len().max(wanted.len())).find(|&at| found.get(at) != wanted.get(at))
    {
        let grid = wanted[..at.min(wanted.len())].iter().rfind(|line| line.starts_with("grid "));
        panic!(
            "line {at}, of {grid:?}: found {:?}, wanted {:?}; {} lines instead of {}",
            found.get(at),
            wanted.get(at),
            found.len(),
            wanted.len()
        );
    }
}

fn in_order(mut blocks: Vec<Vec<String>>) -> Vec<String> {
    blocks.sort();
    blocks.concat()
}

fn grid(grid: &Grid) -> Vec<String> {
    let half = grid.saved_as_half;
    let mut lines = vec![
        format!("grid {}", grid.name),
        format!("type {}", grid.content.kind().word()),
        format!("class {}", grid.class.word()),
        format!("half {}", u8::from(half)),
    ];
    let ([background, leaves, active], values) = match &grid.content {
        Content::Float(tree) => of_tree(tree, half),
        Content::Double(tree) => of_tree(tree, half),
        Content::Int32(tree) => of_tree(tree, half),
        Content::Int64(tree) => of_tree(tree, half),
        Content::Bool(tree) => of_tree(tree, half),
        Content::Mask(tree) => of_tree(tree, half),
        Content::Vec3s(tree) => of_tree(tree, half),
        Content::Vec3d(tree) => of_tree(tree, half),
        Content::Vec3i(tree) => of_tree(tree, half),
        Content::Points(points) => of_tree(&points.voxels, half),
    };
    lines.extend([background, transform(&grid.transform), leaves, active]);
    lines.extend(grid.metadata.iter().map(|(name, value)| format!("meta {name} {}", entry(value))));
    lines.extend(values);
    lines
}

/// The images of the three axes and of the origin.
fn transform(transform: &Transform) -> String {
    let origin = transform.world([0.0; 3]);
    let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|axis| {
        let end = transform.world(axis);
        [0, 1, 2].map(|c| end[c] - origin[c])
    });
    // A zero has no sign here.
    let numbers = axes.into_iter().chain([origin]).flatten().map(|number| (number + 0.0).text());
    format!("transform {}", numbers.collect::<Vec<_>>().join(" "))
}

/// Background, number of leaves, number of active voxels; and every value that is active or not the background.
fn of_tree<T: Value + Text>(tree: &Tree<T>, half: bool) -> ([String; 3], Vec<String>) {
    let as_saved = |value: T| if half { value.rounded_to_half() } else { value };
    let background = as_saved(tree.background);
    let mut values: Vec<(u8, [i32; 3], bool, T)> = Vec::new();
    for tile in &tree.tiles {
        let depth = match tile.level {
            Level::Upper => 0,
            Level::Lower => 1,
            Level::Leaf => 2,
        };
        // Values of the root are the only ones that are never rounded.
        let value = if depth == 0 { tile.value } else { as_saved(tile.value) };
        values.push((depth, tile.origin, tile.active, value));
    }
    let leaves = &tree.leaves;
    for (leaf, (origin, mask)) in leaves.origins.iter().zip(&leaves.masks).enumerate() {
        for voxel in 0..VOXELS {
            let offset = [voxel >> 6, voxel >> 3 & 7, voxel & 7].map(|c| c as i32);
            let place = [0, 1, 2].map(|c| origin[c] + offset[c]);
            let value = as_saved(leaves.values[leaf * VOXELS + voxel]);
            values.push((3, place, mask.is_on(voxel), value));
        }
    }
    values.retain(|&(.., active, value)| active || value != background);
    values.sort_by_key(|&(depth, place, ..)| (depth, place));
    let lines = values.iter().map(|(depth, [x, y, z], active, value)| {
        format!("value {depth} {x} {y} {z} {} {}", u8::from(*active), value.text())
    });
    (
        [
            format!("background {}", background.text()),
            format!("leaves {}", leaves.origins.len()),
            format!("active {}", tree.active_voxels()),
        ],
        lines.collect(),
    )
}

fn entry(entry: &Entry) -> String {
    match entry {
        Entry::Bool(value) => value.text(),
        Entry::Int32(value) => value.text(),
        Entry::Int64(value) => value.text(),
        Entry::Float(value) => value.text(),
        Entry::Double(value) => value.text(),
        Entry::String(value) => value.clone(),
        Entry::Vec2i(value) => value.text(),
        Entry::Vec2s(value) => value.text(),
        Entry::Vec2d(value) => value.text(),
        Entry::Vec3i(value) => value.text(),
        Entry::Vec3s(value) => value.text(),
        Entry::Vec3d(value) => value.text(),
        Entry::Vec4i(value) => value.text(),
        Entry::Vec4s(value) => value.text(),
        Entry::Vec4d(value) => value.text(),
        Entry::Mat4s(value) => value.text(),
        Entry::Mat4d(value) => value.text(),
        Entry::Other { kind, bytes } => format!("{kind} {bytes:02x?}"),
    }
}
