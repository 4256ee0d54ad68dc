//! Pictures of what lies on the disk: a cache, a scene's cache, a file, or a sequence of files.
//!
//! [`Source`] says what there is and which frames it has, [`Loaded`] is one frame of it in memory, and [`Session`] draws frames
//! from a camera that stands still over all of them. [`compare()`] draws the same frame of two sources.

mod compare;
mod error;
mod loaded;
mod pieces;
mod source;

pub use compare::{Comparison, Distances, compare};
pub use error::ViewError;
pub use loaded::Loaded;
pub use source::{Frames, Source};

use crate::cache::FrameId;
use crate::preview::{
    ColourBy, Contents, Moment, Picture, PictureError, Steady, Summary, album, colours, compose,
    draw, frame,
};
use std::path::{Path, PathBuf};
use undine_core::mesh::Bounds;
use undine_scene::Render;

/// Who listens to pictures being made.
pub trait Watcher {
    /// So many steps are ahead.
    fn begins(&mut self, _steps: usize) {}

    /// One of them is done.
    fn step(&mut self) {}

    /// Something that a person should know.
    fn note(&mut self, _note: &str) {}

    /// Whether to end before the next picture.
    fn should_stop(&self) -> bool {
        false
    }
}

/// Listens to nothing.
impl Watcher for () {}

/// Pictures of some frames, from one camera and with one range of colours.
pub struct Session<'a> {
    /// What is shown.
    pub source: &'a Source,
    /// How.
    pub render: Render,
    /// What is the same in all of them.
    pub steady: Steady,
}

/// What a session made.
#[derive(Debug, Default)]
pub struct Made {
    /// The pictures.
    pub pictures: Vec<PathBuf>,
    /// What was made of all of them.
    pub sums: Vec<PathBuf>,
    /// Whether somebody asked to end before all were made.
    pub stopped: bool,
}

impl<'a> Session<'a> {
    /// Looks at all frames once, so that the camera and the colours are the same in all; nothing, if somebody asked to end.
    pub fn begin(
        source: &'a Source,
        render: Render,
        frames: &[i64],
        watcher: &mut dyn Watcher,
    ) -> Result<Option<Self>, ViewError> {
        watcher.begins(2 * frames.len());
        let mut steady = Steady { range: render.range, ..Steady::default() };
        for &frame in frames {
            if watcher.should_stop() {
                return Ok(None);
            }
            let loaded = source.load(frame, render.water)?;
            steady = joined(steady, look(&loaded.contents(by(&render)), &render));
            watcher.step();
        }
        if let Some(&first) = frames.first() {
            let loaded = source.load(first, render.water)?;
            let contents = loaded.contents(by(&render));
            let time = source.moment(first).time;
            steady.opened = compose::opened(&contents, &render, steady.bounds, time)
                .map_err(PictureError::from)?;
        }
        if steady.bounds.is_none() {
            watcher.note("there is nothing to see: the pictures are empty");
        }
        Ok(Some(Self { source, render, steady }))
    }

    /// Draws a frame.
    pub fn picture(&self, frame: i64) -> Result<Picture, ViewError> {
        let loaded = self.source.load(frame, self.render.water)?;
        let contents = loaded.contents(by(&self.render));
        let moment = self.source.moment(frame);
        Ok(draw(&contents, &self.render, &self.steady, &moment, &self.source.title)?)
    }

    /// Draws frames into a folder, each whole or not at all; then one sheet of all, and an animation, where they are asked for.
    pub fn write(
        &self,
        frames: &[i64],
        folder: &Path,
        (sheet, animate): (bool, bool),
        watcher: &mut dyn Watcher,
    ) -> Result<Made, ViewError> {
        album::make_folder(folder)?;
        let mut made = Made::default();
        for &frame in frames {
            if watcher.should_stop() {
                made.stopped = true;
                return Ok(made);
            }
            let picture = self.picture(frame)?;
            made.pictures.push(picture.write(folder, &self.render, FrameId::whole(frame))?);
            watcher.step();
        }
        if self.render.exr && (sheet || animate || self.render.movie) {
            watcher.note("sheets and animations are made of PNG: leave `format` away");
            return Ok(made);
        }
        let ids: Vec<FrameId> = frames.iter().copied().map(FrameId::whole).collect();
        let every = match frames {
            [first, second, ..] => usize::try_from(second - first).unwrap_or(1),
            _ => 1,
        };
        let summary = Summary {
            folder,
            render: &self.render,
            title: &self.source.title,
            fps: self.source.fps,
            every,
        };
        if sheet {
            made.sums.extend(summary.sheet(&ids)?);
        }
        if animate {
            made.sums.extend(summary.animation(&ids)?);
        }
        if self.render.movie {
            made.sums.extend(summary.movie(&ids)?);
        }
        Ok(made)
    }
}

impl Source {
    /// When a frame is.
    fn moment(&self, frame: i64) -> Moment {
        let time = (frame - self.first) as f64 * self.frame_time;
        Moment { frame, time, frame_time: self.frame_time }
    }
}

fn by(render: &Render) -> ColourBy<'_> {
    ColourBy::of(render.color_by.as_deref())
}

/// What a frame alone would be shown by.
fn look(contents: &Contents<'_>, render: &Render) -> Steady {
    let range = render.range.or_else(|| colours::range(contents, by(render)));
    let bounds = frame::shown(contents.subject_bounds(), contents);
    Steady { bounds, range, ..Steady::default() }
}

/// What holds both.
fn joined(one: Steady, other: Steady) -> Steady {
    let both = |a: Option<Bounds>, b: Option<Bounds>| match (a, b) {
        (Some(a), Some(b)) => Some(a.union(b)),
        (a, b) => a.or(b),
    };
    let range = match (one.range, other.range) {
        (Some(a), Some(b)) => Some([a[0].min(b[0]), a[1].max(b[1])]),
        (a, b) => a.or(b),
    };
    Steady { bounds: both(one.bounds, other.bounds), range, ..one }
}
