//! Dense matrices, row after row: the truth that sparse ones are compared with.

use undine_linsolve::{Csr, Real};

/// The entries of a sparse matrix.
pub fn dense<T: Real>(matrix: &Csr<T>) -> Vec<Vec<f64>> {
    (0..matrix.rows())
        .map(|row| (0..matrix.columns()).map(|column| matrix.get(row, column).to_f64()).collect())
        .collect()
}

/// A·x.
pub fn product(a: &[Vec<f64>], x: &[f64]) -> Vec<f64> {
    a.iter().map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum()).collect()
}

/// The pivots of Gaussian elimination without exchange: by Sylvester's law of inertia their signs are those of the
/// eigenvalues of a symmetric matrix.
pub fn pivots(mut a: Vec<Vec<f64>>) -> Vec<f64> {
    let n = a.len();
    for k in 0..n {
        let (above, below) = a.split_at_mut(k + 1);
        let pivot = &above[k];
        for row in below {
            let factor = row[k] / pivot[k];
            for (entry, pivot) in row[k..].iter_mut().zip(&pivot[k..]) {
                *entry -= factor * pivot;
            }
        }
    }
    (0..n).map(|k| a[k][k]).collect()
}

/// The smallest pivot of the matrix scaled to a unit diagonal.
pub fn smallest_scaled_pivot(matrix: &Csr<f64>) -> f64 {
    let mut a = dense(matrix);
    let scale: Vec<f64> = (0..a.len()).map(|n| 1.0 / a[n][n].sqrt()).collect();
    for (row, r) in a.iter_mut().zip(&scale) {
        row.iter_mut().zip(&scale).for_each(|(entry, c)| *entry *= r * c);
    }
    pivots(a).into_iter().fold(f64::INFINITY, f64::min)
}
