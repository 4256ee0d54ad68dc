//! Running another program: what it says, what its last line holds, and how it failed.

use super::PeerError;
use std::process::{Command, Output, Stdio};

/// Runs a peer and gives the last line of what it says.
pub fn last_line(command: &mut Command) -> Result<String, PeerError> {
    let said = String::from_utf8_lossy(&output(command)?.stdout).into_owned();
    Ok(said.trim_end().lines().last().unwrap_or_default().to_owned())
}

/// The finite number that `key` has in a line of `key=value`s.
pub fn number(line: &str, key: &str) -> Option<f64> {
    let value = |word: &str| word.strip_prefix(key)?.strip_prefix('=').map(str::to_owned);
    let value = line.split_whitespace().find_map(value)?;
    value.parse().ok().filter(|number: &f64| number.is_finite())
}

/// What a command says, or an error with the end of what it complained about.
pub fn output(command: &mut Command) -> Result<Output, PeerError> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| PeerError::NotStarted {
        command: words(command),
        cause: error.to_string(),
    })?;
    if output.status.success() {
        return Ok(output);
    }
    // `python3 -m venv` complains on standard output.
    let said = [&output.stdout[..], &output.stderr]
        .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        .concat();
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let end = lines[lines.len().saturating_sub(4)..].join("; ");
    let said = if end.is_empty() { output.status.to_string() } else { end };
    Err(PeerError::Failed { command: words(command), said })
}

/// A command as a person would type it.
pub fn words(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut shell = Command::new("sh");
        shell.args(["-c", script]);
        shell
    }

    #[test]
    fn numbers_are_read_from_the_last_line_only() {
        let line =
            last_line(&mut shell("echo rate=1; echo peer: rate=2 of=three")).expect("a line");
        assert_eq!(number(&line, "rate"), Some(2.0));
        assert_eq!(number("taichi-mpm: size=10 rate=5.9e6 finite=yes", "rate"), Some(5.9e6));
        for bad in
            ["", "rate", "rate=", "rate=fast", "rate=inf", "rate=nan", "the_rate=3", "rates=3"]
        {
            assert_eq!(number(bad, "rate"), None, "{bad}");
        }
    }

    #[test]
    fn a_failing_peer_is_quoted() {
        let message = |mut command| last_line(&mut command).expect_err("it failed").to_string();
        let failed = message(shell("echo no such package >&2; exit 3"));
        assert!(failed.ends_with("failed: no such package"), "{failed}");
        let failed = message(shell("exit 3"));
        assert!(failed.ends_with("exit status: 3"), "{failed}");
        let failed = message(Command::new("/no/such/peer"));
        assert!(failed.starts_with("cannot start `/no/such/peer`"), "{failed}");
    }
}
