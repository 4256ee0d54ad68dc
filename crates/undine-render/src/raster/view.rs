//! How a pass sees space: a perspective or an orthographic projection onto pixels.
//!
//! A place is given relative to the view's eye, in the axes of the world. Its *depth* z is what it is away along the view's axis; in
//! a perspective view a metre at depth z has `scale / z` pixels, in an orthographic one `scale`. Both are `scale / (base + slope z)`.

use crate::image::Size;
use crate::shot::Camera;
use undine_core::glam::{DVec3, Vec2, Vec3};

/// How a pass sees space.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View {
    /// What places are relative to [m].
    pub eye: DVec3,
    /// To the right in the picture, of length 1.
    pub right: Vec3,
    /// Up in the picture.
    pub up: Vec3,
    /// Away from the eye.
    pub forward: Vec3,
    /// Pixels for a slope of 1, or for a metre.
    pub scale: f32,
    /// 0 in a perspective view, 1 in an orthographic one.
    pub base: f32,
    /// 1 in a perspective view, 0 in an orthographic one.
    pub slope: f32,
    /// The pixel that the axis goes through; the middle of the first pixel is at ½, ½.
    pub centre: Vec2,
    /// What is nearer is not seen [m].
    pub near: f32,
    /// How many pixels there are.
    pub size: Size,
    /// A number of the pass, 0 to 1: what is thinner than a pixel is drawn in a part of the passes.
    pub turn: f32,
}

/// A line of sight: all `origin + z · direction`, where z is the depth. Relative to the eye, in the axes of the world.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ray {
    /// Where it is at depth 0.
    pub origin: Vec3,
    /// How it moves on with each metre of depth; longer than 1 aside of the axis of a perspective view.
    pub direction: Vec3,
}

impl View {
    /// What a camera sees, moved by a part of a pixel.
    pub fn of_camera(camera: &Camera, size: Size, offset: Vec2) -> Self {
        let [right, up, forward] = camera.axes().map(|axis| axis.as_vec3());
        let half = 0.5 * Vec2::new(size.width as f32, size.height as f32);
        let distance = camera.eye.distance(camera.target) as f32;
        Self {
            eye: camera.eye,
            right,
            up,
            forward,
            scale: half.y / (0.5 * camera.field_of_view).tan() as f32,
            base: 0.0,
            slope: 1.0,
            centre: half + offset,
            near: 1e-4 * distance,
            size,
            turn: 0.0,
        }
    }

    /// What is seen along a direction of a ball of a radius around a point [m], on a square of so many pixels.
    pub fn along(forward: Vec3, middle: DVec3, radius: f32, side: usize) -> Self {
        let right = forward.any_orthonormal_vector();
        let half = 0.5 * side as f32;
        Self {
            eye: middle - f64::from(radius) * forward.as_dvec3(),
            right,
            up: right.cross(forward),
            forward,
            scale: half / radius,
            base: 1.0,
            slope: 0.0,
            centre: Vec2::splat(half),
            near: f32::MIN_POSITIVE,
            size: Size { width: side, height: side },
            turn: 0.0,
        }
    }

    /// A place relative to the eye, along the axes of the view: to the right, up, and away.
    #[inline(always)]
    pub fn turned(&self, place: Vec3) -> Vec3 {
        Vec3::new(place.dot(self.right), place.dot(self.up), place.dot(self.forward))
    }

    /// How many pixels a metre has at a depth.
    #[inline(always)]
    pub fn pixels_per_metre(&self, depth: f32) -> f32 {
        self.scale / (self.base + self.slope * depth)
    }

    /// The pixel of a place along the axes of the view; y runs down.
    #[inline(always)]
    pub fn pixel(&self, turned: Vec3) -> Vec2 {
        let scale = self.pixels_per_metre(turned.z);
        Vec2::new(self.centre.x + scale * turned.x, self.centre.y - scale * turned.y)
    }

    /// The line of sight through a point of the picture.
    #[inline(always)]
    pub fn ray(&self, pixel: Vec2) -> Ray {
        let x = (pixel.x - self.centre.x) / self.scale;
        let y = (self.centre.y - pixel.y) / self.scale;
        let aside = x * self.right + y * self.up;
        Ray { origin: self.base * aside, direction: self.slope * aside + self.forward }
    }

    /// The line of sight through the middle of a pixel.
    #[inline(always)]
    pub fn ray_through(&self, x: usize, y: usize) -> Ray {
        self.ray(Vec2::new(x as f32 + 0.5, y as f32 + 0.5))
    }
}

impl Ray {
    /// Where it is at a depth.
    #[inline(always)]
    pub fn at(&self, depth: f32) -> Vec3 {
        self.origin + depth * self.direction
    }
}
