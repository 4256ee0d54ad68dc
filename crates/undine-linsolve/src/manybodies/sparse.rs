//! Blocks that are no narrow bands: sparse Cholesky, with the pattern worked out once for all blocks that share it.

use super::blocks::Blocks;
use super::local::{Places, narrow_order};
use super::{Fallback, SHIFTS};
use crate::direct::{Factored, Pattern};
use crate::error::{Result, SolveError};
use crate::matrix::Csr;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A band's work counts as this share of a sparse factor's: eight bands side by side run at full speed.
const BAND_SPEED: f64 = 0.3;

/// Bands wider than this are never worth it.
const WIDEST: usize = 96;

/// How a block is factored.
pub(super) enum Choice {
    /// As a band, its rows in a new order.
    Band { width: usize, order: Arc<[u32]> },
    /// By sparse Cholesky.
    Sparse(Sparse),
}

/// A block with a sparse factor.
#[derive(Debug)]
pub(super) struct Sparse {
    pub block: u32,
    matrix: Csr<f64>,
    pattern: Arc<Pattern>,
    factor: Option<Factored>,
    gathered: Vec<f64>,
}

/// The patterns seen so far.
#[derive(Default)]
pub(super) struct Classes {
    /// By a hash of the pattern: the first block that had it, and what was chosen.
    known: BTreeMap<u64, Vec<(Csr<f64>, Known)>>,
}

#[derive(Clone)]
enum Known {
    Band { width: usize, order: Arc<[u32]> },
    Sparse(Arc<Pattern>),
}

impl Classes {
    /// What to do with a block, given as a matrix of its own.
    pub fn of(&mut self, local: Csr<f64>, block: usize) -> Result<Choice> {
        let same = |other: &Csr<f64>| {
            other.starts() == local.starts() && other.indices() == local.indices()
        };
        let list = self.known.entry(hash(&local)).or_default();
        let known = match list.iter().find(|(other, _)| same(other)) {
            Some((_, known)) => known.clone(),
            None => {
                let known = choose(&local)?;
                list.push((local.clone(), known.clone()));
                known
            }
        };
        Ok(match known {
            Known::Band { width, order } => Choice::Band { width, order },
            Known::Sparse(pattern) => Choice::Sparse(Sparse {
                block: block as u32,
                gathered: vec![0.0; local.rows()],
                matrix: local,
                pattern,
                factor: None,
            }),
        })
    }
}

impl Sparse {
    /// Whether all entries of the block have a place.
    pub fn fits(&self, matrix: &Csr<f64>, blocks: &Blocks, places: &Places) -> bool {
        let local = places.extract(matrix, blocks.rows(self.block as usize));
        local.starts() == self.matrix.starts() && local.indices() == self.matrix.indices()
    }

    /// Takes the values of a matrix.
    pub fn refactor(
        &mut self,
        matrix: &Csr<f64>,
        blocks: &Blocks,
        places: &Places,
    ) -> Result<Option<Fallback>> {
        let rows = blocks.rows(self.block as usize);
        self.matrix = places.extract(matrix, rows);
        let mut fallback: Option<Fallback> = None;
        for shift in std::iter::once(0.0).chain(SHIFTS) {
            let mut shifted;
            let mut values = &self.matrix;
            if shift > 0.0 {
                shifted = self.matrix.clone();
                raise_diagonal(&mut shifted, shift);
                values = &shifted;
            }
            let factored = match &mut self.factor {
                Some(factor) => factor.refactor(values),
                None => {
                    Factored::new(&self.pattern, values).map(|factor| self.factor = Some(factor))
                }
            };
            match factored {
                Ok(()) => {
                    if let Some(fallback) = &mut fallback {
                        fallback.shift = shift;
                    }
                    return Ok(fallback);
                }
                Err(SolveError::BadPivot { row, pivot, .. }) => {
                    self.factor = None;
                    fallback = fallback.or(Some(Fallback {
                        block: self.block as usize,
                        row: rows[row] as usize,
                        pivot,
                        shift,
                    }));
                }
                Err(error) => return Err(error),
            }
        }
        // A dominant matrix has a factor, unless its entries are so large that their sums are not finite.
        let at = fallback.map_or((0, 0.0), |fallback| (fallback.row, fallback.pivot));
        Err(SolveError::BadPivot {
            what: format!("block {}", self.block),
            row: at.0,
            pivot: at.1,
            wanted: "positive once the diagonal is raised",
        })
    }

    /// z = (block)⁻¹·r.
    pub fn solve(&mut self, r: &[f64], blocks: &Blocks, z: &mut [f64]) {
        let rows = blocks.rows(self.block as usize);
        for (gathered, &row) in self.gathered.iter_mut().zip(rows) {
            *gathered = r[row as usize];
        }
        match &mut self.factor {
            Some(factor) => factor.solve(&self.gathered, z),
            None => z.copy_from_slice(&self.gathered),
        }
    }

    /// Bytes of matrix and factor; patterns are shared, so they are not counted.
    pub fn bytes(&self) -> u64 {
        self.matrix.bytes()
            + self.factor.as_ref().map_or(0, Factored::bytes)
            + size_of_val(&self.gathered[..]) as u64
    }
}

/// Band or not, by the work that either makes.
fn choose(local: &Csr<f64>) -> Result<Known> {
    let order = narrow_order(local);
    let mut place = vec![0_u32; order.len()];
    for (n, &row) in order.iter().enumerate() {
        place[row as usize] = n as u32;
    }
    let reach = |row: usize| {
        let columns = local.row(row).0.iter();
        columns.map(|&column| place[row].abs_diff(place[column as usize])).max().unwrap_or(0)
    };
    let width = (0..local.rows()).map(reach).max().unwrap_or(0) as usize;
    let band = 0.5 * local.rows() as f64 * (width * width) as f64;
    let pattern = Pattern::new(local)?;
    if width <= WIDEST && BAND_SPEED * band <= pattern.work() {
        return Ok(Known::Band { width, order: order.into() });
    }
    Ok(Known::Sparse(Arc::new(pattern)))
}

/// Raises each diagonal entry by a share of its row's magnitudes.
fn raise_diagonal(matrix: &mut Csr<f64>, shift: f64) {
    for row in 0..matrix.rows() {
        let (columns, values) = matrix.row(row);
        let around: f64 = values.iter().map(|value| value.abs()).sum();
        if let Ok(at) = columns.binary_search(&(row as u32)) {
            let at = matrix.range(row).start + at;
            matrix.values_mut()[at] += super::batch::raised(shift, around);
        }
    }
}

/// A hash of a pattern.
fn hash(matrix: &Csr<f64>) -> u64 {
    let numbers = matrix.starts().iter().chain(matrix.indices());
    numbers.fold(0xcbf2_9ce4_8422_2325, |hash, &number| {
        (hash ^ u64::from(number)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
