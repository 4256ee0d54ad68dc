//! Maximal Poisson-disk sampling: points at random, none nearer to another than a radius, with no room for one more.
//!
//! Darts are thrown at all of it, and are kept unless one is near, until most of them are refused. Then pieces that
//! a single point covers go, darts are thrown at those that are left, and these are divided, until there are none (dart
//! throwing on surfaces: Cline, Jeschke, White, Razdan and Wonka 2009; rounds over flat lists of pieces: Ebeida,
//! Mitchell, Patney, Davidson and Owens 2012). Darts come in one order; only the covering is asked on all threads.

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

/// So many pieces are looked at together. Their parts come next, so that never many more than these are kept.
const BATCH: usize = 1 << 15;

/// Fills the pieces with points that keep `radius` [m] from each other, until every piece is covered, or smaller
/// than the part `finest` of the radius with a middle that is covered.
pub(super) fn fill<P: Piece>(
    mut pieces: Vec<P>,
    bounds: &Bounds,
    radius: f64,
    finest: f64,
    sampling: Sampling,
) -> Result<Vec<(DVec3, P::Tag)>> {
    let points = PointCells::new(bounds, radius, "the radius of Poisson disks")?;
    let mut kept = Kept { points, tags: Vec::new(), radius, sampling, darts: 0 };

    // Over all of it, so that no part comes first, until fifteen of sixteen darts are refused.
    let mut throw = 1024;
    while !pieces.is_empty() && 16 * kept.throw_at(&pieces, throw)? > throw {
        throw = throw.max(kept.tags.len());
    }

    // What one point covers alone is done with; what is left is hit once more, then divided, or settled by its middle.
    while !pieces.is_empty() {
        let batch = pieces.split_off(pieces.len().saturating_sub(BATCH));
        let open: Vec<P> =
            batch.into_par_iter().filter(|piece| is_open(piece, &kept.points, radius)).collect();
        // What is too large to be covered by one point is divided before it is worth a dart.
        let (small, large): (Vec<P>, Vec<P>) =
            open.into_iter().partition(|piece| piece.ball().1 < radius);
        large.iter().for_each(|piece| piece.divide(&mut pieces));
        kept.throw_at(&small, small.len())?;
        for piece in small {
            if piece.ball().1 > finest * radius {
                piece.divide(&mut pieces);
            } else if let Some(dart) = piece.middle() {
                kept.add(dart)?;
            }
        }
    }
    Ok(kept.points.points().iter().copied().zip(kept.tags).collect())
}

/// The points so far.
struct Kept<T> {
    points: PointCells,
    tags: Vec<T>,
    radius: f64,
    sampling: Sampling,
    /// How many darts were thrown.
    darts: u64,
}

impl<T> Kept<T> {
    /// Keeps a point if none is near. Whether it did.
    fn add(&mut self, (point, tag): (DVec3, T)) -> Result<bool> {
        let is_free = !self.points.any_nearer(point, self.radius);
        if is_free {
            self.sampling.check(self.tags.len() as u64 + 1)?;
            self.points.push(point);
            self.tags.push(tag);
        }
        Ok(is_free)
    }

    /// Throws so many darts at pieces, spread over them by their measure. How many were kept.
    fn throw_at<P: Piece<Tag = T>>(&mut self, pieces: &[P], darts: usize) -> Result<usize> {
        let ends = running_sum(pieces.iter().map(P::measure));
        let whole = ends.last().copied().unwrap_or(0.0);
        let mut kept = 0;
        for _ in 0..darts {
            let number = 4 * self.darts;
            self.darts += 1;
            let draw = |which| random::unit(self.sampling.seed, number + which);
            let piece = ends.partition_point(|&end| end <= draw(0) * whole).min(pieces.len() - 1);
            if let Some(dart) = pieces[piece].point([draw(1), draw(2), draw(3)]) {
                kept += usize::from(self.add(dart)?);
            }
        }
        Ok(kept)
    }
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
