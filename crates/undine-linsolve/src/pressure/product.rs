//! The product of a level's equations with a vector, in `f64`.

use super::half::{Half, VOXELS};
use super::level::{Kind, Level};
use super::stencil::{Around, Row, sum, weighted};
use multiversion::multiversion;
use rayon::prelude::*;

/// Buckets that one task works on.
const TASK: usize = 16;

/// y = A·x, and x·y of the local rows. `x` has 512 entries for each stored Bucket, `y` for each local one.
pub fn product(level: &Level, x: &[f64], y: &mut [f64]) -> f64 {
    let x: &[Half<f64>] = bytemuck::cast_slice(x);
    let task =
        |(n, y): (usize, &mut [f64])| product_of(level, n * TASK, x, bytemuck::cast_slice_mut(y));
    if level.local() <= 2 * TASK {
        return y.chunks_mut(TASK * VOXELS).enumerate().map(task).sum();
    }
    let sums: Vec<f64> = y.par_chunks_mut(TASK * VOXELS).enumerate().map(task).collect();
    sums.into_iter().sum()
}

/// The same for some Buckets, from `first` on.
#[multiversion(targets("x86_64+avx2"))]
fn product_of(level: &Level, first: usize, x: &[Half<f64>], y: &mut [[Half<f64>; 2]]) -> f64 {
    let mut dot = [0.0; 4];
    for (place, y) in (first..).zip(y) {
        for colour in 0..2 {
            let own = &x[2 * place + colour];
            let out = &mut y[colour];
            // Halves of the other colour begin at the other half of Bucket 0.
            let around = Around::new(&x[1 - colour..], 2, place, &level.sides[place]);
            let mut write = |x: usize, y: usize, value: Row<f64>| {
                out[x][y] = value;
                for lane in 0..4 {
                    dot[lane] += value[lane] * own[x][y][lane];
                }
            };
            match level.kinds[place] {
                Kind::Empty => *out = [[[0.0; 4]; 8]; 8],
                Kind::Uniform(c) => {
                    let c = f64::from(c);
                    let d = 6.0 * c;
                    around.rows(colour, |x, y, n| {
                        let sum = sum(&n);
                        write(x, y, std::array::from_fn(|i| d * own[x][y][i] - c * sum[i]));
                    });
                }
                Kind::Constant(c, diagonal) => {
                    let c = f64::from(c);
                    let d = &level.diagonals[diagonal as usize].exact[colour];
                    around.rows(colour, |x, y, n| {
                        let sum = sum(&n);
                        let value = |i: usize| masked(d[x][y][i], own[x][y][i], c * sum[i]);
                        write(x, y, std::array::from_fn(value));
                    });
                }
                Kind::Varied(faces, diagonal) => {
                    let faces = &level.faces[faces as usize][colour];
                    let d = &level.diagonals[diagonal as usize].exact[colour];
                    around.rows(colour, |x, y, n| {
                        let sum = weighted(&n, faces, x, y);
                        let value = |i: usize| masked(d[x][y][i], own[x][y][i], sum[i]);
                        write(x, y, std::array::from_fn(value));
                    });
                }
            }
        }
    }
    (dot[0] + dot[2]) + (dot[1] + dot[3])
}

/// d·x − sum, but nothing where there is no equation.
#[inline(always)]
fn masked(d: f64, x: f64, sum: f64) -> f64 {
    if d > 0.0 { d * x - sum } else { 0.0 }
}
