//! How long a tier and a single test may take. Tests that grow slow unnoticed are how an inner loop dies.

use crate::arguments::Tier;
use crate::report::Outcome;
use std::time::Duration;

/// Longest a test may take [s].
const TEST_SECONDS: f64 = 20.0;
/// Longest a test may take that starts or kills processes, or goes through another program [s]: it waits for others more
/// than it computes.
const PROCESS_TEST_SECONDS: f64 = 60.0;
/// What marks such a test in its path.
const PROCESS_TEST_WORDS: &[&str] = &["mpi", "kill", "peer"];
/// How many times as long a test may take in the full tier, where some do more than in others.
const TIMES_IF_FULL: f64 = 4.0;

/// The budget of a tier.
pub struct Budget {
    total: Option<Duration>,
    /// True when the total holds only once dependencies are built.
    warm_only: bool,
    /// True when tests are to try as often as they can.
    pub is_full: bool,
}

impl Budget {
    /// The budget of `tier`. The full one takes the time it needs.
    pub fn of(tier: Tier) -> Self {
        let minutes = |count: u64| Some(Duration::from_secs(60 * count));
        match tier {
            Tier::Quick => Self { total: minutes(2), warm_only: true, is_full: false },
            Tier::Default => Self { total: minutes(30), warm_only: false, is_full: false },
            Tier::Full => Self { total: None, warm_only: false, is_full: true },
        }
    }

    /// Longest that the test at this path may take [s].
    pub fn seconds_of_test(&self, path: &str) -> f64 {
        let waits = PROCESS_TEST_WORDS.iter().any(|word| path.contains(word));
        let seconds = if waits { PROCESS_TEST_SECONDS } else { TEST_SECONDS };
        if self.is_full { TIMES_IF_FULL * seconds } else { seconds }
    }

    /// Holds the time of the whole run against the budget.
    pub fn judge_total(&self, elapsed: Duration, cold: bool) -> Result<Outcome, String> {
        match self.total {
            None => Ok(Outcome::skipped("this tier has none")),
            Some(_) if self.warm_only && cold => {
                Ok(Outcome::skipped("dependencies were built, so this run was not warm"))
            }
            Some(total) if elapsed > total => Err(format!(
                "took {:.0} s, but this tier has {} s: see the slowest steps and tests above",
                elapsed.as_secs_f64(),
                total.as_secs()
            )),
            Some(_) => Ok(Outcome::of(true)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_of_processes_have_longer() {
        let budget = Budget::of(Tier::Default);
        let full = Budget::of(Tier::Full);
        assert_eq!(full.seconds_of_test("undine-core it: a"), TIMES_IF_FULL * TEST_SECONDS);
        assert_eq!(budget.seconds_of_test("undine-core it: volume::stencil"), TEST_SECONDS);
        assert_eq!(budget.seconds_of_test("undine-core it: mpi::halo"), PROCESS_TEST_SECONDS);
        assert_eq!(budget.seconds_of_test("undine-vdb it: peer::tiles"), PROCESS_TEST_SECONDS);
        assert_eq!(
            budget.seconds_of_test("undine-cli it: a_killed_run_resumes"),
            PROCESS_TEST_SECONDS
        );
    }

    #[test]
    fn a_tier_over_its_total_fails_unless_a_quick_one_was_cold() {
        let long = Duration::from_secs(31 * 60);
        assert!(Budget::of(Tier::Quick).judge_total(long, false).is_err());
        assert!(matches!(Budget::of(Tier::Quick).judge_total(long, true), Ok(Outcome::Skipped(_))));
        assert!(Budget::of(Tier::Default).judge_total(long, true).is_err());
        assert!(matches!(Budget::of(Tier::Full).judge_total(long, false), Ok(Outcome::Skipped(_))));
        assert_eq!(
            Budget::of(Tier::Quick).judge_total(Duration::from_secs(60), false),
            Ok(Outcome::of(true))
        );
    }
}
