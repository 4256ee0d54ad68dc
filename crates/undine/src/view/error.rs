//! What can be wrong with what somebody wants to see, with what would be right.

use crate::cache::CacheError;
use crate::preview::PictureError;
use crate::run::ExitCode;
use undine_io::IoError;
use undine_render::RenderError;
use undine_scene::Report;
use undine_scene::graph::Fault;

/// Why nothing can be shown.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// What was named is nothing that can be shown.
    #[error("{what}: {why}")]
    Nothing {
        /// What was named.
        what: String,
        /// Why not, and what would be.
        why: String,
    },
    /// There is no such frame.
    #[error("{what} has no frame {asked}: {there}")]
    Frame {
        /// What was named.
        what: String,
        /// The frames that were asked for.
        asked: String,
        /// Which there are.
        there: String,
    },
    /// A scene cannot be read.
    #[error("the scene cannot be read")]
    Scene(Report),
    /// In a file.
    #[error(transparent)]
    Io(#[from] IoError),
    /// In a level set.
    #[error(transparent)]
    Fault(Box<Fault>),
    /// In a cache.
    #[error(transparent)]
    Cache(Box<CacheError>),
    /// In a picture.
    #[error(transparent)]
    Picture(Box<PictureError>),
}

impl ViewError {
    /// What a shell is told.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Nothing { .. } | Self::Frame { .. } | Self::Scene(_) => ExitCode::BadScene,
            Self::Io(why) => match why {
                IoError::Read { .. } | IoError::Write(_) | IoError::WriteFile { .. } => {
                    ExitCode::Disk
                }
                why if why.is_damage() => ExitCode::Disk,
                IoError::UnknownFormat { .. }
                | IoError::NotReadable { .. }
                | IoError::BadPattern { .. }
                | IoError::MissingFrame { .. } => ExitCode::BadScene,
                _ => ExitCode::Failed,
            },
            Self::Cache(why) if why.is_disk() => ExitCode::Disk,
            Self::Picture(why) => match &**why {
                PictureError::Render(RenderError::Disk { .. }) => ExitCode::Disk,
                PictureError::Render(
                    RenderError::Asked { .. }
                    | RenderError::Size { .. }
                    | RenderError::TooMany { .. },
                ) => ExitCode::BadScene,
                _ => ExitCode::Failed,
            },
            _ => ExitCode::Failed,
        }
    }
}

impl From<Fault> for ViewError {
    fn from(why: Fault) -> Self {
        Self::Fault(Box::new(why))
    }
}

impl From<CacheError> for ViewError {
    fn from(why: CacheError) -> Self {
        Self::Cache(Box::new(why))
    }
}

impl From<PictureError> for ViewError {
    fn from(why: PictureError) -> Self {
        Self::Picture(Box::new(why))
    }
}

impl From<RenderError> for ViewError {
    fn from(why: RenderError) -> Self {
        PictureError::from(why).into()
    }
}
