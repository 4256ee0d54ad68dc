//! Pictures of a run while it goes on: what they show, when they are drawn, and where they are put.
//!
//! A picture is drawn of the World's own channels before its frame is made whole, so that a whole frame has its picture. Which frames
//! have one depends on their numbers alone. Nothing that fails here ends a run.

pub mod album;
pub mod colours;
pub mod compose;
pub mod container;
pub mod contents;
mod expected;
pub mod frame;
pub mod held;
mod record;

pub use album::{Picture, Summary};
pub use compose::{Moment, Steady};
pub use contents::{ColourBy, Contents};
pub use held::{Held, Wanted};
pub use record::{Record, View};

use crate::cache::FrameId;
use crate::prepare;
use crate::shapes::Shapes;
use std::path::{Path, PathBuf};
use undine_core::mesh::Bounds;
use undine_io::UpAxis;
use undine_render::{Legend, Quality, RenderError, Size, legend};
use undine_scene::{Render, Scene};
use undine_sim::{ObjectId, Simulation};

/// Where pictures lie in a cache.
pub const FOLDER: &str = "pictures";

/// The pictures of a run.
pub struct Preview {
    views: Vec<Viewed>,
    shapes: Shapes,
    /// Where pictures go.
    folder: PathBuf,
    frames: (i64, i64),
    up: UpAxis,
    fps: f64,
    title: String,
}

/// One view of a run.
struct Viewed {
    render: Render,
    /// The Objects to show; all, if `None`.
    of: Option<Vec<ObjectId>>,
    /// The box that all its pictures show, if the first state tells.
    bounds: Option<Bounds>,
    /// Of each collider in turn, whether it is opened: as the first state is seen, in all pictures.
    opened: Vec<bool>,
}

/// Why a picture was not made.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// In the picture, or in its file.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// In what it shows.
    #[error(transparent)]
    Frame(#[from] crate::frames::FrameError),
    /// In the shapes of bodies and colliders.
    #[error(transparent)]
    Sim(#[from] undine_sim::SimError),
    /// In where pictures go.
    #[error(transparent)]
    Cache(#[from] crate::cache::CacheError),
}

impl Preview {
    /// The views of a scene, whose Simulation is at its very beginning; nothing, if it wants no pictures. Collective.
    pub fn of(
        scene: &Scene,
        simulation: &Simulation,
        cache: &Path,
    ) -> Result<Option<Self>, PictureError> {
        let renders = match scene.renders.is_empty() {
            true => vec![Render::default()],
            false => scene.renders.iter().filter(|render| render.enabled).cloned().collect(),
        };
        if renders.is_empty() {
            return Ok(None);
        }
        let settings = &scene.settings;
        let mut preview = Self {
            views: Vec::new(),
            shapes: Shapes::of(simulation)?,
            folder: cache.join(FOLDER),
            frames: (settings.first, settings.last),
            up: settings.up,
            fps: settings.fps,
            title: settings.name.clone(),
        };
        let time = simulation.timeline().time(settings.first);
        let placed = preview.shapes.at(simulation, time)?;
        for render in renders {
            let of = prepare::objects_below(render.of.as_deref(), simulation);
            let wanted = Wanted { by: ColourBy::Nothing, ..Wanted::of(&render) };
            let held = Held::of(simulation, &placed, of.as_deref(), wanted, settings.up)?;
            let contents = held.contents();
            let bounds = expected::expected(scene, simulation, &contents);
            let opened = compose::opened(&contents, &render, bounds, time)?;
            drop(contents);
            drop(held);
            preview.views.push(Viewed { render, of, bounds, opened });
        }
        Ok(Some(preview))
    }

    /// Where pictures go.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Makes the folder, removes pictures of frames after the one that the run goes on from, and keeps there what the views are, for
    /// whoever draws them again.
    pub fn begin(&self, record: &Record, after: Option<i64>) -> Result<(), PictureError> {
        album::make_folder(&self.folder)?;
        let views = self.views.iter().map(|view| view.render.name.as_str());
        album::sweep(&self.folder, &views.collect::<Vec<_>>(), after)?;
        album::sweep_unfinished(&self.folder)?;
        Ok(crate::cache::write_atomically(&self.folder.join(Record::FILE), &record.to_bytes())?)
    }

    /// Whether a view has a picture of a frame.
    fn is_due(&self, render: &Render, frame: i64) -> bool {
        let (first, last) = self.frames;
        frame == last || (frame - first).rem_euclid(render.every.max(1) as i64) == 0
    }

    /// Draws the pictures of a frame that are due. Each that could not be made is told of, and the others are. Collective; the
    /// first process draws.
    pub fn frame(&mut self, simulation: &Simulation, frame: i64) -> Vec<PictureError> {
        let due: Vec<usize> =
            (0..self.views.len()).filter(|&n| self.is_due(&self.views[n].render, frame)).collect();
        if due.is_empty() {
            return Vec::new();
        }
        let timeline = simulation.timeline();
        let moment =
            Moment { frame, time: timeline.time(frame), frame_time: timeline.frame_time() };
        let processes = simulation.world.processes();
        let placed = self.shapes.at(simulation, moment.time);
        // A file may be there for one process and not for another: then none goes on.
        let placed = match (processes.any(placed.is_err()), placed) {
            (Ok(false), Ok(placed)) => placed,
            (Err(why), _) => return vec![undine_sim::SimError::from(why).into()],
            (_, Err(why)) => return vec![why.into()],
            (Ok(true), Ok(_)) => return Vec::new(),
        };
        let is_first = processes.rank() == 0;
        let drawn = due.into_iter().map(|n| {
            let view = &self.views[n];
            let wanted = Wanted::of(&view.render);
            let held = Held::of(simulation, &placed, view.of.as_deref(), wanted, self.up)?;
            if !is_first {
                return Ok(());
            }
            let contents = held.contents();
            let steady = Steady {
                bounds: view.bounds.or_else(|| frame::shown(None, &contents)),
                range: view.render.range.or_else(|| colours::range(&contents, wanted.by)),
                opened: view.opened.clone(),
            };
            let picture = draw(&contents, &view.render, &steady, &moment, &self.title)?;
            picture.write(&self.folder, &view.render, FrameId::whole(frame)).map(|_| ())
        });
        drawn.filter_map(Result::err).collect()
    }

    /// When all frames are there: a sheet of all pictures and an animation for each view, and an MP4 where one is asked for.
    pub fn finish(&self) -> Result<Vec<PathBuf>, PictureError> {
        // A run that was killed here, all its frames done, does nothing but this when it goes on.
        album::make_folder(&self.folder)?;
        album::sweep_unfinished(&self.folder)?;
        let mut made = Vec::new();
        let (first, last) = self.frames;
        for view in self.views.iter().filter(|view| !view.render.exr) {
            let render = &view.render;
            let due = (first..=last).filter(|&frame| self.is_due(render, frame));
            let frames: Vec<FrameId> = due.map(FrameId::whole).collect();
            let summary = Summary {
                folder: &self.folder,
                render,
                title: &self.title,
                fps: self.fps,
                every: render.every,
            };
            made.extend(summary.sheet(&frames)?);
            made.extend(summary.animation(&frames)?);
            if render.movie {
                made.extend(summary.movie(&frames)?);
            }
        }
        Ok(made)
    }
}

/// Draws a picture of what there is; `title` is the name of the scene.
pub fn draw(
    contents: &Contents<'_>,
    render: &Render,
    steady: &Steady,
    moment: &Moment,
    title: &str,
) -> Result<Picture, PictureError> {
    let by = compose::coloured(contents, render)?;
    let shot = compose::shot(contents, render, steady, moment)?;
    let [width, height] = render.size;
    let size = Size::new(width, height)?;
    let image = undine_render::render(&shot, size, Quality { passes: render.samples })?;
    let range = steady.range.filter(|_| contents.has_values());
    let bar = range.map(|range| album::colour_bar(render, by.title(), range)).transpose()?;
    let legend = Legend {
        title: Some(title.to_owned()),
        moment: Some(legend::moment(moment.frame, moment.time)),
        colours: bar,
        metres_per_pixel: None,
    };
    Ok(Picture { image, legend })
}
