//! What a person or a farm sees of a run: a bar with the time left on a terminal, plain lines otherwise, or lines of JSON.

use crate::{signal, trace, warnings, width, written};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::cell::Cell;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use undine::Listener;
use undine::run::{FrameReport, Told, end_at_once, line};
use undine_core::memory::in_words;
use undine_scene::Report;

/// What takes longer shows that it works.
const PATIENCE: Duration = Duration::from_secs(2);

/// How a run is told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Not at all.
    Quiet,
    /// A bar, or plain lines where there is no terminal.
    People,
    /// Lines of JSON.
    Json,
}

/// Tells of a run.
pub struct Progress {
    style: Style,
    /// Set when somebody asks the run to end; before the first frame the system's own way of ending holds.
    stop: Option<Arc<AtomicBool>>,
    bar: Option<ProgressBar>,
    frames: (i64, i64),
    began: Instant,
    reading: Reading,
    /// Until there is a bar.
    working: Option<Working>,
    /// Why what was to be told could not be written, the first time.
    lost: Cell<Option<std::io::Error>>,
}

impl Progress {
    /// Tells of it in this style.
    pub fn new(style: Style) -> Self {
        Self {
            style,
            stop: None,
            bar: None,
            frames: (0, 0),
            began: Instant::now(),
            reading: Reading::default(),
            working: None,
            lost: Cell::new(None),
        }
    }

    /// Why something was not told that should have been; nothing if all was. Frames come first: it ends no run.
    pub fn lost(&self) -> Option<std::io::Error> {
        self.lost.take()
    }

    /// Shows that it works from here on, where it tells people.
    pub fn working(mut self, what: &str) -> Self {
        self.working = Some(Working::begin(what, self.style != Style::People));
        self
    }

    /// Tells of the warnings and notes since it was asked last; of a run that has not begun there is nobody else who would.
    pub fn warn(&mut self) {
        warnings::take().iter().for_each(|told| match told {
            Told::Warning(warning) => self.warning(warning),
            Told::Note(note) => self.note(note),
        });
    }

    fn works_on(&self, frame: i64) {
        let what = match frame > self.frames.1 {
            true => "pictures and report are being made".to_owned(),
            false => format!("frame {frame} is being made"),
        };
        self.working.iter().for_each(|working| working.now(&what));
    }

    fn say(&self, json: serde_json::Value, text: &str) {
        match self.style {
            Style::Quiet => {}
            Style::Json => self.write(&json.to_string()),
            Style::People => match &self.bar {
                Some(bar) => bar.println(text),
                None => self.write(text),
            },
        }
    }

    /// A line of standard output.
    fn write(&self, line: &str) {
        if let Err(why) = written(&format!("{line}\n")) {
            self.lost.set(self.lost.take().or(Some(why)));
        }
    }
}

impl Listener for Progress {
    fn begins(&mut self, frames: (i64, i64), cache: &Path) {
        self.stop = Some(signal::watch());
        let folder = cache.to_owned();
        signal::at_last(move || {
            end_at_once(&folder);
            trace::end();
        });
        self.frames = frames;
        self.began = Instant::now();
        let (from, to) = frames;
        let cache_name = cache.display().to_string();
        let json = serde_json::json!({
            "event": "begin", "first": from, "last": to, "cache": cache_name
        });
        if from > to {
            self.working = None;
            self.say(json, &format!("{cache_name} is complete: every frame is there"));
            return;
        }
        self.say(json, &format!("frames {from} to {to} into {cache_name}"));
        if self.style == Style::People && std::io::stderr().is_terminal() {
            self.working = None;
            let count = u64::try_from(i128::from(to) - i128::from(from) + 1).unwrap_or(0);
            let bar = ProgressBar::with_draw_target(Some(count), ProgressDrawTarget::stderr());
            let style = "{bar:30} frame {msg} ({pos}/{len}), {eta} left";
            if let Ok(style) = ProgressStyle::with_template(style) {
                bar.set_style(style);
            }
            bar.set_message(from.to_string());
            // What it shows moves during long substeps, too.
            bar.enable_steady_tick(Duration::from_millis(250));
            self.bar = Some(bar);
        }
        self.works_on(from);
    }

    fn advice(&mut self, advice: &Report) {
        match self.style {
            Style::Quiet => {}
            Style::People => eprint!("{}", advice.render(width())),
            Style::Json => {
                for found in advice.diagnostics() {
                    let json =
                        serde_json::json!({"event": "warning", "warning": found.to_string()});
                    self.say(json, "");
                }
            }
        }
    }

    fn note(&mut self, note: &str) {
        self.say(serde_json::json!({"event": "note", "note": note}), &format!("note: {note}"));
    }

    fn verified(&mut self, all: u64, read: u64) {
        self.reading.tell(self.style != Style::People, "frames", all, read);
    }

    fn told(&mut self) -> Vec<Told> {
        warnings::take()
    }

    fn warning(&mut self, warning: &str) {
        let json = serde_json::json!({"event": "warning", "warning": warning});
        self.say(json, &format!("warning: {warning}"));
    }

    fn substep(&mut self, frame: i64, substep: u32) {
        if let Some(bar) = &self.bar {
            bar.set_message(format!("{frame}, substep {}", substep + 1));
        }
    }

    fn frame(&mut self, report: &FrameReport) {
        let done = (report.frame - self.frames.0 + 1).max(1) as f64;
        let all = (self.frames.1 - self.frames.0 + 1).max(1) as f64;
        let left = self.began.elapsed().as_secs_f64() * (all - done) / done;
        let mut json = report.to_json();
        json["event"] = "frame".into();
        json["seconds_left"] = left.into();
        let plain = self.bar.is_none() && done < all;
        let ahead = if plain { format!(", {} left", duration(left)) } else { String::new() };
        self.say(json, &format!("{}{ahead}", line(report)));
        self.works_on(report.frame + 1);
        if let Some(bar) = &self.bar {
            bar.inc(1);
            if report.frame == self.frames.1 {
                bar.finish_and_clear();
            }
        }
    }

    fn pictures(&mut self, folder: &Path, made: &[PathBuf]) {
        let name = folder.display().to_string();
        let files: Vec<String> = made.iter().map(|path| path.display().to_string()).collect();
        let json = serde_json::json!({"event": "pictures", "folder": name, "made": files});
        let names: Vec<_> = made
            .iter()
            .filter_map(|path| path.file_name())
            .map(|name| name.to_string_lossy())
            .collect();
        let glance = match names.is_empty() {
            true => String::new(),
            false => format!("; at a glance: {}", names.join(", ")),
        };
        self.say(json, &format!("pictures are in {name}{glance}"));
    }

    fn should_stop(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }
}

/// Shows that something works that says nothing itself: with a spinner on a terminal, and else with a line now and then.
pub struct Working {
    spinner: Option<ProgressBar>,
    /// What is being done; dropped, it ends the thread that tells of it.
    doing: Option<Sender<String>>,
    thread: Option<JoinHandle<()>>,
}

impl Working {
    /// From here on.
    pub fn begin(what: &str, quiet: bool) -> Self {
        let mut this = Self { spinner: None, doing: None, thread: None };
        if quiet {
            return this;
        }
        if std::io::stderr().is_terminal() {
            let spinner = ProgressBar::new_spinner().with_message(what.to_owned());
            spinner.enable_steady_tick(Duration::from_millis(250));
            this.spinner = Some(spinner);
            return this;
        }
        let (doing, told) = std::sync::mpsc::channel();
        let what = what.to_owned();
        this.doing = Some(doing);
        this.thread = Some(std::thread::spawn(move || tell_now_and_then(what, &told)));
        this
    }

    /// Something was shown, and this is what is being done now.
    pub fn now(&self, what: &str) {
        if let Some(doing) = &self.doing {
            let _ = doing.send(what.to_owned());
        }
    }

    /// It is done.
    pub fn end(self) {}
}

impl Drop for Working {
    fn drop(&mut self) {
        self.spinner.iter().for_each(|spinner| spinner.finish_and_clear());
        self.doing.take();
        self.thread.take().into_iter().for_each(|thread| drop(thread.join()));
    }
}

/// A line after some seconds without any, and then each time after twice as many.
fn tell_now_and_then(mut what: String, told: &Receiver<String>) {
    let (mut began, mut patience) = (Instant::now(), PATIENCE);
    loop {
        match told.recv_timeout(patience.saturating_sub(began.elapsed())) {
            Ok(next) => (what, began, patience) = (next, Instant::now(), PATIENCE),
            Err(RecvTimeoutError::Timeout) => {
                eprintln!("{what}: {:.0} s", began.elapsed().as_secs_f64());
                patience *= 2;
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Tells of the reading of a cache, if that takes long.
#[derive(Default)]
pub struct Reading {
    last: Option<Instant>,
}

impl Reading {
    /// So many of all bytes were read.
    pub fn tell(&mut self, quiet: bool, what: &str, all: u64, read: u64) {
        let last = *self.last.get_or_insert_with(Instant::now);
        if !quiet && last.elapsed() >= PATIENCE {
            self.last = Some(Instant::now());
            eprintln!("reading {what}: {} of {}", in_words(read), in_words(all));
        }
    }
}

/// A bar that counts files, if there are several and somebody sees it.
pub fn bar_of_files(count: usize) -> Option<ProgressBar> {
    bar_of(count, "files")
}

/// A bar that counts something, if there are several and somebody sees it.
pub fn bar_of(count: usize, what: &str) -> Option<ProgressBar> {
    if count < 2 || !std::io::stderr().is_terminal() {
        return None;
    }
    let bar = ProgressBar::with_draw_target(Some(count as u64), ProgressDrawTarget::stderr());
    if let Ok(style) =
        ProgressStyle::with_template(&format!("{{bar:30}} {{pos}}/{{len}} {what}, {{eta}} left"))
    {
        bar.set_style(style);
    }
    Some(bar)
}

/// As people say it: `45 s`, `12 min`, `3 h 20 min`.
fn duration(seconds: f64) -> String {
    let minutes = (seconds / 60.0).round() as u64;
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{minutes} min"),
        _ => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}
