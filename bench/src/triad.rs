//! The yardstick: a memory triad `a[i] = b[i] + s·c[i]` after STREAM (McCalpin 1995), counting 24 bytes per element.
//!
//! Stores are ordinary ones, which also read the line they write: that is what our kernels do, and what gcc makes of
//! STREAM without being told otherwise. The harness runs it before and after every benchmark; it is a benchmark too.

use crate::Result;
use crate::harness::{Benchmark, Context, Outcome, Pools};
use crate::machine;
use rayon::prelude::*;
use std::time::Instant;

/// The triad as a benchmark of its own: checks the harness, and shows how steady the machine is.
pub const BENCHMARK: Benchmark = Benchmark {
    name: "triad",
    doc: "memory bandwidth [B/s] of a[i] = b[i] + s·c[i] on f64; size is MiB per array",
    default_size: 128,
    peers: &[],
    run,
};

/// Bytes that count for one element: two read, one written. The line read in order to be written does not count.
const BYTES_PER_ELEMENT: usize = 24;
/// The scalar of the triad.
const S: f64 = 3.0;
/// Elements per parallel piece: small enough that threads end together, large enough to be a stream.
const PIECE: usize = 1 << 16;
/// The fastest of this many counts, because bandwidth is a limit and everything else disturbs it.
const REPETITIONS: usize = 20;

/// Bandwidth of the triad on many threads and on one [B/s].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bandwidth {
    /// On all threads of the run.
    pub many: f64,
    /// On one thread.
    pub one: f64,
}

impl Bandwidth {
    /// The larger of two measurements, figure by figure: the yardstick that flatters a benchmark least.
    pub fn max(self, other: Self) -> Self {
        Bandwidth { many: self.many.max(other.many), one: self.one.max(other.one) }
    }

    /// Whether the machine was steady between the two: neither figure changed by more than a tenth of the larger.
    pub fn agrees_with(self, other: Self) -> bool {
        let near = |a: f64, b: f64| (a - b).abs() <= 0.1 * a.max(b);
        near(self.many, other.many) && near(self.one, other.one)
    }

    /// How much faster many threads are than one.
    pub fn speedup(self) -> f64 {
        self.many / self.one
    }
}

/// The yardstick of one run. Its arrays live as long as the run: how fast memory is depends on which pages one was given
/// (by a quarter on a virtual machine), so before and after can only be compared on the same ones.
pub struct Triad<'a> {
    pools: &'a Pools,
    arrays: Arrays,
}

impl<'a> Triad<'a> {
    /// Allocates three arrays of `array_bytes` each.
    pub fn new(pools: &'a Pools, array_bytes: usize) -> Self {
        Triad { pools, arrays: pools.many.install(|| Arrays::new(array_bytes)) }
    }

    /// The bandwidth now.
    pub fn measure(&mut self) -> Bandwidth {
        let bytes = self.arrays.bytes() as f64;
        let mut fastest = Bandwidth { many: 0.0, one: 0.0 };
        for _ in 0..REPETITIONS {
            fastest.many =
                fastest.many.max(bytes / self.pools.many.install(|| self.arrays.timed_triad()));
            fastest.one =
                fastest.one.max(bytes / self.pools.one.install(|| self.arrays.timed_triad()));
        }
        fastest
    }
}

/// The array size [B] that no cache can hold a useful part of: four times the last level, and no less than 128 MiB.
pub fn array_bytes_for_this_machine() -> usize {
    (4 * machine::last_level_cache().unwrap_or(0)).max(128 << 20)
}

fn run(context: &Context) -> Result<Outcome> {
    let mut arrays = Arrays::new(context.size.saturating_mul(1 << 20));
    let triad = context.work("B", arrays.bytes()).bytes(arrays.bytes()).measure(
        &mut arrays,
        |arrays| {
            arrays.triad();
            Ok(())
        },
        |arrays, hash| hash.write(&arrays.a),
    )?;
    Ok(Outcome::new(triad).mem_bytes(arrays.bytes()))
}

struct Arrays {
    a: Vec<f64>,
    b: Vec<f64>,
    c: Vec<f64>,
}

impl Arrays {
    /// First touched in parallel, by the threads of the current pool.
    fn new(bytes: usize) -> Self {
        let filled = |value: fn(usize) -> f64| {
            (0..bytes / size_of::<f64>()).into_par_iter().map(value).collect()
        };
        Arrays {
            a: filled(|_| 0.0),
            b: filled(|i| (i % 1024) as f64),
            c: filled(|i| (i % 1000) as f64),
        }
    }

    fn bytes(&self) -> u64 {
        (BYTES_PER_ELEMENT * self.a.len()) as u64
    }

    fn triad(&mut self) {
        let pieces = self
            .a
            .par_chunks_mut(PIECE)
            .zip(self.b.par_chunks(PIECE))
            .zip(self.c.par_chunks(PIECE));
        pieces.for_each(|((a, b), c)| {
            for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
                *a = b + S * c;
            }
        });
    }

    /// Seconds that one triad takes.
    fn timed_triad(&mut self) -> f64 {
        let start = Instant::now();
        self.triad();
        start.elapsed().as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_triad_computes_what_it_says() {
        // One element more than a whole number of pieces.
        let mut arrays = Arrays::new(8 * (2 * PIECE + 1));
        arrays.triad();
        assert_eq!(arrays.a.len(), 2 * PIECE + 1);
        assert_eq!(arrays.bytes(), 24 * (2 * PIECE as u64 + 1));
        assert!((0..arrays.a.len()).all(|i| arrays.a[i] == arrays.b[i] + S * arrays.c[i]));
    }

    #[test]
    fn two_measurements_agree_up_to_a_tenth_of_the_larger_in_both_figures() {
        let before = Bandwidth { many: 100.0, one: 50.0 };
        assert!(before.agrees_with(before));
        assert!(before.agrees_with(Bandwidth { many: 90.0, one: 50.0 }));
        assert!(!before.agrees_with(Bandwidth { many: 89.9, one: 50.0 }));
        assert!(!before.agrees_with(Bandwidth { many: 100.0, one: 56.0 }));
        assert!(!Bandwidth { many: 89.9, one: 50.0 }.agrees_with(before), "in either order");
    }

    #[test]
    fn the_arrays_are_four_times_the_last_level_cache_at_least() {
        assert!(array_bytes_for_this_machine() >= 4 * machine::last_level_cache().unwrap_or(0));
        assert!(array_bytes_for_this_machine() >= 128 << 20);
    }
}
