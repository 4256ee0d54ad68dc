//! What somebody wants to see: which frames it has, and where they lie.

use super::error::ViewError;
use super::loaded::Loaded;
use crate::behaviors::catalogue;
use crate::cache::read_manifest;
use crate::prepare;
use crate::preview::{FOLDER, Record};
use crate::run::cache_folder;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use undine_io::usd::{self, geometry::identifier};
use undine_io::{FileMetadata, Format, IoError, Pattern, UpAxis};
use undine_scene::{Render, Scene};
use undine_vdb::{Class, File};

/// A cache has at most so many outputs whose shapes are looked for.
const MOST_OUTPUTS: usize = 64;

/// Something to see.
#[derive(Debug)]
pub struct Source {
    /// As it was named.
    pub what: String,
    /// What pictures are titled.
    pub title: String,
    /// The frames there are, ascending.
    pub frames: Vec<i64>,
    /// Frames per second.
    pub fps: f64,
    /// From a frame to the next [s].
    pub frame_time: f64,
    /// The frame at time 0.
    pub first: i64,
    /// Where pictures of it go, unless somewhere else is asked for.
    pub folder: PathBuf,
    up: UpAxis,
    record: Option<Record>,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// The files of each frame, and the scene over them.
    Cache { files: BTreeMap<i64, Vec<PathBuf>>, stage: Option<PathBuf> },
    /// A file for each frame.
    Sequence(Pattern),
    /// A USD scene that moves.
    Scene(PathBuf),
    /// One file that does not.
    One(PathBuf),
}

/// Some of the frames: from one to another, every so many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frames {
    /// The first.
    pub first: i64,
    /// The last.
    pub last: i64,
    /// From one to the next.
    pub step: u64,
}

impl Frames {
    /// Whether a frame is among them.
    pub fn has(&self, frame: i64) -> bool {
        (self.first..=self.last).contains(&frame)
            && frame.abs_diff(self.first).is_multiple_of(self.step.max(1))
    }
}

impl Source {
    /// Finds out what somebody means: a cache, a scene, a file, or a sequence such as `splash.####.ply`.
    pub fn open(what: &str) -> Result<Self, ViewError> {
        let path = Path::new(what);
        let is_scene = path.extension().is_some_and(|extension| extension == "kdl");
        if path.is_dir() {
            if read_manifest(path)?.is_some() {
                return Self::of_cache(what, path);
            }
            if path.join("scene.kdl").is_file() {
                return Self::of_scene(what, &path.join("scene.kdl"));
            }
            let why = "it is neither a cache, with a manifest.json, nor the folder of a scene, with a scene.kdl";
            return Err(ViewError::Nothing { what: what.to_owned(), why: why.to_owned() });
        }
        if is_scene && path.is_file() {
            return Self::of_scene(what, path);
        }
        // A file may be called like a pattern, odd as it is.
        let pattern = Pattern::new(what, Path::new(""))?;
        if !path.is_file() && pattern.is_numbered() {
            return Self::of_sequence(what, pattern);
        }
        Self::of_file(what, path)
    }

    fn of_scene(what: &str, path: &Path) -> Result<Self, ViewError> {
        let scene = Scene::load(path, &catalogue(), &[]).map_err(ViewError::Scene)?;
        let cache = cache_folder(&scene);
        if !cache.is_dir() || read_manifest(&cache)?.is_none() {
            let cache = cache.display();
            let why = format!("no frames are in {cache} yet; make them with `undine run {what}`");
            return Err(ViewError::Nothing { what: what.to_owned(), why });
        }
        let mut source = Self::of_cache(what, &cache)?;
        // What the scene says now holds, whenever the frames were made.
        source.record = Some(Record::of(&scene, source.frame_time));
        Ok(source)
    }

    fn of_cache(what: &str, folder: &Path) -> Result<Self, ViewError> {
        let manifest = read_manifest(folder)?;
        let mut files: BTreeMap<i64, Vec<PathBuf>> = BTreeMap::new();
        for entry in manifest.iter().flat_map(|manifest| &manifest.frames) {
            if entry.frame.is_whole() {
                let shown = entry.files.iter().map(|file| folder.join(&file.name));
                files.insert(entry.frame.frame(), shown.collect());
            }
        }
        let frames: Vec<i64> = files.keys().copied().collect();
        if frames.is_empty() {
            let why = "the cache has no whole frame yet".to_owned();
            return Err(ViewError::Nothing { what: what.to_owned(), why });
        }
        let stage = stage(folder);
        let record = Record::read(folder);
        let said = stage.as_deref().and_then(|stage| usd::Scene::open(stage).ok());
        let fps = said.as_ref().map_or(24.0, usd::Scene::time_codes_per_second);
        let up = match said {
            Some(scene) if scene.is_z_up() => UpAxis::Z,
            _ => UpAxis::Y,
        };
        let stem = stage.as_deref().and_then(Path::file_stem);
        let named = stem.or(folder.file_name()).map(|name| name.to_string_lossy().into_owned());
        let (fps, frame_time) = match &record {
            Some(record) => (record.fps, record.frame_time),
            None => (fps, 1.0 / fps),
        };
        Ok(Self {
            what: what.to_owned(),
            title: named.unwrap_or_else(|| what.to_owned()),
            fps,
            frame_time,
            first: record.as_ref().map_or(frames[0], |record| record.first),
            folder: folder.join(FOLDER),
            up: record.as_ref().map_or(up, |record| record.up),
            frames,
            record,
            kind: Kind::Cache { files, stage },
        })
    }

    fn of_sequence(what: &str, pattern: Pattern) -> Result<Self, ViewError> {
        let frames = pattern.frames()?;
        let Some(&first) = frames.first() else {
            // Says which file is not there.
            pattern.find(1)?;
            let why = "no file of this pattern exists".to_owned();
            return Err(ViewError::Nothing { what: what.to_owned(), why });
        };
        let said = said_of(&pattern.file(first));
        let (fps, title) = (said.fps.unwrap_or(24.0), pattern.stem());
        Ok(Self::of_files(what, title, frames, fps, said.up, Kind::Sequence(pattern)))
    }

    fn of_file(what: &str, path: &Path) -> Result<Self, ViewError> {
        let format = Format::of(path)?;
        if !path.is_file() {
            let source = std::io::ErrorKind::NotFound.into();
            return Err(IoError::Read { file: path.to_owned(), source }.into());
        }
        let title = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let title = title.unwrap_or_else(|| what.to_owned());
        if matches!(format, Format::Usd | Format::Usda | Format::Usdc) {
            let scene = usd::Scene::open(path)?;
            let times = scene.time_samples()?;
            let mut frames: Vec<i64> = times.iter().map(|time| time.round() as i64).collect();
            frames.dedup();
            let fps = scene.time_codes_per_second();
            if frames.len() > 1 {
                let kind = Kind::Scene(path.to_owned());
                return Ok(Self::of_files(what, title, frames, fps, UpAxis::Y, kind));
            }
        }
        let said = said_of(path);
        let frames = vec![said.frame.unwrap_or(1)];
        let fps = said.fps.unwrap_or(24.0);
        Ok(Self::of_files(what, title, frames, fps, said.up, Kind::One(path.to_owned())))
    }

    fn of_files(
        what: &str,
        title: String,
        frames: Vec<i64>,
        fps: f64,
        up: UpAxis,
        kind: Kind,
    ) -> Self {
        let fps = if fps.is_finite() && fps > 0.0 { fps } else { 24.0 };
        Self {
            what: what.to_owned(),
            title,
            first: frames.first().copied().unwrap_or(1),
            frames,
            fps,
            frame_time: 1.0 / fps,
            folder: PathBuf::from(FOLDER),
            up,
            record: None,
            kind,
        }
    }

    /// How the scene wants it shown: the view of a name, or the first; the default, if it says nothing.
    pub fn render(&self, view: Option<&str>) -> Result<Render, ViewError> {
        let views = self.record.iter().flat_map(|record| &record.views);
        let mut chosen = views.clone().filter(|one| view.is_none_or(|view| one.name == view));
        let name = match &self.kind {
            Kind::Cache { .. } => "render".to_owned(),
            _ => plain(&self.title),
        };
        let wrong = |why: String| ViewError::Nothing { what: self.what.clone(), why };
        let render = match (chosen.next(), view) {
            (Some(found), _) => Render::new(&found.name, found.set.clone()),
            (None, None) => return Ok(Render { name, ..Render::default() }),
            (None, Some(view)) => {
                let names = views.map(|view| view.name.as_str());
                let help = undine_scene::catalogue::suggestion(view, names, "its views are");
                return Err(wrong(format!("it has no view `{view}`; {help}")));
            }
        };
        let render = render.map_err(|fault| wrong(fault.what))?;
        Ok(if view.is_some() { render } else { Render { name, ..render } })
    }

    /// The frames that were asked for and are there; all, if none were asked for.
    pub fn chosen(&self, asked: Option<Frames>) -> Result<Vec<i64>, ViewError> {
        let Some(asked) = asked else { return Ok(self.frames.clone()) };
        let found: Vec<i64> =
            self.frames.iter().copied().filter(|&frame| asked.has(frame)).collect();
        if found.is_empty() {
            let Frames { first, last, .. } = asked;
            let asked = if first == last { first.to_string() } else { format!("{first}-{last}") };
            let there = in_words(&self.frames);
            return Err(ViewError::Frame { what: self.what.clone(), asked, there });
        }
        Ok(found)
    }

    /// A frame in memory; of a cache, liquids by their surfaces, or else by their particles, where it has both.
    pub fn load(&self, frame: i64, surfaces: bool) -> Result<Loaded, ViewError> {
        let mut loaded = Loaded::new(self.up);
        match &self.kind {
            Kind::Cache { files, stage } => {
                if surfaces {
                    loaded = loaded.of_liquids();
                }
                if let Some(stage) = stage {
                    add_shapes(&mut loaded, stage, frame);
                }
                let files = files.get(&frame).map(Vec::as_slice).unwrap_or_default();
                let left_out = |file: &PathBuf| match surfaces {
                    true => has_skin(file, files) || is_particles_of_grid(file, files),
                    false => is_skin(file, files) || is_grid_of_particles(file, files),
                };
                for file in files.iter().filter(|file| !is_shapes(file)) {
                    if !loaded.shows_bodies_of(file) && !left_out(file) {
                        loaded.add_file(file, None)?;
                    }
                }
            }
            Kind::Sequence(pattern) => loaded.add_file(&pattern.find(frame)?, None)?,
            Kind::Scene(file) => loaded.add_file(file, Some(frame as f64))?,
            Kind::One(file) => loaded.add_file(file, None)?,
        }
        Ok(loaded)
    }
}

/// What a file of a frame is called before its number.
fn stem(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    name.split_once('.').map(|(stem, _)| stem.to_owned()).unwrap_or_default()
}

/// Whether a file has the mesh of particles that are among these files, too.
fn is_skin(file: &Path, files: &[PathBuf]) -> bool {
    let own = stem(file);
    files.iter().any(|other| prepare::is_skin_of(&own, &stem(other)))
}

/// Whether a mesh of what a file has is among these files, too.
fn has_skin(file: &Path, files: &[PathBuf]) -> bool {
    let own = stem(file);
    files.iter().any(|other| prepare::is_skin_of(&stem(other), &own))
}

/// Whether a file has the grid of an Object whose particles are among these files, too.
fn is_grid_of_particles(file: &Path, files: &[PathBuf]) -> bool {
    let own = stem(file);
    own.strip_suffix("-grid").is_some_and(|of| files.iter().any(|file| stem(file) == of))
}

/// Whether a file has the particles of an Object whose surface is among these files, too.
fn is_particles_of_grid(file: &Path, files: &[PathBuf]) -> bool {
    let grid = format!("{}-grid", stem(file));
    let is_surface = |file: &PathBuf| {
        let grids = File::open(file).map(|file| file.grids().to_vec()).unwrap_or_default();
        grids.iter().any(|grid| grid.class == Class::LevelSet)
    };
    files.iter().any(|file| stem(file) == grid && is_surface(file))
}

/// Adds what the stage has of colliders and bodies. A picture without them is better than none.
fn add_shapes(loaded: &mut Loaded, stage: &Path, frame: i64) {
    let root = stage.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let root = root.unwrap_or_default();
    for n in 0..MOST_OUTPUTS {
        let name = if n == 0 { "shapes".to_owned() } else { format!("shapes-{n}") };
        let prim = format!("/{root}/{}", identifier(&name));
        if loaded.add_shapes(stage, &prim, frame as f64).is_err() {
            return;
        }
    }
}

/// The scene over a cache.
fn stage(folder: &Path) -> Option<PathBuf> {
    let names = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    let is_stage = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(".usda") && !name.ends_with(".clips.usda")
    };
    let mut found: Vec<PathBuf> = names.filter(is_stage).collect();
    found.sort();
    found.into_iter().next()
}

/// Whether a file of a frame says where shapes are: the stage knows what they look like.
fn is_shapes(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("shapes") && name.ends_with(".usdc")
}

/// What a volume's file says of itself; all else is turned when it is read.
fn said_of(file: &Path) -> FileMetadata {
    match Format::of(file) {
        Ok(Format::Vdb) => File::open(file)
            .map_or_else(|_| FileMetadata::default(), |file| FileMetadata::of_vdb(file.metadata())),
        _ => FileMetadata::default(),
    }
}

/// A name for pictures, of letters, digits and hyphens.
fn plain(title: &str) -> String {
    let letter = |c: char| if c.is_alphanumeric() || c == '_' { c } else { '-' };
    let name: String = title.chars().take(40).map(letter).collect();
    if name.is_empty() { "picture".to_owned() } else { name }
}

/// `there are frames 1 to 96`.
fn in_words(frames: &[i64]) -> String {
    match frames {
        [] => "there are none".to_owned(),
        [only] => format!("there is frame {only}"),
        [first, .., last] => {
            let is_dense = last.abs_diff(*first) + 1 == frames.len() as u64;
            let gaps = if is_dense { "" } else { ", not each of them" };
            format!("there are frames {first} to {last}{gaps}")
        }
    }
}
