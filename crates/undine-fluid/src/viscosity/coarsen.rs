//! The same equations on voxels twice as large, and how velocities go between the two (after Aanjaneya, Han, Goldade & Batty
//! 2019, *An Efficient Geometric Multigrid Solver for Viscous Liquids*).
//!
//! A coarse sample stands for eight fine ones, at half of its strain each: its stiffness is a quarter of their sum. Velocities are
//! interpolated linearly, along the axis of a face between those on both sides of it, across it between the centres of faces.
//! Beyond the surface there is nothing to interpolate to, and what is left of the weights is made up to one.

use super::grid::{Grid, NONE, load};
use super::piece::{FACES, HELD, Piece, TILE, Tile, VOXELS, Varied, across, in_tile};
use rayon::prelude::*;
use undine_core::glam::IVec3;

/// Between a level and the next coarser one.
#[derive(Debug)]
pub struct Transfer {
    /// By fine place: its parent, and which octant of it it is.
    parents: Vec<(u32, IVec3)>,
    /// By coarse place: the 4³ fine Buckets in and around it.
    children: Vec<[u32; 64]>,
    /// By fine place: one over the weights that have something to interpolate from, where they are not one.
    shares: Vec<Option<Vec<f32>>>,
}

/// The next coarser level of a level.
pub fn coarsen(grid: &Grid, pieces: &[Piece]) -> (Grid, Vec<Piece>, Transfer) {
    let mut coords: Vec<[i32; 3]> =
        grid.coords.iter().map(|coord| halved(*coord).to_array()).collect();
    coords.sort_unstable();
    coords.dedup();
    let coarse = Grid::new(coords.into_iter().map(IVec3::from).collect());
    let fine_places = grid.places();
    let coarse_places = coarse.places();
    let children: Vec<[u32; 64]> = coarse
        .coords
        .iter()
        .map(|coord| {
            let near = |n: usize| {
                2 * *coord + IVec3::new(n as i32 >> 4, n as i32 >> 2 & 3, n as i32 & 3) - 1
            };
            std::array::from_fn(|n| fine_places.get(&near(n).to_array()).copied().unwrap_or(NONE))
        })
        .collect();
    let parent = |coord: &IVec3| (coarse_places[&halved(*coord).to_array()], *coord & 1_i32);
    let parents = grid.coords.iter().map(parent).collect();
    let coarse_pieces: Vec<Piece> = children
        .par_iter()
        .map_init(Dense::new, |dense, table| dense.coarse(Fine { table, pieces }))
        .collect();
    let mut transfer = Transfer { parents, children, shares: Vec::new() };
    transfer.shares = transfer.shares_of(pieces, &coarse, &coarse_pieces);
    (coarse, coarse_pieces, transfer)
}

/// The Bucket of the next coarser level that a Bucket lies in.
fn halved(coord: IVec3) -> IVec3 {
    coord >> 1_i32
}

/// Voxels along a cube of fine samples around a coarse Bucket: two more on every side.
const WIDE: usize = 20;

/// The fine equations in and around a coarse Bucket: 4³ places, and what is there.
#[derive(Clone, Copy)]
struct Fine<'p> {
    table: &'p [u32; 64],
    pieces: &'p [Piece],
}

/// Work space: fine samples in and around a coarse Bucket.
struct Dense {
    values: Vec<f32>,
}

impl Dense {
    fn new() -> Self {
        Self { values: vec![0.0; WIDE * WIDE * WIDE] }
    }

    /// The equations of a coarse Bucket.
    fn coarse(&mut self, fine: Fine<'_>) -> Piece {
        if let Some(piece) = fine.uniform() {
            return piece;
        }
        let mut piece = Varied::empty();
        for axis in 0..3 {
            let mut low = [0; 3];
            low[axis] = -1;
            self.gather(fine, [low, [7; 3]], 2.0, |varied| &varied.cell[axis]);
            sum_cells(axis, &self.values, &mut piece.cell[axis]);
            sum_masses(axis, fine, &mut piece);
        }
        for edge in 0..3 {
            let mut high = [8; 3];
            high[edge] = 7;
            for term in 0..3 {
                self.gather(fine, [[0; 3], high], 1.0, |varied| &varied.edge[edge].terms[term]);
                sum_edges(edge, &self.values, &mut piece.edge[edge].terms[term]);
            }
        }
        Piece::Varied(Box::new(piece))
    }

    /// Fine samples of one kind; each Bucket knows those from a lower to an upper corner, relative to its first voxel. `uniform` of
    /// them is the stiffness of an edge deep in liquid.
    fn gather(
        &mut self,
        fine: Fine<'_>,
        [low, high]: [[i32; 3]; 2],
        uniform: f32,
        tile: impl Fn(&Varied) -> &Tile<f32>,
    ) {
        self.values.fill(0.0);
        let places = fine.table.iter().enumerate().filter(|(_, place)| **place != NONE);
        for (n, &place) in places {
            let origin = [n >> 4, n >> 2 & 3, n & 3].map(|c| 8 * c as i32 - 8);
            let clip =
                |axis: usize| (low[axis].max(-2 - origin[axis]), high[axis].min(17 - origin[axis]));
            let [x, y, z] = [clip(0), clip(1), clip(2)];
            if z.0 > z.1 {
                continue;
            }
            for i in x.0..=x.1 {
                for j in y.0..=y.1 {
                    let to = wide(origin[0] + i, origin[1] + j, origin[2] + z.0);
                    let to = &mut self.values[to..=to + (z.1 - z.0) as usize];
                    match &fine.pieces[place as usize] {
                        Piece::Empty => {}
                        Piece::Uniform { k, .. } => to.fill(uniform * k),
                        Piece::Varied(varied) => {
                            let from = in_tile(i, j, z.0);
                            to.copy_from_slice(&tile(varied)[from..from + to.len()]);
                        }
                    }
                }
            }
        }
    }
}

/// The masses and ties of coarse faces: those of the fine ones in their cubes, half of those at its ends. A wall that holds a
/// part of a face holds all of it: it is better to correct too little there than too much.
fn sum_masses(axis: usize, from: Fine<'_>, to: &mut Varied) {
    for voxel in 0..VOXELS {
        let coarse = [(voxel >> 6) as i32, (voxel >> 3 & 7) as i32, (voxel & 7) as i32];
        let (mut sum, mut ties) = (0.0_f32, 0.0_f32);
        let (mut is_held, mut is_air) = (false, true);
        for n in 0..12 {
            let mut at: [i32; 3] = coarse.map(|c| 2 * c);
            let along = n / 4 - 1;
            at[axis] += along;
            at[(axis + 1) % 3] += n >> 1 & 1;
            at[(axis + 2) % 3] += n & 1;
            let home = at.map(|c| ((c + 8) >> 3) as usize);
            let place = from.table[home[0] << 4 | home[1] << 2 | home[2]];
            if place == NONE {
                continue;
            }
            let fine = at.map(|c| (c & 7) as usize);
            let (piece, fine) =
                (&from.pieces[place as usize], fine[0] << 6 | fine[1] << 3 | fine[2]);
            let mass = piece.mass(axis, fine);
            is_held |= mass == HELD && along == 0;
            is_air &= mass == 0.0;
            let weight = if along == 0 { 1.0 } else { 0.5 };
            sum += weight * mass.max(0.0);
            ties += weight * piece.tie(axis, fine);
        }
        to.tie[axis][voxel] = ties;
        to.mass[axis][voxel] = match (is_air, is_held || sum == 0.0) {
            (true, _) => 0.0,
            (_, true) => HELD,
            _ => sum,
        };
    }
}

impl Fine<'_> {
    /// Deep in liquid: eight times the mass, twice the stiffness.
    fn uniform(&self) -> Option<Piece> {
        let of = |place: u32| match self.pieces.get(place as usize) {
            Some(Piece::Uniform { mass, k }) => Some((*mass, *k)),
            _ => None,
        };
        let first = of(self.table[0])?;
        let (mass, k) = (8.0 * first.0, 2.0 * first.1);
        let is_same = |place: &u32| of(*place) == Some(first);
        self.table.iter().all(is_same).then_some(Piece::Uniform { mass, k })
    }
}

fn wide(x: i32, y: i32, z: i32) -> usize {
    (((x + 2) as usize * WIDE) + (y + 2) as usize) * WIDE + (z + 2) as usize
}

fn sum_cells(axis: usize, fine: &[f32], coarse: &mut Tile<f32>) {
    let low = |n: usize| if n == axis { -1 } else { 0 };
    for x in low(0)..8 {
        for y in low(1)..8 {
            for z in low(2)..8 {
                let at = wide(2 * x, 2 * y, 2 * z);
                let pair = |at: usize| fine[at] + fine[at + 1];
                let four = |at: usize| pair(at) + pair(at + WIDE);
                coarse[in_tile(x, y, z)] = 0.25 * (four(at) + four(at + WIDE * WIDE));
            }
        }
    }
}

fn sum_edges(edge: usize, fine: &[f32], coarse: &mut Tile<f32>) {
    const STEP: [usize; 3] = [WIDE * WIDE, WIDE, 1];
    let (a, b) = across(edge);
    let high = |n: usize| if n == edge { 7 } else { 8 };
    for x in 0..=high(0) {
        for y in 0..=high(1) {
            for z in 0..=high(2) {
                let at = wide(2 * x, 2 * y, 2 * z);
                let along = |at: usize| fine[at] + fine[at + STEP[edge]];
                let hat = |at: usize| 0.5 * (along(at - STEP[b]) + along(at + STEP[b])) + along(at);
                let sum = 0.5 * (hat(at - STEP[a]) + hat(at + STEP[a])) + hat(at);
                coarse[in_tile(x, y, z)] = 0.25 * sum;
            }
        }
    }
}

/// Where a fine face takes its velocity from along one axis: two coarse places from −1 to 8, and their weights.
fn weights(along: bool, octant: i32, fine: i32) -> [(usize, f32); 2] {
    let at = 8 * octant + fine;
    let (half, odd) = (at >> 1, at & 1);
    let pairs = match (along, odd) {
        (true, 0) => [(half, 1.0), (half, 0.0)],
        (true, _) => [(half, 0.5), (half + 1, 0.5)],
        (false, 0) => [(half, 0.75), (half - 1, 0.25)],
        (false, _) => [(half, 0.75), (half + 1, 0.25)],
    };
    pairs.map(|(place, weight)| ((place + 1) as usize, weight))
}

/// The velocities of an octant's faces of an axis, from a tile of the coarse Bucket: first along x, then y, then z.
fn interpolate(axis: usize, octant: IVec3, coarse: &Tile<f32>, fine: &mut [f32]) {
    let table = |n: usize| -> [[(usize, f32); 2]; 8] {
        std::array::from_fn(|fine| weights(n == axis, octant[n], fine as i32))
    };
    let [x, y, z] = [table(0), table(1), table(2)];
    let first = (4 * octant.y) as usize; // of six rows that are needed
    for (i, [(x0, u0), (x1, u1)]) in x.into_iter().enumerate() {
        let mut slab = [[0.0_f32; 10]; 6];
        for (row, to) in slab.iter_mut().enumerate() {
            let (at0, at1) = (x0 * 100 + (first + row) * 10, x1 * 100 + (first + row) * 10);
            for n in 0..10 {
                to[n] = u0 * coarse[at0 + n] + u1 * coarse[at1 + n];
            }
        }
        for (j, [(y0, v0), (y1, v1)]) in y.into_iter().enumerate() {
            let (row0, row1) = (&slab[y0 - first], &slab[y1 - first]);
            let row: [f32; 10] = std::array::from_fn(|n| v0 * row0[n] + v1 * row1[n]);
            let to = &mut fine[i * 64 + j * 8..][..8];
            for (to, [(z0, w0), (z1, w1)]) in to.iter_mut().zip(z) {
                *to = w0 * row[z0] + w1 * row[z1];
            }
        }
    }
}

/// Voxels along a cube of fine residuals around a coarse Bucket: one more on every side.
const SPAN: usize = 18;

/// The transpose of [`interpolate`] for a whole coarse Bucket: z, then y, then x.
fn restrict(axis: usize, fine: &[f32], coarse: &mut [f32]) {
    let weights =
        |n: usize| if n == axis { [0.5, 1.0, 0.5, 0.0] } else { [0.25, 0.75, 0.75, 0.25] };
    let [x, y, z] = [weights(0), weights(1), weights(2)];
    let mut by_z = [[[0.0_f32; 8]; SPAN]; SPAN];
    for (i, slab) in by_z.iter_mut().enumerate() {
        for (j, row) in slab.iter_mut().enumerate() {
            let from = &fine[(i * SPAN + j) * SPAN..][..SPAN];
            for (n, to) in row.iter_mut().enumerate() {
                let at = 2 * n;
                *to = (z[0] * from[at] + z[1] * from[at + 1])
                    + (z[2] * from[at + 2] + z[3] * from[at + 3]);
            }
        }
    }
    let mut by_y = [[[0.0_f32; 8]; 8]; SPAN];
    for (slab, from) in by_y.iter_mut().zip(&by_z) {
        for (n, row) in slab.iter_mut().enumerate() {
            let at = 2 * n;
            for (k, to) in row.iter_mut().enumerate() {
                *to = (y[0] * from[at][k] + y[1] * from[at + 1][k])
                    + (y[2] * from[at + 2][k] + y[3] * from[at + 3][k]);
            }
        }
    }
    for (n, to) in coarse.chunks_exact_mut(64).enumerate() {
        let at = 2 * n;
        let slabs: [&[f32]; 4] = std::array::from_fn(|m| by_y[at + m].as_flattened());
        for (k, to) in to.iter_mut().enumerate() {
            *to = (x[0] * slabs[0][k] + x[1] * slabs[1][k])
                + (x[2] * slabs[2][k] + x[3] * slabs[3][k]);
        }
    }
}

impl Transfer {
    /// One over the weights of coarse faces that are no air, of fine faces of Buckets that are not deep in liquid.
    fn shares_of(
        &self,
        pieces: &[Piece],
        coarse: &Grid,
        coarse_pieces: &[Piece],
    ) -> Vec<Option<Vec<f32>>> {
        let mut known = vec![0.0_f32; coarse.len() * FACES];
        known.par_chunks_exact_mut(FACES).zip(coarse_pieces).for_each(|(known, piece)| {
            for (n, known) in known.iter_mut().enumerate() {
                *known = f32::from(u8::from(piece.mass(n / VOXELS, n % VOXELS) != 0.0));
            }
        });
        let places = self.parents.par_iter().zip(pieces);
        places
            .map(|((parent, octant), piece)| {
                if !matches!(piece, Piece::Varied(_)) {
                    return None;
                }
                let mut tiles = Box::new([[0.0; TILE]; 3]);
                load(&coarse.around[*parent as usize], &known, &mut tiles, true);
                let mut shares = vec![0.0; FACES];
                for (axis, shares) in shares.chunks_exact_mut(VOXELS).enumerate() {
                    interpolate(axis, *octant, &tiles[axis], shares);
                    for (voxel, share) in shares.iter_mut().enumerate() {
                        let is_unknown = piece.mass(axis, voxel) > 0.0 && *share > 0.0;
                        *share = if is_unknown { share.recip() } else { 0.0 };
                    }
                }
                Some(shares)
            })
            .collect()
    }

    /// Fine velocities from coarse ones.
    pub fn prolong(&self, coarse: &Grid, x: &[f32], fine: &mut [f32]) {
        let places = fine.par_chunks_exact_mut(FACES).zip(&self.parents).zip(&self.shares);
        places.for_each_init(super::grid::tiles, |tiles, ((fine, (parent, octant)), shares)| {
            load(&coarse.around[*parent as usize], x, tiles, true);
            for (axis, fine) in fine.chunks_exact_mut(VOXELS).enumerate() {
                interpolate(axis, *octant, &tiles[axis], fine);
            }
            if let Some(shares) = shares {
                fine.iter_mut().zip(shares).for_each(|(fine, share)| *fine *= share);
            }
        });
    }

    /// Coarse residuals from fine ones. Those of faces that are no unknowns come out too; nobody reads them.
    pub fn restrict(&self, r: &[f32], coarse: &mut [f32]) {
        let places = coarse.par_chunks_exact_mut(FACES).zip(&self.children);
        let cube = || vec![0.0_f32; SPAN * SPAN * SPAN];
        places.for_each_init(cube, |cube, (coarse, table)| {
            for (axis, coarse) in coarse.chunks_exact_mut(VOXELS).enumerate() {
                self.collect(axis, table, r, cube);
                restrict(axis, cube, coarse);
            }
        });
    }

    /// Fine residuals of an axis in and around a coarse Bucket.
    fn collect(&self, axis: usize, table: &[u32; 64], r: &[f32], cube: &mut [f32]) {
        // Where the part of a Bucket begins in the cube, where in the Bucket, and how long it is.
        let part = |n: usize| match n {
            0 => (0, 7, 1),
            3 => (17, 0, 1),
            n => (8 * n - 7, 0, 8),
        };
        for (n, &place) in table.iter().enumerate() {
            let [x, y, z] = [part(n >> 4), part(n >> 2 & 3), part(n & 3)];
            let chunk =
                (place != NONE).then(|| &r[place as usize * FACES + axis * VOXELS..][..VOXELS]);
            let shares = self.shares.get(place as usize).and_then(Option::as_ref);
            let shares = shares.map(|shares| &shares[axis * VOXELS..][..VOXELS]);
            for i in 0..x.2 {
                for j in 0..y.2 {
                    let to = ((x.0 + i) * SPAN + y.0 + j) * SPAN + z.0;
                    let to = &mut cube[to..to + z.2];
                    let from = (x.1 + i) * 64 + (y.1 + j) * 8 + z.1;
                    match (chunk, shares) {
                        (None, _) => to.fill(0.0),
                        (Some(chunk), None) => to.copy_from_slice(&chunk[from..from + z.2]),
                        (Some(chunk), Some(shares)) => {
                            let pairs = chunk[from..].iter().zip(&shares[from..]);
                            to.iter_mut().zip(pairs).for_each(|(to, (r, share))| *to = r * share);
                        }
                    }
                }
            }
        }
    }

    /// Bytes that it holds.
    pub fn bytes(&self) -> u64 {
        let shares = self.shares.iter().flatten().count() * 4 * FACES;
        (shares + 16 * self.parents.len() + size_of_val(&self.children[..])) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::viscosity::grid::tiles;

    /// Numbers from −1 to 1 without any order.
    fn noise(count: usize, seed: u64) -> Vec<f32> {
        let one = |n: u64| undine_geometry::random::unit(seed, n) as f32;
        (0..count as u64).map(|n| 2.0 * one(n) - 1.0).collect()
    }

    /// A few Buckets deep in liquid, and one with air and a wall in it.
    fn level() -> (Grid, Vec<Piece>) {
        let coords = (0..24).map(|n: i32| IVec3::new(n / 8 - 1, n >> 2 & 1, n & 3));
        let grid = Grid::new(coords.collect());
        let mut pieces = vec![Piece::Uniform { mass: 1.0, k: 2.0 }; grid.len()];
        let mut varied = Varied::empty();
        for axis in 0..3 {
            varied.cell[axis].fill(4.0);
            varied.edge[axis].terms.iter_mut().for_each(|term| term.fill(2.0));
            let masses = varied.mass[axis].iter_mut().enumerate();
            masses.for_each(|(n, mass)| *mass = [1.0, 0.5, 0.0, HELD][(n >> 6) / 2]);
        }
        pieces[5] = Piece::Varied(Box::new(varied));
        (grid, pieces)
    }

    fn dot(x: &[f32], y: &[f32]) -> f64 {
        x.iter().zip(y).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum()
    }

    #[test]
    fn restriction_is_the_transpose_of_prolongation() {
        let (grid, pieces) = level();
        let (coarse, _, transfer) = coarsen(&grid, &pieces);
        let (r, x) = (noise(grid.len() * FACES, 1), noise(coarse.len() * FACES, 2));
        let (mut up, mut down) = (vec![0.0; x.len()], vec![0.0; r.len()]);
        transfer.restrict(&r, &mut up);
        transfer.prolong(&coarse, &x, &mut down);
        let (one, other) = (dot(&up, &x), dot(&r, &down));
        assert!((one - other).abs() < 1e-4 * dot(&r, &r).sqrt(), "{one} and {other}");
    }

    /// What moves as a whole on the coarse level does so on the fine one, up to the surface.
    #[test]
    fn a_constant_velocity_is_interpolated_as_one() {
        let (grid, pieces) = level();
        let (coarse, coarse_pieces, transfer) = coarsen(&grid, &pieces);
        let mut x = vec![0.0; coarse.len() * FACES];
        for (n, x) in x.iter_mut().enumerate() {
            let (place, face) = (n / FACES, n % FACES);
            *x =
                f32::from(u8::from(coarse_pieces[place].mass(face / VOXELS, face % VOXELS) != 0.0));
        }
        let mut fine = vec![0.0; grid.len() * FACES];
        transfer.prolong(&coarse, &x, &mut fine);
        let near_air = &fine[5 * FACES..6 * FACES];
        for (n, value) in near_air.iter().enumerate() {
            let is_unknown = pieces[5].mass(n / VOXELS, n % VOXELS) > 0.0;
            assert!((value - f32::from(u8::from(is_unknown))).abs() < 1e-6, "{value} at {n}");
        }
    }

    #[test]
    fn coarse_equations_are_symmetric_and_keep_the_energy_of_a_uniform_strain() {
        let (grid, pieces) = level();
        let (coarse, coarse_pieces, _) = coarsen(&grid, &pieces);
        let product = |x: &[f32]| -> Vec<f32> {
            let mut y = vec![0.0; x.len()];
            let mut tiles = tiles();
            for (place, y) in y.chunks_exact_mut(FACES).enumerate() {
                load(&coarse.around[place], x, &mut tiles, false);
                coarse_pieces[place].apply(&tiles, y);
            }
            y
        };
        let unknown = |mut x: Vec<f32>| {
            for (n, x) in x.iter_mut().enumerate() {
                let face = n % FACES;
                let mass = coarse_pieces[n / FACES].mass(face / VOXELS, face % VOXELS);
                *x = if mass > 0.0 { *x } else { 0.0 };
            }
            x
        };
        let count = coarse.len() * FACES;
        let (x, y) = (unknown(noise(count, 3)), unknown(noise(count, 4)));
        let (one, other) = (dot(&x, &product(&y)), dot(&y, &product(&x)));
        assert!((one - other).abs() < 1e-4 * dot(&x, &product(&x)), "{one} and {other}");
        // Fine cells have a stiffness of 4 each, over half of the difference: 8 · 4 / 4.
        let Piece::Varied(varied) = &coarse_pieces[0] else { panic!("it is near the surface") };
        assert_eq!(varied.cell[0][in_tile(4, 4, 4)], 8.0);
    }
}
