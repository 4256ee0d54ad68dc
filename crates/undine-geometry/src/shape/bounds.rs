//! Boxes around shapes: tight for what is built of primitives by unions, growth and transforms.
//!
//! How far a solid reaches in a direction n is its support function, the greatest n · x. Turned, a solid reaches along the
//! world's axes as far as it does along those axes turned back, so that no box is turned.

use super::{Frustum, Kind, Shape};
use crate::pose::Pose;
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;

impl Shape {
    /// A box that holds all places with a distance of at most `margin` [m] from the shape turned and moved; `None` if
    /// there is none.
    ///
    /// It is not the inside's box grown: where a distance is a lower bound, it reaches farther.
    pub(super) fn bounds_within(&self, margin: f64, pose: &Pose) -> Option<Bounds> {
        match &self.kind {
            Kind::HalfSpace { .. } | Kind::Inverted(_) => None,
            Kind::Offset { of, by } => of.bounds_within(margin + by, pose),
            Kind::Union { parts, width } => {
                // One blend reaches a quarter of its width beyond both; many in turn less than the whole.
                let margin = margin + width * if parts.len() == 2 { 0.25 } else { 1.0 };
                let boxes = parts.iter().map(|part| part.bounds_within(margin, pose));
                boxes.reduce(|a, b| Some(a?.union(b?))).flatten()
            }
            Kind::Intersection { parts, .. } => {
                parts.iter().filter_map(|part| part.bounds_within(margin, pose)).reduce(common)
            }
            Kind::Moved { of, pose: own } => {
                let pose = Pose {
                    rotation: pose.rotation * own.rotation,
                    translation: pose.to_world(own.translation),
                };
                of.bounds_within(margin, &pose)
            }
            Kind::Scaled { of, factor } => {
                let pose = Pose { translation: pose.translation / *factor, ..*pose };
                let Bounds { min, max } = of.bounds_within(margin / factor, &pose)?;
                Some(Bounds { min: min * *factor, max: max * *factor })
            }
            _ => {
                let back = pose.rotation.inverse();
                let reach = |axis: DVec3| self.reach(back * axis) + margin;
                let axes = [DVec3::X, DVec3::Y, DVec3::Z];
                let max = DVec3::from_array(axes.map(reach));
                let min = -DVec3::from_array(axes.map(|axis| reach(-axis)));
                Some(Bounds { min: pose.translation + min, max: pose.translation + max })
            }
        }
    }

    /// How far a bounded primitive reaches in a direction of length 1 [m].
    fn reach(&self, n: DVec3) -> f64 {
        let across = n.x.hypot(n.y);
        match &self.kind {
            Kind::Cuboid { half } => n.abs().dot(*half),
            Kind::Sphere { radius } => *radius,
            Kind::Frustum(Frustum { bottom, top, half, .. }) => {
                (bottom * across - half * n.z).max(top * across + half * n.z)
            }
            Kind::Capsule { radius, half } => radius + half * n.z.abs(),
            Kind::Torus { major, minor } => major * across + minor,
            Kind::Hull(hull) => hull.reach(n),
            Kind::Revolved(profile) => profile.reach(across, n.z),
            // All others are asked by their parts, or reach without end.
            _ => f64::INFINITY,
        }
    }
}

/// What lies in both boxes; a box without volume if nothing does.
fn common(a: Bounds, b: Bounds) -> Bounds {
    let min = a.min.max(b.min);
    Bounds { min, max: a.max.min(b.max).max(min) }
}
