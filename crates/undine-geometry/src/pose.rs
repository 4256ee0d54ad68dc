//! Where a rigid thing is and how it is turned, and how fast both change.

use undine_core::glam::{DMat3, DQuat, DVec3};

/// A rotation and a translation: `world = rotation · local + translation`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pose {
    /// How it is turned; of length 1.
    pub rotation: DQuat,
    /// Where its origin is [m].
    pub translation: DVec3,
}

impl Pose {
    /// At the origin, not turned.
    pub const IDENTITY: Self = Self { rotation: DQuat::IDENTITY, translation: DVec3::ZERO };

    /// Not turned.
    pub fn at(translation: DVec3) -> Self {
        Self { translation, ..Self::IDENTITY }
    }

    /// From the thing's own coordinates to the world.
    #[inline]
    pub fn to_world(&self, local: DVec3) -> DVec3 {
        self.rotation * local + self.translation
    }

    /// From the world to the thing's own coordinates.
    #[inline]
    pub fn to_local(&self, world: DVec3) -> DVec3 {
        self.rotation.inverse() * (world - self.translation)
    }

    /// The rotation as a matrix.
    pub fn matrix(&self) -> DMat3 {
        DMat3::from_quat(self.rotation)
    }
}

/// The velocity of a rigid thing.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Twist {
    /// Of the thing's origin [m/s].
    pub linear: DVec3,
    /// About its origin [rad/s].
    pub angular: DVec3,
}

impl Twist {
    /// The velocity [m/s] of the thing's point at `arm` [m] from its origin, in the world's directions.
    #[inline]
    pub fn at(&self, arm: DVec3) -> DVec3 {
        self.linear + self.angular.cross(arm)
    }
}
