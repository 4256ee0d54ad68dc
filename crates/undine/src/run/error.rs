//! Why a run ended before its last frame, and what to tell the shell.

use crate::cache::CacheError;
use crate::frames::FrameError;
use undine_core::CoreError;
use undine_scene::{Report, Scene};
use undine_sim::SimError;
use undine_sim::checkpoint::CheckpointError;

/// Why a run ended.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The scene is not one that can run.
    #[error("the scene cannot run")]
    Scene(Report),
    /// It stopped while simulating.
    #[error("{source}")]
    Stopped {
        /// Why.
        #[source]
        source: Box<SimError>,
        /// The last frame that is whole, if there is one.
        whole: Option<i64>,
    },
    /// The cache cannot be used.
    #[error(transparent)]
    Cache(Box<CacheError>),
    /// A frame could not be written.
    #[error(transparent)]
    Frame(Box<FrameError>),
    /// A checkpoint could not be written or read.
    #[error(transparent)]
    Checkpoint(Box<CheckpointError>),
    /// It was asked to redo what it does not make.
    #[error("--from {from}: the run makes frames {first} to {last}; nothing was changed")]
    NoSuchFrame {
        /// The frame to begin with.
        from: i64,
        /// The first frame of the run.
        first: i64,
        /// The last frame of the run.
        last: i64,
    },
    /// It was asked to end.
    #[error("interrupted")]
    Interrupted {
        /// The last frame that is whole, if there is one.
        whole: Option<i64>,
    },
}

/// What a shell or a farm is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitCode {
    /// Everything was done.
    Done = 0,
    /// Something else went wrong.
    Failed = 1,
    /// The scene, or how it was called, is wrong.
    BadScene = 2,
    /// The simulation went astray.
    Diverged = 3,
    /// Memory did not suffice.
    OutOfMemory = 4,
    /// The disk did not take or give what it should.
    Disk = 5,
    /// It was asked to end.
    Interrupted = 130,
}

impl RunError {
    /// An error of set-up, pointing at the line of the scene it is about.
    pub fn setup(scene: &Scene, why: SimError) -> Self {
        match why.cause() {
            SimError::BadSetup { path, what, help } => {
                let mut report = Report::default();
                report.add(scene.diagnose(path, what.clone(), help.clone()));
                Self::Scene(report)
            }
            SimError::Conflict { channel, tasks, .. } => {
                let [(first, ..), (second, ..)] = &**tasks;
                let what =
                    format!("`{first}` and `{second}` both change `{channel}` at the same moment");
                let help =
                    "keep one of them, or move one into a Group where the other does not reach";
                let mut report = Report::default();
                report.add(scene.diagnose(second, what, help));
                Self::Scene(report)
            }
            _ => Self::stopped(why),
        }
    }

    /// It stopped while simulating.
    pub fn stopped(why: SimError) -> Self {
        Self::Stopped { source: Box::new(why), whole: None }
    }

    /// What a shell is told.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Scene(_) | Self::NoSuchFrame { .. } => ExitCode::BadScene,
            Self::Interrupted { .. } => ExitCode::Interrupted,
            Self::Cache(why) if why.is_disk() => ExitCode::Disk,
            Self::Cache(_) => ExitCode::BadScene,
            Self::Checkpoint(_) => ExitCode::Disk,
            Self::Frame(why) => match &**why {
                FrameError::Cache(why) if why.is_disk() => ExitCode::Disk,
                FrameError::Core(why) => of_core(why),
                FrameError::Io(_) => ExitCode::Disk,
                FrameError::Shapes(_) | FrameError::Cache(_) => ExitCode::Failed,
            },
            Self::Stopped { source, .. } => match source.cause() {
                SimError::Core(why) => of_core(why),
                SimError::TooLarge(_) => ExitCode::OutOfMemory,
                SimError::BadSetup { .. }
                | SimError::Conflict { .. }
                | SimError::UserFacing { .. } => ExitCode::BadScene,
                SimError::Interrupted => ExitCode::Interrupted,
                _ => ExitCode::Diverged,
            },
        }
    }
}

impl From<CacheError> for RunError {
    fn from(why: CacheError) -> Self {
        Self::Cache(Box::new(why))
    }
}

impl From<FrameError> for RunError {
    fn from(why: FrameError) -> Self {
        Self::Frame(Box::new(why))
    }
}

impl From<CheckpointError> for RunError {
    fn from(why: CheckpointError) -> Self {
        Self::Checkpoint(Box::new(why))
    }
}

fn of_core(why: &CoreError) -> ExitCode {
    match why {
        CoreError::OverBudget { .. } => ExitCode::OutOfMemory,
        _ => ExitCode::Diverged,
    }
}
