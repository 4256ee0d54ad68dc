//! The sun and the sky.

use undine_core::glam::Vec3;

/// What lights a Shot: a sun and a sky.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Light {
    /// Which way the sun is, of length 1.
    pub sun: Vec3,
    /// How wide the sun is, from its middle to its edge [rad]: what makes shadows soft.
    pub sun_radius: f32,
    /// Light of the sun on what faces it, linear: a white surface there is as bright as this over π.
    pub sun_colour: Vec3,
    /// How bright the sky is, against one of a fair day.
    pub sky: f32,
    /// Light of the sky at the horizon, linear. Grounds fade into it.
    pub horizon: Vec3,
    /// Light of the sky straight up, linear.
    pub zenith: Vec3,
    /// Which way is up, of length 1.
    pub up: Vec3,
}

impl Default for Light {
    fn default() -> Self {
        Self::with_up(Vec3::Y)
    }
}

impl Light {
    /// A fair day: a warm sun over the left shoulder of a camera that looks at things from ahead and from the right.
    pub fn with_up(up: Vec3) -> Self {
        // Ahead is z where y is up, and −y where z is up.
        let ahead = if up.y.abs() > 0.5 { Vec3::Z } else { Vec3::NEG_Y };
        let right = ahead.cross(up).normalize_or(up.any_orthonormal_vector()) * -1.0;
        Self {
            sun: (up - 0.55 * right + 0.25 * ahead).normalize(),
            sun_radius: 0.06,
            sun_colour: Vec3::new(2.75, 2.5, 2.15),
            sky: 1.0,
            horizon: Vec3::new(0.68, 0.74, 0.8),
            zenith: Vec3::new(0.24, 0.38, 0.62),
            up,
        }
    }
}

impl Light {
    /// The same with nothing that is no number, and directions of length 1.
    pub(crate) fn sound(&self) -> Self {
        let fair = Self::default();
        let direction = |asked: Vec3, otherwise: Vec3| asked.try_normalize().unwrap_or(otherwise);
        let colour = |asked: Vec3| {
            if asked.is_finite() { asked.max(Vec3::ZERO) } else { Vec3::ZERO }
        };
        let up = direction(self.up, fair.up);
        let radius = if self.sun_radius.is_finite() { self.sun_radius } else { 0.0 };
        Self {
            sun: direction(self.sun, Self::with_up(up).sun),
            sun_radius: radius.clamp(0.0, 1.0),
            sun_colour: colour(self.sun_colour),
            sky: if self.sky.is_finite() { self.sky.max(0.0) } else { 0.0 },
            horizon: colour(self.horizon),
            zenith: colour(self.zenith),
            up,
        }
    }
}
