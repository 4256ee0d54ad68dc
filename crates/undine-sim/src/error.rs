//! What can go wrong in a simulation, and where it did.

use crate::stage::Stage;
use crate::task::{Moment, Use};
use std::fmt::{self, Display};

/// A result of the pipeline.
pub type Result<T, E = SimError> = std::result::Result<T, E>;

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// In a store or kernel.
    #[error(transparent)]
    Core(#[from] undine_core::CoreError),
    /// In a shape, mesh or level set.
    #[error(transparent)]
    Geometry(#[from] undine_geometry::GeometryError),
    /// In a linear system.
    #[error(transparent)]
    Solve(#[from] undine_linsolve::SolveError),
    /// In the coupled system of a Newton iteration.
    #[error(transparent)]
    Newton(#[from] crate::newton::NewtonError),
    /// A Behavior cannot do with what the scene says.
    #[error("{path}: {what}{}{help}", if help.is_empty() { "" } else { "; " })]
    BadSetup {
        /// The Behavior, or its parameter: `wind/inflow.velocity`.
        path: String,
        /// What is wrong.
        what: String,
        /// What would be right.
        help: String,
    },
    /// What the scene asks for does not fit into memory.
    #[error("{path}: {what}{}{help}", if help.is_empty() { "" } else { "; " })]
    NoRoom {
        /// The Behavior, or its parameter: `water.voxel`.
        path: String,
        /// How much it is.
        what: String,
        /// What would fit.
        help: String,
    },
    /// Code asks for a parameter that its declaration does not have.
    #[error(
        "`{behavior}` has no parameter `{parameter}` of this type: its declaration and its code disagree"
    )]
    Undeclared {
        /// The Behavior.
        behavior: &'static str,
        /// What was asked for.
        parameter: String,
    },
    /// Two Tasks of one Stage touch a channel that one of them writes.
    #[error(
        "at Stage {stage}, Task \"{}\" of {} {} channel {channel}, and Task \"{}\" of {} {} it; one of them belongs at another Stage",
        tasks[0].1, tasks[0].0, verb(tasks[0].2), tasks[1].1, tasks[1].0, verb(tasks[1].2)
    )]
    Conflict {
        /// The Stage.
        stage: Stage,
        /// The channel.
        channel: String,
        /// Owner, Task, and how it uses the channel, of both.
        tasks: Box<[(String, &'static str, Use); 2]>,
    },
    /// A Task at a Stage where only Behaviors run.
    #[error(
        "Task \"{task}\" of {owner} is at Stage {stage}, which is for Behaviors; give it a developer-facing Stage"
    )]
    UserFacing {
        /// Whose it is.
        owner: String,
        /// The Task.
        task: &'static str,
        /// The Stage.
        stage: Stage,
    },
    /// A Task changed a channel that it does not declare to change.
    #[error(
        "Task \"{task}\" of {owner} changed channel {channel}, which it declares neither to write nor to add to"
    )]
    Trespass {
        /// Whose it is.
        owner: String,
        /// The Task.
        task: &'static str,
        /// The channel.
        channel: String,
    },
    /// A number in a channel is infinite or none at all.
    #[error(transparent)]
    NotFinite(#[from] crate::registry::NotFinite),
    /// More substeps than the setup allows.
    #[error(
        "a frame would take {wanted:.0} substeps, and {most} are allowed: {object} asks for steps of {step:.3e} s; raise max-substeps if that is meant, or look for something small or fast in it"
    )]
    TooManySubsteps {
        /// How many there would be.
        wanted: f64,
        /// How many may be.
        most: u32,
        /// Who asks for short steps.
        object: String,
        /// The step asked for [s].
        step: f64,
    },
    /// A solve did not reach its tolerance.
    #[error("{system} did not converge: {report}")]
    NotConverged {
        /// Which system.
        system: String,
        /// How it went.
        report: String,
    },
    /// A Task was asked to stop between substeps.
    #[error("interrupted")]
    Interrupted,
    /// Something went wrong in a Task.
    #[error("{place}: {source}")]
    At {
        /// When and where.
        place: Box<Place>,
        /// What.
        #[source]
        source: Box<SimError>,
    },
}

/// When and where something went wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// When.
    pub now: Moment,
    /// At which Stage.
    pub stage: Stage,
    /// Whose Task, as a path in the setup.
    pub owner: String,
    /// Which Task.
    pub task: &'static str,
}

impl Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Moment { frame, substep, iteration, .. } = self.now;
        write!(
            f,
            "{}, \"{}\" at Stage {}, frame {frame}, substep {substep}",
            self.owner, self.task, self.stage
        )?;
        if iteration > 0 {
            write!(f, ", iteration {iteration}")?;
        }
        Ok(())
    }
}

impl SimError {
    /// A Behavior cannot do with what the scene says.
    pub fn setup(
        path: impl Into<String>,
        what: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self::BadSetup { path: path.into(), what: what.into(), help: help.into() }
    }

    /// What a part of the setup asks for does not fit into memory.
    pub fn no_room(path: impl Into<String>, why: undine_core::CoreError) -> Self {
        Self::NoRoom { path: path.into(), what: why.to_string(), help: String::new() }
    }

    /// It, told of another path if it is told of one: that of whoever the scene names, made of the one before.
    pub fn told_of(self, place: impl FnOnce(&str) -> String) -> Self {
        match self {
            Self::BadSetup { path, what, help } => {
                Self::BadSetup { path: place(&path), what, help }
            }
            Self::NoRoom { path, what, help } => Self::NoRoom { path: place(&path), what, help },
            other => other,
        }
    }

    /// It, as an error of the setup of this Behavior; one that names its place stays what it is, and one of memory is still one of memory.
    pub fn of_setup(self, path: &str) -> Self {
        match self {
            Self::BadSetup { .. } | Self::NoRoom { .. } => self,
            Self::Conflict { .. } | Self::UserFacing { .. } => self,
            Self::Core(why @ undine_core::CoreError::OverBudget { .. }) => Self::no_room(path, why),
            other => Self::setup(path, other.to_string(), ""),
        }
    }

    /// It, with the place where it happened; an error that has a place keeps it.
    pub fn at(self, place: impl FnOnce() -> Place) -> Self {
        match self {
            Self::At { .. } | Self::Interrupted => self,
            other => Self::At { place: Box::new(place()), source: Box::new(other) },
        }
    }

    /// What went wrong, without the place.
    pub fn cause(&self) -> &Self {
        match self {
            Self::At { source, .. } => source.cause(),
            other => other,
        }
    }
}

fn verb(how: Use) -> &'static str {
    match how {
        Use::Read => "reads",
        Use::Accumulate => "adds to",
        Use::Write => "writes",
    }
}
