//! Surface tension: the pressure at the free surface is σ·κ, κ being the sum of its principal curvatures.
//!
//! **Curvature.** κ = ∇·(∇φ/|∇φ|) by central differences at cell centres, of a distance that was averaged once over its
//! neighbours, so that particles do not show through; then linearly to where the surface crosses the way between two centres.
//! All of it is second order.
//!
//! **Time.** A capillary wave of wavenumber k swings with ω² = σk³/ρ. With the surface moved by the new velocity (symplectic Euler) it
//! is stable as long as Δt·ω < 2; a longer step makes it grow. So κ flows along the surface like heat for the shortest time τ
//! after which no wave that the grid has, k ≤ π/Δx, swings faster than Δt·ω = 1: exp(−τk²)·Ak³ ≤ 1 with A = Δt²σ/ρ
//! ([`smoothing_time`]). Waves that steps resolve lose next to nothing, and where steps are short, τ is 0.

use super::layers::{VOXELS, lower, step, upper};
use undine_core::access::{Pad, VoxelNeighbourhood};
use undine_core::volume::VoxelShape;
use undine_core::{Accessor, ChannelSpec, DiscreteVolume, GridDomain, Handle};
use undine_sim::Result;

/// How far from the surface curvatures are worked out, in voxels.
const BAND: f32 = 2.5;

/// Curvatures are limited to this over a voxel's size: nothing smaller can be told apart.
const SHARPEST: f32 = 1.0;

/// Passes of the flow of curvature, at most, and the share of its longest stable time that one takes.
const MOST_PASSES: usize = 96;
const PASS: f32 = 1.0 / 12.0;

/// The time τ [Δx²] for which the curvature flows, with A = Δt²σ/ρ [Δx³]: the largest of ln(Ak³)/k² for k ≤ π. It is at Ak³ = e^(3/2),
/// or at k = π where that is beyond it.
fn smoothing_time(a: f64) -> f64 {
    const K: f64 = std::f64::consts::PI;
    let k = (1.5_f64.exp() / a).cbrt().min(K);
    let time = (a * k.powi(3)).ln() / (k * k);
    if time > 0.0 { time } else { 0.0 }
}

/// Channels for surface tension.
#[derive(Debug, Clone, Copy)]
pub struct Tension {
    /// The averaged distance [m].
    smooth: Handle<f32>,
    /// κ [1/m].
    pub curvature: Handle<f32>,
    /// κ after the next pass.
    next: Handle<f32>,
}

impl Tension {
    /// Channels of these names, new or there already.
    pub const CHANNELS: [&str; 3] = ["smooth-surface", "curvature", "curvature-next"];

    /// Adds its channels to a volume.
    pub fn add(volume: &mut DiscreteVolume) -> Result<Self> {
        let mut add = |name: &'static str, unit: &'static str| -> Result<Handle<f32>> {
            if let Ok(handle) = volume.handle(name) {
                return Ok(handle);
            }
            let spec = ChannelSpec::new(name, 0.0_f32).unit(unit).internal().transient();
            Ok(volume.add_channel(&spec, VoxelShape::CELLS)?)
        };
        let [smooth, curvature, next] = Self::CHANNELS;
        Ok(Self {
            smooth: add(smooth, "m")?,
            curvature: add(curvature, "1/m")?,
            next: add(next, "1/m")?,
        })
    }

    /// The curvature of a surface, by its distance, for a tension over density of `ratio` [m³/s²] and steps of `time` [s].
    pub fn measure(
        &self,
        domain: &GridDomain,
        volume: &mut DiscreteVolume,
        distance: Handle<f32>,
        ratio: f64,
        time: f64,
    ) -> Result<()> {
        let voxel = domain.frame().voxel_size(0);
        self.average(domain, volume, distance)?;
        self.differentiate(domain, volume, distance, voxel as f32)?;
        // τ/Δx²
        let flow = smoothing_time(time * time * ratio / voxel.powi(3));
        let passes = ((flow / f64::from(PASS)).ceil() as usize).min(MOST_PASSES);
        let share = (flow / passes.max(1) as f64).min(f64::from(PASS)) as f32;
        for _ in 0..passes {
            self.flow(domain, volume, distance, BAND * voxel as f32, share)?;
            volume.swap(self.curvature, self.next)?;
        }
        Ok(())
    }

    /// Averages distances with weights 1, 2, 1 along each axis, where the surface is near.
    fn average(
        &self,
        domain: &GridDomain,
        volume: &DiscreteVolume,
        distance: Handle<f32>,
    ) -> Result<()> {
        let reach = (BAND + 2.0) * domain.frame().voxel_size(0) as f32;
        Accessor::new("average distances", domain).over(volume.topology()).level(0).run(
            (volume.around(distance, 1), volume.write(self.smooth)),
            |_, (distance, smooth)| {
                if !is_near(distance.chunk(), reach) {
                    smooth.copy_from_slice(distance.chunk());
                    return;
                }
                let mut tile = distance.tile(Pad::both(1));
                distance.load(&mut tile);
                let (row, slab) = (tile.row(), tile.slab());
                let values = tile.values_mut();
                // Axis after axis, in place: each is read ahead of where it is written.
                for stride in [slab, row, 1] {
                    let mut before = values[..stride].to_vec();
                    for n in stride..values.len() - stride {
                        let own = values[n];
                        values[n] =
                            0.25 * before[n % stride] + 0.5 * own + 0.25 * values[n + stride];
                        before[n % stride] = own;
                    }
                }
                for x in 0..8 {
                    for y in 0..8 {
                        let from = tile.index(x, y, 0);
                        let to = (x as usize) << 6 | (y as usize) << 3;
                        smooth[to..to + 8].copy_from_slice(&tile.values()[from..from + 8]);
                    }
                }
            },
        )?;
        Ok(())
    }

    /// κ = ∇·(∇φ/|∇φ|), by central differences.
    fn differentiate(
        &self,
        domain: &GridDomain,
        volume: &DiscreteVolume,
        distance: Handle<f32>,
        voxel: f32,
    ) -> Result<()> {
        let band = BAND * voxel;
        Accessor::new("curvature", domain).over(volume.topology()).level(0).run(
            (volume.own(distance), volume.around(self.smooth, 1), volume.write(self.curvature)),
            |_, (distance, smooth, curvature)| {
                curvature.fill(0.0);
                if !is_near(distance, band) {
                    return;
                }
                let mut tile = smooth.tile(Pad::both(1));
                smooth.load(&mut tile);
                let strides = [tile.slab(), tile.row(), 1];
                for n in (0..VOXELS).filter(|&n| distance[n].abs() < band) {
                    let [x, y, z] = [n >> 6, n >> 3 & 7, n & 7].map(|c| c as i32);
                    let at = tile.index(x, y, z);
                    curvature[n] = curvature_at(tile.values(), at, strides, voxel);
                }
            },
        )?;
        Ok(())
    }

    /// One pass of heat flow, within the band around the surface.
    fn flow(
        &self,
        domain: &GridDomain,
        volume: &DiscreteVolume,
        distance: Handle<f32>,
        band: f32,
        share: f32,
    ) -> Result<()> {
        let kernel =
            (volume.around(distance, 1), volume.around(self.curvature, 1), volume.write(self.next));
        Accessor::new("spread curvature", domain).over(volume.topology()).level(0).run(
            kernel,
            |_, (distance, curvature, next)| {
                let (phi, k) = (distance.chunk(), curvature.chunk());
                next.copy_from_slice(k);
                if !is_near(phi, band) {
                    return;
                }
                for axis in 0..3 {
                    for (phi_beside, k_beside) in
                        beside(axis, &distance).into_iter().zip(beside(axis, &curvature))
                    {
                        for n in 0..VOXELS {
                            let both = phi[n].abs() < band && phi_beside[n].abs() < band;
                            next[n] += if both { share * (k_beside[n] - k[n]) } else { 0.0 };
                        }
                    }
                }
            },
        )?;
        Ok(())
    }
}

/// What the next voxels down and up an axis have.
fn beside(axis: usize, values: &VoxelNeighbourhood<'_, f32>) -> [[f32; VOXELS]; 2] {
    let ((a, b, c), (x, y, z)) = (step(axis, -1), step(axis, 1));
    [
        lower(axis, values.chunk(), values.neighbour(a, b, c)),
        upper(axis, values.chunk(), values.neighbour(x, y, z)),
    ]
}

fn is_near(distance: &[f32], reach: f32) -> bool {
    distance.iter().any(|distance| distance.abs() < reach)
}

/// κ at a place of a tile, from the 19 values around it.
#[inline]
fn curvature_at(phi: &[f32], at: usize, [sx, sy, sz]: [usize; 3], voxel: f32) -> f32 {
    let first = |s: usize| 0.5 * (phi[at + s] - phi[at - s]) / voxel;
    let second = |s: usize| (phi[at + s] - 2.0 * phi[at] + phi[at - s]) / (voxel * voxel);
    let mixed = |s: usize, t: usize| {
        let sum = phi[at + s + t] - phi[at + s - t] - phi[at - s + t] + phi[at - s - t];
        0.25 * sum / (voxel * voxel)
    };
    let (x, y, z) = (first(sx), first(sy), first(sz));
    let (xx, yy, zz) = (second(sx), second(sy), second(sz));
    let (xy, yz, zx) = (mixed(sx, sy), mixed(sy, sz), mixed(sz, sx));
    let square = x * x + y * y + z * z;
    // In the middle of a sheet or a thread the distance has no slope, and no curvature can be told.
    if square.is_nan() || square < 0.05 {
        return 0.0;
    }
    let sum = (y * y + z * z) * xx + (z * z + x * x) * yy + (x * x + y * y) * zz
        - 2.0 * (x * y * xy + y * z * yz + z * x * zx);
    let limit = SHARPEST / voxel;
    (sum / (square * square.sqrt())).clamp(-limit, limit)
}

#[cfg(test)]
mod tests {
    use super::smoothing_time;

    #[test]
    fn no_wave_of_the_grid_swings_faster_than_a_step_bears_and_slow_ones_are_left() {
        for a in [0.0, 1e-6, 0.01, 0.05, 0.1, 1.0, 30.0, 1e4] {
            let tau = smoothing_time(a);
            for n in 1..=100 {
                let k = std::f64::consts::PI * f64::from(n) / 100.0;
                assert!((-tau * k * k).exp() * a * k.powi(3) < 1.0 + 1e-9, "{a} {k}");
            }
            // A wave with sixty steps to its period keeps nearly all of its curvature.
            let k = (0.011 / a).cbrt().min(std::f64::consts::PI);
            assert!((-tau * k * k).exp() > 0.97, "{a}: {}", (-tau * k * k).exp());
        }
        assert_eq!(smoothing_time(0.03), 0.0);
    }
}
