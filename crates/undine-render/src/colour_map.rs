//! Colour maps: from a number to a colour.

use undine_core::glam::Vec3;

/// A colour map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ColourMap {
    /// From deep blue over turquoise to white foam.
    #[default]
    Water,
}

impl ColourMap {
    /// The colour at 0 to 1, linear.
    pub fn at(&self, t: f32) -> Vec3 {
        Vec3::new(0.01, 0.06, 0.2).lerp(Vec3::splat(0.9), t.clamp(0.0, 1.0))
    }
}
