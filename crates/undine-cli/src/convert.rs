//! `undine convert`: files of one format into another, one or a whole sequence.

use crate::arguments::Convert;
use crate::info::exit_code;
use crate::progress::Working;
use crate::{complain, print, progress, signal};
use std::path::Path;
use std::sync::atomic::Ordering;
use undine::ExitCode;
use undine::view::Frames;
use undine_io::convert::{ConvertOptions, Job, convert as convert_file, plan};
use undine_io::{IoError, Pattern, Precision};

/// Converts files.
pub fn convert(arguments: &Convert) -> ExitCode {
    match converted(arguments) {
        Ok(code) => code,
        Err(why) => {
            complain(&why);
            exit_code(&why)
        }
    }
}

/// Which files become which, of all frames or of those that were asked for.
pub fn jobs(from: &str, to: &str, asked: Option<Frames>) -> Result<Vec<Job>, IoError> {
    let pattern = |text: &str| Pattern::new(text, Path::new(""));
    // To the last that is asked for, so that one frame of many is one.
    let span = asked.map(|Frames { first, last, step }| {
        (first, last - (last.abs_diff(first) % step.max(1)) as i64)
    });
    let mut jobs = plan(&pattern(from)?, &pattern(to)?, span)?;
    jobs.retain(|job| asked.zip(job.frame).is_none_or(|(asked, frame)| asked.has(frame)));
    if jobs.is_empty() {
        let why = "none of these frames is there".to_owned();
        return Err(IoError::NoConversion { from: from.to_owned(), to: to.to_owned(), why });
    }
    Ok(jobs)
}

fn converted(arguments: &Convert) -> Result<ExitCode, IoError> {
    let jobs = jobs(&arguments.from, &arguments.to, arguments.frames)?;
    let options = ConvertOptions {
        precision: if arguments.double { Precision::Double } else { Precision::Single },
        as_text: arguments.text,
        up: arguments.up,
        from_up: arguments.from_up,
        rename: arguments.rename.clone(),
        grids: arguments.grids.clone(),
        half: match (arguments.half, arguments.full) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        },
        codec: arguments.codec,
    };
    // From here on a file that has been begun is finished, whoever wants the program to end.
    let stop = signal::watch();
    let bar = if arguments.quiet { None } else { progress::bar_of_files(jobs.len()) };
    let working = Working::begin("converting", arguments.quiet || bar.is_some());
    let mut told: Vec<String> = Vec::new();
    for (n, job) in jobs.iter().enumerate() {
        if stop.load(Ordering::Relaxed) {
            bar.iter().for_each(|bar| bar.finish_and_clear());
            eprintln!("stopped: {n} of {} files are written, each of them whole", jobs.len());
            return Ok(ExitCode::Interrupted);
        }
        let notes = convert_file(job, &options).inspect_err(|_| {
            bar.iter().for_each(|bar| bar.finish_and_clear());
        })?;
        // What is true of every frame is said once.
        for note in notes.into_iter().filter(|_| !arguments.quiet) {
            if !told.contains(&note) {
                eprintln!("note: {note}");
                told.push(note);
            }
        }
        bar.iter().for_each(|bar| bar.inc(1));
    }
    bar.iter().for_each(|bar| bar.finish_and_clear());
    working.end();
    if arguments.quiet {
        return Ok(ExitCode::Done);
    }
    Ok(print(&match &jobs[..] {
        [job] => format!("{} is written\n", job.to.display()),
        jobs => format!("{}: {} files are written\n", arguments.to, jobs.len()),
    }))
}
