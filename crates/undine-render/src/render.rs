//! A picture of a Shot.

use crate::error::Result;
use crate::image::{Image, Size};
use crate::pass::{Pass, pixel_turn};
use crate::raster::{NONE, Ray, Scenery, Turn, View, Visibility};
use crate::shade::{ALBEDO, Extent, Floor, Lights, Shadow, SkyLight, Surface, radiance};
use crate::shot::{self, Light, Shot};
use rayon::prelude::*;
use std::f32::consts::PI;
use undine_core::glam::{DVec3, Vec3, Vec4};
use undine_core::mesh::Bounds;

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
    let mut scenery = Scenery::of(&shot.subjects)?;
    let light = shot.light.sound();
    let count = quality.passes.max(1);
    let passes: Vec<_> = (0..count).map(|n| Pass::new(n, count, &light, shot.shutter)).collect();
    let sky_light = SkyLight::new(&light, &passes);
    let bounds = whole(shot);
    let floors: Vec<_> =
        shot.grounds.iter().filter_map(|ground| Floor::new(ground, &bounds, light.up)).collect();

    let mut image = Image::empty(size);
    let mut visible = Visibility::new(size);
    let mut shadows = Shadows::new(size, &light, count);
    let mut extent = None;
    for (n, pass) in passes.iter().enumerate() {
        let mut view = View::of_camera(&shot.camera, size, pass.offset);
        view.turn = pass.turn;
        scenery.begin(Turn::new(n, count));
        visible.clear();
        scenery.draw(&view, pass.moment, &visible);
        let extent = extent.get_or_insert_with(|| seen_extent(&view, &visible, &floors, bounds));
        shadows.sun.draw(&scenery, pass.sun, extent, pass.moment);
        shadows.sky.draw(&scenery, pass.sky, extent, pass.moment);
        let lights = Lights {
            light: &light,
            pass,
            sun: &shadows.sun,
            sky: &shadows.sky,
            sky_light: &sky_light,
            bounce: bounce(&light, &sky_light, &floors),
            sun_is_down: floors
                .iter()
                .any(|floor| floor.is_endless && floor.normal().dot(pass.sun) <= 0.0),
            eye: view.eye,
        };
        let look = Look { scenery: &scenery, floors: &floors, view: &view, lights: &lights };

        let Image { light, depth, velocity, .. } = &mut image;
        let rows = light
            .par_chunks_mut(size.width)
            .zip(depth.par_chunks_mut(size.width))
            .zip(velocity.par_chunks_mut(size.width));
        rows.enumerate().for_each(|(y, ((light, depth), velocity))| {
            for x in 0..size.width {
                let turn = pixel_turn(x, y) + pass.turn;
                let seen = look.along(&view.ray_through(x, y), visible.at(x, y), turn);
                light[x] += seen.light / count as f32;
                if n == 0 {
                    (depth[x], velocity[x]) = (seen.depth, seen.velocity);
                }
            }
        });
    }
    Ok(image)
}

/// The maps of what sun and sky do not reach, kept from pass to pass.
struct Shadows {
    sun: Shadow,
    sky: Shadow,
}

impl Shadows {
    /// As fine as the picture is. The more passes there are, the smaller a part of sun and sky is each one's.
    fn new(size: Size, light: &Light, count: usize) -> Self {
        let side = size.width.max(size.height).clamp(64, 4096);
        let part = 1.0 / (count as f32).sqrt();
        Self {
            sun: Shadow::new(3 * side / 2, 1.4 * part * light.sun_radius.tan(), 0.012),
            sky: Shadow::new(side / 2, 1.1 * part, 0.04),
        }
    }
}

/// A box around all Subjects; around what the camera looks at, if there is none.
fn whole(shot: &Shot<'_>) -> Bounds {
    let bounds = shot::bounds(&shot.subjects).unwrap_or_else(|| {
        let around = DVec3::splat(0.25 * shot.camera.eye.distance(shot.camera.target));
        Bounds { min: shot.camera.target - around, max: shot.camera.target + around }
    });
    grown(&bounds, 0.05)
}

/// A box with some more of itself on all sides.
fn grown(bounds: &Bounds, part: f64) -> Bounds {
    let more = DVec3::splat(part * bounds.size().max_element().max(1e-6));
    Bounds { min: bounds.min - more, max: bounds.max + more }
}

/// What maps of shadows have to hold: what is seen, of Subjects, and of grounds where their shadows can be.
fn seen_extent(view: &View, visible: &Visibility, floors: &[Floor], casters: Bounds) -> Extent {
    /// A look every so many pixels is enough: the box is grown.
    const STEP: usize = 3;
    let near = grown(&casters, 3.0);
    let (width, height) = (view.size.width, view.size.height);
    let seen =
        (0..height).step_by(STEP).flat_map(|y| (0..width).step_by(STEP).map(move |x| (x, y)));
    let places = seen.filter_map(|(x, y)| {
        let ray = view.ray_through(x, y);
        let (depth, primitive) = visible.at(x, y);
        let subject = (primitive != NONE).then_some(depth);
        let floor = floors.iter().filter_map(|floor| floor.meet(view, &ray));
        let depth = subject.into_iter().chain(floor).min_by(f32::total_cmp)?;
        let place = view.eye + ray.at(depth).as_dvec3();
        (place.cmpge(near.min).all() && place.cmple(near.max).all()).then_some(place)
    });
    let receivers = Bounds::around(places).map_or(casters, |seen| grown(&seen, 0.05));
    Extent { casters, receivers }
}

/// The light that comes back from below, over π: from a ground, or from the haze where there is none.
fn bounce(light: &Light, sky_light: &SkyLight, floors: &[Floor]) -> Vec3 {
    match floors.iter().find(|floor| floor.is_endless) {
        Some(floor) => {
            let sun = floor.normal().dot(light.sun).max(0.0) / PI * light.sun_colour;
            ALBEDO * (sun + sky_light.open(floor.normal()))
        }
        None => radiance(-light.up, light),
    }
}

/// What a line of sight ends at.
struct Seen {
    light: Vec4,
    depth: f32,
    velocity: Vec3,
}

/// All that a pass needs to say what a line of sight ends at.
struct Look<'a> {
    scenery: &'a Scenery<'a>,
    floors: &'a [Floor],
    view: &'a View,
    lights: &'a Lights<'a>,
}

impl Look<'_> {
    fn along(&self, ray: &Ray, (depth, primitive): (f32, u32), turn: f32) -> Seen {
        let depth = if primitive == NONE { f32::INFINITY } else { depth };
        let floor = self
            .floors
            .iter()
            .filter_map(|floor| Some((floor.meet(self.view, ray)?, floor)))
            .min_by(|(a, _), (b, _)| a.total_cmp(b))
            .filter(|(below, _)| *below < depth);
        match floor {
            Some((depth, floor)) => self.floor(ray, floor, depth, turn),
            None if primitive == NONE => {
                let light = radiance(ray.direction.normalize(), self.lights.light);
                Seen { light: light.extend(0.0), depth, velocity: Vec3::ZERO }
            }
            None => self.subject(ray, primitive, turn),
        }
    }

    fn floor(&self, ray: &Ray, floor: &Floor, depth: f32, turn: f32) -> Seen {
        let footing = floor.footing(self.view, ray, depth);
        let light = self.lights.light;
        let direction = ray.direction.normalize();
        let horizon = direction - direction.dot(light.up) * light.up;
        let horizon = radiance(horizon.normalize_or(light.up), light);
        let lit = match footing.faded < 0.999 {
            true => {
                let surface = Surface {
                    colour: footing.colour,
                    place: ray.at(depth),
                    normal: footing.normal,
                    towards: -direction,
                    tangent: None,
                };
                self.lights.matte(&surface, turn)
            }
            false => horizon,
        };
        let light = lit.lerp(horizon, footing.faded).extend(1.0 - footing.faded);
        Seen { light, depth, velocity: Vec3::ZERO }
    }

    fn subject(&self, ray: &Ray, primitive: u32, turn: f32) -> Seen {
        let hit = self.scenery.hit(primitive, self.view, self.lights.pass.moment, ray);
        let light = match hit.is_lit {
            true => {
                let surface = Surface {
                    colour: hit.colour,
                    place: ray.at(hit.depth),
                    normal: hit.normal,
                    towards: -ray.direction.normalize(),
                    tangent: hit.tangent,
                };
                self.lights.glossy(&surface, turn)
            }
            false => hit.colour,
        };
        Seen { light: light.extend(1.0), depth: hit.depth, velocity: hit.velocity }
    }
}
