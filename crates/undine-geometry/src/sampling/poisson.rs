//! Maximal Poisson-disk sampling: points at random, none nearer to another than a radius, with no room for one more.
//!
//! Darts are thrown at pieces that cover what is not yet covered, and are kept unless one is near (dart throwing on
//! surfaces: Cline, Jeschke, White, Razdan and Wonka 2009). After each round of darts the pieces that a single point
//! covers go, and the others are divided (rounds over a flat list: Ebeida, Mitchell, Patney, Davidson and Owens 2012).
//! Darts come in one order; only the covering of pieces is asked on all threads.

use super::Sampling;
use crate::error::Result;
use crate::point_cells::PointCells;
use crate::random;
use rayon::prelude::*;
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;

/// A piece of what is to be sampled.
pub(super) trait Piece: Copy + Send + Sync {
    /// What is told of a point beside its place.
    type Tag;

    /// Its area or volume; darts are spread by it.
    fn measure(&self) -> f64;

    /// A point of it by three numbers of 0 .. 1, evenly spread; `None` where there is nothing to sample.
    fn point(&self, random: [f64; 3]) -> Option<(DVec3, Self::Tag)>;

    /// Its point that stands for all of it when it is too small to divide.
    fn middle(&self) -> Option<(DVec3, Self::Tag)>;

    /// The middle and radius of a ball that holds it, at least as small as that around its corners.
    fn ball(&self) -> (DVec3, f64);

    /// Whether all of it is nearer than `radius` to a point.
    fn is_covered_by(&self, point: DVec3, radius: f64) -> bool;

    /// Its parts, without those that hold nothing.
    fn divide(&self, parts: &mut Vec<Self>);
}

/// Fills the pieces with points that keep `radius` [m] from each other, until every piece is covered, or smaller
/// than the part `finest` of the radius with a middle that is covered.
pub(super) fn fill<P: Piece>(
    mut pieces: Vec<P>,
    bounds: &Bounds,
    radius: f64,
    finest: f64,
    sampling: Sampling,
) -> Result<Vec<(DVec3, P::Tag)>> {
    let mut points = PointCells::new(bounds, radius, "the radius of Poisson disks")?;
    let mut tags = Vec::new();
    let mut add = |points: &mut PointCells, (point, tag)| {
        if !points.any_nearer(point, radius) {
            points.push(point);
            tags.push(tag);
        }
        sampling.check(points.points().len() as u64)
    };

    let mut number = 0_u64;
    while !pieces.is_empty() {
        // A round: as many darts as there are pieces, spread over them by their measure.
        let ends = running_sum(pieces.iter().map(P::measure));
        let whole = ends.last().copied().unwrap_or(0.0);
        for _ in 0..pieces.len() {
            let draw = |which| random::unit(sampling.seed, 4 * number + which);
            let piece = ends.partition_point(|&end| end <= draw(0) * whole).min(pieces.len() - 1);
            if let Some(dart) = pieces[piece].point([draw(1), draw(2), draw(3)]) {
                add(&mut points, dart)?;
            }
            number += 1;
        }

        // What one point covers alone is done with; what is left is divided, or settled by its middle.
        let open: Vec<P> =
            pieces.par_iter().copied().filter(|p| is_open(p, &points, radius)).collect();
        pieces.clear();
        for piece in open {
            if piece.ball().1 > finest * radius {
                piece.divide(&mut pieces);
            } else if let Some(dart) = piece.middle() {
                add(&mut points, dart)?;
            }
        }
    }
    Ok(points.points().iter().copied().zip(tags).collect())
}

fn is_open<P: Piece>(piece: &P, points: &PointCells, radius: f64) -> bool {
    let (middle, reach) = piece.ball();
    // A point that covers all of the piece covers its middle.
    reach >= radius
        || points
            .find(middle, radius, |_, point| piece.is_covered_by(point, radius).then_some(()))
            .is_none()
}

fn running_sum(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut sum = 0.0;
    values
        .map(|value| {
            sum += value;
            sum
        })
        .collect()
}
