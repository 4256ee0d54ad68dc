//! Eight blocks with narrow bands, factored and solved side by side.

use super::band::{self, LANES, Lane, Shape};
use super::blocks::Blocks;
use super::local::Places;
use super::{Fallback, Precision, SHIFTS};
use crate::error::{Result, SolveError};
use crate::matrix::Csr;
use std::sync::Arc;

/// A pivot below this share of its diagonal entry needs a factor in double precision: single precision would leave too few
/// digits of it.
const WEAK: f64 = 1e-6;

/// A block that is a band, perhaps only after its rows have been reordered.
#[derive(Debug, Clone)]
pub(super) struct Member {
    pub block: u32,
    /// The place in the block of each row of the band; as they are if there is none.
    pub order: Option<Arc<[u32]>>,
}

/// Up to eight blocks.
#[derive(Debug)]
pub(super) struct Batch {
    shape: Shape,
    pub members: Vec<Member>,
    factor: Factor,
}

/// The factor, with the vectors that it solves for.
#[derive(Debug)]
enum Factor {
    Double { values: Vec<Lane<f64>>, x: Vec<Lane<f64>> },
    Single { values: Vec<Lane<f32>>, x: Vec<Lane<f32>> },
}

impl Batch {
    /// Blocks of at most `shape.rows` rows and a half-width of at most `shape.width`. Not factored yet.
    pub fn new(shape: Shape, members: Vec<Member>) -> Self {
        Self { shape, members, factor: Factor::Single { values: Vec::new(), x: Vec::new() } }
    }

    /// Whether all entries of the blocks are inside of the bands.
    pub fn fits(&self, matrix: &Csr<f64>, blocks: &Blocks, places: &Places) -> bool {
        self.members.iter().all(|member| {
            let block = blocks.rows(member.block as usize);
            let back = member.inverse(block.len());
            let row_of = |place: usize| back.as_ref().map_or(place, |back| back[place] as usize);
            block.iter().enumerate().all(|(place, &row)| {
                let mut columns = places.entries(matrix, row).map(|(column, _)| row_of(column));
                columns.all(|column| column.abs_diff(row_of(place)) <= self.shape.width)
            })
        })
    }

    /// Takes the values of a matrix. A block that is not positive definite gets its diagonal raised until it is, and is
    /// refused if nothing helps.
    pub fn refactor(
        &mut self,
        matrix: &Csr<f64>,
        blocks: &Blocks,
        places: &Places,
        precision: Precision,
    ) -> Result<Vec<Fallback>> {
        let Shape { rows, width } = self.shape;
        let gathered = self.gather(matrix, blocks, places);
        let mut values = gathered.clone();
        let mut stage = [0; LANES];
        let mut fallbacks: Vec<Fallback> = Vec::new();
        while let Err(pivot) = band::factor(self.shape, &mut values) {
            // Raise the diagonal of the block that failed, and begin again.
            let lane = pivot.lane;
            let member = &self.members[lane];
            let block = blocks.rows(member.block as usize);
            let row = block[member.place(pivot.row)] as usize;
            let Some(&shift) = SHIFTS.get(stage[lane]) else {
                // A dominant matrix has a factor, unless its entries are no numbers, or so small or large that sums fail.
                return Err(SolveError::BadPivot {
                    what: format!("block {}", member.block),
                    row,
                    pivot: pivot.value,
                    wanted: "positive once the diagonal is raised",
                });
            };
            stage[lane] += 1;
            match fallbacks.iter_mut().find(|fallback| fallback.block == member.block as usize) {
                Some(known) => known.shift = shift,
                None => fallbacks.push(Fallback {
                    block: member.block as usize,
                    row,
                    pivot: pivot.value,
                    shift,
                }),
            }
            values.copy_from_slice(&gathered);
            for (lane, member) in self.members.iter().enumerate() {
                let known =
                    fallbacks.iter().find(|fallback| fallback.block == member.block as usize);
                let Some(&Fallback { shift, .. }) = known else { continue };
                let block = blocks.rows(member.block as usize);
                for row in 0..block.len() {
                    let around: f64 = places
                        .entries(matrix, block[member.place(row)])
                        .map(|(_, value)| value.abs())
                        .sum();
                    values[row * (width + 1) + width][lane] += raised(shift, around);
                }
            }
        }

        // The reciprocal on L's diagonal squared is the reciprocal of the pivot.
        let enough = precision == Precision::Enough;
        let strong = enough
            && (0..rows * LANES).all(|n| {
                let at = n / LANES * (width + 1) + width;
                let (diagonal, inverse) = (gathered[at][n % LANES], values[at][n % LANES]);
                diagonal * inverse * inverse * WEAK < 1.0
            });
        let length = self.shape.vector_len();
        self.factor = if strong {
            Factor::Single {
                values: values.iter().map(|lane| lane.map(|value| value as f32)).collect(),
                x: vec![[0.0; LANES]; length],
            }
        } else {
            Factor::Double { values, x: vec![[0.0; LANES]; length] }
        };
        Ok(fallbacks)
    }

    /// z = (blocks)⁻¹·r: `r` over all rows, a slice of `z` per block.
    pub fn solve(&mut self, r: &[f64], blocks: &Blocks, z: &mut [&mut [f64]]) {
        let Self { shape, members, factor } = self;
        match factor {
            Factor::Double { values, x } => {
                load(*shape, members, r, blocks, x, |value| value);
                band::solve_double(*shape, values, x);
                store(*shape, members, x, z, |value| value);
            }
            Factor::Single { values, x } => {
                // One scale for the batch keeps small residuals clear of the smallest single-precision numbers.
                let rows = members.iter().flat_map(|member| blocks.rows(member.block as usize));
                let largest = rows.fold(0.0_f64, |most, &row| most.max(r[row as usize].abs()));
                let scale = if largest > 0.0 { largest } else { 1.0 };
                let inverse = 1.0 / scale;
                load(*shape, members, r, blocks, x, |value| (value * inverse) as f32);
                band::solve_single(*shape, values, x);
                store(*shape, members, x, z, |value| f64::from(value) * scale);
            }
        }
    }

    /// Bytes of factor and vectors.
    pub fn bytes(&self) -> u64 {
        (match &self.factor {
            Factor::Double { values, x } => size_of_val(&values[..]) + size_of_val(&x[..]),
            Factor::Single { values, x } => size_of_val(&values[..]) + size_of_val(&x[..]),
        }) as u64
    }

    /// The bands of the blocks, lane by lane.
    fn gather(&self, matrix: &Csr<f64>, blocks: &Blocks, places: &Places) -> Vec<Lane<f64>> {
        let Shape { rows, width } = self.shape;
        let mut values = vec![[0.0; LANES]; self.shape.len()];
        for row in 0..rows {
            values[row * (width + 1) + width] = [1.0; LANES];
        }
        for (lane, member) in self.members.iter().enumerate() {
            let block = blocks.rows(member.block as usize);
            let back = member.inverse(block.len());
            for row in 0..block.len() {
                let band = &mut values[row * (width + 1)..][..width + 1];
                band[width][lane] = 0.0;
                for (place, value) in places.entries(matrix, block[member.place(row)]) {
                    let column = back.as_ref().map_or(place, |back| back[place] as usize);
                    if column <= row {
                        band[width + column - row][lane] = value;
                    }
                }
            }
        }
        values
    }
}

impl Member {
    /// The place in the block of a row of the band.
    fn place(&self, row: usize) -> usize {
        self.order.as_ref().map_or(row, |order| order[row] as usize)
    }

    /// The row of the band of each place in the block.
    fn inverse(&self, rows: usize) -> Option<Vec<u32>> {
        self.order.as_ref().map(|order| {
            let mut inverse = vec![0; rows];
            for (row, &place) in order.iter().enumerate() {
                inverse[place as usize] = row as u32;
            }
            inverse
        })
    }
}

/// What is added to a diagonal entry for a shift, given the magnitudes of its row. A row of zeros gets 1.
pub(super) fn raised(shift: f64, around: f64) -> f64 {
    if around > 0.0 { shift * around } else { 1.0 }
}

fn load<T: Copy + Default>(
    shape: Shape,
    members: &[Member],
    r: &[f64],
    blocks: &Blocks,
    x: &mut [Lane<T>],
    convert: impl Fn(f64) -> T,
) {
    let (_, x) = x.split_at_mut(shape.width);
    for (lane, member) in members.iter().enumerate() {
        let block = blocks.rows(member.block as usize);
        match &member.order {
            None => {
                for (x, &row) in x.iter_mut().zip(block) {
                    x[lane] = convert(r[row as usize]);
                }
            }
            Some(order) => {
                for (x, &place) in x.iter_mut().zip(&order[..]) {
                    x[lane] = convert(r[block[place as usize] as usize]);
                }
            }
        }
    }
}

fn store<T: Copy>(
    shape: Shape,
    members: &[Member],
    x: &[Lane<T>],
    z: &mut [&mut [f64]],
    convert: impl Fn(T) -> f64,
) {
    let x = &x[shape.width..];
    for (lane, (member, z)) in members.iter().zip(z).enumerate() {
        match &member.order {
            None => {
                for (z, x) in z.iter_mut().zip(x) {
                    *z = convert(x[lane]);
                }
            }
            Some(order) => {
                for (&place, x) in order.iter().zip(x) {
                    z[place as usize] = convert(x[lane]);
                }
            }
        }
    }
}
