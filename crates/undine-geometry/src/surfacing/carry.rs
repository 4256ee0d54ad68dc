//! What particles carry, brought to any place near their surface: from the nearest ellipsoid, as thesis §5.5 does for velocities, or
//! blended so that linear fields come out exactly.

use super::anisotropy::Kernel;
use super::bins::EDGE;
use super::eigen::eigen;
use super::{Sources, Surfaced};
use crate::meshing::Origins;
use rayon::prelude::*;
use undine_core::Bucket;
use undine_core::glam::{DVec3, Vec3};

/// How what particles carry comes to a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Carrying {
    /// From the particle whose ellipsoid, or sphere, is nearest: sharp, and right for ids.
    Nearest,
    /// From all within a few radii by moving least squares (Lancaster & Salkauskas 1981): smooth, and exact where a channel is
    /// linear. Across a sheet, where particles tell nothing, it is constant.
    #[default]
    Blended,
}

/// How far a particle is blended, in its radii.
const REACH: f32 = 2.5;
/// Directions in which particles are spread by less than this part of the widest are left constant: the first that makes weights
/// sum to no more than [`LARGEST`], taken positive. A channel is not to be carried on from particles that hardly tell of it.
const FLAT: [f64; 4] = [1e-4, 1e-2, 0.1, 2.0];
const LARGEST: f64 = 12.0;
/// Places are looked at in blocks, so that neighbours share what they find.
const BLOCK: usize = 512;

impl Surfaced {
    /// See [`Sources::origins`].
    pub fn origins(&self, places: &[DVec3], carrying: Carrying) -> Origins {
        self.sources.origins(places, carrying)
    }
}

impl Sources {
    /// The particles that each place [m] is made of, with weights that sum to 1: `origins.carry_within(&velocities)` brings any channel
    /// there, and nothing that no particle near has; `origins.carry(&velocities, |v, w| v * w)` goes on beyond them where a channel is
    /// linear. For mesh vertices and voxels of the band.
    pub fn origins(&self, places: &[DVec3], carrying: Carrying) -> Origins {
        let blocks: Vec<Origins> = places
            .par_chunks(BLOCK)
            .map(|places| {
                let (mut near, mut origins) = (Near::default(), Origins::none());
                places.iter().for_each(|at| self.origin(*at, carrying, &mut near, &mut origins));
                origins
            })
            .collect();
        let mut origins = Origins::none();
        for block in blocks {
            (0..block.len()).for_each(|n| origins.push(block.of(n).iter().copied()));
        }
        origins
    }

    fn origin(&self, at: DVec3, carrying: Carrying, near: &mut Near, to: &mut Origins) {
        let frame = &self.frame;
        // Beyond all Buckets there is no particle either.
        let Ok((bucket, offset)) = frame.locate(at, 0, "a place") else {
            return to.push([(0, 1.0)]);
        };
        let place = offset / frame.voxel_size(0) as f32;
        near.gather(self, bucket);
        let blended = match carrying {
            Carrying::Nearest => None,
            Carrying::Blended => near.blended(place),
        };
        match blended {
            Some(row) => to.push(row),
            None => to.push([(near.nearest(place), 1.0)]),
        }
    }
}

/// The particles around a Bucket.
#[derive(Default)]
struct Near {
    bucket: Option<Bucket>,
    /// Where it is, its ellipsoid, its number.
    list: Vec<(Vec3, Kernel, u32)>,
}

impl Near {
    fn gather(&mut self, sources: &Sources, bucket: Bucket) {
        if self.bucket == Some(bucket) {
            return;
        }
        self.bucket = Some(bucket);
        self.list.clear();
        let Sources { bins, kernels, .. } = sources;
        let mut rings = super::bins::rings(REACH * bins.largest);
        // A mesh that was smoothed may have left its particles a little.
        while self.list.is_empty() && rings < 64 {
            bins.each_around(bucket, rings, |slot, shift| {
                for n in bins.of(slot) {
                    let at = bins.place(n) + shift;
                    let kernel = match kernels {
                        Some(kernels) => Kernel { centre: kernels[n].centre + shift, ..kernels[n] },
                        None => Kernel::sphere(at, bins.radius[n]),
                    };
                    let half = kernel.half.max(Vec3::splat(REACH * bins.radius[n])) + 2.0;
                    let is_near = (at - half).cmple(Vec3::splat(EDGE)).all()
                        && (at + half).cmpge(Vec3::ZERO).all();
                    if is_near || rings > 2 {
                        self.list.push((at, kernel, bins.source[n]));
                    }
                }
            });
            rings *= 2;
        }
    }

    /// The particle whose ellipsoid is nearest; of equals the first by place.
    fn nearest(&self, place: Vec3) -> u32 {
        let mut best = (f32::INFINITY, 0);
        for (_, kernel, source) in &self.list {
            // Its box is no farther away than itself.
            let from_box = ((place - kernel.centre).abs() - kernel.half).max_element();
            if from_box >= best.0.max(0.0) {
                continue;
            }
            let distance = kernel.distance(place);
            if distance < best.0 {
                best = (distance, *source);
            }
        }
        best.1
    }

    /// With e from the place to particles, their mean m and spread C = Σk f fᵀ about it, f = e − m: weights k (1/Σk − f·C⁻¹m) sum to 1, and
    /// Σ w e = 0.
    fn blended(&self, place: Vec3) -> Option<Vec<(u32, f64)>> {
        let mut row: Vec<(u32, f64, DVec3)> = Vec::new();
        for (at, kernel, source) in &self.list {
            let e = *at - place;
            let reach = REACH * kernel.radius;
            let rest = 1.0 - e.length_squared() / (reach * reach);
            if rest > 0.0 {
                row.push((*source, f64::from(rest * rest * rest), e.as_dvec3()));
            }
        }
        let all: f64 = row.iter().map(|(_, k, _)| k).sum();
        if all <= 1e-9 {
            return None;
        }
        let mean = row.iter().map(|(_, k, e)| *k * *e).sum::<DVec3>() / all;
        let mut spread = [0.0; 6];
        for (_, k, e) in &row {
            let f = *e - mean;
            let products = [f.x * f.x, f.x * f.y, f.x * f.z, f.y * f.y, f.y * f.z, f.z * f.z];
            spread.iter_mut().zip(products).for_each(|(sum, product)| *sum += k * product);
        }
        let (values, vectors) = eigen(spread);
        let weights = |flat: f64| {
            let inverse = values.map(|value| match value > flat * values.x && value > 0.0 {
                true => 1.0 / value,
                false => 0.0,
            });
            let slope = vectors * (inverse * (vectors.transpose() * mean));
            move |k: f64, e: DVec3| k * (1.0 / all - (e - mean).dot(slope))
        };
        let is_small = |flat: &f64| {
            let weight = weights(*flat);
            row.iter().map(|(_, k, e)| weight(*k, *e).abs()).sum::<f64>() <= LARGEST
        };
        let weight = weights(FLAT.into_iter().find(is_small).unwrap_or(FLAT[3]));
        Some(row.iter().map(|(source, k, e)| (*source, weight(*k, *e))).collect())
    }
}
