//! A picture of a Shot.

use crate::error::Result;
use crate::image::{Image, Size};
use crate::pass::Pass;
use crate::raster::{NONE, Ray, Scenery, View, Visibility};
use crate::shade::{Shadow, radiance};
use crate::shot::{self, Ground, Shot};
use rayon::prelude::*;
use undine_core::glam::{DVec3, Vec3, Vec4};

/// How carefully a picture is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quality {
    /// How many passes are averaged.
    pub passes: usize,
}

impl Quality {
    /// For a look while a run goes on.
    pub const PREVIEW: Self = Self { passes: 8 };
    /// For a picture to keep.
    pub const FINAL: Self = Self { passes: 32 };
}

/// Makes a picture: the average of its passes. The same bytes for any number of threads.
pub fn render(shot: &Shot<'_>, size: Size, quality: Quality) -> Result<Image> {
    let scenery = Scenery::of(&shot.subjects)?;
    let ball = ball(shot);
    let mut image = Image::empty(size);
    let mut visible = Visibility::new(size);
    let count = quality.passes.max(1);
    for n in 0..count {
        let pass = Pass::new(n, count, &shot.light, shot.shutter);
        let view = View::of_camera(&shot.camera, size, pass.offset);
        let moment = pass.moment;
        visible.clear();
        scenery.draw(&view, moment, &visible);
        let lights = Lights {
            shot,
            pass: &pass,
            sun: Shadow::new(&scenery, pass.sun, ball, 2048, moment),
            sky: Shadow::new(&scenery, pass.sky, ball, 1024, moment),
        };
        let Image { light, depth, velocity, .. } = &mut image;
        let rows = light
            .par_chunks_mut(size.width)
            .zip(depth.par_chunks_mut(size.width))
            .zip(velocity.par_chunks_mut(size.width));
        rows.enumerate().for_each(|(y, ((light, depth), velocity))| {
            for x in 0..size.width {
                let ray = view.ray_through(x, y);
                let seen = lights.look(&scenery, &view, &ray, visible.at(x, y), moment);
                light[x] += seen.light / count as f32;
                if n == 0 {
                    (depth[x], velocity[x]) = (seen.depth, seen.velocity);
                }
            }
        });
    }
    Ok(image)
}

/// A ball around all Subjects.
fn ball(shot: &Shot<'_>) -> (DVec3, f32) {
    shot::bounds(&shot.subjects).map_or((shot.camera.target, 1.0), |bounds| {
        (bounds.centre(), (0.5 * bounds.size().length()).max(1e-6) as f32 * 1.1)
    })
}

/// What a line of sight ends at.
struct Seen {
    light: Vec4,
    depth: f32,
    velocity: Vec3,
}

/// The lights of a pass.
struct Lights<'a> {
    shot: &'a Shot<'a>,
    pass: &'a Pass,
    sun: Shadow,
    sky: Shadow,
}

impl Lights<'_> {
    fn look(
        &self,
        scenery: &Scenery<'_>,
        view: &View,
        ray: &Ray,
        (depth, primitive): (f32, u32),
        moment: f32,
    ) -> Seen {
        let depth = if primitive == NONE { f32::INFINITY } else { depth };
        let ground = self
            .shot
            .grounds
            .iter()
            .filter_map(|ground| Some((meet(ground, view, ray)?, ground)))
            .min_by(|(a, _), (b, _)| a.total_cmp(b))
            .filter(|(below, _)| *below < depth);
        if let Some((depth, ground)) = ground {
            let place = ray.at(depth);
            let light = self.lit(Vec3::splat(0.45), place, view.eye, ground.normal);
            return Seen { light: light.extend(1.0), depth, velocity: Vec3::ZERO };
        }
        if primitive == NONE {
            let light = radiance(ray.direction.normalize(), &self.shot.light);
            return Seen { light: light.extend(0.0), depth, velocity: Vec3::ZERO };
        }
        let hit = scenery.hit(primitive, view, moment, ray);
        let light = match hit.is_lit {
            true => self.lit(hit.colour, ray.at(hit.depth), view.eye, hit.normal),
            false => hit.colour,
        };
        Seen { light: light.extend(1.0), depth: hit.depth, velocity: hit.velocity }
    }

    /// A matte surface under sun and sky.
    fn lit(&self, colour: Vec3, place: Vec3, eye: DVec3, normal: Vec3) -> Vec3 {
        let light = &self.shot.light;
        let sun = normal.dot(self.pass.sun).max(0.0);
        let sun = sun * self.sun.reaches(place, eye, normal) * light.sun_colour;
        let sky = normal.dot(self.pass.sky).max(0.0) * 2.0;
        let sky = sky * self.sky.reaches(place, eye, normal) * radiance(self.pass.sky, light);
        colour * (sun + sky) / std::f32::consts::PI
    }
}

/// The depth at which a line of sight meets a ground.
fn meet(ground: &Ground, view: &View, ray: &Ray) -> Option<f32> {
    let below = (ground.point - view.eye).as_vec3() - ray.origin;
    let depth = below.dot(ground.normal) / ray.direction.dot(ground.normal);
    (depth > view.near && depth.is_finite()).then_some(depth)
}
