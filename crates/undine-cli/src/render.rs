//! `undine render`: pictures of what lies on the disk.

use crate::arguments::{PictureArguments, Render as Arguments};
use crate::progress::Working;
use crate::{complain, print, progress, signal, width};
use indicatif::ProgressBar;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use undine::ExitCode;
use undine::view::{Session, Source, ViewError, Watcher};
use undine_scene::Render;

/// Draws pictures.
pub fn render(arguments: &Arguments) -> ExitCode {
    if let Err(code) = threads(arguments.pictures.threads) {
        return code;
    }
    rendered(arguments).unwrap_or_else(|why| tell(&why))
}

/// Says what is wrong, and what the shell is told.
pub fn tell(why: &ViewError) -> ExitCode {
    match why {
        ViewError::Scene(report) => eprint!("{}", report.render(width())),
        other => complain(other),
    }
    why.exit_code()
}

/// Lets so many threads work.
pub fn threads(count: Option<usize>) -> Result<(), ExitCode> {
    let Some(count) = count else { return Ok(()) };
    if count == 0 || count > 1024 {
        eprintln!("error: --threads goes from 1 to 1024");
        return Err(ExitCode::BadScene);
    }
    let _ = rayon::ThreadPoolBuilder::new().num_threads(count).build_global();
    Ok(())
}

/// What the command line changes about how something is shown.
pub fn chosen(render: &Render, arguments: &PictureArguments) -> Result<Render, ViewError> {
    render.with_options(&arguments.options()).map_err(ViewError::Scene)
}

fn rendered(arguments: &Arguments) -> Result<ExitCode, ViewError> {
    let source = Source::open(&arguments.what)?;
    let mut render = source.render(arguments.view.as_deref())?;
    render.movie = false;
    let render = chosen(&render, &arguments.pictures)?;
    let frames = source.chosen(arguments.frames)?;
    let folder = arguments.out.clone().unwrap_or_else(|| source.folder.clone());
    let mut watcher = Progress::new(arguments.quiet);
    let Some(session) = Session::begin(&source, render, &frames, &mut watcher)? else {
        watcher.end();
        eprintln!("stopped: nothing was drawn");
        return Ok(ExitCode::Interrupted);
    };
    let sums = (arguments.sheet, arguments.animate);
    let made = session.write(&frames, &folder, sums, &mut watcher);
    watcher.end();
    let made = made?;
    if made.stopped {
        let (done, all) = (made.pictures.len(), frames.len());
        eprintln!("stopped: {done} of {all} pictures are written, each of them whole");
        return Ok(ExitCode::Interrupted);
    }
    if arguments.quiet {
        return Ok(ExitCode::Done);
    }
    let pictures = match &made.pictures[..] {
        [only] => format!("{} is written\n", only.display()),
        all => format!("{} pictures are written to {}\n", all.len(), folder.display()),
    };
    let sums: String = made.sums.iter().map(|path| written(path)).collect();
    Ok(print(&(pictures + &sums)))
}

fn written(path: &Path) -> String {
    format!("{} is written\n", path.display())
}

/// A bar with the time left, on a terminal.
struct Progress {
    quiet: bool,
    bar: Option<ProgressBar>,
    /// Where there is no bar.
    working: Option<Working>,
    stop: Arc<AtomicBool>,
}

impl Progress {
    fn new(quiet: bool) -> Self {
        // From here on a picture that has been begun is finished, whoever wants the program to end.
        Self { quiet, bar: None, working: None, stop: signal::watch() }
    }

    fn end(&mut self) {
        self.working = None;
        self.bar.iter().for_each(|bar| bar.finish_and_clear());
    }
}

impl Watcher for Progress {
    fn begins(&mut self, steps: usize) {
        self.bar = if self.quiet { None } else { progress::bar_of(steps, "steps") };
        self.working = Some(Working::begin("drawing", self.quiet || self.bar.is_some()));
    }

    fn step(&mut self) {
        self.bar.iter().for_each(|bar| bar.inc(1));
    }

    fn note(&mut self, note: &str) {
        if !self.quiet {
            eprintln!("note: {note}");
        }
    }

    fn should_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
