//! What a light does not reach, by a map of what is nearest to it (Williams 1978).

use crate::raster::{DepthMap, Scenery, View};
use undine_core::glam::{DVec3, Vec3};

/// The shadows of one light in one pass.
pub(crate) struct Shadow {
    view: View,
    map: DepthMap,
}

impl Shadow {
    /// Of all that is within a ball.
    pub fn new(
        scenery: &Scenery<'_>,
        towards: Vec3,
        (middle, radius): (DVec3, f32),
        side: usize,
        moment: f32,
    ) -> Self {
        let view = View::along(-towards, middle, radius, side);
        let map = DepthMap::new(view.size);
        scenery.draw(&view, moment, &map);
        Self { view, map }
    }

    /// Whether the light reaches a place, given from an eye, on a surface that looks along a normal.
    pub fn reaches(&self, place: Vec3, eye: DVec3, normal: Vec3) -> f32 {
        // Moved off the surface by the size of a pixel, so that nothing shades itself.
        let off = 2.0 / self.view.scale;
        let seen = (eye - self.view.eye).as_vec3() + place + off * normal;
        let turned = self.view.turned(seen);
        let pixel = self.view.pixel(turned);
        let nearest = self.map.at(pixel.x.floor() as i32, pixel.y.floor() as i32);
        if turned.z - off < nearest { 1.0 } else { 0.0 }
    }
}
