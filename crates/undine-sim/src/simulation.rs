//! A Simulation: a Solver Setup at work. Frame by frame, substep by substep, Stage by Stage.

use crate::audit::Audit;
use crate::behavior::BehaviorKind;
use crate::budget::Budget;
use crate::build;
use crate::error::{Place, Result, SimError};
use crate::input::Inputs;
use crate::object::AnyObject;
use crate::offers::Skin;
use crate::registry::{self, NotFinite};
use crate::report::{Lengthened, Observer, SubstepReport, UnsettledFrame};
use crate::schedule::{Entry, Schedule};
use crate::solver::Solver;
use crate::stage::{Pace, Stage};
use crate::stirring;
use crate::task::{Moment, Use};
use crate::timeline::{Courant, Substeps, Timeline};
use crate::tree::Tree;
use crate::world::World;
use std::sync::Arc;
use std::time::Instant;
use undine_core::CoreError;
use undine_core::glam::DVec3;
use undine_core::memory::MemoryBudget;
use undine_core::process::{Processes, Single};
use undine_schema::setup::Group;

/// A Solver Setup at work.
pub struct Simulation {
    /// All simulated state.
    pub world: World,
    pub(crate) tree: Tree,
    schedule: Schedule,
    pub(crate) timeline: Timeline,
    inputs: Arc<dyn Inputs>,
    kernels: Vec<Kernel>,
    solver: Solver,
    pub(crate) clock: Clock,
    audited: bool,
}

/// How far a Simulation is. With the channels of the World this is all there is to a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    /// The frame whose state the World holds.
    pub frame: i64,
    /// How many substeps were made, in all frames.
    pub substeps: u64,
}

/// How the length of a substep was chosen.
struct Chosen {
    cfl: f64,
    asked_by: Option<String>,
}

/// A kernel of the user's own at a user-facing Stage.
struct Kernel {
    name: &'static str,
    stage: Stage,
    run: Box<KernelBody>,
}

type KernelBody = dyn FnMut(&mut World, &Moment) -> Result<()> + Send;

impl Simulation {
    /// Ingests a setup, at the time of the first frame, or of the preroll's.
    pub fn new(
        setup: &Group,
        kinds: &[BehaviorKind],
        timeline: Timeline,
        inputs: Arc<dyn Inputs>,
        budget: MemoryBudget,
    ) -> Result<Self> {
        Self::distributed(setup, kinds, timeline, inputs, budget, Arc::new(Single))
    }

    /// The same on several processes, each of which makes it alike. Collective.
    pub fn distributed(
        setup: &Group,
        kinds: &[BehaviorKind],
        timeline: Timeline,
        inputs: Arc<dyn Inputs>,
        budget: MemoryBudget,
        processes: Arc<dyn Processes>,
    ) -> Result<Self> {
        let mut world = World::distributed(budget, processes);
        let start = timeline.start();
        let time = timeline.time(start);
        let (tree, schedule) = build::build(setup, kinds, &*inputs, &mut world, time)?;
        world.balance()?;
        let clock = Clock { frame: start, substeps: 0 };
        Ok(Self {
            world,
            tree,
            schedule,
            timeline,
            inputs,
            kernels: Vec::new(),
            solver: Solver::default(),
            clock,
            audited: false,
        })
    }

    /// Adds a kernel of the user's own at a user-facing Stage; those of one Stage run in the order in which they were added,
    /// before the Behaviors.
    pub fn add_kernel(
        &mut self,
        stage: Stage,
        name: &'static str,
        run: impl FnMut(&mut World, &Moment) -> Result<()> + Send + 'static,
    ) -> Result<()> {
        if !stage.is_user_facing() || stage == Stage::Ingest {
            let what = format!("Stage {stage} is not one at which kernels run");
            let help = "take BeginFrame, BeginSubstep, BeginIteration, EndSubstep or EndFrame";
            return Err(SimError::setup(name, what, help));
        }
        self.kernels.push(Kernel { name, stage, run: Box::new(run) });
        Ok(())
    }

    /// Whether every Task is held against what it declares to change; slow, for tests.
    pub fn audited(&mut self, audited: bool) {
        self.audited = audited;
    }

    /// The kernels of the user's own, in the order in which they were added.
    pub fn kernels(&self) -> impl Iterator<Item = (Stage, &'static str)> + '_ {
        self.kernels.iter().map(|kernel| (kernel.stage, kernel.name))
    }

    /// How far it is.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Goes on from elsewhere, after the World's channels were restored.
    pub fn set_clock(&mut self, clock: Clock) {
        self.clock = clock;
    }

    /// Its frames and steps.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// Data from outside.
    pub fn inputs(&self) -> &dyn Inputs {
        &*self.inputs
    }

    /// Its Groups and Behaviors.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Its Tasks.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Its Objects with the paths of the Behaviors that made them, in the order of evaluation.
    pub fn objects(&self) -> impl Iterator<Item = (&str, &dyn AnyObject)> {
        self.tree.behaviors.iter().flat_map(|entry| {
            entry.behavior.objects().into_iter().map(|object| (entry.path.as_str(), object))
        })
    }

    /// The meshes that are written with every frame, with the paths of the Behaviors that ask for them.
    pub fn skins(&self) -> impl Iterator<Item = (&str, &Skin)> {
        let at_work = self.tree.behaviors.iter().filter(|entry| entry.left_out.is_none());
        at_work.filter_map(|entry| Some((entry.path.as_str(), entry.behavior.skin()?)))
    }

    /// What all Objects together have of mass, momentum and energy, that of their places under Forces and of Constraints among it.
    /// Collective.
    pub fn budget(&self) -> Result<Budget> {
        let mut sum = Budget::default();
        for (_, object) in self.objects() {
            sum = sum + object.budget(&self.world)?;
        }
        for entry in self.tree.behaviors.iter().filter(|entry| entry.left_out.is_none()) {
            sum.potential_energy += entry.behavior.potential_energy(&self.world)?;
            sum.elastic_energy += entry.behavior.elastic_energy(&self.world)?;
        }
        Ok(sum)
    }

    /// Refuses what the first step would refuse of where things begin, without making it.
    pub fn look_at_start(&mut self) -> Result<()> {
        let now = self.next_moment(f64::INFINITY);
        for entry in &mut self.tree.behaviors {
            entry.behavior.look_at_start(&self.world, &now)?;
        }
        Ok(())
    }

    /// Makes the room that the next step needs, as its first Stages do: values of that moment, what comes, and the Buckets that all of it
    /// lies in. It shows what a run will take; nothing is simulated, and a run does not go on from here.
    pub fn make_room(&mut self) -> Result<()> {
        let (longest, _) = self.longest_step()?;
        let now = self.next_moment(longest);
        let stages = [Stage::BeginSubstep, Stage::GroupEnter, Stage::UpdateTopology];
        self.run_stages(stages.into_iter(), &now, &mut ())
    }

    /// The first step of the next frame, no longer than this [s].
    fn next_moment(&self, longest: f64) -> Moment {
        let piece = self.timeline.frame_time() / f64::from(self.timeline.pieces());
        Moment {
            frame: self.clock.frame + 1,
            substep: 0,
            iteration: 0,
            time: self.timeline.time(self.clock.frame),
            step: if longest > 0.0 { longest.min(piece) } else { piece },
            count: self.clock.substeps,
            seed: self.timeline.seed,
        }
    }

    /// Simulates the next frame. At the end of each of its pieces that is to be written, `moment` is called with the number of
    /// the piece; the last one is the frame's end.
    pub fn advance_frame(
        &mut self,
        observer: &mut dyn Observer,
        mut moment: impl FnMut(&mut Self, u32) -> Result<()>,
    ) -> Result<()> {
        let frame = self.clock.frame + 1;
        let start = self.timeline.time(self.clock.frame);
        let pieces = self.timeline.pieces();
        let outputs = self.timeline.outputs_per_frame.max(1);
        let mut substep = 0;
        let mut unsettled = UnsettledFrame::default();
        let mut lengthened = Lengthened::default();
        let mut now = Moment {
            frame,
            substep,
            iteration: 0,
            time: start,
            step: 0.0,
            count: self.clock.substeps,
            seed: self.timeline.seed,
        };
        self.world.balance()?;
        // What a file, a kernel or a host application has put there since the last frame.
        self.check_finite(&now)?;
        self.run_stages(Stage::of(Pace::Frame, true), &now, observer)?;
        self.look_ahead(&now)?;
        for piece in 0..pieces {
            let at = |piece: u32| {
                start + self.timeline.frame_time() * f64::from(piece) / f64::from(pieces)
            };
            let end = at(piece + 1);
            now.time = at(piece);
            let whole = end - now.time;
            while now.time < end {
                let cfl = self.timeline.cfl();
                let left = end - now.time;
                let Longest { step: longest, asks, of_all } =
                    self.step_within(cfl, [now.time, end])?;
                let enough = self.timeline.short_enough(left, piece, substep);
                now.step = self.timeline.next_step(left, longest.max(enough), &asks)?;
                lengthened.step(now.step, longest, &asks);
                let chosen = Chosen {
                    cfl: cfl * now.step / of_all,
                    // Pieces are divided evenly, so that the last step of one is as short as the others.
                    asked_by: (now.step < whole * (1.0 - 1e-9)).then(|| asks.clone()),
                };
                if substep >= self.timeline.most_substeps().max(pieces) {
                    return Err(SimError::TooManySubsteps {
                        wanted: f64::from(substep) + (end - now.time) / now.step,
                        most: self.timeline.most_substeps(),
                        object: asks,
                        step: now.step,
                    });
                }
                now.substep = substep;
                now.count = self.clock.substeps;
                self.substep(&mut now, chosen, observer)?;
                unsettled.step(self.world.unsettled.take());
                substep += 1;
                self.clock.substeps += 1;
                // The last step of a piece ends where the piece does, whatever the rounding.
                now.time = if now.step >= left { end } else { now.time + now.step };
                if self.world.processes().any(observer.should_stop())? {
                    return Err(SimError::Interrupted);
                }
            }
            if (piece + 1) % (pieces / outputs) == 0 {
                let output = (piece + 1) / (pieces / outputs) - 1;
                if output + 1 < outputs {
                    moment(self, output)?;
                }
            }
        }
        now.substep = substep;
        self.check_finite(&now)?;
        self.run_stages(Stage::of(Pace::Frame, false), &now, observer)?;
        self.solver.forget();
        unsettled.tell(frame);
        lengthened.tell(frame, &self.timeline);
        self.clock.frame = frame;
        moment(self, outputs - 1)
    }

    /// Brings what will bring something up to date where a frame begins: the length of its first step goes by that, and must not depend on whether a run
    /// was resumed here.
    fn look_ahead(&mut self, now: &Moment) -> Result<()> {
        if matches!(self.timeline.substeps, Substeps::Fixed(_)) {
            return Ok(());
        }
        for behavior in 0..self.tree.behaviors.len() {
            let entry = &self.tree.behaviors[behavior];
            if entry.left_out.is_some() || entry.behavior.brings([now.time; 2]).is_none() {
                continue;
            }
            let owner = entry.path.clone();
            let (stage, task) = (Stage::BeginSubstep, "take animated values");
            let place = || Place { now: *now, stage, owner: owner.clone(), task };
            let times = [now.time; 2];
            build::update(&mut self.tree, behavior, &*self.inputs, &mut self.world, times)
                .map_err(|why| why.at(place))?;
        }
        Ok(())
    }

    /// One substep: what comes before the Newton loop, the loop, what comes after.
    fn substep(
        &mut self,
        now: &mut Moment,
        chosen: Chosen,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        self.world.solves.clear();
        self.world.unsettled = None;
        now.iteration = 0;
        self.run_stages(Stage::of(Pace::Substep, true), now, observer)?;
        let newton = self.timeline.newton;
        for iteration in 0..newton.iterations.max(1) {
            now.iteration = iteration as u32;
            self.world.largest_change = 0.0;
            self.world.objects.iter_mut().for_each(|object| object.carried = DVec3::ZERO);
            self.run_stages(Stage::of(Pace::Newton, false), now, observer)?;
            // All processes make as many iterations.
            let change = self.world.processes().all_max_f64(self.world.largest_change)?;
            self.world.largest_change = change;
            if change <= newton.tolerance {
                break;
            }
        }
        // Before anything moves by it: a NaN is then named with its channel.
        self.check_finite(now)?;
        self.run_stages(Stage::of(Pace::Substep, false), now, observer)?;
        observer.substep(&SubstepReport {
            frame: now.frame,
            substep: now.substep,
            step: now.step,
            cfl: chosen.cfl,
            asked_by: chosen.asked_by,
            iterations: now.iteration + 1,
            solves: self.world.solves.clone(),
        });
        Ok(())
    }

    /// Stops at the first number of any channel that is none, with the Task that wrote it last. Collective.
    fn check_finite(&self, now: &Moment) -> Result<()> {
        let found = registry::find_not_finite(&self.world)?;
        let Some((store, channel, why)) = self.culprit(found)? else { return Ok(()) };
        let entries = self.schedule.entries().iter().rev();
        let writes = |entry: &&Entry| {
            entry.declared.access.iter().any(|(key, how)| {
                *how != Use::Read && key.names(&channel) && self.world.label(key.store) == store
            })
        };
        let place = entries.into_iter().find(writes).map_or_else(
            || Place {
                now: *now,
                stage: Stage::EndSubstep,
                owner: store.clone(),
                task: "check for finite values",
            },
            |entry| Place {
                now: *now,
                stage: entry.declared.stage,
                owner: entry.owner.clone(),
                task: entry.declared.name,
            },
        );
        Err(why.at(|| place))
    }

    /// What the first process found that found anything: store, channel and the whole of it. Every process gets it. Collective.
    fn culprit(&self, found: Option<NotFinite>) -> Result<Option<(String, String, SimError)>> {
        let processes = self.world.processes();
        if processes.count() > 1 {
            let said = found.as_ref().map_or_else(String::new, |found| {
                format!("{}\0{}\0{found}", found.store, found.channel)
            });
            let all = processes.all_gather(said.as_bytes())?;
            let first = all.iter().position(|said| !said.is_empty());
            if let Some(process) = first.filter(|&process| process != processes.rank()) {
                let said = String::from_utf8_lossy(&all[process]).into_owned();
                let mut words = said.splitn(3, '\0').map(str::to_owned);
                let mut word = || words.next().unwrap_or_default();
                let (store, channel, why) = (word(), word(), word());
                let why = CoreError::OnProcess { process, count: processes.count(), why };
                return Ok(Some((store, channel, why.into())));
            }
        }
        Ok(found.map(|found| (found.store.clone(), found.channel.clone(), found.into())))
    }

    /// Algorithm 1: for each Stage, for each Group, its Behaviors, or its Objects and Actions.
    fn run_stages(
        &mut self,
        stages: impl Iterator<Item = Stage>,
        now: &Moment,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        for stage in stages {
            if stage.is_user_facing() {
                self.run_behaviors(stage, now, observer)?;
            } else {
                self.run_tasks(stage, now, observer)?;
            }
        }
        Ok(())
    }

    /// At a user-facing Stage: the user's kernels; and when a substep begins, animated values are handed on.
    fn run_behaviors(
        &mut self,
        stage: Stage,
        now: &Moment,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        for kernel in self.kernels.iter_mut().filter(|kernel| kernel.stage == stage) {
            let place =
                || Place { now: *now, stage, owner: "kernel".to_owned(), task: kernel.name };
            let began = Instant::now();
            let _span = tracing::info_span!("kernel", name = kernel.name).entered();
            (kernel.run)(&mut self.world, now).map_err(|why| why.at(place))?;
            observer.task(&place(), began.elapsed());
        }
        if stage != Stage::BeginSubstep {
            return Ok(());
        }
        for behavior in 0..self.tree.behaviors.len() {
            let entry = &self.tree.behaviors[behavior];
            if entry.left_out.is_some() {
                continue;
            }
            let owner = entry.path.clone();
            let place =
                || Place { now: *now, stage, owner: owner.clone(), task: "take animated values" };
            // Values are those at the end of the step, since that is the state that is solved for.
            let times = [now.time, now.time + now.step];
            build::update(&mut self.tree, behavior, &*self.inputs, &mut self.world, times)
                .map_err(|why| why.at(place))?;
        }
        Ok(())
    }

    pub(crate) fn run_tasks(
        &mut self,
        stage: Stage,
        now: &Moment,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        for entry in self.schedule.at(stage) {
            let task = entry.declared.name;
            let place = || Place { now: *now, stage, owner: entry.owner.clone(), task };
            let began = Instant::now();
            let _span = tracing::info_span!("task", name = task, owner = %entry.owner).entered();
            let audit = self.audited.then(|| Audit::take(&self.world)).transpose()?;
            let behavior = &mut self.tree.behaviors[entry.behavior].behavior;
            behavior.workers()[entry.worker]
                .run(entry.task, &mut self.world, now)
                .and_then(|()| match audit {
                    Some(audit) => audit.check(&self.world, &entry.owner, &entry.declared),
                    None => Ok(()),
                })
                .map_err(|why| why.at(place))?;
            observer.task(&place(), began.elapsed());
        }
        if stage == Stage::SolveSolids {
            self.solve_coupled(now, observer)?;
        }
        let begins = stage == Stage::ChoosePoints && now.count == 0;
        if begins && self.world.objects.iter().any(|object| object.begins_at_rest) {
            // Forces where everything begins.
            self.run_tasks(Stage::Embed, now, observer)?;
            self.run_tasks(Stage::ClearForces, now, observer)?;
            self.run_tasks(Stage::AddForces, now, observer)?;
            self.begin_at_rest(now, observer)?;
        }
        Ok(())
    }

    /// The framework's own Task: rest parameters such that Objects begin in balance.
    fn begin_at_rest(&mut self, now: &Moment, observer: &mut dyn Observer) -> Result<()> {
        let mut couplings = Vec::new();
        for entry in &mut self.tree.behaviors {
            couplings.extend(entry.behavior.coupling());
        }
        let task = "find what is at rest here";
        let place = || Place { now: *now, stage: Stage::ChoosePoints, owner: "setup".into(), task };
        let began = Instant::now();
        self.solver
            .begin_at_rest(&mut self.world, &mut couplings, now)
            .map_err(|why| why.at(place))?;
        observer.task(&place(), began.elapsed());
        Ok(())
    }

    /// The framework's own Task: Constraints and Forces of all coupled Objects in one system.
    fn solve_coupled(&mut self, now: &Moment, observer: &mut dyn Observer) -> Result<()> {
        // Whatever goes wrong concerns all Constraints together, so that all are named.
        let mut owners = Vec::new();
        let mut couplings = Vec::new();
        for entry in &mut self.tree.behaviors {
            if let Some(coupling) = entry.behavior.coupling() {
                owners.push(entry.path.as_str());
                couplings.push(coupling);
            }
        }
        if couplings.is_empty() {
            return Ok(());
        }
        let task = "solve the coupled system";
        let stage = Stage::SolveSolids;
        let place = || Place { now: *now, stage, owner: owners.join(", "), task };
        let began = Instant::now();
        let _span = tracing::info_span!("task", name = task).entered();
        self.solver
            .solve(&mut self.world, &mut couplings, &self.timeline.newton, now)
            .map_err(|why| why.at(place))?;
        observer.task(&place(), began.elapsed());
        Ok(())
    }

    /// The longest step that all Objects can take [s], and whose it is.
    pub fn longest_step(&self) -> Result<(f64, String)> {
        let from = self.timeline.time(self.clock.frame);
        let times = [from, from + self.timeline.frame_time() / f64::from(self.timeline.pieces())];
        match self.timeline.substeps {
            Substeps::Adaptive { cfl, .. } | Substeps::Automatic { cfl, .. } => {
                self.step_within(cfl, times).map(|longest| (longest.step, longest.asks))
            }
            Substeps::Fixed(_) => Ok((f64::INFINITY, String::new())),
        }
    }

    /// The longest step in which nothing crosses more than `cfl` voxels; of motions that the scene knows, those between two times
    /// [s] count.
    fn step_within(&self, cfl: f64, times: [f64; 2]) -> Result<Longest> {
        let at_work = self.tree.behaviors.iter().filter(|entry| entry.left_out.is_none());
        let accelerations = at_work.map(|entry| entry.behavior.acceleration());
        let courant = Courant { number: cfl, acceleration: accelerations.sum() };
        let (step, asks) = match self.timeline.substeps {
            Substeps::Fixed(_) => (f64::INFINITY, String::new()),
            _ => stirring::longest_step(&self.world, &*self.inputs, &courant, times)?,
        };
        let mut longest = Longest { step, asks, of_all: step };
        let of_fluids_alone = matches!(self.timeline.substeps, Substeps::Automatic { .. });
        for (path, object) in self.objects() {
            let step = object.longest_step(&self.world, &courant)?;
            longest.of_all = longest.of_all.min(step);
            let counts = !of_fluids_alone || self.world.object(object.id()).offers.fluid.is_some();
            if counts && (step < longest.step || step.is_nan()) {
                (longest.step, longest.asks) = (step, path.to_owned());
            }
        }
        let is_fixed = matches!(self.timeline.substeps, Substeps::Fixed(_));
        let at_work = self.tree.behaviors.iter().filter(|entry| entry.left_out.is_none());
        for entry in at_work.filter(|_| !is_fixed) {
            for (object, speed) in entry.behavior.brings(times).into_iter().flatten() {
                let object = self.world.object(object);
                let voxel = self.world.domains[object.domain].frame().voxel_size(0);
                let step = courant.longest_step(speed, voxel);
                longest.of_all = longest.of_all.min(step);
                let counts = !of_fluids_alone || object.offers.fluid.is_some();
                if counts && step < longest.step {
                    (longest.step, longest.asks) = (step, entry.path.clone());
                }
            }
        }
        // What every process finds is the same where Objects reduce it, as they should; a step that differs would part them.
        longest.step = self.world.processes().all_min_f64(longest.step)?;
        Ok(longest)
    }
}

/// The longest step that may be made.
struct Longest {
    /// [s]
    step: f64,
    /// Whose it is.
    asks: String,
    /// The same for all Objects, where not all of them are asked [s].
    of_all: f64,
}
