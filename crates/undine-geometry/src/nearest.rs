//! What is nearest: the one answer that shapes, meshes and level sets give to "how far, which side, which way".

use std::fmt::Debug;
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
    /// The signed distance to the surface [m].
    fn distance(&self, at: DVec3) -> f64;

    /// The nearest point of the surface.
    fn nearest(&self, at: DVec3) -> Nearest;

    /// A box that holds the inside; `None` if the inside is unbounded.
    fn bounds(&self) -> Option<Bounds>;

    /// Whether the straight way between two places leads through the inside, or within a thousandth of its length
    /// of it: also where the inside is much thinner than the way is long.
    fn crosses(&self, from: DVec3, to: DVec3) -> bool {
        // Sphere tracing (Hart 1996): what is that far away cannot be nearer on the way.
        let length = from.distance(to);
        let touch = 1e-3 * length;
        let mut gone = 0.0;
        loop {
            let free = self.distance(from.lerp(to, if length > 0.0 { gone / length } else { 0.0 }));
            if free.is_nan() || free <= touch {
                return free <= touch;
            }
            gone += free;
            if gone >= length {
                return self.distance(to) <= touch;
            }
        }
    }
}
