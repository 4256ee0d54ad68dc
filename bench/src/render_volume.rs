//! A picture of smoke: a turbulent plume that rises and leans over a ground, 1280 × 720 pixels, six passes with the light of sun and
//! sky in it and its shadow on the ground. Everything from voxels to light is timed.

use crate::Result;
use crate::harness::{Benchmark, Context, Outcome};
use crate::machine::peak_bytes_of;
use crate::random::unit;
use crate::report::Value;
use rayon::prelude::*;
use undine_core::glam::{DVec3, IVec3, Vec3};
use undine_render::shot::{Camera, Chunk, Ground, Light, Shot, Subject, Volume};
use undine_render::{Image, Quality, Size, render};

/// The `render-volume` benchmark.
pub const BENCHMARK: Benchmark = Benchmark {
    name: "render-volume",
    doc: "a picture of a sparse plume in a box of SIZE³ voxels, 1280 × 720, 6 passes; in one of half the side; a voxel that is kept is one unit",
    default_size: 256,
    peers: &[],
    run,
};

fn run(context: &Context) -> Result<Outcome> {
    let mut state = State::new(context.size);
    let count = |state: &State| state.cubes.len() as u64 * 512;
    let hash = |state: &State, hash: &mut crate::hash::StableHash| {
        if let Some(image) = &state.image {
            image.light.iter().for_each(|light| hash.write(&light.to_array()));
        }
    };
    let bytes = peak_bytes_of(|| state.render())?;
    let whole = context.work("voxels", count(&state)).measure(&mut state, State::render, hash)?;
    let mut half = State::new(context.size / 2);
    let work = context.work("voxels", count(&half));
    let half = work.measure(&mut half, State::render, hash)?;
    Ok(Outcome::new(whole)
        .mem_bytes(bytes)
        .with("voxels", Value::Count(count(&state)))
        .also("half", half))
}

struct State {
    /// The side of a voxel [m].
    voxel: f64,
    cubes: Vec<(IVec3, Vec<f32>)>,
    image: Option<Image>,
}

impl State {
    /// A plume in a box of so many voxels along each side.
    fn new(side: usize) -> Self {
        let across = (side / 8).max(1) as i32;
        let part = 1.0 / (8 * across) as f32;
        let cubes = (0..across.pow(3)).into_par_iter().filter_map(|n| {
            let place = IVec3::new(n / (across * across), n / across % across, n % across);
            let values = (0..512).map(|k| {
                let own = IVec3::new(k >> 6, k >> 3 & 7, k & 7);
                plume(((8 * place + own).as_vec3() + 0.5) * part)
            });
            let values: Vec<f32> = values.collect();
            values.iter().any(|&density| density > 0.0).then_some((place, values))
        });
        Self { voxel: 4.0 * f64::from(part), cubes: cubes.collect(), image: None }
    }

    fn render(&mut self) -> Result<()> {
        let chunks = self.cubes.iter().map(|(place, density)| Chunk {
            place: *place,
            density,
            temperature: None,
            values: None,
        });
        let corner = DVec3::new(-2.0, 0.0, -2.0);
        let smoke = Volume::smoke(corner, self.voxel, chunks.collect());
        let eye = DVec3::new(1.0, 2.2, 7.5);
        let shot = Shot {
            subjects: vec![Subject::Volume(Volume { extinction: 14.0, ..smoke })],
            camera: Camera::new(eye, DVec3::new(0.1, 1.65, 0.0), DVec3::Y, 0.55)?,
            light: Light::default(),
            grounds: vec![Ground { point: DVec3::ZERO, normal: Vec3::Y }],
            shutter: 0.0,
        };
        self.image = Some(render(&shot, Size::new(1280, 720)?, Quality::PREVIEW)?);
        Ok(())
    }
}

/// How dense a plume is at a place of the unit cube: a cone that widens as it rises, with billows on it.
fn plume(place: Vec3) -> f32 {
    let Vec3 { y, .. } = place;
    let middle = Vec3::new(0.36 + 0.25 * y * y, y, 0.5);
    let wide = 0.04 + 0.2 * y;
    let inside = (wide - place.distance(middle)) / (0.1 + 0.3 * wide);
    if !(0.02..0.9).contains(&y) || inside < -1.2 {
        return 0.0;
    }
    let (mut billows, mut size, mut part) = (0.0, 9.0, 1.0);
    for _ in 0..5 {
        billows += part * (2.0 * noise(size * place) - 1.0).abs();
        (size, part) = (2.03 * size, 0.55 * part);
    }
    (4.0 * (inside + billows - 0.75)).clamp(0.0, 1.0)
}

/// Smooth noise, 0 to 1, between values at whole numbers.
fn noise(place: Vec3) -> f32 {
    let low = place.floor();
    let part = place - low;
    let part = part * part * (3.0 - 2.0 * part);
    let [x, y, z] = low.to_array().map(|c| c as u64);
    let at =
        |n: u64| unit(((x + (n >> 2)) << 20 | (y + (n >> 1 & 1))) << 20 | (z + (n & 1))) as f32;
    let mix = |a: f32, b: f32, t: f32| a + t * (b - a);
    let row = |n: u64| mix(at(n), at(n + 1), part.z);
    let sheet = |n: u64| mix(row(n), row(n + 2), part.y);
    mix(sheet(0), sheet(4), part.x)
}
