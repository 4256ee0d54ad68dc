//! The direct solve on the coarsest level: a dense Cholesky factorisation that lives with null spaces.
//!
//! A pivot that vanishes belongs to a vector of the null space. Its unknown is set to zero and its equation left out, which solves
//! every consistent system, and keeps the solve symmetric.

use super::sparse::Sparse;

/// A pivot below this share of its diagonal entry is rounding of the `f32` that the matrix came in.
const VANISHED: f64 = 2e-6;

/// L with A = L·Lᵀ.
#[derive(Debug, Clone)]
pub(super) struct Dense {
    size: usize,
    /// Row by row; the diagonal holds the inverse of L's, 0 where the pivot vanished.
    factor: Vec<f64>,
    work: Vec<f64>,
}

impl Dense {
    /// Factors a symmetric positive semi-definite matrix.
    pub fn new(matrix: &Sparse) -> Self {
        let size = matrix.rows();
        let mut factor = vec![0.0; size * size];
        for row in 0..size {
            let (columns, values) = matrix.row(row);
            for (&column, &value) in columns.iter().zip(values) {
                factor[row * size + column as usize] = f64::from(value);
            }
        }
        for row in 0..size {
            let (above, below) = factor.split_at_mut(row * size);
            let here = &mut below[..=row];
            let entry = here[row];
            for (column, other) in above.chunks_exact(size).enumerate() {
                let dot = dot(&here[..column], &other[..column]);
                here[column] = (here[column] - dot) * other[column];
            }
            let pivot = entry - dot(&here[..row], &here[..row]);
            here[row] = if pivot > VANISHED * entry { 1.0 / pivot.sqrt() } else { 0.0 };
        }
        Self { size, factor, work: vec![0.0; size] }
    }

    /// x = A⁻¹·b.
    pub fn solve(&mut self, b: &[f32], x: &mut [f32]) {
        let (size, factor, work) = (self.size, &self.factor, &mut self.work);
        for row in 0..size {
            let l = &factor[row * size..row * size + row + 1];
            work[row] = (f64::from(b[row]) - dot(&l[..row], &work[..row])) * l[row];
        }
        for row in (0..size).rev() {
            let l = &factor[row * size..row * size + row + 1];
            let (before, here) = work.split_at_mut(row);
            here[0] *= l[row];
            before.iter_mut().zip(l).for_each(|(work, l)| *work -= here[0] * l);
        }
        x.iter_mut().zip(work).for_each(|(x, work)| *x = *work as f32);
    }

    pub fn bytes(&self) -> u64 {
        8 * (self.factor.len() + self.work.len()) as u64
    }
}

/// x·y in four lanes.
#[inline]
fn dot(x: &[f64], y: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let whole = x.len() - x.len() % 4;
    for (x, y) in x[..whole].chunks_exact(4).zip(y[..whole].chunks_exact(4)) {
        (0..4).for_each(|lane| sums[lane] += x[lane] * y[lane]);
    }
    let rest: f64 = x[whole..].iter().zip(&y[whole..]).map(|(x, y)| x * y).sum();
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Csr;

    /// A chain of springs, held at its first end by `hold`.
    fn chain(size: usize, hold: f32) -> Sparse {
        let entries = (0..size).flat_map(|n| {
            let degree = f32::from(n > 0) + f32::from(n + 1 < size);
            let mut row = vec![(n, n, degree + if n == 0 { hold } else { 0.0 })];
            if n > 0 {
                row.extend([(n, n - 1, -1.0), (n - 1, n, -1.0)]);
            }
            row
        });
        Csr::from_triplets(size, size, entries).unwrap()
    }

    #[test]
    fn a_system_is_solved_and_a_consistent_singular_one_too() {
        for hold in [1.0, 0.0] {
            let matrix = chain(50, hold);
            let wanted: Vec<f32> = (0..50).map(|n| ((n * 7 % 13) as f32) - 6.0).collect();
            let mut b = vec![0.0; 50];
            matrix.multiply(&wanted, &mut b);
            let mut x = vec![0.0; 50];
            Dense::new(&matrix).solve(&b, &mut x);
            let mut again = vec![0.0; 50];
            matrix.multiply(&x, &mut again);
            assert!(again.iter().zip(&b).all(|(again, b)| (again - b).abs() < 1e-3), "{hold}");
        }
    }
}
