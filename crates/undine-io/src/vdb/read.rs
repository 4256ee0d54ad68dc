//! Grids become a Discrete Volume: leaves are Buckets, and a leaf's buffer is copied straight into a chunk.
//!
//! Grids of one file share a Grid Domain where their voxels do: equal in size up to powers of two, which become levels, and
//! aligned leaf to leaf. What lies otherwise in the world is for a [`VolumeSampler`](super::VolumeSampler).

use super::grid::turned;
use super::value::{GridValue, VoxelValue};
use crate::error::{IoError, Result};
use crate::names::{self, Names, UpAxis};
use std::collections::BTreeMap;
use undine_core::domain::MAX_LEVEL;
use undine_core::glam::{DVec3, I64Vec3, IVec3, Vec3};
use undine_core::volume::{Axis, Resolution, VoxelShape};
use undine_core::{
    Bucket, BucketSet, ChannelSpec, DiscreteVolume, Frame, GridDomain, MemoryBudget,
};
use undine_vdb::{Class, Content, Entry, Grid, Level, Tile, Transform, Tree, VOXELS, Value};

/// How grids become a volume.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    /// What channels are called.
    pub names: Names,
    /// The axis that points up in the file.
    pub up: UpAxis,
    /// So many Buckets may active tiles make; one of the root alone would make 134 million, and one below it 4096.
    pub most_tile_buckets: u64,
    /// How much memory the Domain may take.
    pub budget: MemoryBudget,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            names: Names::default(),
            up: UpAxis::Y,
            most_tile_buckets: 1 << 13,
            budget: MemoryBudget::unlimited(),
        }
    }
}

/// A volume on a Domain of its own that has the values of these grids in channels: a grid of class `staggered` is a MAC
/// velocity; `density_1`, of voxels twice as large, is the next level of `density`; bools and masks are masks. What is
/// inactive outside of leaves is left out, as the inside of a level set is.
pub fn volume_of_grids(
    label: &str,
    grids: &[Grid],
    options: &ReadOptions,
) -> Result<(GridDomain, DiscreteVolume)> {
    let places = places(grids, options.up)?;
    let buckets = buckets(grids, &places, options)?;
    let mut domain = GridDomain::new(label, places.frame).with_budget(options.budget.clone());
    domain.set_buckets(&BucketSet::from_buckets(buckets)?)?;
    let mut volume = DiscreteVolume::new(label, &domain);
    let mut taking = Taking { volume: &mut volume, made: BTreeMap::new(), up: options.up };
    for (number, grid) in grids.iter().enumerate() {
        let name = channel_name(grids, &places.levels, number);
        taking.take(options.names.volume_channel(name), grid, &places.of_grid(number))?;
    }
    Ok((domain, volume))
}

/// Where grids are on the lattice of a Domain.
struct Places {
    frame: Frame,
    /// For each grid its level.
    levels: Vec<u8>,
    /// For each grid: the Bucket of its leaf 0.
    shifts: Vec<I64Vec3>,
}

/// Where a grid is on the lattice of a Domain.
struct GridPlace {
    level: u8,
    shift: I64Vec3,
}

impl Places {
    fn of_grid(&self, grid: usize) -> GridPlace {
        GridPlace { level: self.levels[grid], shift: self.shifts[grid] }
    }
}

impl GridPlace {
    /// The Bucket of the leaf with this least corner.
    fn bucket(&self, origin: [i32; 3]) -> Bucket {
        let coord = I64Vec3::from_array(origin.map(|c| i64::from(c >> 3))) + self.shift;
        // One that is out of range stays so.
        let limit = I64Vec3::splat(i64::from(i32::MAX));
        Bucket::at(self.level, coord.clamp(-limit, limit).as_ivec3())
    }
}

/// How exactly sizes and places must agree, in voxels: what is left of them after a few conversions in `f64`.
const AGREEMENT: f64 = 1e-6;

/// A lattice for all grids: voxels as small as the smallest, leaf 0 of that grid at Bucket 0 unless it is too far away.
fn places(grids: &[Grid], up: UpAxis) -> Result<Places> {
    let lattices: Vec<(f64, DVec3)> =
        grids.iter().map(|grid| lattice(grid, up)).collect::<Result<_>>()?;
    let finest = lattices.iter().copied().min_by(|a, b| a.0.total_cmp(&b.0));
    let (size, corner) = finest.unwrap_or((1.0, DVec3::ZERO));
    let (mut levels, mut shifts) = (Vec::new(), Vec::new());
    for (grid, &(of_grid, at)) in grids.iter().zip(&lattices) {
        let level = (of_grid / size).log2().round();
        let leaf = 8.0 * of_grid;
        let shift = ((at - corner) / leaf).round();
        let is_aligned = (of_grid / size / level.exp2() - 1.0).abs() < AGREEMENT
            && level <= f64::from(MAX_LEVEL)
            && (shift * leaf + corner - at).abs().max_element()
                < AGREEMENT * size + 4.0 * f64::EPSILON * at.abs().max_element();
        if !is_aligned || shift.abs().max_element() > 1e9 {
            return Err(unreadable(
                grid,
                format!(
                    "its voxels of {of_grid} m at {at} do not fit among those of {size} m at {corner}"
                ),
                "give it a volume of its own, or sample it",
            ));
        }
        levels.push(level as u8);
        shifts.push(shift.as_i64vec3());
    }
    let mut places = Places { frame: Frame::new(corner, size)?, levels, shifts };
    places.recentre(grids, size, corner)?;
    Ok(places)
}

impl Places {
    /// Moves the origin of the lattice to the grids, if they are out of its range where it is.
    fn recentre(&mut self, grids: &[Grid], size: f64, corner: DVec3) -> Result<()> {
        let (mut low, mut high) = (I64Vec3::MAX, I64Vec3::MIN);
        for (number, grid) in grids.iter().enumerate() {
            for origin in origins(grid) {
                let coord = I64Vec3::from_array(origin.map(|c| i64::from(c >> 3)));
                let first = (coord + self.shifts[number]) << i64::from(self.levels[number]);
                low = low.min(first);
                high = high.max(first);
            }
        }
        let limit = i64::from(Bucket::limit(0));
        let fits = |c: i64| (-limit..limit).contains(&c);
        if low.cmpgt(high).any() || low.to_array().into_iter().chain(high.to_array()).all(fits) {
            return Ok(());
        }
        // A whole Bucket of the coarsest level, so that all levels stay aligned.
        let coarsest = i64::from(MAX_LEVEL);
        let base = (low + (high - low) / 2) >> coarsest << coarsest;
        self.frame = Frame::new(corner + base.as_dvec3() * 8.0 * size, size)?;
        for (shift, &level) in self.shifts.iter_mut().zip(&self.levels) {
            *shift -= base >> i64::from(level);
        }
        Ok(())
    }
}

/// The side of a grid's voxels and the least corner of voxel 0 [m].
fn lattice(grid: &Grid, up: UpAxis) -> Result<(f64, DVec3)> {
    let Transform { rows } = turned(&grid.transform, |vector| up.from_file(vector));
    let size = rows[0][0];
    let is_uniform = (0..3).all(|i| {
        (0..3).all(|j| {
            let wanted = if i == j { size } else { 0.0 };
            (rows[i][j] - wanted).abs() <= 1e-9 * size
        })
    });
    let first = DVec3::new(rows[3][0], rows[3][1], rows[3][2]);
    let is_positive = size > 0.0;
    if !(is_uniform && is_positive && first.is_finite()) {
        let found =
            format!("its voxels are turned, mirrored or no cubes: {:?}", grid.transform.rows);
        let wanted = "a volume has cubes along the axes; sample the grid at the voxels of one, or say which axis points up in the file";
        return Err(unreadable(grid, found, wanted));
    }
    Ok((size, first - 0.5 * size))
}

/// The name of the channel of a grid: without the number of the level if it is a coarser one of another grid.
fn channel_name<'g>(grids: &'g [Grid], levels: &[u8], number: usize) -> &'g str {
    let name = grids[number].name.as_str();
    let Some((stem, coarser)) = name.rsplit_once('_') else { return name };
    let is_level = |coarser: u8| {
        let finest = grids.iter().zip(levels).find(|(grid, _)| grid.name == stem);
        coarser > 0
            && finest.is_some_and(|(_, level)| level.checked_add(coarser) == Some(levels[number]))
    };
    if coarser.parse().is_ok_and(is_level) { stem } else { name }
}

/// Calls for the tree of a grid, whatever its type.
macro_rules! with_tree {
    ($grid:expr, $tree:ident => $then:expr, points: $points:expr) => {
        match &$grid.content {
            Content::Float($tree) => $then,
            Content::Double($tree) => $then,
            Content::Int32($tree) => $then,
            Content::Int64($tree) => $then,
            Content::Bool($tree) => $then,
            Content::Mask($tree) => $then,
            Content::Vec3s($tree) => $then,
            Content::Vec3d($tree) => $then,
            Content::Vec3i($tree) => $then,
            Content::Points(_) => $points,
        }
    };
}

/// The least corners of leaves and active tiles.
fn origins(grid: &Grid) -> Vec<[i32; 3]> {
    fn of<T: Value>(tree: &Tree<T>) -> Vec<[i32; 3]> {
        let tiles = tree.tiles.iter().filter(|tile| tile.active).map(|tile| tile.origin);
        tree.leaves.origins.iter().copied().chain(tiles).collect()
    }
    with_tree!(grid, tree => of(tree), points: Vec::new())
}

/// All Buckets that the grids need; before they are made, the budget is asked.
fn buckets(grids: &[Grid], places: &Places, options: &ReadOptions) -> Result<Vec<Bucket>> {
    let count = count_buckets(grids, options)?;
    let bytes = count.saturating_mul(size_of::<Bucket>() as u64);
    options.budget.check(&format!("the list of {count} Buckets of grids"), bytes)?;
    let mut buckets = Vec::with_capacity(usize::try_from(count).unwrap_or(0));
    for (number, grid) in grids.iter().enumerate() {
        let place = places.of_grid(number);
        with_tree!(grid, tree => {
            buckets.extend(tree.leaves.origins.iter().map(|&origin| place.bucket(origin)));
            for tile in tree.tiles.iter().filter(|tile| tile.active) {
                buckets.extend(buckets_of_tile(&place, tile.level, tile.origin));
            }
        }, points: {});
    }
    Ok(buckets)
}

/// How many Buckets the grids need, those that two of them share counted twice.
fn count_buckets(grids: &[Grid], options: &ReadOptions) -> Result<u64> {
    fn of_tile<T>(tile: &Tile<T>) -> u64 {
        if tile.active { (tile.level.side() as u64 / 8).pow(3) } else { 0 }
    }
    let (mut of_leaves, mut of_tiles) = (0_u64, 0_u64);
    for grid in grids {
        let (leaves, tiles) = with_tree!(grid, tree => {
            (tree.leaves.origins.len(), tree.tiles.iter().map(of_tile).fold(0, u64::saturating_add))
        }, points: {
            let found = "it holds points".to_owned();
            return Err(unreadable(grid, found, "read it as points"));
        });
        of_leaves += leaves as u64;
        of_tiles = of_tiles.saturating_add(tiles);
        if of_tiles > options.most_tile_buckets {
            let found = format!("with its active tiles there would be {of_tiles} Buckets of tiles");
            let wanted = format!(
                "at most {} are allowed; raise `most_tile_buckets` of the options, or sample the grid",
                options.most_tile_buckets
            );
            return Err(unreadable(grid, found, &wanted));
        }
    }
    Ok(of_leaves.saturating_add(of_tiles))
}

/// The Buckets that a tile covers.
fn buckets_of_tile(
    place: &GridPlace,
    level: Level,
    origin: [i32; 3],
) -> impl Iterator<Item = Bucket> + use<> {
    let side = level.side() / 8;
    let first = place.bucket(origin);
    (0..side.pow(3))
        .map(move |n| first.offset(IVec3::new(n / (side * side), n / side % side, n % side)))
}

/// Takes grids over into channels.
struct Taking<'a> {
    volume: &'a mut DiscreteVolume,
    /// By channel: the levels that it has.
    made: BTreeMap<String, Vec<u8>>,
    up: UpAxis,
}

impl Taking<'_> {
    fn take(&mut self, channel: &str, grid: &Grid, place: &GridPlace) -> Result<()> {
        let levels = self.made.entry(channel.to_owned()).or_default();
        let is_new = levels.is_empty();
        if levels.contains(&place.level) {
            let found = format!("another grid is the channel `{channel}` already");
            return Err(unreadable(grid, found, "read one of them, or rename it"));
        }
        levels.push(place.level);
        match &grid.content {
            Content::Float(tree) => self.channel::<f32>(channel, grid, tree, place, is_new),
            Content::Double(tree) => self.channel::<f64>(channel, grid, tree, place, is_new),
            Content::Int32(tree) => self.channel::<i32>(channel, grid, tree, place, is_new),
            Content::Vec3d(tree) => self.channel::<DVec3>(channel, grid, tree, place, is_new),
            Content::Vec3i(tree) => self.channel::<IVec3>(channel, grid, tree, place, is_new),
            Content::Vec3s(tree) if grid.class == Class::Staggered => {
                self.mac(channel, tree, place, is_new)
            }
            Content::Vec3s(tree) => self.channel::<Vec3>(channel, grid, tree, place, is_new),
            Content::Int64(tree) => {
                let fits = |value: &i64| u32::try_from(*value).is_ok();
                let tiles = tree.tiles.iter().map(|tile| tile.value);
                if !tree.leaves.values.iter().copied().chain(tiles).all(|value| fits(&value)) {
                    let found = "it has whole numbers below 0 or beyond 32 bits".to_owned();
                    return Err(unreadable(
                        grid,
                        found,
                        "a channel of a volume has no type for such",
                    ));
                }
                self.channel::<u32>(channel, grid, tree, place, is_new)
            }
            Content::Bool(tree) => self.mask(channel, tree, place, is_new, |value| value),
            Content::Mask(tree) => self.mask(channel, tree, place, is_new, |value| value.0),
            Content::Points(_) => {
                Err(unreadable(grid, "it holds points".into(), "read it as points"))
            }
        }
    }

    fn channel<T: VoxelValue>(
        &mut self,
        channel: &str,
        grid: &Grid,
        tree: &Tree<T::Stored>,
        place: &GridPlace,
        is_new: bool,
    ) -> Result<()> {
        let up = if names::has_direction(channel) { self.up } else { UpAxis::Y };
        let value = |stored: T::Stored| T::restored(stored.of_file(up));
        if is_new {
            let mut spec = ChannelSpec::new(channel, value(tree.background));
            if let Some(Entry::String(unit)) = grid.metadata.get("unit") {
                spec = spec.unit(unit.clone());
            }
            self.volume.add_channel(&spec, VoxelShape::CELLS)?;
        }
        let handle = self.volume.handle::<T>(channel)?;
        let mut column = self.volume.column_mut(handle)?;
        each_bucket(self.volume, tree, place, |slot, values| {
            for (voxel, &stored) in column.chunk_mut(slot).iter_mut().zip(values) {
                *voxel = value(stored);
            }
        });
        Ok(())
    }

    /// Components lie on the faces of lesser coordinate in OpenVDB's staggered grids as here.
    fn mac(
        &mut self,
        channel: &str,
        tree: &Tree<[f32; 3]>,
        place: &GridPlace,
        is_new: bool,
    ) -> Result<()> {
        if is_new {
            self.volume.add_mac(channel, "m/s", Resolution::R8)?;
        }
        let mac = self.volume.mac(channel)?;
        for axis in Axis::ALL {
            let mut column = self.volume.column_mut(mac.faces[axis.index()])?;
            each_bucket(self.volume, tree, place, |slot, values| {
                for (voxel, stored) in column.chunk_mut(slot).iter_mut().zip(values) {
                    *voxel = stored[axis.index()];
                }
            });
        }
        Ok(())
    }

    fn mask<T: GridValue>(
        &mut self,
        channel: &str,
        tree: &Tree<T>,
        place: &GridPlace,
        is_new: bool,
        is_on: impl Fn(T) -> bool,
    ) -> Result<()> {
        if is_new {
            self.volume.add_mask(channel, Resolution::R8)?;
        }
        let mask = self.volume.mask(channel)?;
        let mut column = self.volume.column_mut(mask.words)?;
        each_bucket(self.volume, tree, place, |slot, values| {
            for (word, values) in column.chunk_mut(slot).iter_mut().zip(values.as_chunks::<64>().0)
            {
                let bits = values.iter().enumerate();
                *word = bits.fold(0, |word, (bit, &value)| word | u64::from(is_on(value)) << bit);
            }
        });
        Ok(())
    }
}

/// Calls `put` with the slot and the values of every leaf and of every Bucket of an active tile.
fn each_bucket<T: Value>(
    volume: &DiscreteVolume,
    tree: &Tree<T>,
    place: &GridPlace,
    mut put: impl FnMut(u32, &[T; VOXELS]),
) {
    let leaves = tree.leaves.origins.iter().zip(tree.leaves.values.as_chunks::<VOXELS>().0);
    for (&origin, values) in leaves {
        if let Some(slot) = volume.topology().slot(place.bucket(origin)) {
            put(slot, values);
        }
    }
    for &Tile { origin, level, value, .. } in tree.tiles.iter().filter(|tile| tile.active) {
        for bucket in buckets_of_tile(place, level, origin) {
            if let Some(slot) = volume.topology().slot(bucket) {
                put(slot, &[value; VOXELS]);
            }
        }
    }
}

fn unreadable(grid: &Grid, found: String, wanted: &str) -> IoError {
    IoError::Unreadable {
        what: format!("the grid `{}` as a volume", grid.name),
        found,
        wanted: wanted.to_owned(),
    }
}
