//! How the walls of a fluid enter the equations of a Bucket: with the velocity that they have, or, as rigid bodies, with the one
//! that is yet to be found.
//!
//! Where a body is the wall, the velocity of the wall at a face is e·(V + ω × r) = J·q, with J = (e, r × e) and q = (V, ω); so a
//! difference between two faces is s (α + K·q), with K a sum of two J over s, and so are strains. The energy of the samples is then
//! quadratic in the velocities of faces and bodies together, with the stiffness that a sample has for faces alone: what moves as
//! a whole has none, and momentum is only exchanged.

use super::piece::VOXELS;

/// The six motions of a body: V and ω, or a force and a torque.
pub type Motion = [f64; 6];

/// What walls add to the equations of a Bucket.
#[derive(Debug, Default)]
pub struct Pull {
    /// To the right-hand sides of its faces, where walls move.
    pub faces: Option<Vec<f64>>,
    /// The part of bodies, where there are any.
    pub grips: Option<Box<Grips>>,
}

/// What bodies add to the equations of a Bucket, and have from it.
#[derive(Debug, Default)]
pub struct Grips {
    /// What the motions of a body add to the equation of a face: face, body, coefficients.
    pub rows: Vec<(u32, u32, Motion)>,
    /// What the motions of one body add to the equations of another or the same.
    pub blocks: Vec<(u32, u32, [Motion; 6])>,
    /// What walls that move add to the right-hand sides of a body.
    pub pushes: Vec<(u32, Motion)>,
    /// The faces that a body holds: face, body and J.
    pub held: Vec<(u32, u32, Motion)>,
}

/// K of a difference: none, one or two bodies.
#[derive(Debug, Clone, Copy, Default)]
pub struct Levers {
    count: usize,
    of: [(u32, Motion); 2],
}

impl Levers {
    /// Adds c·J of a body.
    pub fn add(&mut self, body: u32, c: f64, j: &Motion) {
        let known = self.of[..self.count].iter().position(|(one, _)| *one == body);
        let n = known.unwrap_or_else(|| {
            self.of[self.count] = (body, [0.0; 6]);
            self.count += 1;
            self.count - 1
        });
        self.of[n].1.iter_mut().zip(j).for_each(|(sum, j)| *sum += c * j);
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// By body.
    fn each(&self) -> impl Iterator<Item = &(u32, Motion)> {
        self.of[..self.count].iter()
    }
}

impl Pull {
    /// A strain with a known part k s e pulls its upper face down, and its lower one up.
    pub fn add(&mut self, axis: usize, lower: usize, upper: usize, force: f64) {
        for (at, force) in [(upper, -force), (lower, force)] {
            if let Some(voxel) = voxel_of(at) {
                self.add_to(axis, voxel, force);
            }
        }
    }

    /// Adds to the right-hand side of a face.
    pub fn add_to(&mut self, axis: usize, voxel: usize, force: f64) {
        if force != 0.0 {
            let faces = self.faces.get_or_insert_with(|| vec![0.0; 3 * VOXELS]);
            faces[axis * VOXELS + voxel] += force;
        }
    }

    /// The part of bodies.
    pub fn grips(&mut self) -> &mut Grips {
        self.grips.get_or_insert_default()
    }

    /// What a difference adds to the equations of its faces, of this stiffness against all of `levers`.
    pub fn grip(&mut self, axis: usize, [lower, upper]: [usize; 2], k: f64, levers: &Levers) {
        if levers.is_empty() || k == 0.0 {
            return;
        }
        for (at, k) in [(upper, k), (lower, -k)] {
            if let Some(voxel) = voxel_of(at) {
                let face = (axis * VOXELS + voxel) as u32;
                let rows = levers.each().map(|(body, j)| (face, *body, j.map(|j| k * j)));
                self.grips().rows.extend(rows);
            }
        }
    }

    /// What bodies add to each other's equations: k Jᵀ·J′.
    pub fn block(&mut self, k: f64, one: &Levers, other: &Levers) {
        for (body, j) in one.each() {
            for (next, l) in other.each() {
                let block = j.map(|j| l.map(|l| k * (j * l)));
                self.grips().blocks.push((*body, *next, block));
            }
        }
    }

    /// What a body adds that ties a face to itself.
    pub fn tie(&mut self, axis: usize, voxel: usize, k: f64, lever: &Levers) {
        let face = (axis * VOXELS + voxel) as u32;
        for (body, j) in lever.each() {
            self.grips().rows.push((face, *body, j.map(|j| -k * j)));
        }
        self.block(k, lever, lever);
    }

    /// What a known part of a strain adds to the right-hand sides of bodies.
    pub fn push(&mut self, force: f64, levers: &Levers) {
        if force != 0.0 {
            for (body, j) in levers.each() {
                self.grips().pushes.push((*body, j.map(|j| -force * j)));
            }
        }
    }
}

impl Grips {
    /// Puts the rows in order, each face and body once.
    pub fn merge(&mut self) {
        // The sort is stable: sums are always taken in the same order.
        self.rows.sort_by_key(|(face, body, _)| (*body, *face));
        self.rows.dedup_by(|next, sum| {
            let same = (next.0, next.1) == (sum.0, sum.1);
            if same {
                sum.2.iter_mut().zip(next.2).for_each(|(sum, next)| *sum += next);
            }
            same
        });
        self.blocks.sort_by_key(|(one, other, _)| (*one, *other));
        self.blocks.dedup_by(|next, sum| {
            let same = (next.0, next.1) == (sum.0, sum.1);
            if same {
                let pairs = sum.2.as_flattened_mut().iter_mut().zip(next.2.as_flattened());
                pairs.for_each(|(sum, next)| *sum += next);
            }
            same
        });
    }
}

/// The voxel of the Bucket at a place of a tile, if it is one.
pub fn voxel_of(at: usize) -> Option<usize> {
    let cell = [at / 100, at / 10 % 10, at % 10];
    let voxel = || (cell[0] - 1) << 6 | (cell[1] - 1) << 3 | (cell[2] - 1);
    cell.iter().all(|c| (1..9).contains(c)).then(voxel)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_the_same_face_and_body_are_added() {
        let mut grips = Grips::default();
        for (face, body, value) in [(3, 1, 1.0), (2, 0, 2.0), (3, 1, 4.0), (3, 0, 8.0)] {
            grips.rows.push((face, body, [value; 6]));
        }
        grips.merge();
        let rows: Vec<(u32, u32, f64)> =
            grips.rows.iter().map(|(f, b, m)| (*f, *b, m[0])).collect();
        assert_eq!(rows, [(2, 0, 2.0), (3, 0, 8.0), (3, 1, 5.0)]);
    }

    #[test]
    fn what_a_body_adds_on_both_sides_of_a_difference_is_one_lever() {
        let mut levers = Levers::default();
        assert!(levers.is_empty());
        levers.add(4, 2.0, &[1.0; 6]);
        levers.add(4, -1.0, &[1.0; 6]);
        levers.add(2, 0.5, &[1.0; 6]);
        let all: Vec<(u32, f64)> = levers.each().map(|(body, j)| (*body, j[0])).collect();
        assert_eq!(all, [(4, 1.0), (2, 0.5)]);
    }
}
