//! The lines that a test program prints under `--format json`, and the record they add up to.
//!
//! The format is unstable but has not changed in years; a line that cannot be read is kept as text of the program,
//! because a child of a test (an MPI rank, say) may print past the harness's capture.

use serde_json::Value;
use std::collections::BTreeSet;

/// One test that ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Test {
    /// Path of the test within its program.
    pub name: String,
    /// Wall time [s].
    pub seconds: f64,
    /// `None` when it passed, otherwise what it printed.
    pub failure: Option<String>,
}

/// What one test program has said so far.
#[derive(Debug, Default)]
pub struct Record {
    /// Tests that ended, in the order in which they did.
    pub tests: Vec<Test>,
    /// How many there are.
    pub count: u64,
    /// Those that began and have not ended.
    pub running: BTreeSet<String>,
    /// True once the program has said that it is through.
    pub finished: bool,
    /// Lines that are not the harness's.
    pub noise: Vec<String>,
}

impl Record {
    /// Takes in one line of the program's output.
    pub fn read(&mut self, line: &str) {
        let Some((before, event)) = split_event(line) else {
            if !line.is_empty() {
                self.noise.push(line.to_string());
            }
            return;
        };
        if !before.is_empty() {
            self.noise.push(before.to_string());
        }
        let text = |key: &str| event[key].as_str().unwrap_or_default().to_string();
        match (text("type").as_str(), text("event").as_str()) {
            ("suite", "started") => self.count = event["test_count"].as_u64().unwrap_or(0),
            ("suite", "ok" | "failed") => self.finished = true,
            ("test", "started") => drop(self.running.insert(text("name"))),
            ("test", "ok") => self.end(&event, None),
            ("test", "failed") => {
                self.end(&event, Some([text("stdout"), text("message")].concat()))
            }
            ("test", "ignored") => {
                self.end(
                    &event,
                    Some("is ignored; make it fast, or make it a validation case\n".to_string()),
                );
            }
            _ => {}
        }
    }

    fn end(&mut self, event: &Value, failure: Option<String>) {
        let name = event["name"].as_str().unwrap_or_default().to_string();
        self.running.remove(&name);
        self.tests.push(Test {
            name,
            seconds: event["exec_time"].as_f64().unwrap_or(0.0),
            failure,
        });
    }
}

/// The harness's event at the end of a line, and what stands before it: a child of a test may have printed half a line.
fn split_event(line: &str) -> Option<(&str, Value)> {
    let at = line.find("{ \"type\":")?;
    let event = serde_json::from_str(&line[at..]).ok()?;
    Some((&line[..at], event))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(lines: &[&str]) -> Record {
        let mut record = Record::default();
        lines.iter().for_each(|line| record.read(line));
        record
    }

    #[test]
    fn a_whole_run_is_read() {
        let record = record(&[
            r#"{ "type": "suite", "event": "started", "test_count": 2 }"#,
            r#"{ "type": "test", "event": "started", "name": "a::one" }"#,
            r#"{ "type": "test", "event": "started", "name": "a::two" }"#,
            r#"{ "type": "test", "name": "a::one", "event": "ok", "exec_time": 1.25 }"#,
            r#"{ "type": "test", "name": "a::two", "event": "failed", "exec_time": 0.5, "stdout": "found 1\n" }"#,
            r#"{ "type": "suite", "event": "failed", "passed": 1, "failed": 1, "ignored": 0 }"#,
        ]);
        assert_eq!(record.count, 2);
        assert!(record.finished && record.running.is_empty() && record.noise.is_empty());
        assert_eq!(
            record.tests[0],
            Test { name: "a::one".to_string(), seconds: 1.25, failure: None }
        );
        assert_eq!(record.tests[1].failure.as_deref(), Some("found 1\n"));
    }

    #[test]
    fn a_crash_shows_as_tests_still_running_and_no_end() {
        let record = record(&[
            r#"{ "type": "suite", "event": "started", "test_count": 1 }"#,
            r#"{ "type": "test", "event": "started", "name": "overflows_the_stack" }"#,
            "thread has overflowed its stack",
        ]);
        assert!(!record.finished);
        assert!(record.running.contains("overflows_the_stack"));
        assert_eq!(record.noise, ["thread has overflowed its stack"]);
    }

    #[test]
    fn an_event_behind_half_a_line_of_another_process_is_found() {
        let record = record(&[
            r#"rank 1 sa{ "type": "test", "name": "halo", "event": "ok", "exec_time": 0.1 }"#,
        ]);
        assert_eq!(record.tests.len(), 1);
        assert_eq!(record.noise, ["rank 1 sa"]);
    }

    #[test]
    fn an_ignored_test_is_a_failure() {
        let record = record(&[r#"{ "type": "test", "name": "slow", "event": "ignored" }"#]);
        assert!(record.tests[0].failure.is_some());
    }

    #[test]
    fn other_json_is_text_of_the_program() {
        assert_eq!(record(&[r#"{"type": 3}"#, "{ \"type\": broken"]).noise.len(), 2);
    }
}
