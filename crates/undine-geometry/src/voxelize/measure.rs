//! The exact distances of the voxels of a Bucket.
//!
//! From the patches that a Bucket has to ask, those are picked that blocks of 4³ voxels and then of 2³ have to ask, and
//! of these, for each voxel, those whose disc is not farther away than the nearest triangle found. Triangles are
//! compared in `f32`, eight at once; all that are nearest up to rounding are then measured in `f64`, so that the result
//! is that of trying every triangle of the mesh, to the last bit.

use super::patch::{ALONE, LANES, Row, distance};
use super::tree::Tree;
use crate::levelset::VOXELS;
use crate::triangle::closest_point;
use multiversion::multiversion;
use undine_core::Bucket;
use undine_core::domain::VOXELS_PER_BUCKET;
use undine_core::glam::{DVec3, Vec3};
use undine_core::volume::Resolution;

/// A voxel's nearest point of the mesh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Foot {
    /// The triangle; [`FAR`] where the mesh is too far away.
    pub triangle: u32,
    /// The weights of its second and third corner.
    pub weights: [f32; 2],
}

/// No triangle.
pub(super) const FAR: u32 = u32::MAX;

/// What is found of the voxels of a Bucket.
pub(super) struct Measured {
    /// The distances [m]; infinite where the mesh is too far away.
    pub distances: Box<[f64; VOXELS]>,
    pub feet: Box<[Foot; VOXELS]>,
}

/// Discs around patches, seen from the centre of a Bucket [voxels].
#[derive(Default)]
struct Discs {
    /// Eight discs at once: the point, the normal, how far it reaches against it, along it and across it.
    rows: Vec<[Row; 9]>,
    /// Their patches.
    patches: Vec<u32>,
    /// Triangles that are alone in their patches.
    alone: Vec<u32>,
}

/// Eight discs so far away that nobody asks them.
const NOWHERE: [Row; 9] = {
    let mut rows = [[0.0; LANES]; 9];
    rows[0] = [1e15; LANES];
    rows
};

/// What a thread works with.
#[derive(Default)]
pub(super) struct Scratch {
    /// What Bucket, block of 4³ and block of 2³ have to ask.
    asked: [Discs; 3],
    /// Least squared distances, a row per row of discs.
    least: Vec<Row>,
    /// Distances of triangles that are alone.
    exact: Vec<f64>,
    /// Triangles that may be nearest, with their squared distances [voxels²] in `f32`.
    candidates: Vec<(f32, u32)>,
}

/// Half of the diagonal of a cube whose corners are voxels, this many along an edge [voxels].
const fn half_diagonal(edge: f32) -> f32 {
    0.5 * (edge - 1.0) * 1.732_051
}

/// The most by which a distance in `f32` may be wrong [voxels]: coordinates are below 32 and the distance together.
fn rounding(distance: f32) -> f32 {
    1e-6 * (32.0 + distance)
}

impl Measured {
    pub fn new() -> Self {
        let far = Foot { triangle: FAR, weights: [0.0; 2] };
        Self { distances: Box::new([f64::INFINITY; VOXELS]), feet: Box::new([far; VOXELS]) }
    }

    /// Whether a voxel is nearer than `width` [m].
    pub fn reaches(&self, width: f64) -> bool {
        self.distances.iter().any(|&distance| distance < width)
    }
}

impl Discs {
    fn clear(&mut self) {
        self.rows.clear();
        self.patches.clear();
        self.alone.clear();
    }

    #[inline(always)]
    fn push(&mut self, disc: [f32; 9], patch: u32) {
        let lane = self.patches.len() % LANES;
        if lane == 0 {
            self.rows.push(NOWHERE);
        }
        let last = self.rows.len() - 1;
        for (row, value) in self.rows[last].iter_mut().zip(disc) {
            row[lane] = value;
        }
        self.patches.push(patch);
    }
}

/// The squares of the distances to eight discs, at least, and to their points: at most.
#[inline(always)]
fn bounds_squared(rows: &[Row; 9], at: [f32; 3]) -> (Row, Row) {
    let (mut least, mut most) = ([0.0; LANES], [0.0; LANES]);
    for n in 0..LANES {
        let arm = [at[0] - rows[0][n], at[1] - rows[1][n], at[2] - rows[2][n]];
        let along = arm[0] * rows[3][n] + arm[1] * rows[4][n] + arm[2] * rows[5][n];
        let whole = arm[0] * arm[0] + arm[1] * arm[1] + arm[2] * arm[2];
        let across = whole - along * along;
        let across = if across > 0.0 { across } else { 0.0 };
        let beside = across.sqrt() - rows[8][n];
        let beside = if beside > 0.0 { beside } else { 0.0 };
        let (below, above) = (rows[6][n] - along, along - rows[7][n]);
        let gap = if below > above { below } else { above };
        let gap = if gap > 0.0 { gap } else { 0.0 };
        // What rounding moves between the two.
        least[n] = gap * gap + beside * beside - 2e-6 * whole;
        most[n] = whole;
    }
    (least, most)
}

/// Writes the least squared distances to discs, and returns the distance to the nearest of their points.
#[inline(always)]
fn bound(discs: &Discs, at: [f32; 3], least: &mut Vec<Row>) -> f32 {
    let mut most = [f32::INFINITY; LANES];
    least.clear();
    for rows in &discs.rows {
        let (low, high) = bounds_squared(rows, at);
        for n in 0..LANES {
            most[n] = if high[n] < most[n] { high[n] } else { most[n] };
        }
        least.push(low);
    }
    most.iter().fold(f32::INFINITY, |a, &b| if b < a { b } else { a }).sqrt()
}

/// A bit for each of eight values that is not above the limit.
#[inline(always)]
fn up_to(values: &Row, limit: f32) -> u32 {
    (0..LANES).fold(0, |bits, n| bits | u32::from(values[n] <= limit) << n)
}

/// The numbers of the bits that are set.
#[inline(always)]
fn lanes(mut bits: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = bits.trailing_zeros();
        bits &= bits.wrapping_sub(1);
        (lane < LANES as u32).then_some(lane as usize)
    })
}

/// Measures the voxels of a Bucket that are within `reach` [voxels] of the mesh, asking the patches `near`.
pub(super) fn measure(
    tree: &Tree,
    bucket: Bucket,
    near: &[u32],
    reach: f64,
    scratch: &mut Scratch,
    to: &mut Measured,
) {
    let edge = VOXELS_PER_BUCKET as f64;
    let centre = (bucket.coord.as_dvec3() + 0.5) * edge;
    let all = &mut scratch.asked[0];
    all.clear();
    for &node in near {
        let patch = &tree.patches[node as usize];
        if patch.eight == ALONE {
            all.alone.push(tree.order[patch.first as usize]);
            continue;
        }
        let Vec3 { x, y, z } = (patch.point - centre).as_vec3();
        let Vec3 { x: nx, y: ny, z: nz } = patch.normal;
        let [low, high] = patch.height;
        all.push([x, y, z, nx, ny, nz, low, high, patch.across], node);
    }
    measure_blocks(tree, bucket, reach as f32 + rounding(reach as f32), scratch, to);
}

#[multiversion(targets("x86_64+avx2"))]
fn measure_blocks(
    tree: &Tree,
    bucket: Bucket,
    reach: f32,
    scratch: &mut Scratch,
    to: &mut Measured,
) {
    let Scratch { asked: [of_bucket, of_four, of_two], least, exact, candidates } = scratch;
    let first = bucket.coord.as_dvec3() * VOXELS_PER_BUCKET as f64;
    for four in 0..8 {
        let corner = [four >> 2, four >> 1 & 1, four & 1].map(|n: usize| 4 * n);
        pick(tree, first, of_bucket, corner, 4.0, reach, least, exact, of_four);
        if of_four.patches.is_empty() && of_four.alone.is_empty() {
            continue;
        }
        for two in 0..8 {
            let within = [two >> 2, two >> 1 & 1, two & 1];
            let corner: [usize; 3] = std::array::from_fn(|k| corner[k] + 2 * within[k]);
            pick(tree, first, of_four, corner, 2.0, reach, least, exact, of_two);
            if of_two.patches.is_empty() && of_two.alone.is_empty() {
                continue;
            }
            for one in 0..8 {
                let within = [one >> 2, one >> 1 & 1, one & 1];
                let voxel: [usize; 3] = std::array::from_fn(|k| corner[k] + within[k]);
                let found = nearest(tree, first, of_two, voxel, reach, least, candidates);
                if let Some((distance, foot)) = found {
                    let place = Resolution::R8.index(voxel[0], voxel[1], voxel[2]);
                    to.distances[place] = distance;
                    to.feet[place] = foot;
                }
            }
        }
    }
}

/// Picks what a cube of voxels has to ask from what a larger one had to.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "one step of `measure_blocks`, inlined into it")]
fn pick(
    tree: &Tree,
    first: DVec3,
    from: &Discs,
    corner: [usize; 3],
    edge: f32,
    reach: f32,
    least: &mut Vec<Row>,
    exact: &mut Vec<f64>,
    to: &mut Discs,
) {
    to.clear();
    let middle = corner.map(|n| n as f32 + 0.5 * edge - 4.0);
    let radius = half_diagonal(edge);
    let mut nearest = bound(from, middle, least);
    let place = first + DVec3::from_array(corner.map(|n| n as f64 + 0.5 * f64::from(edge)));
    exact.clear();
    for &triangle in &from.alone {
        let found = distance(tree.scaled.corners(triangle), place);
        nearest = nearest.min(found as f32);
        exact.push(found);
    }

    let limit = (nearest + 2.0 * radius).min(reach + radius) + rounding(nearest.min(reach));
    let limit_squared = limit * limit;
    for (n, (rows, low)) in from.rows.iter().zip(&*least).enumerate() {
        for lane in lanes(up_to(low, limit_squared)) {
            to.push(rows.map(|row| row[lane]), from.patches[n * LANES + lane]);
        }
    }
    for (&triangle, &found) in from.alone.iter().zip(&*exact) {
        if found <= f64::from(limit) {
            to.alone.push(triangle);
        }
    }
}

/// The distance [m] and the nearest point of a voxel, if it is within reach.
#[inline(always)]
fn nearest(
    tree: &Tree,
    first: DVec3,
    asked: &Discs,
    voxel: [usize; 3],
    reach: f32,
    least: &mut Vec<Row>,
    candidates: &mut Vec<(f32, u32)>,
) -> Option<(f64, Foot)> {
    let at = voxel.map(|n| n as f32 - 3.5);
    // Nothing beyond the nearest point of a patch has to be asked.
    let nearest = bound(asked, at, least).min(reach);
    let mut limit = (nearest + 2.0 * rounding(nearest)).powi(2);
    candidates.clear();
    for (n, low) in least.iter().enumerate() {
        for lane in lanes(up_to(low, limit)) {
            if low[lane] <= limit {
                ask(tree, asked, n * LANES + lane, at, &mut limit, candidates);
            }
        }
    }

    // What is left is measured from the voxel, in f64.
    let centre = (first + DVec3::from_array(voxel.map(|n| n as f64 + 0.5))) * tree.scaled.voxel;
    let mut best = (f64::INFINITY, Foot { triangle: FAR, weights: [0.0; 2] });
    let mut finish = |triangle: u32| {
        let corners = tree.scaled.metres(triangle).map(|corner| corner - centre);
        let on = closest_point(corners, DVec3::ZERO);
        let squared = on.point.length_squared();
        if (squared, triangle) < (best.0, best.1.triangle) {
            let weights = [on.weights[1] as f32, on.weights[2] as f32];
            best = (squared, Foot { triangle, weights });
        }
    };
    for &(found, triangle) in candidates.iter() {
        if found <= limit {
            finish(triangle);
        }
    }
    asked.alone.iter().for_each(|&triangle| finish(triangle));
    (best.1.triangle != FAR).then(|| (best.0.sqrt(), best.1))
}

/// Asks a patch for triangles within the `limit` [voxels²] of a place, and lowers it to what is found and its rounding.
#[inline(always)]
fn ask(
    tree: &Tree,
    asked: &Discs,
    number: usize,
    at: [f32; 3],
    limit: &mut f32,
    candidates: &mut Vec<(f32, u32)>,
) {
    let rows = &asked.rows[number / LANES];
    let lane = number % LANES;
    let patch = &tree.patches[asked.patches[number] as usize];
    let arm = [at[0] - rows[0][lane], at[1] - rows[1][lane], at[2] - rows[2][lane]];
    let found = tree.eights[patch.eight as usize].distances_squared(arm);
    let least = found.iter().fold(f32::INFINITY, |a, &b| if b < a { b } else { a });
    if least > *limit {
        return;
    }
    let near = least.sqrt();
    let wider = near + 2.0 * rounding(near);
    *limit = limit.min(wider * wider);
    for (&found, &triangle) in found.iter().zip(tree.triangles(patch)) {
        if found <= *limit {
            candidates.push((found, triangle));
        }
    }
}
