//! Reports: what a run did, as plots on a page and as pictures; and two runs beside each other.
//!
//! `stats.jsonl` is read as it is found ([`stats`]), whoever tore it; of its numbers come figures ([`Summary`]) and plots
//! ([`figures()`]); of these a page that needs nothing from elsewhere ([`page()`]), and a PNG of each plot. What a run does not have,
//! such as voxels or solves, is left out.

mod charts;
pub mod figures;
mod page;
pub mod stats;
mod summary;

pub use figures::figures;
pub use page::page;
pub use stats::{Frame, History};
pub use summary::Summary;

use crate::cache::write_atomically;
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use undine_render::plot::{SIZE, Theme, layout, picture};
use undine_render::{RenderError, files};

/// The name of the page.
pub const PAGE: &str = "report.html";
/// The folder of its plots as pictures.
pub const PICTURES: &str = "report";
/// Dots to a unit of a plot in pictures.
const SCALE: f64 = 1.5;

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// There is nothing to report on.
    #[error("{folder} has no statistics of frames (stats.jsonl): is it the cache of a run?", folder = folder.display())]
    NoStatistics {
        /// Where they were looked for.
        folder: PathBuf,
    },
    /// Not one line is that of a frame.
    #[error(
        "{}{} no statistics of a frame, so that there is nothing to report on; a run writes a line for each frame that it makes",
        file.display(),
        match line {
            Some(line) => format!(", line {line}: here and in all other lines there are"),
            None => " is empty: there are".to_owned(),
        }
    )]
    NoFrame {
        /// The file.
        file: PathBuf,
        /// The first line that is none; nothing if there is no line.
        line: Option<usize>,
    },
    /// The statistics cannot be read.
    #[error("{file} could not be read: {source}", file = file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The page could not be written.
    #[error(transparent)]
    Write(#[from] crate::cache::CacheError),
    /// A plot could not be drawn or written.
    #[error(transparent)]
    Picture(#[from] RenderError),
    /// The folder of pictures could not be made.
    #[error("{folder} could not be made: {source}", folder = folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
}

/// What was written.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    /// The page.
    pub page: PathBuf,
    /// The pictures of its plots.
    pub pictures: Vec<PathBuf>,
}

/// Reports on the run whose cache this is, in the cache itself.
pub fn write_into_cache(cache: &Path) -> Result<Written, ReportError> {
    let history = History::read(cache)?;
    write(&[history], &cache.join(PAGE), &cache.join(PICTURES))
}

/// Reports on one run, or on two beside each other: the page, and a picture of each plot into a folder.
pub fn write(runs: &[History], page_file: &Path, pictures: &Path) -> Result<Written, ReportError> {
    let figures = figures(runs);
    write_atomically(page_file, page(runs, &figures).as_bytes())?;
    let folder = |source| ReportError::Folder { folder: pictures.to_owned(), source };
    std::fs::create_dir_all(pictures).map_err(folder)?;
    let drawn: Vec<Result<PathBuf, ReportError>> = figures
        .par_iter()
        .map(|figure| {
            let display = picture(&layout(figure, SIZE), SCALE, Theme::Light)?;
            let path = pictures.join(format!("{}.png", figure.name));
            files::write(&path, &files::png::encoded(&display, &[("Title", &figure.title)])?)?;
            Ok(path)
        })
        .collect();
    let pictures = drawn.into_iter().collect::<Result<_, _>>()?;
    Ok(Written { page: page_file.to_owned(), pictures })
}
