//! The faces of a fluid as coupling sees them: read and written at points anywhere, with the same weights both ways.
//!
//! A face counts by its mass φ(1−α)ρh³: 1−α is what solids in the fluid leave of the two cells beside it, and φ the share of fluid in that,
//! which is that of cells unless the fluid itself says how much lies there. With the weights w of linear interpolation, a point is wet by
//! s = Σ wφ, meets the fluid at Σ wφu / s, and what it gives goes to faces by wφ/s: all of it, and to fluid alone. The three components lie
//! on faces of their own, so that s is a vector.

use super::places::Places;
use rayon::prelude::*;
use undine_core::access::VoxelNeighbourhood;
use undine_core::glam::{DVec3, Vec3};
use undine_core::volume::{MacHandle, Resolution};
use undine_core::{Accessor, ChannelSpec, DiscreteVolume, GridDomain};
use undine_sim::offers::{Coupling, FluidField, ObjectId};
use undine_sim::world::ChannelKey;
use undine_sim::{Id, Result, StoreId, World};

/// The channels that coupling needs on a fluid, all of them made anew whenever it is looked at.
const SHARE: &str = "couple-share";
const FLOW: &str = "couple-flow";
const SUM: &str = "couple-sum";
/// What drives the fluid besides; it crosses steps.
const DRIFT: &str = "couple-drift";
/// The same for what the stress of the fluid does; the last two cross steps.
const KEPT: &str = "couple-kept";
const PUSH: &str = "couple-push";
const PUSHED: &str = "couple-pushed";

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
    /// How all else speeds it up [m/s²], where that is asked for.
    drift: Option<MacHandle>,
    /// What is known of its stress, where that is asked for.
    stress: Option<Stress>,
}

/// What the stress of a fluid does to it, at faces.
#[derive(Debug, Clone, Copy)]
struct Stress {
    /// φu before pressure and viscosity [m/s].
    kept: MacHandle,
    /// φf [N/m³]: the change of momentum since, per volume and time.
    push: MacHandle,
    /// φ then [1].
    share: MacHandle,
}

/// What points meet, in their order.
#[derive(Debug, Default)]
pub struct Met {
    /// How wet they are along each axis: 0 outside of the fluid, about 1 inside.
    pub shares: Vec<DVec3>,
    /// The velocity of the fluid there [m/s]; 0 along axes where there is none.
    pub velocities: Vec<DVec3>,
}

/// What the stress of a fluid does to a point.
#[derive(Debug, Clone, Copy, Default)]
pub struct Felt {
    /// Along each axis, per volume of the point [N/m³], as far as it is wet.
    pub push: DVec3,
    /// How wet it is: from 0 to 1.
    pub wet: DVec3,
}

impl Faces {
    /// Adds the channels to the fluid of an Object; none where it offers none.
    pub fn add(world: &mut World, object: ObjectId) -> Result<Option<Self>> {
        let Some(field) = world.object(object).offers.fluid else { return Ok(None) };
        let volume = &mut world.volumes[field.volume];
        let share = mac(volume, SHARE, |spec| spec.transient())?;
        let flow = mac(volume, FLOW, |spec| spec.unit("m/s").transient())?;
        let sum = mac(volume, SUM, |spec| spec.unit("kg m/s").transient())?;
        Ok(Some(Self { object, field, share, flow, sum, drift: None, stress: None }))
    }

    /// The same with one for what drives it besides.
    pub fn add_with_drift(world: &mut World, object: ObjectId) -> Result<Option<Self>> {
        let Some(mut faces) = Self::add(world, object)? else { return Ok(None) };
        let volume = &mut world.volumes[faces.field.volume];
        faces.drift = Some(mac(volume, DRIFT, |spec| spec.unit("m/s2"))?);
        Ok(Some(faces))
    }

    /// The same with those for its stress.
    pub fn add_with_stress(world: &mut World, object: ObjectId) -> Result<Option<Self>> {
        let Some(mut faces) = Self::add(world, object)? else { return Ok(None) };
        let volume = &mut world.volumes[faces.field.volume];
        faces.stress = Some(Stress {
            kept: mac(volume, KEPT, |spec| spec.unit("m/s").transient())?,
            push: mac(volume, PUSH, |spec| spec.unit("N/m3"))?,
            share: mac(volume, PUSHED, |spec| spec)?,
        });
        Ok(Some(faces))
    }

    /// The path of its Object.
    pub fn path<'w>(&self, world: &'w World) -> &'w str {
        &world.object(self.object).path
    }

    /// Where the fluid is stored.
    pub fn volume(&self) -> Id<DiscreteVolume> {
        self.field.volume
    }

    /// The store of the fluid.
    pub fn store(&self) -> StoreId {
        self.field.volume.into()
    }

    /// The channels that tell how much lies at a face.
    pub fn weighs(&self) -> impl Iterator<Item = ChannelKey> {
        // Where no mass is known, the density is.
        let mass = if self.field.face_mass.is_some() { "face-mass" } else { "cells" };
        self.store().channels(["mass-density", mass]).into_iter().chain(self.taken())
    }

    /// The channel with what solids take of cells, where particles carry the fluid.
    pub fn taken(&self) -> Option<ChannelKey> {
        self.field.particles.map(|_| self.store().channel(Coupling::TAKEN))
    }

    /// Adds that channel.
    pub fn add_taken(&self, world: &mut World) -> Result<()> {
        if self.field.particles.is_some() {
            Coupling::add_taken(&mut world.volumes[self.field.volume])?;
        }
        Ok(())
    }

    /// Takes room in cells for points of these volumes [m³]. Collective.
    pub fn take_room(&self, world: &World, points: &[DVec3], volumes: &[f64]) -> Result<()> {
        let (domain, volume) = self.on(world);
        let Some(taken) = Coupling::taken(volume) else { return Ok(()) };
        let per_volume = 1.0 / self.cell(world);
        let parts: Vec<f32> = volumes.iter().map(|volume| (per_volume * volume) as f32).collect();
        self.find(world, points)?.add_to_cells(domain, volume, taken, &parts)
    }

    /// The names of the channels that looking at the fluid writes.
    pub const LOOKED_AT: [&'static str; 2] = [SHARE, FLOW];
    /// The names of the channels that its stress is kept in.
    pub const STRESS: [&'static str; 3] = [KEPT, PUSH, PUSHED];
    /// The name of the channel that giving writes.
    pub const GIVEN: &'static str = SUM;
    /// The name of the channel with what drives the fluid besides.
    pub const DRIVEN: &'static str = DRIFT;

    fn on<'w>(&self, world: &'w World) -> (&'w GridDomain, &'w DiscreteVolume) {
        (&world.domains[world.object(self.object).domain], &world.volumes[self.field.volume])
    }

    /// The density of the fluid where nothing else is said [kg/m³].
    pub fn density(&self, world: &World) -> Result<f64> {
        let (_, volume) = self.on(world);
        Ok(volume.column(self.field.density)?.background().into())
    }

    /// Finds points [m] among the faces, to be read and written there. Collective.
    pub fn find(&self, world: &World, points: &[DVec3]) -> Result<Places> {
        let (domain, volume) = self.on(world);
        Places::find(domain, volume, points)
    }

    /// Whether it fills all there is, so that nothing is meant to be outside of it.
    pub fn has_no_surface(&self) -> bool {
        self.field.distance.is_none()
    }

    /// Whether a place [m] is in a Bucket of the fluid, of whichever process.
    pub fn reaches(&self, world: &World, place: DVec3) -> bool {
        let (domain, volume) = self.on(world);
        let found = domain.frame().locate(place, 0, "a point in a fluid");
        found.is_ok_and(|(bucket, _)| volume.topology().all().contains(bucket))
    }

    /// Finds which faces have fluid, and how fast it is there when a step [s] ends, as far as is known: u at its start and Δt a.
    pub fn look(&self, world: &World, step: f64) -> Result<()> {
        self.weigh(world, self.field.velocity_before, [self.share, self.flow])?;
        let Some(drift) = self.drift else { return Ok(()) };
        let (domain, volume) = self.on(world);
        let kernel = (
            [self.share, drift].map(|mac| mac.faces.map(|face| volume.own(face))),
            self.flow.faces.map(|face| volume.write(face)),
        );
        let step = step as f32;
        Accessor::new("foresee a fluid", domain).over(volume.topology()).level(0).run(
            kernel,
            |_, ([share, drift], flow)| {
                for (axis, flow) in flow.into_iter().enumerate() {
                    for n in 0..flow.len() {
                        flow[n] += share[axis][n] * step * drift[axis][n];
                    }
                }
            },
        )?;
        Ok(())
    }

    /// Finds how all but what was given, if it was, has sped up the fluid in a step [s]: a = (u − u_before − given/m) / Δt.
    pub fn measure_drift(&self, world: &World, step: f64, was_given: bool) -> Result<()> {
        let Some(drift) = self.drift else { return Ok(()) };
        let (domain, volume) = self.on(world);
        let cell = domain.frame().voxel_size(0).powi(3) as f32;
        let (velocity, before) = (self.field.velocity, self.field.velocity_before);
        let kernel = (
            volume.own(self.field.density),
            [velocity, before, self.share, self.sum]
                .map(|mac| mac.faces.map(|face| volume.own(face))),
            drift.faces.map(|face| volume.write(face)),
        );
        let per_step = 1.0 / step as f32;
        let given = if was_given { 1.0 } else { 0.0 };
        Accessor::new("measure what drives a fluid", domain).over(volume.topology()).level(0).run(
            kernel,
            |_, (density, [velocity, before, share, sum], drift)| {
                for (axis, drift) in drift.into_iter().enumerate() {
                    for n in 0..drift.len() {
                        let kick = given * sum[axis][n] / (density[n] * cell);
                        let change = velocity[axis][n] - before[axis][n] - kick;
                        drift[n] = if share[axis][n] > 0.0 { per_step * change } else { 0.0 };
                    }
                }
            },
        )?;
        Ok(())
    }

    /// Keeps the fluid as it is before pressure and viscosity.
    pub fn keep(&self, world: &World) -> Result<()> {
        let Some(stress) = self.stress else { return Ok(()) };
        self.weigh(world, self.field.velocity, [stress.share, stress.kept])
    }

    /// Finds what pressure and viscosity did to the fluid since it was kept, in a step [s]: φf = ρ (φu − φu_kept) / Δt, with what the pressure
    /// of its surroundings does that is left out of it, −φρa.
    pub fn measure_stress(&self, world: &World, step: f64) -> Result<()> {
        let Some(stress) = self.stress else { return Ok(()) };
        let (domain, volume) = self.on(world);
        let own = |mac: MacHandle| mac.faces.map(|face| volume.own(face));
        let kernel = (
            volume.own(self.field.density),
            [self.field.velocity, stress.share, stress.kept].map(own),
            stress.push.faces.map(|face| volume.write(face)),
        );
        let per_step = 1.0 / step as f32;
        let carried = world.object(self.object).carried.as_vec3();
        Accessor::new("measure the stress of a fluid", domain).over(volume.topology()).run(
            kernel,
            |_, (density, [velocity, share, kept], push)| {
                for (axis, push) in push.into_iter().enumerate() {
                    for n in 0..push.len() {
                        let (phi, before) = (share[axis][n], kept[axis][n]);
                        let after = if phi > 0.0 { phi * velocity[axis][n] } else { before };
                        push[n] = density[n] * (per_step * (after - before) - phi * carried[axis]);
                    }
                }
            },
        )?;
        Ok(())
    }

    /// What its stress does at points; nothing where there was no fluid when it was measured, or where its stress is not asked for. Collective.
    pub fn stress_at(&self, world: &World, places: &Places) -> Result<Vec<Option<Felt>>> {
        let Some(stress) = self.stress else { return Ok(vec![None; places.len()]) };
        let (domain, volume) = self.on(world);
        let found = places.read(domain, volume, [stress.share, stress.push])?;
        // φf/φ, as far as it is wet. Deep inside particles crowd and thin out, and yet it is wet all through.
        let push = |[share, push]: [Vec3; 2]| {
            let mean = Vec3::select(share.cmpgt(Vec3::splat(LEAST)), push / share, Vec3::ZERO);
            let wet = (share / WET).min(Vec3::ONE);
            let felt = || Felt { push: (mean * wet).as_dvec3(), wet: wet.as_dvec3() };
            (share != Vec3::ZERO).then(felt)
        };
        Ok(found.into_par_iter().map(push).collect())
    }

    /// What its surroundings do to what is in it, per volume [N/m³]: part of what is felt, and none of what its own pressure does.
    pub fn surroundings(&self, world: &World) -> Result<DVec3> {
        Ok(-self.density(world)? * world.object(self.object).carried)
    }

    /// Finds φ of every face, and φu of a velocity.
    fn weigh(
        &self,
        world: &World,
        velocity: MacHandle,
        [share, flow]: [MacHandle; 2],
    ) -> Result<()> {
        let (domain, volume) = self.on(world);
        let cell = domain.frame().voxel_size(0).powi(3) as f32;
        let kernel = (
            (
                volume.around(self.field.cells.words, 1),
                Coupling::taken(volume).map(|taken| volume.around(taken, 1)),
            ),
            (
                velocity.faces.map(|face| volume.own(face)),
                self.field.walls.area.faces.map(|face| volume.own(face)),
                self.field.face_mass.map(|mass| mass.faces.map(|face| volume.own(face))),
                volume.own(self.field.density),
            ),
            (share.faces.map(|face| volume.write(face)), flow.faces.map(|face| volume.write(face))),
        );
        Accessor::new("look at a fluid", domain).over(volume.topology()).level(0).run(
            kernel,
            |_, ((cells, taken), (velocity, open, mass, density), (share, flow))| {
                let is_on = |words: &[u64], n: usize| words[n >> 6] >> (n & 63) & 1 != 0;
                let here = cells.chunk();
                for (axis, (share, flow)) in share.into_iter().zip(flow).enumerate() {
                    let below = match axis {
                        0 => cells.neighbour(-1, 0, 0),
                        1 => cells.neighbour(0, -1, 0),
                        _ => cells.neighbour(0, 0, -1),
                    };
                    let one = 64 >> (3 * axis);
                    let left = taken.as_ref().map(|taken| Left::beside(taken, axis));
                    let left = |n: usize| left.as_ref().map_or(1.0, |left| left.of_face(n));
                    for n in 0..share.len() {
                        let is_first = (n / one) & 7 == 0;
                        let lower = match is_first {
                            true => is_on(below, n + 7 * one),
                            false => is_on(here, n - one),
                        };
                        let wet = match mass {
                            Some(mass) => mass[axis][n] / (density[n] * cell * left(n)),
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

    /// What points meet of the fluid that was looked at. Collective.
    pub fn meet(&self, world: &World, places: &Places) -> Result<Met> {
        let (domain, volume) = self.on(world);
        let found = places.read(domain, volume, [self.share, self.flow])?;
        let met = |[share, flow]: [Vec3; 2]| {
            let wet = share.cmpgt(Vec3::splat(LEAST));
            let velocity = Vec3::select(wet, flow / share, Vec3::ZERO);
            (Vec3::select(wet, share, Vec3::ZERO).as_dvec3(), velocity.as_dvec3())
        };
        let (shares, velocities) = found.into_par_iter().map(met).unzip();
        Ok(Met { shares, velocities })
    }

    /// Sums up what points give that are wet by these shares: afterwards [`Self::ratios`] and [`Self::take`] know it. Collective.
    pub fn give(&self, world: &World, given: &[Given<'_>]) -> Result<()> {
        let (domain, volume) = self.on(world);
        for face in self.sum.faces {
            volume.column_mut(face)?.fill(0.0);
        }
        for &Given { places, shares, values } in given {
            let amount = |(share, value): (&DVec3, &DVec3)| {
                let wet = share.cmpgt(DVec3::ZERO);
                [DVec3::select(wet, value / share, DVec3::ZERO).as_vec3()]
            };
            let amounts: Vec<[Vec3; 1]> = shares.par_iter().zip(values).map(amount).collect();
            places.add(domain, volume, [self.sum], &amounts)?;
        }
        self.spread_over_what_is_left(world)
    }

    /// Divides sums by 1−α, since only that much of a face can take them up.
    fn spread_over_what_is_left(&self, world: &World) -> Result<()> {
        let (domain, volume) = self.on(world);
        let Some(taken) = Coupling::taken(volume) else { return Ok(()) };
        let kernel = (volume.around(taken, 1), self.sum.faces.map(|face| volume.write(face)));
        Accessor::new("spread over what is left", domain).over(volume.topology()).level(0).run(
            kernel,
            |_, (taken, sum)| {
                for (axis, sum) in sum.into_iter().enumerate() {
                    let left = Left::beside(&taken, axis);
                    for (n, sum) in sum.iter_mut().enumerate() {
                        *sum /= left.of_face(n);
                    }
                }
            },
        )?;
        Ok(())
    }

    /// How much what was given is beside the fluid's own mass, where points are: sum / (ρ h³), along each axis. Collective.
    pub fn ratios(&self, world: &World, places: &Places) -> Result<Vec<DVec3>> {
        let (domain, volume) = self.on(world);
        let mass = domain.frame().voxel_size(0).powi(3) * self.density(world)?;
        let sums = places.read(domain, volume, [self.sum])?;
        Ok(sums.into_par_iter().map(|[sum]| sum.as_dvec3() / mass).collect())
    }

    /// Adds what points give to channels of the fluid. Collective.
    pub fn mix<const N: usize>(
        &self,
        world: &World,
        places: &Places,
        to: [MacHandle; N],
        values: &[[Vec3; N]],
    ) -> Result<()> {
        let (domain, volume) = self.on(world);
        places.add(domain, volume, to, values)
    }

    /// The volume of a cell [m³].
    pub fn cell(&self, world: &World) -> f64 {
        let (domain, _) = self.on(world);
        domain.frame().voxel_size(0).powi(3)
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

/// The channel of this name on faces: the one that is there, or a new one like this.
fn mac(
    volume: &mut DiscreteVolume,
    name: &str,
    like: impl FnOnce(ChannelSpec<f32>) -> ChannelSpec<f32>,
) -> Result<MacHandle> {
    match volume.mac(name) {
        Ok(found) => Ok(found),
        Err(_) => {
            let spec = like(ChannelSpec::new(name, 0.0_f32).internal());
            Ok(volume.add_mac_channel(&spec, Resolution::R8)?)
        }
    }
}

/// What solids leave of faces across an axis.
struct Left<'a> {
    here: &'a [f32],
    below: &'a [f32],
    /// From a cell to the next one along the axis.
    one: usize,
}

impl<'a> Left<'a> {
    fn beside(taken: &'a VoxelNeighbourhood<'_, f32>, axis: usize) -> Self {
        let [x, y, z] = std::array::from_fn(|other| -i32::from(other == axis));
        Self { here: taken.chunk(), below: taken.neighbour(x, y, z), one: 64 >> (3 * axis) }
    }

    /// 1−α of a face, with the mean of the cells beside it.
    #[inline(always)]
    fn of_face(&self, n: usize) -> f32 {
        let is_first = (n / self.one) & 7 == 0;
        let lower = if is_first { self.below[n + 7 * self.one] } else { self.here[n - self.one] };
        1.0 - (0.5 * (lower + self.here[n])).min(Coupling::FULLEST)
    }
}

/// From this share on a point is wet all through.
const WET: f32 = 0.7;

/// Below this share a point is dry: what would be divided by it is rounding.
const LEAST: f32 = 1e-4;

/// What points give to a fluid.
#[derive(Debug, Clone, Copy)]
pub struct Given<'a> {
    /// Where they are.
    pub places: &'a Places,
    /// How wet they are.
    pub shares: &'a [DVec3],
    /// What they give, along each axis.
    pub values: &'a [DVec3],
}
