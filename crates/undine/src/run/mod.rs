//! A run: frame after frame of a scene into its cache, from where the last run ended.
//!
//! It may be one of several processes that make the run together: then all simulate, each its part, and the first alone has to do
//! with the cache, pictures, statistics and report, for which the others give it what they have.

mod about;
mod error;
mod listener;
mod pictures;
mod strays;
mod warned;

pub use about::{ABOUT, About, end_at_once, peak_memory};
pub use error::{ExitCode, RunError};
pub use listener::{FrameReport, Listener};
pub use warned::Told;

use crate::cache::{Cache, CheckpointEntry, Choice, FrameId, Keep, Lines, Start};
use crate::frames::{self, FrameError, ShapesFile, StageFile};
use crate::{advice, prepare, report};
use pictures::Pictures;
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use undine_core::memory::{MemoryBudget, in_words};
use undine_core::process::{Processes, Single};
use undine_scene::Scene;
use undine_sim::checkpoint::{self, CheckpointError, Identity, State};
use undine_sim::error::Place;
use undine_sim::report::{Observer, SubstepReport};
use undine_sim::simulation::Clock;
use undine_sim::{SimError, Simulation};
use warned::{Warned, in_one_line};

/// The name of the file of what a run says.
const LOG: &str = "log.txt";

/// How a run goes.
#[derive(Debug, Clone)]
pub struct Options {
    /// What to do with what is in the cache.
    pub choice: Choice,
    /// What all channels together may take.
    pub budget: MemoryBudget,
    /// Who makes the run together.
    pub processes: Arc<dyn Processes>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            choice: Choice::default(),
            budget: MemoryBudget::unlimited(),
            processes: Arc::new(Single),
        }
    }
}

/// Where a scene's frames go.
pub fn cache_folder(scene: &Scene) -> PathBuf {
    scene.folder.join(scene.outputs.first().map_or("cache", |output| &output.dir))
}

/// Makes all frames of a scene that are not there yet. The last frame that is whole; nothing on others than the first process.
/// Collective.
pub fn run(
    scene: &Scene,
    options: &Options,
    listener: &mut dyn Listener,
) -> Result<Option<i64>, RunError> {
    let first = scene.settings.first;
    let last = scene.settings.last;
    // Before anything is thrown away.
    if let Some(from) = options.choice.from.filter(|from| !(first..=last).contains(from)) {
        return Err(RunError::NoSuchFrame { from, first, last });
    }
    let folder = cache_folder(scene);
    let whole = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let keep = Keep {
        every: whole(scene.settings.checkpoint_every.unwrap_or(usize::MAX)),
        last: whole(scene.settings.checkpoint_keep.unwrap_or(usize::MAX)),
    };
    let record = prepare::record(scene)?;
    let identity =
        Identity { build: env!("CARGO_PKG_VERSION").to_owned(), scene: record.fingerprint() };
    let processes = &options.processes;
    let mut simulation = prepare::distributed(scene, options.budget.clone(), processes.clone())?;
    let is_first = processes.rank() == 0;
    // Before the state of a checkpoint is taken: what is said once must not depend on it.
    let shapes = is_first.then(|| frames::ShapesFile::of(scene, &simulation)).transpose()?;
    let mut pictures = Pictures::of(scene, &simulation, &folder);
    let opened = match is_first {
        true => Some(Cache::open(&folder, &record, keep, options.choice)?),
        false => None,
    };
    // What is told before there is a log to write it into.
    let mut said: Vec<String> = Vec::new();
    if let Some((_, start)) = &opened {
        let advice = advice::advice(scene, &simulation);
        if !advice.diagnostics().is_empty() {
            listener.advice(&advice);
        }
        let told = scene.warnings.diagnostics().iter().chain(advice.diagnostics());
        said.extend(told.map(|found| {
            let help = found.help.as_ref().map_or(String::new(), |help| format!(": {help}"));
            format!("warning: {}", in_one_line(&format!("{found}{help}")))
        }));
        let notes = start.notes.iter().map(ToString::to_string);
        for note in notes {
            listener.note(&note);
            said.push(format!("note: {}", in_one_line(&note)));
        }
    }
    let start = opened.as_ref().map(|(cache, start)| Begin::of(cache, start));
    let start = told_by_first(&**processes, start)?;
    let next = start.after.map_or(first, |frame| frame + 1);
    if let Some((cache, _)) = opened.as_ref().filter(|_| next > last) {
        // Nobody looks at these frames again before they are used.
        cache.check_frames(&mut |all, read| listener.verified(all, read))?;
    }
    if let Some(checkpoint) = &start.checkpoint {
        go_on(&mut simulation, checkpoint)?;
    }
    let mut desk = match opened {
        Some((cache, _)) => Some(Desk::new(cache, shapes, scene)?),
        None => None,
    };
    listener.begins((next, last), &folder);
    if next > last {
        if let Some(desk) = &desk {
            end_again(desk, &folder, &mut pictures, listener);
        }
        return Ok(desk.as_ref().and_then(Desk::whole));
    }
    pictures.begin(scene, &simulation, start.after);
    let mut about = About::now(scene, processes.count());
    if let Some(desk) = &mut desk {
        desk.log.push(&format!("frames {next} to {last} of {}", scene.settings.name))?;
        said.iter().try_for_each(|line| desk.log.push(line))?;
        desk.cache.write_sidecar(ABOUT, &about.to_bytes())?;
    }
    let mut writer = Writer { scene, desk, identity, keep, last, took: Duration::ZERO, pictures };
    let mut warned = Warned::default();
    take_told(listener, &mut warned);
    let outcome = advance(&mut simulation, &mut writer, (&mut *listener, &mut warned), next);
    let whole = writer.desk.as_ref().and_then(Desk::whole);
    take_told(listener, &mut warned);
    let again = warned.again();
    again.iter().for_each(|again| hand_on(again, listener));
    if let Some(desk) = &mut writer.desk {
        // The disk may be why it ended; what cannot be written is still told on the terminal.
        for told in warned.take_news().iter().chain(&again) {
            let _ = desk.log.push(&told.to_string());
        }
        if let Err(why) = &outcome {
            let _ = desk.log.push(&format!("ended: {why}"));
        }
        about.ended = Some(ending(&outcome));
        // The report shows the contact sheet.
        writer.pictures.finish(listener);
        tell_all(&desk.cache, &folder, &about, listener);
    }
    outcome.map_err(|why| match why {
        RunError::Stopped { source, .. } => match *source {
            SimError::Interrupted => RunError::Interrupted { whole },
            _ => RunError::Stopped { source, whole },
        },
        other => other,
    })?;
    Ok(whole)
}

/// Where a run begins, as every process has to know.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Begin {
    /// The frame that is there already.
    after: Option<i64>,
    /// Its checkpoint.
    checkpoint: Option<PathBuf>,
}

impl Begin {
    fn of(cache: &Cache, start: &Start) -> Self {
        let is_it = |entry: &&CheckpointEntry| Some(entry.frame) == start.after;
        let entry = cache.manifest().checkpoints.iter().find(is_it);
        let checkpoint = entry.map(|entry| cache.path(&entry.file.name));
        Self { after: start.after, checkpoint }
    }
}

/// What the first process says, on all of them. Collective.
fn told_by_first(processes: &dyn Processes, begin: Option<Begin>) -> Result<Begin, RunError> {
    if processes.count() == 1 {
        return Ok(begin.unwrap_or_default());
    }
    let own = begin.map(|begin| serde_json::to_vec(&begin).unwrap_or_default());
    let said = processes
        .all_gather(&own.unwrap_or_default())
        .map_err(|why| RunError::stopped(why.into()))?;
    Ok(serde_json::from_slice(&said[0]).unwrap_or_default())
}

/// How a run ended, for its report.
fn ending(outcome: &Result<(), RunError>) -> String {
    match outcome {
        Ok(()) => "complete".to_owned(),
        Err(RunError::Stopped { source, .. }) => match &**source {
            SimError::Interrupted => "interrupted".to_owned(),
            SimError::At { place, .. } => format!(
                "stopped at frame {}, substep {}, {}: {source}",
                place.now.frame, place.now.substep, place.owner
            ),
            _ => format!("stopped: {source}"),
        },
        Err(why) => format!("stopped: {why}"),
    }
}

/// A run that was killed after its last frame and before it had told of itself does so now.
fn end_again(desk: &Desk, folder: &Path, pictures: &mut Pictures, listener: &mut dyn Listener) {
    let mut about = About::read(folder);
    if about.is_cut_off() {
        about.ended = Some(ending(&Ok(())));
        pictures.finish(listener);
        tell_all(&desk.cache, folder, &about, listener);
    }
}

/// Writes the report, which is needed most after a run that failed. That it cannot be written fails no run.
fn tell_all(cache: &Cache, folder: &Path, about: &About, listener: &mut dyn Listener) {
    let written = cache.write_sidecar(ABOUT, &about.to_bytes());
    let reported = written.map_err(report::ReportError::from);
    if let Err(why) = reported.and_then(|()| report::write_into_cache(folder).map(|_| ())) {
        listener.note(&format!("there is no report of this run: {why}"));
    }
}

/// Asks a listener for what was told, and hands on to it what is new.
fn take_told(listener: &mut dyn Listener, warned: &mut Warned) {
    for told in listener.told() {
        if warned.add(&told) {
            hand_on(&told, listener);
        }
    }
}

fn hand_on(told: &Told, listener: &mut dyn Listener) {
    match told {
        Told::Warning(warning) => listener.warning(warning),
        Told::Note(note) => listener.note(note),
    }
}

/// From the initial state, or the one restored, to the last frame.
fn advance(
    simulation: &mut Simulation,
    writer: &mut Writer<'_>,
    (listener, warned): (&mut dyn Listener, &mut Warned),
    next: i64,
) -> Result<(), RunError> {
    let first = writer.scene.settings.first;
    if next == first {
        // The preroll, and then the initial state as the first frame.
        while simulation.clock().frame < first {
            let mut watch = Watch::new(&mut *listener, &mut *warned);
            simulation.advance_frame(&mut watch, |_, _| Ok(())).map_err(RunError::stopped)?;
        }
        let began = Instant::now();
        writer.frame(simulation, FrameId::whole(first))?;
        writer.checkpoint(simulation, first)?;
        let report = FrameReport {
            frame: first,
            writing: writer.took(),
            pictures: writer.pictures.took(None, listener),
            ..FrameReport::default()
        };
        told(simulation, writer, (&mut *listener, &mut *warned), report, began)?;
    }
    let outputs = simulation.timeline().outputs_per_frame.max(1);
    while simulation.clock().frame < writer.last {
        let began = Instant::now();
        let frame = simulation.clock().frame + 1;
        let mut watch = Watch::new(&mut *listener, &mut *warned);
        watch.report.frame = frame;
        let mut failed = None;
        let beside = writer.beside();
        let outcome = simulation.advance_frame(&mut watch, |simulation, part| {
            let id = match part + 1 == outputs {
                true => Some(FrameId::whole(frame)),
                false => FrameId::between(frame - 1, part + 1, outputs),
            };
            if let Some(Err(why)) = id.map(|id| writer.frame(simulation, id)) {
                failed = Some(why);
                return Err(SimError::Interrupted);
            }
            Ok(())
        });
        if let Some(why) = failed {
            return Err(why);
        }
        outcome.map_err(RunError::stopped)?;
        let mut report = watch.report;
        let simulated = began.elapsed().saturating_sub(writer.beside() - beside);
        writer.checkpoint(simulation, frame)?;
        report.writing = writer.took();
        report.pictures = writer.pictures.took(Some(simulated), listener);
        told(simulation, writer, (&mut *listener, &mut *warned), report, began)?;
    }
    Ok(())
}

/// Tells of a frame that is whole. Collective.
fn told(
    simulation: &Simulation,
    writer: &mut Writer<'_>,
    (listener, warned): (&mut dyn Listener, &mut Warned),
    mut report: FrameReport,
    began: Instant,
) -> Result<(), RunError> {
    let world = &simulation.world;
    report.took = began.elapsed();
    report.points = world.points.iter().map(|(_, points)| points.len() as u64).sum();
    let particles = || world.particles.iter().map(|(_, store)| store);
    let of_particles: u64 = particles().map(|store| store.topology().local() as u64).sum();
    let of_volumes: u64 =
        world.volumes.iter().map(|(_, store)| store.topology().local() as u64).sum();
    let sum = |own: u64| {
        let all = world.processes().all_sum_u64(own);
        all.map_err(|why| RunError::stopped(why.into()))
    };
    report.particles = sum(particles().map(|store| store.len() as u64).sum())?;
    report.voxels = sum(512 * of_volumes)?;
    report.buckets = sum(of_particles + of_volumes)?;
    report.memory = sum(world.budget.used())?;
    let peak = peak_memory();
    let peaks = sum(peak.unwrap_or(0))?;
    report.process_memory = peak.map(|_| peaks);
    report.budget = simulation.budget().map_err(RunError::stopped)?;
    take_told(listener, warned);
    for told in strays::told(simulation, &report).into_iter().map(Told::Warning) {
        if warned.add(&told) {
            hand_on(&told, listener);
        }
    }
    tell_of_others(&**world.processes(), (&mut *listener, &mut *warned))?;
    if let Some(desk) = &mut writer.desk {
        desk.stats.push(&report.to_json().to_string())?;
        warned.take_news().iter().try_for_each(|told| desk.log.push(&told.to_string()))?;
        desk.log.push(&line(&report))?;
    }
    listener.frame(&report);
    Ok(())
}

/// Has the first process tell what the others were told in a frame. Collective.
fn tell_of_others(
    processes: &dyn Processes,
    (listener, warned): (&mut dyn Listener, &mut Warned),
) -> Result<(), RunError> {
    if processes.count() == 1 {
        return Ok(());
    }
    let own = match processes.rank() {
        0 => Vec::new(),
        _ => warned.take_news(),
    };
    let own = serde_json::to_vec(&own).unwrap_or_default();
    let all = processes.all_gather(&own).map_err(|why| RunError::stopped(why.into()))?;
    if processes.rank() == 0 {
        for of_one in &all {
            let news: Vec<Told> = serde_json::from_slice(of_one).unwrap_or_default();
            for told in news {
                if warned.add(&told) {
                    hand_on(&told, listener);
                }
            }
        }
    }
    Ok(())
}

/// A frame in one line, with what matters.
pub fn line(report: &FrameReport) -> String {
    let mut line = format!("frame {}: {} particles", report.frame, report.particles);
    if report.points > 0 {
        line += &format!(", {} points of bodies", report.points);
    }
    if report.voxels > 0 {
        line += &format!(", {} voxels", report.voxels);
    }
    line += &format!(", {} substeps", report.substeps);
    if report.iterations > 0 {
        line += &format!(", {} iterations", report.iterations);
    }
    line + &format!(", {:.2} s, {}", report.took.as_secs_f64(), in_words(report.memory))
}

/// Puts a Simulation into the state of a checkpoint. Whether it may be of another scene was decided when the cache was opened.
/// Collective.
fn go_on(simulation: &mut Simulation, checkpoint: &Path) -> Result<(), RunError> {
    let mut file = std::fs::File::open(checkpoint)
        .map_err(|source| RunError::from(CheckpointError::Io { what: "read", source }))?;
    let state = checkpoint::load(None, &mut simulation.world, &mut file)?;
    simulation.set_clock(Clock { frame: state.frame, substeps: state.step });
    Ok(())
}

/// What the first process writes on: nobody else touches the cache.
struct Desk {
    cache: Cache,
    stage: StageFile,
    stats: Lines,
    log: Lines,
}

impl Desk {
    fn new(cache: Cache, shapes: Option<ShapesFile>, scene: &Scene) -> Result<Self, RunError> {
        let stats = cache.frame_lines("stats.jsonl")?;
        let log = cache.lines(LOG, |_| true)?;
        let mut stage = StageFile::of(&cache, shapes)?;
        stage.write(&cache, scene)?;
        Ok(Self { cache, stage, stats, log })
    }

    /// The last frame that is whole.
    fn whole(&self) -> Option<i64> {
        self.cache
            .frames()
            .iter()
            .rev()
            .map(|entry| entry.frame)
            .find(|frame| frame.is_whole())
            .map(FrameId::frame)
    }
}

/// Writes frames and checkpoints of a scene.
struct Writer<'a> {
    scene: &'a Scene,
    /// On the first process.
    desk: Option<Desk>,
    identity: Identity,
    keep: Keep,
    last: i64,
    /// How long writing took since somebody asked.
    took: Duration,
    pictures: Pictures,
}

impl Writer<'_> {
    /// How long writing and drawing took since somebody asked.
    fn beside(&self) -> Duration {
        self.took + self.pictures.so_far()
    }

    /// How long writing took since the last time that somebody asked.
    fn took(&mut self) -> Duration {
        std::mem::take(&mut self.took)
    }

    /// All files of a moment, whole or not at all. Collective.
    fn frame(&mut self, simulation: &Simulation, id: FrameId) -> Result<(), RunError> {
        // Before the frame is whole: one that is has its picture.
        if id.is_whole() {
            self.pictures.frame(simulation, id.frame());
        }
        let began = Instant::now();
        match &mut self.desk {
            Some(desk) => {
                let mut frame = desk.cache.begin_frame(id)?;
                frames::each_file(self.scene, simulation, id, &mut desk.stage, |name, content| {
                    frame.file(name, |out| content.write(out))
                })?;
                frame.finish()?;
                desk.stage.write(&desk.cache, self.scene)?;
            }
            None => {
                let nothing = &mut StageFile::default();
                frames::each_file(self.scene, simulation, id, nothing, |_, _| {
                    Ok::<(), FrameError>(())
                })?;
            }
        }
        self.took += began.elapsed();
        Ok(())
    }

    /// The checkpoint at the end of a frame, where one is due. Collective.
    fn checkpoint(&mut self, simulation: &Simulation, frame: i64) -> Result<(), RunError> {
        if !self.keep.due(frame, self.last) {
            return Ok(());
        }
        let began = Instant::now();
        let clock = simulation.clock();
        let state = State {
            frame,
            time: simulation.timeline().time(frame),
            step: clock.substeps,
            ..State::default()
        };
        let save = |out: &mut dyn Write| {
            checkpoint::save(&self.identity, &state, &simulation.world, out).map(|_| ())?;
            Ok::<(), RunError>(())
        };
        match &mut self.desk {
            Some(desk) => desk.cache.checkpoint(frame, save)?,
            None => save(&mut std::io::sink())?,
        }
        self.took += began.elapsed();
        Ok(())
    }
}

/// Hands on what a Simulation tells, and adds it up for the frame.
struct Watch<'a> {
    listener: &'a mut dyn Listener,
    warned: &'a mut Warned,
    report: FrameReport,
}

impl<'a> Watch<'a> {
    fn new(listener: &'a mut dyn Listener, warned: &'a mut Warned) -> Self {
        Self { listener, warned, report: FrameReport::default() }
    }
}

impl Observer for Watch<'_> {
    fn task(&mut self, place: &Place, took: Duration) {
        let key = (place.stage, place.owner.clone(), place.task);
        *self.report.tasks.entry(key).or_default() += took;
    }

    fn substep(&mut self, substep: &SubstepReport) {
        self.report.substeps += 1;
        self.report.newton += substep.iterations;
        self.report.cfl = self.report.cfl.max(substep.cfl);
        let (shortest, longest) = self.report.steps.unwrap_or((f64::INFINITY, 0.0));
        if substep.step < shortest {
            self.report.asked_by.clone_from(&substep.asked_by);
        }
        self.report.steps = Some((shortest.min(substep.step), longest.max(substep.step)));
        self.report.iterations +=
            substep.solves.iter().map(|solve| solve.iterations).sum::<usize>();
        self.report.solves.extend(substep.solves.iter().cloned());
        take_told(self.listener, self.warned);
        self.listener.substep(substep.frame, substep.substep);
    }

    fn should_stop(&self) -> bool {
        self.listener.should_stop()
    }
}
