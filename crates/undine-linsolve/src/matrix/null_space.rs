//! The null space of a singular matrix: what solvers take out of residuals and results.

use crate::error::{Result, SolveError};
use crate::rows::Rows;
use crate::vector;

/// A vector that loses all but this share of its length against those before it depends on them.
const DEPENDENT: f64 = 1e-8;

/// Vectors that a matrix sends to zero.
#[derive(Debug, Clone, PartialEq)]
pub struct NullSpace(Vectors);

#[derive(Debug, Clone, PartialEq)]
enum Vectors {
    /// The vector whose entries are all the same, as of a pressure between closed walls.
    Constant,
    /// Vectors over the local rows, orthonormal over all processes.
    Orthonormal(Vec<Vec<f64>>),
}

impl NullSpace {
    /// Vectors whose entries are all the same.
    pub fn constant() -> Self {
        Self(Vectors::Constant)
    }

    /// The space of some vectors, such as rigid motions, each with an entry for every local row. Refuses vectors that are not
    /// finite, and one that depends on those before it. Collective.
    pub fn new(rows: &Rows, mut vectors: Vec<Vec<f64>>) -> Result<Self> {
        for n in 0..vectors.len() {
            let (before, rest) = vectors.split_at_mut(n);
            let vector = &mut rest[0];
            rows.all_agree(check(rows, vector))?;
            let length = rows.sum(vector::square(vector))?.sqrt();
            // Twice, for what rounding leaves the first time.
            for _ in 0..2 {
                for other in &*before {
                    let along = rows.sum(vector::dot(other, vector))?;
                    vector::axpy(-along, other, vector);
                }
            }
            let rest = rows.sum(vector::square(vector))?.sqrt();
            if rest.is_nan() || rest <= DEPENDENT * length {
                return Err(SolveError::BadValue {
                    what: format!("vector {n} of a null space"),
                    found: format!("{rest:e} long without its part along those before it"),
                    wanted: "a vector of its own",
                });
            }
            vector.iter_mut().for_each(|entry| *entry /= rest);
        }
        Ok(Self(Vectors::Orthonormal(vectors)))
    }

    /// Takes the part along the null space out of a vector over the local rows. Collective.
    pub fn project(&self, rows: &Rows, x: &mut [f64]) -> Result<()> {
        match &self.0 {
            Vectors::Constant => {
                let mean = rows.sum(vector::sum(x))? / rows.total().max(1) as f64;
                vector::for_chunks(x, |_, x| x.iter_mut().for_each(|x| *x -= mean));
            }
            Vectors::Orthonormal(vectors) => {
                for vector in vectors {
                    let along = rows.sum(vector::dot(vector, x))?;
                    vector::axpy(-along, vector, x);
                }
            }
        }
        Ok(())
    }

    /// Bytes of the vectors.
    pub fn bytes(&self) -> u64 {
        match &self.0 {
            Vectors::Constant => 0,
            Vectors::Orthonormal(vectors) => {
                vectors.iter().map(|vector| size_of_val(&vector[..]) as u64).sum()
            }
        }
    }
}

fn check(rows: &Rows, vector: &[f64]) -> Result<()> {
    let what = "a vector of a null space";
    rows.check(what, vector)?;
    match vector.iter().position(|entry| !entry.is_finite()) {
        Some(row) => Err(SolveError::VectorNotFinite { what, row, value: vector[row] }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_in_the_space_is_taken_out_and_nothing_else() {
        let rows = Rows::single(4);
        let space = NullSpace::new(&rows, vec![vec![2.0, 2.0, 0.0, 0.0], vec![1.0, 0.0, 0.0, 0.0]])
            .unwrap();
        let mut x = [1.0, -3.0, 5.0, 7.0];
        space.project(&rows, &mut x).unwrap();
        assert!(x.iter().zip([0.0, 0.0, 5.0, 7.0]).all(|(x, y)| (x - y).abs() < 1e-14), "{x:?}");
        let mut x = [1.0, 2.0, 3.0, 6.0];
        NullSpace::constant().project(&rows, &mut x).unwrap();
        assert_eq!(x, [-2.0, -1.0, 0.0, 3.0]);
    }

    #[test]
    fn a_vector_that_adds_nothing_is_refused() {
        let rows = Rows::single(2);
        let vectors = vec![vec![1.0, 1.0], vec![-3.0, -3.0]];
        let error = NullSpace::new(&rows, vectors).unwrap_err();
        assert!(error.to_string().contains("vector 1 of a null space"), "{error}");
        assert!(NullSpace::new(&rows, vec![vec![f64::NAN, 0.0]]).is_err());
    }
}
