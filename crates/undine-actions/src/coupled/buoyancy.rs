//! Coupled buoyancy: what is inside of a simulated fluid shares its pressure (Loki, §6.4; Stomakhin et al. 2020).
//!
//! A point of volume V is pushed by V f, where f is what the stress of the fluid does per volume: in still water under gravity its
//! weight, upwards, and in water that is sped up as much as speeds up the water itself. f is measured where it acts, as the change of the fluid's
//! momentum at faces while pressure and viscosity were solved, so that it needs no gradient at the surface or at walls. Air among its like has
//! no weight in its own pressure; what that of its surroundings carries is added.
//!
//! The fluid in turn is a mixture at its faces: the share α of a face is solid, of the density ρ_s, and what pressure makes free of
//! divergence is the flux (1−α)u_f + αu_s, so that a fluid rises by the volume of what sinks into it. Particles that carry it are told which
//! part of cells is taken, so that they spread over the rest. Solids were solved with the f that was known; with *compliance* pressure knows how
//! they would answer to another (1/ρ_s), and without it they are walls that move as they do.

use super::faces::{Faces, Felt};
use super::places::Places;
use super::points::Source;
use rayon::prelude::*;
use undine_core::glam::{DMat3, DVec3};
use undine_schema::{Declaration, Kind, Parameter};
use undine_sim::offers::{Coupling, ObjectId};
use undine_sim::{Ingest, Moment, Operator, Result, Stage, Tasks, World};

/// "Things float."
pub const DECLARATION: Declaration = Declaration {
    name: "coupled-buoyancy",
    kind: Kind::Operator,
    doc: "Fluids carry what is in them, and make room for it",
    about: "Between every fluid in its scope and everything in it that has mass and volume: particles, strands, bodies that no fluid flows around. \
            What is lighter than the fluid rises, what is heavier weighs less, and a dense crowd of either takes the fluid's \
            place. Rigid bodies that swim by `pressure` are left to it. Of drag it knows nothing: that is `coupled-drag`.",
    parameters: &[
        Parameter::choice(
            "direction",
            &[
                ("both", "fluids carry solids, and make room for them"),
                ("to-solids", "fluids carry what is in them, and do not notice"),
                ("to-fluids", "fluids make room, and carry nothing"),
            ],
            "who acts on whom",
        ),
        Parameter::flag(
            "compliance",
            true,
            "whether pressure knows that what is in a fluid gives way to it; without it, it is like a moving wall",
        )
        .advanced(),
    ],
    example: "coupled-buoyancy",
};

/// Lets fluids carry what is in them.
pub struct CoupledBuoyancy {
    on: Vec<Source>,
    fluids: Vec<(Faces, Coupling)>,
    carries: bool,
    makes_room: bool,
    compliance: bool,
    /// For each fluid and each of the others: f at its points, wet by how much, in this iteration [N/m³].
    pushes: Vec<Pushed>,
}

/// What a fluid does to the points of an Object.
#[derive(Debug, Default)]
struct Pushed {
    places: Places,
    /// f, nothing where it is not known yet.
    felt: Vec<Option<Felt>>,
}

/// How many times its own mass something seems to have that does not give way.
const IMMOVABLE: f64 = 1e6;

impl Operator for CoupledBuoyancy {
    fn create(ingest: &mut Ingest<'_>, scope: &[ObjectId]) -> Result<Option<Self>> {
        let on: Vec<Source> =
            scope.iter().filter_map(|&object| Source::of(ingest.world, object)).collect();
        let mut fluids = Vec::new();
        for &object in scope {
            let Some(faces) = Faces::add_with_stress(ingest.world, object)? else { continue };
            let coupling = Coupling::add(&mut ingest.world.volumes[faces.volume()])?;
            fluids.push((faces, coupling));
        }
        if on.is_empty() || fluids.is_empty() {
            return Ok(None);
        }
        let (carries, makes_room, compliance) = (true, true, true);
        let pushes = Vec::new();
        let mut buoyancy = Self { on, fluids, carries, makes_room, compliance, pushes };
        buoyancy.update(ingest)?;
        if buoyancy.makes_room {
            let mut fluids = buoyancy.fluids.iter();
            fluids.try_for_each(|(faces, _)| faces.add_taken(ingest.world))?;
        }
        Ok(Some(buoyancy))
    }

    fn update(&mut self, ingest: &mut Ingest<'_>) -> Result<()> {
        let values = ingest.values();
        let direction = values.text("direction")?;
        self.carries = direction != "to-fluids";
        self.makes_room = direction != "to-solids";
        self.compliance = values.flag("compliance")?;
        Ok(())
    }

    fn tasks(&self, on: &mut Tasks<Self>) {
        let stores = || self.on.iter().map(|source| source.material.store());
        let fluids = || self.fluids.iter().map(|(faces, _)| faces.store());
        let taken: Vec<_> = self.fluids.iter().filter_map(|(faces, _)| faces.taken()).collect();
        if self.makes_room && !taken.is_empty() {
            on.task(Stage::CutCells, "take room in fluids", Self::take_room)
                .reads(stores().flat_map(|store| store.channels(["position", "pscale"])))
                .accumulates(taken)
                .reaches_everywhere();
        }
        on.task(Stage::Embed, "feel the stress of fluids", Self::feel)
            .reads(stores().map(|store| store.channel("position")))
            .reads(fluids().flat_map(|store| store.channels(Faces::STRESS)))
            .reaches_everywhere();
        if self.carries {
            on.task(Stage::AddForces, "coupled buoyancy", Self::carry)
                .reads(stores().map(|store| store.channel("pscale")))
                .accumulates(stores().flat_map(|store| store.channels(["force", "force-slope"])));
        }
        if self.makes_room {
            on.task(Stage::CoupleFluids, "mix solids into fluids", Self::mix)
                .reads(stores().flat_map(|store| store.channels(["v", "mass", "pscale"])))
                .accumulates(fluids().flat_map(|store| store.channels(Coupling::CHANNELS)))
                .reaches_everywhere();
        }
        on.task(Stage::KeepFluids, "keep the momentum of fluids", Self::keep)
            .reads(fluids().flat_map(|store| store.channels(["v", "cells", "open"])))
            .reads(self.fluids.iter().flat_map(|(faces, _)| faces.weighs()))
            .writes(fluids().flat_map(|store| store.channels(Faces::STRESS)));
        on.task(Stage::MeasureFluids, "measure the stress of fluids", Self::measure)
            .reads(fluids().flat_map(|store| store.channels(["v", "mass-density"])))
            .reads(stores().flat_map(|store| store.channels(["mass", "pscale"])))
            .writes(fluids().flat_map(|store| store.channels(Faces::STRESS)))
            .writes(stores().map(|store| store.channel("v")))
            .reaches_everywhere();
    }
}

impl CoupledBuoyancy {
    /// Each point takes its volume of the cells around it, where the step begins.
    fn take_room(&mut self, world: &mut World, _: &Moment) -> Result<()> {
        for (faces, _) in self.fluids.iter().filter(|(faces, _)| faces.taken().is_some()) {
            for source in &self.on {
                // Also without a point: this is done on all processes together.
                let (mut points, mut volumes) = (Vec::new(), Vec::new());
                if !source.swims(world) {
                    points = source.positions(world)?;
                    let own = |(n, radius)| match source.is_own(world, n) {
                        true => volume(radius),
                        false => 0.0,
                    };
                    volumes = source.radii(world)?.into_iter().enumerate().map(own).collect();
                }
                faces.take_room(world, &points, &volumes)?;
            }
        }
        Ok(())
    }

    /// f where the points are: that of the last iteration, or of the step before.
    fn feel(&mut self, world: &mut World, _: &Moment) -> Result<()> {
        self.pushes.clear();
        for (faces, _) in &self.fluids {
            for source in &self.on {
                let points = match source.swims(world) {
                    true => Vec::new(),
                    false => source.positions(world)?,
                };
                let places = faces.find(world, &points)?;
                let felt = faces.stress_at(world, &places)?;
                self.pushes.push(Pushed { places, felt });
            }
        }
        Ok(())
    }

    /// V f on every point.
    fn carry(&mut self, world: &mut World, _: &Moment) -> Result<()> {
        for pushes in self.pushes.chunks(self.on.len()) {
            for (source, pushed) in self.on.iter().zip(pushes) {
                if pushed.places.is_empty() {
                    continue;
                }
                let radii = source.radii(world)?;
                let push = |(felt, radius): (&Option<Felt>, &f64)| {
                    (volume(*radius) * felt.unwrap_or_default().push, DMat3::ZERO)
                };
                let more: Vec<_> = pushed.felt.par_iter().zip(&radii).map(push).collect();
                source.push(world, &more)?;
            }
        }
        Ok(())
    }

    /// Adds share, mass and momentum of all points to the faces around them, as they would move without the pressure that is known.
    fn mix(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        for ((faces, coupling), pushes) in self.fluids.iter().zip(self.pushes.chunks(self.on.len()))
        {
            // What a fluid does not carry does not give way to it either.
            let gives_way = self.compliance && self.carries;
            let heavier = if gives_way { 1.0 } else { IMMOVABLE };
            let surroundings = faces.surroundings(world)?;
            let per_volume = 1.0 / faces.cell(world);
            let to = [coupling.share, coupling.mass, coupling.momentum];
            for (source, pushed) in self.on.iter().zip(pushes) {
                // Also without a point: this is done on all processes together.
                let mut given = Vec::new();
                if !pushed.places.is_empty() {
                    let (radii, masses) = (source.radii(world)?, source.masses(world)?);
                    let mixed = |(n, velocity): (usize, DVec3)| {
                        let own = if source.is_own(world, n) { per_volume } else { 0.0 };
                        let (volume, mass) = (volume(radii[n]), masses[n] * heavier);
                        let answered = match pushed.felt[n].filter(|_| gives_way) {
                            Some(Felt { push, wet }) => {
                                volume * now.step / masses[n] * (push - wet * surroundings)
                            }
                            None => DVec3::ZERO,
                        };
                        let momentum = mass * (velocity - answered);
                        [DVec3::splat(volume), DVec3::splat(mass), momentum]
                            .map(|of| (own * of).as_vec3())
                    };
                    let velocities = source.velocities(world)?.into_par_iter();
                    given = velocities.enumerate().map(mixed).collect();
                }
                faces.mix(world, &pushed.places, to, &given)?;
            }
        }
        Ok(())
    }

    /// The fluid as it is before pressure and viscosity.
    fn keep(&mut self, world: &mut World, _: &Moment) -> Result<()> {
        self.fluids.iter().try_for_each(|(faces, _)| faces.keep(world))
    }

    /// What they did to it. Particles that nothing was known for get their push now, or they would fall freely for the first step.
    fn measure(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        for ((faces, _), pushes) in self.fluids.iter().zip(self.pushes.chunks(self.on.len())) {
            faces.measure_stress(world, now.step)?;
            for (source, pushed) in self.on.iter().zip(pushes) {
                if !self.carries || !source.is_spatial() {
                    continue;
                }
                let late = faces.stress_at(world, &pushed.places)?;
                if pushed.places.is_empty() || pushed.felt.iter().all(Option::is_some) {
                    continue;
                }
                let (radii, masses) = (source.radii(world)?, source.masses(world)?);
                let kick = |n: usize| match pushed.felt[n] {
                    Some(_) => DVec3::ZERO,
                    None => {
                        now.step * volume(radii[n]) / masses[n] * late[n].unwrap_or_default().push
                    }
                };
                let kicks: Vec<DVec3> = (0..late.len()).map(kick).collect();
                source.kick(world, &kicks)?;
            }
        }
        Ok(())
    }
}

/// The volume of a ball [m³].
fn volume(radius: f64) -> f64 {
    4.0 / 3.0 * std::f64::consts::PI * radius.powi(3)
}
