//! A Task: one computational kernel at one Stage, with the channels it declares to read, write and accumulate.

use crate::error::Result;
use crate::stage::Stage;
use crate::world::{ChannelKey, World};
use std::any::Any;

/// When and where in time a Task runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    /// The frame that is being made.
    pub frame: i64,
    /// The substep within the frame, from 0.
    pub substep: u32,
    /// The Newton iteration within the substep, from 0.
    pub iteration: u32,
    /// The time at which the substep begins [s].
    pub time: f64,
    /// How long the substep is [s].
    pub step: f64,
    /// How many substeps were made before, in all frames: with a seed and an id it makes random numbers.
    pub count: u64,
    /// The seed of the run's random numbers.
    pub seed: u64,
}

/// How a Task uses a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Use {
    /// Only looks at it.
    Read,
    /// Adds to it, or takes from it: sums, or whole particles. Several may, one after the other in the order of evaluation, and
    /// nobody else looks at it meanwhile.
    Accumulate,
    /// Changes it.
    Write,
}

impl Use {
    /// Whether two Tasks of one Stage may use one channel like this.
    pub fn goes_with(self, other: Self) -> bool {
        self == other && self != Self::Write
    }
}

/// What a Task declares, apart from what it computes.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// A phrase that a person would say; the same in log, trace, statistics and schedule.
    pub name: &'static str,
    /// When it runs.
    pub stage: Stage,
    /// Which channels it uses, and how.
    pub access: Vec<(ChannelKey, Use)>,
    /// How far it looks: what it costs when data is spread over processes.
    pub reach: Reach,
}

/// How far a Task looks beyond what it writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reach {
    /// Buckets and their neighbours: free on any number of processes.
    #[default]
    Local,
    /// Anywhere: every process fetches what it needs from every other one, once in each run of the Task.
    Everywhere,
}

/// The body of a Task.
pub type Run<T> = fn(&mut T, &mut World, &Moment) -> Result<()>;

/// The Tasks of an Object or Action, listed in the order of a step.
pub struct Tasks<T: ?Sized> {
    pub(crate) list: Vec<(Task, Run<T>)>,
}

impl<T: 'static> Tasks<T> {
    pub(crate) fn new() -> Self {
        Self { list: Vec::new() }
    }

    /// Adds a Task at a developer-facing Stage.
    pub fn task(&mut self, stage: Stage, name: &'static str, run: Run<T>) -> Declared<'_> {
        let task = Task { name, stage, access: Vec::new(), reach: Reach::Local };
        self.list.push((task, run));
        let last = self.list.len() - 1;
        Declared { task: &mut self.list[last].0 }
    }
}

/// A Task whose channels are being declared.
pub struct Declared<'a> {
    task: &'a mut Task,
}

impl Declared<'_> {
    /// Looks at these channels.
    pub fn reads(self, keys: impl IntoIterator<Item = ChannelKey>) -> Self {
        self.uses(Use::Read, keys)
    }

    /// Changes these channels, and may look at them.
    pub fn writes(self, keys: impl IntoIterator<Item = ChannelKey>) -> Self {
        self.uses(Use::Write, keys)
    }

    /// Adds to these channels.
    pub fn accumulates(self, keys: impl IntoIterator<Item = ChannelKey>) -> Self {
        self.uses(Use::Accumulate, keys)
    }

    /// Looks further than neighbouring Buckets; `undine explain` states what that costs.
    pub fn reaches_everywhere(self) -> Self {
        self.task.reach = Reach::Everywhere;
        self
    }

    fn uses(self, how: Use, keys: impl IntoIterator<Item = ChannelKey>) -> Self {
        self.task.access.extend(keys.into_iter().map(|key| (key, how)));
        self
    }
}

/// Something with Tasks, whose type the scheduler does not know.
pub trait Worker: Send {
    /// Its Tasks, in order.
    fn tasks(&self) -> &[Task];

    /// Runs the Task at this place of the list.
    fn run(&mut self, task: usize, world: &mut World, now: &Moment) -> Result<()>;

    /// It, as what it is.
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

/// An Object or Action with its Tasks.
pub(crate) struct Hosted<T> {
    pub it: T,
    tasks: Vec<Task>,
    runs: Vec<Run<T>>,
}

impl<T: Send + 'static> Hosted<T> {
    /// Before its Tasks are known.
    pub fn new(it: T) -> Self {
        Self { it, tasks: Vec::new(), runs: Vec::new() }
    }

    /// Takes its Tasks, in the order in which it lists them.
    pub fn host(&mut self, list: impl FnOnce(&T, &mut Tasks<T>)) {
        let mut tasks = Tasks::new();
        list(&self.it, &mut tasks);
        (self.tasks, self.runs) = tasks.list.into_iter().unzip();
    }
}

impl<T: Send + 'static> Worker for Hosted<T> {
    fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    fn run(&mut self, task: usize, world: &mut World, now: &Moment) -> Result<()> {
        self.runs[task](&mut self.it, world, now)
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        &mut self.it
    }
}
