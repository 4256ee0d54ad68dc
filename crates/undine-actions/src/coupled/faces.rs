//! The faces of a fluid as coupling sees them: read and written at points anywhere, with the same weights both ways.
//!
//! A face counts by its mass φρh³: φ is the share of fluid in the two cells beside it, unless the fluid itself says how much lies there.
//! With the weights w of linear interpolation, a point is wet by s = Σ wφ, meets the fluid at Σ wφu / s, and what it gives goes to faces
//! by wφ/s: all of it, and to fluid alone. The three components lie on faces of their own, so that s is a vector.

use undine_core::glam::{DVec3, Vec3};
use undine_core::volume::{Interpolation, Kernel, MacHandle, Resolution, foreign};
use undine_core::{Accessor, ChannelSpec, DiscreteVolume, GridDomain};
use undine_sim::offers::{FluidField, ObjectId};
use undine_sim::world::ChannelKey;
use undine_sim::{Result, StoreId, World};

/// The channels that coupling needs on a fluid, all of them made anew whenever it is looked at.
const SHARE: &str = "couple-share";
const FLOW: &str = "couple-flow";
const SUM: &str = "couple-sum";

/// A fluid that something is coupled to.
#[derive(Debug, Clone, Copy)]
pub struct Faces {
    object: ObjectId,
    field: FluidField,
    /// φ [1].
    share: MacHandle,
    /// φu [m/s], with the velocity that is looked at.
    flow: MacHandle,
    /// What points give.
    sum: MacHandle,
}

/// What points meet, in their order.
#[derive(Debug, Default)]
pub struct Met {
    /// How wet they are along each axis: 0 outside of the fluid, about 1 inside.
    pub shares: Vec<DVec3>,
    /// The velocity of the fluid there [m/s]; 0 along axes where there is none.
    pub velocities: Vec<DVec3>,
}

impl Faces {
    /// Adds the channels to the fluid of an Object; none where it offers none.
    pub fn add(world: &mut World, object: ObjectId) -> Result<Option<Self>> {
        let Some(field) = world.object(object).offers.fluid else { return Ok(None) };
        let volume = &mut world.volumes[field.volume];
        let mut mac = |name: &'static str, unit: &'static str| match volume.mac(name) {
            Ok(found) => Ok(found),
            Err(_) => {
                let spec = ChannelSpec::new(name, 0.0_f32).unit(unit).internal().transient();
                volume.add_mac_channel(&spec, Resolution::R8)
            }
        };
        let (share, flow, sum) = (mac(SHARE, "1")?, mac(FLOW, "m/s")?, mac(SUM, "kg m/s")?);
        Ok(Some(Self { object, field, share, flow, sum }))
    }

    /// The store of the fluid.
    pub fn store(&self) -> StoreId {
        self.field.volume.into()
    }

    /// The channels that tell how much lies at a face.
    pub fn weighs(&self) -> [ChannelKey; 2] {
        // Where no mass is known, the density is.
        let mass = if self.field.face_mass.is_some() { "face-mass" } else { "cells" };
        self.store().channels(["mass-density", mass])
    }

    /// The names of the channels that looking at the fluid writes.
    pub const LOOKED_AT: [&'static str; 2] = [SHARE, FLOW];
    /// The name of the channel that giving writes.
    pub const GIVEN: &'static str = SUM;

    fn on<'w>(&self, world: &'w World) -> (&'w GridDomain, &'w DiscreteVolume) {
        (&world.domains[world.object(self.object).domain], &world.volumes[self.field.volume])
    }

    /// The density of the fluid where nothing else is said [kg/m³].
    pub fn density(&self, world: &World) -> Result<f64> {
        let (_, volume) = self.on(world);
        Ok(volume.column(self.field.density)?.background().into())
    }

    /// Finds which faces have fluid, and keeps the velocity there: that of the start of the substep, or the last iterate.
    pub fn look(&self, world: &World, at_start: bool) -> Result<()> {
        let (domain, volume) = self.on(world);
        let velocity = if at_start { self.field.velocity_before } else { self.field.velocity };
        let cell = domain.frame().voxel_size(0).powi(3) as f32;
        let kernel = (
            volume.around(self.field.cells.words, 1),
            (
                velocity.faces.map(|face| volume.own(face)),
                self.field.walls.area.faces.map(|face| volume.own(face)),
                self.field.face_mass.map(|mass| mass.faces.map(|face| volume.own(face))),
                volume.own(self.field.density),
            ),
            (
                self.share.faces.map(|face| volume.write(face)),
                self.flow.faces.map(|face| volume.write(face)),
            ),
        );
        Accessor::new("look at a fluid", domain).over(volume.topology()).level(0).run(
            kernel,
            |_, (cells, (velocity, open, mass, density), (share, flow))| {
                let is_on = |words: &[u64], n: usize| words[n >> 6] >> (n & 63) & 1 != 0;
                let here = cells.chunk();
                for (axis, (share, flow)) in share.into_iter().zip(flow).enumerate() {
                    let below = match axis {
                        0 => cells.neighbour(-1, 0, 0),
                        1 => cells.neighbour(0, -1, 0),
                        _ => cells.neighbour(0, 0, -1),
                    };
                    let one = 64 >> (3 * axis);
                    for n in 0..share.len() {
                        let is_first = (n / one) & 7 == 0;
                        let lower = match is_first {
                            true => is_on(below, n + 7 * one),
                            false => is_on(here, n - one),
                        };
                        let wet = match mass {
                            Some(mass) => mass[axis][n] / (density[n] * cell),
                            None => 0.5 * (f32::from(lower) + f32::from(is_on(here, n))),
                        };
                        let is_open = open[axis][n] > 0.0;
                        share[n] = if is_open { wet } else { 0.0 };
                        // What is not fluid may hold anything.
                        flow[n] = if share[n] > 0.0 { share[n] * velocity[axis][n] } else { 0.0 };
                    }
                }
            },
        )?;
        Ok(())
    }

    /// What points at these places [m] meet of the fluid that was looked at. Collective.
    pub fn meet(&self, world: &World, places: &[DVec3]) -> Result<Met> {
        let (domain, volume) = self.on(world);
        let sample =
            |mac| foreign::sample_velocities(domain, volume, mac, Interpolation::Linear, places);
        let (shares, flows) = (sample(self.share)?, sample(self.flow)?);
        let velocity = |(share, flow): (&Vec3, Vec3)| {
            let wet = share.cmpgt(Vec3::splat(LEAST));
            Vec3::select(wet, flow / *share, Vec3::ZERO).as_dvec3()
        };
        let velocities = shares.iter().zip(flows).map(velocity).collect();
        let share = |share: Vec3| Vec3::select(share.cmpgt(Vec3::splat(LEAST)), share, Vec3::ZERO);
        Ok(Met { shares: shares.into_iter().map(|s| share(s).as_dvec3()).collect(), velocities })
    }

    /// Sums up what points at these places [m] give, wet by these shares: afterwards [`Self::ratios`] and [`Self::take`] know it.
    /// Collective.
    pub fn give(&self, world: &World, given: &[Given<'_>]) -> Result<()> {
        let (domain, volume) = self.on(world);
        for face in self.sum.faces {
            volume.column_mut(face)?.fill(0.0);
        }
        for &Given { places, shares, values } in given {
            for (axis, &face) in self.sum.faces.iter().enumerate() {
                let amount = |(share, value): (&DVec3, &DVec3)| match share[axis] > 0.0 {
                    true => (value[axis] / share[axis]) as f32,
                    false => 0.0,
                };
                let amounts: Vec<f32> = shares.iter().zip(values).map(amount).collect();
                foreign::splat(domain, volume, face, Kernel::Linear, places, &amounts)?;
            }
        }
        Ok(())
    }

    /// How much what was given is beside the fluid's own mass, at these places [m]: sum / (ρ h³), along each axis. Collective.
    pub fn ratios(&self, world: &World, places: &[DVec3]) -> Result<Vec<DVec3>> {
        let (domain, volume) = self.on(world);
        let mass = domain.frame().voxel_size(0).powi(3) * self.density(world)?;
        let sums =
            foreign::sample_velocities(domain, volume, self.sum, Interpolation::Linear, places)?;
        Ok(sums.into_iter().map(|sum| sum.as_dvec3() / mass).collect())
    }

    /// The fluid takes up what was given, as momentum [kg m/s]: u += sum·φ / (φ ρ h³).
    pub fn take(&self, world: &World) -> Result<()> {
        let (domain, volume) = self.on(world);
        let cell = domain.frame().voxel_size(0).powi(3) as f32;
        let kernel = (
            volume.own(self.field.density),
            (
                self.share.faces.map(|face| volume.own(face)),
                self.sum.faces.map(|face| volume.own(face)),
            ),
            self.field.velocity.faces.map(|face| volume.write(face)),
        );
        Accessor::new("take up momentum", domain).over(volume.topology()).level(0).run(
            kernel,
            |_, (density, (share, sum), velocity)| {
                for (axis, velocity) in velocity.into_iter().enumerate() {
                    for n in 0..velocity.len() {
                        let is_wet = share[axis][n] > 0.0;
                        let kick = sum[axis][n] / (density[n] * cell);
                        velocity[n] += if is_wet { kick } else { 0.0 };
                    }
                }
            },
        )?;
        Ok(())
    }
}

/// Below this share a point is dry: what would be divided by it is rounding.
const LEAST: f32 = 1e-4;

/// What points give to a fluid.
#[derive(Debug, Clone, Copy)]
pub struct Given<'a> {
    /// Where they are [m].
    pub places: &'a [DVec3],
    /// How wet they are.
    pub shares: &'a [DVec3],
    /// What they give, along each axis.
    pub values: &'a [DVec3],
}
