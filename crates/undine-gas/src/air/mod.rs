//! The Volume Object: air on a sparse MAC grid that exists where it is wanted (Loki, §6.1 and Figure 5).
//!
//! [`Air::tasks`] is the algorithm: forces, viscosity and pressure act on the velocity, which then carries itself and all that
//! is in the air along (J. Stam, *Stable Fluids*, 1999). Density is that of the air everywhere but for its weight (Boussinesq):
//! by the gas law warm air is lighter than what surrounds it by T₀/T − 1 of its weight. The outermost layer of cells stands for
//! the surroundings: it has no pressure of its own, so that air flows out of it and into it freely.
//!
//! With `reflection`, every other solve mirrors the velocity instead of projecting it: u − (Δt/ρ)∇p once more, so that the energy that
//! a projection takes after the flow has carried itself comes back (J. Zehnder, R. Narain and B. Thomaszewski, *An Advection-Reflection
//! Solver for Detail-Preserving Fluid Simulation*, 2018). Two substeps are one step of that paper.

mod channels;
mod declaration;
mod fine;
mod region;

pub use channels::Channels;
pub use declaration::{DECLARATION, Settings};
pub use region::{bounded_solid, touched};

use region::{Region, followed};
use std::collections::BTreeMap;
use undine_core::glam::{DVec3, Vec3};
use undine_core::{Accessor, GridDomain, Handle};
use undine_fluid::carry::{self, Cargo, Flow};
use undine_fluid::extend::{extend, extend_cells};
use undine_fluid::pressure::mirror;
use undine_sim::world::ChannelKey;
use undine_sim::{
    Budget, Courant, Ingest, Moment, Object, ObjectId, Offers, Result, Stage, StoreId, Tasks, World,
};

/// Air.
pub struct Air {
    id: ObjectId,
    settings: Settings,
    channels: Channels,
    region: Region,
    /// Where Objects that it is around are.
    places: Vec<ChannelKey>,
    /// Names of what is carried.
    names: Vec<String>,
    /// Whether it has said already that the flow is too fast for its steps.
    has_told: bool,
}

impl Object for Air {
    fn create(ingest: &mut Ingest<'_>) -> Result<Vec<Self>> {
        let settings = Settings::of(ingest)?;
        let named = channels::named(ingest)?;
        let region = Region::of(ingest, None)?;
        let domain = ingest.world.domain(settings.voxel)?;
        let channels = channels::add(ingest.world, ingest.path, domain, &settings, &named)?;
        let places = region.reads(ingest.world);
        let names =
            ["density", "temperature"].map(str::to_owned).into_iter().chain(named).collect();
        let offers = Offers { fluid: Some(channels.field), ..Offers::default() };
        let id = ingest.offer(domain, BTreeMap::new(), offers);
        Ok(vec![Self { id, settings, channels, region, places, names, has_told: false }])
    }

    fn update(&mut self, ingest: &mut Ingest<'_>) -> Result<()> {
        self.settings = Settings::of(ingest)?;
        self.region = Region::of(ingest, Some(&self.region))?;
        Ok(())
    }

    fn id(&self) -> ObjectId {
        self.id
    }

    fn tasks(&self, on: &mut Tasks<Self>) {
        let grid = StoreId::from(self.channels.field.volume);
        let cargo = self.channels.fine.map_or(grid, |fine| fine.grid.volume.into());
        let carried = || self.names.iter().map(|name| cargo.channel(name.clone()));
        // · Stage::GroupEnter       stamps                                Operator
        on.task(Stage::UpdateTopology, "follow what is in the air", Self::follow)
            .reads(self.places.clone())
            .writes([grid.everything()])
            .writes(self.channels.fine.map(|_| cargo.everything()));
        // · Stage::CutCells         walls                                 Operator
        on.task(Stage::FindSurface, "find cells of air", Self::find_cells)
            .reads([grid.channel("open-volume")])
            .reads(cargo.channels(["density", "temperature"]))
            .reads([grid.channel("v")])
            .writes(grid.channels(["cells", "weight", "v-before"]));
        on.task(Stage::ClearForces, "begin with the velocity of the step", Self::begin)
            .reads([grid.channel("v-before")])
            .writes([grid.channel("v")]);
        // · Stage::AddForces        gravity, fields, confinement          Forces
        // · Stage::SolveViscosity   viscosity                             Operator
        // · Stage::SolvePressure    pressure                              Operator
        on.task(Stage::Extend, "extend the velocity", Self::extend)
            .reads(grid.channels(["cells", "open", "wall-v", "wall-distance"]))
            .writes([grid.channel("v")]);
        on.task(Stage::Advance, "carry along", Self::carry)
            .reads(grid.channels([
                "pressure",
                "cells",
                "open",
                "open-volume",
                "wall-v",
                "wall-distance",
            ]))
            .writes([grid.channel("v")])
            .writes(carried())
            .writes(self.channels.fine.iter().flat_map(|_| cargo.channels(["flow", "open-cells"])))
            .reaches_everywhere();
    }

    fn budget(&self, world: &World) -> Result<Budget> {
        let (domain, field) = (self.domain(world), &self.channels.field);
        let volume = &world.volumes[field.volume];
        let voxel = domain.frame().voxel_size(0);
        let full = self.settings.density * voxel.powi(3);
        let access = (
            volume.own(field.walls.volume),
            field.velocity.faces.map(|face| volume.around(face, 1)),
        );
        let sums = Accessor::new("budget", domain).over(volume.topology()).map(
            access,
            |here, (open, velocity)| {
                let corner = domain.frame().corner(here.bucket);
                (0..512).fold(Budget::default(), |sum, n| {
                    let [x, y, z] = [n >> 6, n >> 3 & 7, n & 7].map(|c| c as i32);
                    let above = [[x + 1, y, z], [x, y + 1, z], [x, y, z + 1]];
                    let middle = Vec3::from_array(std::array::from_fn(|axis| {
                        let [i, j, k] = above[axis];
                        0.5 * (velocity[axis].chunk()[n] + velocity[axis].at(i, j, k))
                    }));
                    let centre = DVec3::new(x.into(), y.into(), z.into()) + 0.5;
                    let mass = full * if open[n] < 0.0 { 1.0 } else { f64::from(open[n]) };
                    sum + Budget::of_point(mass, corner + voxel * centre, middle.as_dvec3())
                })
            },
        )?;
        let own = sums.into_iter().fold(Budget::default(), |sum, bucket| sum + bucket);
        Ok(own.of_all(&**world.processes())?)
    }

    fn longest_step(&self, world: &World, courant: &Courant) -> Result<f64> {
        let field = &self.channels.field;
        let fastest =
            carry::fastest(self.domain(world), &world.volumes[field.volume], field.velocity)?;
        Ok(courant.longest_step(fastest.into(), self.settings.voxel))
    }

    fn output(&self) -> Vec<(Option<&'static str>, StoreId)> {
        let grid = self.channels.field.volume.into();
        match self.channels.fine {
            Some(fine) => vec![(None, fine.grid.volume.into()), (Some("flow"), grid)],
            None => vec![(None, grid)],
        }
    }
}

/// How far velocities are extended into walls and surroundings [voxels].
const EXTENDED: u32 = 3;

/// In a step, air should cross no more voxels than this: each way is found in one go, by three looks at the velocity, and misses what lies
/// between them.
const FARTHEST: f64 = 32.0;

impl Air {
    fn domain<'w>(&self, world: &'w World) -> &'w GridDomain {
        &world.domains[world.object(self.id).domain]
    }

    fn follow(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        let id = world.object(self.id).domain;
        let domain = &world.domains[id];
        let smoke = followed(world, id, &self.channels, &self.settings)?;
        let wanted =
            self.region.buckets(world, domain, &self.channels, &self.settings, &smoke, now)?;
        let volume = &mut world.volumes[self.channels.field.volume];
        if *volume.topology().all() != wanted {
            let topology = domain.subset(&wanted)?;
            volume.follow(&topology)?;
        }
        match self.channels.fine {
            Some(fine) => fine.follow(world, &self.channels.field, &smoke, self.settings.padding),
            None => Ok(()),
        }
    }

    /// Which cells have a pressure, and what they weigh; and the velocity that the step begins with.
    fn find_cells(&mut self, world: &mut World, _: &Moment) -> Result<()> {
        let Channels { field, fine, smoke, temperature, weight, .. } = &self.channels;
        let volume = &world.volumes[field.volume];
        let access = (
            volume.around(field.walls.volume, 1),
            field.velocity.faces.map(|face| volume.own(face)),
            volume.write(field.cells.words),
            field.velocity_before.faces.map(|face| volume.write(face)),
        );
        let accessor = Accessor::new("find cells of air", self.domain(world));
        let accessor = accessor.over(volume.topology());
        accessor.run(access, |_, (open, velocity, cells, before)| {
            mark_open(open.chunk(), cells);
            let exists = |side: usize| {
                let mut step = [0; 3];
                step[side / 2] = if side.is_multiple_of(2) { -1 } else { 1 };
                open.exists(step[0], step[1], step[2])
            };
            (0..6).filter(|side| !exists(*side)).for_each(|side| clear_layer(side, cells));
            for (before, velocity) in before.into_iter().zip(velocity) {
                before.copy_from_slice(velocity);
            }
        })?;
        let cargo = &world.volumes[field.cargo(world.object(self.id).domain).volume];
        let ambient = cargo.column(*temperature)?.background();
        let heavy = self.settings.smoke_weight as f32;
        let weigh = |smoke: f32, t: f32| ambient / t - 1.0 + heavy * smoke;
        if let Some(fine) = fine {
            return fine.weigh(world, self.domain(world), &self.channels, weigh);
        }
        let access = (volume.own(*smoke), volume.own(*temperature), volume.write(*weight));
        accessor.run(access, |_, (smoke, temperature, weight)| {
            for ((weight, smoke), t) in weight.iter_mut().zip(smoke).zip(temperature) {
                *weight = weigh(*smoke, *t);
            }
        })?;
        Ok(())
    }

    /// Each Newton iteration begins again with what the step began with.
    fn begin(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        if now.iteration == 0 {
            return Ok(());
        }
        let field = &self.channels.field;
        let volume = &world.volumes[field.volume];
        let access = (
            field.velocity_before.faces.map(|face| volume.own(face)),
            field.velocity.faces.map(|face| volume.write(face)),
        );
        Accessor::new("begin", self.domain(world)).over(volume.topology()).run(
            access,
            |_, (before, velocity)| {
                for (velocity, before) in velocity.into_iter().zip(before) {
                    velocity.copy_from_slice(before);
                }
            },
        )?;
        Ok(())
    }

    fn extend(&mut self, world: &mut World, _: &Moment) -> Result<()> {
        let field = &self.channels.field;
        extend(self.domain(world), &world.volumes[field.volume], field, EXTENDED)
    }

    /// Warns once of a flow that is too fast for its steps.
    fn tell_of_fast(&mut self, world: &World, now: &Moment) -> Result<()> {
        if self.has_told {
            return Ok(());
        }
        let (field, voxel) = (&self.channels.field, self.settings.voxel);
        let fastest =
            carry::fastest(self.domain(world), &world.volumes[field.volume], field.velocity)?;
        let crossed = f64::from(fastest) * now.step / voxel;
        if crossed > FARTHEST {
            self.has_told = true;
            tracing::warn!(
                "{}: air of {fastest:.3} m/s crosses {crossed:.0} voxels in a substep of {:.3e} s, in frame {}; it is followed well over up to \
                 {FARTHEST}. Ask for {:.0} times as many `substeps`, set `cfl`, or make `voxel` larger",
                world.object(self.id).path,
                now.step,
                now.frame,
                (crossed / FARTHEST).ceil()
            );
        }
        Ok(())
    }

    fn carry(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        self.tell_of_fast(world, now)?;
        let field = &self.channels.field;
        let (domain, volume) = (self.domain(world), &world.volumes[field.volume]);
        let Settings { traces, scheme, .. } = self.settings;
        let (velocity, step) = (field.velocity, now.step);
        let flow = Flow { domain, volume, velocity, step, traces, scheme, only: None };
        let beside: &[Handle<f32>] = match self.channels.fine {
            Some(fine) => {
                // By the velocity that the solves have left, as what lies beside it is.
                fine.carry(world, domain, &self.channels, &self.settings, step)?;
                &[]
            }
            None => &self.channels.carried,
        };
        extend_cells(domain, volume, field.walls.volume, beside)?;
        let cargo = Cargo { velocity: Some(field.velocity), cells: beside };
        if self.settings.reflects && now.count.is_multiple_of(2) {
            return flow.carry_changed(&cargo, || {
                mirror(domain, volume, field, now.step)?;
                extend(domain, volume, field, EXTENDED)
            });
        }
        flow.carry(&cargo)
    }
}

/// Marks the cells that are not filled by solids; what is not measured is open.
fn mark_open(open: &[f32], cells: &mut [u64]) {
    for (word, open) in cells.iter_mut().zip(open.chunks(64)) {
        *word =
            open.iter().enumerate().fold(0, |word, (n, open)| word | u64::from(*open != 0.0) << n);
    }
}

/// Takes the marks off the outermost layer of cells towards a side: 2·axis below, and one more above.
fn clear_layer(side: usize, cells: &mut [u64]) {
    let last = side % 2;
    match side / 2 {
        0 => cells[7 * last] = 0,
        1 => cells.iter_mut().for_each(|word| *word &= !(0xff << (56 * last))),
        _ => cells.iter_mut().for_each(|word| *word &= !(0x0101_0101_0101_0101 << (7 * last))),
    }
}
