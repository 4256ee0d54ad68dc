//! How long a tier and a single test should take. Tests that grow slow unnoticed are how an inner loop dies, so what takes
//! longer is told, loudly. It fails nothing: a busy machine says nothing about a tree.

use crate::arguments::Tier;
use std::time::Duration;

/// Longest a test should take [s].
const TEST_SECONDS: f64 = 20.0;
/// Longest a test should take that starts or kills processes, or goes through another program [s]: it waits for others more
/// than it computes.
const PROCESS_TEST_SECONDS: f64 = 60.0;
/// What marks such a test in its path.
const PROCESS_TEST_WORDS: &[&str] = &["mpi", "kill", "peer"];
/// How many times as long a test should take at most in the full tier, where some do more than in others.
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

    /// Longest that the test at this path should take [s].
    pub fn seconds_of_test(&self, path: &str) -> f64 {
        let waits = PROCESS_TEST_WORDS.iter().any(|word| path.contains(word));
        let seconds = if waits { PROCESS_TEST_SECONDS } else { TEST_SECONDS };
        if self.is_full { TIMES_IF_FULL * seconds } else { seconds }
    }

    /// What there is to tell of a test at this path that took so long, if it is slow.
    pub fn slow_test(&self, path: &str, seconds: f64) -> Option<String> {
        let limit = self.seconds_of_test(path);
        let told =
            || format!("{path} took {seconds:.1} s; a test of its kind should take {limit} s");
        (seconds > limit).then(told)
    }

    /// What there is to tell of the whole run, if it was slow. A tier that is meant for what is built already is not judged
    /// when third-party packages had to be compiled (`cold`).
    pub fn slow_tier(&self, elapsed: Duration, cold: bool) -> Option<String> {
        let total = self.total.filter(|_| !(self.warm_only && cold))?;
        (elapsed > total).then(|| {
            format!(
                "the whole run took {:.0} s; this tier should take {} s: see the slowest steps and tests above",
                elapsed.as_secs_f64(),
                total.as_secs()
            )
        })
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
    fn a_slow_test_is_told_with_its_time_and_limit() {
        let budget = Budget::of(Tier::Default);
        assert_eq!(budget.slow_test("a: t", 19.0), None);
        let told = budget.slow_test("a: t", 21.0).expect("it is slow");
        assert!(told.contains("a: t took 21.0 s") && told.contains("20 s"), "{told}");
        assert_eq!(budget.slow_test("a: mpi::t", 21.0), None);
    }

    #[test]
    fn a_tier_over_its_total_is_told_unless_a_quick_one_was_cold() {
        let long = Duration::from_secs(31 * 60);
        assert!(Budget::of(Tier::Quick).slow_tier(long, false).is_some());
        assert_eq!(Budget::of(Tier::Quick).slow_tier(long, true), None);
        let told = Budget::of(Tier::Default).slow_tier(long, true).expect("it is slow");
        assert!(told.contains("1860 s") && told.contains("1800 s"), "{told}");
        assert_eq!(Budget::of(Tier::Full).slow_tier(long, false), None);
        assert_eq!(Budget::of(Tier::Quick).slow_tier(Duration::from_secs(60), false), None);
    }
}
