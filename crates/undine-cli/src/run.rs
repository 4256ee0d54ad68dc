//! `undine run`: makes the frames of a scene, and says how to go on whatever happens.

use crate::arguments::Run;
use crate::progress::{Progress, Style};
use crate::{complain, memory, scene, trace, width};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use undine::cache::{Choice, Which, read_manifest};
use undine::run::cache_folder;
use undine::{ExitCode, Options, RunError};
use undine_core::memory::MemoryBudget;
use undine_core::process::Processes;
use undine_scene::Scene;
use undine_schema::cut;
use undine_sim::SimError;

/// How long a process that fails waits before it speaks. What ends one mostly ends all of them, and the first then tells of it
/// and ends the others; one that fails alone has to end them all by itself.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs a scene, together with other processes if there are any.
pub fn run(arguments: &Run, processes: &Arc<dyn Processes>) -> ExitCode {
    let is_first = processes.rank() == 0;
    if arguments.threads.is_some_and(|threads| threads == 0 || threads > 1024) {
        wait_for_first(&**processes);
        eprintln!("error: --threads goes from 1 to 1024");
        return ExitCode::BadScene;
    }
    let sharing = memory::sharing(&**processes);
    if let Some(threads) = arguments.threads.or_else(|| memory::default_threads(sharing)) {
        let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    }
    let path = arguments.trace.as_deref().filter(|_| is_first);
    if let Err(why) = trace::begin(path) {
        let path = path.unwrap_or(Path::new(""));
        eprintln!("error: cannot write the trace {}: {why}", path.display());
        return ExitCode::Disk;
    }
    let scene = match scene::read(&arguments.scene) {
        Ok(scene) => scene,
        Err(report) => {
            wait_for_first(&**processes);
            eprint!("{}", report.render(width()));
            return ExitCode::BadScene;
        }
    };
    let quiet = arguments.quiet || !is_first;
    if !quiet && !scene.warnings.diagnostics().is_empty() {
        eprint!("{}", scene.warnings.render(width()));
    }
    let which = match (arguments.fresh, arguments.keep) {
        (true, _) => Which::Fresh,
        (_, true) => Which::Keep,
        _ => Which::Resume,
    };
    let budget = arguments.memory.or_else(|| memory::default_budget(sharing));
    let options = Options {
        choice: Choice { which, from: arguments.from },
        budget: budget.map_or_else(MemoryBudget::unlimited, MemoryBudget::new),
        processes: processes.clone(),
    };
    let style = match (quiet, arguments.json) {
        (true, _) => Style::Quiet,
        (_, true) => Style::Json,
        _ => Style::People,
    };
    let mut progress = Progress::new(style).working("preparing the scene");
    let outcome = undine::run(&scene, &options, &mut progress);
    // What was said last may say why it ended.
    progress.warn();
    drop(progress);
    let Err(why) = outcome else { return ExitCode::Done };
    wait_for_first(&**processes);
    let code = tell(&why, &scene);
    if arguments.json {
        println!(
            "{}",
            serde_json::json!({"event": "end", "code": code as i32, "error": cut(&why.to_string())})
        );
    }
    // What was wrong from the start has changed nothing.
    if code != ExitCode::BadScene || matches!(why, RunError::Stopped { .. }) {
        let from = from(&why);
        if from.is_empty() {
            eprintln!("  kept    {}", kept(&cache_folder(&scene)));
        }
        eprintln!("  again   {}{from}", again(processes.count()));
    }
    code
}

/// On others than the first process: waits for the first to tell what went wrong, and to end all; then says who speaks.
fn wait_for_first(processes: &dyn Processes) {
    if processes.rank() > 0 {
        std::thread::sleep(PATIENCE);
        eprintln!("process {} of {}:", processes.rank(), processes.count());
    }
}

/// Prints an error with what helps, and says what the shell is told.
pub fn tell(why: &RunError, scene: &Scene) -> ExitCode {
    match why {
        RunError::Scene(report) => eprint!("{}", report.render(width())),
        RunError::Stopped { source, .. } => tell_place(source, scene),
        other => complain(other),
    }
    why.exit_code()
}

fn tell_place(why: &SimError, scene: &Scene) {
    match why.cause() {
        // It may come to light after hours, as a file that is not there: the line is to blame all the same.
        SimError::BadSetup { path, what, help } => {
            eprint!("{}", scene.diagnose(path, what.as_str(), help.as_str()).render(width()));
        }
        SimError::TooLarge(what) => {
            complain(what);
            eprintln!("  scene   {}", scene.place(&what.path).line());
        }
        cause => complain(cause),
    }
    if let SimError::At { place, .. } = why {
        eprintln!("  object  {}", place.owner);
        eprintln!("  stage   {}, \"{}\"", place.stage, place.task);
        eprintln!("  frame   {}, substep {}", place.now.frame, place.now.substep);
    }
}

/// What the run leaves behind, whatever ended it.
fn kept(cache: &Path) -> String {
    let frames = read_manifest(cache).ok().flatten().map(|manifest| manifest.frames);
    let whole = frames.iter().flatten().rev().find(|entry| entry.frame.is_whole());
    match whole {
        Some(entry) => format!("{} is whole to frame {}", cache.display(), entry.frame.frame()),
        None => "no frame is whole yet".to_owned(),
    }
}

/// What the command has to say besides, to make good what is damaged.
fn from(why: &RunError) -> String {
    let from = match why {
        RunError::Cache(why) => why.remade_from(),
        _ => None,
    };
    from.map_or_else(String::new, |frame| format!(" --from {frame}"))
}

/// The command that goes on: this one, on as many processes, without what would throw away or redo frames.
fn again(processes: usize) -> String {
    let mut words = Vec::new();
    if processes > 1 {
        words.push(format!("mpirun -n {processes}"));
    }
    let mut skip = false;
    for word in std::env::args() {
        if std::mem::take(&mut skip) || word == "--fresh" || word.starts_with("--from=") {
            continue;
        }
        if word == "--from" {
            skip = true;
            continue;
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:+,".contains(c);
        words.push(if word.chars().all(plain) {
            word
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        });
    }
    words.join(" ")
}
