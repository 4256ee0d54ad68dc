//! The equations of a Bucket: what its faces weigh, and how stiff the strains between them are.
//!
//! The system is the gradient of ½ Σ m u² + ½ Σ k e². A *cell* sample has the strain e = uₐ(n + a) − uₐ(n) along each axis a;
//! an *edge* sample, at the lower edge of a cell across axes a and b, has e = sₐ (uₐ(n) − uₐ(n − b)) + s_b (u_b(n) − u_b(n − a)),
//! and is stored as k sₐ², k sₐ s_b and k s_b². Faces that hold no liquid are no unknowns: every vector is zero there.

use undine_linsolve::Real;

/// Voxels of a Bucket.
pub const VOXELS: usize = 512;
/// Faces of a Bucket: the lower ones of each voxel across x, then y, then z.
pub const FACES: usize = 3 * VOXELS;
/// Voxels of a Bucket with one more on every side.
pub const TILE: usize = 1000;
/// From a voxel of a tile to the next along x, y and z.
pub const STEP: [usize; 3] = [100, 10, 1];
/// The mass of a face that a wall holds: no unknown, but its velocity is known.
pub const HELD: f32 = -1.0;

/// Numbers on a Bucket with one more voxel on every side, x slowest.
pub type Tile<T> = [T; TILE];

/// The place of a voxel in a tile, by its coordinates from −1 to 8.
#[inline(always)]
pub fn in_tile(x: i32, y: i32, z: i32) -> usize {
    ((x + 1) * 100 + (y + 1) * 10 + z + 1) as usize
}

/// The two axes across the edges along an axis.
#[inline(always)]
pub const fn across(edge: usize) -> (usize, usize) {
    ((edge + 1) % 3, (edge + 2) % 3)
}

/// The equations of a Bucket.
#[derive(Debug, Clone)]
pub enum Piece {
    /// None.
    Empty,
    /// All faces in and around it are deep in one liquid.
    Uniform {
        /// The mass of each face.
        mass: f32,
        /// The stiffness of each edge; that of a cell is twice as much.
        k: f32,
    },
    /// Each sample has its own.
    Varied(Box<Varied>),
}

/// Samples by place.
#[derive(Debug, Clone)]
pub struct Varied {
    /// The masses of faces, by axis and voxel; 0 in the air and [`HELD`] in a wall, where there is no unknown.
    pub mass: [Box<[f32; VOXELS]>; 3],
    /// How firmly walls between faces hold each: it is as if they were as heavy as this, and moved with the wall.
    pub tie: [Box<[f32; VOXELS]>; 3],
    /// The stiffness of cells along each axis.
    pub cell: [Box<Tile<f32>>; 3],
    /// That of the edges along each axis.
    pub edge: [Edge; 3],
}

/// The stiffness of edges across axes a and b.
#[derive(Debug, Clone)]
pub struct Edge {
    /// Of a with itself, a with b, and b with itself.
    pub terms: [Box<Tile<f32>>; 3],
}

impl Varied {
    /// Nothing yet.
    pub fn empty() -> Self {
        let tile = || Box::new([0.0; TILE]);
        Self {
            mass: std::array::from_fn(|_| Box::new([0.0; VOXELS])),
            tie: std::array::from_fn(|_| Box::new([0.0; VOXELS])),
            cell: std::array::from_fn(|_| tile()),
            edge: std::array::from_fn(|_| Edge { terms: std::array::from_fn(|_| tile()) }),
        }
    }

    /// Whether any face is an unknown.
    pub fn has_unknowns(&self) -> bool {
        self.mass.iter().any(|mass| mass.iter().any(|&mass| mass > 0.0))
    }

    /// Of the edges across `a` and `b`: the stiffness of `a` with itself, and with `b`.
    #[inline(always)]
    fn shear(&self, a: usize, b: usize) -> (&Tile<f32>, &Tile<f32>) {
        let edge = 3 - a - b;
        let own = if across(edge).0 == a { 0 } else { 2 };
        (&self.edge[edge].terms[own], &self.edge[edge].terms[1])
    }
}

impl Piece {
    /// y = A·x on the faces of the Bucket, x being given with what is around it.
    pub fn apply<T: Real>(&self, x: &[Tile<T>; 3], y: &mut [T]) {
        for (axis, y) in y.chunks_exact_mut(VOXELS).enumerate() {
            match self {
                Self::Empty => y.fill(T::ZERO),
                Self::Uniform { mass, k } => apply_uniform(axis, real(*mass), real(*k), x, y),
                Self::Varied(varied) => varied.apply(axis, x, y),
            }
        }
    }

    /// What the diagonal has from masses and ties, from cells and from edges, of a face.
    pub fn diagonal(&self, axis: usize, voxel: usize) -> [f64; 3] {
        match self {
            Self::Empty => [0.0; 3],
            Self::Uniform { mass, k } => {
                [f64::from(*mass), 4.0 * f64::from(*k), 4.0 * f64::from(*k)]
            }
            Self::Varied(varied) => {
                let mass = varied.mass[axis][voxel];
                if mass <= 0.0 {
                    return [0.0; 3];
                }
                let at = tile_place(voxel);
                let sum =
                    |tile: &Tile<f32>, other: usize| f64::from(tile[at]) + f64::from(tile[other]);
                let cells = sum(&varied.cell[axis], at - STEP[axis]);
                let edges = others(axis).map(|b| sum(varied.shear(axis, b).0, at + STEP[b]));
                [f64::from(mass + varied.tie[axis][voxel]), cells, edges[0] + edges[1]]
            }
        }
    }

    /// The mass of a face; 0 or [`HELD`] where it is no unknown.
    pub fn mass(&self, axis: usize, voxel: usize) -> f32 {
        match self {
            Self::Empty => 0.0,
            Self::Uniform { mass, .. } => *mass,
            Self::Varied(varied) => varied.mass[axis][voxel],
        }
    }

    /// How firmly a wall beside it holds a face.
    pub fn tie(&self, axis: usize, voxel: usize) -> f32 {
        match self {
            Self::Varied(varied) => varied.tie[axis][voxel],
            _ => 0.0,
        }
    }

    /// Bytes that it holds beside itself.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Varied(_) => 4 * (2 * FACES + 12 * TILE) as u64,
            _ => 0,
        }
    }
}

/// The place in a tile of a voxel of the Bucket.
#[inline(always)]
pub fn tile_place(voxel: usize) -> usize {
    ((voxel >> 6) + 1) * 100 + ((voxel >> 3 & 7) + 1) * 10 + (voxel & 7) + 1
}

#[inline(always)]
fn others(axis: usize) -> [usize; 2] {
    [(axis + 1) % 3, (axis + 2) % 3]
}

#[inline(always)]
fn real<T: Real>(value: f32) -> T {
    T::from_f64(f64::from(value))
}

/// Eight numbers along z.
#[inline(always)]
fn row<T>(tile: &[T], at: usize) -> &[T; 8] {
    tile[at..at + 8].try_into().expect("eight numbers")
}

/// With one stiffness everywhere: m u − k (∇²u + ∇(∇·u)), both as differences of neighbours.
#[inline(always)]
fn apply_uniform<T: Real>(a: usize, mass: T, k: T, x: &[Tile<T>; 3], y: &mut [T]) {
    let (u, sa) = (&x[a], STEP[a]);
    let [b, c] = others(a);
    let (v, w, sb, sc) = (&x[b], &x[c], STEP[b], STEP[c]);
    let (two, diagonal) = (k + k, mass + real::<T>(8.0) * k);
    for (n, y) in y.chunks_exact_mut(8).enumerate() {
        let at = (n >> 3) * 100 + (n & 7) * 10 + 111;
        let centre = row(u, at);
        let (below, above) = (row(u, at - sa), row(u, at + sa));
        let (b0, b1) = (row(u, at - sb), row(u, at + sb));
        let (c0, c1) = (row(u, at - sc), row(u, at + sc));
        let v = [row(v, at), row(v, at - sa), row(v, at + sb), row(v, at + sb - sa)];
        let w = [row(w, at), row(w, at - sa), row(w, at + sc), row(w, at + sc - sa)];
        for z in 0..8 {
            let along = below[z] + above[z];
            let beside = (b0[z] + b1[z]) + (c0[z] + c1[z]);
            let turn = (v[0][z] - v[1][z]) - (v[2][z] - v[3][z]);
            let twist = (w[0][z] - w[1][z]) - (w[2][z] - w[3][z]);
            y[z] = diagonal * centre[z] - two * along - k * (beside - (turn + twist));
        }
    }
}

impl Varied {
    #[inline(always)]
    fn apply<T: Real>(&self, a: usize, x: &[Tile<T>; 3], y: &mut [T]) {
        let (u, sa, cell) = (&x[a], STEP[a], &*self.cell[a]);
        for (n, y) in y.chunks_exact_mut(8).enumerate() {
            let at = (n >> 3) * 100 + (n & 7) * 10 + 111;
            let (mass, tie) = (row(&*self.mass[a], 8 * n), row(&*self.tie[a], 8 * n));
            let centre = row(u, at);
            let (below, above) = (row(u, at - sa), row(u, at + sa));
            let (k0, k1) = (row(cell, at - sa), row(cell, at));
            let mut sum = [T::ZERO; 8];
            for z in 0..8 {
                sum[z] = real::<T>(mass[z] + tie[z]) * centre[z]
                    + real::<T>(k0[z]) * (centre[z] - below[z])
                    + real::<T>(k1[z]) * (centre[z] - above[z]);
            }
            for b in others(a) {
                let ((own, cross), v, sb) = (self.shear(a, b), &x[b], STEP[b]);
                let (next, before) = (row(u, at + sb), row(u, at - sb));
                let v = [row(v, at), row(v, at - sa), row(v, at + sb), row(v, at + sb - sa)];
                let (own0, own1) = (row(own, at), row(own, at + sb));
                let (cross0, cross1) = (row(cross, at), row(cross, at + sb));
                for z in 0..8 {
                    sum[z] += real::<T>(own0[z]) * (centre[z] - before[z])
                        + real::<T>(cross0[z]) * (v[0][z] - v[1][z])
                        + real::<T>(own1[z]) * (centre[z] - next[z])
                        - real::<T>(cross1[z]) * (v[2][z] - v[3][z]);
                }
            }
            for z in 0..8 {
                y[z] = if mass[z] > 0.0 { sum[z] } else { T::ZERO };
            }
        }
    }
}
