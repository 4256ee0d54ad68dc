//! A convex polyhedron: its distance is that to the nearest of its triangles, whose face, edge or corner it is.

use super::primitives::direction;
use super::quickhull::{self, Triangle};
use super::tree::BoxTree;
use crate::error::Result;
use crate::mass::MassProperties;
use crate::solid::Nearest;
use crate::triangle::{self, Feature};
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;

/// Up to so many faces, looking at all planes costs less than looking for the nearest triangle.
const FEW: usize = 64;

/// The convex hull of points.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Hull {
    faces: Vec<Face>,
    tree: BoxTree,
    /// Its extent along the longest axis [m].
    size: f64,
    /// The length [m] of what rounding may move.
    rounding: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Face {
    corners: [DVec3; 3],
    normal: DVec3,
}

impl Hull {
    pub(super) fn new(points: &[DVec3]) -> Result<Self> {
        let triangles = quickhull::triangles(points)?;
        let face = |&Triangle { corners, normal, .. }: &Triangle| Face { corners, normal };
        let faces: Vec<Face> = triangles.iter().map(face).collect();
        let box_of = |face: &Face| Bounds::around(face.corners).expect("a face has corners");
        let boxes: Vec<Bounds> = faces.iter().map(box_of).collect();
        let bounds = boxes.iter().copied().reduce(Bounds::union).expect("a hull has faces");
        let size = bounds.size().max_element();
        Ok(Self { tree: BoxTree::new(&boxes), faces, size, rounding: 1e-13 * size })
    }

    /// How far it reaches in a direction of length 1 [m].
    pub(super) fn reach(&self, n: DVec3) -> f64 {
        let corners = self.faces.iter().flat_map(|face| face.corners);
        corners.fold(f64::NEG_INFINITY, |most, corner| most.max(n.dot(corner)))
    }

    /// Its triangles, seen from outside when their corners turn to the left [m].
    pub(super) fn triangles(&self) -> impl ExactSizeIterator<Item = [DVec3; 3]> + '_ {
        self.faces.iter().map(|face| face.corners)
    }

    pub(super) fn mass_properties(&self) -> MassProperties {
        MassProperties::enclosed(self.triangles())
    }

    pub(super) fn nearest(&self, at: DVec3) -> Nearest {
        // Of few faces, the one whose plane is highest tells all of the inside, and of the outside what lies
        // straight above a face.
        if self.faces.len() <= FEW {
            let (part, height) = self.highest_plane(at);
            let Face { corners, normal } = self.faces[part];
            if height <= 0.0 {
                return Nearest { point: at - normal * height, normal, distance: height };
            }
            let found = triangle::closest_point(corners, at);
            if found.feature == Feature::Face {
                return Nearest { point: found.point, normal, distance: height };
            }
        }
        self.nearest_by_tree(at)
    }

    /// The face of which a place lies highest above, or least deep below, its plane, and how high [m].
    fn highest_plane(&self, at: DVec3) -> (usize, f64) {
        let heights = self.faces.iter().map(|face| face.normal.dot(at - face.corners[0]));
        heights
            .enumerate()
            .fold((0, f64::NEG_INFINITY), |most, found| if found.1 > most.1 { found } else { most })
    }

    fn nearest_by_tree(&self, at: DVec3) -> Nearest {
        let mut least = f64::INFINITY;
        let mut best = (0, self.faces[0].corners[0], Feature::Corner(0));
        let mut outside = false;
        self.tree.near(at, |part| {
            let face = &self.faces[part];
            let height = face.normal.dot(at - face.corners[0]);
            // Outside is what lies above one face, and then what is nearest belongs to such a face. No part of a face is
            // nearer than its plane.
            outside |= height > self.rounding;
            let limit = least + self.rounding;
            if height.abs() > limit || (outside && height < -self.rounding) {
                return limit * limit;
            }
            let found = triangle::closest_point(face.corners, at);
            let distance = found.point.distance(at);
            if distance < least {
                least = distance;
                best = (part, found.point, found.feature);
            }
            // So near to the surface that the planes cannot tell, the nearest face does.
            if distance <= self.rounding {
                outside |= height > 0.0;
            }
            (least + self.rounding).powi(2)
        });
        let (part, point, feature) = best;
        let face = self.faces[part].normal;
        let normal = match feature {
            Feature::Face => face,
            _ if least <= self.rounding => face,
            _ if outside => direction(at - point, face),
            _ => direction(point - at, face),
        };
        let distance = match least {
            // No triangle is near to a place that is not finite.
            f64::INFINITY => f64::NAN,
            _ if outside => least,
            _ => -least,
        };
        Nearest { point, normal, distance }
    }

    /// All that is deeper than `depth` [m]; `None` if that is nothing, or nothing that this finds.
    ///
    /// It is the intersection of the half spaces of the faces, moved inwards. Seen from a point inside of them, planes
    /// n · x = b are points n / b; the hull of those has a face for each corner of the intersection (polar duality).
    pub(super) fn inset(&self, depth: f64) -> Option<Self> {
        let (eye, deepest) = self.deepest();
        if deepest <= depth * (1.0 + 1e-6) + self.rounding {
            return None;
        }
        let planes = self.faces.iter().map(|face| {
            let offset = face.normal.dot(face.corners[0] - eye) - depth;
            face.normal / offset
        });
        let polar = Self::new(&planes.collect::<Vec<_>>()).ok()?;
        let corners =
            polar.faces.iter().map(|face| eye + face.normal / face.normal.dot(face.corners[0]));
        Self::new(&corners.collect::<Vec<_>>()).ok()
    }

    /// A point about as far inside as possible [m], and how deep it lies [m].
    ///
    /// The depth is the least of linear functions, thus concave: steps away from the face that is nearest, which
    /// shrink, find its maximum (the method of subgradients).
    fn deepest(&self) -> (DVec3, f64) {
        const STEPS: i32 = 512;
        const SHRINK: f64 = 0.975;
        let depth = |at: DVec3| {
            let (part, height) = self.highest_plane(at);
            (-height, self.faces[part].normal)
        };
        let mut at = self.mass_properties().centre;
        let (mut found, mut away) = depth(at);
        let mut best = (at, found);
        for step in 0..STEPS {
            at -= away * (0.25 * self.size * SHRINK.powi(step));
            (found, away) = depth(at);
            if found > best.1 {
                best = (at, found);
            }
        }
        best
    }
}
