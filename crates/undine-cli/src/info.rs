//! `undine info`: what is in files, for people or as JSON.

use crate::arguments::Info;
use crate::progress::Working;
use crate::{complain, print, progress};
use std::path::Path;
use undine::ExitCode;
use undine_io::info::{Depth, inspect, inspect_sequence};
use undine_io::{IoError, Pattern};

/// Shows what is in files. One that cannot be read does not keep the others from being shown.
pub fn info(arguments: &Info) -> ExitCode {
    let mut code = ExitCode::Done;
    for (n, name) in arguments.files.iter().enumerate() {
        let told = match shown(name, arguments) {
            Ok((text, damaged)) => {
                let before = if n > 0 && !arguments.json { "\n" } else { "" };
                let printed = print(&format!("{before}{text}"));
                if printed == ExitCode::Done { of_damaged(name, damaged) } else { printed }
            }
            Err(why) => {
                complain(&why);
                exit_code(&why)
            }
        };
        if told != ExitCode::Done {
            code = told;
        }
    }
    code
}

/// What is told of so many files that are damaged: each is a warning of its own.
fn of_damaged(name: &str, damaged: usize) -> ExitCode {
    if damaged == 0 {
        return ExitCode::Done;
    }
    let are = if damaged == 1 { "file is" } else { "files are" };
    eprintln!("error: {name}: {damaged} {are} damaged, as its warnings say");
    ExitCode::Disk
}

/// What is told of a file or a sequence, and how many of its files are damaged.
fn shown(name: &str, arguments: &Info) -> Result<(String, usize), IoError> {
    let depth = if arguments.quick { Depth::Heads } else { Depth::Values };
    let (json, text, damaged) = match sequence(name)? {
        None => {
            if arguments.frames.is_some() {
                eprintln!("note: --frames chooses from a sequence; {name} is one file");
            }
            let _working = Working::begin("reading", arguments.json);
            let info = inspect(Path::new(name), depth)?;
            (info.json(), info.text(), usize::from(info.damaged))
        }
        Some(pattern) => {
            let mut frames = pattern.frames()?;
            frames.retain(|&frame| arguments.frames.is_none_or(|asked| asked.has(frame)));
            if frames.is_empty() {
                // Says which file is not there, and which ones are.
                pattern.find(arguments.frames.map_or(1, |asked| asked.first))?;
            }
            let bar = progress::bar_of_files(frames.len());
            let mut done = |_| bar.iter().for_each(|bar| bar.inc(1));
            let info = inspect_sequence(&pattern, name, frames, depth, &mut done)?;
            bar.iter().for_each(|bar| bar.finish_and_clear());
            (info.json(), info.text(), info.damaged)
        }
    };
    Ok((if arguments.json { format!("{json}\n") } else { text }, damaged))
}

/// The pattern of a name, unless it is that of one file.
fn sequence(name: &str) -> Result<Option<Pattern>, IoError> {
    // A file may be called so, odd as it is.
    if Path::new(name).is_file() {
        return Ok(None);
    }
    Ok(Some(Pattern::new(name, Path::new(""))?).filter(Pattern::is_numbered))
}

/// What the shell is told of an error.
pub fn exit_code(why: &IoError) -> ExitCode {
    match why {
        IoError::Read { .. } | IoError::Write(_) | IoError::WriteFile { .. } => ExitCode::Disk,
        why if why.is_damage() => ExitCode::Disk,
        IoError::UnknownFormat { .. }
        | IoError::NotReadable { .. }
        | IoError::NoConversion { .. }
        | IoError::BadPattern { .. }
        | IoError::MissingFrame { .. } => ExitCode::BadScene,
        _ => ExitCode::Failed,
    }
}
