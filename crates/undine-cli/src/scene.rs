//! Reading a scene as the command line names it.

use crate::arguments::SceneArguments;
use crate::width;
use std::path::PathBuf;
use undine::{ExitCode, catalogue, prepare};
use undine_scene::Scene;

/// The scene with what the command line changes in it; errors are printed.
pub fn load(arguments: &SceneArguments) -> Result<Scene, ExitCode> {
    let path = file(&arguments.scene);
    let mut overrides = arguments.set.clone();
    if let Some(frames) = &arguments.frames {
        overrides.push(("setup.frames".to_owned(), frames.clone()));
    }
    match Scene::load(&path, &catalogue(), &overrides) {
        Ok(mut scene) => {
            if let Some(quality) = arguments.quality {
                prepare::scale_resolution(&mut scene, quality);
            }
            Ok(scene)
        }
        Err(report) => {
            eprint!("{}", report.render(width()));
            Err(ExitCode::BadScene)
        }
    }
}

/// A folder stands for the `scene.kdl` in it.
pub fn file(path: &std::path::Path) -> PathBuf {
    if path.is_dir() { path.join("scene.kdl") } else { path.to_owned() }
}
