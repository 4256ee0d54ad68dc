//! A picture of a mesh: a closed body of water whose surface is full of waves, on a ground, 1280 × 720 pixels, six passes with soft
//! shadows; opaque, and as water. Everything from triangles to light is timed, normals too.

use crate::Result;
use crate::harness::{Benchmark, Context, Outcome};
use crate::machine::peak_bytes_of;
use crate::report::Value;
use std::borrow::Cow;
use undine_core::glam::{DVec3, Vec3};
use undine_render::shot::{Camera, Colouring, Finish, Ground, Light, Mesh, Places, Shot, Subject};
use undine_render::{Image, Quality, Size, render};

/// The `render-mesh` benchmark.
pub const BENCHMARK: Benchmark = Benchmark {
    name: "render-mesh",
    doc: "a picture of a wavy pool of SIZE triangles, 1280 × 720, 6 passes, as water; opaque; a quarter and a sixteenth of it; one triangle is one unit",
    default_size: 1_000_000,
    peers: &[],
    run,
};

fn run(context: &Context) -> Result<Outcome> {
    let water = Finish::Water { absorption: Vec3::new(1.1, 0.28, 0.2) };
    let mut state = State::new(context.size, water);
    let count = |state: &State| state.triangles.len() as u64;
    let hash = |state: &State, hash: &mut crate::hash::StableHash| {
        if let Some(image) = &state.image {
            hash.write(bytemuck::cast_slice::<_, f32>(&image.depth));
            image.light.iter().for_each(|light| hash.write(&light.to_array()));
        }
    };
    let bytes = peak_bytes_of(|| state.render())?;
    let whole =
        context.work("triangles", count(&state)).measure(&mut state, State::render, hash)?;
    state.finish = Finish::Solid;
    let solid =
        context.work("triangles", count(&state)).measure(&mut state, State::render, hash)?;
    let mut quarter = State::new(context.size / 4, water);
    let work = context.work("triangles", count(&quarter));
    let quarter = work.measure(&mut quarter, State::render, hash)?;
    let mut sixteenth = State::new(context.size / 16, water);
    let work = context.work("triangles", count(&sixteenth));
    let sixteenth = work.measure(&mut sixteenth, State::render, hash)?;
    Ok(Outcome::new(whole)
        .mem_bytes(bytes)
        .with("triangles", Value::Count(count(&state)))
        .also("solid", solid)
        .also("quarter", quarter)
        .also("sixteenth", sixteenth))
}

struct State {
    places: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    finish: Finish,
    image: Option<Image>,
}

impl State {
    /// A pool of about so many triangles: all but few on its surface.
    fn new(count: usize, finish: Finish) -> Self {
        let side = ((count as f64 / 2.0).sqrt() as u32).max(2);
        let across = side + 1;
        let step = 3.2 / f64::from(side);
        let mut places = Vec::new();
        for i in 0..across {
            for j in 0..across {
                let (x, z) = (step * f64::from(i) - 1.6, step * f64::from(j) - 1.6);
                let away = (x - 0.3).hypot(z - 0.2);
                let rings = 0.12 * (24.0 * away).cos() * (-3.0 * away).exp();
                let waves = 0.03 * (5.0 * x + 2.0 * z).sin() + 0.015 * (17.0 * x + 11.0 * z).sin();
                places.push(DVec3::new(x, 0.5 + rings + waves, z));
            }
        }
        let mut triangles = Vec::new();
        for i in 0..side {
            for j in 0..side {
                let a = i * across + j;
                triangles.push([a, a + 1, a + across + 1]);
                triangles.push([a, a + across + 1, a + across]);
            }
        }
        // The wall, and a fan for the floor.
        let edge = (0..side)
            .map(|k| k * across)
            .chain((0..side).map(|k| side * across + k))
            .chain((0..side).map(|k| (side - k) * across + side))
            .chain((0..side).map(|k| side - k));
        let edge: Vec<u32> = edge.collect();
        let first = places.len() as u32;
        for &n in &edge {
            let above = places[n as usize];
            places.push(above.with_y(0.0));
        }
        let middle = places.len() as u32;
        places.push(DVec3::ZERO);
        for (k, &n) in edge.iter().enumerate() {
            let next = (k + 1) % edge.len();
            let (low, low_next) = (first + k as u32, first + next as u32);
            triangles.push([n, edge[next], low_next]);
            triangles.push([n, low_next, low]);
            triangles.push([low, low_next, middle]);
        }
        Self { places, triangles, finish, image: None }
    }

    fn render(&mut self) -> Result<()> {
        let mesh = Mesh {
            positions: Places::World(&self.places),
            triangles: Cow::Borrowed(&self.triangles),
            placed: None,
            normals: None,
            smooth: true,
            velocities: None,
            turning: None,
            values: None,
            colouring: Colouring::Plain(Vec3::new(0.2, 0.4, 0.6)),
            finish: self.finish,
        };
        let shot = Shot {
            subjects: vec![Subject::Mesh(mesh)],
            camera: Camera::new(DVec3::new(1.2, 2.1, 3.6), DVec3::Y * 0.35, DVec3::Y, 0.72)?,
            light: Light::default(),
            grounds: vec![Ground { point: DVec3::ZERO, normal: Vec3::Y }],
            shutter: 0.0,
        };
        self.image = Some(render(&shot, Size::new(1280, 720)?, Quality::PREVIEW)?);
        Ok(())
    }
}
