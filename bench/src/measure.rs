//! Timing one piece of work: median of five after a warm-up, on all threads and on one, with every result hashed.

use crate::Result;
use crate::harness::Pools;
use crate::hash::StableHash;
use crate::peers::PeerSolves;
use std::time::Instant;

/// Timed calls per thread count; the median of them counts.
const ROUNDS: usize = 5;

/// Work to be timed; made by [`Context::work`](crate::harness::Context::work).
#[derive(Debug, Clone, Copy)]
pub struct Work<'a> {
    pools: &'a Pools,
    unit: &'static str,
    units: u64,
    bytes: Option<u64>,
}

/// What was measured of one piece of work.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// What is counted, for example `particles`.
    pub unit: &'static str,
    /// How many of them one call works on.
    pub units: u64,
    /// Useful bytes that one call moves, if it says so.
    pub bytes: Option<u64>,
    /// Threads of the parallel calls.
    pub threads: usize,
    /// Median time of a call on all threads [s].
    pub seconds: f64,
    /// Median time of a call on one thread [s].
    pub seconds_on_one: f64,
    /// Hash of the result, the same after every call.
    pub hash: u64,
    /// Memory that goes with it [B], if the benchmark says so.
    pub mem_bytes: Option<u64>,
    /// How peers solved the system that the work solves.
    pub peers: PeerSolves,
}

/// A call gave another result than the first one: on another number of threads, or on the same.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error(
    "the result depends on the run: {first:016x} on {first_threads} threads at first, \
     {found:016x} on {found_threads} in round {round}; the same bytes were promised"
)]
pub struct ResultChanged {
    first: u64,
    first_threads: usize,
    found: u64,
    found_threads: usize,
    round: usize,
}

impl<'a> Work<'a> {
    pub(crate) fn new(pools: &'a Pools, unit: &'static str, units: u64) -> Self {
        Work { pools, unit, units, bytes: None }
    }

    /// Useful bytes that one call moves: what must be read and written at least once. Gives `vs_triad`.
    pub fn bytes(self, bytes: u64) -> Self {
        Work { bytes: Some(bytes), ..self }
    }

    /// Times `work`, which must leave the same result in `state` however often it has run before.
    pub fn measure<S: Send>(
        self,
        state: &mut S,
        work: impl FnMut(&mut S) -> Result<()> + Send,
        hash: impl Fn(&S, &mut StableHash),
    ) -> Result<Measured> {
        self.measure_after(state, |_| Ok(()), work, hash)
    }

    /// Times `work`; `reset` goes before each call, untimed, and brings `state` back to where the work begins.
    pub fn measure_after<S: Send>(
        self,
        state: &mut S,
        mut reset: impl FnMut(&mut S) -> Result<()> + Send,
        mut work: impl FnMut(&mut S) -> Result<()> + Send,
        hash: impl Fn(&S, &mut StableHash),
    ) -> Result<Measured> {
        let pools = [&self.pools.many, &self.pools.one];
        let mut seconds = [[0.0; ROUNDS]; 2];
        let mut first = None;

        // The two thread counts take turns, so that a disturbance of the machine meets both. Round 0 is the warm-up.
        for round in 0..=ROUNDS {
            for (pool, seconds) in pools.into_iter().zip(&mut seconds) {
                let elapsed = pool.install(|| -> Result<f64> {
                    reset(state)?;
                    let start = Instant::now();
                    work(state)?;
                    Ok(start.elapsed().as_secs_f64())
                })?;
                if round > 0 {
                    seconds[round - 1] = elapsed;
                }

                let mut found = StableHash::default();
                hash(state, &mut found);
                let (found, found_threads) = (found.finish(), pool.current_num_threads());
                let &mut (first, first_threads) = first.get_or_insert((found, found_threads));
                if found != first {
                    return Err(ResultChanged {
                        first,
                        first_threads,
                        found,
                        found_threads,
                        round,
                    }
                    .into());
                }
            }
        }

        let [many, one] = seconds.map(median);
        Ok(Measured {
            unit: self.unit,
            units: self.units,
            bytes: self.bytes,
            threads: self.pools.many.current_num_threads(),
            seconds: many,
            seconds_on_one: one,
            hash: first.map_or(0, |(hash, _)| hash),
            mem_bytes: None,
            peers: PeerSolves::new(),
        })
    }
}

impl Measured {
    /// Memory of the data, as the library reports it [B]. For a solver: what it takes at most, beyond the matrix and the
    /// right-hand side that it is given.
    pub fn mem_bytes(self, bytes: u64) -> Self {
        Measured { mem_bytes: Some(bytes), ..self }
    }

    /// Compares with peers that solved the same system, set-up included. Gives `vs_PEER`, and with
    /// [`Measured::mem_bytes`] also `mem_vs_PEER`.
    pub fn against(self, peers: &PeerSolves) -> Self {
        Measured { peers: peers.clone(), ..self }
    }

    /// Units of work per second on all threads [1/s].
    pub fn rate(&self) -> f64 {
        self.units as f64 / self.seconds
    }

    /// Useful bytes per second on all threads [B/s], if the work counts them.
    pub fn bandwidth(&self) -> Option<f64> {
        self.bytes.map(|bytes| bytes as f64 / self.seconds)
    }

    /// How much faster all threads are than one.
    pub fn speedup(&self) -> f64 {
        self.seconds_on_one / self.seconds
    }
}

/// The middle one of an odd number of values.
fn median<const N: usize>(mut values: [f64; N]) -> f64 {
    const { assert!(N % 2 == 1, "an even number of values has no middle one") };
    values.sort_by(f64::total_cmp);
    values[N / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_value_in_any_order() {
        assert_eq!(median([5.0, 1.0, 4.0, 2.0, 100.0]), 4.0);
        assert_eq!(median([7.0]), 7.0);
        assert_eq!(median([2.0, 2.0, 1.0]), 2.0);
    }

    #[test]
    fn work_runs_once_per_round_and_thread_count_after_its_reset() {
        let pools = Pools::new(2).expect("two threads");
        let mut log = String::new();
        let measured = Work::new(&pools, "calls", 1)
            .measure_after(
                &mut log,
                |log| {
                    log.push('r');
                    Ok(())
                },
                |log| {
                    log.push(if rayon::current_num_threads() == 2 { 'M' } else { '1' });
                    Ok(())
                },
                |_, hash| hash.write(b"same"),
            )
            .expect("the result never changes");
        assert_eq!(log, "rMr1".repeat(1 + ROUNDS));
        assert_eq!((measured.threads, measured.units, measured.bytes), (2, 1, None));
    }

    #[test]
    fn a_result_that_depends_on_the_threads_fails_the_run() {
        let pools = Pools::new(3).expect("three threads");
        let result = Work::new(&pools, "calls", 1).measure(
            &mut 0,
            |state| {
                *state = rayon::current_num_threads();
                Ok(())
            },
            |state, hash| hash.write(&[*state]),
        );
        let message = result.expect_err("3 is not 1").to_string();
        assert!(
            message.contains("on 3 threads at first") && message.contains("on 1 in round 0"),
            "{message}"
        );
    }

    #[test]
    fn a_result_that_drifts_from_call_to_call_fails_the_run() {
        let pools = Pools::new(1).expect("one thread");
        let result = Work::new(&pools, "calls", 1).measure(
            &mut 0u32,
            |state| {
                *state += 1;
                Ok(())
            },
            |state, hash| hash.write(&[*state]),
        );
        assert!(result.is_err());
    }

    #[test]
    fn an_error_of_the_work_ends_the_run() {
        let pools = Pools::new(1).expect("one thread");
        let result = Work::new(&pools, "calls", 1).measure(
            &mut (),
            |_| Err("out of cheese".into()),
            |_, _| (),
        );
        assert_eq!(result.expect_err("the work failed").to_string(), "out of cheese");
    }
}
