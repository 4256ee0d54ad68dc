//! A shape on a motion: where its surface is at a time, and how fast that moves.

use super::Shape;
use crate::motion::Motion;
use crate::nearest::{Nearest, Solid};
use crate::pose::{Pose, Twist};
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;

/// A shape that moves rigidly. The motion's poses bring the shape's own coordinates to the world.
#[derive(Debug, Clone, PartialEq)]
pub struct MovingShape {
    /// The shape in its own coordinates.
    pub shape: Shape,
    /// Where it is over time.
    pub motion: Motion,
}

/// A moving shape at one time.
#[derive(Debug, Clone, Copy)]
pub struct PlacedShape<'a> {
    shape: &'a Shape,
    pose: Pose,
    twist: Twist,
}

impl MovingShape {
    /// As it is at a time [s]. Ask this once for many places.
    pub fn at_time(&self, time: f64) -> PlacedShape<'_> {
        PlacedShape {
            shape: &self.shape,
            pose: self.motion.pose(time),
            twist: self.motion.twist(time),
        }
    }
}

impl PlacedShape<'_> {
    /// Where it is.
    pub fn pose(&self) -> Pose {
        self.pose
    }

    /// How fast it moves.
    pub fn twist(&self) -> Twist {
        self.twist
    }

    /// The velocity [m/s] of the shape's own point that is at a place now; the place need not be on the surface.
    pub fn velocity(&self, at: DVec3) -> DVec3 {
        self.twist.at(at - self.pose.translation)
    }

    /// The nearest point of the surface, and the velocity there [m/s].
    pub fn nearest_moving(&self, at: DVec3) -> (Nearest, DVec3) {
        let nearest = self.nearest(at);
        (nearest, self.velocity(nearest.point))
    }
}

impl Solid for PlacedShape<'_> {
    fn distance(&self, at: DVec3) -> f64 {
        self.shape.distance(self.pose.to_local(at))
    }

    fn nearest(&self, at: DVec3) -> Nearest {
        let Nearest { point, normal, distance } = self.shape.nearest(self.pose.to_local(at));
        Nearest { point: self.pose.to_world(point), normal: self.pose.rotation * normal, distance }
    }

    fn bounds(&self) -> Option<Bounds> {
        self.shape.bounds_within(0.0, &self.pose)
    }
}
