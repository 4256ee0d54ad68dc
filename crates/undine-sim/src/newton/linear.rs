//! One element at the current iterate: its rows, their force and its derivative, pulled back to the coordinates q.

use super::shape::Hang;
use crate::constraint::{Placed, Rows, Scaling};
use undine_core::glam::DVec3;

/// One element at the current iterate.
pub(super) struct Linear<'a, const M: usize, const N: usize> {
    pub at: [Placed; N],
    pub hangs: [Hang<'a>; N],
    pub rows: Rows<M, N>,
    /// The scaling of soft rows.
    pub scaling: Scaling<M>,
    /// σ.
    pub force: [f64; M],
    /// S′: the share of S, and what Dahl friction adds to the diagonal.
    pub share: f64,
    pub friction: [f64; M],
    pub energy: f64,
}

impl<const M: usize, const N: usize> Linear<'_, M, N> {
    /// J: the gradient of every row by the coordinates q.
    #[inline]
    pub fn gradient<const A: usize>(&self, frames: bool) -> [[[DVec3; A]; N]; M] {
        std::array::from_fn(|m| {
            std::array::from_fn(|n| {
                let by_frame = frames.then_some(&self.rows.by_frame[m][n]);
                self.hangs[n].pull(&self.at[n], self.rows.by_position[m][n], by_frame)
            })
        })
    }

    /// The magnitude of a row's terms: rounded positions and frames make an error of this times the last digit.
    pub fn reach(&self, m: usize, frames: bool) -> f64 {
        let of = |n: usize| {
            let (at, by_x) = (&self.at[n], self.rows.by_position[m][n]);
            let columns = (0..3).filter(|_| frames);
            let by_frame = columns
                .map(|k| at.frame.col(k).length() * self.rows.by_frame[m][n].col(k).length());
            by_frame.fold(at.x.length() * by_x.length(), |sum, term| sum + term)
        };
        (0..N).fold(self.rows.value[m].abs(), |sum, n| sum + of(n))
    }

    /// An entry of S′.
    #[inline]
    pub fn stiffness(&self, m: usize, o: usize) -> f64 {
        let friction = if m == o { self.friction[m] } else { 0.0 };
        let s = match &self.scaling {
            Scaling::Diagonal(s) => {
                if m == o {
                    s[m]
                } else {
                    0.0
                }
            }
            Scaling::Full(s) => s[m][o],
        };
        s * self.share + friction
    }

    /// A row of S′J.
    #[inline]
    pub fn scaled<const A: usize>(&self, j: &[[[DVec3; A]; N]; M], m: usize) -> [[DVec3; A]; N] {
        let own = |s: f64| {
            let s = s * self.share + self.friction[m];
            std::array::from_fn(|n| j[m][n].map(|j| j * s))
        };
        match &self.scaling {
            Scaling::Diagonal(s) => own(s[m]),
            Scaling::Full(s) => {
                let mut row = own(s[m][m]);
                for other in (0..M).filter(|&other| other != m) {
                    let s = s[m][other] * self.share;
                    for (row, j) in row.iter_mut().flatten().zip(j[other].iter().flatten()) {
                        *row += *j * s;
                    }
                }
                row
            }
        }
    }
}
