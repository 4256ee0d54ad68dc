//! The Hybrid Object: a liquid that particles carry, on a sparse MAC grid that follows them (Jones, *Droplets, Splashes and
//! Sprays*, §2.3, Algorithm 1; Loki, §6.1).
//!
//! [`Hybrid::tasks`] is the algorithm. Pressure, viscosity, walls and Forces are Actions of their own, on the field that it offers.

mod band;
mod channels;
mod declaration;
mod extension;

pub use channels::Channels;
pub use declaration::{Advection, DECLARATION, Settings, Transfer};

use crate::advance::{Flow, Moving, advance};
use crate::reseed::Reseed;
use crate::{density, seed, surface};
use undine_core::transfer::{
    Carried, Mass, Method, mac_to_particles, momentum_to_velocity, particles_to_mac,
};
use undine_core::{Accessor, BucketSet, DiscreteVolume, GridDomain};
use undine_fluid::field::INTERIOR;
use undine_fluid::pressure::contact_line;
use undine_sim::offers::Coupling;
use undine_sim::report::SolveRecord;
use undine_sim::timeline;
use undine_sim::{
    Budget, Courant, Id, Ingest, Moment, Object, ObjectId, Offers, Result, Stage, StoreId, Tasks,
    World,
};

/// A liquid.
pub struct Hybrid {
    id: ObjectId,
    settings: Settings,
    channels: Channels,
}

impl Object for Hybrid {
    fn create(ingest: &mut Ingest<'_>) -> Result<Vec<Self>> {
        let data = ingest.optional_data("input")?;
        if data.as_ref().is_some_and(|data| data.is_empty()) {
            return Ok(Vec::new());
        }
        let attributes = data.map(|data| data.attributes.clone()).unwrap_or_default();
        let settings = Settings::of(ingest)?;
        let domain = ingest.world.domain(settings.voxel)?;
        // What cells would take in at once they hold to begin with.
        let shell = settings.band.map(|band| band + band::BETWEEN);
        let initial = seed::initial(ingest, &ingest.world.domains[domain], shell)?;
        let channels = channels::add(ingest.world, ingest.path, domain, &settings)?;
        let particles = &mut ingest.world.particles[channels.carried.particles];
        initial.append_to(&ingest.world.domains[domain], particles, settings.density)?;
        if let Some(interior) = channels.field.interior {
            let volume = &mut ingest.world.volumes[channels.field.volume];
            let domain = &ingest.world.domains[domain];
            band::begin(domain, volume, channels.field.velocity, interior, &initial)?;
        }
        let offers = Offers { fluid: Some(channels.field), ..Offers::default() };
        let id = ingest.offer(domain, attributes, offers);
        Ok(vec![Self { id, settings, channels }])
    }

    fn update(&mut self, ingest: &mut Ingest<'_>) -> Result<()> {
        self.settings = Settings::of(ingest)?;
        Ok(())
    }

    fn id(&self) -> ObjectId {
        self.id
    }

    fn tasks(&self, on: &mut Tasks<Self>) {
        let particles = StoreId::from(self.channels.carried.particles);
        let grid = StoreId::from(self.channels.field.volume);
        let at = |name| particles.channel(name);
        let interior = self.channels.field.interior.map(|_| grid.channel(INTERIOR));
        let in_band = |key| self.channels.field.interior.map(|_| key);
        on.task(Stage::UpdateTopology, "follow the liquid", Self::follow)
            .reads([at("position")])
            .writes([grid.everything()]);
        // · Stage::CutCells         walls, what is inside of the liquid   Operators
        on.task(Stage::ToGrid, "give momentum to the grid", Self::give_momentum)
            .reads([at("position"), at("v"), at("mass")])
            .reads(self.channels.affine.map(|_| at("affine")))
            .reads(interior.clone())
            .reads(grid.channels(["v", "gaps"]))
            .writes(grid.channels(["v-before", "face-mass"]));
        on.task(Stage::FindSurface, "find the surface", Self::find_surface)
            .reads([at("position"), at("mass")])
            .reads(grid.channels(["open", "open-volume", "gaps", "wall-distance", Coupling::TAKEN]))
            .reads([grid.channel("pressure")])
            .reads(in_band(grid.channel("v-before")))
            .writes(grid.channels(["surface", "cells"]))
            .writes(interior.clone().into_iter().chain(in_band(particles.everything())));
        if self.channels.shift.is_some() {
            on.task(Stage::KeepVolume, "make room where it is dense", Self::keep_volume)
                .reads([at("position"), at("mass")])
                .reads(grid.channels(["surface", "cells", "open", "open-volume"]))
                .reads(grid.channels(["wall-distance", "wall-v", Coupling::TAKEN]))
                .reads(interior.clone())
                .writes([grid.channel("shift")]);
        }
        on.task(Stage::ClearForces, "begin with the velocity of particles", Self::begin)
            .reads([grid.channel("v-before")])
            .writes([grid.channel("v")]);
        // · Stage::AddForces        gravity, fields                       Forces
        // · Stage::SolveViscosity   viscosity                             Operator
        // · Stage::SolvePressure    pressure                              Operator
        on.task(Stage::Extend, "extend the velocity", Self::extend)
            .reads(grid.channels([
                "cells",
                "open",
                "wall-v",
                "wall-distance",
                "pressure",
                "face-mass",
            ]))
            .writes(grid.channels(["v", "v-before", "v-known"]))
            .writes(interior.clone().into_iter().chain(in_band(particles.everything())));
        on.task(Stage::FromGrid, "take velocity from the grid", Self::take_velocity)
            .reads(grid.channels(["v", "v-before"]))
            .reads([at("position")])
            .writes([at("v")])
            .writes(self.channels.affine.map(|_| at("affine")));
        if self.channels.measured.names().next().is_some() {
            on.task(Stage::FromGrid, "measure at particles", Self::measure)
                .reads(grid.channels(["v", "pressure", "surface", "cells", "open"]))
                .reads([at("position")])
                .writes(self.channels.measured.names().map(at));
        }
        on.task(Stage::Advance, "move", Self::advance)
            .reads([at("v"), grid.channel("v"), grid.channel("v-known")])
            .reads(self.channels.shift.map(|_| grid.channel("shift")))
            .reads(in_band(grid.channel("open-volume")))
            .writes([at("position"), at("position-before"), at("age")])
            .writes(interior.clone().into_iter().chain(in_band(grid.channel("v"))));
        // · Stage::Collide          walls                                 Operator
        on.task(Stage::Rebucket, "sort into Buckets", Self::rebucketize)
            .writes([particles.everything()]);
        if self.channels.count.is_some() {
            on.task(Stage::GroupExit, "keep particles within bounds", Self::reseed)
                .reads(grid.channels(["surface", "v", "v-known", "wall-distance", Coupling::TAKEN]))
                .writes([grid.channel("count")])
                .accumulates([particles.everything()])
                .accumulates(interior);
        }
    }

    fn budget(&self, world: &World) -> Result<Budget> {
        let Channels { carried, field, .. } = self.channels;
        let (domain, particles) = (self.domain(world), &world.particles[carried.particles]);
        let mut own = Budget::of_particles(domain, particles, carried.velocity, carried.mass)?;
        if let Some(held) = field.interior {
            own = own + band::budget(domain, &world.volumes[field.volume], &field, held)?;
        }
        Ok(own.of_all(&**world.processes())?)
    }

    fn longest_step(&self, world: &World, courant: &Courant) -> Result<f64> {
        Ok(courant.longest_step(self.fastest(world)?, self.settings.voxel))
    }

    fn output(&self) -> Vec<(Option<&'static str>, StoreId)> {
        let Channels { carried, field, .. } = self.channels;
        vec![(None, carried.particles.into()), (Some("grid"), field.volume.into())]
    }

    fn shown(&self, world: &World, of: Id<DiscreteVolume>) -> Result<Option<DiscreteVolume>> {
        let Channels { carried, field, .. } = self.channels;
        if of != field.volume {
            return Ok(None);
        }
        let (domain, particles) = (self.domain(world), &world.particles[carried.particles]);
        let buckets = domain.subset(&self.buckets(world)?)?;
        surface::shown(domain, particles, &world.volumes[field.volume], &field, buckets)
    }
}

/// The width of the band, should a scene not say it any more [cells].
const BAND: u32 = 3;

/// Makes numbers for particles that cells make others than those of reseeding.
const MADE: u64 = 0x6261_6e64;

impl Hybrid {
    fn domain<'w>(&self, world: &'w World) -> &'w GridDomain {
        &world.domains[world.object(self.id).domain]
    }

    /// The speed of the fastest particle [m/s], and the largest component of what cells hold.
    fn fastest(&self, world: &World) -> Result<f64> {
        let carried = self.channels.carried;
        let particles = &world.particles[carried.particles];
        let fastest = timeline::fastest(self.domain(world), particles, carried.velocity)?;
        let field = self.channels.field;
        let Some(interior) = field.interior else { return Ok(fastest) };
        let volume = &world.volumes[field.volume];
        Ok(fastest.max(band::fastest(self.domain(world), volume, &field, interior)?.into()))
    }

    fn reseed(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        let Channels { carried, field, known, count: Some(count), .. } = self.channels else {
            return Ok(());
        };
        let Some([least, most]) = self.settings.reseed else { return Ok(()) };
        let domain = &world.domains[world.object(self.id).domain];
        let seed = undine_geometry::random::bits(now.seed, now.count);
        let reseed = Reseed {
            field,
            particles: carried,
            count,
            least,
            most,
            rest_mass: self.settings.mass_each() as f32,
            moved_for: now.step,
            known: Some(known),
            seed,
        };
        let volume = &world.volumes[field.volume];
        reseed.run(domain, volume, &mut world.particles[carried.particles])?;
        Ok(())
    }

    /// Where liquid is, and one Bucket further, for what kernels and extensions reach.
    fn buckets(&self, world: &World) -> Result<BucketSet> {
        let Channels { carried, field, .. } = self.channels;
        let (domain, volume) = (self.domain(world), &world.volumes[field.volume]);
        let mut liquid = world.particles[carried.particles].topology().all().clone();
        if let Some(interior) = field.interior {
            let held = domain.subset(&band::buckets(domain, volume, interior)?)?;
            liquid = liquid.union(held.all());
        }
        Ok(liquid.dilate(1)?)
    }

    fn follow(&mut self, world: &mut World, _: &Moment) -> Result<()> {
        let wanted = self.buckets(world)?;
        let domain = &world.domains[world.object(self.id).domain];
        let volume = &mut world.volumes[self.channels.field.volume];
        if *volume.topology().all() != wanted {
            let topology = domain.subset(&wanted)?;
            volume.follow(&topology)?;
        }
        if let Some(taken) = Coupling::taken(volume) {
            volume.column_mut(taken)?.fill(0.0);
        }
        Ok(())
    }

    fn give_momentum(&mut self, world: &mut World, _: &Moment) -> Result<()> {
        let Channels { carried, affine, field, face_mass, .. } = self.channels;
        let domain = self.domain(world);
        let (particles, volume) =
            (&world.particles[carried.particles], &world.volumes[field.volume]);
        let momentum = field.velocity_before;
        for face in momentum.faces.into_iter().chain(face_mass.faces) {
            volume.column_mut(face)?.fill(0.0);
        }
        let what =
            Carried { velocity: carried.velocity, affine, mass: Mass::Channel(carried.mass) };
        let kernel = self.settings.kernel;
        particles_to_mac(domain, particles, what, volume, momentum, face_mass, kernel)?;
        if let Some(interior) = field.interior {
            band::give_velocity(domain, volume, &field, interior, face_mass)?;
        }
        momentum_to_velocity(domain, volume, momentum, face_mass)?;
        surface::keep_velocity(domain, volume, &field)
    }

    fn find_surface(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        let Channels { carried, field, .. } = self.channels;
        let domain = &world.domains[world.object(self.id).domain];
        let (particles, volume) =
            (&mut world.particles[carried.particles], &world.volumes[field.volume]);
        surface::find(domain, particles, volume, &field)?;
        contact_line::let_go(domain, volume, &field)?;
        match self.exchange(now) {
            Some(exchange) => exchange.run(domain, volume, particles),
            None => Ok(()),
        }
    }

    /// How cells and particles exchange what they have, where cells hold the inside of the liquid.
    fn exchange(&self, now: &Moment) -> Option<band::Exchange> {
        let Channels { carried, affine, field, .. } = self.channels;
        Some(band::Exchange {
            field,
            interior: field.interior?,
            carried,
            affine: affine.is_some(),
            width: self.settings.band.unwrap_or(BAND),
            per_cell: self.settings.per_axis.pow(3),
            density: self.settings.density,
            seed: undine_geometry::random::bits(now.seed ^ MADE, now.count),
        })
    }

    fn keep_volume(&mut self, world: &mut World, _: &Moment) -> Result<()> {
        let Channels { carried, field, shift: Some(shift), .. } = self.channels else {
            return Ok(());
        };
        let evened = density::even_out(
            self.domain(world),
            &world.particles[carried.particles],
            &world.volumes[field.volume],
            &field,
            shift,
            self.settings.density,
        )?;
        world.solves.push(SolveRecord {
            system: "density",
            unknowns: evened.unknowns,
            iterations: evened.report.iterations,
            residual: evened.report.residual,
            tolerance: density::TOLERANCE,
            converged: evened.report.converged(),
        });
        Ok(())
    }

    /// Each Newton iteration begins again with what particles brought.
    fn begin(&mut self, world: &mut World, _: &Moment) -> Result<()> {
        let field = self.channels.field;
        let volume = &world.volumes[field.volume];
        Accessor::new("begin", self.domain(world)).over(volume.topology()).run(
            (
                field.velocity_before.faces.map(|face| volume.own(face)),
                field.velocity.faces.map(|face| volume.write(face)),
            ),
            |_, (before, velocity)| {
                for (velocity, before) in velocity.into_iter().zip(before) {
                    velocity.copy_from_slice(before);
                }
            },
        )?;
        Ok(())
    }

    fn take_velocity(&mut self, world: &mut World, _: &Moment) -> Result<()> {
        let Channels { carried, affine, field, .. } = self.channels;
        let method = match (self.settings.transfer, affine) {
            (Transfer::Apic, Some(affine)) => Method::Apic { affine },
            (Transfer::Flip(blend), _) => Method::Flip { before: field.velocity_before, blend },
            _ => Method::Pic,
        };
        mac_to_particles(
            self.domain(world),
            &world.volumes[field.volume],
            field.velocity,
            &world.particles[carried.particles],
            carried.velocity,
            method,
            self.settings.kernel,
        )?;
        Ok(())
    }

    fn measure(&mut self, world: &mut World, _: &Moment) -> Result<()> {
        let Channels { carried, field, measured, .. } = self.channels;
        let particles = &world.particles[carried.particles];
        measured.measure(self.domain(world), &world.volumes[field.volume], &field, particles)
    }

    fn advance(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        let Channels { carried, age, field, shift, .. } = self.channels;
        let (domain, volume) = (self.domain(world), &world.volumes[field.volume]);
        let by = Flow { velocity: field.velocity, known: self.channels.known, shift };
        let moving = Moving {
            velocity: carried.velocity,
            // FLIP's particles have velocities of their own, which are not what they move by.
            is_of_grid: !matches!(self.settings.transfer, Transfer::Flip(_)),
            position_before: carried.position_before,
            age,
        };
        let particles = &world.particles[carried.particles];
        advance(domain, volume, by, particles, moving, now.step, self.settings.advection)?;
        match field.interior {
            Some(interior) => band::carry(domain, volume, &field, interior, by, now.step),
            None => Ok(()),
        }
    }

    fn rebucketize(&mut self, world: &mut World, _: &Moment) -> Result<()> {
        let domain = world.object(self.id).domain;
        world.particles[self.channels.carried.particles].rebucketize(&world.domains[domain])?;
        Ok(())
    }
}
