//! Reading a scene as the command line names it.

use crate::arguments::SceneArguments;
use crate::width;
use std::path::PathBuf;
use undine::{ExitCode, catalogue, prepare};
use undine_scene::{Diagnostic, Place, Report, Scene, Source};

/// The scene with what the command line changes in it; errors are printed.
pub fn load(arguments: &SceneArguments) -> Result<Scene, ExitCode> {
    read(arguments).map_err(|report| {
        eprint!("{}", report.render(width()));
        ExitCode::BadScene
    })
}

/// The same, with errors for whoever prints them.
pub fn read(arguments: &SceneArguments) -> Result<Scene, Report> {
    let path = file(&arguments.scene);
    let mut scene = Scene::load(&path, &catalogue(), &arguments.set)?;
    if let Some(frames) = &arguments.frames {
        scene.settings.end_at(frames).map_err(|help| {
            let source = Source::new("--frames", frames);
            let place = Place { source, span: 0..frames.len() };
            let mut report = Report::default();
            report.add(Diagnostic::error(&place, "the run cannot make these frames").help(help));
            report
        })?;
    }
    if let Some(quality) = arguments.quality {
        prepare::scale_resolution(&mut scene, quality);
    }
    Ok(scene)
}

/// A folder stands for the `scene.kdl` in it.
pub fn file(path: &std::path::Path) -> PathBuf {
    if path.is_dir() { path.join("scene.kdl") } else { path.to_owned() }
}
