//! Grids of every kind and shape: what is written for other programs to read.

use std::f64::consts::PI;
use undine_vdb::{
    Class, Content, Entry, FileOrder, Grid, LeafMask, Leaves, Level, MaskBit, Metadata, Tile,
    Transform, Tree, VOXELS, Value,
};

/// Values that look like nothing, the same on every run.
pub trait Sample: Value {
    /// The value of this number.
    fn sample(number: u64) -> Self;
}

/// A number without a pattern (the finaliser of SplitMix64, Steele et al. 2014).
fn mix(number: u64) -> u64 {
    let z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

macro_rules! sample {
    ($($type:ty: |$number:ident| $value:expr),+) => {
        $(impl Sample for $type {
            fn sample($number: u64) -> Self {
                $value
            }
        })+
    };
}
sample!(
    f32: |number| (mix(number) >> 40) as f32 / (1 << 20) as f32 - 4.0,
    f64: |number| (mix(number) >> 11) as f64 / (1u64 << 50) as f64 - 4.0,
    i32: |number| mix(number) as i32,
    i64: |number| mix(number) as i64,
    bool: |number| mix(number) & 1 == 1,
    // An inactive voxel of a mask grid is off: there is nothing else that it could be.
    MaskBit: |number| MaskBit(number == u64::MAX)
);
impl<T: Sample> Sample for [T; 3]
where
    [T; 3]: Value,
{
    fn sample(number: u64) -> Self {
        [0, 1, 2].map(|c| T::sample(number.wrapping_mul(3).wrapping_add(c)))
    }
}

/// The shapes of a tree: each kind of value has them all.
pub fn shapes<T: Sample>(content: fn(Tree<T>) -> Content) -> Vec<Grid> {
    let word = T::KIND.word();
    let trees = [
        ("empty", Tree::new(background::<T>())),
        ("one voxel", with_leaves([([0, 0, 0], LeafMask::of(|voxel| voxel == 0), 1)], |_, _| 0)),
        ("cloud", cloud()),
        ("tiles", tiles()),
        ("huge coordinates", huge_coordinates()),
        ("inactive one", inactive(1)),
        ("inactive two", inactive(2)),
        ("inactive three", inactive(3)),
    ];
    trees.map(|(shape, tree)| grid(&format!("{word} {shape}"), content(tree))).into()
}

/// Every shape of every kind.
pub fn all_kinds() -> Vec<Grid> {
    [
        shapes(Content::Float),
        shapes(Content::Double),
        shapes(Content::Int32),
        shapes(Content::Int64),
        shapes(Content::Bool),
        shapes(Content::Mask),
        shapes(Content::Vec3s),
        shapes(Content::Vec3d),
        shapes(Content::Vec3i),
        saved_as_half(),
    ]
    .concat()
}

/// Those that OpenVDB's Python module can look into, and what else a grid has: classes, places, metadata, names.
pub fn for_python() -> Vec<Grid> {
    let mut grids = [
        shapes(Content::Float),
        shapes(Content::Bool),
        shapes(Content::Vec3s),
        saved_as_half(),
        placed(),
    ]
    .concat();
    grids.retain(|grid| !matches!(grid.content, Content::Double(_) | Content::Vec3d(_)));
    grids.push(level_set("level set", [8.0, 9.5, -3.25], 9.0));
    let mut fog = grid("fog", Content::Float(cloud()));
    fog.class = Class::FogVolume;
    let mut staggered = grid("staggered", Content::Vec3s(cloud()));
    staggered.class = Class::Staggered;
    staggered
        .metadata
        .insert("vector_type".to_string(), Entry::String("contravariant relative".to_string()));
    let mut described = grid("metadata", Content::Float(Tree::new(0.0)));
    described.metadata = metadata();
    grids.extend([fog, staggered, described]);
    // Grids of one name, and of none.
    grids.extend(["same", "same", "same", "", ""].map(|name| grid(name, Content::Float(cloud()))));
    grids
}

/// Metadata of every type that there is.
pub fn metadata() -> Metadata {
    let entries = [
        ("bool", Entry::Bool(true)),
        ("creator", Entry::String("Undine".to_string())),
        ("double", Entry::Double(PI)),
        ("empty", Entry::String(String::new())),
        ("float", Entry::Float(0.1)),
        ("int32", Entry::Int32(-7)),
        ("int64", Entry::Int64(-(1 << 40))),
        (
            "mat4d",
            Entry::Mat4d([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15].map(f64::from)),
        ),
        (
            "mat4s",
            Entry::Mat4s([0u8, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15].map(f32::from)),
        ),
        ("text", Entry::String("Zürich".to_string())),
        ("vec2d", Entry::Vec2d([0.1, 0.2])),
        ("vec2i", Entry::Vec2i([1, -2])),
        ("vec2s", Entry::Vec2s([0.1, 0.2])),
        ("vec3d", Entry::Vec3d([0.1, 0.2, 0.3])),
        ("vec3i", Entry::Vec3i([1, -2, 3])),
        ("vec3s", Entry::Vec3s([0.1, 0.2, 0.3])),
        ("vec4d", Entry::Vec4d([0.1, 0.2, 0.3, 0.4])),
        ("vec4i", Entry::Vec4i([1, -2, 3, -4])),
        ("vec4s", Entry::Vec4s([0.1, 0.2, 0.3, 0.4])),
    ];
    entries.map(|(name, entry)| (name.to_string(), entry)).into()
}

/// A plain grid.
pub fn grid(name: &str, content: Content) -> Grid {
    Grid {
        name: name.to_string(),
        class: Class::Unknown,
        transform: Transform::default(),
        saved_as_half: false,
        metadata: Metadata::new(),
        content,
    }
}

/// Distances to a sphere about `centre` with this radius [voxels], within 3 voxels; leaves without a voxel of that band
/// are tiles inside, and nothing outside. Voxels of half a metre.
pub fn level_set(name: &str, centre: [f64; 3], radius: f64) -> Grid {
    const SIDE: f64 = 0.5;
    let background = (3.0 * SIDE) as f32;
    let distance = |place: [i32; 3]| {
        let [x, y, z] = [0, 1, 2].map(|c| f64::from(place[c]) - centre[c]);
        (((x * x + y * y + z * z).sqrt() - radius) * SIDE) as f32
    };
    let mut tree = Tree::new(background);
    let reach = radius + 4.0;
    let [least, greatest] = [-reach, reach].map(|reach| centre.map(|c| (c + reach) as i32 >> 3));
    let mut origins = Vec::new();
    for x in least[0]..=greatest[0] {
        for y in least[1]..=greatest[1] {
            origins.extend((least[2]..=greatest[2]).map(|z| [x, y, z].map(|c| c * 8)));
        }
    }
    origins.sort_by_key(|&origin| FileOrder::of(origin));
    for origin in origins {
        let values: [f32; VOXELS] = std::array::from_fn(|voxel| distance(place(origin, voxel)));
        let mask = LeafMask::of(|voxel| values[voxel].abs() < background);
        if mask.count() > 0 {
            tree.leaves.push(origin, mask, &values.map(|d| d.clamp(-background, background)));
        } else if values[0] < 0.0 {
            tree.tiles.push(Tile { origin, level: Level::Leaf, value: -background, active: false });
        }
    }
    let mut grid = grid(name, Content::Float(tree));
    grid.class = Class::LevelSet;
    grid.transform = Transform::uniform(SIDE, [0.0; 3]);
    grid
}

/// The voxel of a leaf in space.
pub fn place(origin: [i32; 3], voxel: usize) -> [i32; 3] {
    let offset = [voxel >> 6, voxel >> 3 & 7, voxel & 7];
    [0, 1, 2].map(|c| origin[c] + offset[c] as i32)
}

/// A grid for every kind of map that OpenVDB has for a linear one.
fn placed() -> Vec<Grid> {
    let turn = PI / 5.0;
    let (sin, cos) = turn.sin_cos();
    let transforms = [
        Transform::uniform(0.125, [0.0; 3]),
        Transform::uniform(0.125, [3.0, -0.5, 1000.0]),
        Transform::uniform(1.0, [3.0, -0.5, 1000.0]),
        Transform::scaled([0.5, 0.25, 2.0], [0.0; 3]),
        Transform::scaled([0.5, 0.25, 2.0], [1.0, 2.0, 3.0]),
        Transform::scaled([-0.5, 0.5, 0.5], [0.0; 3]),
        Transform {
            rows: [
                [cos, sin, 0.0, 0.0],
                [-sin, cos, 0.0, 0.0],
                [0.0, 0.0, 1.0, 0.0],
                [0.0, 0.0, 0.0, 1.0],
            ],
        },
        Transform {
            rows: [
                [0.5, 0.25, 0.0, 0.0],
                [0.0, 0.5, 0.0, 0.0],
                [0.0, 0.0, 0.5, 0.0],
                [-1.0, 0.0, 4.0, 1.0],
            ],
        },
    ];
    let tree = || with_leaves([([0, 8, -16], LeafMask::ALL, 0)], |_, _| 0);
    let placed = |(index, transform)| Grid {
        transform,
        ..grid(&format!("placed {index}"), Content::Float(tree()))
    };
    transforms.into_iter().enumerate().map(placed).collect()
}

fn saved_as_half() -> Vec<Grid> {
    let contents = [
        ("float half", Content::Float(cloud())),
        ("float half tiles", Content::Float(tiles())),
        ("double half", Content::Double(cloud())),
        ("vec3s half", Content::Vec3s(cloud())),
        ("vec3d half", Content::Vec3d(cloud())),
        ("float half inactive", Content::Float(inactive(2))),
    ];
    let half = |(name, content)| Grid { saved_as_half: true, ..grid(name, content) };
    contents.map(half).into()
}

/// What is everywhere else. For `bool` and masks it must be off, or nearly everything would be on.
fn background<T: Sample>() -> T {
    if matches!(T::KIND, undine_vdb::Kind::Bool) { T::default() } else { T::sample(0) }
}

/// A value that is on, where only on and off exist.
fn active<T: Sample>(number: u64) -> T {
    if T::KIND == undine_vdb::Kind::Mask { T::sample(u64::MAX) } else { T::sample(number) }
}

/// Leaves by origin, mask and seed. Inactive voxels have the value of the number that `inactive` gives for their leaf's
/// seed and themselves.
fn with_leaves<T: Sample>(
    leaves: impl IntoIterator<Item = ([i32; 3], LeafMask, u64)>,
    inactive: impl Fn(u64, usize) -> u64,
) -> Tree<T> {
    let mut leaves: Vec<_> = leaves.into_iter().collect();
    leaves.sort_by_key(|&(origin, ..)| FileOrder::of(origin));
    let mut columns = Leaves::default();
    for (origin, mask, seed) in leaves {
        columns.push(
            origin,
            mask,
            &std::array::from_fn(|voxel| {
                if mask.is_on(voxel) {
                    active(seed * 1000 + voxel as u64 + 10)
                } else {
                    match inactive(seed, voxel) {
                        0 => background(),
                        number => T::sample(number),
                    }
                }
            }),
        );
    }
    Tree { leaves: columns, ..Tree::new(background()) }
}

/// Leaves on both sides of x = 0 and in three entries of the root: empty, sparse, dense and full ones.
fn cloud<T: Sample>() -> Tree<T> {
    let mut leaves = Vec::new();
    for number in 0..27i32 {
        let origin = [number / 9 - 1, number / 3 % 3, number % 3].map(|c| c * 8);
        let mask = match number % 4 {
            0 => LeafMask::ALL,
            1 => LeafMask::of(|voxel| mix(voxel as u64 + number as u64) & 7 == 0),
            2 => LeafMask::of(|voxel| mix(voxel as u64 + number as u64) & 7 != 0),
            _ => LeafMask::NONE,
        };
        leaves.push((origin, mask, number as u64));
    }
    leaves.push(([4096 - 8, 0, 128], LeafMask::ALL, 100));
    leaves.push(([4096, 0, 128], LeafMask::ALL, 101));
    with_leaves(leaves, |_, _| 0)
}

/// Tiles of every level, active and not, with a leaf beside them.
fn tiles<T: Sample>() -> Tree<T> {
    let tile = |origin, level, number, is_active| Tile {
        origin,
        level,
        value: if is_active { active(number) } else { T::sample(number) },
        active: is_active,
    };
    let mut tiles = vec![
        tile([4096, 0, 0], Level::Upper, 1, true),
        tile([-4096, 4096, -8192], Level::Upper, 2, false),
        tile([128, 0, 0], Level::Lower, 3, true),
        tile([0, 128, 256], Level::Lower, 4, false),
        tile([8, 0, 0], Level::Leaf, 5, true),
        tile([0, 8, 16], Level::Leaf, 6, false),
        tile([-8, -16, -24], Level::Leaf, 7, true),
        tile([-4096, -4096, -4096], Level::Lower, 8, true),
    ];
    // The format knows no inactive tile of the background: it is nowhere.
    tiles.retain(|tile| tile.active || tile.value != background());
    tiles.sort_by_key(|tile| FileOrder::of(tile.origin));
    let leaf = ([0, 0, 0], LeafMask::of(|voxel| voxel % 3 == 0), 9);
    Tree { tiles, ..with_leaves([leaf], |_, _| 0) }
}

fn huge_coordinates<T: Sample>() -> Tree<T> {
    let (least, greatest) = (i32::MIN, i32::MAX - 7);
    let corners = [[least, least, least], [greatest, least, 0], [greatest, greatest, greatest]];
    let one = LeafMask::of(|voxel| voxel == 511);
    with_leaves(corners.map(|corner| (corner, one, 3)), |_, _| 0)
}

/// A leaf whose inactive voxels have `count` different values, one of them the background if there are two.
fn inactive<T: Sample>(count: u64) -> Tree<T> {
    let mask = LeafMask::of(|voxel| voxel % 7 == 0);
    with_leaves([([16, 0, 0], mask, 1)], move |_, voxel| match count {
        1 => 5,
        2 => [0, 5][voxel % 2],
        _ => 5 + voxel as u64 % count,
    })
}
