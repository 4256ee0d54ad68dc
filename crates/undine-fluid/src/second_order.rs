//! Second order in time: what a fluid loses because its velocity goes straight on in a step, while its path bends, is given back.
//!
//! To carry velocities along and then to take their divergence out is of first order: what turns by ωΔt in a step has lost
//! 1 − cos(ωΔt) of its speed after it, a fifth of its angular momentum in a turn of a hundred steps. The trapezoidal rule
//! along the paths X of the fluid would use half of the pressure at the start of the step, carried to its end:
//!
//!   −½Δt·(∇p)∘X⁻¹ = −½Δt·∇(p∘X⁻¹) − ½Δt²·(∇u)ᵀ∇p + O(Δt³).
//!
//! The first part is a gradient that vanishes with p on the surface, and the next projection takes it away again; the second one
//! is what it leaves. With the acceleration a of the fluid in place of −∇p/ρ, which differs by a gradient where forces
//! have a potential and lets liquid at rest alone, that is
//!
//!   ½Δt²·(∇u)ᵀa,
//!
//! which is added to the velocity that the fluid goes on with. No second solve is needed, as in reflections
//! (J. Zehnder, R. Narain and B. Thomaszewski, *An Advection-Reflection Solver for Detail-Preserving Fluid Simulation*, 2018).

use crate::nearby::blank;
use undine_core::access::{Pad, Tile, VoxelNeighbourhood};
use undine_core::volume::{DiscreteVolume, MacHandle, MaskHandle, Resolution};
use undine_core::{Accessor, ChannelSpec, GridDomain};
use undine_sim::Result;
use undine_sim::offers::FluidField;

/// The velocity that was brought to faces, and the mass that brought it [kg]: where there is none, nothing is known.
#[derive(Debug, Clone, Copy)]
pub struct Brought {
    /// Velocity at the start of the step [m/s].
    pub velocity: MacHandle,
    /// Mass [kg].
    pub mass: MacHandle,
}

/// A flow that is sheared or turned by more than this in a step [voxels for each voxel] is beyond what the expansion knows: no more
/// counts.
const MOST: f32 = 0.5;

/// So is one that is pushed by more than this in a step [voxels]: what slopes have of rounding would grow from step to step.
const FARTHEST: f32 = 1.0;

/// Adds what bends to the velocity of a fluid after a step [s], which is extended already to the faces that are `known`: between those
/// and others there is no slope. Collective.
pub fn bend(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    field: &FluidField,
    brought: Brought,
    known: [MaskHandle; 3],
    step: f64,
) -> Result<()> {
    let mut scratch = DiscreteVolume::on("second order", domain, volume.topology().clone());
    let bent = scratch.add_mac_channel(&ChannelSpec::new("bent", 0.0_f32), Resolution::R8)?;
    let accessor = |task| Accessor::new(task, domain).over(volume.topology());
    let around = |mac: MacHandle| mac.faces.map(|face| volume.around(face, 1));
    let per_voxel = (step / domain.frame().voxel_size(0)) as f32;
    accessor("bend velocities").run_with(
        (
            (
                around(field.velocity),
                around(brought.velocity),
                around(brought.mass),
                known.map(|mask| volume.around(mask.words, 1)),
            ),
            bent.faces.map(|face| scratch.write(face)),
        ),
        Around::default,
        |near, _, ((velocity, before, mass, known), bent)| {
            if mass.iter().all(|mass| mass.chunk().iter().all(|mass| *mass <= 0.0)) {
                return;
            }
            for axis in 0..3 {
                near.load(axis, [&velocity[axis], &before[axis], &mass[axis]]);
                blank(&mut near.velocity[axis], 1, &known[axis]);
            }
            bent.into_iter().enumerate().for_each(|(axis, bent)| near.bend(axis, per_voxel, bent));
        },
    )?;
    accessor("take what bends").run(
        (
            bent.faces.map(|face| scratch.own(face)),
            field.velocity.faces.map(|face| volume.write(face)),
        ),
        |_, (bent, velocity)| {
            for (velocity, bent) in velocity.into_iter().zip(bent) {
                velocity.iter_mut().zip(bent).for_each(|(velocity, bent)| *velocity += bent);
            }
        },
    )?;
    Ok(())
}

/// What a Bucket sees of velocities and of their changes in the step.
struct Around {
    velocity: [Tile<f32>; 3],
    change: [Tile<f32>; 3],
    scratch: Tile<f32>,
}

impl Default for Around {
    fn default() -> Self {
        let tile = || Tile::new(Resolution::R8, Pad::both(1), 0.0);
        let tiles = || [tile(), tile(), tile()];
        Self { velocity: tiles(), change: tiles(), scratch: tile() }
    }
}

impl Around {
    /// Takes over the faces across an axis: their velocity after the step and before it, and the mass that brought that.
    fn load(&mut self, axis: usize, [now, before, mass]: [&VoxelNeighbourhood<'_, f32>; 3]) {
        let (velocity, change) = (&mut self.velocity[axis], &mut self.change[axis]);
        now.load(velocity);
        before.load(change);
        mass.load(&mut self.scratch);
        let known = velocity.values().iter().zip(self.scratch.values());
        for (change, (now, mass)) in change.values_mut().iter_mut().zip(known) {
            *change = if *mass > 0.0 { now - *change } else { 0.0 };
        }
    }

    /// Writes ½Δt·(∇u)ᵀ(Δt·a) for the faces across an axis, with the step over the voxel's size [s/m].
    fn bend(&self, axis: usize, per_voxel: f32, bent: &mut [f32]) {
        let tile = &self.velocity[axis];
        let strides = [tile.slab(), tile.row(), 1];
        let back = strides[axis];
        let most = FARTHEST / per_voxel;
        let pushed = |change: f32| change.clamp(-most, most);
        // Where one end of it is not known, a slope is none.
        let turn = |slope: f32| {
            let turned = (per_voxel * slope).clamp(-MOST, MOST);
            if turned.is_nan() { 0.0 } else { turned }
        };
        for (row, bent) in bent.chunks_exact_mut(8).enumerate() {
            let at = tile.index((row >> 3) as i32, (row & 7) as i32, 0);
            for (other, &up) in strides.iter().enumerate() {
                let (velocity, change) =
                    (self.velocity[other].values(), self.change[other].values());
                let from = |values: &[f32], place: usize| -> [f32; 8] {
                    std::array::from_fn(|z| values[place + z])
                };
                if other == axis {
                    let [low, high] = [at - back, at + back].map(|at| from(velocity, at));
                    let change = from(change, at);
                    for (z, bent) in bent.iter_mut().enumerate() {
                        *bent += 0.5 * turn(0.5 * (high[z] - low[z])) * pushed(change[z]);
                    }
                    continue;
                }
                // The four faces across the other axis, of the cells above the face and below it.
                let places = [at, at + up, at - back, at - back + up];
                let v = places.map(|at| from(velocity, at));
                let c = places.map(|at| from(change, at));
                for (z, bent) in bent.iter_mut().enumerate() {
                    let slope = 0.5 * (v[0][z] + v[1][z] - v[2][z] - v[3][z]);
                    let change = 0.25 * (c[0][z] + c[1][z] + c[2][z] + c[3][z]);
                    *bent += 0.5 * turn(slope) * pushed(change);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use undine_core::glam::Vec3;

    /// A velocity on the faces of a tile, by their places in voxels.
    fn filled(axis: usize, value: impl Fn(Vec3) -> f32) -> Tile<f32> {
        let mut tile = Tile::new(Resolution::R8, Pad::both(1), 0.0);
        for x in -1..9 {
            for y in -1..9 {
                for z in -1..9 {
                    let mut place = Vec3::new(x as f32, y as f32, z as f32) + 0.5;
                    place[axis] -= 0.5;
                    let at = tile.index(x, y, z);
                    tile.values_mut()[at] = value(place);
                }
            }
        }
        tile
    }

    #[test]
    fn what_turns_gets_back_what_a_straight_step_takes() {
        // Turned by 0.1 in a step, around somewhere, and sped up towards there.
        let (turned, middle) = (0.1, Vec3::new(3.0, 4.0, 5.0));
        let spin = |place: Vec3| turned * Vec3::Z.cross(place - middle);
        let towards = |place: Vec3| turned * Vec3::Z.cross(spin(place));
        let near = Around {
            velocity: std::array::from_fn(|axis| filled(axis, |at| spin(at)[axis])),
            change: std::array::from_fn(|axis| filled(axis, |at| towards(at)[axis])),
            ..Around::default()
        };
        for axis in 0..3 {
            let mut bent = [0.0; 512];
            near.bend(axis, 1.0, &mut bent);
            for (n, bent) in bent.iter().enumerate() {
                let mut place = Vec3::new((n >> 6) as f32, (n >> 3 & 7) as f32, (n & 7) as f32);
                place += 0.5;
                place[axis] -= 0.5;
                let wanted = 0.5 * turned * turned * spin(place)[axis];
                assert!((bent - wanted).abs() < 1e-6, "{bent} {wanted}");
            }
        }
    }

    #[test]
    fn what_flies_freely_or_rests_is_left_alone() {
        let mut near = Around {
            velocity: std::array::from_fn(|axis| filled(axis, |at| at[axis] * at.x)),
            ..Around::default()
        };
        let mut bent = [0.0; 512];
        near.bend(0, 1.0, &mut bent);
        assert_eq!(bent, [0.0; 512]);
        near.velocity = std::array::from_fn(|axis| filled(axis, |_| 3.0));
        near.change = std::array::from_fn(|axis| filled(axis, |_| 1.0));
        near.bend(0, 1.0, &mut bent);
        assert_eq!(bent, [0.0; 512]);
    }
}
