//! Fills any solid with particles: at random within equal parts of cells, in their middles, or as Poisson disks.
//!
//! A cube of the size of a cell is cut into `per_axis`³ equal parts, and each part that lies inside holds a particle. Where in its part
//! comes from the number of the part alone. Parts are counted from the lowest corner of what has one, such as a box, and else from the middle
//! of its box: so the same solid is filled in the same way wherever it is, by any number of threads and processes. Poisson disks come in tiles
//! from there on. Blocks of Buckets are halved, and left out or taken whole
//! by the distance at their middle, which changes by no more than the way one goes; only cells that the surface may cut are
//! asked about their particles one by one. Where only a shell under the surface is to be filled, the cells further inside are named instead.

use crate::fill_tile::Tile;
use rayon::prelude::*;
use std::ops::Range;
use undine_core::domain::VOXELS_PER_BUCKET;
use undine_core::glam::{DVec3, I64Vec3, IVec3, Vec3};
use undine_core::memory::in_words;
use undine_core::mesh::Bounds;
use undine_core::volume::Mask;
use undine_core::{Bucket, BucketKey, CoreError, Frame, MemoryBudget};
use undine_geometry::{Solid, random};
use undine_sim::{Result, SimError};

/// How a solid is filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Seeding {
    /// At random within equal parts of a cell.
    #[default]
    Jittered,
    /// At random, none close to another.
    Poisson,
    /// In the middle of equal parts of a cell.
    Lattice,
}

/// What is to be filled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fill {
    /// Particles along the edge of a cell, from 1 to [`Fill::MOST_PER_AXIS`].
    pub per_axis: u32,
    /// Where in their parts of a cell they are.
    pub how: Seeding,
    /// Other seeds make other particles.
    pub seed: u64,
    /// The part that this process fills, and how many there are: consecutive Buckets of all.
    pub part: [usize; 2],
    /// Only so many cells under the surface are filled; those whose middle is deeper are named in [`Filled::deep`].
    pub shell: Option<u32>,
}

impl Default for Fill {
    fn default() -> Self {
        Self { per_axis: 2, how: Seeding::default(), seed: 0, part: [0, 1], shell: None }
    }
}

impl Fill {
    /// The most particles along the edge of a cell.
    pub const MOST_PER_AXIS: u32 = 8;

    /// The volume that a particle stands for, in cells of this size [m].
    pub fn volume_each(&self, voxel: f64) -> f64 {
        (voxel / f64::from(self.per_axis)).powi(3)
    }

    /// How many particles a cell has.
    pub fn per_cell(&self) -> u64 {
        u64::from(self.per_axis).pow(3)
    }
}

/// What particles may take.
#[derive(Debug, Clone, Copy)]
pub struct Room<'a> {
    /// Of memory, all stores together.
    pub budget: &'a MemoryBudget,
    /// What each particle takes, with its share of the grid [bytes].
    pub bytes_each: u64,
}

/// A solid full of particles, Bucket after Bucket along the curve.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Filled {
    /// The Bucket of each.
    pub buckets: Vec<Bucket>,
    /// Its offset from the Bucket's corner [m].
    pub offsets: Vec<Vec3>,
    /// The volume that each stands for [m³].
    pub volume_each: f64,
    /// Where cells are full that have no particles.
    pub deep: Vec<DeepCells>,
}

/// The cells of a Bucket that lie deep inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct DeepCells {
    /// The Bucket's key.
    pub key: BucketKey,
    /// A bit for each.
    pub cells: [u64; 8],
}

/// Points this far from a surface, as a part of a cell, are on it, and so outside: rounding decides nothing.
const ON_SURFACE: f64 = 1e-6;
/// How finely it is told where a solid's parts lie beside those of the grid: what rounding does to places is less, so that bits do not
/// depend on it.
const STEPS_OF_SHIFT: f64 = (1 << 21) as f64;
/// What a cut block takes while blocks are halved [bytes].
const BYTES_OF_BLOCK: u64 = 64;

/// Fills a solid with particles of cells of this frame.
///
/// Each stands for the same volume: that of a part of a cell. The volume filled is that of the solid but for what chance decides at
/// its surface. Refuses a solid without end, and more particles than there is room for.
pub fn fill(solid: &dyn Solid, frame: &Frame, fill: &Fill, room: Room<'_>) -> Result<Filled> {
    if !(1..=Fill::MOST_PER_AXIS).contains(&fill.per_axis) {
        return Err(CoreError::BadValue {
            what: "the number of particles along the edge of a cell".into(),
            found: fill.per_axis.to_string(),
            wanted: "from 1 to 8",
        }
        .into());
    }
    let Some(bounds) = finite_bounds(solid)? else { return Ok(Filled::default()) };
    let filler = Filler::new(solid, &bounds, frame, fill);
    let blocks = filler.blocks(&bounds, room)?;
    Ok(filler.fill(&part_of(&blocks, fill.part)))
}

/// The box around a solid; nothing if there is nothing in it.
fn finite_bounds(solid: &dyn Solid) -> Result<Option<Bounds>> {
    let bounds = solid.bounds().filter(|bounds| bounds.min.is_finite() && bounds.max.is_finite());
    let Some(bounds) = bounds else {
        let what = "it has no end, so that there is no end of particles in it";
        return Err(SimError::setup("input", what, "intersect it with a box"));
    };
    Ok((bounds.size().min_element() > 0.0).then_some(bounds))
}

/// Where the parts of a solid begin [m]: at its lowest corner, if it has one there, as a box has; else so many cells before its middle as
/// hold it.
fn beginning(solid: &dyn Solid, bounds: &Bounds, voxel: f64) -> DVec3 {
    if solid.distance(bounds.min).abs() <= ON_SURFACE * voxel {
        return bounds.min;
    }
    let cells = (0.5 * bounds.size() / voxel - ON_SURFACE).ceil();
    bounds.centre() - voxel * cells
}

/// A process's part of a list: as many as the others have, but for one.
fn part_of<T: Clone>(all: &[T], [part, parts]: [usize; 2]) -> Vec<T> {
    let end = |part: usize| all.len() * part / parts.max(1);
    all[end(part).min(all.len())..end(part + 1).min(all.len())].to_vec()
}

/// A cube of Buckets.
#[derive(Debug, Clone, Copy)]
struct Block {
    low: IVec3,
    side: i32,
    /// Whether all of it is known to lie inside.
    is_inside: bool,
    /// How much of it lies inside, as far as the distance at its middle tells.
    part: f64,
}

struct Filler<'a> {
    solid: &'a dyn Solid,
    frame: &'a Frame,
    fill: &'a Fill,
    /// The part, or cell of a tile, at the lowest corner of the solid's box, counted from the frame's origin.
    first: I64Vec3,
    /// How far, as a part of that, the solid's parts lie behind those of the grid: from 0 to 1.
    shift: DVec3,
    /// Of Poisson disks.
    tile: Option<Tile>,
}

const CELLS: i64 = VOXELS_PER_BUCKET as i64;

impl<'a> Filler<'a> {
    fn new(solid: &'a dyn Solid, bounds: &Bounds, frame: &'a Frame, fill: &'a Fill) -> Self {
        let tile = (fill.how == Seeding::Poisson).then(|| Tile::new(fill.per_axis, fill.seed));
        let voxel = frame.voxel_size(0);
        let per_cell = if tile.is_some() { 1 } else { fill.per_axis };
        let start = beginning(solid, bounds, voxel) - frame.origin();
        let start = start / voxel * f64::from(per_cell);
        // A box that begins at a part's face begins there wherever the box is.
        let first = (start + ON_SURFACE).floor();
        let shift = ((start - first).max(DVec3::ZERO) * STEPS_OF_SHIFT).round() / STEPS_OF_SHIFT;
        Self { solid, frame, fill, first: first.as_i64vec3(), shift, tile }
    }

    /// The Buckets that may hold a part of the inside, along the curve, each with whether it lies inside as a whole.
    fn blocks(&self, bounds: &Bounds, room: Room<'_>) -> Result<Vec<Block>> {
        let bucket = |at: DVec3| self.frame.locate(at, 0, "a solid that is filled with particles");
        let (low, high) = (bucket(bounds.min)?.0.coord, bucket(bounds.max)?.0.coord);
        let across = (high - low).max_element() as u32 + 1;
        let whole =
            Block { low, side: across.next_power_of_two() as i32, is_inside: false, part: 0.0 };
        let mut blocks: Vec<Block> = self.judge(whole).into_iter().collect();
        while blocks.iter().any(|block| block.side > 1) {
            let halve = |block: &Block| -> Vec<Block> {
                if block.side == 1 {
                    return vec![*block];
                }
                let parts = halves(block).filter(|part| part.low.cmple(high).all());
                parts.filter_map(|part| self.judge(part)).collect()
            };
            blocks = blocks.par_iter().with_min_len(64).flat_map_iter(halve).collect();
            self.check(&blocks, room, false)?;
        }
        let look = |block: &mut Block| block.part = self.part_of_bucket(block);
        blocks.par_iter_mut().filter(|block| !block.is_inside).for_each(look);
        self.check(&blocks, room, true)?;
        blocks.par_sort_unstable_by_key(|block| Bucket::at(0, block.low).key());
        Ok(blocks)
    }

    /// The block with its side of the surface, if it is known; `None` if it lies outside.
    fn judge(&self, block: Block) -> Option<Block> {
        if block.is_inside {
            return Some(block);
        }
        let side = f64::from(block.side) * self.frame.bucket_size(0);
        let middle = self.frame.corner(Bucket::at(0, block.low)) + 0.5 * side;
        let (distance, is_inside) = self.side_of(middle, side)?;
        let part = if is_inside { 1.0 } else { (0.5 - distance / side).clamp(0.0, 1.0) };
        Some(Block { is_inside, part, ..block })
    }

    /// How much of a Bucket that is cut lies inside, by the distances at the middles of its eighths.
    fn part_of_bucket(&self, block: &Block) -> f64 {
        let side = 0.5 * self.frame.bucket_size(0);
        let corner = self.frame.corner(Bucket::at(0, block.low));
        let part = |octant: IVec3| {
            let distance = self.solid.distance(corner + (octant.as_dvec3() + 0.5) * side);
            0.125 * (0.5 - distance / side).clamp(0.0, 1.0)
        };
        octants().map(part).sum()
    }

    /// The distance [m] at the middle [m] of a cube of this side [m], and whether all of it is known to lie inside; `None` if it
    /// lies outside.
    fn side_of(&self, middle: DVec3, side: f64) -> Option<(f64, bool)> {
        let reach = 0.5 * 3.0_f64.sqrt() * side * (1.0 + 1e-9);
        let distance = self.solid.distance(middle);
        // Written so that a distance that is no number lies outside.
        (distance < reach).then_some((distance, distance < -reach - ON_SURFACE * side))
    }

    /// Refuses blocks with more particles than there is room for. Until all are Buckets, only what is inside for sure counts; but
    /// for the voxel size that would fit, all counts that is likely to be inside.
    fn check(&self, blocks: &[Block], room: Room<'_>, is_last: bool) -> Result<()> {
        let inside = |block: &Block| block.part * f64::from(block.side).powi(3);
        let likely: f64 = blocks.iter().map(inside).sum();
        let known = blocks.iter().filter(|block| is_last || block.is_inside).map(inside).sum();
        let in_bucket = (self.fill.per_cell() * 512) as f64;
        let bytes = |buckets: f64| buckets * in_bucket * room.bytes_each as f64;
        let wanted = bytes(known) + blocks.len() as f64 * BYTES_OF_BLOCK as f64;
        match room.budget.check("particles", wanted as u64) {
            Err(CoreError::OverBudget { free, budget, .. }) => {
                let voxel = self.frame.voxel_size(0);
                // There are as many as the cube of the cells along an edge, and a little is left to spare.
                let enough = voxel * (1.2 * bytes(likely).max(wanted) / free.max(1) as f64).cbrt();
                let what = format!(
                    "voxels of {voxel} m make {:.1e} particles, which need {} of memory, and {} of {} are left",
                    likely * in_bucket,
                    in_words(bytes(likely) as u64),
                    in_words(free),
                    in_words(budget),
                );
                let help = format!("voxels of {enough:.2e} m would fit");
                Err(SimError::NoRoom { path: "voxel".to_owned(), what, help })
            }
            other => Ok(other?),
        }
    }

    /// The particles of these Buckets that lie inside.
    fn fill(&self, blocks: &[Block]) -> Filled {
        let each: Vec<_> = blocks.par_iter().map(|block| self.in_bucket(block)).collect();
        let mut filled = Filled {
            volume_each: self.fill.volume_each(self.frame.voxel_size(0)),
            ..Filled::default()
        };
        let count = each.iter().map(|(offsets, _)| offsets.len()).sum();
        filled.buckets.reserve_exact(count);
        filled.offsets.reserve_exact(count);
        for (block, (offsets, cells)) in blocks.iter().zip(each) {
            let bucket = Bucket::at(0, block.low);
            if cells != [0; 8] {
                filled.deep.push(DeepCells { key: bucket.key(), cells });
            }
            filled.buckets.extend(std::iter::repeat_n(bucket, offsets.len()));
            filled.offsets.extend(offsets);
        }
        filled
    }

    /// The particles of a Bucket, and the cells that need none.
    fn in_bucket(&self, block: &Block) -> (Vec<Vec3>, [u64; 8]) {
        let mut offsets = Vec::new();
        let cells = Cells { low: IVec3::ZERO, side: VOXELS_PER_BUCKET as i32 };
        if block.is_inside && self.fill.shell.is_none() {
            offsets.reserve_exact(512 * self.fill.per_cell() as usize);
            self.each_particle(block.low, cells, |offset| offsets.push(offset));
            return (offsets, [0; 8]);
        }
        let deep = self.deep_cells(block.low);
        if deep == [u64::MAX; 8] {
            return (offsets, deep);
        }
        cells.halves().for_each(|half| self.in_cells(block.low, half, &deep, &mut offsets));
        (offsets, deep)
    }

    /// The cells of a Bucket that are deeper than the shell.
    fn deep_cells(&self, bucket: IVec3) -> [u64; 8] {
        let Some(shell) = self.fill.shell else { return [0; 8] };
        let voxel = self.frame.voxel_size(0);
        let corner = self.frame.corner(Bucket::at(0, bucket));
        let deepest = -f64::from(shell) * voxel;
        // No cell's middle is farther from that of the Bucket.
        let (across, middle) = (0.5 * 7.0 * 3.0_f64.sqrt() * voxel, corner + 4.0 * voxel);
        let known = self.solid.distance(middle);
        if known + across < deepest || known - across >= deepest {
            return if known < deepest { [u64::MAX; 8] } else { [0; 8] };
        }
        let mut deep = [0; 8];
        for n in 0..512 {
            let cell = DVec3::new((n >> 6) as f64, (n >> 3 & 7) as f64, (n & 7) as f64);
            let is_deep = self.solid.distance(corner + (cell + 0.5) * voxel) < deepest;
            Mask(&mut deep[..]).set(n, is_deep);
        }
        deep
    }

    /// Halves cubes of cells that the surface may cut, down to cells.
    fn in_cells(&self, bucket: IVec3, cells: Cells, deep: &[u64; 8], offsets: &mut Vec<Vec3>) {
        let voxel = self.frame.voxel_size(0);
        let corner = self.frame.corner(Bucket::at(0, bucket));
        let side = f64::from(cells.side) * voxel;
        let middle = corner + cells.low.as_dvec3() * voxel + 0.5 * side;
        match self.side_of(middle, side) {
            None => {}
            Some((_, true)) if *deep == [0; 8] => {
                self.each_particle(bucket, cells, |offset| offsets.push(offset));
            }
            Some(_) if cells.side > 1 => {
                cells.halves().for_each(|half| self.in_cells(bucket, half, deep, offsets));
            }
            Some(_) if Mask(deep).get(cells.number()) => {}
            Some((_, true)) => self.each_particle(bucket, cells, |offset| offsets.push(offset)),
            Some((known, false)) => {
                let least = -ON_SURFACE * voxel;
                self.each_particle(bucket, cells, |offset| {
                    let at = corner + offset.as_dvec3();
                    let way = at.distance(middle);
                    // What is deeper than its way from the middle needs no question.
                    let is_inside = known + way < least
                        || (known - way < least && self.solid.distance(at) < least);
                    if is_inside {
                        offsets.push(offset);
                    }
                });
            }
        }
    }

    /// Where a cube of cells would have its particles: offsets from the Bucket's corner [m].
    fn each_particle(&self, bucket: IVec3, cells: Cells, mut keep: impl FnMut(Vec3)) {
        let Some(tile) = &self.tile else { return self.each_part(bucket, cells, keep) };
        let (voxel, end) = (self.frame.voxel_size(0) as f32, self.end());
        let first = bucket.as_i64vec3() * CELLS - self.first;
        let (low, high) = (cells.low.as_dvec3(), (cells.low + cells.side).as_dvec3());
        let [xs, ys, zs] = [0, 1, 2].map(|axis| self.reaching(cells, axis, 1));
        for x in xs {
            for y in ys.clone() {
                for z in zs.clone() {
                    let cell = I64Vec3::new(x, y, z);
                    let of_tile = (first + cell).rem_euclid(I64Vec3::splat(CELLS));
                    for &within in tile.of_cell(of_tile.as_ivec3()) {
                        // In doubles, all of this is exact: each place is in one cell.
                        let at = (cell.as_dvec3() + within.as_dvec3()) + self.shift;
                        if at.cmpge(low).all() && at.cmplt(high).all() {
                            keep((at.as_vec3() * voxel).min(end));
                        }
                    }
                }
            }
        }
    }

    /// The parts of the solid that reach into a cube of cells along an axis, so many to a cell, by the part of the Bucket that each begins in.
    fn reaching(&self, cells: Cells, axis: usize, parts: i64) -> Range<i64> {
        let (low, side) = (i64::from(cells.low[axis]), i64::from(cells.side));
        low * parts - i64::from(self.shift[axis] > 0.0)..(low + side) * parts
    }

    /// The largest offset within a Bucket [m].
    fn end(&self) -> Vec3 {
        Vec3::splat((self.frame.bucket_size(0) as f32).next_down())
    }

    /// The place of the particle of each part of a cube of cells.
    fn each_part(&self, bucket: IVec3, cells: Cells, mut keep: impl FnMut(Vec3)) {
        let parts = i64::from(self.fill.per_axis);
        let width = self.frame.voxel_size(0) / parts as f64;
        let end = self.end();
        // The first part of the Bucket, counted from the lowest one of the solid.
        let first = bucket.as_i64vec3() * CELLS * parts - self.first;
        let (low, side) = (cells.low.as_dvec3(), f64::from(cells.side));
        let (low, high) = (low * parts as f64, (low + side) * parts as f64);
        let [xs, ys, zs] = [0, 1, 2].map(|axis| self.reaching(cells, axis, parts));
        for x in xs {
            let of_x = random::bits(self.fill.seed, (first.x + x) as u64);
            for y in ys.clone() {
                let of_y = random::bits(of_x, (first.y + y) as u64);
                for z in zs.clone() {
                    let part = DVec3::new(x as f64, y as f64, z as f64);
                    let within = match self.fill.how {
                        Seeding::Lattice => DVec3::splat(0.5),
                        _ => thrice(random::bits(of_y, (first.z + z) as u64)),
                    };
                    let at = (part + within) + self.shift;
                    if at.cmpge(low).all() && at.cmplt(high).all() {
                        keep((at * width).as_vec3().min(end));
                    }
                }
            }
        }
    }
}

fn halves(block: &Block) -> impl Iterator<Item = Block> {
    let (block, side) = (*block, block.side / 2);
    octants().map(move |octant| Block { low: block.low + side * octant, side, ..block })
}

fn octants() -> impl Iterator<Item = IVec3> {
    (0..8).map(|n| IVec3::new(n >> 2 & 1, n >> 1 & 1, n & 1))
}

/// A cube of cells of a Bucket.
#[derive(Debug, Clone, Copy)]
struct Cells {
    low: IVec3,
    side: i32,
}

impl Cells {
    /// The number of its first cell.
    fn number(self) -> usize {
        (self.low.x << 6 | self.low.y << 3 | self.low.z) as usize
    }

    fn halves(self) -> impl Iterator<Item = Self> {
        let side = self.side / 2;
        octants().map(move |octant| Self { low: self.low + side * octant, side })
    }
}

/// Three numbers of 0 .. 1 from 63 bits, never 0 nor 1.
fn thrice(bits: u64) -> DVec3 {
    let part = |n: u32| ((bits >> (21 * n) & 0x1f_ffff) as f64 + 0.5) / (1 << 21) as f64;
    DVec3::new(part(0), part(1), part(2))
}
