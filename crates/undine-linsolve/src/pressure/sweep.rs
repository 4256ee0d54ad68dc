//! Bounds on pressures: projected Gauss-Seidel sweeps by colours on Buckets, in `f64`, so that
//! [`predictor_corrector`](crate::lcp::predictor_corrector) needs no matrix.

use super::half::{HALF, Half, VOXELS};
use super::level::{Kind, Level};
use super::stencil::{Around, Row, sum, weighted};
use super::system::PressureSystem;
use crate::error::Result;
use crate::lcp::{Bounds, GaussSeidel};
use crate::operator::Operator;
use multiversion::multiversion;
use rayon::prelude::*;
use undine_core::{DiscreteVolume, Handle};

/// Buckets that one task works on.
const TASK: usize = 16;

/// The halves of a vector, by colour and Bucket.
type Halves = [Vec<Half<f64>>; 2];

impl PressureSystem {
    /// Lower and upper bounds of the pressure from channels of the volume that the system was made of; −∞ and ∞ are allowed. Without
    /// a channel, and where there is no equation, that side is open.
    ///
    /// A wall that a liquid may leave has a lower bound of 0 in the cells along it, and −∞ in all others.
    pub fn bounds(
        &self,
        volume: &DiscreteVolume,
        lower: Option<Handle<f32>>,
        upper: Option<Handle<f32>>,
    ) -> Result<(Vec<f64>, Vec<f64>)> {
        let side = |channel: Option<Handle<f32>>, open: f64| -> Result<Vec<f64>> {
            let Some(channel) = channel else { return Ok(vec![open; self.rows().local()]) };
            let mut values = self.read(volume, channel)?;
            values.par_chunks_mut(VOXELS).enumerate().for_each(|(bucket, values)| {
                if let Some(diagonals) = self.finest().diagonals_of(bucket) {
                    let nothing = values.iter_mut().zip(diagonals).filter(|(_, d)| **d == 0.0);
                    nothing.for_each(|(value, _)| *value = open);
                }
            });
            Ok(values)
        };
        Ok((side(lower, f64::NEG_INFINITY)?, side(upper, f64::INFINITY)?))
    }

    /// The diagonal by row; 1 where there is no equation.
    pub(super) fn lay_out_diagonal(&self) -> Vec<f64> {
        let level = self.finest();
        let mut all = vec![0.0; self.rows().local()];
        all.par_chunks_mut(VOXELS).enumerate().for_each(|(bucket, to)| {
            match (level.diagonals_of(bucket), level.kinds[bucket]) {
                (Some(from), _) => to.iter_mut().zip(from).for_each(|(to, &d)| {
                    *to = if d > 0.0 { d } else { 1.0 };
                }),
                (None, Kind::Uniform(c)) => to.fill(6.0 * f64::from(c)),
                (None, _) => to.fill(1.0),
            }
        });
        all
    }
}

impl GaussSeidel for PressureSystem {
    fn diagonal(&self) -> &[f64] {
        self.laid_out_diagonal()
    }

    fn sweep(&self, b: &[f64], bounds: &Bounds<'_>, x: &mut [f64], count: usize) -> Result<()> {
        let level = self.finest();
        let problem = Problem {
            level,
            b: bytemuck::cast_slice(b),
            lower: bytemuck::cast_slice(bounds.lower()),
            upper: bytemuck::cast_slice(bounds.upper()),
        };
        // Each colour on its own, so that one is read while the other is written.
        let mut halves: Halves = [0, 1].map(|_| vec![[[[0.0; 4]; 8]; 8]; level.stored]);
        let mut with_copies =
            vec![0.0; if self.rows().is_single() { 0 } else { self.rows().stored() }];
        load(x, &mut halves, 0);
        self.refresh_halves(&mut halves, &mut with_copies)?;
        for _ in 0..count {
            for colour in 0..2 {
                let [red, black] = &mut halves;
                let (x, other) = if colour == 0 { (red, &*black) } else { (black, &*red) };
                let x = &mut x[..level.local()];
                if x.len() <= 2 * TASK {
                    relax(&problem, colour, 0, other, x);
                } else {
                    x.par_chunks_mut(TASK)
                        .enumerate()
                        .for_each(|(n, x)| relax(&problem, colour, n * TASK, other, x));
                }
                self.refresh_halves(&mut halves, &mut with_copies)?;
            }
        }
        store(&halves, x);
        Ok(())
    }
}

impl PressureSystem {
    /// Brings the copies of foreign cells up to date. Collective.
    fn refresh_halves(&self, halves: &mut Halves, with_copies: &mut [f64]) -> Result<()> {
        if self.rows().is_single() {
            return Ok(());
        }
        let local = self.rows().local();
        store(halves, &mut with_copies[..local]);
        self.rows().refresh(with_copies)?;
        load(&with_copies[local..], halves, local / VOXELS);
        Ok(())
    }
}

/// Takes a vector apart into colours, from Bucket `first` on.
fn load(x: &[f64], [red, black]: &mut Halves, first: usize) {
    let halves = red[first..].par_iter_mut().zip(&mut black[first..]).with_min_len(64);
    halves.zip(x.par_chunks(VOXELS)).for_each(|((red, black), x)| {
        red.as_flattened_mut().as_flattened_mut().copy_from_slice(&x[..HALF]);
        black.as_flattened_mut().as_flattened_mut().copy_from_slice(&x[HALF..]);
    });
}

/// Puts the local part together again.
fn store([red, black]: &Halves, x: &mut [f64]) {
    let halves = x.par_chunks_mut(VOXELS).zip(red).zip(black).with_min_len(64);
    halves.for_each(|((x, red), black)| {
        x[..HALF].copy_from_slice(red.as_flattened().as_flattened());
        x[HALF..].copy_from_slice(black.as_flattened().as_flattened());
    });
}

/// What a sweep reads; vectors have two halves to a Bucket.
struct Problem<'a> {
    level: &'a Level,
    b: &'a [Half<f64>],
    lower: &'a [Half<f64>],
    upper: &'a [Half<f64>],
}

/// x = clamp((b + Σ c·x′) / d, lower, upper) on some Buckets, from `first` on, with x′ of the `other` colour.
#[multiversion(targets("x86_64+avx2"))]
fn relax(
    problem: &Problem<'_>,
    colour: usize,
    first: usize,
    other: &[Half<f64>],
    x: &mut [Half<f64>],
) {
    let level = problem.level;
    for (place, out) in (first..).zip(x) {
        let at = 2 * place + colour;
        let (b, lower, upper) = (&problem.b[at], &problem.lower[at], &problem.upper[at]);
        let around = Around::new(other, 1, place, &level.sides[place]);
        let mut write = |x: usize, y: usize, solved: Row<f64>| {
            out[x][y] = std::array::from_fn(|i| {
                let value = if solved[i] < lower[x][y][i] { lower[x][y][i] } else { solved[i] };
                if value > upper[x][y][i] { upper[x][y][i] } else { value }
            });
        };
        // Where there is no equation, there is no pressure either.
        let solve = |b: f64, d: f64| if d > 0.0 { b / d } else { 0.0 };
        match level.kinds[place] {
            Kind::Empty => *out = [[[0.0; 4]; 8]; 8],
            Kind::Uniform(c) => {
                let c = f64::from(c);
                let d = 6.0 * c;
                around.rows(colour, |x, y, n| {
                    let sum = sum(&n);
                    write(x, y, std::array::from_fn(|i| (b[x][y][i] + c * sum[i]) / d));
                });
            }
            Kind::Constant(c, diagonal) => {
                let c = f64::from(c);
                let d = &level.diagonals[diagonal as usize].exact[colour];
                around.rows(colour, |x, y, n| {
                    let sum = sum(&n);
                    let value = |i: usize| solve(b[x][y][i] + c * sum[i], d[x][y][i]);
                    write(x, y, std::array::from_fn(value));
                });
            }
            Kind::Varied(faces, diagonal) => {
                let faces = &level.faces[faces as usize][colour];
                let d = &level.diagonals[diagonal as usize].exact[colour];
                around.rows(colour, |x, y, n| {
                    let sum = weighted(&n, faces, x, y);
                    let value = |i: usize| solve(b[x][y][i] + sum[i], d[x][y][i]);
                    write(x, y, std::array::from_fn(value));
                });
            }
        }
    }
}
