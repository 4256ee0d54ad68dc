//! Sums and updates of vectors on all threads. Every sum has the same bits on any number of them: a vector is cut into
//! chunks of a fixed length, each is summed in eight fixed lanes, and the chunks' sums are added in order.
//!
//! Several updates are fused into one pass where a solver needs them together: vectors are long, and memory is what a
//! pass costs.

use crate::real::Real;
use rayon::prelude::*;

/// Entries of a chunk: long enough to outweigh its bookkeeping, short enough to keep all threads busy.
pub const CHUNK: usize = 4096;

/// Vectors below this length are not worth waking other threads for.
const ALONE: usize = 8 * CHUNK;

/// The lanes of a sum.
const LANES: usize = 8;

/// x·y of the entries here; the sum over processes is the caller's.
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    debug_assert_eq!(x.len(), y.len());
    let chunk = |n: usize| {
        let range = n * CHUNK..(n * CHUNK + CHUNK).min(x.len());
        lanes(&x[range.clone()], &y[range])
    };
    sum_chunks(x.len(), chunk)
}

/// x·x of the entries here.
pub fn square(x: &[f64]) -> f64 {
    dot(x, x)
}

/// The largest magnitude of the entries here; NaN if any is NaN.
pub fn largest(x: &[f64]) -> f64 {
    let chunk = |x: &[f64]| x.iter().fold(0.0_f64, |max, &x| max_or_nan(max, x.abs()));
    if x.len() < ALONE {
        return chunk(x);
    }
    x.par_chunks(CHUNK).map(chunk).reduce(|| 0.0, max_or_nan)
}

/// Why the norm of a right-hand side that is not zero says nothing of it, if so: sums of squares vanish below, and overflow
/// above what is reasonable, and a residual beside them would pass for small.
pub(crate) fn beyond_measure(norm: f64) -> Option<&'static str> {
    if norm < 1e-140 {
        Some("the right-hand side is so small that its squares vanish; scale the system")
    } else if norm > 1e150 {
        Some("the right-hand side is so large that its squares overflow; scale the system")
    } else {
        None
    }
}

/// The sum of the entries here.
pub fn sum(x: &[f64]) -> f64 {
    let chunk = |n: usize| {
        let range = n * CHUNK..(n * CHUNK + CHUNK).min(x.len());
        let mut lanes = [0.0; LANES];
        for (n, &x) in x[range].iter().enumerate() {
            lanes[n % LANES] += x;
        }
        add_lanes(lanes)
    };
    sum_chunks(x.len(), chunk)
}

/// y = x.
pub fn copy(x: &[f64], y: &mut [f64]) {
    update(y, x, |_, x| x);
}

/// y ← a·x + y.
pub fn axpy(a: f64, x: &[f64], y: &mut [f64]) {
    update(y, x, |y, x| y + a * x);
}

/// y ← x + b·y.
pub fn xpby(x: &[f64], b: f64, y: &mut [f64]) {
    update(y, x, |y, x| x + b * y);
}

/// y ← f(y, x), entry by entry.
pub fn update(y: &mut [f64], x: &[f64], f: impl Fn(f64, f64) -> f64 + Sync) {
    debug_assert_eq!(x.len(), y.len());
    for_chunks(y, |start, y| {
        for (y, &x) in y.iter_mut().zip(&x[start..]) {
            *y = f(*y, x);
        }
    });
}

/// The step of CG in one pass: x ← x + α·p, r ← r − α·q; returns r·r of the entries here.
pub fn step(alpha: f64, p: &[f64], q: &[f64], x: &mut [f64], r: &mut [f64]) -> f64 {
    if x.len() < ALONE {
        let chunks = p.chunks(CHUNK).zip(q.chunks(CHUNK)).zip(x.chunks_mut(CHUNK));
        let chunks = chunks.zip(r.chunks_mut(CHUNK));
        return chunks.map(|(((p, q), x), r)| step_chunk(alpha, p, q, x, r)).sum();
    }
    let chunks = p.par_chunks(CHUNK).zip(q.par_chunks(CHUNK)).zip(x.par_chunks_mut(CHUNK));
    let chunks = chunks.zip(r.par_chunks_mut(CHUNK));
    let sums: Vec<f64> = chunks.map(|(((p, q), x), r)| step_chunk(alpha, p, q, x, r)).collect();
    sums.into_iter().sum()
}

/// One pass over several vectors: `f(n, entries n of all)` changes them, and its sums are added up, as those of
/// [`dot`] are. Returns the sums of the entries here.
pub fn fused<const M: usize, const S: usize>(
    vectors: [&mut [f64]; M],
    f: impl Fn(usize, [&mut f64; M]) -> [f64; S] + Sync,
) -> [f64; S] {
    let len = vectors.first().map_or(0, |vector| vector.len());
    debug_assert!(vectors.iter().all(|vector| vector.len() == len));
    let mut parts = vectors.map(|vector| vector.chunks_mut(CHUNK));
    let chunks: Vec<[&mut [f64]; M]> = (0..len.div_ceil(CHUNK))
        .map(|_| parts.each_mut().map(|parts| parts.next().unwrap_or_default()))
        .collect();
    let chunk = |(n, mut chunk): (usize, [&mut [f64]; M])| {
        let mut sums = [[0.0; LANES]; S];
        let len = chunk.first().map_or(0, |chunk| chunk.len());
        for entry in 0..len {
            let terms = f(n * CHUNK + entry, chunk.each_mut().map(|chunk| &mut chunk[entry]));
            for (sums, term) in sums.iter_mut().zip(terms) {
                sums[entry % LANES] += term;
            }
        }
        sums.map(add_lanes)
    };
    let sums: Vec<[f64; S]> = match len < ALONE {
        true => chunks.into_iter().enumerate().map(chunk).collect(),
        false => chunks.into_par_iter().enumerate().map(chunk).collect(),
    };
    std::array::from_fn(|s| sums.iter().map(|sums| sums[s]).sum())
}

/// y = x in another precision.
pub fn convert<A: Real, B: Real>(x: &[A], y: &mut [B]) {
    debug_assert_eq!(x.len(), y.len());
    for_chunks(y, |start, y| {
        for (y, &x) in y.iter_mut().zip(&x[start..]) {
            *y = B::from_f64(x.to_f64());
        }
    });
}

/// Calls `work` on every chunk of `y` with the place where it begins, on all threads.
pub fn for_chunks<T: Send>(y: &mut [T], work: impl Fn(usize, &mut [T]) + Sync) {
    if y.len() < ALONE {
        y.chunks_mut(CHUNK).enumerate().for_each(|(n, y)| work(n * CHUNK, y));
    } else {
        y.par_chunks_mut(CHUNK).enumerate().for_each(|(n, y)| work(n * CHUNK, y));
    }
}

/// The sum of `chunk(n)` over all chunks of a vector of `len` entries, added in order.
pub fn sum_chunks(len: usize, chunk: impl Fn(usize) -> f64 + Send + Sync) -> f64 {
    let chunks = len.div_ceil(CHUNK);
    if len < ALONE {
        return (0..chunks).map(chunk).sum();
    }
    let sums: Vec<f64> = (0..chunks).into_par_iter().map(chunk).collect();
    sums.into_iter().sum()
}

/// x·y of one chunk, entry n in lane n modulo 8.
#[inline]
fn lanes(x: &[f64], y: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let whole = x.len() - x.len() % LANES;
    for (x, y) in x[..whole].chunks_exact(LANES).zip(y[..whole].chunks_exact(LANES)) {
        for lane in 0..LANES {
            sums[lane] += x[lane] * y[lane];
        }
    }
    for (lane, (x, y)) in x[whole..].iter().zip(&y[whole..]).enumerate() {
        sums[lane] += x * y;
    }
    add_lanes(sums)
}

/// [`step`] on one chunk.
fn step_chunk(alpha: f64, p: &[f64], q: &[f64], x: &mut [f64], r: &mut [f64]) -> f64 {
    for (x, &p) in x.iter_mut().zip(p) {
        *x += alpha * p;
    }
    let mut sums = [0.0; LANES];
    let whole = r.len() - r.len() % LANES;
    for (r, q) in r.chunks_exact_mut(LANES).zip(q.chunks_exact(LANES)) {
        for lane in 0..LANES {
            r[lane] -= alpha * q[lane];
            sums[lane] += r[lane] * r[lane];
        }
    }
    for (lane, (r, &q)) in r[whole..].iter_mut().zip(&q[whole..]).enumerate() {
        *r -= alpha * q;
        sums[lane] += *r * *r;
    }
    add_lanes(sums)
}

#[inline]
fn add_lanes(s: [f64; LANES]) -> f64 {
    ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

fn max_or_nan(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::ThreadPoolBuilder;

    fn numbers(count: usize, seed: u64) -> Vec<f64> {
        (0..count as u64)
            .map(|n| ((n * 2_654_435_761 + seed) % 1_000_003) as f64 / 1e6 - 0.5)
            .collect()
    }

    #[test]
    fn sums_are_right_and_the_same_on_any_number_of_threads() {
        for count in [0, 1, 7, 8, 9, CHUNK - 1, CHUNK + 3, ALONE - 1, ALONE, 3 * ALONE + 5] {
            let (p, q) = (numbers(count, 1), numbers(count, 2));
            let naive: f64 = p.iter().zip(&q).map(|(p, q)| p * q).sum();
            let mut bits = Vec::new();
            for threads in [1, 2, 3, 7] {
                let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let (mut x, mut r) = (numbers(count, 3), numbers(count, 4));
                let found = pool.install(|| {
                    [dot(&p, &q), sum(&p), largest(&q), step(0.3, &p, &q, &mut x, &mut r)]
                });
                assert!((found[0] - naive).abs() <= 1e-12 * (1.0 + count as f64));
                assert!((found[3] - square(&r)).abs() == 0.0, "the fused sum is the plain one");
                bits.push(found.map(f64::to_bits));
            }
            assert!(bits.iter().all(|found| *found == bits[0]), "{count}");
        }
    }

    #[test]
    fn a_fused_pass_does_what_the_plain_ones_do() {
        for count in [0, 1, 9, CHUNK + 3, 2 * ALONE + 5] {
            let (x, z) = (numbers(count, 1), numbers(count, 2));
            let (mut a, mut b) = (numbers(count, 3), numbers(count, 4));
            let mut wanted = [a.clone(), b.clone()];
            axpy(0.5, &x, &mut wanted[0]);
            xpby(&z, -2.0, &mut wanted[1]);
            let sums = fused([&mut a, &mut b], |n, [a, b]| {
                *a += 0.5 * x[n];
                *b = z[n] + -2.0 * *b;
                [*a * *a, *a * *b]
            });
            assert_eq!([a, b], wanted);
            assert_eq!(sums, [square(&wanted[0]), dot(&wanted[0], &wanted[1])]);
        }
    }

    #[test]
    fn the_largest_magnitude_does_not_hide_a_nan() {
        assert_eq!(largest(&[1.0, -3.0, 2.0]), 3.0);
        for at in [0, 1, 2] {
            let mut x = [1.0, -3.0, 2.0];
            x[at] = f64::NAN;
            assert!(largest(&x).is_nan());
        }
    }
}
