//! How checkpoints of older format versions are brought up to date.
//!
//! A step changes the directory, from one version to the next: it renames channels, gives new fields a value, drops a
//! channel that nobody reads any more. Sections stay where they are, because the directory says which of them are used
//! for what; whatever a new version stores otherwise in sections is told apart by a new field.

use super::error::CheckpointError;
use super::header::VERSION;
use serde_json::Value;

/// One step, from a version to the next.
#[derive(Debug, Clone, Copy)]
pub struct Migration {
    /// The version that it begins with; it ends with the next.
    pub from: u32,
    /// Changes the directory, or says why it cannot.
    pub change: fn(&mut Value) -> Result<(), String>,
}

/// All steps there are, from the oldest version that can be read. Version 1 is the first.
pub const MIGRATIONS: &[Migration] = &[];

/// Brings a directory up to date, step by step.
pub(super) fn bring_up_to_date(
    directory: &mut Value,
    version: u32,
    steps: &[Migration],
) -> Result<(), CheckpointError> {
    for from in version..VERSION {
        let Some(step) = steps.iter().find(|step| step.from == from) else {
            return Err(refusal(version, steps));
        };
        (step.change)(directory).map_err(|why| CheckpointError::Migration {
            from,
            to: from + 1,
            why,
        })?;
    }
    Ok(())
}

/// Refuses a version that is newer than this build, or too old for the steps that there are.
pub(super) fn check(version: u32, steps: &[Migration]) -> Result<(), CheckpointError> {
    let known = |from: u32| steps.iter().any(|step| step.from == from);
    match version <= VERSION && (version..VERSION).all(known) {
        true => Ok(()),
        false => Err(refusal(version, steps)),
    }
}

fn refusal(found: u32, steps: &[Migration]) -> CheckpointError {
    let known = |from: &u32| steps.iter().any(|step| step.from == *from);
    let oldest = (0..VERSION).rev().take_while(known).last().unwrap_or(VERSION);
    CheckpointError::Version { found, oldest, newest: VERSION }
}
