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
    if let Some(out) = &arguments.out
        && let Some(right) = named_right(out)
    {
        let out = out.display();
        eprintln!("error: --out {out} is no name of a page, which ends with .html: --out {right}");
        return ExitCode::BadScene;
    }
    let working = Working::begin("reading and drawing", false);
    let mut runs = Vec::new();
    for path in std::iter::once(&arguments.run).chain(&arguments.other) {
        let folder = match cache_of(path) {
            Ok(folder) => folder,
            Err(code) => return code,
        };
        match History::read(&folder).and_then(History::with_frames) {
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

/// What a page should be called, where the name that was asked for would make it none.
fn named_right(out: &Path) -> Option<String> {
    let is_page = |ending: &str| ["html", "htm"].iter().any(|one| ending.eq_ignore_ascii_case(one));
    if out.is_dir() {
        return Some(out.join(PAGE).display().to_string());
    }
    let is_right = out.extension().and_then(|ending| ending.to_str()).is_some_and(is_page);
    (!is_right).then(|| format!("{}.html", out.display()))
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
