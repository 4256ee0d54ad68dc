//! Grids to write and read.

use undine_vdb::{
    Class, Content, Entry, FileOrder, Grid, LeafMask, Level, MaskBit, Metadata, Tile, Transform,
    Tree, Value,
};

/// A number without order.
pub fn noise(n: u32) -> u32 {
    let n = (n ^ n >> 15).wrapping_mul(0x2c1b_3c6d);
    let n = (n ^ n >> 12).wrapping_mul(0x297a_2d39);
    n ^ n >> 15
}

/// The values of a leaf.
pub fn leaf(seed: u32) -> [f32; 512] {
    std::array::from_fn(|voxel| noise(seed * 512 + voxel as u32) as f32 * 1e-9)
}

/// A grid with nothing special about it.
pub fn grid(name: &str, content: Content) -> Grid {
    Grid {
        name: name.to_owned(),
        class: Class::Unknown,
        transform: Transform::default(),
        saved_as_half: false,
        metadata: Metadata::new(),
        content,
    }
}

/// A float grid with nothing special about it.
pub fn float(name: &str, tree: Tree<f32>) -> Grid {
    grid(name, Content::Float(tree))
}

/// A tree with leaves near and far, whose masks and inactive values are of every sort, and tiles of every level.
fn tree<T: Value>(background: T, value: impl Fn(u32) -> T) -> Tree<T> {
    let mut origins = vec![
        [0, 0, 0],
        [0, 0, 8],
        [8, 0, 0],
        [-8, -8, -8],
        [-4096, 0, 0],
        [128, 256, 512],
        [4096, 0, -8],
        [1_000_000_000, -2_000_000_000, 8],
        [2_147_483_640, 2_147_483_640, -2_147_483_648],
    ];
    origins.sort_by_key(|&origin| FileOrder::of(origin));
    let mut tree = Tree::new(background);
    for (origin, n) in origins.into_iter().zip(0u32..) {
        let mask = LeafMask::of(|voxel| match n % 4 {
            0 => (voxel / 64).is_multiple_of(2) && noise(voxel as u32).is_multiple_of(2),
            1 => voxel == 77,
            2 => noise(voxel as u32 + n).is_multiple_of(3),
            _ => true,
        });
        let pair =
            |voxel: usize, one: T, other: T| if voxel.is_multiple_of(3) { one } else { other };
        let values = std::array::from_fn(|voxel| match (mask.is_on(voxel), n) {
            (true, _) => value(n * 512 + voxel as u32),
            (_, 0) => background,
            (_, 1) => background.negative(),
            (_, 2) => value(5),
            (_, 4) => pair(voxel, background, background.negative()),
            (_, 5) => pair(voxel, background, value(5)),
            (_, 6) => pair(voxel, value(9), value(5)),
            _ => value(voxel as u32),
        });
        tree.leaves.push(origin, mask, &values);
    }
    let minus = background.negative();
    tree.tiles = vec![
        Tile { origin: [-8192, 4096, 0], level: Level::Upper, value: value(4), active: true },
        Tile { origin: [-8192, 8192, 0], level: Level::Upper, value: minus, active: false },
        Tile { origin: [0, 16, 0], level: Level::Leaf, value: value(1), active: true },
        Tile { origin: [0, 32, 0], level: Level::Leaf, value: minus, active: false },
        Tile { origin: [256, 256, 0], level: Level::Lower, value: value(3), active: true },
        Tile { origin: [384, 256, 0], level: Level::Lower, value: minus, active: false },
    ];
    tree
}

/// A mask grid's tree, whose values say no more than what is active.
fn mask() -> Tree<MaskBit> {
    let mut tree = tree(MaskBit(false), |_| MaskBit(true));
    for leaf in 0..tree.leaves.origins.len() {
        let mask = tree.leaves.masks[leaf];
        (0..512).for_each(|v| tree.leaves.values[leaf * 512 + v] = MaskBit(mask.is_on(v)));
    }
    tree.tiles.retain(|tile| tile.active);
    tree
}

/// A grid of every kind and some that are empty; with values that half floats hold exactly if they are to be saved so.
pub fn all(half: bool) -> Vec<Grid> {
    let number = move |n: u32| match half {
        true => (noise(n) >> 22) as f32 / 4.0 - 100.0,
        false => noise(n) as f32 / 65_536.0 - 100.0,
    };
    let double = move |n: u32| f64::from(number(n)) * if half { 1.0 } else { 1.1 };
    let contents = [
        Content::Float(tree(0.375, number)),
        Content::Double(tree(0.375, double)),
        Content::Int32(tree(7, |n| noise(n) as i32 % 1000)),
        Content::Int64(tree(-3, |n| i64::from(noise(n)) << 20)),
        Content::Bool(tree(false, |n| noise(n).is_multiple_of(2))),
        Content::Mask(mask()),
        Content::Vec3s(tree([0.125, 0.25, 0.375], |n| [number(n), number(n + 1), 0.0])),
        Content::Vec3d(tree([0.125, 0.25, 0.375], |n| [double(n), 2.0, 0.0])),
        Content::Vec3i(tree([1, 2, 3], |n| [noise(n) as i32, 3, -1])),
        Content::Float(Tree::new(0.5)),
        Content::Bool(Tree::new(true)),
    ];
    let mut turned = Transform::uniform(1.0, [5.0, 6.0, 7.0]);
    (turned.rows[0], turned.rows[1]) = ([0.0, 0.5, 0.0, 0.0], [-0.25, 0.0, 0.0, 0.0]);
    let transforms = [
        Transform::uniform(0.1, [0.0; 3]),
        Transform::uniform(0.1, [1.0, 2.0, 3.0]),
        Transform::scaled([0.1, -0.2, 0.3], [0.0; 3]),
        Transform::scaled([0.1, 0.2, 0.3], [1.0, 0.0, 0.0]),
        turned,
    ];
    let classes = [Class::Unknown, Class::LevelSet, Class::FogVolume, Class::Staggered];
    let grids = contents.into_iter().zip(0..).map(|(content, n)| Grid {
        name: format!("grid {n}"),
        class: classes[n % 4],
        transform: transforms[n % 5],
        saved_as_half: half,
        metadata: Metadata::from([("number".to_owned(), Entry::Int32(n as i32))]),
        content,
    });
    grids.collect()
}
