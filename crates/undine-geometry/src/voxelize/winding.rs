//! Winding numbers: how often a mesh goes around a place (Jacobson, Kavan and Sorkine-Hornung 2013), summed over a tree
//! whose far nodes count as one small area each (Barill, Dickson, Schmidt, Levin and Jacobson 2018, first order).

use super::tree::Tree;
use std::f64::consts::PI;
use undine_core::glam::DVec3;

/// A node counts as one area from this many times its reach on. The error of a winding number is then a few per cent.
const FAR_AWAY: f64 = 2.5;

/// Winding numbers that are this near to one half are not settled by one voxel for its neighbours.
pub(super) const UNSETTLED: f64 = 0.2;

/// Inside is where the mesh goes around, in whichever direction. A closed mesh that is turned inside out so has the
/// same inside; closed meshes that overlap are united; a shell inside of another and turned against it bounds a hollow.
pub(super) fn is_inside(winding: f64) -> bool {
    winding.abs() > 0.5
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
                    sum += part_of_sphere(self.scaled.corners(triangle).map(|corner| corner - at));
                }
            }
        }
        sum
    }
}

/// The part of all directions in which the origin sees a triangle, negative from outside (Van Oosterom and Strackee
/// 1983). In its plane nothing is seen of it.
pub(super) fn part_of_sphere([a, b, c]: [DVec3; 3]) -> f64 {
    let (la, lb, lc) = (a.length(), b.length(), c.length());
    let volume = a.dot(b.cross(c));
    let rest = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
    if volume == 0.0 { 0.0 } else { volume.atan2(rest) / (2.0 * PI) }
}
