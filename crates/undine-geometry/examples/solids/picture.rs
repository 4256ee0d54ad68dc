//! Looking at a solid by sphere tracing (Hart 1996), and a sheet of such pictures.

use rayon::prelude::*;
use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use undine_core::glam::DVec3;
use undine_geometry::Solid;

/// Pixels along the side of a tile.
pub const TILE: usize = 240;
/// Pixels along the side of a pixel that are averaged.
const SAMPLES: usize = 2;

type Pixel = [f64; 3];

/// The solid, framed by its bounds, on a light ground.
pub fn look_at(solid: &dyn Solid, side: usize) -> Vec<Pixel> {
    let bounds = solid.bounds();
    let centre = bounds.map_or(DVec3::ZERO, |bounds| bounds.centre());
    let radius = bounds.map_or(1.0, |bounds| 0.5 * bounds.size().length()).max(1e-9);
    // The boxes around level sets are loose.
    let lowest = bounds.map_or(-1.0, |bounds| bounds.min.z);
    let ground = lowest.max(centre.z - 0.75 * radius);
    let eye = centre + radius * DVec3::new(2.3, -2.9, 1.9);
    let forward = (centre - eye).normalize();
    let right = forward.cross(DVec3::Z).normalize();
    let up = right.cross(forward);
    let scene = Scene { solid, eye, radius, ground, centre };
    (0..side * side)
        .into_par_iter()
        .map(|pixel| {
            let mut colour = DVec3::ZERO;
            for sample in 0..SAMPLES * SAMPLES {
                let part = |n: usize| (n as f64 + 0.5) / SAMPLES as f64;
                let along = |pixel: usize, part: f64| (pixel as f64 + part) / side as f64 - 0.5;
                let x = along(pixel % side, part(sample % SAMPLES));
                let y = along(pixel / side, part(sample / SAMPLES));
                colour += scene.colour((forward + 0.62 * (x * right - y * up)).normalize());
            }
            (colour / (SAMPLES * SAMPLES) as f64).to_array()
        })
        .collect()
}

struct Scene<'a> {
    solid: &'a dyn Solid,
    eye: DVec3,
    centre: DVec3,
    radius: f64,
    ground: f64,
}

impl Scene<'_> {
    /// What the eye sees in a direction, linear from 0 to 1.
    fn colour(&self, direction: DVec3) -> DVec3 {
        let sun = DVec3::new(0.45, -0.35, 0.82).normalize();
        let sky =
            DVec3::new(0.80, 0.86, 0.93).lerp(DVec3::new(0.45, 0.6, 0.8), direction.z.max(0.0));
        let to_ground = (self.ground - self.eye.z) / direction.z;
        let farthest = if to_ground > 0.0 { to_ground } else { 12.0 * self.radius };
        if let Some(at) = self.trace(self.eye, direction, farthest) {
            let normal = self.solid.nearest(at).normal;
            let normal = if normal.dot(direction) > 0.0 { -normal } else { normal };
            let lit = normal.dot(sun).max(0.0) * self.light(at + 2e-3 * self.radius * normal, sun);
            let around = (0.5 + 0.5 * normal.z) * self.openness(at, normal);
            let gloss = (sun - direction).normalize().dot(normal).max(0.0).powi(40) * lit;
            let clay = DVec3::new(0.25, 0.52, 0.62);
            return clay * (0.95 * lit + 0.42 * around * DVec3::new(0.9, 1.0, 1.15)) + 0.25 * gloss;
        }
        if to_ground <= 0.0 {
            return sky;
        }
        let at = self.eye + to_ground * direction;
        let shade = 0.45 + 0.55 * self.light(at, sun);
        let near = self.openness(at, DVec3::Z);
        let fade = (at.truncate().distance(self.centre.truncate()) / (5.0 * self.radius)).min(1.0);
        (DVec3::splat(0.82) * shade * (0.5 + 0.5 * near)).lerp(sky, fade * fade)
    }

    /// The first place on the surface.
    fn trace(&self, from: DVec3, direction: DVec3, farthest: f64) -> Option<DVec3> {
        let mut gone = 0.0;
        for _ in 0..400 {
            let at = from + gone * direction;
            let free = self.solid.distance(at);
            if free < 2e-4 * self.radius {
                return Some(at);
            }
            // Distances between voxels are not quite exact.
            gone += 0.85 * free;
            if gone > farthest {
                return None;
            }
        }
        None
    }

    /// How much of the sun reaches a place: less, the nearer something is to the way.
    fn light(&self, from: DVec3, sun: DVec3) -> f64 {
        let (mut gone, mut light) = (0.02 * self.radius, 1.0_f64);
        while gone < 4.0 * self.radius {
            let free = self.solid.distance(from + gone * sun);
            // Level sets do not know distances beyond their band: only what is very near dims the light.
            light = light.min(70.0 * free / gone);
            if light <= 0.0 {
                return 0.0;
            }
            gone += (0.8 * free).max(4e-3 * self.radius);
        }
        light
    }

    /// How open the surroundings of a place are: distances along the normal, against what they would be.
    fn openness(&self, at: DVec3, normal: DVec3) -> f64 {
        let hidden = |n: i32| {
            let step = 0.014 * f64::from(n) * self.radius;
            (step - self.solid.distance(at + step * normal)).max(0.0) / step * 0.5_f64.powi(n - 1)
        };
        (1.0 - 0.5 * (1..=5).map(hidden).sum::<f64>()).clamp(0.0, 1.0)
    }
}

/// Tiles in rows, written when all are there.
pub struct Sheet {
    path: PathBuf,
    unfinished: PathBuf,
    file: File,
    columns: usize,
    tiles: Vec<Vec<Pixel>>,
}

impl Sheet {
    /// A sheet for a file that is there whole or not at all.
    pub fn new(path: &str, columns: usize) -> Result<Self, Box<dyn Error>> {
        let unfinished = Path::new(path).with_extension("png.part");
        let file =
            File::create(&unfinished).map_err(|why| format!("cannot write {path}: {why}"))?;
        Ok(Self { path: path.into(), unfinished, file, columns, tiles: Vec::new() })
    }

    /// Adds a tile behind the others.
    pub fn add(&mut self, tile: &[Pixel]) {
        self.tiles.push(tile.to_vec());
    }

    /// Writes all tiles.
    pub fn write(self) -> Result<(), Box<dyn Error>> {
        let rows = self.tiles.len().div_ceil(self.columns);
        let (width, height) = (self.columns * TILE, rows * TILE);
        let mut bytes = vec![255; 3 * width * height];
        for (n, tile) in self.tiles.iter().enumerate() {
            let (left, top) = (n % self.columns * TILE, n / self.columns * TILE);
            for (pixel, colour) in tile.iter().enumerate() {
                let at = (top + pixel / TILE) * width + left + pixel % TILE;
                let shown =
                    colour.map(|c| (255.0 * c.clamp(0.0, 1.0).powf(1.0 / 2.2)).round() as u8);
                bytes[3 * at..3 * at + 3].copy_from_slice(&shown);
            }
        }
        let mut encoder =
            png::Encoder::new(BufWriter::new(&self.file), width as u32, height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.write_header()?.write_image_data(&bytes)?;
        std::fs::rename(self.unfinished, self.path)?;
        Ok(())
    }
}
