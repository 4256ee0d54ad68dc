//! `undine report`: what a run did, as a page with plots and in a few lines; or two runs beside each other.

use crate::arguments::Report;
use crate::progress::Working;
use crate::{complain, print, scene, whole, width};
use std::path::{Path, PathBuf};
use undine::report::{self, History, PAGE, PICTURES, ReportError, Summary};
use undine::run::cache_folder;
use undine::{ExitCode, catalogue};
use undine_scene::Scene;

/// Writes a report, and says where it is.
pub fn report(arguments: &Report) -> ExitCode {
    let working = Working::begin("reading and drawing", false);
    let mut runs = Vec::new();
    for path in std::iter::once(&arguments.run).chain(&arguments.other) {
        let folder = match cache_of(path) {
            Ok(folder) => folder,
            Err(code) => return code,
        };
        match History::read(&folder) {
            Ok(history) => runs.push(history),
            Err(why) => return refused(&why),
        }
    }
    // Two runs of one scene are told apart by where they are.
    if let [a, b] = &mut runs[..]
        && a.label == b.label
    {
        a.label = arguments.run.display().to_string();
        b.label = arguments.other.as_ref().map_or(String::new(), |path| path.display().to_string());
    }
    let (page, pictures) = places(arguments, &runs[0].folder);
    let written = match report::write(&runs, &page, &pictures) {
        Ok(written) => written,
        Err(why) => return refused(&why),
    };
    working.end();
    let mut text = String::new();
    for run in &runs {
        text += &format!("{}\n", run.label);
        for (name, value) in Summary::of(run).lines() {
            text += &format!("  {name:<20}{value}\n");
        }
    }
    text += &format!("wrote {}\n", whole(&written.page));
    text += &format!("and {} plots in {}\n", written.pictures.len(), whole(&pictures));
    print(&text)
}

/// Where the page goes, and the pictures of its plots.
fn places(arguments: &Report, cache: &Path) -> (PathBuf, PathBuf) {
    match (&arguments.out, &arguments.other) {
        (Some(out), _) => (out.clone(), out.with_extension("plots")),
        (None, Some(_)) => ("comparison.html".into(), "comparison".into()),
        (None, None) => (cache.join(PAGE), cache.join(PICTURES)),
    }
}

/// A cache is itself; of a scene, the folder that its frames go to is meant.
fn cache_of(path: &Path) -> Result<PathBuf, ExitCode> {
    let is_scene = path.is_file() || path.join("scene.kdl").is_file();
    if path.join("stats.jsonl").is_file() || !is_scene {
        return Ok(path.to_owned());
    }
    folder_of(path)
}

/// The folder that the frames of a scene go to.
pub fn folder_of(path: &Path) -> Result<PathBuf, ExitCode> {
    match Scene::load(&scene::file(path), &catalogue(), &[]) {
        Ok(scene) => Ok(cache_folder(&scene)),
        Err(report) => {
            eprint!("{}", report.render(width()));
            Err(ExitCode::BadScene)
        }
    }
}

fn refused(why: &ReportError) -> ExitCode {
    complain(&why);
    match why {
        ReportError::NoStatistics { .. } => ExitCode::BadScene,
        ReportError::Picture(_) => ExitCode::Failed,
        _ => ExitCode::Disk,
    }
}
