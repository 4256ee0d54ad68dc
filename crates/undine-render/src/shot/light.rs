//! The sun and the sky.

use undine_core::glam::Vec3;

/// What lights a Shot: a sun and a sky.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Light {
    /// Which way the sun is, of length 1.
    pub sun: Vec3,
    /// How wide the sun is, from its middle to its edge [rad]: what makes shadows soft.
    pub sun_radius: f32,
    /// Light of the sun, linear.
    pub sun_colour: Vec3,
    /// How bright the sky is, against one of a fair day.
    pub sky: f32,
    /// Which way is up, of length 1: the sky is lightest at the horizon and darkest there.
    pub up: Vec3,
}

impl Default for Light {
    fn default() -> Self {
        Self::with_up(Vec3::Y)
    }
}

impl Light {
    /// A fair day: a warm sun high over the left shoulder of the default camera.
    pub fn with_up(up: Vec3) -> Self {
        let side = up.any_orthonormal_vector();
        Self {
            sun: (up + 0.55 * side).normalize(),
            sun_radius: 0.05,
            sun_colour: Vec3::new(3.0, 2.75, 2.4),
            sky: 1.0,
            up,
        }
    }
}
