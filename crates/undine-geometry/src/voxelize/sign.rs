//! Which voxels of a Bucket lie inside.
//!
//! Where the distances of two voxels sum to more than the way between them, nothing of the surface is on that way, and
//! both lie on the same side. So voxels fall into few pieces, and one winding number settles each (eight do, if the mesh
//! is open). What is left are
//! voxels so near to the surface that they connect to none: these count how often the way to a settled voxel passes
//! through triangles. A Bucket needs to know nothing of its neighbours for this, only the mesh.

use super::measure::Measured;
use super::patch::Patch;
use super::tree::Tree;
use super::winding::UNSETTLED;
use crate::levelset::VOXELS;
use crate::winding::Rule;
use undine_core::Bucket;
use undine_core::domain::{VOXELS_PER_BUCKET, offset_towards};
use undine_core::glam::{DVec3, IVec3};
use undine_core::volume::Resolution;

/// Pieces whose voxels are all nearer than this [voxels] are settled by their neighbours.
const NEAR: f32 = 0.75;

/// Voxels that are on the same side.
struct Piece {
    /// Its voxels' places in [`Pieces::voxels`].
    from: usize,
    to: usize,
    /// Its voxel that is farthest from the surface.
    deepest: usize,
}

/// What a thread works with.
pub(super) struct Pieces {
    pieces: Vec<Piece>,
    /// Voxels, piece after piece.
    voxels: Vec<u16>,
    /// Distances [voxels], at least.
    depth: [f32; VOXELS],
    /// Each voxel's piece.
    piece: [u16; VOXELS],
    /// The winding number of each voxel; NaN where it is not yet known.
    winding: [f64; VOXELS],
}

const NO_PIECE: u16 = u16::MAX;

impl Pieces {
    pub fn new() -> Self {
        Self {
            pieces: Vec::new(),
            voxels: Vec::with_capacity(VOXELS),
            depth: [0.0; VOXELS],
            piece: [NO_PIECE; VOXELS],
            winding: [f64::NAN; VOXELS],
        }
    }

    /// Makes the distances of voxels inside negative. All that is within `reach` [voxels] of the mesh was measured.
    pub fn turn(
        &mut self,
        tree: &Tree,
        bucket: Bucket,
        near: &[u32],
        reach: f64,
        rule: Rule,
        measured: &mut Measured,
    ) {
        for (depth, distance) in self.depth.iter_mut().zip(&measured.distances[..]) {
            *depth = (distance / tree.scaled.voxel).min(reach) as f32 * 0.999_999;
        }
        self.connect();
        self.settle(tree, bucket, near, rule);
        for (distance, &winding) in measured.distances.iter_mut().zip(&self.winding) {
            if rule.is_inside(winding) {
                *distance = -*distance;
            }
        }
    }

    /// Finds the pieces.
    fn connect(&mut self) {
        self.pieces.clear();
        self.voxels.clear();
        self.piece.fill(NO_PIECE);
        for start in 0..VOXELS {
            if self.piece[start] != NO_PIECE {
                continue;
            }
            let number = self.pieces.len() as u16;
            let from = self.voxels.len();
            self.piece[start] = number;
            self.voxels.push(start as u16);
            let (mut next, mut deepest) = (from, start);
            while next < self.voxels.len() {
                let voxel = usize::from(self.voxels[next]);
                next += 1;
                if self.depth[voxel] > self.depth[deepest] {
                    deepest = voxel;
                }
                let mut visit = |other: usize| {
                    if self.piece[other] == NO_PIECE && self.depth[voxel] + self.depth[other] > 1.0
                    {
                        self.piece[other] = number;
                        self.voxels.push(other as u16);
                    }
                };
                // One step along each axis, within the Bucket.
                for step in [1, VOXELS_PER_BUCKET, VOXELS_PER_BUCKET * VOXELS_PER_BUCKET] {
                    let along = voxel / step % VOXELS_PER_BUCKET;
                    if along > 0 {
                        visit(voxel - step);
                    }
                    if along + 1 < VOXELS_PER_BUCKET {
                        visit(voxel + step);
                    }
                }
            }
            self.pieces.push(Piece { from, to: self.voxels.len(), deepest });
        }
    }

    /// Finds the winding numbers, deepest piece first.
    fn settle(&mut self, tree: &Tree, bucket: Bucket, near: &[u32], rule: Rule) {
        self.winding.fill(f64::NAN);
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.sort_by(|a, b| self.depth[b.deepest].total_cmp(&self.depth[a.deepest]));
        let at = |voxel: usize| place(bucket, voxel);
        for piece in &pieces {
            let deepest = piece.deepest;
            let told = if self.depth[deepest] < NEAR {
                self.told_by_neighbour(tree, bucket, near, deepest)
            } else {
                None
            };
            let winding = told.unwrap_or_else(|| tree.winding(at(deepest)));
            // Around the holes of an open mesh, winding numbers go from 0 to 1 without a surface between.
            let settled = tree.closed || self.is_settled(tree, bucket, piece, winding, rule);
            for &voxel in &self.voxels[piece.from..piece.to] {
                let voxel = usize::from(voxel);
                self.winding[voxel] = if settled { winding } else { tree.winding(at(voxel)) };
            }
        }
        self.pieces = pieces;
    }

    /// Whether the deepest voxels of a piece, one in each block of 4³, are all on the side of this winding number, and
    /// clearly so.
    fn is_settled(
        &self,
        tree: &Tree,
        bucket: Bucket,
        piece: &Piece,
        winding: f64,
        rule: Rule,
    ) -> bool {
        let clear = |winding: f64| (winding.abs() - 0.5).abs() > UNSETTLED;
        let mut deepest = [None; 8];
        for &voxel in &self.voxels[piece.from..piece.to] {
            let [x, y, z] = Resolution::R8.coords(voxel.into()).map(|n| n / 4);
            let found: &mut Option<usize> = &mut deepest[4 * x + 2 * y + z];
            if found.is_none_or(|found| self.depth[found] < self.depth[usize::from(voxel)]) {
                *found = Some(voxel.into());
            }
        }
        let others = deepest.into_iter().flatten().filter(|&voxel| voxel != piece.deepest);
        clear(winding)
            && others
                .map(|voxel| tree.winding(place(bucket, voxel)))
                .all(|other| clear(other) && rule.is_inside(other) == rule.is_inside(winding))
    }

    /// The winding number of a voxel by that of a neighbour in the Bucket and what lies between them.
    fn told_by_neighbour(
        &self,
        tree: &Tree,
        bucket: Bucket,
        near: &[u32],
        voxel: usize,
    ) -> Option<f64> {
        let [x, y, z] = Resolution::R8.coords(voxel).map(|n| n as i32);
        let settled = |towards: usize| {
            let step = offset_towards(towards);
            let there = IVec3::new(x, y, z) + step;
            let inside = there.min_element() >= 0 && there.max_element() < VOXELS_PER_BUCKET as i32;
            let [x, y, z] = there.to_array().map(|n| n as usize);
            let other = inside.then(|| Resolution::R8.index(x, y, z))?;
            let known = !self.winding[other].is_nan();
            known.then_some((other, step.as_vec3().length()))
        };
        for (other, way) in (0..27).filter_map(settled) {
            if self.depth[voxel] + self.depth[other] > way {
                return Some(self.winding[other]);
            }
        }
        let from = place(bucket, voxel);
        // A triangle between the two voxels is no farther from one of them than they are apart.
        let farthest = 3.0_f64.sqrt();
        let between: Vec<&Patch> = near
            .iter()
            .map(|&node| &tree.patches[node as usize])
            .filter(|patch| patch.at_least(from) <= farthest)
            .collect();
        (0..27).filter_map(settled).find_map(|(other, _)| {
            let jump = jump(tree, &between, from, place(bucket, other))?;
            Some(self.winding[other] + f64::from(jump))
        })
    }
}

/// The middle of a voxel [voxels].
fn place(bucket: Bucket, voxel: usize) -> DVec3 {
    let [x, y, z] = Resolution::R8.coords(voxel).map(|n| n as f64 + 0.5);
    bucket.coord.as_dvec3() * VOXELS_PER_BUCKET as f64 + DVec3::new(x, y, z)
}

/// By how much the winding number of one place is larger than that of another, if the way between them meets triangles
/// squarely or not at all; where it grazes an edge, nothing can be said.
fn jump(tree: &Tree, patches: &[&Patch], from: DVec3, to: DVec3) -> Option<i32> {
    let way = to - from;
    let mut jump = 0;
    for patch in patches {
        for &triangle in tree.triangles(patch) {
            let [a, b, c] = tree.scaled.corners(triangle).map(|corner| corner - from);
            // Volumes that the way spans with the edges: of one sign if its line passes through the triangle.
            let volumes = [way.dot(c.cross(b)), way.dot(a.cross(c)), way.dot(b.cross(a))];
            let [u, v, w] = volumes;
            let scale =
                way.length() * (a.length_squared().max(b.length_squared()).max(c.length_squared()));
            let grazing = 1e-12 * scale;
            let (low, high) = (u.min(v).min(w), u.max(v).max(w));
            if low < -grazing && high > grazing {
                continue;
            }
            if low.abs() <= grazing || high.abs() <= grazing {
                // Its line passes an edge or a corner, or lies in the plane: is that on the way at all?
                let ends = [a, b, c].map(|corner| corner.dot(way) / way.length_squared());
                let nearest = ends.into_iter().fold(f64::INFINITY, f64::min);
                let farthest = ends.into_iter().fold(f64::NEG_INFINITY, f64::max);
                if farthest < 0.0 || nearest > 1.0 {
                    continue;
                }
                return None;
            }
            let sum = u + v + w;
            let along = (u * a + v * b + w * c).dot(way) / (sum * way.length_squared());
            if (0.0..=1.0).contains(&along) {
                // Outwards through a triangle, the winding number falls by 1.
                jump += if (b - a).cross(c - a).dot(way) > 0.0 { 1 } else { -1 };
            }
        }
    }
    Some(jump)
}
