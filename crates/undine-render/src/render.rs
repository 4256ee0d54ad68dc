//! A picture of a Shot.

use crate::error::Result;
use crate::image::{Image, Size};
use crate::march::{Media, Sight};
use crate::pass::{Pass, pixel_turn};
use crate::raster::{Known, NONE, Scenery, Turn, View, Visibility};
use crate::shade::water::{Caustics, Layer, Look, Through, Waters, ambient};
use crate::shade::{ALBEDO, Extent, Floor, Lights, Opaque, Seen, Shadow, SkyLight, radiance};
use crate::shot::{self, Light, Shot};
use rayon::prelude::*;
use std::f32::consts::PI;
use undine_core::glam::{DVec3, Vec3, Vec4, Vec4Swizzles};
use undine_core::mesh::Bounds;

/// How carefully a picture is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quality {
    /// How many passes are averaged.
    pub passes: usize,
}

impl Quality {
    /// For a look while a run goes on.
    pub const PREVIEW: Self = Self { passes: 6 };
    /// For a picture to keep.
    pub const FINAL: Self = Self { passes: 32 };
}

/// Makes a picture: the average of its passes. The same bytes for any number of threads.
pub fn render(shot: &Shot<'_>, size: Size, quality: Quality) -> Result<Image> {
    let size = Size::new(size.width, size.height)?;
    shot.camera.check()?;
    let mut known = Known::default();
    let mut scenery = Scenery::of(&shot.subjects, &mut known)?;
    let waters = Waters::of(&shot.subjects, &mut known)?;
    let media = Media::of(shot)?;
    let light = shot.light.sound();
    let count = quality.passes.max(1);
    let passes: Vec<_> = (0..count).map(|n| Pass::new(n, count, &light, shot.shutter)).collect();
    let sky_light = SkyLight::new(&light, &passes);
    let bounds = whole(shot);
    let floors: Vec<_> =
        shot.grounds.iter().filter_map(|ground| Floor::new(ground, &bounds, light.up)).collect();
    // Many passes look at many places of a voxel; each can take longer steps.
    let stride = if count < 4 { 0.5 } else { (count as f32 / 3.0).clamp(1.0, 2.0) };

    let mut image = Image::empty(size);
    let mut visible = Visibility::new(size);
    let mut shadows = Shadows::new(size, &light, count);
    let mut wet = (!waters.is_empty()).then(|| Wet::new(size));
    let mut caustics = (!waters.is_empty()).then(Caustics::new);
    let mut extent = None;
    for (n, pass) in passes.iter().enumerate() {
        // What is nearest in each pixel, to the camera, to the sun, and to a part of the sky.
        let mut view = View::of_camera(&shot.camera, size, pass.offset);
        view.turn = pass.turn;
        scenery.begin(Turn::new(n, count));
        visible.clear();
        scenery.draw(&view, pass.moment, &visible);
        let extent = extent.get_or_insert_with(|| seen_extent(&view, &visible, &floors, bounds));
        shadows.sun.draw(&scenery, pass.sun, extent, pass.moment);
        shadows.sky.draw(&scenery, pass.sky, extent, pass.moment);
        if let Some(caustics) = &mut caustics {
            let ball = (bounds.centre(), scale_of(&bounds));
            caustics.follow(&waters, pass.sun, ball, pass.moment, |view, pixel| {
                let ray = view.ray(pixel);
                let floors = floors.iter().filter_map(|floor| floor.meet(view, &ray));
                floors.fold(shadows.sun.nearest(view, pixel), f32::min)
            });
        }

        // The light of each pixel.
        let level = floors.first().map_or(light.up, |floor| floor.normal());
        let lights = Lights {
            light: &light,
            pass,
            sun: &shadows.sun,
            sky: &shadows.sky,
            caustics: caustics.as_ref(),
            media: &media,
            sky_light: &sky_light,
            level: (level, sky_light.of_pass(pass, level)),
            bounce: bounce(&light, &sky_light, &floors),
            sun_is_down: floors
                .iter()
                .any(|floor| floor.is_endless && floor.normal().dot(pass.sun) <= 0.0),
            eye: view.eye,
        };
        let opaque = Opaque { scenery: &scenery, floors: &floors, view: &view, lights: &lights };
        let seen = |x: usize, y: usize| {
            let turn = pixel_turn(x, y) + pass.turn;
            opaque.along(&view.ray_through(x, y), visible.at(x, y), turn)
        };
        let through_smoke = |x: usize, y: usize, seen: Seen| {
            let ray = view.ray_through(x, y);
            let jitter = (pixel_turn(x, y) + pass.turn).fract();
            let sight = Sight { view: &view, ray, until: seen.depth, jitter, stride };
            in_front(&media, &sight, &opaque, seen)
        };
        let share = 1.0 / count as f32;
        match &mut wet {
            None => image.add(share, n == 0, |x, y| through_smoke(x, y, seen(x, y))),
            Some(wet) => {
                let Wet { layer, behind } = wet;
                draw_behind(behind, size, seen);
                let depth = |x: usize, y: usize| behind[y * size.width + x].depth;
                layer.draw(&waters, &view, pass.moment, scale_of(&bounds), &depth);
                let look = Look {
                    through: Through {
                        waters: &waters,
                        layer,
                        view: &view,
                        moment: pass.moment,
                        behind: depth,
                    },
                    around: &opaque,
                    opaque: |x: usize, y: usize| behind[y * size.width + x].light.xyz(),
                    has_things: !scenery.is_empty(),
                    ambient: ambient(&opaque),
                };
                image.add(share, n == 0, |x, y| {
                    let found = match layer.at(x, y, depth(x, y)) {
                        None => behind[y * size.width + x],
                        Some(column) => look.of(&view.ray_through(x, y), &column, (x, y)),
                    };
                    through_smoke(x, y, found)
                });
            }
        }
    }
    Ok(image)
}

/// How much memory the volumes of a Shot take while it is drawn, beyond their own [bytes].
pub fn memory_of_volumes(shot: &Shot<'_>) -> Result<usize> {
    Ok(Media::of(shot)?.memory())
}

impl Image {
    /// Adds a share of what is seen in each pixel; its depth and its velocity, too, if this is the pass that they are of.
    fn add(&mut self, share: f32, is_first: bool, seen: impl Fn(usize, usize) -> Seen + Sync) {
        let width = self.size.width;
        let rows = self
            .light
            .par_chunks_mut(width)
            .zip(self.depth.par_chunks_mut(width))
            .zip(self.velocity.par_chunks_mut(width));
        rows.enumerate().for_each(|(y, ((light, depth), velocity))| {
            for x in 0..width {
                let seen = seen(x, y).sound();
                light[x] += share * seen.light;
                if is_first {
                    (depth[x], velocity[x]) = (seen.depth, seen.velocity);
                }
            }
        });
    }
}

/// What is seen through the volumes in front of it.
fn in_front(media: &Media<'_>, sight: &Sight<'_>, opaque: &Opaque<'_>, seen: Seen) -> Seen {
    if media.is_empty() {
        return seen;
    }
    let lights = opaque.lights;
    let met = media.meet(sight, |place| match opaque.scenery.is_empty() {
        true => 1.0,
        false => lights.sun.reaches(place, lights.eye, lights.pass.sun, sight.jitter),
    });
    let light = met.behind * seen.light + met.light.extend(1.0 - met.behind);
    Seen { light, ..seen }
}

/// What a Shot with water needs besides.
struct Wet {
    layer: Layer,
    /// What is seen of what is opaque, in each pixel of a pass: water shows it bent.
    behind: Vec<Seen>,
}

impl Wet {
    fn new(size: Size) -> Self {
        let nothing = Seen { light: Vec4::ZERO, depth: f32::INFINITY, velocity: Vec3::ZERO };
        Self { layer: Layer::new(size), behind: vec![nothing; size.pixels()] }
    }
}

/// Keeps what is seen of what is opaque.
fn draw_behind(behind: &mut [Seen], size: Size, seen: impl Fn(usize, usize) -> Seen + Sync) {
    behind.par_chunks_mut(size.width).enumerate().for_each(|(y, row)| {
        for (x, behind) in row.iter_mut().enumerate() {
            *behind = seen(x, y);
        }
    });
}

/// The radius of a ball around a box [m].
fn scale_of(bounds: &Bounds) -> f32 {
    (0.5 * bounds.size().length()).max(1e-6) as f32
}

/// The maps of what sun and sky do not reach, kept from pass to pass.
struct Shadows {
    sun: Shadow,
    sky: Shadow,
}

impl Shadows {
    /// About as fine as the picture is; finer where a few passes have to do, which do not make up for steps of the map. The more passes
    /// there are, the smaller a part of sun and sky is each one's.
    fn new(size: Size, light: &Light, count: usize) -> Self {
        let side = size.width.max(size.height).clamp(64, 4096);
        let part = 1.0 / (count as f32).sqrt();
        let (sun, sky) =
            if count < 6 { (3 * side / 2, side / 2) } else { (4 * side / 5, side / 3) };
        Self {
            sun: Shadow::new(sun, 1.4 * part * light.sun_radius.tan(), 0.012, count),
            sky: Shadow::new(sky, 1.1 * part, 0.04, count),
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
