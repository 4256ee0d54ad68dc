//! `undine fmt`: scenes in the one style.

use crate::arguments::Fmt;
use crate::{complain, print, scene, width};
use std::io::Read;
use std::path::Path;
use undine::ExitCode;
use undine::cache::write_atomically;

/// Formats scenes.
pub fn fmt(arguments: &Fmt) -> ExitCode {
    let mut code = ExitCode::Done;
    for path in &arguments.files {
        let outcome = if path == Path::new("-") {
            from_input()
        } else {
            file(&scene::file(path), arguments.check)
        };
        if outcome != ExitCode::Done {
            code = outcome;
        }
    }
    code
}

fn from_input() -> ExitCode {
    let mut text = String::new();
    if let Err(why) = std::io::stdin().take(64 << 20).read_to_string(&mut text) {
        eprintln!("error: cannot read standard input: {why}");
        return ExitCode::Disk;
    }
    match undine_scene::format("standard input", &text) {
        Ok(formatted) => print(&formatted),
        Err(report) => {
            eprint!("{}", report.render(width()));
            ExitCode::BadScene
        }
    }
}

fn file(path: &Path, check: bool) -> ExitCode {
    let name = path.display().to_string();
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(why) => {
            eprintln!("error: cannot read {name}: {why}");
            return ExitCode::Disk;
        }
    };
    match undine_scene::format(&name, &text) {
        Ok(formatted) if formatted == text => ExitCode::Done,
        Ok(_) if check => {
            eprintln!("{name} is not formatted; `undine fmt {name}` does it");
            ExitCode::Failed
        }
        Ok(formatted) => match write_atomically(path, formatted.as_bytes()) {
            Ok(()) => ExitCode::Done,
            Err(why) => {
                complain(&why);
                ExitCode::Disk
            }
        },
        Err(report) => {
            eprint!("{}", report.render(width()));
            ExitCode::BadScene
        }
    }
}
