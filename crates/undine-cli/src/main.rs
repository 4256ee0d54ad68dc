//! The command line `undine`: a thin face on the library. Only here is anything printed, and only here does a program end.

mod arguments;
mod check;
mod compare;
mod convert;
mod explain;
mod fmt;
mod help;
mod info;
mod memory;
mod progress;
mod render;
mod report;
mod run;
mod scene;
mod signal;
mod surface;
mod trace;
mod verify;
mod warnings;

use arguments::{Arguments, Command};
use clap::Parser;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use terminal_size::{Width, terminal_size_of};
use undine::ExitCode;
use undine_core::process::{Processes, launch_with_code};
use undine_schema::cut;

/// A program by itself, or one of those that `mpirun` started: then all of them make a run together, and of all else the first
/// does what there is to do.
fn main() {
    undine_core::memory::keep_freed();
    signal::begin();
    let code = launch_with_code(|processes| {
        let is_first = processes.rank() == 0;
        match Arguments::try_parse() {
            Ok(Arguments { command: this }) if is_first || matches!(this, Command::Run(_)) => {
                command(this, &processes) as u8
            }
            Err(why) if is_first => say(&why),
            // The others wait for the first, and end as it does.
            _ => 0,
        }
    });
    std::process::exit(code.into());
}

fn command(command: Command, processes: &Arc<dyn Processes>) -> ExitCode {
    match command {
        Command::Run(arguments) => run::run(&arguments, processes),
        Command::Check(arguments) => check::check(&arguments),
        Command::Explain(arguments) => explain::explain(&arguments),
        Command::Help(arguments) => help::help(&arguments),
        Command::Schema => help::schema(),
        Command::Fmt(arguments) => fmt::fmt(&arguments),
        Command::Info(arguments) => info::info(&arguments),
        Command::Verify(arguments) => verify::verify(&arguments),
        Command::Report(arguments) => report::report(&arguments),
        Command::Convert(arguments) => convert::convert(&arguments),
        Command::Surface(arguments) => surface::surface(&arguments),
        Command::Render(arguments) => render::render(&arguments),
        Command::Compare(arguments) => compare::compare(&arguments),
    }
}

/// What is wrong with the words of a command line; or what they ask for, such as help, which is lost like all else that is told
/// where standard output takes nothing.
fn say(why: &clap::Error) -> u8 {
    match heard(why.print().and_then(|()| std::io::stdout().flush())) {
        Err(full) if !why.use_stderr() => lost(&full) as u8,
        _ => why.exit_code() as u8,
    }
}

/// Writes to standard output, and says if that takes nothing.
fn print(text: &str) -> ExitCode {
    match written(text) {
        Ok(()) => ExitCode::Done,
        Err(why) => lost(&why),
    }
}

/// Writes to standard output.
fn written(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    heard(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// What came of writing; a reader that has gone away, as `head` does, is no reason to complain.
fn heard(written: std::io::Result<()>) -> std::io::Result<()> {
    match written {
        Err(why) if why.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Says that what was told is lost.
fn lost(why: &std::io::Error) -> ExitCode {
    eprintln!("error: cannot write to standard output: {why}");
    ExitCode::Disk
}

/// Says what is wrong; what others wrote may be in it, without end.
fn complain(why: &dyn std::fmt::Display) {
    eprintln!("error: {}", cut(&why.to_string()));
}

/// A path that says where it is from everywhere.
fn whole(path: &Path) -> String {
    path.canonicalize().unwrap_or_else(|_| path.to_owned()).display().to_string()
}

/// How wide the terminal is.
fn width() -> usize {
    console_width().clamp(40, 120)
}

/// What the shell says, or the terminal itself: shells seldom hand on what they know. Files and pipes get 100 letters.
fn console_width() -> usize {
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal = || {
        let (Width(columns), _) =
            terminal_size_of(std::io::stdout()).or_else(|| terminal_size_of(std::io::stderr()))?;
        Some(usize::from(columns))
    };
    said.or_else(terminal).unwrap_or(100)
}
