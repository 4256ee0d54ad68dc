//! The examples in the documentation, run by rustdoc. Its output is for people, so the counts are read from its words.

use crate::cargo::{CARGO_LIMIT, cargo, with_mpi_settings};
use crate::process::{self, Ending};
use crate::report::Outcome;

/// Runs all doctests of the workspace.
pub fn run(arguments: &[String]) -> Result<Outcome, String> {
    let mut command = cargo(&["test", "--doc", "--no-fail-fast"]);
    command.args(arguments);
    let mut lines = Vec::new();
    let ending = process::run_lines(with_mpi_settings(&mut command), CARGO_LIMIT, |_, line| {
        lines.push(line.to_string())
    })
    .map_err(|why| why.to_string())?;

    let (passed, failed) = lines
        .iter()
        .filter_map(|line| counts(line))
        .fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
    let is_good = matches!(ending, Ending::Exited(status) if status.success());
    if !is_good {
        lines.iter().for_each(|line| println!("    {line}"));
    }
    // A doctest that does not even link is told of by the exit status alone.
    let unexplained = usize::from(!is_good && failed == 0);
    Ok(Outcome::Counted { passed, failed: failed + unexplained })
}

/// Passed and failed, of a line `test result: ok. 3 passed; 0 failed; …`.
fn counts(line: &str) -> Option<(usize, usize)> {
    let (_, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let count = |word: &str| {
        counts.split("; ").find_map(|part| part.strip_suffix(word)?.trim().parse().ok())
    };
    Some((count("passed")?, count("failed")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counts_are_read_from_the_result_line() {
        let line = "test result: FAILED. 3 passed; 12 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.02s";
        assert_eq!(counts(line), Some((3, 12)));
        assert_eq!(counts("test crates/undine-core/src/lib.rs - (line 3) ... ok"), None);
    }
}
