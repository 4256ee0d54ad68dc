//! What is behind everything.

use crate::shot::Light;
use undine_core::glam::Vec3;

/// The light that comes from a direction of the sky.
pub(crate) fn radiance(direction: Vec3, light: &Light) -> Vec3 {
    let high = direction.dot(light.up).clamp(0.0, 1.0);
    light.sky * Vec3::new(0.75, 0.82, 0.9).lerp(Vec3::new(0.2, 0.35, 0.62), high.powf(0.6))
}
