//! A velocity on faces is carried along by itself: ∂u/∂t + (u·∇)u = 0 for a step.
//!
//! What comes to a face was upstream before: it is looked up where the way to the face began (J. Stam, *Stable Fluids*, 1999), found by
//! the midpoint rule. That smooths a little in each step. MacCormack's way takes the error out to second order: what was carried
//! is carried back, and half of what it then differs by is put right, within the bounds of the values that it came from
//! (A. Selle, R. Fedkiw, B. Kim, Y. Liu and J. Rossignac, *An Unconditionally Stable MacCormack Method*, 2008).

use crate::extend::bits::shifted_up;
use crate::nearby::{AlongTheWay, MARGIN};
use undine_core::access::VoxelNeighbourhood;
use undine_core::glam::Vec3;
use undine_core::volume::{Interpolation, MacHandle, MacSampler, Mask, Resolution};
use undine_core::{Accessor, ChannelSpec, DiscreteVolume, GridDomain, Handle};
use undine_sim::Result;

/// How a velocity is carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// First order.
    SemiLagrangian,
    /// Second order.
    MacCormack,
}

/// Carries a velocity by a step [s], on the faces of cells that are marked; others keep theirs. What lies upstream of them must
/// have a velocity too. `wanted` is a mask on a volume with the same Buckets. Collective.
pub fn advect(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    velocity: MacHandle,
    wanted: (&DiscreteVolume, Handle<u64>),
    step: f64,
    scheme: Scheme,
) -> Result<()> {
    let mut scratch = DiscreteVolume::on("advection", domain, volume.topology().clone());
    // What is no number was not carried.
    let spec = |name: &str| ChannelSpec::new(name, f32::NAN);
    let carried = scratch.add_mac_channel(&spec("carried"), Resolution::R8)?;
    let flow =
        Carrying { domain, volume, velocity, wanted, per_voxel: step_in_voxels(domain, step) };
    flow.carry(&scratch, carried)?;
    if scheme == Scheme::MacCormack {
        let corrected = scratch.add_mac_channel(&spec("corrected"), Resolution::R8)?;
        flow.correct(&scratch, carried, corrected)?;
        return flow.take(&scratch, corrected);
    }
    flow.take(&scratch, carried)
}

/// Voxels for each m/s in a step.
fn step_in_voxels(domain: &GridDomain, step: f64) -> f32 {
    (step / domain.frame().voxel_size(0)) as f32
}

/// What is carried, and by what.
struct Carrying<'a> {
    domain: &'a GridDomain,
    volume: &'a DiscreteVolume,
    velocity: MacHandle,
    wanted: (&'a DiscreteVolume, Handle<u64>),
    /// The length of the step, in voxels for each m/s.
    per_voxel: f32,
}

impl Carrying<'_> {
    fn accessor(&self, task: &'static str) -> Accessor {
        Accessor::new(task, self.domain).over(self.volume.topology())
    }

    /// Writes what was upstream of each wanted face.
    fn carry(&self, scratch: &DiscreteVolume, to: MacHandle) -> Result<()> {
        let volume = self.volume;
        let faces = self.velocity.faces;
        for face in faces {
            volume.refresh(self.domain, face)?;
        }
        let [x, y, z] =
            [volume.column(faces[0])?, volume.column(faces[1])?, volume.column(faces[2])?];
        let far = MacSampler::new([&*x, &*y, &*z], volume.topology(), Interpolation::Linear)?;
        let voxel = self.domain.frame().voxel_size(0) as f32;
        let access = (
            self.wanted.0.around(self.wanted.1, 1),
            faces.map(|face| volume.around(face, MARGIN as u8)),
            to.faces.map(|face| scratch.write(face)),
        );
        self.accessor("carry velocities").run_with(
            access,
            AlongTheWay::default,
            |near, here, (cells, velocity, to)| {
                let wanted = [0, 1, 2].map(|axis| touching(&cells, axis));
                if wanted.iter().all(|mask| mask.count() == 0) {
                    return;
                }
                near.load(velocity);
                let at = |place: Vec3| {
                    near.at(place).unwrap_or_else(|| far.at(here.slot, place * voxel))
                };
                for (axis, to) in to.into_iter().enumerate() {
                    for n in wanted[axis].ones() {
                        let start = self.way((axis, n), near.at_face(axis, n), -1.0, at);
                        to[n] = match near.component(axis, start) {
                            Some(value) => value,
                            None => far.at(here.slot, start * voxel)[axis],
                        };
                    }
                }
            },
        )?;
        Ok(())
    }

    /// Puts right what was carried, by what comes of carrying it back.
    fn correct(&self, scratch: &DiscreteVolume, carried: MacHandle, to: MacHandle) -> Result<()> {
        let access = (
            self.wanted.0.around(self.wanted.1, 1),
            self.velocity.faces.map(|face| self.volume.around(face, MARGIN as u8)),
            carried.faces.map(|face| scratch.around(face, MARGIN as u8)),
            to.faces.map(|face| scratch.write(face)),
        );
        self.accessor("carry velocities back").run_with(
            access,
            || (AlongTheWay::default(), AlongTheWay::default()),
            |(near, there), _, (cells, velocity, carried, to)| {
                let wanted = [0, 1, 2].map(|axis| touching(&cells, axis));
                if wanted.iter().all(|mask| mask.count() == 0) {
                    return;
                }
                let own = velocity.map(|faces| faces.chunk());
                let was = carried.map(|faces| faces.chunk());
                near.load(velocity);
                there.load(carried);
                let at = |place: Vec3| near.at(place).unwrap_or(Vec3::NAN);
                for (axis, to) in to.into_iter().enumerate() {
                    for n in wanted[axis].ones() {
                        let (here, value) = (near.at_face(axis, n), was[axis][n]);
                        let back = there.component(axis, self.way((axis, n), here, 1.0, at));
                        let bounds = near.bounds(axis, self.way((axis, n), here, -1.0, at));
                        let better = match (back, bounds) {
                            (Some(back), Some([least, most])) => {
                                (value + 0.5 * (own[axis][n] - back)).max(least).min(most)
                            }
                            _ => value,
                        };
                        // Beside what was not carried there is nothing to compare with.
                        let known = back.is_some_and(f32::is_finite);
                        to[n] = if known { better } else { value };
                    }
                }
            },
        )?;
        Ok(())
    }

    /// Writes what was carried to the velocity.
    fn take(&self, scratch: &DiscreteVolume, from: MacHandle) -> Result<()> {
        let access = (
            from.faces.map(|face| scratch.own(face)),
            self.velocity.faces.map(|face| self.volume.write(face)),
        );
        self.accessor("take what was carried").run(access, |_, (from, to)| {
            for (to, from) in to.into_iter().zip(from) {
                for (to, &from) in to.iter_mut().zip(from) {
                    *to = if from.is_finite() { from } else { *to };
                }
            }
        })?;
        Ok(())
    }

    /// Where the flow leads from the middle of a face [voxels], with the velocity there, in a step, or led from (`sign` −1): the
    /// midpoint rule.
    #[inline(always)]
    fn way(
        &self,
        (axis, n): (usize, usize),
        here: Vec3,
        sign: f32,
        at: impl Fn(Vec3) -> Vec3,
    ) -> Vec3 {
        let (place, step) = (middle(axis, n), sign * self.per_voxel);
        place + step * at(place + 0.5 * step * here)
    }
}

/// The faces across an axis that touch marked cells.
fn touching(cells: &VoxelNeighbourhood<'_, u64>, axis: usize) -> Mask<[u64; 8]> {
    let below = shifted_up(cells, axis);
    Mask(std::array::from_fn(|x| cells.chunk()[x] | below[x]))
}

/// The middle of a face [voxels].
#[inline(always)]
fn middle(axis: usize, n: usize) -> Vec3 {
    let mut place = Vec3::new((n >> 6) as f32, (n >> 3 & 7) as f32, (n & 7) as f32) + 0.5;
    place[axis] -= 0.5;
    place
}
