//! What was done and how it went: a line when a step begins, a table and one plain line at the end.

use std::time::{Duration, Instant};

/// How a step ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Counts of what passed and what failed in it; a check counts as one.
    Counted {
        /// How many passed.
        passed: usize,
        /// How many failed.
        failed: usize,
    },
    /// Not done, and why.
    Skipped(String),
}

impl Outcome {
    /// A check that found nothing passes; its findings are printed here, one per line.
    pub fn of_check(findings: &[String]) -> Self {
        for finding in findings {
            println!("  {finding}");
        }
        Self::of(findings.is_empty())
    }

    /// One thing, passed or failed.
    pub fn of(passed: bool) -> Self {
        Self::Counted { passed: passed.into(), failed: (!passed).into() }
    }

    /// Not done, for this reason.
    pub fn skipped(why: impl Into<String>) -> Self {
        Self::Skipped(why.into())
    }
}

struct Step {
    name: &'static str,
    time: Duration,
    outcome: Outcome,
}

/// The steps done so far.
pub struct Report {
    start: Instant,
    steps: Vec<Step>,
}

impl Report {
    /// Nothing done yet.
    pub fn new() -> Self {
        Self { start: Instant::now(), steps: Vec::new() }
    }

    /// Runs one named step and keeps its time. An error is printed and fails the step; the next one still runs.
    pub fn step(&mut self, name: &'static str, run: impl FnOnce() -> Result<Outcome, String>) {
        println!("── {name}");
        let start = Instant::now();
        let outcome = run().unwrap_or_else(|why| {
            println!("  {why}");
            Outcome::of(false)
        });
        if let Outcome::Skipped(why) = &outcome {
            println!("  skipped: {why}");
        }
        self.steps.push(Step { name, time: start.elapsed(), outcome });
    }

    /// Starts the tier's clock anew: what was done so far is not part of its budget.
    pub fn start_clock(&mut self) {
        self.start = Instant::now();
    }

    /// Time since the clock was started.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Prints the table, then what was slow, then `N passed, N failed` alone on the last line. True when nothing failed, slow
    /// or not.
    pub fn finish(self, slow: &[String]) -> bool {
        let (table, failed) = self.table(slow);
        print!("\n{table}");
        failed == 0
    }

    fn table(&self, slow: &[String]) -> (String, usize) {
        let (mut table, mut passed, mut failed) = (String::new(), 0, 0);
        for step in &self.steps {
            let words = match &step.outcome {
                Outcome::Counted { passed: 0 | 1, failed: 0 } => "ok".to_string(),
                Outcome::Counted { passed, failed: 0 } => format!("ok, {passed} passed"),
                Outcome::Counted { passed: 0, failed: 1 } => "FAILED".to_string(),
                Outcome::Counted { passed, failed } => {
                    format!("FAILED, {failed} of {}", passed + failed)
                }
                Outcome::Skipped(why) => format!("skipped: {why}"),
            };
            table += &format!("{:>8.1} s  {:<22} {words}\n", step.time.as_secs_f64(), step.name);
            if let Outcome::Counted { passed: more_passed, failed: more_failed } = &step.outcome {
                passed += more_passed;
                failed += more_failed;
            }
        }
        table += &format!("{:>8.1} s  in all\n\n", self.elapsed().as_secs_f64());
        for told in slow {
            table += &format!("SLOW: {told}\n");
        }
        if !slow.is_empty() {
            table += "Slow things fail nothing, since other work on the machine may be to blame. If they are slow on an \
                idle one, make them faster.\n\n";
        }
        table += &format!("{passed} passed, {failed} failed\n");
        (table, failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_counts_over_all_steps_and_skipped_ones_count_nothing() {
        let mut report = Report::new();
        report.step("format", || Ok(Outcome::of(true)));
        report.step("tests", || Ok(Outcome::Counted { passed: 40, failed: 2 }));
        report.step("validation", || Ok(Outcome::skipped("not asked for")));
        report.step("docs", || Err("no such file".to_string()));
        let (table, failed) = report.table(&["a: t took 21.0 s".to_string()]);
        assert_eq!(table.lines().last(), Some("41 passed, 3 failed"));
        assert_eq!(failed, 3);
        assert!(table.contains("FAILED, 2 of 42"));
        assert!(table.contains("skipped: not asked for"));
        assert!(table.contains("SLOW: a: t took 21.0 s\n"));
        assert!(!report.finish(&[]));
    }

    #[test]
    fn what_is_slow_fails_nothing() {
        let mut report = Report::new();
        report.step("tests", || Ok(Outcome::of(true)));
        let slow = ["a: t took 21.0 s".to_string()];
        assert_eq!(report.table(&slow).0.lines().last(), Some("1 passed, 0 failed"));
        assert!(report.finish(&slow));
    }
}
