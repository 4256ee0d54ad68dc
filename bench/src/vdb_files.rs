//! What the benchmarks of `.vdb` files write and read: a level set, a fog volume, and points; and how OpenVDB does it.

use crate::Result;
use crate::harness::{Context, Outcome};
use crate::hash::StableHash;
use crate::measure::Measured;
use crate::peers::PeerFile;
use crate::random::{scramble, unit};
use crate::report::Value;
use rayon::prelude::*;
use std::path::PathBuf;
use tempfile::TempDir;
use undine_vdb::points::{Attribute, Column, voxel_size_for};
use undine_vdb::write::{Compression, encode_grid, write_file};
use undine_vdb::{
    Class, Content, FileOrder, Grid, LeafMask, Level, Metadata, PointTree, Tile, Transform, Tree,
    VOXELS,
};

/// Half of the width of a level set's band [voxels].
const HALF_WIDTH: f64 = 3.0;

/// How many points there are for a size of 256.
const POINTS: u64 = 5_000_000;

/// A grid, the file that it goes to and comes from, and what is counted in it.
pub struct Sample {
    /// Part of the keys: `fog`, `levelset` or `points`.
    pub name: &'static str,
    /// What is in the file.
    pub grid: Grid,
    /// The file.
    pub path: PathBuf,
    /// How many active voxels, or points, there are.
    pub units: u64,
}

/// All of them, and the folder of their files, which is gone when it is dropped.
pub struct Samples {
    /// The fog volume, the level set, the points.
    pub all: [Sample; 3],
    _folder: TempDir,
}

impl Samples {
    /// Makes them for a level set of `size` voxels across.
    pub fn new(size: usize) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let sample = |name: &'static str, grid: Grid, units| Sample {
            name,
            grid,
            path: folder.path().join(name).with_extension("vdb"),
            units,
        };
        let (fog, level_set) = (fog(size), level_set(size));
        let points = (POINTS as f64 * (size as f64 / 256.0).powi(3)) as u64;
        let counts = [&fog, &level_set].map(|tree| tree.active_voxels());
        let transform = Transform::uniform(1.0 / size as f64, [0.0; 3]);
        let grid =
            |name: &str, class, tree| Grid { transform, ..grid(name, class, Content::Float(tree)) };
        let all = [
            sample("fog", grid("density", Class::FogVolume, fog), counts[0]),
            sample("levelset", grid("surface", Class::LevelSet, level_set), counts[1]),
            sample("points", self::points(points)?, points),
        ];
        Ok(Self { all, _folder: folder })
    }

    /// The outcome of three measurements, and of how OpenVDB did the first two: its seconds are those that `seconds` picks.
    pub fn outcome(
        &self,
        context: &Context,
        [fog, level_set, points]: [Measured; 3],
        seconds: fn(&PeerFile) -> f64,
    ) -> Result<Outcome> {
        let grids = [(&self.all[0], fog.seconds), (&self.all[1], level_set.seconds)];
        let mut outcome = Outcome::new(fog).also("levelset", level_set).also("points", points);
        let (mut slowest, mut largest) = (f64::INFINITY, 0.0f64);
        for (sample, ours) in grids {
            let bytes = std::fs::metadata(&sample.path)?.len();
            let key = |name: &str| format!("{}_{name}", sample.name);
            outcome = outcome.with(&key("bytes"), Value::Count(bytes));
            let Some(peer) = context.openvdb_file(&sample.path) else { continue };
            let faster = seconds(&peer) / ours;
            let larger = bytes as f64 / peer.bytes as f64;
            (slowest, largest) = (slowest.min(faster), largest.max(larger));
            outcome = outcome
                .with(&key("vs_openvdb"), Value::Number(faster))
                .with(&key("openvdb_seconds"), Value::Number(seconds(&peer)))
                .with(&key("bytes_vs_openvdb"), Value::Number(larger));
        }
        if slowest.is_finite() {
            outcome = outcome
                .with("vs_openvdb", Value::Number(slowest))
                .with("bytes_vs_openvdb", Value::Number(largest));
        }
        let bytes = std::fs::metadata(&self.all[2].path)?.len();
        Ok(outcome.with("points_bytes", Value::Count(bytes)))
    }
}

impl Sample {
    /// Writes the file, which the system may keep in memory for as long as it likes.
    pub fn write(&self) -> Result<()> {
        let encoded = encode_grid(&self.grid, Compression::default())?;
        Ok(write_file(&self.path, &Metadata::new(), &[encoded], false)?)
    }

    /// Reads the file.
    pub fn read(&self) -> Result<Grid> {
        Ok(undine_vdb::File::open(&self.path)?.grid(0)?)
    }
}

/// Hashes all values of a grid.
pub fn hash_grid(grid: &Grid, hash: &mut StableHash) {
    match &grid.content {
        Content::Float(tree) => hash_tree(tree, hash),
        Content::Points(points) => {
            hash_tree(&points.voxels, hash);
            for attribute in &points.attributes {
                match &attribute.values {
                    Column::Vec3s(values) => hash.write(values),
                    Column::Int64(values) => hash.write(values),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

fn hash_tree<T: bytemuck::NoUninit>(tree: &Tree<T>, hash: &mut StableHash) {
    hash.write(&tree.leaves.origins);
    hash.write(&tree.leaves.masks);
    hash.write(&tree.leaves.values);
    tree.tiles.iter().for_each(|tile| hash.write(&[tile.value]));
}

fn grid(name: &str, class: Class, content: Content) -> Grid {
    let (transform, metadata) = (Transform::default(), Metadata::new());
    Grid { name: name.to_owned(), class, transform, saved_as_half: false, metadata, content }
}

/// Distances to a ball of 0.9 times the size across, in a band of 3 voxels on either side.
fn level_set(size: usize) -> Tree<f32> {
    let (voxel, radius) = (1.0 / size as f64, 0.45 * size as f64);
    let background = (HALF_WIDTH * voxel) as f32;
    ball(radius + HALF_WIDTH + 8.0, size as f64 / 2.0, background, |distance, _| {
        let value = ((distance - radius) * voxel) as f32;
        (value.clamp(-background, background), value.abs() < background)
    })
}

/// A ball of 1.32 times the size across, so that there are 20 million voxels for a size of 256: dense inside, thinner towards
/// its surface, and with a noise that no codec takes out.
fn fog(size: usize) -> Tree<f32> {
    let radius = 0.66 * size as f64;
    ball(radius + 8.0, size as f64 / 2.0, 0.0, |distance, seed| {
        let depth = ((radius - distance) / (0.1 * radius)).clamp(0.0, 1.0);
        let value = (depth * (0.75 + 0.25 * unit(seed))) as f32;
        (value, value > 0.0)
    })
}

/// Leaves around a centre, of which `voxel` gives value and state by the distance to the centre and a seed [voxels]. A leaf
/// without an active voxel is a tile, or nothing.
fn ball(
    reach: f64,
    centre: f64,
    background: f32,
    voxel: impl Fn(f64, u64) -> (f32, bool) + Sync,
) -> Tree<f32> {
    let (least, greatest) = ((centre - reach) as i32 >> 3, (centre + reach) as i32 >> 3);
    let side = least..=greatest;
    let mut origins: Vec<[i32; 3]> = side
        .clone()
        .flat_map(|x| side.clone().map(move |y| (x, y)))
        .flat_map(|(x, y)| side.clone().map(move |z| [x * 8, y * 8, z * 8]))
        .collect();
    origins.sort_by_key(|&origin| FileOrder::of(origin));
    let made = origins.par_iter().map(|&origin| {
        let at = |n: usize| [n >> 6, n >> 3 & 7, n & 7];
        let of = |n: usize| {
            let place = [0, 1, 2].map(|axis| origin[axis] + at(n)[axis] as i32);
            let square: f64 = place.iter().map(|&c| (f64::from(c) - centre).powi(2)).sum();
            let seed = place.iter().fold(0, |seed, &c| scramble(seed ^ c as u64));
            voxel(square.sqrt(), seed)
        };
        let voxels: [(f32, bool); VOXELS] = std::array::from_fn(of);
        (origin, LeafMask::of(|n| voxels[n].1), voxels.map(|(value, _)| value))
    });
    let made: Vec<_> = made.collect();
    let mut tree = Tree::new(background);
    for (origin, mask, values) in made {
        if mask != LeafMask::NONE {
            tree.leaves.push(origin, mask, &values);
        } else if values[0] != background {
            tree.tiles.push(Tile { origin, level: Level::Leaf, value: values[0], active: false });
        }
    }
    tree
}

/// Points of a cube of 1 m, with velocity and number.
fn points(count: u64) -> Result<Grid> {
    let three = |n: u64| [0, 1, 2].map(|axis| unit(3 * n + axis));
    let places: Vec<[f64; 3]> = (0..count).into_par_iter().map(three).collect();
    let velocity = |n: u64| three(n + count).map(|c| (4.0 * c - 2.0) as f32);
    let velocities: Vec<[f32; 3]> = (0..count).into_par_iter().map(velocity).collect();
    let ids: Vec<i64> = (0..count as i64).collect();
    let transform = Transform::uniform(voxel_size_for(&places), [0.0; 3]);
    let attributes = vec![Attribute::new("v", velocities), Attribute::new("id", ids)];
    let tree = PointTree::from_points(&transform, &places, attributes)?;
    Ok(Grid { transform, ..grid("points", Class::Unknown, Content::Points(tree)) })
}
