//! A picture of points: liquid that runs up a wall, in chunks as a Particle System keeps them, on a ground, 1280 × 720 pixels, six passes
//! with soft shadows and motion blur. Everything from the bare channels to light is timed.

use crate::Result;
use crate::harness::{Benchmark, Context, Outcome};
use crate::machine::peak_bytes_of;
use crate::random::point;
use crate::report::Value;
use undine_core::glam::{DVec3, Vec3};
use undine_render::shot::{
    Camera, Colouring, Framing, Ground, Light, Numbers, Places, PointChunk, Points, Radii, Shot,
    Subject, Vectors,
};
use undine_render::{ColourMap, Image, Quality, Size, render};

/// The `render-points` benchmark.
pub const BENCHMARK: Benchmark = Benchmark {
    name: "render-points",
    doc: "a picture of about SIZE points of a liquid, 1280 × 720, 6 passes; a quarter and a sixteenth of them; one point is one unit",
    default_size: 4_000_000,
    peers: &[],
    run,
};

fn run(context: &Context) -> Result<Outcome> {
    let hash = |state: &State, hash: &mut crate::hash::StableHash| {
        if let Some(image) = &state.image {
            hash.write(bytemuck::cast_slice::<_, f32>(&image.depth));
            image.light.iter().for_each(|light| hash.write(&light.to_array()));
        }
    };
    let mut state = State::new(context.size);
    let bytes = peak_bytes_of(|| state.render())?;
    let count = state.count();
    let whole = context.work("points", count).measure(&mut state, State::render, hash)?;
    let mut quarter = State::new(context.size / 4);
    let work = context.work("points", quarter.count());
    let quarter = work.measure(&mut quarter, State::render, hash)?;
    let mut sixteenth = State::new(context.size / 16);
    let work = context.work("points", sixteenth.count());
    let sixteenth = work.measure(&mut sixteenth, State::render, hash)?;
    Ok(Outcome::new(whole)
        .mem_bytes(bytes)
        .with("points", Value::Count(count))
        .also("quarter", quarter)
        .also("sixteenth", sixteenth))
}

/// The points of one Bucket: 8 in each of 4³ voxels where all of it is liquid.
struct Bucket {
    corner: DVec3,
    offsets: Vec<Vec3>,
    velocities: Vec<Vec3>,
}

struct State {
    buckets: Vec<Bucket>,
    /// How far points are from each other [m].
    spacing: f64,
    image: Option<Image>,
}

/// How high the liquid is at a place on the ground [m].
fn height(x: f64, z: f64) -> f64 {
    let run_up = 0.75 * (-(2.0 - x) / 0.25).exp();
    0.2 + run_up * (1.0 + 0.2 * (7.0 * z).sin()) + 0.02 * (9.0 * x + 5.0 * z).sin()
}

impl State {
    /// About so many points.
    fn new(count: usize) -> Self {
        const EACH: usize = 512;
        let (wide, deep, volume) = (2.0, 1.2, 0.72);
        let side = (volume / (count as f64 / EACH as f64)).cbrt();
        let across = |length: f64| (length / side).ceil() as u64;
        let mut buckets = Vec::new();
        for n in 0..across(wide) * across(1.2) * across(deep) {
            let (i, rest) = (n / (across(1.2) * across(deep)), n % (across(1.2) * across(deep)));
            let (j, k) = (rest / across(deep), rest % across(deep));
            let corner = side * DVec3::new(i as f64, j as f64, k as f64);
            let points = (0..EACH as u64).map(|m| side * point(n * EACH as u64 + m));
            let is_liquid = |offset: &DVec3| {
                let place = corner + *offset;
                place.x < wide && place.z < deep && place.y < height(place.x, place.z)
            };
            let offsets: Vec<Vec3> =
                points.filter(is_liquid).map(|offset| offset.as_vec3()).collect();
            if offsets.is_empty() {
                continue;
            }
            let velocity = |offset: &Vec3| {
                let place = corner.as_vec3() + *offset;
                Vec3::new(1.5 * (2.0 - place.x), 2.0 * place.y, 0.3 * (9.0 * place.x).sin())
            };
            let velocities = offsets.iter().map(velocity).collect();
            buckets.push(Bucket { corner, offsets, velocities });
        }
        Self { buckets, spacing: side / 8.0, image: None }
    }

    fn count(&self) -> u64 {
        self.buckets.iter().map(|bucket| bucket.offsets.len() as u64).sum()
    }

    fn render(&mut self) -> Result<()> {
        let chunks = self.buckets.iter().map(|bucket| PointChunk {
            positions: Places::Offsets { corner: bucket.corner, offsets: &bucket.offsets },
            radii: Radii::Same(0.5 * self.spacing as f32),
            velocities: Some(Vectors::Single(&bucket.velocities)),
            values: Some(Numbers::Vec3(&bucket.velocities)),
        });
        let points = Points {
            chunks: chunks.collect(),
            colouring: Colouring::Mapped { map: ColourMap::named("viridis")?, low: 0.0, high: 3.0 },
        };
        let bounds = points.bounds().ok_or("there are no points")?;
        let framing = Framing {
            from: DVec3::new(-0.35, 0.45, 1.0),
            up: DVec3::Y,
            field_of_view: 0.6,
            aspect: 16.0 / 9.0,
            margin: 0.05,
        };
        let shot = Shot {
            camera: Camera::framing(&bounds, &framing)?,
            subjects: vec![Subject::Points(points)],
            light: Light::default(),
            grounds: vec![Ground { point: DVec3::ZERO, normal: Vec3::Y }],
            shutter: 0.02,
        };
        self.image = Some(render(&shot, Size::new(1280, 720)?, Quality::PREVIEW)?);
        Ok(())
    }
}
