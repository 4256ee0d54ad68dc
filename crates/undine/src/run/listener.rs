//! Who listens to a run: a terminal, a farm, a host application.

use super::warned::Told;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use undine_scene::Report;
use undine_sim::report::SolveRecord;
use undine_sim::{Budget, Stage};

/// Who listens to a run. Nothing that a listener does may change the result.
pub trait Listener {
    /// The run begins, or goes on: frames to make, and where they go.
    fn begins(&mut self, _frames: (i64, i64), _cache: &Path) {}

    /// What the scene most likely lacks, where it lacks something; before the run begins.
    fn advice(&mut self, _advice: &Report) {}

    /// Something that a person should know.
    fn note(&mut self, _note: &str) {}

    /// So many of all bytes of a finished cache were read, to see that it is whole.
    fn verified(&mut self, _all: u64, _read: u64) {}

    /// What has been told since it was asked last: a host that keeps what is told by `tracing`, warnings and notes (its level `INFO`), hands it out
    /// here, so that it comes into the log of the run.
    fn told(&mut self) -> Vec<Told> {
        Vec::new()
    }

    /// A warning of those, where nothing like it was told before, or how often something was by now. Notes of those come by `note`.
    fn warning(&mut self, _warning: &str) {}

    /// A substep of a frame ended.
    fn substep(&mut self, _frame: i64, _substep: u32) {}

    /// A frame is whole.
    fn frame(&mut self, _frame: &FrameReport) {}

    /// All pictures are there: where, and what was made of all of them.
    fn pictures(&mut self, _folder: &Path, _made: &[PathBuf]) {}

    /// Whether the run should end after this substep.
    fn should_stop(&self) -> bool {
        false
    }
}

/// Listens to nothing.
impl Listener for () {}

/// What a frame was like.
#[derive(Debug, Clone, Default)]
pub struct FrameReport {
    /// The frame.
    pub frame: i64,
    /// How long it took.
    pub took: Duration,
    /// How many particles there are.
    pub particles: u64,
    /// How many points of solids there are: centres and boundaries of bodies.
    pub points: u64,
    /// How many voxels there are.
    pub voxels: u64,
    /// How many Buckets they lie in, each counted for every store that has it.
    pub buckets: u64,
    /// How many substeps it took.
    pub substeps: u32,
    /// The shortest and the longest of them, in simulated time [s].
    pub steps: Option<(f64, f64)>,
    /// The largest Courant number: how many voxels the fastest thing crossed in a substep.
    pub cfl: f64,
    /// The Object that asked for the shortest of them; nothing where the frame was divided so anyway.
    pub asked_by: Option<String>,
    /// How many Newton iterations, of all substeps.
    pub newton: u32,
    /// How many iterations of linear solves, of all substeps.
    pub iterations: usize,
    /// How much the channels take [bytes].
    pub memory: u64,
    /// The most that the process has had of memory so far [bytes].
    pub process_memory: Option<u64>,
    /// How much of the time went into files of frames and checkpoints.
    pub writing: Duration,
    /// How much of the time went into pictures.
    pub pictures: Duration,
    /// What there is of mass, momentum and energy.
    pub budget: Budget,
    /// How long each Task took, by Stage, owner and name.
    pub tasks: BTreeMap<(Stage, String, &'static str), Duration>,
    /// How each solve went.
    pub solves: Vec<SolveRecord>,
}

impl FrameReport {
    /// As a line of JSON.
    pub fn to_json(&self) -> serde_json::Value {
        let seconds = |took: &Duration| took.as_secs_f64();
        let mut stages: BTreeMap<String, f64> = BTreeMap::new();
        for ((stage, ..), took) in &self.tasks {
            *stages.entry(stage.to_string()).or_default() += seconds(took);
        }
        let tasks: Vec<_> = self
            .tasks
            .iter()
            .map(|((stage, owner, task), took)| {
                serde_json::json!({
                    "stage": stage.to_string(), "owner": owner, "task": task, "seconds": seconds(took)
                })
            })
            .collect();
        let solves: Vec<_> = self
            .solves
            .iter()
            .map(|solve| {
                serde_json::json!({
                    "system": solve.system, "unknowns": solve.unknowns, "iterations": solve.iterations,
                    "residual": solve.residual, "tolerance": solve.tolerance,
                    "converged": solve.converged
                })
            })
            .collect();
        serde_json::json!({
            "frame": self.frame,
            "seconds": seconds(&self.took),
            "particles": self.particles,
            "points": self.points,
            "voxels": self.voxels,
            "buckets": self.buckets,
            "substeps": self.substeps,
            "shortest_step": self.steps.map(|steps| steps.0),
            "longest_step": self.steps.map(|steps| steps.1),
            "cfl": self.cfl,
            "asked_by": self.asked_by,
            "newton": self.newton,
            "iterations": self.iterations,
            "memory": self.memory,
            "process_memory": self.process_memory,
            "writing": seconds(&self.writing),
            "pictures": seconds(&self.pictures),
            "mass": self.budget.mass,
            "momentum": self.budget.momentum.to_array(),
            "angular_momentum": self.budget.angular_momentum.to_array(),
            "kinetic_energy": self.budget.kinetic_energy,
            "potential_energy": self.budget.potential_energy,
            "stages": stages,
            "tasks": tasks,
            "solves": solves,
        })
    }
}
