//! The distance to the mean of the particles around a place: Zhu & Bridson 2005, *Animating sand as a fluid*, §5, and its correction by
//! Solenthaler & Pajarola 2008, *A unified particle model for fluid-solid interactions*, §4.
//!
//! φ = |x − x̄| − f r̄, with means over particles within R by weights w = (1 − d²/R²)³. In hollows and between parts that come apart, x̄ runs
//! from one side to the other, and φ has surfaces where nothing is. There the largest eigenvalue of ∂x̄/∂x is large, and f makes the
//! radius smaller, down to nothing.

use super::bins::Bins;
use super::buried::voxels;
use super::reach::Reach;
use super::stamp::{Chunk, ROW};
use crate::error::{GeometryError, Result};
use crate::levelset::lanes::Lanes;
use multiversion::multiversion;
use undine_core::Bucket;
use undine_core::glam::Vec3;

/// How particles are averaged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Averaging {
    /// How far a place looks for particles, R, in their radii.
    pub search: f64,
    /// From which eigenvalue on the radius shrinks, and where nothing is left of it; none never.
    pub correction: Option<[f64; 2]>,
}

impl Averaging {
    /// After Zhu and Bridson.
    pub const PLAIN: Self = Self { search: 2.0, correction: None };
    /// After Solenthaler and Pajarola, with their thresholds.
    pub const CORRECTED: Self = Self { search: 2.0, correction: Some([0.4, 3.5]) };

    pub(super) fn check(&self) -> Result<()> {
        let bad = |what, found, wanted| Err(GeometryError::BadParameter { what, found, wanted });
        if !(self.search > 1.0 && self.search <= 16.0) {
            return bad("the search radius in particle radii", self.search, "above 1, at most 16");
        }
        match self.correction {
            Some([low, high]) if !(low >= 0.0 && low < high && high.is_finite()) => {
                let wanted = "above the lower one, which is not negative";
                bad("the higher threshold of a correction", high, wanted)
            }
            _ => Ok(()),
        }
    }
}

/// Memory that a thread keeps between Buckets.
#[derive(Default)]
pub(super) struct Scratch {
    near: Vec<[f32; 4]>,
    sums: Vec<[Lanes; SUMS]>,
}

/// Σw, Σw e, Σw r, and with k = (1 − s)² / R²: Σk e, Σk e eᵀ; e from the voxel to the particle.
const SUMS: usize = 14;
/// Without what the correction needs.
const PLAIN: usize = 5;

/// Distances [voxels] of a Bucket's voxels, where they are below `most`; `most` elsewhere.
pub(super) fn averages(
    (bins, settings): (&Bins, &Averaging),
    reach: &Reach,
    bucket: Bucket,
    most: f32,
    scratch: &mut Scratch,
    to: &mut Chunk,
) {
    let Scratch { near, sums } = scratch;
    let search = settings.search as f32;
    near.clear();
    reach.each_near(bins, bucket, |slot, shift| {
        for n in bins.of(slot) {
            let at = bins.place(n) + shift - 0.5;
            if voxels(at, Vec3::splat(search * bins.radius[n])).is_some() {
                near.push([at.x, at.y, at.z, bins.radius[n]]);
            }
        }
    });
    sums.clear();
    sums.resize(64, [Lanes::splat(0.0); SUMS]);
    add(near, search, settings.correction.is_some(), sums);
    for (place, distance) in to.iter_mut().enumerate() {
        let sum = &sums[place >> 3];
        let of = |n: usize| sum[n].0[place & 7];
        let weight = of(0);
        if weight <= 1e-12 {
            *distance = most;
            continue;
        }
        let per = 1.0 / weight;
        let mean = per * Vec3::new(of(1), of(2), of(3));
        let radius = per * of(4);
        let away = mean.length();
        let factor = match settings.correction {
            // Where even the whole radius does not reach, there is nothing to make smaller.
            Some(thresholds) if away - radius < most => {
                let toward = Vec3::new(of(5), of(6), of(7));
                let squares = std::array::from_fn(|n| of(8 + n));
                shrink(largest_eigenvalue(squares, mean, toward, 6.0 * per), thresholds)
            }
            _ => 1.0,
        };
        *distance = (away - factor * radius).min(most);
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn add(near: &[[f32; 4]], search: f32, corrected: bool, sums: &mut [[Lanes; SUMS]]) {
    let (zero, one) = (Lanes::splat(0.0), Lanes::splat(1.0));
    for &[x, y, z, radius] in near {
        let reach = search * radius;
        let Some([xs, ys, _]) = voxels(Vec3::new(x, y, z), Vec3::splat(reach)) else { continue };
        let per = 1.0 / (reach * reach);
        let ez = Lanes::splat(z) - ROW;
        for i in xs.0..=xs.1 {
            let ex = Lanes::splat(x - i as f32);
            for j in ys.0..=ys.1 {
                let ey = Lanes::splat(y - j as f32);
                let rest = (one - per * (ex * ex + ey * ey + ez * ez)).max(zero);
                let square = rest * rest;
                let w = square * rest;
                let sums = &mut sums[(i << 3 | j) as usize];
                let plain = [w, w * ex, w * ey, w * ez, radius * w];
                for (sum, more) in sums[..PLAIN].iter_mut().zip(plain) {
                    *sum = *sum + more;
                }
                if corrected {
                    let k = per * square;
                    let [kx, ky, kz] = [k * ex, k * ey, k * ez];
                    let more = [kx, ky, kz, kx * ex, kx * ey, kx * ez, ky * ey, ky * ez, kz * ez];
                    for (sum, more) in sums[PLAIN..].iter_mut().zip(more) {
                        *sum = *sum + more;
                    }
                }
            }
        }
    }
}

/// That of the symmetric part of ∂x̄/∂x = 6/Σw (Σk e eᵀ − x̄ (Σk e)ᵀ), in closed form.
fn largest_eigenvalue(squares: [f32; 6], mean: Vec3, toward: Vec3, scale: f32) -> f32 {
    let [xx, xy, xz, yy, yz, zz] = squares;
    let half = |a: usize, b: usize| 0.5 * (mean[a] * toward[b] + mean[b] * toward[a]);
    let diagonal = Vec3::new(xx - half(0, 0), yy - half(1, 1), zz - half(2, 2)) * scale;
    let off = Vec3::new(xy - half(0, 1), xz - half(0, 2), yz - half(1, 2)) * scale;
    let middle = diagonal.element_sum() / 3.0;
    let d = diagonal - middle;
    let p = ((d.length_squared() + 2.0 * off.length_squared()) / 6.0).sqrt();
    if p <= 1e-20 {
        return middle;
    }
    let [d, o] = [d / p, off / p];
    let determinant = d.x * (d.y * d.z - o.z * o.z) - o.x * (o.x * d.z - o.z * o.y)
        + o.y * (o.x * o.z - d.y * o.y);
    let angle = (0.5 * determinant).clamp(-1.0, 1.0).acos() / 3.0;
    middle + 2.0 * p * angle.cos()
}

/// What is left of a radius where x̄ changes so fast (eq. 4.4 there).
fn shrink(eigenvalue: f32, [low, high]: [f64; 2]) -> f32 {
    if f64::from(eigenvalue) < low {
        return 1.0;
    }
    let g = ((high - f64::from(eigenvalue)) / (high - low)).max(0.0);
    (g * g * g - 3.0 * g * g + 3.0 * g) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_eigenvalue_is_that_of_a_full_decomposition() {
        for n in 0..200 {
            let r = |k: u64| crate::random::unit(k, n) as f32 * 2.0 - 1.0;
            let squares: [f32; 6] = std::array::from_fn(|k| r(k as u64));
            let (mean, toward) = (Vec3::new(r(7), r(8), r(9)), Vec3::new(r(10), r(11), r(12)));
            let found = largest_eigenvalue(squares, mean, toward, 2.0);
            let mixed = |a: usize, b: usize| 0.5 * (mean[a] * toward[b] + mean[b] * toward[a]);
            let minus = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)];
            let matrix = std::array::from_fn(|k| {
                2.0 * f64::from(squares[k] - mixed(minus[k].0, minus[k].1))
            });
            let wanted = super::super::eigen::eigen(matrix).0.x;
            assert!((f64::from(found) - wanted).abs() < 1e-4, "{found} {wanted}");
        }
    }
}
