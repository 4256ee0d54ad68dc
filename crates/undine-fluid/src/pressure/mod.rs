//! The Pressure Material: fluids in its scope are incompressible.
//!
//! Between the forces and the motion of a step the velocity is made free of divergence: u = u* − Δt/ρ·∇p, with the p for which
//! nothing flows into or out of a liquid cell on balance. Walls cut cells (Batty et al. 2007), the free surface lies where the
//! liquid's distance says (ghost fluid: Enright et al. 2003), and air has no pressure.

mod flux;
mod gradient;
mod layers;
mod project;

pub use project::{Projected, Settings, project};

use undine_core::ChannelSpec;
use undine_core::Handle;
use undine_core::volume::VoxelShape;
use undine_schema::{Declaration, Dimension, Kind, Parameter};
use undine_sim::offers::FluidField;
use undine_sim::report::SolveRecord;
use undine_sim::{
    Ingest, Moment, ObjectId, Operator, Result, SimError, Stage, StoreId, Tasks, World,
};

/// "Incompressible."
pub const DECLARATION: Declaration = Declaration {
    name: "pressure",
    kind: Kind::Operator,
    doc: "Makes fluids incompressible",
    about: "Every fluid in its scope keeps its volume: what flows into a cell flows out of it, around walls and with them, up to a \
            free surface.",
    parameters: &[Parameter::number(
        "tolerance",
        Dimension::NONE,
        1e-4,
        "how much of the divergence a solve may leave, relative to what there was",
    )
    .between(1e-12, 0.5)
    .usually(1e-8, 1e-2)
    .advanced()],
    example: "pressure",
};

/// Makes fluids incompressible.
pub struct Pressure {
    on: Vec<(ObjectId, FluidField, Handle<f32>)>,
    settings: Settings,
}

/// A solve that ends within so many times its tolerance is still better than none.
const NEAR_ENOUGH: f64 = 100.0;

impl Operator for Pressure {
    fn create(ingest: &mut Ingest<'_>, scope: &[ObjectId]) -> Result<Option<Self>> {
        let mut on = Vec::new();
        for &id in scope {
            let Some(field) = ingest.world.object(id).offers.fluid else { continue };
            let volume = &mut ingest.world.volumes[field.volume];
            let inflow = match volume.handle(INFLOW) {
                Ok(handle) => handle,
                Err(_) => {
                    let spec = ChannelSpec::new(INFLOW, 0.0_f32).unit("1/s");
                    volume.add_channel(&spec.internal().transient(), VoxelShape::CELLS)?
                }
            };
            on.push((id, field, inflow));
        }
        if on.is_empty() {
            return Ok(None);
        }
        let mut pressure = Self { on, settings: Settings::default() };
        pressure.update(ingest)?;
        Ok(Some(pressure))
    }

    fn update(&mut self, ingest: &mut Ingest<'_>) -> Result<()> {
        self.settings.tolerance = ingest.values().number("tolerance")?;
        Ok(())
    }

    fn tasks(&self, on: &mut Tasks<Self>) {
        let stores = || self.on.iter().map(|(_, field, _)| StoreId::from(field.volume));
        let surfaces = self.on.iter().filter(|(_, field, _)| field.distance.is_some());
        on.task(Stage::SolvePressure, "solve for pressure", Self::solve)
            .reads(
                stores()
                    .flat_map(|store| store.channels(["cells", "density", "open", "wall-v"])),
            )
            .reads(surfaces.map(|(_, field, _)| StoreId::from(field.volume).channel("surface")))
            .writes(stores().flat_map(|store| store.channels(["v", "pressure", INFLOW])))
            .reaches_everywhere();
    }
}

/// What flows into cells [1/s]: a channel of every fluid that is incompressible.
const INFLOW: &str = "inflow";

impl Pressure {
    fn solve(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        for (id, field, inflow) in &self.on {
            let object = world.object(*id);
            let domain = &world.domains[object.domain];
            let volume = &world.volumes[field.volume];
            let projected = project(domain, volume, field, *inflow, &self.settings, now.step)?;
            let Projected { report, unknowns } = projected;
            let tolerance = self.settings.tolerance;
            if !report.converged()
                && !(report.residual <= (NEAR_ENOUGH * tolerance).min(NEAR_ENOUGH.recip()))
            {
                return Err(SimError::NotConverged {
                    system: format!("the pressure of {} ({unknowns} cells)", object.path),
                    report: format!(
                        "{report}; the residual wanted is {tolerance:.1e}: look for colliders that move many voxels in a substep, or for densities far apart, or raise `tolerance`"
                    ),
                });
            }
            world.solves.push(SolveRecord {
                system: "pressure",
                unknowns,
                iterations: report.iterations,
                residual: report.residual,
                tolerance,
                converged: report.converged(),
            });
        }
        Ok(())
    }
}
