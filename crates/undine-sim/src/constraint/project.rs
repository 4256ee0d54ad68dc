//! Projection of small symmetric matrices to positive semi-definite ones, by cyclic Jacobi rotations (Golub & Van Loan,
//! *Matrix Computations*, §8.5): negative eigenvalues become zero (Teran et al. 2005, *Robust quasistatic finite elements*).

/// Sweeps over all pairs. Convergence is quadratic: six to eight suffice for any matrix, and NaN must end too.
const SWEEPS: usize = 32;

/// A negative eigenvalue of this share of the largest entry is rounding, and no reason to change anything.
const ROUNDING: f64 = 1e-13;

/// Off-diagonal entries below this share of the largest entry are zero.
const ZERO: f64 = 1e-17;

/// Replaces the leading n × n part of a symmetric matrix by the nearest positive semi-definite one in the Frobenius norm.
/// A matrix that is positive semi-definite already, but for rounding, keeps its bits. Returns whether it was changed.
///
/// Only the upper triangle is read. A matrix that is not finite is left as it is, for others to report.
pub fn project<const D: usize>(matrix: &mut [[f64; D]; D], n: usize) -> bool {
    let n = n.min(D);
    let scale = largest(matrix, n);
    if scale == 0.0 || !scale.is_finite() || is_semi_definite(matrix, n, ROUNDING * scale) {
        return false;
    }
    let (values, vectors) = eigen(matrix, n);
    for i in 0..n {
        for j in i..n {
            let terms = (0..n).filter(|&k| values[k] > 0.0);
            let sum = terms.fold(0.0, |sum, k| sum + values[k] * (vectors[i][k] * vectors[j][k]));
            matrix[i][j] = sum;
            matrix[j][i] = sum;
        }
    }
    true
}

/// The eigenvalues of the leading n × n part of a symmetric matrix, in no order, and the eigenvectors as columns.
pub fn eigen<const D: usize>(matrix: &[[f64; D]; D], n: usize) -> ([f64; D], [[f64; D]; D]) {
    let mut a: [[f64; D]; D] =
        std::array::from_fn(|i| std::array::from_fn(|j| matrix[i.min(j)][i.max(j)]));
    let mut vectors = [[0.0; D]; D];
    for (i, row) in vectors.iter_mut().enumerate() {
        row[i] = 1.0;
    }
    let small = ZERO * largest(matrix, n);
    for _ in 0..SWEEPS {
        let mut rotated = false;
        for p in 0..n {
            for q in p + 1..n {
                if a[p][q].abs() > small {
                    rotate(&mut a, &mut vectors, n, p, q);
                    rotated = true;
                }
            }
        }
        if !rotated {
            break;
        }
    }
    (std::array::from_fn(|i| a[i][i]), vectors)
}

/// Makes the entry (p, q) zero.
#[inline]
fn rotate<const D: usize>(
    a: &mut [[f64; D]; D],
    vectors: &mut [[f64; D]; D],
    n: usize,
    p: usize,
    q: usize,
) {
    let ratio = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    // The smaller root of t² + 2·ratio·t = 1. A ratio whose square overflows gives t = 0: there is nothing to turn.
    let t = ratio.signum() / (ratio.abs() + (1.0 + ratio * ratio).sqrt());
    let c = 1.0 / (1.0 + t * t).sqrt();
    let s = t * c;
    let change = t * a[p][q];
    a[p][p] -= change;
    a[q][q] += change;
    a[p][q] = 0.0;
    a[q][p] = 0.0;
    for k in (0..n).filter(|&k| k != p && k != q) {
        let (kp, kq) = (a[k][p], a[k][q]);
        let (new_p, new_q) = (c * kp - s * kq, s * kp + c * kq);
        (a[k][p], a[p][k]) = (new_p, new_p);
        (a[k][q], a[q][k]) = (new_q, new_q);
    }
    for row in vectors.iter_mut().take(n) {
        let (p_entry, q_entry) = (row[p], row[q]);
        row[p] = c * p_entry - s * q_entry;
        row[q] = s * p_entry + c * q_entry;
    }
}

/// Whether the matrix plus `shift` on its diagonal has a Cholesky factor.
fn is_semi_definite<const D: usize>(matrix: &[[f64; D]; D], n: usize, shift: f64) -> bool {
    let mut l = [[0.0; D]; D];
    for j in 0..n {
        let pivot = matrix[j][j] + shift - l[j][..j].iter().map(|l| l * l).sum::<f64>();
        if pivot.is_nan() || pivot <= 0.0 {
            return false;
        }
        let pivot = pivot.sqrt();
        l[j][j] = pivot;
        for i in j + 1..n {
            let sum = (0..j).fold(matrix[j][i], |sum, k| sum - l[i][k] * l[j][k]);
            l[i][j] = sum / pivot;
        }
    }
    true
}

/// The largest magnitude of the upper triangle; NaN if there is one.
fn largest<const D: usize>(matrix: &[[f64; D]; D], n: usize) -> f64 {
    let entries = (0..n).flat_map(|i| matrix[i][i..n].iter());
    // The sum is NaN if an entry is; the largest alone would not tell.
    let sum: f64 = entries.clone().map(|entry| entry.abs()).sum();
    if sum.is_nan() { sum } else { entries.fold(0.0, |largest, entry| entry.abs().max(largest)) }
}
