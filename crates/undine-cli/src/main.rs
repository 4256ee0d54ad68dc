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
            Err(why) if is_first => {
                let _ = why.print();
                why.exit_code() as u8
            }
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

/// Writes to standard output; a reader that has gone away is no reason to complain.
fn print(text: &str) -> ExitCode {
    use std::io::Write;
    let _ = std::io::stdout().write_all(text.as_bytes());
    ExitCode::Done
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
