//! The Pressure Material: fluids in its scope are incompressible.
//!
//! Between the forces and the motion of a step the velocity is made free of divergence: u = u* − Δt/ρ·∇p, with the p for which
//! nothing flows into or out of a liquid cell on balance. Walls cut cells (Batty et al. 2007), the free surface lies where the
//! liquid's distance says (ghost fluid: Enright et al. 2003), and air has no pressure. Rigid bodies in the fluid are part of the
//! same system, and may be pushed by it.

mod afloat;
pub mod contact_line;
mod flux;
mod gradient;
mod last;
pub(crate) mod layers;
mod mixture;
mod non_stick;
mod project;
mod swim;
mod tension;
pub mod viscous;

pub use afloat::{Afloat, Coverage, Covered, covered};
pub use last::LastPressure;
pub use project::{Fluid, Projected, Settings, mirror, project};
pub use tension::Tension;

use crate::bodies::Swimmers;
use crate::field::{MIXED, add_mixed};
use crate::solved::Solve;
use crate::walls::apart::{self, Apart};
use crate::walls::settled::Settled;
use undine_core::volume::VoxelShape;
use undine_core::{ChannelSpec, DiscreteVolume, Handle};
use undine_geometry::{Collider, Solid};
use undine_schema::{Declaration, Dimension, Kind, Parameter};
use undine_sim::offers::{Coupling, FluidField};
use undine_sim::{Id, Ingest, Moment, ObjectId, Operator, Result, Stage, StoreId, Tasks, World};

/// "Incompressible."
pub const DECLARATION: Declaration = Declaration {
    name: "pressure",
    kind: Kind::Operator,
    doc: "Makes fluids incompressible, with bodies that swim in them",
    about: "Every fluid in its scope keeps its volume: what flows into a cell flows out of it, around walls and with them, up to a \
            free surface. Rigid bodies in its scope swim: the fluid pushes them, and they push the fluid. With `tension` the \
            surface pulls itself together.",
    parameters: &[
        Parameter::number(
            "tension",
            Dimension::of(0, 1, -2),
            0.0,
            "surface tension; that of water against air is 0.072 N/m",
        )
        .not_negative()
        .usually(0.0, 1.0),
        Parameter::flag(
            "non-stick",
            false,
            "liquid may leave walls: there its pressure pushes, but does not pull; left out while free bodies swim in it",
        ),
        Parameter::number(
            "tolerance",
            Dimension::NONE,
            1e-4,
            "how much of the divergence a solve may leave, relative to what there was",
        )
        .between(1e-12, 0.5)
        .usually(1e-8, 1e-2)
        .advanced(),
    ],
    example: "pressure",
};

/// Makes fluids incompressible.
pub struct Pressure {
    on: Vec<On>,
    swimmers: Swimmers,
    /// What bodies keep apart from.
    colliders: Vec<Id<Option<Collider>>>,
    settings: Settings,
    /// Whether it has said already that walls or sources press liquid together.
    has_warned: bool,
}

/// A fluid in its scope.
struct On {
    object: ObjectId,
    field: FluidField,
    inflow: Handle<f32>,
    tension: Option<Tension>,
    /// What bodies cover of it in this step, body by body.
    bodies: Vec<Coverage>,
}

/// Liquid that loses more of its volume than this in a step, because its walls press it together, is worth a warning.
const SQUEEZED: f64 = 1e-4;

/// What flows into cells [1/s]: a channel of every fluid that is incompressible.
pub(crate) const INFLOW: &str = "inflow";

/// The channel of that name, which is added where it is missing.
pub(crate) fn add_inflow(volume: &mut DiscreteVolume) -> Result<Handle<f32>> {
    if let Ok(handle) = volume.handle(INFLOW) {
        return Ok(handle);
    }
    let spec = ChannelSpec::new(INFLOW, 0.0_f32).unit("1/s");
    Ok(volume.add_channel(&spec.internal().transient(), VoxelShape::CELLS)?)
}

impl Operator for Pressure {
    fn create(ingest: &mut Ingest<'_>, scope: &[ObjectId]) -> Result<Option<Self>> {
        let mut on = Vec::new();
        for &object in scope {
            let Some(field) = ingest.world.object(object).offers.fluid else { continue };
            let inflow = add_inflow(&mut ingest.world.volumes[field.volume])?;
            on.push(On { object, field, inflow, tension: None, bodies: Vec::new() });
        }
        if on.is_empty() {
            return Ok(None);
        }
        let swimmers = Swimmers::among(ingest.world, scope);
        for (object, solids) in swimmers.objects() {
            ingest.world.objects[object.0].swims = !solids.kinematic;
        }
        let settings = Settings::default();
        let collider = |id: &ObjectId| ingest.world.object(*id).offers.collider;
        let colliders = scope.iter().filter_map(collider).collect();
        let mut pressure = Self { on, swimmers, colliders, settings, has_warned: false };
        pressure.update(ingest)?;
        Ok(Some(pressure))
    }

    fn update(&mut self, ingest: &mut Ingest<'_>) -> Result<()> {
        let values = ingest.values();
        self.settings.tolerance = values.number("tolerance")?;
        self.settings.tension = values.number("tension")?;
        self.settings.non_stick = values.flag("non-stick")?;
        if self.settings.non_stick
            && self.swimmers.objects().iter().any(|(_, solids)| !solids.kinematic)
        {
            tracing::warn!(
                "{}: `non-stick` is left out while free bodies swim in the liquid: all walls may pull on it. Make the bodies kinematic, or \
                 leave `non-stick` away",
                ingest.path,
            );
        }
        if self.settings.tension > 0.0 {
            for on in self.on.iter_mut().filter(|on| on.field.distance.is_some()) {
                let volume = &mut ingest.world.volumes[on.field.volume];
                on.tension = Some(Tension::add(volume)?);
            }
        }
        Ok(())
    }

    fn tasks(&self, on: &mut Tasks<Self>) {
        let stores = || self.on.iter().map(|on| StoreId::from(on.field.volume));
        let surfaces = self.on.iter().filter(|on| on.field.distance.is_some());
        let pulled = self.on.iter().filter(|on| on.tension.is_some());
        if !self.swimmers.is_empty() {
            on.task(Stage::CutCells, "find the faces of bodies", Self::find_bodies)
                .reads(self.swimmers.channels());
        }
        let solve =
            on.task(Stage::SolvePressure, "solve for pressure", Self::solve)
                .reads(stores().flat_map(|store| {
                    store.channels(["cells", "mass-density", "open", "v-before"])
                }))
                .reads(surfaces.map(|on| StoreId::from(on.field.volume).channel("surface")))
                .writes(stores().flat_map(|store| store.channels(["v", "pressure", INFLOW])))
                .writes(stores().flat_map(|store| store.channels(Coupling::CHANNELS)))
                .writes(stores().flat_map(|store| store.channels(MIXED)))
                .writes(
                    pulled
                        .flat_map(|on| StoreId::from(on.field.volume).channels(Tension::CHANNELS)),
                )
                .reaches_everywhere();
        if self.swimmers.is_empty() {
            solve.reads(stores().map(|store| store.channel("wall-v")));
        } else {
            solve
                .reads(self.swimmers.unmoved())
                .writes(self.swimmers.moved())
                .writes(stores().map(|store| store.channel("wall-v")));
        }
    }
}

impl Pressure {
    /// Which faces of fluids bodies cover, where they are.
    fn find_bodies(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        let bodies = self.swimmers.begin(world, now)?;
        let walls = self.colliders.iter().filter_map(|id| world.colliders[*id].as_ref());
        let count = walls.clone().count();
        let steps = walls
            .chain(&bodies)
            .map(|collider| collider.during(now.time, now.time + now.step))
            .collect::<Result<Vec<_>, _>>()?;
        let bounds: Vec<_> = steps.iter().map(Solid::bounds).collect();
        for on in &mut self.on {
            let domain = &world.domains[world.object(on.object).domain];
            let volume = &world.volumes[on.field.volume];
            let voxel = domain.frame().voxel_size(0);
            on.bodies.clear();
            for (n, body) in steps.iter().enumerate().skip(count) {
                let others = apart::within(&steps[..n], &bounds, bounds[n], 2.0 * voxel);
                let body = Apart::new(body, others, voxel);
                on.bodies.push(covered(domain, volume, &Settled::new(&body, voxel)));
            }
        }
        Ok(())
    }

    fn solve(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        let mut bodies = self.swimmers.afloat(world, now)?;
        for on in &mut self.on {
            self.has_warned |=
                on.solve(world, &mut bodies, &self.settings, now, self.has_warned)?;
        }
        self.swimmers.take(world, &bodies, now)
    }
}

impl On {
    /// Projects the fluid and the bodies in it; whether walls press it together.
    fn solve(
        &mut self,
        world: &mut World,
        bodies: &mut [Afloat],
        settings: &Settings,
        now: &Moment,
        has_warned: bool,
    ) -> Result<bool> {
        add_mixed(&mut world.volumes[self.field.volume])?;
        let object = &world.objects[self.object.0];
        let domain = &world.domains[object.domain];
        if let (Some(tension), Some(distance)) = (self.tension, self.field.distance)
            && settings.tension > 0.0
        {
            let volume = &mut world.volumes[self.field.volume];
            let ratio =
                settings.tension / f64::from(volume.column(self.field.density)?.background());
            tension.measure(domain, volume, distance, ratio, now.step)?;
        }
        let fluid = Fluid {
            domain,
            volume: &world.volumes[self.field.volume],
            field: &self.field,
            inflow: self.inflow,
            curvature: self.tension.map(|tension| tension.curvature),
        };
        for (body, coverage) in bodies.iter_mut().zip(&mut self.bodies) {
            std::mem::swap(&mut body.coverage, coverage);
        }
        let projected = project(&fluid, bodies, settings, now.step);
        for (body, coverage) in bodies.iter_mut().zip(&mut self.bodies) {
            std::mem::swap(&mut body.coverage, coverage);
        }
        let Projected { report, unknowns, squeezed } = projected?;
        let solve = Solve {
            name: "pressure",
            of: &object.path,
            unknowns,
            unit: "cells",
            tolerance: settings.tolerance,
            look_for: "colliders that move many voxels in a substep, for bodies or densities that differ by many orders",
        };
        let record = solve.solved(&report)?;
        let is_squeezed = squeezed * now.step > SQUEEZED;
        if is_squeezed && !has_warned {
            tracing::warn!(
                "{}: walls or sources press liquid together that has no way out, by {:.2e} of its volume in a substep; that much is \
                 lost: leave it a surface or a way out, stop the walls that move, or end the source when the tank is full",
                object.path,
                squeezed * now.step,
            );
        }
        world.solves.push(record);
        Ok(is_squeezed)
    }
}
