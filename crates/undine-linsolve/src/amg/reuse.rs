//! Reuse of a hierarchy for a matrix that is like the one it was made from.
//!
//! A preconditioner only has to be near the inverse. While the matrix changes little the old hierarchy serves as it is; when it changes
//! more, but not its pattern, the aggregates still fit, and only what depends on values is made anew.

use super::level::{Level, Transfer, Work};
use super::{Aggregates, Amg};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::operator::Operator;
use rayon::prelude::*;

/// What [`Amg::refresh`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refreshed {
    /// The matrix has hardly changed, and nothing was done.
    Kept,
    /// The aggregates were kept, and everything else made from the new values.
    Values,
    /// The pattern is another, and everything was made anew.
    Anew,
}

impl Amg {
    /// Makes the hierarchy fit for another matrix, with as little work as that takes. Collective.
    ///
    /// Nothing is done while no row of D⁻¹·(A − A₀) has a sum of magnitudes above
    /// [`Settings::keep_below`](super::Settings::keep_below): then D⁻¹·A has moved by no more than that in any direction.
    pub fn refresh(&mut self, matrix: &Matrix) -> Result<Refreshed> {
        let rows = matrix.rows();
        let first = &self.levels[0];
        let csr = matrix.csr();
        let same = first.matrix.starts() == csr.starts()
            && first.matrix.indices() == csr.indices()
            && first.matrix.columns() == csr.columns();
        if rows.max(f64::from(u8::from(!same)))? > 0.0 {
            *self = Self::new(matrix, &self.settings)?;
            return Ok(Refreshed::Anew);
        }
        if rows.max(self.change(matrix))? <= self.settings.keep_below {
            return Ok(Refreshed::Kept);
        }
        let known = self.levels.iter().map_while(aggregates).cloned().collect();
        *self = Self::with_aggregates(matrix, &self.settings, known)?;
        Ok(Refreshed::Values)
    }

    /// The largest sum of magnitudes of any local row of D⁻¹·(A − A₀); infinite if an entry is not finite.
    fn change(&self, matrix: &Matrix) -> f64 {
        let before = &self.levels[0].matrix;
        let row = |row: usize| {
            let (columns, now) = matrix.csr().row(row);
            let (_, then) = before.row(row);
            let (mut sum, mut diagonal) = (0.0, 0.0);
            for ((&column, &now), &then) in columns.iter().zip(now).zip(then) {
                sum += (now * self.scale - f64::from(then)).abs();
                if column as usize == row {
                    diagonal = f64::from(then);
                }
            }
            let change: f64 = sum / diagonal;
            if change.is_nan() { f64::INFINITY } else { change }
        };
        let rows = (0..before.rows()).into_par_iter().with_min_len(1024);
        rows.map(row).reduce(|| 0.0, f64::max)
    }
}

fn aggregates(level: &Level) -> Option<&Aggregates> {
    match &level.work {
        Work::Smooth { transfer: Transfer { aggregates, .. }, .. } => Some(aggregates),
        _ => None,
    }
}
