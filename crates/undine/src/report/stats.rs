//! What a run told of its frames, read from its cache as it is found: lines may be torn, fields missing, numbers none.

use super::ReportError;
use crate::run::About;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Longer lines are none of ours, and are dropped [bytes].
const LONGEST: u64 = 16 << 20;
/// Longer names are shortened [signs].
const LONGEST_NAME: usize = 80;
/// No run of ours names more Stages, systems or Tasks; the rest is not told apart.
const MOST_NAMES: usize = 500;
/// Larger descriptions of a run, and larger pictures, are not read [bytes].
const LARGEST: u64 = 16 << 20;

/// What a run was like.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// Where it was read from.
    pub folder: PathBuf,
    /// What it is called among others.
    pub label: String,
    /// Which scene ran where, as far as was told.
    pub about: About,
    /// What each frame was like, by its number.
    pub frames: BTreeMap<i64, Frame>,
    /// How long each Task took in all frames [s], by Stage, owner and name.
    pub tasks: BTreeMap<(String, String, String), f64>,
    /// How many lines could not be read.
    pub unreadable: usize,
    /// The first of them, counted from 1.
    pub first_unreadable: Option<usize>,
    /// The contact sheet of its pictures, as a PNG.
    pub sheet: Option<Vec<u8>>,
}

/// What a frame was like. What was not told is NaN.
#[derive(Debug, Clone)]
pub struct Frame {
    /// How long it took [s].
    pub seconds: f64,
    /// Particles.
    pub particles: f64,
    /// Points of bodies.
    pub points: f64,
    /// Voxels.
    pub voxels: f64,
    /// Buckets.
    pub buckets: f64,
    /// Substeps.
    pub substeps: f64,
    /// Newton iterations of all substeps.
    pub newton: f64,
    /// What channels take [bytes].
    pub memory: f64,
    /// The most that the process has had [bytes].
    pub process_memory: f64,
    /// Mass [kg].
    pub mass: f64,
    /// Momentum [kg m/s].
    pub momentum: [f64; 3],
    /// Kinetic energy [J].
    pub kinetic_energy: f64,
    /// Energy of places [J].
    pub potential_energy: f64,
    /// The largest Courant number.
    pub cfl: f64,
    /// The shortest substep [s].
    pub shortest_step: f64,
    /// The longest substep [s].
    pub longest_step: f64,
    /// How long files took [s].
    pub writing: f64,
    /// How long pictures took [s].
    pub pictures: f64,
    /// How long each Stage took [s].
    pub stages: BTreeMap<String, f64>,
    /// How the solves of each system went.
    pub solves: BTreeMap<String, Solves>,
}

/// How the solves of a system went, in one frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Solves {
    /// Iterations of all of them.
    pub iterations: f64,
    /// The worst residual of any.
    pub residual: f64,
    /// What was asked for.
    pub tolerance: f64,
    /// How many did not get there.
    pub failed: usize,
}

impl History {
    /// Reads what is told of the run whose cache this is.
    pub fn read(folder: &Path) -> Result<Self, ReportError> {
        let file = folder.join("stats.jsonl");
        let failed = |source| ReportError::Read { file: file.clone(), source };
        let mut reader = match File::open(&file) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(ReportError::NoStatistics { folder: folder.to_owned() });
            }
            opened => BufReader::new(opened.map_err(failed)?),
        };
        let mut history = Self { folder: folder.to_owned(), ..Self::default() };
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            if (&mut reader).take(LONGEST).read_until(b'\n', &mut line).map_err(failed)? == 0 {
                break;
            }
            // What follows of a line that is too long is none either.
            if !history.take_line(&line) {
                history.unreadable += 1;
                history.first_unreadable.get_or_insert(number);
            }
        }
        history.about = About::read(folder);
        history.sheet = read_small(&folder.join("pictures/sheet.png"))
            .filter(|bytes| bytes.starts_with(b"\x89PNG\r\n\x1a\n"));
        history.label = history.about.scene.clone().unwrap_or_else(|| name_of(folder));
        Ok(history)
    }

    /// Refuses a run of which not one frame is known, whatever lines there are.
    pub fn with_frames(self) -> Result<Self, ReportError> {
        match self.frames.is_empty() {
            true => Err(ReportError::NoFrame {
                file: self.folder.join("stats.jsonl"),
                line: self.first_unreadable,
            }),
            false => Ok(self),
        }
    }

    /// Takes up a line; whether it is none, or one of ours.
    fn take_line(&mut self, line: &[u8]) -> bool {
        if line.iter().all(u8::is_ascii_whitespace) {
            return true;
        }
        let value: Value = serde_json::from_slice(line).unwrap_or_default();
        let Some(number) = value["frame"].as_i64() else { return false };
        for task in value["tasks"].as_array().into_iter().flatten() {
            let [stage, owner, name] = ["stage", "owner", "task"].map(|key| word(&task[key]));
            let key = (stage, owner, name);
            let took = seconds(&task["seconds"]);
            if took.is_finite() && (self.tasks.len() < MOST_NAMES || self.tasks.contains_key(&key))
            {
                *self.tasks.entry(key).or_default() += took;
            }
        }
        // A frame that was made again counts as it was made last.
        self.frames.insert(number, Frame::of(&value));
        true
    }

    /// A value of each frame, with gaps where frames are missing.
    pub fn points(&self, value: impl Fn(&Frame) -> f64) -> Vec<[f64; 2]> {
        let mut points: Vec<[f64; 2]> = Vec::with_capacity(self.frames.len());
        let mut before: Option<i64> = None;
        for (number, frame) in &self.frames {
            if before.is_some_and(|before| before.checked_add(1) != Some(*number)) {
                points.push([*number as f64 - 0.5, f64::NAN]);
            }
            before = Some(*number);
            points.push([*number as f64, value(frame)]);
        }
        points
    }
}

impl Frame {
    fn of(value: &Value) -> Self {
        let number = |key: &str| value[key].as_f64().unwrap_or(f64::NAN);
        let momentum = |n: usize| value["momentum"][n].as_f64().unwrap_or(f64::NAN);
        let stages = value["stages"].as_object().into_iter().flatten().take(MOST_NAMES);
        let mut solves: BTreeMap<String, Solves> = BTreeMap::new();
        for solve in value["solves"].as_array().into_iter().flatten() {
            let system = word(&solve["system"]);
            if solves.len() >= MOST_NAMES && !solves.contains_key(&system) {
                continue;
            }
            let none =
                Solves { iterations: 0.0, residual: f64::NAN, tolerance: f64::NAN, failed: 0 };
            let of = solves.entry(system).or_insert(none);
            of.iterations += solve["iterations"].as_f64().unwrap_or(0.0);
            of.residual = of.residual.max(solve["residual"].as_f64().unwrap_or(f64::NAN));
            of.tolerance = of.tolerance.min(solve["tolerance"].as_f64().unwrap_or(f64::NAN));
            of.failed += usize::from(solve["converged"].as_bool() == Some(false));
        }
        Self {
            seconds: seconds(&value["seconds"]),
            particles: number("particles"),
            points: number("points"),
            voxels: number("voxels"),
            buckets: number("buckets"),
            substeps: number("substeps"),
            newton: number("newton"),
            memory: number("memory"),
            process_memory: number("process_memory"),
            mass: number("mass"),
            momentum: [momentum(0), momentum(1), momentum(2)],
            kinetic_energy: number("kinetic_energy"),
            potential_energy: number("potential_energy"),
            cfl: number("cfl"),
            shortest_step: number("shortest_step"),
            longest_step: number("longest_step"),
            writing: seconds(&value["writing"]),
            pictures: seconds(&value["pictures"]),
            stages: stages.map(|(name, took)| (shortened(name), seconds(took))).collect(),
            solves,
        }
    }

    /// A value, unless the frame is the initial state, in which nothing was stepped.
    pub fn where_stepped(&self, value: f64) -> f64 {
        if self.substeps > 0.0 { value } else { f64::NAN }
    }

    /// Kinetic energy and that of places [J]; the former alone where no more was told.
    pub fn energy(&self) -> f64 {
        let place = self.potential_energy;
        self.kinetic_energy + if place.is_finite() { place } else { 0.0 }
    }
}

/// A time; negative ones are none.
fn seconds(value: &Value) -> f64 {
    value.as_f64().filter(|seconds| *seconds >= 0.0).unwrap_or(f64::NAN)
}

fn word(value: &Value) -> String {
    shortened(value.as_str().unwrap_or("?"))
}

fn shortened(name: &str) -> String {
    name.chars().take(LONGEST_NAME).collect()
}

/// `bouncing-balls`, also for the cache in it.
fn name_of(folder: &Path) -> String {
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let whole = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let own = name(&whole).unwrap_or_default();
    match whole.parent().and_then(name) {
        Some(parent) if own == "cache" => parent,
        _ => own,
    }
}

fn read_small(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(LARGEST + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= LARGEST).then_some(bytes)
}
