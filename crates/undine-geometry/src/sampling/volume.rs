//! Points inside of a [`Solid`]: one in each jittered cell, and as Poisson disks.
//!
//! Cells are those of a grid that begins at the lowest corner of the solid's box, so that points lie in the same way in the same
//! solid wherever it is. Whole blocks of them are left out, or taken without a further question, by the distance at their middle: it
//! changes by no more than the way that one goes.

use super::Sampling;
use super::poisson::{self, Piece};
use crate::error::{GeometryError, Result, positive};
use crate::random;
use crate::solid::Solid;
use crate::triangles::LARGEST_COORDINATE;
use rayon::prelude::*;
use undine_core::glam::{DVec3, I64Vec3};
use undine_core::mesh::Bounds;

/// A point in each cell of side `spacing` [m], at random within its cell, as far as it lies inside of the solid.
///
/// A cell's point depends on the seed and on the cell alone, counted from the lowest corner of the solid's box, so that a solid that
/// changes elsewhere within its box keeps it.
pub fn sample_volume_jittered(
    solid: &dyn Solid,
    spacing: f64,
    sampling: Sampling,
) -> Result<Vec<DVec3>> {
    positive("the spacing of points", spacing)?;
    let most_cells = (sampling.most as u64).saturating_mul(8).saturating_add(64);
    let Some(grid) = Grid::of(solid, spacing)? else { return Ok(Vec::new()) };
    let cells = grid.cells(solid, sampling.most as u64, most_cells)?;
    let point = |block: &Block| {
        let id =
            random::bits(random::bits(block.low.x as u64, block.low.y as u64), block.low.z as u64);
        let draw = |which| random::unit(sampling.seed ^ id, which);
        let within = DVec3::new(draw(0), draw(1), draw(2));
        let point = grid.at(block.low.as_dvec3() + within);
        (block.is_inside || solid.distance(point) < 0.0).then_some(point)
    };
    let points: Vec<DVec3> = cells.par_iter().with_min_len(256).filter_map(point).collect();
    sampling.check(points.len() as u64)?;
    Ok(points)
}

/// Points inside of the solid, none nearer to another than `radius` [m], with no room for one more.
///
/// No place deeper inside than a tenth of `radius` is further than 1.1 `radius` from a point.
pub fn sample_volume_poisson(
    solid: &dyn Solid,
    radius: f64,
    sampling: Sampling,
) -> Result<Vec<DVec3>> {
    positive("the radius of Poisson disks", radius)?;
    // A cell whose diagonal is the radius holds one point at most. Points without room for one more are dense
    // enough that each stands for no more than 4π/3 r³, or 22 cells.
    let side = radius / 3.0_f64.sqrt();
    let most_cells = (sampling.most as u64).saturating_mul(64).saturating_add(64);
    let Some(grid) = Grid::of(solid, side)? else { return Ok(Vec::new()) };
    let cells = grid.cells(solid, most_cells, most_cells)?;
    let cube = |block: &Block| Cube {
        solid,
        low: grid.at(block.low.as_dvec3()),
        side,
        is_inside: block.is_inside,
    };
    let pieces = cells.iter().map(cube).collect();
    let bounds = Bounds { min: grid.bounds.min - radius, max: grid.bounds.max + radius };
    let points = poisson::fill(pieces, &bounds, radius, 1.0 / 16.0, sampling)?;
    Ok(points.into_iter().map(|(point, ())| point).collect())
}

/// The box around a solid that has one; `None` if there is nothing in it.
fn finite_bounds(solid: &dyn Solid) -> Result<Option<Bounds>> {
    let refusal = |found| GeometryError::BadParameter {
        what: "the extent of a solid to fill with points [m]",
        found,
        wanted: "finite, at most 1e60",
    };
    let bounds = solid.bounds().ok_or(refusal(f64::INFINITY))?;
    let size = bounds.min.abs().max(bounds.max.abs()).max_element();
    if bounds.min.is_nan() || bounds.max.is_nan() || size > LARGEST_COORDINATE {
        return Err(refusal(size));
    }
    Ok((bounds.size().min_element() >= 0.0).then_some(bounds))
}

/// A cube of cells.
#[derive(Debug, Clone, Copy)]
struct Block {
    /// Its lowest cell.
    low: I64Vec3,
    /// Cells along its side, a power of two.
    side: i64,
    /// Whether all of it is known to lie inside.
    is_inside: bool,
}

/// The cells over the box of a solid.
#[derive(Debug, Clone, Copy)]
struct Grid {
    /// Of the solid; cell (0, 0, 0) has its lower corner where it begins.
    bounds: Bounds,
    /// The side of a cell [m].
    spacing: f64,
}

/// A box ends with a cell if it reaches no farther than this part of one into the next: rounding decides nothing.
const ON_FACE: f64 = 1e-6;

impl Grid {
    /// Refuses a solid without end, and one whose cells are too small beside it; none where there is nothing in it.
    fn of(solid: &dyn Solid, spacing: f64) -> Result<Option<Self>> {
        let Some(bounds) = finite_bounds(solid)? else { return Ok(None) };
        let across = bounds.min.abs().max(bounds.max.abs()).max_element();
        // Numbers of cells are exact in both `i64` and `f64`, and places within them are told apart.
        if across / spacing > (1_i64 << 50) as f64 {
            let wanted = "at least 1e-15 of the solid's extent and of its distance from the origin";
            return Err(GeometryError::BadParameter {
                what: "the spacing of points",
                found: spacing,
                wanted,
            });
        }
        Ok(Some(Self { bounds, spacing }))
    }

    /// The place of so many cells from the lowest corner [m].
    fn at(&self, cells: DVec3) -> DVec3 {
        self.bounds.min + cells * self.spacing
    }

    /// The cells that may hold a part of the inside, by halving blocks that the surface may pass.
    ///
    /// Refuses if more than `most_inside` lie inside, or more than `most` are found at all.
    fn cells(&self, solid: &dyn Solid, most_inside: u64, most: u64) -> Result<Vec<Block>> {
        let ends = self.bounds.size() / self.spacing - ON_FACE;
        let high = ends.ceil().max(DVec3::ONE).as_i64vec3() - 1;
        let across = high.max_element() as u64 + 1;
        let side = across.next_power_of_two() as i64;
        let whole = Block { low: I64Vec3::ZERO, side, is_inside: false };

        let mut blocks = self.judge(solid, whole).into_iter().collect::<Vec<_>>();
        while blocks.iter().any(|block| block.side > 1) {
            let inside = blocks.iter().filter(|block| block.is_inside);
            check(inside.map(cells_in).fold(0, u64::saturating_add), most_inside)?;
            let halve = |block: &Block| {
                let parts = if block.side > 1 { halves(block) } else { vec![*block] };
                let is_in_box = |part: &Block| part.low.cmple(high).all();
                let judged = move |part: Block| match part.side == block.side {
                    true => Some(part),
                    false => self.judge(solid, part),
                };
                parts.into_iter().filter(is_in_box).filter_map(judged).collect::<Vec<_>>()
            };
            blocks = blocks.par_iter().with_min_len(64).flat_map_iter(halve).collect();
            check(blocks.len() as u64, most)?;
        }
        Ok(blocks)
    }

    /// The block with its side of the surface, if it is known; `None` if it lies outside.
    fn judge(&self, solid: &dyn Solid, block: Block) -> Option<Block> {
        if block.is_inside {
            return Some(block);
        }
        let side = block.side as f64;
        let distance = solid.distance(self.at(block.low.as_dvec3() + 0.5 * side));
        let reach = 0.5 * 3.0_f64.sqrt() * self.spacing * side * (1.0 + 1e-9);
        // Written so that a distance that is no number lies outside.
        (distance < reach).then_some(Block { is_inside: distance < -reach, ..block })
    }
}

fn check(wanted: u64, limit: u64) -> Result<()> {
    let what = "the cells of a sampling";
    if wanted > limit {
        Err(GeometryError::TooMany { what, found: wanted, most: limit })
    } else {
        Ok(())
    }
}

fn cells_in(block: &Block) -> u64 {
    (block.side as u64).saturating_pow(3)
}

fn halves(block: &Block) -> Vec<Block> {
    let side = block.side / 2;
    let offset = |n: i64| side * I64Vec3::new(n >> 2 & 1, n >> 1 & 1, n & 1);
    (0..8).map(|n| Block { low: block.low + offset(n), side, ..*block }).collect()
}

/// A cube that may hold a part of the inside.
#[derive(Clone, Copy)]
struct Cube<'a> {
    solid: &'a dyn Solid,
    low: DVec3,
    side: f64,
    is_inside: bool,
}

impl Cube<'_> {
    fn inside(&self, point: DVec3) -> Option<(DVec3, ())> {
        (self.is_inside || self.solid.distance(point) < 0.0).then_some((point, ()))
    }
}

impl Piece for Cube<'_> {
    type Tag = ();

    fn measure(&self) -> f64 {
        self.side.powi(3)
    }

    fn point(&self, random: [f64; 3]) -> Option<(DVec3, ())> {
        self.inside(self.low + self.side * DVec3::from_array(random))
    }

    fn middle(&self) -> Option<(DVec3, ())> {
        self.inside(self.low + 0.5 * self.side)
    }

    fn ball(&self) -> (DVec3, f64) {
        (self.low + 0.5 * self.side, 0.5 * 3.0_f64.sqrt() * self.side)
    }

    fn is_covered_by(&self, point: DVec3, radius: f64) -> bool {
        let middle = self.low + 0.5 * self.side;
        let furthest = (point - middle).abs() + 0.5 * self.side;
        furthest.length_squared() < radius * radius
    }

    fn divide(&self, parts: &mut Vec<Self>) {
        let side = 0.5 * self.side;
        for n in 0..8_u8 {
            let offset = DVec3::new(f64::from(n >> 2 & 1), f64::from(n >> 1 & 1), f64::from(n & 1));
            let mut part = Self { low: self.low + side * offset, side, ..*self };
            if !part.is_inside {
                let (middle, reach) = part.ball();
                let distance = part.solid.distance(middle);
                if distance >= reach || distance.is_nan() {
                    continue;
                }
                part.is_inside = distance < -reach;
            }
            parts.push(part);
        }
    }
}
