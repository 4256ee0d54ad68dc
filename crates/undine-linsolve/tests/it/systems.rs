//! Small systems that many tests share.

use std::ops::Range;
use std::sync::Arc;
use undine_core::Processes;
use undine_linsolve::{Csr, Matrix, Rows, gallery};

/// The 7-point Laplacian of an n³ box with zero around it.
pub fn laplacian(n: usize) -> Csr<f64> {
    gallery::laplacian([n; 3]).unwrap()
}

/// The same, to solve with.
pub fn laplacian_matrix(n: usize) -> Matrix {
    Matrix::single(laplacian(n)).unwrap()
}

/// A dense matrix, row after row, as one to solve with.
pub fn from_dense(size: usize, dense: &[f64]) -> Matrix {
    let triplets = (0..size * size).map(|n| (n / size, n % size, dense[n]));
    Matrix::single(Csr::from_triplets(size, size, triplets).unwrap()).unwrap()
}

/// Solves a dense system by elimination with row pivoting; `None` if it is singular.
pub fn solve_dense(a: &[f64], b: &[f64]) -> Option<Vec<f64>> {
    let (size, mut a, mut x) = (b.len(), a.to_vec(), b.to_vec());
    for k in 0..size {
        let pivot =
            (k..size).max_by(|&i, &j| a[i * size + k].abs().total_cmp(&a[j * size + k].abs()))?;
        if a[pivot * size + k].abs() < 1e-12 {
            return None;
        }
        (0..size).for_each(|n| a.swap(pivot * size + n, k * size + n));
        x.swap(pivot, k);
        for row in k + 1..size {
            let factor = a[row * size + k] / a[k * size + k];
            (k..size).for_each(|n| a[row * size + n] -= factor * a[k * size + n]);
            x[row] -= factor * x[k];
        }
    }
    for k in (0..size).rev() {
        let known: f64 = (k + 1..size).map(|n| a[k * size + n] * x[n]).sum();
        x[k] = (x[k] - known) / a[k * size + k];
    }
    Some(x)
}

/// The largest difference of two vectors.
pub fn distance(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).fold(0.0, |max, (x, y)| f64::max(max, (x - y).abs()))
}

/// What `work` gives on 1, 2 and 5 threads: the same, or a panic.
pub fn same_on_any_threads<R: PartialEq + std::fmt::Debug + Send>(
    work: impl Fn() -> R + Sync,
) -> R {
    let on = |threads: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(&work)
    };
    let first = on(1);
    assert!([2, 5].into_iter().all(|threads| on(threads) == first));
    first
}

/// Numbers between −1 and 1 that look random and are always the same.
pub fn noise(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    (0..count)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        })
        .collect()
}

/// −∇·(c ∇u) on an n³ box with zero around it: `c` says the coefficient of a cell along an axis, and a face has the harmonic mean of
/// its two cells.
pub fn coefficients(n: usize, c: impl Fn([usize; 3], usize) -> f64) -> Matrix {
    let place = |at: [usize; 3]| (at[0] * n + at[1]) * n + at[2];
    let mut triplets = Vec::new();
    for at in (0..n * n * n).map(|i| [i / (n * n), i / n % n, i % n]) {
        let here = place(at);
        for axis in 0..3 {
            let own = c(at, axis);
            let mut next = at;
            next[axis] += 1;
            if next[axis] < n {
                let other = c(next, axis);
                let face = 2.0 / (1.0 / own + 1.0 / other);
                let there = place(next);
                triplets.extend([(here, there, -face), (there, here, -face)]);
                triplets.extend([(here, here, face), (there, there, face)]);
            } else {
                triplets.push((here, here, own));
            }
            if at[axis] == 0 {
                triplets.push((here, here, own));
            }
        }
    }
    Matrix::single(Csr::from_triplets(n * n * n, n * n * n, triplets).unwrap()).unwrap()
}

/// The rows of a whole matrix that this process owns, if they are cut evenly.
pub fn share(processes: &Arc<dyn Processes>, whole: &Csr<f64>) -> (Matrix, Range<usize>) {
    let cut = |rank: usize| whole.rows() * rank / processes.count();
    let own = cut(processes.rank())..cut(processes.rank() + 1);
    share_rows(processes, whole, own.clone())
}

/// The same for rows that are cut in any other way, process after process.
pub fn share_rows(
    processes: &Arc<dyn Processes>,
    whole: &Csr<f64>,
    own: Range<usize>,
) -> (Matrix, Range<usize>) {
    let columns = own.clone().flat_map(|row| whole.row(row).0.iter().map(|&c| u64::from(c)));
    let mut foreign: Vec<u64> = columns.filter(|&c| !own.contains(&(c as usize))).collect();
    foreign.sort_unstable();
    foreign.dedup();
    let rows = Rows::distributed(Arc::clone(processes), own.len(), &foreign).unwrap();
    let place = |column: u32| match foreign.binary_search(&u64::from(column)) {
        Ok(copy) => (own.len() + copy) as u32,
        Err(_) => column - own.start as u32,
    };
    let csr = Csr::from_rows(rows.local(), rows.stored(), |row, entries| {
        let (columns, values) = whole.row(own.start + row);
        entries.extend(columns.iter().map(|&column| place(column)).zip(values.iter().copied()));
    });
    (Matrix::new(rows, csr.unwrap()).unwrap(), own)
}
