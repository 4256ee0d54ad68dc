//! Means with weights that are products of weights along each axis: one pass along each.

use super::filter::Buffer;
use undine_core::access::Tile;

/// Weights along an axis, which add up to 1.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Weights {
    weights: Vec<f32>,
}

impl Weights {
    /// Of 2·`reach` + 1 voxels: all alike, or a Gaussian that is cut off at two standard deviations.
    pub fn new(reach: u8, gaussian: bool) -> Self {
        let reach = i32::from(reach);
        let weight = |n: i32| {
            let deviations = 2.0 * f64::from(n) / f64::from(reach);
            if gaussian { (-0.5 * deviations * deviations).exp() } else { 1.0 }
        };
        let weights: Vec<f64> = (-reach..=reach).map(weight).collect();
        let sum: f64 = weights.iter().sum();
        Self { weights: weights.iter().map(|weight| (weight / sum) as f32).collect() }
    }

    /// The mean around each voxel of a Bucket, from a tile padded by the reach.
    pub fn mean(&self, tile: &Tile<f32>, buffer: &mut Buffer, to: &mut [f32]) {
        let (values, wide) = (tile.values(), tile.width());
        let (slab, row) = (tile.slab(), tile.row());
        // Along z: wide × wide × 8. Along y: wide × 8 × 8. Along x: 8 × 8 × 8.
        buffer.clear();
        buffer.resize(wide * wide * 8 + wide * 64, 0.0);
        let (along_z, along_y) = buffer.split_at_mut(wide * wide * 8);
        for (n, to) in along_z.chunks_exact_mut(8).enumerate() {
            let from = (n / wide) * slab + (n % wide) * row;
            self.sum(to, |tap| &values[from + tap..from + tap + 8]);
        }
        for (x, to) in along_y.chunks_exact_mut(64).enumerate() {
            let from = x * wide * 8;
            self.sum(to, |tap| &along_z[from + tap * 8..from + tap * 8 + 64]);
        }
        for (x, to) in to.chunks_exact_mut(64).enumerate() {
            self.sum(to, |tap| &along_y[(x + tap) * 64..(x + tap) * 64 + 64]);
        }
    }

    /// Adds up weighted rows: the middle one, then pairs that are equally far from it.
    fn sum<'v>(&self, to: &mut [f32], row: impl Fn(usize) -> &'v [f32]) {
        let middle = self.weights.len() / 2;
        for (to, own) in to.iter_mut().zip(row(middle)) {
            *to = self.weights[middle] * own;
        }
        for step in 1..=middle {
            let (below, above) = (row(middle - step), row(middle + step));
            let weight = self.weights[middle - step];
            for ((to, below), above) in to.iter_mut().zip(below).zip(above) {
                *to += weight * (below + above);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use undine_core::access::Pad;
    use undine_core::volume::Resolution;

    #[test]
    fn three_passes_are_the_weighted_mean_of_a_cube() {
        for (reach, gaussian) in [(1, false), (2, true), (3, false), (8, true)] {
            let mut tile = Tile::new(Resolution::R8, Pad::both(reach), 0.0);
            for (n, value) in tile.values_mut().iter_mut().enumerate() {
                *value = (0.37 * n as f32).sin();
            }
            let weights = Weights::new(reach, gaussian);
            let mut found = [0.0; 512];
            weights.mean(&tile, &mut Buffer::new(), &mut found);
            let r = i32::from(reach);
            let weight = |n: i32| f64::from(weights.weights[(n + r) as usize]);
            for (place, found) in found.iter().enumerate().step_by(37) {
                let [x, y, z] = Resolution::R8.coords(place).map(|n| n as i32);
                let mut wanted = 0.0;
                for i in -r..=r {
                    for j in -r..=r {
                        for k in -r..=r {
                            let value = tile.values()[tile.index(x + i, y + j, z + k)];
                            wanted += weight(i) * weight(j) * weight(k) * f64::from(value);
                        }
                    }
                }
                assert!((f64::from(*found) - wanted).abs() < 1e-6, "{place}: {found} {wanted}");
            }
        }
    }
}
