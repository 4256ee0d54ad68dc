//! A sparse volume of a formula: cubes of 8³ voxels, where there is something.

use rayon::prelude::*;
use undine_core::glam::{DVec3, IVec3, Vec3};
use undine_render::shot::{Appearance, Chunk, Volume};

/// Voxels along each side of the volume.
const SIDE: i32 = 256;
/// How wide it is [m].
const WIDTH: f64 = 4.0;

/// What a voxel holds.
#[derive(Clone, Copy, Default)]
pub struct Gas {
    pub density: f32,
    /// [K]
    pub temperature: f32,
}

/// A cube of voxels.
pub struct Cube {
    place: IVec3,
    density: Vec<f32>,
    temperature: Vec<f32>,
}

/// The cubes of gas by a formula of places from 0 to 1.
pub fn filled(gas: impl Fn(Vec3) -> Gas + Sync) -> Vec<Cube> {
    let cubes = SIDE / 8;
    let cube = |n: i32| {
        let place = IVec3::new(n / (cubes * cubes), n / cubes % cubes, n % cubes);
        let voxels = (0..512).map(|n| {
            let own = IVec3::new(n >> 6, n >> 3 & 7, n & 7);
            gas(((8 * place + own).as_vec3() + 0.5) / SIDE as f32)
        });
        let (density, temperature): (Vec<f32>, Vec<f32>) =
            voxels.map(|gas| (gas.density, gas.temperature)).unzip();
        density.iter().any(|&dense| dense > 0.0).then_some(Cube { place, density, temperature })
    };
    (0..cubes.pow(3)).into_par_iter().filter_map(cube).collect()
}

/// The volume of cubes, which stands on the ground around the origin.
pub fn volume(cubes: &[Cube], extinction: f32, appearance: Appearance) -> Volume<'_> {
    let chunks = cubes.iter().map(chunk_of).collect();
    let corner = DVec3::new(-0.5 * WIDTH, 0.0, -0.5 * WIDTH);
    let voxel = WIDTH / f64::from(SIDE);
    Volume { extinction, appearance, ..Volume::smoke(corner, voxel, chunks) }
}

fn chunk_of(cube: &Cube) -> Chunk<'_> {
    Chunk {
        place: cube.place,
        density: &cube.density,
        temperature: Some(&cube.temperature),
        values: None,
    }
}
