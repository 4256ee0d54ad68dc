//! Incomplete Cholesky without fill, IC(0) (Meijerink & van der Vorst 1977), and modified, MIC(0) (Gustafsson 1978; with the
//! constants of Bridson, *Fluid Simulation for Computer Graphics*, 2nd edition, section 5.3).
//!
//! A ≈ L·D·Lᵀ, L with a diagonal of ones and the pattern of A. Rows are eliminated in the order of [`Colours`], so that
//! factorisation and both triangular solves run on all threads with the same bits on any number of them. Each process
//! works on its own rows and ignores the coupling to others: additive Schwarz without overlap.

use crate::colours::{Colours, SharedVector};
use crate::error::{Result, SolveError};
use crate::matrix::Matrix;
use crate::operator::{Operator, Preconditioner};
use rayon::prelude::*;

/// How much of the fill that is dropped a modified factorisation moves to the diagonal (Bridson's τ).
const MOVED: f64 = 0.97;

/// A pivot of a modified factorisation below this share of the diagonal is replaced by the diagonal (Bridson's σ).
const SAFETY: f64 = 0.25;

/// A pivot below this share of the diagonal is a breakdown of the plain factorisation.
const SMALLEST: f64 = 1e-6;

/// The first shift of the diagonal that is tried after a breakdown, as a share of it (Manteuffel 1980); then four times
/// as much, and so on.
const FIRST_SHIFT: f64 = 1e-3;

/// Two mirrored entries may differ by this share.
const SYMMETRIC: f64 = 1e-8;

/// An incomplete Cholesky factorisation to precondition with.
///
/// The factor's entries are ratios of about one and stored in `f32`, pivots and vectors are `f64`.
#[derive(Debug)]
pub struct IncompleteCholesky {
    name: String,
    colours: Colours,
    /// L row by row, for the forward solve, and column by column, for the backward one.
    lower: Triangle,
    upper: Triangle,
    /// 1/D.
    inverse: Vec<f64>,
    y: SharedVector,
    shift: f64,
    replaced: usize,
}

/// The strict rows of L or of Lᵀ.
#[derive(Debug, Default)]
struct Triangle {
    starts: Vec<u32>,
    indices: Vec<u32>,
    values: Vec<f32>,
}

impl IncompleteCholesky {
    /// IC(0). Where a pivot becomes too small, all begins anew with a larger diagonal; [`Self::shift`] tells. Collective.
    ///
    /// Refuses a matrix that is not symmetric, or has a diagonal that is zero or negative.
    pub fn plain(matrix: &Matrix) -> Result<Self> {
        matrix.rows().all_agree(Self::factor(matrix, 0.0))
    }

    /// Modified IC(0), which keeps row sums and so does better on smooth errors: the one to take for Poisson systems.
    ///
    /// Where a pivot becomes too small, the diagonal takes its place; [`Self::replaced`] counts. Refuses what
    /// [`Self::plain`] refuses. Collective.
    pub fn modified(matrix: &Matrix) -> Result<Self> {
        matrix.rows().all_agree(Self::factor(matrix, MOVED))
    }

    /// What was added to the diagonal, as a share of it, until all pivots were positive.
    pub fn shift(&self) -> f64 {
        self.shift
    }

    /// How many pivots were replaced by the diagonal.
    pub fn replaced(&self) -> usize {
        self.replaced
    }

    fn factor(matrix: &Matrix, moved: f64) -> Result<Self> {
        let csr = matrix.csr();
        let diagonal = csr.diagonal();
        if let Some(row) = diagonal.iter().position(|&value| value.is_nan() || value <= 0.0) {
            return Err(SolveError::BadDiagonal {
                row,
                value: diagonal[row],
                method: "incomplete Cholesky",
                wanted: "positive",
            });
        }
        csr.check_symmetric(SYMMETRIC)?;

        let colours = Colours::local(csr);
        let (upper, entries) = upper(matrix, &colours);
        let (lower, mirror) = upper.mirrored(&colours);
        let mut elimination = Elimination {
            colours: &colours,
            upper: &upper,
            lower: &lower,
            diagonal: &diagonal,
            moved,
            mirror,
            values: SharedVector::zeros(entries.len()),
            pivots: SharedVector::zeros(diagonal.len()),
        };
        let mut shift = 0.0;
        let replaced = loop {
            match elimination.run(&entries, shift) {
                Ok(replaced) => break replaced,
                Err(_) => shift = if shift == 0.0 { FIRST_SHIFT } else { 4.0 * shift },
            }
        };
        let kind = if moved > 0.0 { "modified IC(0)" } else { "IC(0)" };
        let name = match (shift > 0.0, replaced > 0) {
            (true, _) => format!("{kind}, diagonal shifted by {shift:e}"),
            (_, true) => format!("{kind}, {replaced} pivots replaced"),
            _ => kind.into(),
        };
        let (upper_values, lower_values, inverse) = elimination.finish();
        Ok(Self {
            name,
            lower: Triangle { values: lower_values, ..lower },
            upper: Triangle { values: upper_values, ..upper },
            inverse,
            y: SharedVector::zeros(diagonal.len()),
            colours,
            shift,
            replaced,
        })
    }
}

impl Preconditioner for IncompleteCholesky {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn apply(&mut self, r: &[f64], z: &mut [f64]) -> Result<()> {
        let (y, inverse) = (&self.y, &self.inverse);
        for colour in 0..self.colours.count() {
            self.colours.each(colour, |rows| {
                for row in rows {
                    y.set(row, r[row] - self.lower.dot(row, y));
                }
            });
        }
        for colour in (0..self.colours.count()).rev() {
            self.colours.each(colour, |rows| {
                for row in rows.rev() {
                    y.set(row, y.get(row) * inverse[row] - self.upper.dot(row, y));
                }
            });
        }
        y.store(z);
        Ok(())
    }

    fn bytes(&self) -> u64 {
        let rows = 8 * (self.inverse.len() + self.y.len()) as u64;
        rows + self.lower.bytes() + self.upper.bytes() + self.colours.bytes()
    }
}

impl Triangle {
    #[inline(always)]
    fn range(&self, row: usize) -> std::ops::Range<usize> {
        self.starts[row] as usize..self.starts[row + 1] as usize
    }

    #[inline(always)]
    fn columns(&self, row: usize) -> &[u32] {
        &self.indices[self.range(row)]
    }

    #[inline(always)]
    fn dot(&self, row: usize, y: &SharedVector) -> f64 {
        let range = self.range(row);
        let entries = self.indices[range.clone()].iter().zip(&self.values[range]);
        entries.fold(0.0, |sum, (&column, &value)| sum + f64::from(value) * y.get(column as usize))
    }

    /// The transposed pattern, rows in the order of work too, and for each of its entries the mirror image's place here.
    fn mirrored(&self, colours: &Colours) -> (Self, Vec<u32>) {
        let mut starts = vec![0_u32; self.starts.len()];
        for &column in &self.indices {
            starts[column as usize + 1] += 1;
        }
        for row in 1..starts.len() {
            starts[row] += starts[row - 1];
        }
        let mut next = starts.clone();
        let (mut indices, mut mirror) = (vec![0; self.indices.len()], vec![0; self.indices.len()]);
        for row in colours.in_order() {
            for entry in self.range(row) {
                let next = &mut next[self.indices[entry] as usize];
                indices[*next as usize] = row as u32;
                mirror[*next as usize] = entry as u32;
                *next += 1;
            }
        }
        (Self { starts, indices, values: Vec::new() }, mirror)
    }

    fn bytes(&self) -> u64 {
        4 * (self.starts.len() + self.indices.len() + self.values.len()) as u64
    }
}

/// The pattern of Lᵀ, the entries of every local row that come after it in the order of work, in that order; and the
/// matrix's values on it. Stored zeros are left out.
fn upper(matrix: &Matrix, colours: &Colours) -> (Triangle, Vec<f64>) {
    let csr = matrix.csr();
    let rows = csr.rows();
    let part = |chunk: usize| {
        let mut counts: Vec<u32> = Vec::new();
        let mut entries: Vec<(u32, f64)> = Vec::new();
        let mut sorted: Vec<(u64, u32, f64)> = Vec::new();
        for row in chunk..(chunk + 1024).min(rows) {
            let (columns, values) = csr.row(row);
            let here = colours.place(row);
            sorted.clear();
            for (&column, &value) in columns.iter().zip(values) {
                if (column as usize) < rows && value != 0.0 {
                    let there = colours.place(column as usize);
                    if there > here {
                        sorted.push((there, column, value));
                    }
                }
            }
            sorted.sort_unstable_by_key(|&(there, ..)| there);
            counts.push(sorted.len() as u32);
            entries.extend(sorted.iter().map(|&(_, column, value)| (column, value)));
        }
        (counts, entries)
    };
    let parts: Vec<_> = (0..rows.div_ceil(1024)).into_par_iter().map(|n| part(n * 1024)).collect();
    let mut starts = Vec::with_capacity(rows + 1);
    starts.push(0);
    let mut end = 0;
    for &count in parts.iter().flat_map(|(counts, _)| counts) {
        end += count;
        starts.push(end);
    }
    let (indices, values) = parts.iter().flat_map(|(_, entries)| entries).copied().unzip();
    (Triangle { starts, indices, values: Vec::new() }, values)
}

/// The elimination under way: columns of L·D as they are finished, each gathered from those before it.
struct Elimination<'a> {
    colours: &'a Colours,
    upper: &'a Triangle,
    lower: &'a Triangle,
    diagonal: &'a [f64],
    moved: f64,
    /// For every entry of `lower`, the place of its mirror image in `upper`.
    mirror: Vec<u32>,
    /// (L·D)ᵀ on the pattern of `upper`.
    values: SharedVector,
    pivots: SharedVector,
}

impl Elimination<'_> {
    /// Eliminates with a shifted diagonal; returns how many pivots were replaced, or the row whose pivot broke down.
    fn run(&mut self, entries: &[f64], shift: f64) -> Result<usize, usize> {
        self.values.load(entries);
        let this = &*self;
        let mut replaced = 0;
        for colour in 0..self.colours.count() {
            for outcome in this.colours.each(colour, |rows| this.eliminate(rows, shift)) {
                replaced += outcome?;
            }
        }
        Ok(replaced)
    }

    fn eliminate(&self, rows: std::ops::Range<usize>, shift: f64) -> Result<usize, usize> {
        let mut replaced = 0;
        let mut column = Vec::new();
        for row in rows {
            let wanted = (1.0 + shift) * self.diagonal[row];
            let mut pivot = wanted;
            column.clear();
            column.extend(self.upper.range(row).map(|entry| self.values.get(entry)));
            for entry in self.lower.range(row) {
                let before = self.lower.indices[entry] as usize;
                let value = self.values.get(self.mirror[entry] as usize);
                let factor = value / self.pivots.get(before);
                pivot -=
                    factor * value + self.moved * self.update(row, before, factor, &mut column);
            }
            if self.moved > 0.0 {
                if pivot < SAFETY * wanted {
                    pivot = wanted;
                    replaced += 1;
                }
            } else if pivot < SMALLEST * wanted {
                return Err(row);
            }
            self.pivots.set(row, pivot);
            for (entry, &value) in self.upper.range(row).zip(&column) {
                self.values.set(entry, value);
            }
        }
        Ok(replaced)
    }

    /// Takes `factor` times the column of a row before from this row's column; returns the sum of what does not fit its
    /// pattern and is dropped.
    fn update(&self, row: usize, before: usize, factor: f64, column: &mut [f64]) -> f64 {
        let later = self.upper.columns(row);
        let earlier = self.lower.columns(row);
        let (mut l, mut e) = (0, 0);
        let here = self.colours.place(row);
        let mut dropped = 0.0;
        for entry in self.upper.range(before) {
            let other = self.upper.indices[entry];
            let there = self.colours.place(other as usize);
            let place = |&row: &u32| self.colours.place(row as usize);
            if there == here {
                continue;
            }
            let fits = if there > here {
                l += later[l..].iter().take_while(|row| place(row) < there).count();
                let fits = later.get(l) == Some(&other);
                if fits {
                    column[l] -= factor * self.values.get(entry);
                }
                fits
            } else {
                e += earlier[e..].iter().take_while(|row| place(row) < there).count();
                earlier.get(e) == Some(&other)
            };
            if !fits && self.moved > 0.0 {
                dropped += factor * self.values.get(entry);
            }
        }
        dropped
    }

    /// L's entries by column and by row, and 1/D.
    fn finish(self) -> (Vec<f32>, Vec<f32>, Vec<f64>) {
        let rows = self.diagonal.len();
        let inverse: Vec<f64> = (0..rows).map(|row| 1.0 / self.pivots.get(row)).collect();
        let upper: Vec<f32> = (0..rows)
            .into_par_iter()
            .flat_map_iter(|row| {
                let inverse = inverse[row];
                let values = &self.values;
                self.upper.range(row).map(move |entry| (values.get(entry) * inverse) as f32)
            })
            .collect();
        let lower = self.mirror.par_iter().map(|&entry| upper[entry as usize]).collect();
        (upper, lower, inverse)
    }
}
