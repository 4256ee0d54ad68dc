//! The Viscosity Material: fluids in its scope resist being sheared (Batty & Bridson 2008, *Accurate Viscous Free Surfaces for
//! Buckling, Coiling, and Rotating Liquids*; Larionov, Batty & Bridson 2017 tell what a projection after it costs).
//!
//! Between the forces and the pressure of a step it finds the velocity that minimises
//!
//! ½ ∫ ρ |u − u*|² + Δt ∫ μ ε(u):ε(u),   ε = ½ (∇u + ∇uᵀ),
//!
//! over the liquid. That is an implicit step, stable for any viscosity; the three components are coupled, and that no force
//! acts on the free surface comes for free: that is what makes honey coil, and lets drops turn as they like.
//!
//! So that the pressure to come is not taken for none, that of the step before acts meanwhile ([`LastPressure`]), and with it what
//! viscosity itself told of it ([`viscous`]).
//!
//! Rigid bodies in its scope stick to the liquid as walls do, and their velocities are found in the same system: what their
//! friction takes from the liquid they gain. Beside them a face weighs what particles have brought to it, which is what they will take its
//! new velocity with.

mod coarsen;
mod coupled;
mod grid;
mod grips;
mod multigrid;
mod piece;
mod samples;
mod solve;
mod system;
mod touched;

pub use solve::{Settings, Solved, diffuse, diffuse_around};
pub use touched::Touched;

use crate::bodies::Swimmers;
use crate::pressure::viscous::{self, Viscous};
use crate::pressure::{Afloat, Coverage, Fluid, INFLOW, LastPressure, add_inflow, covered};
use crate::solved::Solve;
use undine_core::volume::VoxelShape;
use undine_core::{Accessor, ChannelSpec, Handle};
use undine_schema::{Declaration, Dimension, Kind, Parameter};
use undine_sim::offers::FluidField;
use undine_sim::{
    Ingest, Moment, ObjectId, Operator, Result, SimError, Stage, StoreId, Tasks, World,
};

/// "Viscous."
pub const DECLARATION: Declaration = Declaration {
    name: "viscosity",
    kind: Kind::Operator,
    doc: "Makes fluids resist shearing: from water to honey",
    about: "Every fluid in its scope is Newtonian, with this viscosity: water has 0.001 Pa s, olive oil 0.1, honey 10, and caramel \
            100. Particles that have a channel `viscosity` have one each, and mix by their masses. A free surface bears no \
            traction; walls hold what touches them, unless it slips. Rigid bodies in its scope are pulled along by what they touch, \
            and pull it.",
    parameters: &[
        Parameter::number(
            "viscosity",
            Dimension::DYNAMIC_VISCOSITY,
            1.0016e-3,
            "dynamic viscosity; that of water at 20 degC by default",
        )
        .not_negative()
        .usually(1e-6, 1e6)
        .varies_by("viscosity"),
        Parameter::choice(
            "at-walls",
            &[
                ("stick", "what touches a wall moves with it"),
                ("slip", "walls bear pressure alone"),
            ],
            "what walls do to the fluid along them",
        ),
        Parameter::number(
            "tolerance",
            Dimension::NONE,
            1e-5,
            "how much of the momentum a solve may get wrong, relative to all of it",
        )
        .between(1e-12, 0.1)
        .usually(1e-10, 1e-3)
        .advanced(),
    ],
    example: "viscosity viscosity=\"10 Pa·s\"",
};

/// A channel of cells [Pa s]; negative where no particle says.
const BY_CELL: &str = "cell-viscosity";

/// A channel of cells [Pa]: what viscosity told of the pressure in the step before.
const TOLD: &str = "viscous-pressure";

/// Makes fluids viscous.
pub struct Viscosity {
    on: Vec<On>,
    swimmers: Swimmers,
    sticks: bool,
    tolerance: f64,
}

/// A fluid that is viscous.
struct On {
    object: ObjectId,
    field: FluidField,
    /// What flows into cells [1/s]: scratch.
    inflow: Handle<f32>,
    /// What viscosity told of the pressure [Pa].
    told: Handle<f32>,
    /// Where particles of the fluid have a viscosity of their own: theirs, and that of cells.
    varying: Option<(Handle<f32>, Handle<f32>)>,
    /// The viscosity of all that has none of its own [Pa s].
    viscosity: f64,
    /// The faces beside bodies in this step.
    touched: Touched,
    /// What bodies cover of it in this step, body by body.
    bodies: Vec<Coverage>,
}

impl Operator for Viscosity {
    fn create(ingest: &mut Ingest<'_>, scope: &[ObjectId]) -> Result<Option<Self>> {
        let channel = ingest.values().channel_of("viscosity").unwrap_or("viscosity");
        let mut on = Vec::new();
        for &object in scope {
            let world = &mut *ingest.world;
            let Some(field) = world.object(object).offers.fluid else { continue };
            let of_particles = field
                .particles
                .and_then(|carried| world.particles[carried.particles].handle(channel).ok());
            let varying = match of_particles {
                Some(particles) => {
                    let volume = &mut world.volumes[field.volume];
                    let cells = match volume.handle(BY_CELL) {
                        Ok(handle) => handle,
                        Err(_) => {
                            let spec = ChannelSpec::new(BY_CELL, -1.0_f32).unit("Pa·s");
                            volume.add_channel(&spec.internal().transient(), VoxelShape::CELLS)?
                        }
                    };
                    Some((particles, cells))
                }
                None => None,
            };
            let volume = &mut world.volumes[field.volume];
            let inflow = add_inflow(volume)?;
            let told = match volume.handle(TOLD) {
                Ok(handle) => handle,
                Err(_) => {
                    let spec = ChannelSpec::new(TOLD, 0.0_f32).unit("Pa");
                    volume.add_channel(&spec.internal(), VoxelShape::CELLS)?
                }
            };
            on.push(On {
                object,
                field,
                inflow,
                told,
                varying,
                viscosity: 0.0,
                touched: Touched::default(),
                bodies: Vec::new(),
            });
        }
        if on.is_empty() {
            return Ok(None);
        }
        let swimmers = Swimmers::among(ingest.world, scope);
        for (object, solids) in swimmers.objects() {
            ingest.world.objects[object.0].swims = !solids.kinematic;
        }
        let mut viscosity = Self { on, swimmers, sticks: true, tolerance: 0.0 };
        viscosity.update(ingest)?;
        Ok(Some(viscosity))
    }

    fn update(&mut self, ingest: &mut Ingest<'_>) -> Result<()> {
        let values = ingest.values();
        self.sticks = values.text("at-walls")? == "stick";
        self.tolerance = values.number("tolerance")?;
        for on in &mut self.on {
            let attributes = &ingest.world.object(on.object).attributes;
            on.viscosity = values.of_object(attributes).number("viscosity")?;
        }
        Ok(())
    }

    fn tasks(&self, on: &mut Tasks<Self>) {
        let stores = || self.on.iter().map(|on| StoreId::from(on.field.volume));
        let surfaces = self.on.iter().filter(|on| on.field.distance.is_some());
        let brought = self.on.iter().filter(|on| on.field.face_mass.is_some());
        let varying = || self.on.iter().filter(|on| on.varying.is_some());
        let carried = varying().filter_map(|on| on.field.particles).map(|it| it.particles);
        if !self.swimmers.is_empty() {
            on.task(Stage::CutCells, "find the faces beside bodies", Self::find_bodies)
                .reads(self.swimmers.channels());
        }
        let solve = on
            .task(Stage::SolveViscosity, "solve for viscosity", Self::solve)
            .reads(stores().flat_map(|store| {
                store.channels(["cells", "mass-density", "open", "wall-distance"])
            }))
            .reads(stores().map(|store| store.channel("v-before")))
            .reads(brought.map(|on| StoreId::from(on.field.volume).channel("face-mass")))
            .reads(surfaces.map(|on| StoreId::from(on.field.volume).channel("surface")))
            .reads(carried.flat_map(|particles| {
                StoreId::from(particles).channels(["position", "mass", "viscosity"])
            }))
            .writes(stores().flat_map(|store| store.channels(["v", "pressure", TOLD, INFLOW])))
            .writes(varying().map(|on| StoreId::from(on.field.volume).channel(BY_CELL)))
            .reaches_everywhere();
        let walls = stores().map(|store| store.channel("wall-v"));
        match self.swimmers.is_empty() {
            true => solve.reads(walls),
            false => {
                solve.reads(self.swimmers.unmoved()).writes(self.swimmers.moved()).writes(walls)
            }
        };
    }
}

impl Viscosity {
    /// Which faces of fluids are beside bodies.
    fn find_bodies(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        let colliders = self.swimmers.begin(world, now)?;
        let end = now.time + now.step;
        let bodies: Result<Vec<_>> =
            colliders.iter().map(|body| Ok(body.during(now.time, end)?)).collect();
        let bodies = bodies?;
        for on in &mut self.on {
            let domain = &world.domains[world.object(on.object).domain];
            let volume = &world.volumes[on.field.volume];
            on.touched = Touched::find(domain, volume, &bodies);
            on.bodies = bodies.iter().map(|body| covered(domain, volume, body)).collect();
        }
        Ok(())
    }

    fn solve(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        let mut bodies = self.swimmers.afloat(world, now)?;
        self.solve_around(world, &mut bodies, now)?;
        self.swimmers.take(world, &bodies, now)
    }

    fn solve_around(
        &mut self,
        world: &mut World,
        bodies: &mut [Afloat],
        now: &Moment,
    ) -> Result<()> {
        for on in &mut self.on {
            if on.viscosity == 0.0 && on.varying.is_none() {
                continue;
            }
            if let Some((of_particles, of_cells)) = on.varying
                && now.iteration == 0
            {
                on.gather(world, of_particles, of_cells)?;
            }
            let object = world.object(on.object);
            let domain = &world.domains[object.domain];
            let volume = &world.volumes[on.field.volume];
            let settings = Settings {
                viscosity: on.viscosity,
                by_cell: on.varying.map(|(_, cells)| cells),
                sticks: self.sticks,
                tolerance: self.tolerance,
            };
            for (body, coverage) in bodies.iter_mut().zip(&mut on.bodies) {
                std::mem::swap(&mut body.coverage, coverage);
            }
            let fluid =
                Fluid { domain, volume, field: &on.field, inflow: on.inflow, curvature: None };
            match now.count == 0 && now.iteration == 0 {
                true => viscous::first(&fluid, bodies, now.step)?,
                false => viscous::add(&fluid, on.told)?,
            }
            let last = LastPressure::act(domain, volume, &on.field, bodies, now.step)?;
            let around = (&on.touched, &mut *bodies);
            let solved = diffuse_around(domain, volume, &on.field, &settings, around, now.step)?;
            let (everywhere, by_cell) = (on.viscosity, settings.by_cell);
            viscous::find(&fluid, bodies, Viscous { everywhere, by_cell }, on.told)?;
            last.take_back(domain, volume, &on.field, bodies)?;
            for (body, coverage) in bodies.iter_mut().zip(&mut on.bodies) {
                std::mem::swap(&mut body.coverage, coverage);
            }
            let Some(solved) = solved else {
                continue;
            };
            let Solved { report, unknowns } = solved;
            let solve = Solve {
                name: "viscosity",
                of: &object.path,
                unknowns,
                unit: "faces",
                tolerance: self.tolerance,
                look_for: "viscosities or densities far apart",
            };
            let record = solve.solved(&report)?;
            world.solves.push(record);
        }
        Ok(())
    }
}

impl On {
    /// Cells take the mean of their particles' viscosities, by mass.
    fn gather(
        &self,
        world: &World,
        of_particles: Handle<f32>,
        of_cells: Handle<f32>,
    ) -> Result<()> {
        let Some(carried) = self.field.particles else { return Ok(()) };
        let object = world.object(self.object);
        let domain = &world.domains[object.domain];
        let (volume, particles) =
            (&world.volumes[self.field.volume], &world.particles[carried.particles]);
        let voxel = domain.frame().voxel_size(0) as f32;
        let kernel = (
            (particles.own(particles.position()), particles.own(carried.mass)),
            (particles.own(of_particles), volume.write(of_cells)),
        );
        let accessor = Accessor::new("mix viscosities", domain).over(volume.topology());
        let worst = accessor.reduce(
            kernel,
            |_, ((offset, mass), (viscosity, cells))| {
                let mut sums = vec![[0.0_f64; 2]; cells.len()];
                let mut worst = 0.0_f32;
                for n in 0..offset.len() {
                    let place = (offset[n] / voxel).as_ivec3().clamp(FIRST, LAST);
                    let sum = &mut sums[(place.x << 6 | place.y << 3 | place.z) as usize];
                    sum[0] += f64::from(mass[n]);
                    sum[1] += f64::from(mass[n]) * f64::from(viscosity[n]);
                    let is_fine = viscosity[n].is_finite() && viscosity[n] >= 0.0;
                    worst = if is_fine { worst } else { viscosity[n] };
                }
                for (cell, [mass, sum]) in cells.iter_mut().zip(sums) {
                    *cell = if mass > 0.0 { (sum / mass) as f32 } else { -1.0 };
                }
                worst
            },
            |a, b| if a == 0.0 { b } else { a },
        )?;
        match worst {
            Some(worst) if worst != 0.0 => Err(SimError::setup(
                object.path.clone(),
                format!("channel `viscosity` of its particles holds {worst} Pa s"),
                "a viscosity has to be finite and not negative",
            )),
            _ => Ok(()),
        }
    }
}

const FIRST: undine_core::glam::IVec3 = undine_core::glam::IVec3::ZERO;
const LAST: undine_core::glam::IVec3 = undine_core::glam::IVec3::splat(7);
