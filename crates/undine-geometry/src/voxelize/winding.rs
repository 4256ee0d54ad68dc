//! Winding numbers ([`crate::winding`]) over the tree of patches, whose far nodes count as one small area each: the first
//! order of Barill et al. (2018), which is enough to tell 0 from 1 and comes with the tree for nothing.

use super::tree::Tree;
use crate::random;
use crate::triangles::Triangles;
use crate::winding::solid_angle;
use rayon::prelude::*;
use std::f64::consts::PI;
use undine_core::glam::DVec3;

/// A node counts as one area from this many times its reach on. The error of a winding number is then a few per cent.
const FAR_AWAY: f64 = 2.0;

/// Winding numbers of an open mesh that are this near to one half are not settled by one voxel for its neighbours.
pub(super) const UNSETTLED: f64 = 0.2;

/// Whether each edge of the mesh is passed as often in one direction as in the other. Winding numbers are then whole, and
/// change only across triangles. Vertices at one place are one.
///
/// Each edge has a random number, negative in the other direction: their sum is zero if all cancel, and otherwise is so
/// once in 2⁶⁴ times.
pub(super) fn is_closed(mesh: &Triangles) -> bool {
    let number = |position: &DVec3| {
        // Zero has two signs but is one place.
        let [x, y, z] = (*position + 0.0).to_array().map(f64::to_bits);
        random::bits(x, random::bits(y, z))
    };
    let numbers: Vec<u64> = mesh.positions().par_iter().map(number).collect();
    let edge = |a: u64, b: u64| {
        let number = random::bits(a.min(b), a.max(b));
        match a.cmp(&b) {
            std::cmp::Ordering::Less => number,
            std::cmp::Ordering::Equal => 0,
            std::cmp::Ordering::Greater => number.wrapping_neg(),
        }
    };
    let around = |corners: &[u32; 3]| {
        let [a, b, c] = corners.map(|vertex| numbers[vertex as usize]);
        edge(a, b).wrapping_add(edge(b, c)).wrapping_add(edge(c, a))
    };
    mesh.indices().par_iter().map(around).reduce(|| 0, u64::wrapping_add) == 0
}

impl Tree<'_> {
    /// The winding number of a place [voxels].
    pub fn winding(&self, at: DVec3) -> f64 {
        let mut stack = Vec::with_capacity(64);
        stack.push(self.root());
        // In units of a whole sphere.
        let mut sum = 0.0;
        while let Some(number) = stack.pop() {
            let node = &self.nodes[number as usize];
            let arm = node.middle - at;
            let squared = arm.length_squared();
            if squared > (FAR_AWAY * node.reach).powi(2) {
                sum += node.area.dot(arm) / (4.0 * PI * squared * squared.sqrt());
                continue;
            }
            let [first, count] = node.children;
            stack.extend((first..first + count).rev());
            if let Some(patch) = self.patch(number) {
                for &triangle in self.triangles(patch) {
                    sum += solid_angle(self.scaled.corners(triangle), at) / (4.0 * PI);
                }
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gallery;

    #[test]
    fn closed_meshes_are_told_from_open_ones() {
        let ball = gallery::sphere(1.0, 2);
        assert!(is_closed(&ball) && is_closed(&gallery::knot(0.06, 30, 5)));
        assert!(!is_closed(&gallery::sheet([1.0, 1.0], [3, 3])));
        let without = |n: usize| {
            let mut triangles = ball.indices().to_vec();
            triangles.remove(n);
            Triangles::new(ball.positions().to_vec(), triangles).unwrap()
        };
        assert!((0..ball.len()).all(|n| !is_closed(&without(n))));
        // Each triangle with vertices of its own.
        let apart: Vec<DVec3> = ball.iter().flatten().collect();
        let alone = (0..ball.len() as u32).map(|n| [3 * n, 3 * n + 1, 3 * n + 2]).collect();
        assert!(is_closed(&Triangles::new(apart, alone).unwrap()));
    }
}
