//! Dense symmetric matrices of few rows, row after row: factors and eigenvectors, in an order that no thread changes.

/// A pivot below this share of its diagonal is zero.
const ZERO: f64 = 1e-12;

/// Sweeps of Jacobi rotations at most. They converge quadratically; six are the rule.
const SWEEPS: usize = 40;

/// L with A = L·Lᵀ, A symmetric and positive semi-definite; `None` if it is not, or not finite. Zero pivots have columns of zeros.
pub fn cholesky(a: &[f64], n: usize) -> Option<Vec<f64>> {
    let mut l = vec![0.0; n * n];
    for j in 0..n {
        let pivot = a[j * n + j] - (0..j).map(|k| l[j * n + k] * l[j * n + k]).sum::<f64>();
        let zero = ZERO * a[j * n + j].abs();
        if !pivot.is_finite() || pivot < -zero {
            return None;
        }
        let root = if pivot > zero { pivot.sqrt() } else { 0.0 };
        l[j * n + j] = root;
        for i in j + 1..n {
            let rest = a[i * n + j] - (0..j).map(|k| l[i * n + k] * l[j * n + k]).sum::<f64>();
            if root > 0.0 {
                l[i * n + j] = rest / root;
            } else if rest * rest > ZERO * (a[i * n + i] * a[j * n + j]).abs() || rest.is_nan() {
                return None;
            }
        }
    }
    Some(l)
}

/// Solves L·Lᵀ·x = b in place. L has no zero pivots.
pub fn solve(l: &[f64], x: &mut [f64]) {
    let n = x.len();
    for i in 0..n {
        let known: f64 = (0..i).map(|k| l[i * n + k] * x[k]).sum();
        x[i] = (x[i] - known) / l[i * n + i];
    }
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|k| l[k * n + i] * x[k]).sum();
        x[i] = (x[i] - known) / l[i * n + i];
    }
}

/// The eigenvalues and orthonormal eigenvectors of a symmetric matrix, in no particular order (Jacobi's method).
pub fn eigen(mut a: Vec<f64>, n: usize) -> Vec<(f64, Vec<f64>)> {
    let mut v = vec![0.0; n * n];
    (0..n).for_each(|i| v[i * n + i] = 1.0);
    for _ in 0..SWEEPS {
        let mut turned = false;
        for (p, q) in (0..n).flat_map(|p| (p + 1..n).map(move |q| (p, q))) {
            let (app, aqq, apq) = (a[p * n + p], a[q * n + q], a[p * n + q]);
            if apq.abs() <= 1e-17 * (app.abs() + aqq.abs()) {
                continue;
            }
            turned = true;
            let tau = (aqq - app) / (2.0 * apq);
            let t = tau.signum() / (tau.abs() + tau.hypot(1.0));
            let c = 1.0 / t.hypot(1.0);
            let s = t * c;
            for k in 0..n {
                let (x, y) = (a[k * n + p], a[k * n + q]);
                (a[k * n + p], a[k * n + q]) = (c * x - s * y, s * x + c * y);
            }
            for k in 0..n {
                let (x, y) = (a[p * n + k], a[q * n + k]);
                (a[p * n + k], a[q * n + k]) = (c * x - s * y, s * x + c * y);
                let (x, y) = (v[k * n + p], v[k * n + q]);
                (v[k * n + p], v[k * n + q]) = (c * x - s * y, s * x + c * y);
            }
        }
        if !turned {
            break;
        }
    }
    (0..n).map(|j| (a[j * n + j], (0..n).map(|i| v[i * n + j]).collect())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// G·Gᵀ with G of `rank` columns.
    fn product(n: usize, rank: usize) -> Vec<f64> {
        let g: Vec<f64> = (0..n * rank).map(|i| ((i * i * 7 + 3 * i) % 11) as f64 - 5.0).collect();
        let entry = |i: usize, j: usize| (0..rank).map(|k| g[i * rank + k] * g[j * rank + k]).sum();
        (0..n * n).map(|ij| entry(ij / n, ij % n)).collect()
    }

    #[test]
    fn factors_multiply_to_the_matrix_and_solve_it() {
        for rank in [3, 6] {
            let a = product(6, rank);
            let l = cholesky(&a, 6).unwrap();
            for (i, j) in (0..36).map(|ij| (ij / 6, ij % 6)) {
                let found: f64 = (0..6).map(|k| l[i * 6 + k] * l[j * 6 + k]).sum();
                assert!((found - a[i * 6 + j]).abs() < 1e-9, "{i} {j}");
            }
            if rank == 6 {
                let mut x: Vec<f64> = (0..6).map(|i| a[i * 6] - 2.0 * a[i * 6 + 3]).collect();
                solve(&l, &mut x);
                let wanted = [1.0, 0.0, 0.0, -2.0, 0.0, 0.0];
                assert!(x.iter().zip(wanted).all(|(x, wanted)| (x - wanted).abs() < 1e-9), "{x:?}");
            }
        }
    }

    #[test]
    fn matrices_that_are_not_positive_have_no_factors() {
        assert!(cholesky(&[1.0, 2.0, 2.0, 1.0], 2).is_none());
        assert!(cholesky(&[0.0, 1.0, 1.0, 1.0], 2).is_none());
        assert!(cholesky(&[-1.0], 1).is_none());
        assert!(cholesky(&[f64::NAN], 1).is_none());
    }

    #[test]
    fn eigenvectors_are_orthonormal_and_solve_their_equation() {
        let (n, a) = (7, product(7, 4));
        let pairs = eigen(a.clone(), n);
        assert_eq!(pairs.iter().filter(|(value, _)| value.abs() < 1e-10).count(), 3);
        for (value, vector) in &pairs {
            for i in 0..n {
                let found: f64 = (0..n).map(|k| a[i * n + k] * vector[k]).sum();
                assert!((found - value * vector[i]).abs() < 1e-10);
            }
            let dots = pairs
                .iter()
                .map(|(_, other)| vector.iter().zip(other).map(|(a, b)| a * b).sum::<f64>());
            assert!((dots.map(|dot| dot * dot).sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }
}
