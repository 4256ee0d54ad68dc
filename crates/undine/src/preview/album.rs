//! Pictures as files: each frame's own, one sheet of all, and an animation.

use super::PictureError;
use crate::cache::FrameId;
use std::path::{Path, PathBuf};
use undine_core::glam::Vec3;
use undine_render::files::{self, exr, mp4, png, webp};
use undine_render::{
    Background, ColourBar, ColourMap, Display, Image, Legend, RenderError, Sheet, SheetFrame,
    exposed,
};
use undine_scene::Render;

/// An animation of few pictures of a run stays on each of them longer than the run does [per second].
const FEWEST_PER_SECOND: f64 = 4.0;

/// An animation holds at most so many pictures, which browsers still play; of more, every second or third is taken.
const MOST_IN_ANIMATION: usize = 480;

/// A picture that was drawn, and what is to be written on it.
#[derive(Debug)]
pub struct Picture {
    /// The picture.
    pub image: Image,
    /// What is written on it.
    pub legend: Legend,
}

/// What the colours of a picture mean: a name with its unit, and the numbers at both ends.
pub fn colour_bar(
    render: &Render,
    (name, unit): (String, String),
    [low, high]: [f32; 2],
) -> Result<ColourBar, RenderError> {
    let map = ColourMap::named(&render.map)?;
    Ok(ColourBar { map, low: low.into(), high: high.into(), name, unit })
}

/// Makes a folder for pictures.
pub fn make_folder(folder: &Path) -> Result<(), RenderError> {
    std::fs::create_dir_all(folder).map_err(|source| RenderError::Disk {
        file: folder.to_owned(),
        doing: "made",
        source,
    })
}

/// Removes pictures of some views, of frames after one or of all: those of a run that was thrown away are not mixed with its own.
pub fn sweep(folder: &Path, views: &[&str], after: Option<i64>) -> Result<(), RenderError> {
    let is_later = |name: &str| {
        let (rest, extension) = name.rsplit_once('.')?;
        let (view, number) = rest.rsplit_once('.')?;
        let frame: i64 = number.parse().ok()?;
        let is_ours = ["png", "exr"].contains(&extension) && views.contains(&view);
        (is_ours && after.is_none_or(|after| frame > after)).then_some(())
    };
    remove_files(folder, |name| is_later(name).is_some())
}

/// Removes what a run that was killed had begun to write: it is never finished.
pub fn sweep_unfinished(folder: &Path) -> Result<(), RenderError> {
    remove_files(folder, |name| name.starts_with('.') && name.ends_with(".partial"))
}

/// Removes files of some names.
fn remove_files(folder: &Path, which: impl Fn(&str) -> bool) -> Result<(), RenderError> {
    let failed = |doing, file: &Path| {
        let file = file.to_owned();
        move |source| RenderError::Disk { file, doing, source }
    };
    for entry in std::fs::read_dir(folder).map_err(failed("read", folder))? {
        let path = entry.map_err(failed("read", folder))?.path();
        if which(&path.file_name().unwrap_or_default().to_string_lossy()) {
            std::fs::remove_file(&path).map_err(failed("removed", &path))?;
        }
    }
    Ok(())
}

/// Where the picture of a frame lies.
pub fn file(folder: &Path, render: &Render, frame: FrameId) -> PathBuf {
    let extension = if render.exr { "exr" } else { "png" };
    folder.join(format!("{}.{frame}.{extension}", render.name))
}

impl Picture {
    /// As it is looked at.
    pub fn display(&self, render: &Render) -> Result<Display, RenderError> {
        let display = exposed(&self.image, 0.0, Background::Light(Vec3::ZERO));
        if render.legend { self.legend.on(&display) } else { Ok(display) }
    }

    /// Writes its file, whole or not at all.
    pub fn write(
        &self,
        folder: &Path,
        render: &Render,
        frame: FrameId,
    ) -> Result<PathBuf, PictureError> {
        let path = file(folder, render, frame);
        let number = frame.to_string();
        let mut notes = vec![("frame", number.as_str())];
        notes.extend(self.legend.title.as_deref().map(|title| ("scene", title)));
        let bytes = match render.exr {
            true => exr::encoded(&self.image, exr::Precision::Half, &notes)?,
            false => png::encoded(&self.display(render)?, &notes)?,
        };
        files::write(&path, &bytes)?;
        Ok(path)
    }
}

/// What is made of all pictures of a view, beside them.
#[derive(Debug, Clone, Copy)]
pub struct Summary<'a> {
    /// Where the pictures lie.
    pub folder: &'a Path,
    /// The view.
    pub render: &'a Render,
    /// The name of the scene.
    pub title: &'a str,
    /// Frames of the scene per second.
    pub fps: f64,
    /// From a picture to the next \[frames\].
    pub every: usize,
}

impl Summary<'_> {
    /// The pictures that there are, of these frames.
    fn pictures(&self, frames: &[FrameId]) -> Vec<(FrameId, PathBuf)> {
        let file = |&frame: &FrameId| (frame, file(self.folder, self.render, frame));
        frames.iter().map(file).filter(|(_, path)| path.is_file()).collect()
    }

    fn beside(&self, plain: &str, other: &str) -> PathBuf {
        self.folder.join(match self.render.name.as_str() {
            "preview" => plain.to_owned(),
            name => format!("{name}{other}"),
        })
    }

    /// One picture of all; nothing, if there are none.
    pub fn sheet(&self, frames: &[FrameId]) -> Result<Option<PathBuf>, PictureError> {
        let there = self.pictures(frames);
        if there.is_empty() {
            return Ok(None);
        }
        let note = format!(
            "{} pictures, frames {} to {}",
            there.len(),
            there[0].0,
            there[there.len() - 1].0
        );
        let sheet = Sheet { title: self.title.to_owned(), note, ..Sheet::default() };
        let shown = sheet.chosen(there.len()).into_iter().map(|n| {
            let (frame, path) = &there[n];
            Ok(SheetFrame { label: frame.to_string(), display: read(path)? })
        });
        let shown = shown.collect::<Result<Vec<_>, PictureError>>()?;
        let display = sheet.of(&shown)?;
        let path = self.beside("sheet.png", "-sheet.png");
        files::write(&path, &png::encoded(&display, &[("scene", self.title)])?)?;
        Ok(Some(path))
    }

    /// How many pictures are shown in a second.
    fn rate(&self, step: usize) -> f64 {
        (self.fps / (self.every.max(1) * step) as f64).clamp(FEWEST_PER_SECOND, 1000.0)
    }

    /// An animation of all; nothing, unless there are several.
    pub fn animation(&self, frames: &[FrameId]) -> Result<Option<PathBuf>, PictureError> {
        let there = self.pictures(frames);
        let step = there.len().div_ceil(MOST_IN_ANIMATION).max(1);
        let [first, _, ..] = &there[..] else { return Ok(None) };
        let mut animation = webp::Animation::new(read(&first.1)?.size, self.rate(step))?;
        let size = read(&first.1)?.size;
        for (_, path) in there.iter().step_by(step) {
            let display = read(path)?;
            // One of another size is left from before the scene asked for this one.
            if display.size == size {
                animation.push(&display)?;
            }
        }
        let path = self.beside("preview.webp", ".webp");
        files::write(&path, &animation.finished()?)?;
        Ok(Some(path))
    }

    /// An MP4 of all, where `ffmpeg` is installed; nothing, unless there are several.
    pub fn movie(&self, frames: &[FrameId]) -> Result<Option<PathBuf>, PictureError> {
        let there = self.pictures(frames);
        let (Some(ffmpeg), [first, _, ..]) = (mp4::ffmpeg(), &there[..]) else { return Ok(None) };
        let size = read(&first.1)?.size;
        let path = self.beside("preview.mp4", ".mp4");
        let mut film = mp4::Film::begin(&ffmpeg, &path, size, self.rate(1))?;
        for (_, picture) in &there {
            let display = read(picture)?;
            if display.size == size {
                film.push(&display)?;
            }
        }
        film.finish()?;
        Ok(Some(path))
    }
}

fn read(path: &Path) -> Result<Display, RenderError> {
    Ok(png::decoded(&files::read(path)?, path)?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_that_came_later_and_those_that_were_never_finished_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let kept = ["preview.0003.png", "side.0009.png", "preview.webp", "notes.partial"];
        let gone = ["preview.0004.png", ".preview.0001.png.7511.partial", ".sheet.png.7.partial"];
        for name in kept.iter().chain(&gone) {
            std::fs::write(folder.path().join(name), b"x").unwrap();
        }
        sweep(folder.path(), &["preview"], Some(3)).unwrap();
        sweep_unfinished(folder.path()).unwrap();
        assert!(kept.iter().all(|name| folder.path().join(name).is_file()));
        assert!(!gone.iter().any(|name| folder.path().join(name).exists()));
    }
}
