//! How much of the sun's and of the sky's light reaches each place of a volume, on nodes two and four voxels apart.
//!
//! Nodes are kept by block, those on its far sides included, so that a look-up stays within one block. Of the sun the eighth root
//! exp(−τ/8) is kept: squaring it three times gives what is left of the light in each octave of scattering.

use super::field::{Block, Field};
use super::tree::Found;
use super::walk::{Line, Walk};
use rayon::prelude::*;
use undine_core::glam::{DVec3, I64Vec3, Vec3, Vec4};

/// So much of the sun's light, at most, is looked for behind anything [optical depth].
const DARK: f32 = 60.0;

/// How many voxels a step towards a light takes.
const STRIDE: f64 = 2.0;

/// After so many voxels steps are twice as long.
const FAR: f64 = 48.0;

/// The light at the nodes of a volume's blocks.
pub(crate) struct NodeLight {
    /// Nodes along the side of a block, and voxels from one to the next.
    sun_nodes: (usize, usize),
    sky_nodes: (usize, usize),
    /// 65535 times exp(−τ/8) towards the sun.
    sun: Vec<u16>,
    /// 65535 times what reaches from above and from below.
    sky: Vec<[u16; 2]>,
    /// The greatest optical depth towards the sun.
    pub thickest: f32,
}

/// How thick volumes are along a half-line from a place in the world [optical depth].
pub(crate) fn thickness(fields: &[&Field<'_>], place: DVec3, towards: Vec3, stride: f64) -> f32 {
    let mut sum = 0.0;
    for field in fields {
        let line =
            Line { origin: field.in_voxels(Vec3::ZERO, place), direction: field.along(towards) };
        let voxels = line.direction.length();
        let mut walk = Walk::new(field, line, 0.0, f64::INFINITY);
        while let Some(piece) = walk.next(field, |block| block.range[1] > 0.0) {
            let block = &field.blocks[piece.block];
            let length = piece.to - piece.from;
            // What is far away is seen from many places, and need not be known as well.
            let stride = stride * (1.0 + piece.from * voxels / FAR);
            let count = (length * voxels / stride).ceil().clamp(1.0, 64.0);
            let step = (length / count) as f32;
            let move_on = step * line.direction.as_vec3();
            let mut at = piece.entry + 0.5 * move_on;
            let mut found = 0.0;
            for _ in 0..count as usize {
                found += field.density(block, at);
                at += move_on;
            }
            sum += field.volume.extinction * found * step;
            if sum > DARK {
                return sum;
            }
        }
    }
    sum
}

impl NodeLight {
    /// Of one of the volumes that light passes. `multiple` is how much light finds its way around what is dense.
    pub fn new(
        field: &Field<'_>,
        all: &[&Field<'_>],
        (sun, up): (Vec3, Vec3),
        multiple: f32,
    ) -> Self {
        let side = field.side();
        let sun_nodes = (side / 2 + 1, 2);
        let apart = side.min(4);
        let sky_nodes = (side / apart + 1, apart);
        let kept = |part: f32| (65535.0 * part).round() as u16;
        let sun = nodes(field, sun_nodes, u16::MAX, |place| {
            kept((-0.125 * thickness(all, place, sun, STRIDE)).exp())
        });
        let ways = sky_directions(up);
        let dimming = 1.0 - 0.5 * multiple;
        let sky = nodes(field, sky_nodes, [u16::MAX; 2], |place| {
            let reaches = |way: Vec3| (-dimming * thickness(all, place, way, 2.0 * STRIDE)).exp();
            let above = ways.iter().map(|&way| reaches(way)).sum::<f32>();
            [kept(above / ways.len() as f32), kept(reaches(-up))]
        });
        let darkest = sun.par_iter().copied().min().unwrap_or(u16::MAX).max(1);
        let thickest = -8.0 * (f32::from(darkest) / 65535.0).ln();
        Self { sun_nodes, sky_nodes, sun, sky, thickest }
    }

    /// exp(−τ/8) towards the sun at a place of a block [voxels from its corner].
    #[inline(always)]
    pub fn sun(&self, block: usize, place: Vec3) -> f32 {
        let (count, apart) = self.sun_nodes;
        let nodes = &self.sun[block * count * count * count..][..count * count * count];
        between(place, count, apart, |n| f32::from(nodes[n])) * (1.0 / 65535.0)
    }

    /// How much reaches a place of a block from above and from below.
    #[inline(always)]
    pub fn sky(&self, block: usize, place: Vec3) -> [f32; 2] {
        let (count, apart) = self.sky_nodes;
        let nodes = &self.sky[block * count * count * count..][..count * count * count];
        let found = between(place, count, apart, |n| {
            Vec4::new(f32::from(nodes[n][0]), f32::from(nodes[n][1]), 0.0, 0.0)
        });
        [found.x * (1.0 / 65535.0), found.y * (1.0 / 65535.0)]
    }

    /// How much memory it takes [bytes].
    pub fn memory(&self) -> usize {
        size_of_val(self.sun.as_slice()) + size_of_val(self.sky.as_slice())
    }
}

/// What nodes of each block have by their place in the world. Those on a far side are the first of the block above, if there is one.
fn nodes<T: Copy + Send + Sync>(
    field: &Field<'_>,
    (count, apart): (usize, usize),
    unseen: T,
    value: impl Fn(DVec3) -> T + Sync,
) -> Vec<T> {
    let own = count - 1;
    let side = field.side() as f64;
    let node = |block: &Block, at: [usize; 3]| {
        let own = DVec3::from_array(at.map(|c| (c * apart) as f64 + 0.5));
        value(field.volume.corner + field.volume.edges * (block.place.as_dvec3() * side + own))
    };
    let places = |count: usize| {
        (0..count.pow(3)).map(move |n| [n / (count * count), n / count % count, n % count])
    };
    // What is never looked at needs no light.
    let is_seen = |block: &Block| block.range[1] > 0.0;
    let mut firsts = vec![unseen; field.blocks.len() * own.pow(3)];
    let blocks = firsts.par_chunks_mut(own.pow(3)).zip(&field.blocks);
    blocks.filter(|(_, block)| is_seen(block)).for_each(|(nodes, block)| {
        nodes.iter_mut().zip(places(own)).for_each(|(kept, at)| *kept = node(block, at));
    });
    let mut all = vec![unseen; field.blocks.len() * count.pow(3)];
    let blocks = all.par_chunks_mut(count.pow(3)).zip(&field.blocks);
    blocks.filter(|(_, block)| is_seen(block)).for_each(|(nodes, block)| {
        for (kept, at) in nodes.iter_mut().zip(places(count)) {
            let above = I64Vec3::from_array(at.map(|c| (c / own) as i64));
            let [x, y, z] = at.map(|c| c % own);
            *kept = match field.tree.find(block.place + above) {
                Found::Block(n) if is_seen(&field.blocks[n]) => {
                    firsts[((n * own + x) * own + y) * own + z]
                }
                _ => node(block, at),
            };
        }
    });
    all
}

/// Between the nodes of a block.
#[inline(always)]
fn between<T>(place: Vec3, count: usize, apart: usize, value: impl Fn(usize) -> T) -> T
where
    T: Copy
        + std::ops::Add<Output = T>
        + std::ops::Sub<Output = T>
        + std::ops::Mul<f32, Output = T>,
{
    let at = place / apart as f32;
    let [x, y, z] = at.to_array().map(|c| (c as usize).min(count - 2));
    let part = at - Vec3::new(x as f32, y as f32, z as f32);
    let base = (x * count + y) * count + z;
    let mix = |a: T, b: T, t: f32| a + (b - a) * t;
    let row = |n: usize| mix(value(n), value(n + 1), part.z);
    let sheet = |n: usize| mix(row(n), row(n + count), part.y);
    mix(sheet(base), sheet(base + count * count), part.x)
}

/// Six ways to the sky: up, and five around it, 30° above the horizon (half of an icosahedron).
fn sky_directions(up: Vec3) -> [Vec3; 6] {
    let side = up.any_orthonormal_vector();
    let other = up.cross(side);
    std::array::from_fn(|n| {
        if n == 0 {
            return up;
        }
        let angle = n as f32 * std::f32::consts::TAU / 5.0;
        let flat = angle.cos() * side + angle.sin() * other;
        (0.447_213_6 * up + 0.894_427_2 * flat).normalize()
    })
}
