//! The dam break that liquids are measured by: a column of water in the corner of a closed tank.

use crate::Result;
use crate::simulated;
use std::collections::BTreeMap;
use std::io::Cursor;
use std::sync::Arc;
use std::time::Duration;
use undine_core::glam::DVec3;
use undine_core::memory::MemoryBudget;
use undine_geometry::{Pose, Shape};
use undine_schema::setup::{Behavior, Group};
use undine_sim::checkpoint::{self, Identity, State};
use undine_sim::error::Place;
use undine_sim::input::{Data, Geometry};
use undine_sim::report::{Observer, SubstepReport};
use undine_sim::simulation::Clock;
use undine_sim::timeline::Substeps;
use undine_sim::{Simulation, Timeline};

/// Substeps in a frame, always: as many as Mantaflow makes here, whose cap it is.
pub const SUBSTEPS: u32 = 4;

/// How much of the divergence the pressure may leave, relative to what there was: as a scene has it that says nothing.
pub const PRESSURE_TOLERANCE: f64 = 1e-4;

/// Frames in a second.
const FPS: f64 = 24.0;

/// What is the same and what differs from one dam to another.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// Cells along the tank, whose edge is 1 m.
    pub cells: usize,
    /// Frames in a second; each has [`SUBSTEPS`].
    pub fps: f64,
    /// How many cells deep particles are, below the surface; none where they are everywhere.
    pub band: Option<u32>,
    /// Whether there is a little pool far away, so that the box around all liquid is ten times as large.
    pub with_far_pool: bool,
}

/// A dam break at some moment.
pub struct Dam {
    simulation: Simulation,
}

/// A moment to come back to.
pub struct Saved {
    bytes: Vec<u8>,
    clock: Clock,
}

/// How long every Task took, and what solves needed.
#[derive(Debug, Default)]
pub struct Profile {
    /// Stages and Tasks in the order in which they first ran, with the time of all their calls.
    tasks: Vec<(String, &'static str, Duration)>,
    /// Systems in the order in which they were first solved: how often, iterations of all solves, unknowns of the last.
    solves: Vec<(&'static str, usize, usize, usize)>,
    /// Substeps that were made.
    pub substeps: u32,
    /// Sum over the substeps of the Courant number with which they began.
    cfl: f64,
}

impl Plan {
    /// A dam with so many cells along the tank.
    pub fn of(cells: usize) -> Result<Self> {
        if !(8..=512).contains(&cells) {
            return Err(
                format!("a size of {cells} makes no sense: from 8 to 512 cells a side").into()
            );
        }
        Ok(Self { cells, fps: FPS, band: None, with_far_pool: false })
    }
}

impl Dam {
    /// A column of 0.4 × 1 × 0.6 m (that is its height) in the corner of a closed tank of 1 m, eight particles in a cell.
    pub fn new(plan: &Plan) -> Result<Self> {
        let voxel = 1.0 / plan.cells as f64;
        let mut liquid = vec![cuboid(DVec3::ZERO, DVec3::new(0.4, 0.6, 1.0))?];
        let mut room = vec![cuboid(DVec3::ZERO, DVec3::ONE)?];
        if plan.with_far_pool {
            // Ten edges away along every axis, a cube of eight cells in a cube of walls.
            let (corner, edge) = (DVec3::splat(10.0), DVec3::splat(8.0 * voxel));
            liquid.push(cuboid(corner, corner + 0.5 * edge)?);
            room.push(cuboid(corner, corner + edge)?);
        }
        let solid = |parts| -> Result<Arc<Data>> {
            Ok(Arc::new(Data::new(Geometry::Shape(Arc::new(Shape::union(parts, 0.0)?)))))
        };
        let walls = Shape::union(room, 0.0)?.inverted()?;
        let inputs = BTreeMap::from([
            ("column".to_owned(), solid(liquid)?),
            ("tank".to_owned(), Arc::new(Data::new(Geometry::Shape(Arc::new(walls))))),
        ]);
        let mut water = Behavior::new(&undine_liquid::hybrid::DECLARATION)
            .named("water")
            .set("input", "column")
            .set("voxel", voxel);
        if let Some(cells) = plan.band {
            water = water.set("band", i64::from(cells));
        }
        let setup = Group::default()
            .with(water)
            .with(Behavior::new(&undine_fluid::walls::DECLARATION))
            .with(
                Behavior::new(&undine_fluid::pressure::DECLARATION)
                    .set("tolerance", PRESSURE_TOLERANCE),
            )
            .with(
                Behavior::new(&undine_actions::collider::DECLARATION)
                    .named("tank")
                    .set("input", "tank"),
            )
            .with(Behavior::new(&undine_actions::gravity::DECLARATION));
        let kinds =
            [undine_liquid::BEHAVIORS, undine_fluid::BEHAVIORS, undine_actions::BEHAVIORS].concat();
        let timeline =
            Timeline { fps: plan.fps, substeps: Substeps::Fixed(SUBSTEPS), ..Timeline::default() };
        let budget = MemoryBudget::unlimited();
        let simulation = Simulation::new(&setup, &kinds, timeline, Arc::new(inputs), budget)?;
        Ok(Self { simulation })
    }

    /// How many particles there are.
    pub fn particles(&self) -> u64 {
        self.simulation.world.particles.iter().map(|(_, store)| store.len() as u64).sum()
    }

    /// Simulates a frame, and tells how long it took [s].
    pub fn frame(&mut self, observer: &mut dyn Observer) -> Result<f64> {
        simulated::frame(&mut self.simulation, observer)
    }

    /// Remembers this moment.
    pub fn save(&self) -> Result<Saved> {
        let mut bytes = Vec::new();
        let world = &self.simulation.world;
        checkpoint::save(&Identity::default(), &State::default(), world, &mut bytes)?;
        Ok(Saved { bytes, clock: self.simulation.clock() })
    }

    /// Goes back to a moment.
    pub fn restore(&mut self, saved: &Saved) -> Result<()> {
        checkpoint::load(None, &mut self.simulation.world, &mut Cursor::new(&saved.bytes))?;
        self.simulation.set_clock(saved.clock);
        Ok(())
    }

    /// The hash of all that is kept from frame to frame.
    pub fn hash(&self) -> Result<u64> {
        simulated::hash(&self.simulation)
    }
}

impl Profile {
    /// Prints a line for every Task, with its share of `seconds`, which is what all substeps took.
    pub fn print(&self, seconds: f64) {
        let substeps = f64::from(self.substeps.max(1));
        let line = |stage: &str, task: &str, took: f64| {
            let (each, share) = (1e3 * took / substeps, 100.0 * took / seconds);
            println!("  {stage:16} {task:38} {each:9.2} ms {share:5.1} %");
        };
        for (stage, task, took) in &self.tasks {
            line(stage, task, took.as_secs_f64());
        }
        let in_tasks: f64 = self.tasks.iter().map(|(.., took)| took.as_secs_f64()).sum();
        line("", "between Tasks: finite? how fast?", seconds - in_tasks);
        line("", "a substep", seconds);
        for (system, count, iterations, unknowns) in &self.solves {
            let each = *iterations as f64 / (*count).max(1) as f64;
            println!("  {system}: {each:.1} iterations a solve, {unknowns} unknowns at last");
        }
        println!("  Courant number at the beginning of a substep: {:.1}", self.cfl / substeps);
    }
}

impl Observer for Profile {
    fn task(&mut self, place: &Place, took: Duration) {
        let stage = place.stage.to_string();
        let known = self.tasks.iter_mut().find(|task| task.0 == stage && task.1 == place.task);
        match known {
            Some(task) => task.2 += took,
            None => self.tasks.push((stage, place.task, took)),
        }
    }

    fn substep(&mut self, substep: &SubstepReport) {
        self.substeps += 1;
        self.cfl += substep.cfl;
        for solve in &substep.solves {
            let known = self.solves.iter_mut().find(|known| known.0 == solve.system);
            match known {
                Some((_, count, iterations, unknowns)) => {
                    *count += 1;
                    *iterations += solve.iterations;
                    *unknowns = solve.unknowns;
                }
                None => self.solves.push((solve.system, 1, solve.iterations, solve.unknowns)),
            }
        }
    }
}

/// A box between two corners [m].
fn cuboid(min: DVec3, max: DVec3) -> Result<Shape> {
    let pose = Pose { translation: 0.5 * (min + max), ..Pose::IDENTITY };
    Ok(Shape::cuboid(0.5 * (max - min))?.moved(&pose)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dam_has_eight_particles_in_a_cell_and_comes_back_to_a_moment() {
        let mut dam = Dam::new(&Plan::of(10).expect("a size")).expect("a dam");
        assert_eq!(dam.particles(), 8 * 4 * 6 * 10);
        let saved = dam.save().expect("a moment");
        let mut profile = Profile::default();
        dam.frame(&mut profile).expect("a frame");
        let after = dam.hash().expect("channels");
        dam.restore(&saved).expect("the moment");
        dam.frame(&mut ()).expect("a frame");
        assert_eq!(dam.hash().expect("channels"), after);
        assert_eq!(profile.substeps, SUBSTEPS);
        assert!(profile.tasks.iter().any(|task| task.1 == "solve for pressure"));
    }

    #[test]
    fn a_far_pool_adds_its_few_cells_and_nothing_else() {
        let plan = Plan { with_far_pool: true, ..Plan::of(10).expect("a size") };
        let dam = Dam::new(&plan).expect("a dam");
        assert_eq!(dam.particles(), 8 * (4 * 6 * 10 + 4 * 4 * 4));
    }

    #[test]
    fn sizes_that_make_no_sense_are_refused() {
        assert!(Plan::of(7).is_err() && Plan::of(513).is_err());
    }
}
