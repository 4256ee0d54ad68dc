//! After an operation has moved the surface: distances again, in a band around where it is now.
//!
//! Voxels beside the surface take the distance φ/|∇φ| to it, with the largest of the central and one-sided slopes, which
//! keeps the zero set where it is (Russo and Smereka 2000, eq. 16). All others solve |∇φ| = 1 upwind (Godunov's
//! scheme), in as many passes as the band is wide.

use super::LevelSet;
use crate::error::Result;
use undine_core::access::Tile;
use undine_core::volume::Resolution;

impl LevelSet {
    /// Makes a band of distances around the zero set of what the voxels hold. Collective.
    pub(super) fn renormalise(&mut self) -> Result<()> {
        let bucket = self.domain.frame().bucket_size(0);
        let wanted = match f64::from(self.width) {
            width if width <= bucket => self.around_surface(width)?,
            // One that fills a box keeps it, and follows the surface where it leaves the box.
            _ => self.around_surface(bucket)?.union(self.topology().all()),
        };
        self.cover(&wanted)?;
        let (voxel, width) = (self.voxel_size() as f32, self.width);
        self.update("measure the distance beside the surface", 1, |_, tile, to| {
            each_voxel(tile, to, |near| match near.crosses() {
                true => near.distance_to_surface(voxel).clamp(-width, width),
                false => width.copysign(near.own),
            });
        })?;
        let passes = (1.8 * f64::from(width) / self.voxel_size()).ceil() as usize + 1;
        for _ in 0..passes {
            self.update("carry distances outwards", 1, |_, tile, to| {
                each_voxel(tile, to, |near| match near.crosses() {
                    true => near.own,
                    false => near.upwind(voxel).min(near.own.abs()).copysign(near.own),
                });
            })?;
        }
        self.trim()
    }
}

/// A voxel and its six neighbours, by axis.
struct Near {
    own: f32,
    around: [[f32; 2]; 3],
}

impl Near {
    /// Whether the surface passes between the voxel and one of its neighbours.
    fn crosses(&self) -> bool {
        self.around.as_flattened().iter().any(|value| (*value < 0.0) != (self.own < 0.0))
    }

    /// φ/|∇φ|.
    fn distance_to_surface(&self, voxel: f32) -> f32 {
        let mut squares = 0.0;
        for [below, above] in self.around {
            let central = 0.5 * (above - below);
            let slope = central.abs().max((above - self.own).abs()).max((self.own - below).abs());
            // One-sided slopes see only the side on which the surface lies: elsewhere the central one is better.
            let across = (above < 0.0) != (below < 0.0);
            let slope = if across { central } else { slope.min(voxel) };
            squares += slope * slope;
        }
        self.own * voxel / squares.sqrt().max(1e-3 * voxel)
    }

    /// The distance at which |∇φ| = 1, from the nearer neighbour along each axis.
    fn upwind(&self, voxel: f32) -> f32 {
        let mut nearest = self.around.map(|[below, above]| below.abs().min(above.abs()));
        nearest.sort_unstable_by(f32::total_cmp);
        let [a, b, c] = nearest;
        let one = a + voxel;
        if one <= b {
            return one;
        }
        let two = 0.5 * (a + b + (2.0 * voxel * voxel - (a - b) * (a - b)).max(0.0).sqrt());
        if two <= c {
            return two;
        }
        let sum = a + b + c;
        let squares = a * a + b * b + c * c - voxel * voxel;
        (sum + (sum * sum - 3.0 * squares).max(0.0).sqrt()) / 3.0
    }
}

/// Writes each voxel from it and its neighbours.
fn each_voxel(tile: &Tile<f32>, to: &mut [f32], kernel: impl Fn(&Near) -> f32) {
    let values = tile.values();
    let (row, slab) = (tile.row(), tile.slab());
    for (place, to) in to.iter_mut().enumerate() {
        let [x, y, z] = Resolution::R8.coords(place).map(|n| n as i32);
        let at = tile.index(x, y, z);
        let around = [slab, row, 1].map(|step| [values[at - step], values[at + step]]);
        *to = kernel(&Near { own: values[at], around });
    }
}
