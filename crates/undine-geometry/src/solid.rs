//! What has an inside, and the one answer that shapes, meshes and level sets give to "how far, which side, which way".

use std::fmt::Debug;
use std::sync::Arc;
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;

/// The point of a surface nearest to a place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nearest {
    /// The nearest point of the surface [m].
    pub point: DVec3,
    /// Outwards there, of length 1.
    pub normal: DVec3,
    /// The distance to it [m]; negative inside.
    pub distance: f64,
}

/// Something with an inside: every place has a signed distance [m] to its surface, negative inside.
///
/// Where the nearest point is not unique, any of them is right, but always the same one.
pub trait Solid: Debug + Sync {
    /// The signed distance [m] from a place [m] to the surface.
    fn distance(&self, at: DVec3) -> f64;

    /// The point of the surface nearest to a place [m].
    fn nearest(&self, at: DVec3) -> Nearest;

    /// A box that holds the inside; `None` if the inside is unbounded.
    fn bounds(&self) -> Option<Bounds>;

    /// Whether it is known to be convex: what is convex itself touches it in one place, or along what is flat.
    fn is_convex(&self) -> bool {
        false
    }

    /// The normal where the straight way between two places [m] first runs into the inside, or comes within a thousandth of
    /// its length of it: also where the inside is much thinner than the way is long. What it leaves behind does not count.
    fn first_hit(&self, from: DVec3, to: DVec3) -> Option<DVec3> {
        // Sphere tracing (Hart 1996): what is that far away cannot be nearer on the way.
        let along = to - from;
        let length = along.length();
        let touch = 1e-3 * length;
        let (mut gone, mut from_outside) = (0.0, false);
        while length.is_finite() && gone <= length {
            let at = if gone > 0.0 { from.lerp(to, gone / length) } else { from };
            let free = self.distance(at);
            if free <= touch {
                let near = self.nearest(at);
                // In a sheet without thickness itself, what comes from outside is at the side that it comes from.
                let in_sheet = from_outside && near.distance.abs() <= 1e-9 * length;
                let turned = in_sheet && near.normal.dot(along) > 0.0;
                let normal = if turned { -near.normal } else { near.normal };
                if normal.dot(along) < 0.0 {
                    return Some(normal);
                }
            }
            if free.is_nan() || gone == length {
                return None;
            }
            from_outside = free > touch;
            // The end itself is asked too.
            gone = (gone + free.max(touch)).min(length);
        }
        None
    }

    /// Whether the straight way between two places [m] leads through a wall: into the inside at one side of it, and out at
    /// another, in a crease perhaps. A way that grazes a curved surface does not.
    fn is_wall_between(&self, from: DVec3, to: DVec3) -> bool {
        // In a crease of angle φ it may enter by one wall and leave by the other, whose normals have a cosine of φ there: from
        // 30° on it is found. A curved surface looks the same way at both ends of a short chord.
        const ALIKE: f64 = 0.866;
        self.first_hit(from, to)
            .zip(self.first_hit(to, from))
            .is_some_and(|(near, far)| near.dot(far) < ALIKE)
    }
}

/// The point of the surface to which steps of the distance lead from a place, within a tolerance [m]: the nearest one where distances
/// are true, and one near to that where they are lower bounds.
pub fn onto_surface(solid: &dyn Solid, from: DVec3, tolerance: f64) -> Option<DVec3> {
    // One step is enough where distances are true; where they are lower bounds, each leaves a part of the way.
    const STEPS: usize = 64;
    let mut at = from;
    for _ in 0..STEPS {
        let Nearest { point, .. } = solid.nearest(at);
        if !point.is_finite() {
            return None;
        }
        if solid.distance(point).abs() <= tolerance {
            return Some(point);
        }
        at = point;
    }
    None
}

/// Several solids as one: all that is inside of any of them.
#[derive(Debug, Clone)]
pub struct Several<S>(pub Vec<S>);

impl<S: Solid> Solid for Several<S> {
    fn distance(&self, at: DVec3) -> f64 {
        self.0.iter().map(|solid| solid.distance(at)).fold(f64::INFINITY, f64::min)
    }

    /// Of the nearest solid; of none, infinitely far away.
    fn nearest(&self, at: DVec3) -> Nearest {
        let none = Nearest { point: at, normal: DVec3::Z, distance: f64::INFINITY };
        self.0.iter().map(|solid| solid.nearest(at)).fold(none, |nearest, other| {
            if other.distance < nearest.distance { other } else { nearest }
        })
    }

    fn bounds(&self) -> Option<Bounds> {
        let empty = Bounds { min: DVec3::ZERO, max: DVec3::ZERO };
        let all: Option<Vec<Bounds>> = self.0.iter().map(|solid| solid.bounds()).collect();
        Some(all?.into_iter().reduce(Bounds::union).unwrap_or(empty))
    }
}

impl<S: Solid + ?Sized> Solid for &S {
    fn distance(&self, at: DVec3) -> f64 {
        (**self).distance(at)
    }

    fn nearest(&self, at: DVec3) -> Nearest {
        (**self).nearest(at)
    }

    fn bounds(&self) -> Option<Bounds> {
        (**self).bounds()
    }

    fn is_convex(&self) -> bool {
        (**self).is_convex()
    }

    fn first_hit(&self, from: DVec3, to: DVec3) -> Option<DVec3> {
        (**self).first_hit(from, to)
    }

    fn is_wall_between(&self, from: DVec3, to: DVec3) -> bool {
        (**self).is_wall_between(from, to)
    }
}

impl<S: Solid + Send + ?Sized> Solid for Arc<S> {
    fn distance(&self, at: DVec3) -> f64 {
        (**self).distance(at)
    }

    fn nearest(&self, at: DVec3) -> Nearest {
        (**self).nearest(at)
    }

    fn bounds(&self) -> Option<Bounds> {
        (**self).bounds()
    }

    fn is_convex(&self) -> bool {
        (**self).is_convex()
    }

    fn first_hit(&self, from: DVec3, to: DVec3) -> Option<DVec3> {
        (**self).first_hit(from, to)
    }

    fn is_wall_between(&self, from: DVec3, to: DVec3) -> bool {
        (**self).is_wall_between(from, to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh_solid::{Inside, MeshSolid};
    use crate::triangles::Triangles;

    /// Distances are so exact that a way across stops in the sheet itself, where it is on neither side.
    #[test]
    fn a_sheet_without_thickness_is_a_wall_from_both_sides() {
        let corners = [[-3.0, -3.0], [3.0, -3.0], [3.0, 3.0], [-3.0, 3.0]];
        let corners = corners.map(|[y, z]| DVec3::new(0.25, y, z)).to_vec();
        let sheet = Triangles::new(corners, vec![[0, 1, 2], [0, 2, 3]]).unwrap();
        let sheet = MeshSolid::new(sheet, Inside::default()).unwrap();
        for y in [0.5, 0.125, -1.75] {
            let [from, to] = [0.0, 1.0].map(|x| DVec3::new(x, y, 0.5 * y));
            assert_eq!(sheet.first_hit(from, to), Some(DVec3::NEG_X));
            assert_eq!(sheet.first_hit(to, from), Some(DVec3::X));
            assert!(sheet.is_wall_between(from, to) && sheet.is_wall_between(to, from));
            let beside = DVec3::new(0.0, y + 0.5, y);
            assert!(!sheet.is_wall_between(from, beside));
        }
    }
}
