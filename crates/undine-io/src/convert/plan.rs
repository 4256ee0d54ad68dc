//! Which files become which.

use super::no_conversion;
use crate::error::Result;
use crate::format::Format;
use crate::pattern::Pattern;
use crate::usd;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A file to convert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Its frame, in a sequence or a scene.
    pub frame: Option<i64>,
    /// The file to read.
    pub from: PathBuf,
    /// The file to write.
    pub to: PathBuf,
    /// What formats that name their meshes call it: the same in all frames.
    pub name: String,
    /// Whether the file to read is a scene of all frames.
    pub of_scene: bool,
}

/// More frames than these in one scene are a slip of the hand.
const MOST_FRAMES: i64 = 1_000_000;

/// What there is to do from a file to a file, or from a pattern to a pattern, for all frames there are or those from first to last.
/// Of a scene that is one file, every whole frame that it is meant for, or from the first to the last time it says something of.
pub fn plan(from: &Pattern, to: &Pattern, frames: Option<(i64, i64)>) -> Result<Vec<Job>> {
    let formats = [from, to].map(|pattern| Format::of(&pattern.file(0)));
    let [read, written] = formats;
    let read = read?;
    super::check(&from.path(), read, &to.path(), written?)?;
    let is_scene = !from.is_numbered() && matches!(read, Format::Usda | Format::Usdc | Format::Usd);
    let job = |frame| Job {
        frame: Some(frame),
        from: from.file(frame),
        to: to.file(frame),
        name: to.stem(),
        of_scene: is_scene,
    };
    let refused = |why: &str| no_conversion(&from.path(), &to.path(), why);
    let many_to_one =
        "many files would become one; number the second name, too, as in out.####.ply";
    let jobs: Vec<Job> = if from.is_numbered() {
        let is_wanted =
            |frame: &i64| frames.is_none_or(|(first, last)| (first..=last).contains(frame));
        let found = from.frames()?;
        let jobs: Vec<Job> =
            found.iter().filter(|frame| is_wanted(frame)).map(|&f| job(f)).collect();
        if let ([], Some(&some)) = (&jobs[..], found.first()) {
            return Err(refused(&format!("none of these frames is there; {some} is")));
        }
        if jobs.is_empty() {
            // Names the file that is not there.
            from.find(frames.map_or(1, |(first, _)| first))?;
        }
        jobs
    } else if is_scene && (frames.is_some() || to.is_numbered()) {
        let span = match frames {
            Some(frames) => Some(frames),
            None => frames_of_scene(&from.file(0))?,
        };
        let Some((first, last)) = span else {
            return Err(refused(
                "nothing in it moves, so there is one frame; write the second name out",
            ));
        };
        if last.saturating_sub(first) >= MOST_FRAMES {
            let why = format!("it has frames from {first} to {last}; choose some by --frames");
            return Err(refused(&why));
        }
        (first..=last).map(job).collect()
    } else if to.is_numbered() {
        return Err(refused("one file would become many; write the second name out"));
    } else if frames.is_some() {
        return Err(refused("frames can be chosen of a sequence or of a scene; this is one file"));
    } else {
        vec![Job { frame: None, of_scene: false, ..job(0) }]
    };
    if !to.is_numbered() && jobs.len() > 1 {
        return Err(refused(many_to_one));
    }
    let inputs: BTreeSet<PathBuf> = jobs.iter().map(|job| canonical(&job.from)).collect();
    if let Some(job) = jobs.iter().find(|job| inputs.contains(&canonical(&job.to))) {
        let why = "it would be written over a file that is read; give it another name";
        return Err(no_conversion(&job.from, &job.to, why));
    }
    Ok(jobs)
}

/// The first and the last whole frame of a scene: as it says, or of what moves in it; `None` if nothing does.
fn frames_of_scene(file: &Path) -> Result<Option<(i64, i64)>> {
    let scene = usd::Scene::open(file)?;
    let (first, last) = match scene.range() {
        Some(range) => range,
        None => match scene.time_samples()?[..] {
            [] => return Ok(None),
            [time] => (time, time),
            [first, .., last] => (first, last),
        },
    };
    let (first, last) = (first.ceil() as i64, last.floor() as i64);
    Ok((first <= last).then_some((first, last)))
}

/// A file's name without links, so that two names of one file are the same.
fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).canonicalize().unwrap_or_default();
        folder.join(path.file_name().unwrap_or_default())
    })
}
