//! The parts of a multigrid cycle on one level, in `f32`: red-black Gauss-Seidel by half-sweeps, and the transfer of residuals
//! and corrections, each over all Buckets on all threads.

use super::half::Half;
use super::level::{Kind, Level};
use super::stencil::{Around, NONE, sum, weighted};
use super::tables::Tables;
use multiversion::multiversion;
use rayon::prelude::*;
use undine_core::memory;

/// Buckets that one task works on.
const TASK: usize = 32;

/// Halves without values.
const EMPTY: Half<f32> = [[[0.0; 4]; 8]; 8];

/// A vector of a level: its halves by colour and Bucket.
pub type Halves = [Vec<Half<f32>>; 2];

/// A value for each of the 4×4×4 coarse cells that one Bucket makes.
pub type Octant = [[[f32; 4]; 4]; 4];

/// A vector of zeros.
pub fn zeros(buckets: usize) -> Halves {
    [memory::zeros(buckets), memory::zeros(buckets)]
}

/// Calls `work` on pieces of `halves` with the place where each begins, on all threads if there is enough to do.
fn each_task<T: Send>(halves: &mut [T], work: impl Fn(usize, &mut [T]) + Sync) {
    if halves.len() <= 2 * TASK {
        return work(0, halves);
    }
    halves.par_chunks_mut(TASK).enumerate().for_each(|(n, halves)| work(n * TASK, halves));
}

/// The half-sweep of `colour` from a guess of zero: x = b / d.
pub fn start(level: &Level, colour: usize, b: &[Half<f32>], x: &mut [Half<f32>]) {
    each_task(&mut x[..level.local()], |first, x| start_some(level, colour, first, &b[first..], x));
}

#[multiversion(targets("x86_64+avx2"))]
fn start_some(level: &Level, colour: usize, first: usize, b: &[Half<f32>], x: &mut [Half<f32>]) {
    for ((place, x), b) in (first..).zip(x).zip(b) {
        match level.kinds[place] {
            Kind::Empty => *x = EMPTY,
            Kind::Uniform(c) => {
                let inverse = 1.0 / (6.0 * c);
                x.as_flattened_mut()
                    .as_flattened_mut()
                    .iter_mut()
                    .zip(b.as_flattened().as_flattened())
                    .for_each(|(x, b)| *x = b * inverse);
            }
            Kind::Constant(_, diagonal) | Kind::Varied(_, diagonal) => {
                let inverse = &level.diagonals[diagonal as usize].inverse[colour];
                let x = x.as_flattened_mut().as_flattened_mut();
                let b = b.as_flattened().as_flattened();
                for ((x, b), d) in x.iter_mut().zip(b).zip(inverse.as_flattened().as_flattened()) {
                    *x = b * d;
                }
            }
        }
    }
}

/// Which Buckets a half-sweep relaxes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Where {
    /// All of them.
    Everywhere,
    /// Those whose coefficients vary from face to face: along cut cells and jumps of density, where one sweep does less.
    Varied,
}

/// The half-sweep of `colour`: x = (b + Σ c·x′) / d, with x′ of the `other` colour.
pub fn relax(
    level: &Level,
    which: Where,
    colour: usize,
    b: &[Half<f32>],
    other: &[Half<f32>],
    x: &mut [Half<f32>],
) {
    each_task(&mut x[..level.local()], |first, x| {
        relax_some(level, which, colour, first, b, other, x);
    });
}

#[multiversion(targets("x86_64+avx2"))]
fn relax_some(
    level: &Level,
    which: Where,
    colour: usize,
    first: usize,
    b: &[Half<f32>],
    other: &[Half<f32>],
    x: &mut [Half<f32>],
) {
    for (place, out) in (first..).zip(x) {
        if which == Where::Everywhere || matches!(level.kinds[place], Kind::Varied(..)) {
            relax_bucket(level, colour, place, &b[place], other, out);
        }
    }
}

/// (b + Σ c·x′) / d on one Bucket.
#[inline(always)]
fn relax_bucket(
    level: &Level,
    colour: usize,
    place: usize,
    b: &Half<f32>,
    other: &[Half<f32>],
    out: &mut Half<f32>,
) {
    let around = Around::new(other, 1, place, &level.sides[place]);
    match level.kinds[place] {
        Kind::Empty => *out = EMPTY,
        Kind::Uniform(c) => {
            let inverse = 1.0 / (6.0 * c);
            around.rows(colour, |x, y, n| {
                let sum = sum(&n);
                out[x][y] = std::array::from_fn(|i| (b[x][y][i] + c * sum[i]) * inverse);
            });
        }
        Kind::Constant(c, diagonal) => {
            let d = &level.diagonals[diagonal as usize].inverse[colour];
            around.rows(colour, |x, y, n| {
                let sum = sum(&n);
                out[x][y] = std::array::from_fn(|i| (b[x][y][i] + c * sum[i]) * d[x][y][i]);
            });
        }
        Kind::Varied(faces, diagonal) => {
            let faces = &level.faces[faces as usize][colour];
            let d = &level.diagonals[diagonal as usize].inverse[colour];
            around.rows(colour, |x, y, n| {
                let sum = weighted(&n, faces, x, y);
                out[x][y] = std::array::from_fn(|i| (b[x][y][i] + sum[i]) * d[x][y][i]);
            });
        }
    }
}

/// The residual of `colour`, summed over the 2×2×2 cells of each coarse one. The residual of the other colour is zero, because
/// it was relaxed last.
pub fn restrict(
    level: &Level,
    colour: usize,
    b: &[Half<f32>],
    x: &Halves,
    coarse: &Tables,
    coarse_b: &mut Halves,
) {
    let [red, black] = coarse_b;
    let (red, black) = (&mut red[..coarse.local], &mut black[..coarse.local]);
    let work = |(place, (red, black)): (usize, (&mut Half<f32>, &mut Half<f32>))| {
        restrict_into(level, colour, b, x, &coarse.children[place], [red, black]);
    };
    if coarse.local <= TASK / 4 {
        red.iter_mut().zip(black).enumerate().for_each(work);
    } else {
        red.par_iter_mut().zip(black).enumerate().with_min_len(TASK / 8).for_each(work);
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn restrict_into(
    level: &Level,
    colour: usize,
    b: &[Half<f32>],
    x: &Halves,
    children: &[u32; 8],
    out: [&mut Half<f32>; 2],
) {
    let [red, black] = out;
    for (octant, &child) in children.iter().enumerate() {
        // Foreign children have their sums sent.
        let local = child != NONE && (child as usize) < level.local();
        let sums = match local {
            true => residual_sums(level, colour, b, x, child as usize),
            false => Octant::default(),
        };
        put(octant, &sums, [&mut *red, &mut *black]);
    }
}

/// Writes sums into an octant of a coarse Bucket: a row of four coarse cells has two of each colour.
#[inline(always)]
pub fn put(octant: usize, sums: &Octant, out: [&mut Half<f32>; 2]) {
    let (x0, y0, z0) = corner(octant);
    for (x, y) in (0..16).map(|n| (n >> 2, n & 3)) {
        let sums = sums[x][y];
        let even = (x + y) & 1;
        out[even][x0 + x][y0 + y][z0..z0 + 2].copy_from_slice(&[sums[0], sums[2]]);
        out[1 - even][x0 + x][y0 + y][z0..z0 + 2].copy_from_slice(&[sums[1], sums[3]]);
    }
}

/// Where an octant begins in the halves of a coarse Bucket.
#[inline(always)]
fn corner(octant: usize) -> (usize, usize, usize) {
    (4 * (octant >> 2), 4 * (octant >> 1 & 1), 2 * (octant & 1))
}

/// The residuals of one Bucket's cells of `colour`, summed by coarse cells.
#[inline(always)]
pub fn residual_sums(
    level: &Level,
    colour: usize,
    b: &[Half<f32>],
    x: &Halves,
    place: usize,
) -> Octant {
    let mut relaxed = EMPTY;
    relax_bucket(level, colour, place, &b[place], &x[1 - colour], &mut relaxed);
    let mut sums = Octant::default();
    sum_residuals(level, colour, place, &relaxed, &x[colour][place], &mut sums);
    sums
}

/// Adds the residuals of a Bucket's cells, which are d times what relaxing would add to x, by coarse cells.
#[inline(always)]
fn sum_residuals(
    level: &Level,
    colour: usize,
    place: usize,
    relaxed: &Half<f32>,
    x: &Half<f32>,
    sums: &mut Octant,
) {
    match level.kinds[place] {
        Kind::Empty => {}
        Kind::Uniform(c) => {
            let d = 6.0 * c;
            sum_rows(sums, |a, b, i| d * (relaxed[a][b][i] - x[a][b][i]));
        }
        Kind::Constant(_, diagonal) | Kind::Varied(_, diagonal) => {
            let d = &level.diagonals[diagonal as usize].rounded[colour];
            sum_rows(sums, |a, b, i| d[a][b][i] * (relaxed[a][b][i] - x[a][b][i]));
        }
    }
}

/// Four rows of one colour make up a row of coarse cells, whatever their parity.
#[inline(always)]
fn sum_rows(sums: &mut Octant, row: impl Fn(usize, usize, usize) -> f32) {
    for (x, y) in (0..16).map(|n| (n >> 2, n & 3)) {
        sums[x][y] = std::array::from_fn(|i| {
            let (x, y) = (2 * x, 2 * y);
            (row(x, y, i) + row(x, y + 1, i)) + (row(x + 1, y, i) + row(x + 1, y + 1, i))
        });
    }
}

/// Adds to each cell of `colour` the value of the coarse cell that it is a part of. Cells of the other colour, which are
/// relaxed next, do not need it.
pub fn prolong(level: &Level, colour: usize, fine: &Tables, coarse: &Halves, x: &mut [Half<f32>]) {
    each_task(&mut x[..level.local()], |first, x| {
        prolong_some(level, colour, first, fine, coarse, x)
    });
}

#[multiversion(targets("x86_64+avx2"))]
fn prolong_some(
    level: &Level,
    colour: usize,
    first: usize,
    fine: &Tables,
    coarse: &Halves,
    x: &mut [Half<f32>],
) {
    for (place, out) in (first..).zip(x) {
        let parent = fine.parents[place] as usize;
        let octant = usize::from(fine.octants[place]);
        let (x0, y0, z0) = corner(octant);
        let inverse = match level.kinds[place] {
            Kind::Empty => continue,
            Kind::Uniform(_) => None,
            Kind::Constant(_, diagonal) | Kind::Varied(_, diagonal) => {
                Some(&level.diagonals[diagonal as usize].inverse[colour])
            }
        };
        for (x, y) in (0..16).map(|n| (n >> 2, n & 3)) {
            let even = (x + y) & 1;
            let row = |colour: usize| &coarse[colour][parent][x0 + x][y0 + y];
            let (a, b) = (row(even), row(1 - even));
            let values = [a[z0], b[z0], a[z0 + 1], b[z0 + 1]];
            for (x, y) in
                [(2 * x, 2 * y), (2 * x, 2 * y + 1), (2 * x + 1, 2 * y), (2 * x + 1, 2 * y + 1)]
            {
                let out = &mut out[x][y];
                for i in 0..4 {
                    let here = inverse.is_none_or(|inverse| inverse[x][y][i] != 0.0);
                    out[i] += if here { values[i] } else { 0.0 };
                }
            }
        }
    }
}
