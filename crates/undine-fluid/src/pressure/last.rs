//! The pressure of the step before acts while viscosity does, and is taken back before the pressure is solved for: an incremental
//! pressure correction (K. Goda, *A multistep technique with implicit difference schemes for calculating two- or three-dimensional
//! cavity flows*, 1979).
//!
//! Viscosity alone does not know that pressure will hold what forces have accelerated: it would shear honey at rest along its walls
//! by a whole step's fall, and what is steady would depend on the step. With the last pressure, only its change is missing. Where
//! there was none, as in cells that have become liquid since, its gradient is that of the faces around.

use super::afloat::{Afloat, Hold};
use crate::extend::bits::{Padded, shifted_up};
use undine_core::access::VoxelNeighbourhood;
use undine_core::volume::{MacHandle, Mask, MaskHandle, Resolution};
use undine_core::{Accessor, DiscreteVolume, GridDomain};
use undine_geometry::Twist;
use undine_linsolve::pressure::{inverse_of_mean, is_open};
use undine_sim::Result;
use undine_sim::offers::FluidField;

/// Less than this is no pressure that was solved for [Pa]: air has none.
const LEAST: f32 = 1e-3;

/// How many layers of faces go on with the gradient of those beside them: as far as viscosity has unknowns outside of cells.
const LAYERS: usize = 2;

/// What the last pressure has done to a fluid and to the bodies in it.
#[derive(Debug)]
pub struct LastPressure {
    store: DiscreteVolume,
    /// Δt/ρ·∇p [m/s].
    impulse: MacHandle,
    known: [MaskHandle; 3],
    /// What bodies have gained.
    gained: Vec<Twist>,
}

impl LastPressure {
    /// Lets the pressure of the step before act on a fluid and its bodies for a time `step` [s]. Collective.
    pub fn act(
        domain: &GridDomain,
        volume: &DiscreteVolume,
        field: &FluidField,
        bodies: &mut [Afloat],
        step: f64,
    ) -> Result<Self> {
        let mut gained = vec![Twist::default(); bodies.len()];
        if !bodies.is_empty() {
            let before: Vec<Twist> = bodies.iter().map(|body| body.twist).collect();
            let hold = Hold::new(domain, volume, field, bodies)?;
            hold.weigh_in(domain, volume, field, bodies)?;
            hold.press(domain, volume, field, bodies, step)?;
            for ((gained, body), before) in gained.iter_mut().zip(&*bodies).zip(before) {
                gained.linear = body.twist.linear - before.linear;
                gained.angular = body.twist.angular - before.angular;
            }
        }
        let mut store = DiscreteVolume::on("last pressure", domain, volume.topology().clone());
        let impulse = store.add_mac("impulse", "m/s", Resolution::R8)?;
        let mut mask = |name| store.add_mask(name, Resolution::R8);
        let known = [mask("known.x")?, mask("known.y")?, mask("known.z")?];
        let last = Self { store, impulse, known, gained };
        last.find(domain, volume, field, step)?;
        for _ in 0..LAYERS {
            last.add_layer(domain)?;
        }
        last.add(domain, volume, field, -1.0)?;
        Ok(last)
    }

    /// Takes back what it has done. Collective.
    pub fn take_back(
        self,
        domain: &GridDomain,
        volume: &DiscreteVolume,
        field: &FluidField,
        bodies: &mut [Afloat],
    ) -> Result<()> {
        for (body, gained) in bodies.iter_mut().zip(&self.gained) {
            body.twist.linear -= gained.linear;
            body.twist.angular -= gained.angular;
        }
        self.add(domain, volume, field, 1.0)
    }

    /// The impulse at faces between cells that both had a pressure.
    fn find(
        &self,
        domain: &GridDomain,
        volume: &DiscreteVolume,
        field: &FluidField,
        step: f64,
    ) -> Result<()> {
        let scale = (step / domain.frame().voxel_size(0)) as f32;
        let kernel = (
            (volume.around(field.cells.words, 1), volume.around(field.pressure, 1)),
            volume.around(field.density, 1),
            field.walls.area.faces.map(|face| volume.own(face)),
            (
                self.impulse.faces.map(|face| self.store.write(face)),
                self.known.map(|mask| self.store.write(mask.words)),
            ),
        );
        let accessor = Accessor::new("find the last pressure's impulse", domain);
        accessor.over(volume.topology()).level(0).run(
            kernel,
            |_, ((cells, pressure), density, area, (impulse, known))| {
                let here = cells.chunk();
                for (axis, (impulse, known)) in impulse.into_iter().zip(known).enumerate() {
                    let below = shifted_up(&cells, axis);
                    let both: [u64; 8] = std::array::from_fn(|x| here[x] & below[x]);
                    for n in Mask(both).ones().filter(|&n| is_open(area[axis][n])) {
                        let [at, back] = beside(axis, n);
                        let p = [back, at].map(|[x, y, z]| pressure.at(x, y, z));
                        if p.iter().any(|p| p.abs() < LEAST) {
                            continue;
                        }
                        let density = [back, at].map(|[x, y, z]| Some(density.at(x, y, z)));
                        impulse[n] = scale * inverse_of_mean(density) * (p[1] - p[0]);
                        Mask(&mut known[..]).set(n, true);
                    }
                }
            },
        )?;
        Ok(())
    }

    /// Faces beside those that have an impulse take the mean of theirs.
    fn add_layer(&self, domain: &GridDomain) -> Result<()> {
        let store = &self.store;
        let accessor = Accessor::new("go on with the last pressure", domain).over(store.topology());
        let found = accessor.map(
            (
                self.impulse.faces.map(|face| store.around(face, 1)),
                self.known.map(|mask| store.around(mask.words, 1)),
            ),
            |_, (impulse, known)| {
                let mut new: Vec<(usize, usize, f32)> = Vec::new();
                for axis in 0..3 {
                    let is_known = Padded::load(&known[axis]);
                    if is_known.is_empty() {
                        continue;
                    }
                    let missing: [u64; 8] = std::array::from_fn(|x| !known[axis].chunk()[x]);
                    for n in Mask(missing).ones() {
                        let around = mean(n, &is_known, &impulse[axis]);
                        new.extend(around.map(|mean| (axis, n, mean)));
                    }
                }
                new
            },
        )?;
        accessor.run(
            (
                self.impulse.faces.map(|face| store.write(face)),
                self.known.map(|mask| store.write(mask.words)),
            ),
            |here, (impulse, known)| {
                for &(axis, n, value) in &found[here.slot as usize] {
                    impulse[axis][n] = value;
                    Mask(&mut known[axis][..]).set(n, true);
                }
            },
        )?;
        Ok(())
    }

    /// Adds so many times the impulse to the velocity.
    fn add(
        &self,
        domain: &GridDomain,
        volume: &DiscreteVolume,
        field: &FluidField,
        times: f32,
    ) -> Result<()> {
        let kernel = (
            self.impulse.faces.map(|face| self.store.own(face)),
            field.velocity.faces.map(|face| volume.write(face)),
        );
        let accessor = Accessor::new("add the last pressure's impulse", domain);
        accessor.over(volume.topology()).level(0).run(kernel, |_, (impulse, velocity)| {
            for (velocity, impulse) in velocity.into_iter().zip(impulse) {
                for (u, impulse) in velocity.iter_mut().zip(impulse) {
                    *u += times * impulse;
                }
            }
        })?;
        Ok(())
    }
}

/// The cells above and below a face.
fn beside(axis: usize, n: usize) -> [[i32; 3]; 2] {
    let at = Resolution::R8.coords(n).map(|c| c as i32);
    let mut back = at;
    back[axis] -= 1;
    [at, back]
}

/// The mean over the known of the six faces beside one.
fn mean(n: usize, known: &Padded, values: &VoxelNeighbourhood<'_, f32>) -> Option<f32> {
    let [x, y, z] = Resolution::R8.coords(n).map(|c| c as i32);
    let beside =
        [[x - 1, y, z], [x + 1, y, z], [x, y - 1, z], [x, y + 1, z], [x, y, z - 1], [x, y, z + 1]];
    let (mut count, mut sum) = (0.0, 0.0);
    for [x, y, z] in beside {
        if known.get(x, y, z) != 0 {
            count += 1.0;
            sum += values.at(x, y, z);
        }
    }
    (count > 0.0).then(|| sum / count)
}
