//! The system as a sparse matrix, for solvers that want one and for comparison.

use super::half::{VOXELS, place, voxel};
use super::level::{Kind, Level};
use super::piece::STRIDES;
use super::stencil::NONE;
use crate::error::Result;
use crate::matrix::{Csr, Matrix};
use crate::rows::Rows;
use rayon::prelude::*;
use std::sync::Arc;

/// No cell there.
const NOTHING: u64 = u64::MAX;

/// A pressure system as a matrix of its cells that have an equation, numbered by Bucket and voxel.
#[derive(Debug, Clone)]
pub struct PressureMatrix {
    /// The matrix.
    pub matrix: Matrix,
    /// By row of the matrix: the entry of a vector over the pressure system.
    pub entries: Vec<u32>,
}

impl PressureMatrix {
    /// The rows' values of a vector over the pressure system.
    pub fn gather(&self, vector: &[f64]) -> Vec<f64> {
        self.entries.par_iter().map(|&entry| vector[entry as usize]).collect()
    }

    /// Writes the rows' values into a vector over the pressure system.
    pub fn scatter(&self, values: &[f64], vector: &mut [f64]) {
        for (&entry, &value) in self.entries.iter().zip(values) {
            vector[entry as usize] = value;
        }
    }
}

/// The matrix of a level whose vectors have these `rows`. Collective.
pub(super) fn matrix(level: &Level, rows: &Rows) -> Result<PressureMatrix> {
    // Number the cells, and learn the numbers of those in copies.
    let active = |bucket: usize| (0..VOXELS).filter(move |&voxel| level.is_active(bucket, voxel));
    let entry = |bucket: usize, voxel: usize| bucket * VOXELS + place(voxel);
    let entries: Vec<u32> = (0..level.local())
        .into_par_iter()
        .flat_map_iter(|bucket| active(bucket).map(move |voxel| entry(bucket, voxel) as u32))
        .collect();
    let own = Rows::distributed(rows.processes().clone(), entries.len(), &[])?;
    let mut numbers = vec![NOTHING; rows.stored()];
    for (&entry, number) in entries.iter().zip(own.first()..) {
        numbers[entry as usize] = number;
    }
    rows.refresh(&mut numbers)?;
    let mut foreign = numbers[rows.local()..].to_vec();
    foreign.retain(|&number| number != NOTHING);
    foreign.sort_unstable();
    let column = |number: u64| match number.checked_sub(own.first()) {
        Some(local) if local < entries.len() as u64 => local as u32,
        _ => (entries.len() + foreign.partition_point(|&other| other < number)) as u32,
    };

    // A row has its diagonal and up to six links.
    let row = |&at: &u32| -> ([(u32, f64); 7], usize) {
        let (bucket, voxel) = (at as usize / VOXELS, voxel(at as usize % VOXELS));
        let mut row = [(u32::MAX, 0.0); 7];
        row[0] = (column(numbers[at as usize]), level.diagonal(bucket, voxel));
        let mut len = 1;
        for side in 0..6 {
            let Some(there) = neighbour(level, bucket, voxel, side) else { continue };
            let number = numbers[there];
            let c = level.face(bucket, voxel, side);
            if number != NOTHING && c != 0.0 {
                row[len] = (column(number), -f64::from(c));
                len += 1;
            }
        }
        row[..len].sort_unstable_by_key(|&(column, _)| column);
        (row, len)
    };
    let lengths: Vec<u32> = entries.par_iter().map(|at| row(at).1 as u32).collect();
    let mut starts = vec![0; entries.len() + 1];
    for (n, length) in lengths.into_iter().enumerate() {
        starts[n + 1] = starts[n] + length;
    }
    let parts = |at: &u32| {
        let (row, len) = row(at);
        row.into_iter().take(len)
    };
    let (indices, values) = entries.par_iter().flat_map_iter(parts).unzip();
    let csr = Csr::from_sound_parts(entries.len() + foreign.len(), starts, indices, values);
    let rows: Arc<Rows> = Rows::distributed(rows.processes().clone(), entries.len(), &foreign)?;
    Ok(PressureMatrix { matrix: Matrix::new(rows, csr)?, entries })
}

/// The entry of a voxel's neighbour, if there is a Bucket.
fn neighbour(level: &Level, bucket: usize, voxel: usize, side: usize) -> Option<usize> {
    let stride = STRIDES[side / 2];
    let along = voxel / stride % 8;
    let (bucket, voxel) = match (side % 2 == 1, along) {
        (false, 0) => (level.sides[bucket][side], voxel + 7 * stride),
        (true, 7) => (level.sides[bucket][side], voxel - 7 * stride),
        (false, _) => (bucket as u32, voxel - stride),
        (true, _) => (bucket as u32, voxel + stride),
    };
    (bucket != NONE).then(|| bucket as usize * VOXELS + place(voxel))
}

impl Level {
    /// The coefficient of a face of a voxel; means nothing where there is no cell beyond it.
    fn face(&self, bucket: usize, voxel: usize, side: usize) -> f32 {
        match self.kinds[bucket] {
            Kind::Empty => 0.0,
            Kind::Uniform(c) | Kind::Constant(c, _) => c,
            Kind::Varied(faces, _) => {
                let place = place(voxel);
                let half = &self.faces[faces as usize][place >> 8][side];
                half.as_flattened().as_flattened()[place & 255]
            }
        }
    }
}
