//! The validation program: long cases with their figures, a program of its own so that no test need be ignored.

use super::programs::build_binary;
use crate::cargo::{passes, root, with_mpi_settings};
use crate::report::Outcome;
use std::process::Command;
use std::time::Duration;

/// The cases take the time they need, but a night must be enough for all of them.
const LIMIT: Duration = Duration::from_secs(8 * 60 * 60);

/// Builds and runs it with these words as its arguments. It prints its own table and writes `docs/validation/`.
pub fn run(arguments: &[String], words: &[String]) -> Result<Outcome, String> {
    let program = build_binary(arguments, "validation")?;
    passes(with_mpi_settings(Command::new(program.path).current_dir(root()).args(words)), LIMIT)
}
