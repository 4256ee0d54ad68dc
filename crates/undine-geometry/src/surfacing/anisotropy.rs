//! Each particle as an ellipsoid, stretched the way its neighbours lie: weighted principal components after Yu & Turk 2013,
//! *Reconstructing surfaces of particle-based fluids using anisotropic kernels*, as a distance after Ando et al. 2012, with the scale
//! k_s of Jones 2020, §5.4, by which every ellipsoid keeps the volume of its sphere.
//!
//! With weights w = 1 − (d/R)³ of the neighbours within R, itself among them: mean x̄ = Σwx / Σw, covariance
//! C = Σw (x − x̄)(x − x̄)ᵀ / Σw = V diag(σ₀ σ₁ σ₂) Vᵀ. Stretches are σ̂ᵢ = max(σᵢ, σ₀/k_r), times k_s = (σ₀ σ̂₁ σ̂₂)^(−1/3): the *clamped*
//! ones, since with others the ellipsoids of a sheet, whose σ₂ is next to nothing, would swell without bound.
//!
//! Where the neighbours lie nearly alike in all directions, the ellipsoid becomes the sphere: the chance differences deep inside are no
//! shape, and ellipsoids that follow them leave gaps that spheres do not have.
//!
//! A particle with few neighbours is a droplet, a sphere scaled by k_n. Neighbours are counted by their weights, and shapes blended,
//! so that nothing pops while particles come and go.

use super::bins::{Bins, rings};
use super::eigen::eigen;
use crate::error::{GeometryError, Result};
use crate::levelset::lanes::Lanes;
use multiversion::multiversion;
use rayon::prelude::*;
use undine_core::glam::{DMat3, DVec3, Vec3};

/// How particles become ellipsoids.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Anisotropy {
    /// How far a particle looks for neighbours, R, in its own radii.
    pub search: f64,
    /// k_r, the largest stretch over the smallest: 1 makes spheres.
    pub ratio: f64,
    /// n_droplet: a particle with no more neighbours is a droplet. From there to twice as many it becomes an ellipsoid.
    pub droplet_neighbours: f64,
    /// k_n, the radius of a droplet in the radii of its particle.
    pub droplet_scale: f64,
    /// By which volumes are kept: 1 makes each ellipsoid as large as its sphere, 0 makes them so on average (which lets those at the
    /// surface, with neighbours on one side only, become thinner); in between it blends.
    pub local: f64,
    /// λ, how far centres are moved towards the mean of their neighbours: 0 leaves them where they are, 1 puts them there.
    pub smoothing: f64,
    /// How long a droplet's trail is [s]: it is stretched along its velocity by as far as it flies in that time, at most by the
    /// ratio. Its volume stays. 0 leaves droplets round.
    pub trail: f64,
}

impl Default for Anisotropy {
    fn default() -> Self {
        Self {
            search: 2.0,
            ratio: 4.0,
            droplet_neighbours: 5.0,
            droplet_scale: 0.7,
            local: 1.0,
            smoothing: 0.5,
            trail: 0.0,
        }
    }
}

impl Anisotropy {
    pub(super) fn check(&self) -> Result<()> {
        let within =
            |what, found: f64, low: f64, high: f64, wanted| match (low..=high).contains(&found) {
                true => Ok(()),
                false => Err(GeometryError::BadParameter { what, found, wanted }),
            };
        within("the search radius in particle radii", self.search, 1.0, 16.0, "from 1 to 16")?;
        within("the largest ratio of stretches", self.ratio, 1.0, 100.0, "from 1 to 100")?;
        let (what, wanted) = ("the neighbours of a droplet", "from 0 to 1000");
        within(what, self.droplet_neighbours, 0.0, 1000.0, wanted)?;
        within("the scale of droplets", self.droplet_scale, 0.01, 10.0, "from 0.01 to 10")?;
        within("the blend to local volumes", self.local, 0.0, 1.0, "from 0 to 1")?;
        within("the smoothing of centres", self.smoothing, 0.0, 1.0, "from 0 to 1")?;
        within("the trail of droplets [s]", self.trail, 0.0, 1e6, "from 0 to a million")
    }
}

/// An ellipsoid |G (x − centre)| ≤ radius, in voxels from its Bucket's corner.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kernel {
    pub centre: Vec3,
    /// G, symmetric: xx, xy, xz, yy, yz, zz.
    pub inverse: [f32; 6],
    pub radius: f32,
    /// Half of the box around it.
    pub half: Vec3,
    /// No smaller than the largest eigenvalue of G: |G y| is at most so many times |y|.
    pub steepest: f32,
}

impl Kernel {
    pub fn sphere(centre: Vec3, radius: f32) -> Self {
        let inverse = [1.0, 0.0, 0.0, 1.0, 0.0, 1.0];
        Self { centre, inverse, radius, half: Vec3::splat(radius), steepest: 1.0 }
    }

    /// The ellipsoid whose points are `stretch` times those of a sphere; `stretch` is symmetric and positive.
    fn stretched(centre: Vec3, radius: f32, stretch: DMat3) -> Self {
        let g = stretch.inverse();
        let inverse = [g.x_axis.x, g.x_axis.y, g.x_axis.z, g.y_axis.y, g.y_axis.z, g.z_axis.z];
        let rows = stretch.transpose();
        let half = DVec3::new(rows.x_axis.length(), rows.y_axis.length(), rows.z_axis.length());
        let half = half.as_vec3() * radius;
        // No eigenvalue is larger than the largest sum of a row (Gershgorin).
        let columns = [g.x_axis, g.y_axis, g.z_axis];
        let sums = columns.map(|column| column.abs().element_sum());
        let steepest = sums[0].max(sums[1]).max(sums[2]) as f32;
        Self { centre, inverse: inverse.map(|n| n as f32), radius, half, steepest }
    }

    /// The distance [voxels] of a place, as it is stamped.
    pub fn distance(&self, place: Vec3) -> f32 {
        let [xx, xy, xz, yy, yz, zz] = self.inverse;
        let apply = |v: Vec3| {
            Vec3::new(
                xx * v.x + xy * v.y + xz * v.z,
                xy * v.x + yy * v.y + yz * v.z,
                xz * v.x + yz * v.y + zz * v.z,
            )
        };
        let once = apply(place - self.centre);
        let q = (once.length_squared() + 1e-12).sqrt();
        let slope = (apply(once).length_squared() + 1e-12).sqrt();
        (q - self.radius) * q / slope
    }

    /// G as a matrix.
    pub fn matrix(&self) -> DMat3 {
        let [xx, xy, xz, yy, yz, zz] = self.inverse.map(f64::from);
        DMat3::from_cols_array(&[xx, xy, xz, xy, yy, yz, xz, yz, zz])
    }
}

/// The ellipsoids of all particles, in the order of the bins; those of Buckets that are buried stay spheres. `velocity` is in voxels per
/// second, by the particles' own numbers.
pub(super) fn kernels(
    bins: &Bins,
    buried: &[bool],
    settings: &Anisotropy,
    velocity: Option<&(dyn Fn(u32) -> DVec3 + Sync)>,
) -> Vec<Kernel> {
    let slots = bins.topology.local() as u32;
    let shapes = Shapes { bins, settings };
    let global = (settings.local < 1.0).then(|| shapes.global_scale(slots));
    let of_slot = |near: &mut Near, slot: u32| -> Vec<Kernel> {
        let particles = bins.of(slot);
        if buried[slot as usize] {
            return particles.map(|n| Kernel::sphere(bins.place(n), bins.radius[n])).collect();
        }
        shapes.load(slot, near);
        particles
            .map(|n| {
                let moments = near.moments(bins.place(n), settings.search as f32 * bins.radius[n]);
                let velocity = velocity.map(|velocity| velocity(bins.source[n]));
                shapes.kernel(n, &moments, global, velocity)
            })
            .collect()
    };
    let all: Vec<Vec<Kernel>> =
        (0..slots).into_par_iter().map_init(Near::default, of_slot).collect();
    let mut list = Vec::with_capacity(bins.len());
    all.into_iter().for_each(|some| list.extend(some));
    list
}

struct Shapes<'a> {
    bins: &'a Bins,
    settings: &'a Anisotropy,
}

/// What the neighbours of a particle say of its shape.
struct Stretches {
    /// σ₀, σ̂₁ and σ̂₂ over R².
    values: DVec3,
    vectors: DMat3,
    /// From 0, a shape, to 1: as good as round.
    round: f64,
}

/// From which σ₂/σ₀ on a particle becomes round, and from which it is. At a plane surface it is 0.3, a layer below 0.6.
const ROUND: [f64; 2] = [0.45, 0.75];

impl Shapes<'_> {
    /// Puts the particles together that those of a slot may see.
    fn load(&self, slot: u32, near: &mut Near) {
        let bins = self.bins;
        let largest = bins.of(slot).map(|n| bins.radius[n]).fold(0.0, f32::max);
        near.gather(bins, slot, self.settings.search as f32 * largest);
    }

    fn stretches(&self, moments: &Moments) -> Option<Stretches> {
        let (values, vectors) = eigen(moments.covariance);
        // Neighbours that all lie in one place say nothing.
        let largest = values.x;
        (largest > 1e-8).then(|| Stretches {
            values: values.max(DVec3::splat(largest / self.settings.ratio)),
            vectors,
            round: smooth_step((values.z / largest - ROUND[0]) / (ROUND[1] - ROUND[0])),
        })
    }

    /// 0 for a droplet, 1 for a particle with neighbours enough.
    fn share(&self, neighbours: f64) -> f64 {
        let least = self.settings.droplet_neighbours;
        smooth_step((neighbours - least) / least.max(1e-9))
    }

    /// k_s of all particles together: the mean of their determinants to the power of −1/3. Summed slot by slot, in order.
    fn global_scale(&self, slots: u32) -> f64 {
        let sums: Vec<[f64; 2]> = (0..slots)
            .into_par_iter()
            .map_init(Near::default, |near, slot| {
                self.load(slot, near);
                self.bins.of(slot).fold([0.0; 2], |[sum, weights], n| {
                    let search = self.settings.search as f32 * self.bins.radius[n];
                    let moments = near.moments(self.bins.place(n), search);
                    let weight = self.share(moments.neighbours);
                    match self.stretches(&moments) {
                        Some(found) if weight > 0.0 => {
                            [sum + weight * found.values.element_product(), weights + weight]
                        }
                        _ => [sum, weights],
                    }
                })
            })
            .collect();
        let [sum, weights] = sums.iter().fold([0.0; 2], |a, b| [a[0] + b[0], a[1] + b[1]]);
        if weights > 0.0 { (sum / weights).powf(-1.0 / 3.0) } else { 1.0 }
    }

    fn kernel(
        &self,
        particle: usize,
        moments: &Moments,
        global: Option<f64>,
        velocity: Option<DVec3>,
    ) -> Kernel {
        let settings = self.settings;
        let (place, radius) = (self.bins.place(particle), self.bins.radius[particle]);
        let share = self.share(moments.neighbours);
        let centre = place + (settings.smoothing * share) as f32 * moments.mean;
        let stretched = if share > 0.0 { self.stretches(moments) } else { None };
        let ellipsoid = stretched.map(|Stretches { values, vectors, round }| {
            let local = values.element_product().powf(-1.0 / 3.0);
            // Of the volume of the sphere, whatever its shape.
            let shape = (local * values).lerp(DVec3::ONE, round);
            let shape = shape * shape.element_product().powf(-1.0 / 3.0);
            let scale =
                global.map_or(1.0, |all| 1.0 + (1.0 - settings.local) * (all / local - 1.0));
            vectors * DMat3::from_diagonal(scale * shape) * vectors.transpose()
        });
        let ellipsoid = ellipsoid.unwrap_or(DMat3::IDENTITY);
        if share >= 1.0 {
            return Kernel::stretched(centre, radius, ellipsoid);
        }
        let droplet = settings.droplet_scale * self.trail(velocity, f64::from(radius));
        // Between the two: shapes by sums, sizes by products, so that volumes go evenly from one to the other.
        let between = share * ellipsoid + (1.0 - share) * droplet;
        let size = |m: &DMat3| m.determinant().abs().max(1e-30).ln();
        let wanted = share * size(&ellipsoid) + (1.0 - share) * size(&droplet);
        let scale = ((wanted - size(&between)) / 3.0).exp();
        Kernel::stretched(centre, radius, scale * between)
    }

    /// A sphere stretched along its velocity [voxels/s] as far as the trail is long, of the same volume.
    fn trail(&self, velocity: Option<DVec3>, radius: f64) -> DMat3 {
        let Some(velocity) = velocity.filter(|v| v.is_finite()) else { return DMat3::IDENTITY };
        let way = velocity.length() * self.settings.trail;
        let Some(along) = velocity.try_normalize().filter(|_| way > 0.0) else {
            return DMat3::IDENTITY;
        };
        // The longest axis over the others: that of a sphere and the way that it flew.
        let ratio = (1.0 + 0.5 * way / radius).min(self.settings.ratio);
        let outer = DMat3::from_cols(along * along.x, along * along.y, along * along.z);
        ratio.powf(-1.0 / 3.0) * (DMat3::IDENTITY + (ratio - 1.0) * outer)
    }
}

/// From 0 at 0 to 1 at 1, without a kink.
fn smooth_step(t: f64) -> f64 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// What a particle knows of its neighbours.
pub(super) struct Moments {
    /// From the particle to the mean [voxels].
    mean: Vec3,
    /// C over R²: xx, xy, xz, yy, yz, zz.
    covariance: [f64; 6],
    /// How many neighbours it has, itself not counted: twice their weights, which is their number where they are spread evenly.
    neighbours: f64,
}

/// The particles around a Bucket, in slabs along x, one voxel thick.
#[derive(Default)]
struct Near {
    x: Vec<f32>,
    y: Vec<f32>,
    z: Vec<f32>,
    /// The first particle of each slab; the first slab begins at `low`, in voxels from the corner.
    slabs: Vec<u32>,
    low: f32,
    unsorted: Vec<[f32; 3]>,
}

/// Where nobody is.
const NOWHERE: f32 = 1e9;

impl Near {
    fn gather(&mut self, bins: &Bins, slot: u32, reach: f32) {
        self.unsorted.clear();
        let (low, high) = (Vec3::splat(-reach), Vec3::splat(super::bins::EDGE + reach));
        bins.each_around(bins.topology.bucket(slot), rings(reach), |other, shift| {
            for n in bins.of(other) {
                let at = bins.place(n) + shift;
                if at.cmpge(low).all() && at.cmple(high).all() {
                    self.unsorted.push(at.to_array());
                }
            }
        });
        // Counted by slabs; within one, the order stays.
        self.low = low.x;
        let count = (high.x - low.x) as usize + 1;
        self.slabs.clear();
        self.slabs.resize(count + 1, 0);
        let slab = |x: f32| (x - self.low) as usize;
        self.unsorted.iter().for_each(|at| self.slabs[slab(at[0]) + 1] += 1);
        for n in 0..count {
            self.slabs[n + 1] += self.slabs[n];
        }
        // Seven more than there are, so that eight can be read anywhere.
        let padded = self.unsorted.len() + 7;
        for axis in [&mut self.x, &mut self.y, &mut self.z] {
            axis.clear();
            axis.resize(padded, NOWHERE);
        }
        let mut next = self.slabs.clone();
        for at in &self.unsorted {
            let place = &mut next[slab(at[0])];
            let n = *place as usize;
            [self.x[n], self.y[n], self.z[n]] = *at;
            *place += 1;
        }
    }

    /// Mean and covariance of the particles within a radius of a place.
    fn moments(&self, place: Vec3, radius: f32) -> Moments {
        let last = self.slabs.len() - 2;
        let slab = |x: f32| ((x - self.low).max(0.0) as usize).min(last);
        let from = self.slabs[slab(place.x - radius)] as usize;
        let to = self.slabs[slab(place.x + radius) + 1] as usize;
        let end = to + 7;
        let axes = [&self.x[from..end], &self.y[from..end], &self.z[from..end]];
        let sums = sums(axes, to - from, place.to_array(), radius).map(f64::from);
        let [w, x, y, z, squares @ ..] = sums;
        let per = 1.0 / w.max(1e-30);
        let mean = per * DVec3::new(x, y, z);
        let minus = [
            mean.x * mean.x,
            mean.x * mean.y,
            mean.x * mean.z,
            mean.y * mean.y,
            mean.y * mean.z,
            mean.z * mean.z,
        ];
        Moments {
            mean: (mean * f64::from(radius)).as_vec3(),
            covariance: std::array::from_fn(|n| per * squares[n] - minus[n]),
            neighbours: (2.0 * (w - 1.0)).max(0.0),
        }
    }
}

/// Σw, Σwd and Σw d dᵀ of the first `count` of some particles, with d from the place in radii. Seven more may be read.
#[multiversion(targets("x86_64+avx2"))]
fn sums(axes: [&[f32]; 3], count: usize, place: [f32; 3], radius: f32) -> [f32; 10] {
    let zero = Lanes::splat(0.0);
    let one = Lanes::splat(1.0);
    let per = 1.0 / radius;
    let mut sums = [zero; 10];
    // Axis by axis: calls of `map` on arrays of lanes are not inlined, and pass them through memory.
    let [px, py, pz] = [Lanes::splat(place[0]), Lanes::splat(place[1]), Lanes::splat(place[2])];
    let [xs, ys, zs] = axes;
    for first in (0..count).step_by(8) {
        let x = per * (Lanes::load(xs, first) - px);
        let y = per * (Lanes::load(ys, first) - py);
        let z = per * (Lanes::load(zs, first) - pz);
        let square = x * x + y * y + z * z;
        // Also zero for those read beyond the end: they lie in a slab too far away, or nowhere.
        let w = (one - square * square.sqrt()).max(zero);
        let [wx, wy, wz] = [w * x, w * y, w * z];
        let more = [w, wx, wy, wz, wx * x, wx * y, wx * z, wy * y, wy * z, wz * z];
        for (sum, more) in sums.iter_mut().zip(more) {
            *sum = *sum + more;
        }
    }
    sums.map(|Lanes(n)| ((n[0] + n[4]) + (n[1] + n[5])) + ((n[2] + n[6]) + (n[3] + n[7])))
}
