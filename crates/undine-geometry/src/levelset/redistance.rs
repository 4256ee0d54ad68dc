//! Making any field whose zero set is a surface the distance to that surface, in a band around it.
//!
//! The surface stays where it is: voxels next to it get distances that are accurate to a small part of a voxel
//! (`near`), and keep them. From there |∇φ| = 1 is solved outwards by passes of upwind differences, of second
//! order where two voxels upwind are known (J. Sethian, *Fast Marching Methods*, SIAM Review 41 (1999), §4.3), else of
//! first. Each pass reads one channel and writes the other, so that neither Buckets nor threads nor processes show in
//! a single bit. A front advances by at least 1/√3 of a voxel per pass, whatever way it faces; in a band a few voxels
//! wide that is the same few passes that sweeping needs, without its order.

use super::near::{self, Row};
use super::{Beyond, LevelSet, VOXELS};
use crate::error::{GeometryError, Result, positive};
use multiversion::multiversion;
use undine_core::access::{Here, Pad, Tile, VoxelNeighbourhood};
use undine_core::domain::direction;
use undine_core::volume::VoxelShape;
use undine_core::{Accessor, DiscreteVolume, GridDomain, Handle};

/// Two channels of cells: what holds the distances [m], and where a pass writes. They are alike in shape and background.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DistanceChannels {
    /// The distances.
    pub distance: Handle<f32>,
    /// What it holds before and after means nothing.
    pub next: Handle<f32>,
}

/// Makes a channel the signed distance [m] to its own zero set, within `width` [m] of it; voxels farther away hold ±
/// `width`. Inside is what is below zero; what is no number counts as outside. Collective.
///
/// Where there are no Buckets, `beyond` says which side it is; see [`Beyond::find`].
pub fn redistance(
    domain: &GridDomain,
    volume: &mut DiscreteVolume,
    channels: DistanceChannels,
    width: f64,
    beyond: &Beyond,
) -> Result<()> {
    let width = positive("the width of a band", width)? as f32;
    let voxel = domain.frame().voxel_size(0) as f32;
    let voxels = f64::from(width) / f64::from(voxel);
    if voxels > MOST_VOXELS {
        return Err(GeometryError::BadParameter {
            what: "the width of a band in voxels",
            found: voxels,
            wanted: "at most 100000",
        });
    }
    let DistanceChannels { distance, next } = channels;
    let accessor = Accessor::new("measure next to the surface", domain).over(volume.topology());
    let tile = || Tile::new(VoxelShape::CELLS.resolution, Pad::both(1), width);
    accessor.run_with(
        (volume.around(distance, 1), volume.write(next)),
        tile,
        |tile, here, (around, to)| {
            around.load(tile);
            make_finite(tile.values_mut(), width);
            beyond.fill(here, tile, -width);
            near::measure(tile, voxel, width, chunk_mut(to));
        },
    )?;
    volume.swap(distance, next)?;

    let ends = Ends { inside: [-width; VOXELS], outside: [width; VOXELS] };
    for pass in 0..passes(voxels) {
        // A voxel so near to the surface has seen all that it depends on.
        let settled = 0.5 * pass as f32 * voxel;
        let accessor = Accessor::new("march outwards", domain).over(volume.topology());
        accessor.run((volume.around(distance, 2), volume.write(next)), |here, (around, to)| {
            march(&ends.around(here, &around, beyond), voxel, width, settled, chunk_mut(to));
        })?;
        volume.swap(distance, next)?;
    }
    Ok(())
}

/// Wider bands would take longer than anyone waits.
const MOST_VOXELS: f64 = 1e5;

impl LevelSet {
    /// Makes the distances those to the surface again, which stays where it is: after something has changed them by
    /// other amounts. The Buckets stay; see [`Self::rebuild`]. Collective.
    pub fn redistance(&mut self) -> Result<()> {
        self.find_beyond()?;
        let channels = DistanceChannels { distance: self.distance, next: self.next };
        let width = f64::from(self.width);
        redistance(&self.domain, &mut self.volume, channels, width, &self.beyond)?;
        self.find_beyond()
    }
}

/// How many passes bring distances as far as so many voxels.
///
/// Voxels next to the surface are known, and those beside them are at least 1/√3 of a voxel away from it.
fn passes(voxels: f64) -> usize {
    (voxels * 3.0_f64.sqrt()).ceil() as usize
}

/// NaN lies outside, and infinity within reach.
fn make_finite(values: &mut [f32], width: f32) {
    const FAR: f32 = 1e30;
    for value in values {
        *value = if value.is_nan() { width } else { value.clamp(-FAR, FAR) };
    }
}

pub(super) fn chunk_mut(voxels: &mut [f32]) -> &mut [f32; VOXELS] {
    voxels.try_into().expect("a chunk of 8³ voxels")
}

/// What Buckets hold that do not exist.
struct Ends {
    inside: [f32; VOXELS],
    outside: [f32; VOXELS],
}

/// The voxels of a Bucket and of those across its faces.
struct Cross<'a> {
    own: &'a [[Row; 8]; 8],
    /// Below and above along x, y and z.
    sides: [[&'a [[Row; 8]; 8]; 2]; 3],
}

impl Ends {
    fn around<'a>(
        &'a self,
        here: Here<'_>,
        around: &VoxelNeighbourhood<'a, f32>,
        beyond: &Beyond,
    ) -> Cross<'a> {
        let chunk = |x: i32, y: i32, z: i32| {
            let voxels: &[f32] = if around.exists(x, y, z) {
                around.neighbour(x, y, z)
            } else if beyond.inside_around(here.slot) >> direction(x, y, z) & 1 != 0 {
                &self.inside
            } else {
                &self.outside
            };
            rows(voxels)
        };
        Cross {
            own: chunk(0, 0, 0),
            sides: [
                [chunk(-1, 0, 0), chunk(1, 0, 0)],
                [chunk(0, -1, 0), chunk(0, 1, 0)],
                [chunk(0, 0, -1), chunk(0, 0, 1)],
            ],
        }
    }
}

fn rows(chunk: &[f32]) -> &[[Row; 8]; 8] {
    bytemuck::cast_slice(chunk)[..8].try_into().expect("a chunk of 8³ voxels")
}

impl Cross<'_> {
    /// The row at x and y, of which one may lie up to two voxels outside.
    #[inline(always)]
    fn row(&self, x: usize, y: usize, along: usize, step: isize) -> &Row {
        let mut at = [x as isize, y as isize];
        at[along] += step;
        let within = [(at[0] & 7) as usize, (at[1] & 7) as usize];
        let from = match at[along] >> 3 {
            0 => self.own,
            -1 => self.sides[along][0],
            _ => self.sides[along][1],
        };
        &from[within[0]][within[1]]
    }

    /// The row at x and y with the two voxels before and behind it.
    #[inline(always)]
    fn padded(&self, x: usize, y: usize) -> [f32; 12] {
        let (own, [below, above]) = (&self.own[x][y], self.sides[2]);
        let (below, above) = (&below[x][y], &above[x][y]);
        std::array::from_fn(|z| match z {
            0 | 1 => below[z + 6],
            2..10 => own[z - 2],
            _ => above[z - 10],
        })
    }
}

/// Gives every voxel the distance that follows from its neighbours, but for those next to the surface and those nearer
/// than `settled`, which stay.
#[multiversion(targets("x86_64+avx2"))]
fn march(around: &Cross<'_>, voxel: f32, width: f32, settled: f32, to: &mut [f32; VOXELS]) {
    let (rows, _) = to.as_chunks_mut::<8>();
    for (place, to) in rows.iter_mut().enumerate() {
        let (x, y) = (place >> 3, place & 7);
        let own = around.own[x][y];
        let nearest = |row: &Row| row.iter().fold(f32::INFINITY, |near, v| near.min(v.abs()));
        let farthest = own.iter().fold(0.0_f32, |far, v| far.max(v.abs()));
        *to = own;
        if farthest < settled {
            continue;
        }
        let one = [
            [around.row(x, y, 0, -1), around.row(x, y, 0, 1)],
            [around.row(x, y, 1, -1), around.row(x, y, 1, 1)],
        ];
        let padded = around.padded(x, y);
        let beside = one.as_flattened().iter().map(|row| nearest(row));
        let ends = padded[1].abs().min(padded[10].abs()).min(nearest(&own));
        if beside.fold(ends, f32::min) >= width {
            continue;
        }
        let two = [
            [around.row(x, y, 0, -2), around.row(x, y, 0, 2)],
            [around.row(x, y, 1, -2), around.row(x, y, 1, 2)],
        ];
        for z in 0..8 {
            let sign = if own[z] < 0.0 { -1.0 } else { 1.0 };
            let along = |axis: usize| {
                let [[a, b], [c, d]] = [one[axis], two[axis]];
                upwind(sign * a[z], sign * b[z], sign * c[z], sign * d[z])
            };
            let [below, above] = [sign * padded[z + 1], sign * padded[z + 3]];
            let along_z = upwind(below, above, sign * padded[z], sign * padded[z + 4]);
            let sides = [along(0), along(1), along_z];
            let distance = eikonal(&sides, voxel).min(width);
            let lowest = sides[0].first.min(sides[1].first).min(sides[2].first);
            let stays = lowest < 0.0 || sign * own[z] < settled;
            to[z] = if stays { own[z] } else { sign * distance };
        }
    }
}

/// What lies upwind along an axis.
#[derive(Clone, Copy)]
struct Upwind {
    /// The nearer of the two neighbours.
    first: f32,
    /// w and t of the term w (u − t)² that the axis adds: (u − u₁)², or ¼ (3u − 4u₁ + u₂)² where u₂ is upwind of u₁.
    weight: f32,
    target: f32,
}

#[inline(always)]
fn upwind(low: f32, high: f32, low_two: f32, high_two: f32) -> Upwind {
    let (first, second) = if low <= high { (low, low_two) } else { (high, high_two) };
    let two = second <= first;
    Upwind {
        first,
        weight: if two { 2.25 } else { 1.0 },
        target: if two { (4.0 * first - second) * (1.0 / 3.0) } else { first },
    }
}

/// The u that solves Σ w (u − t)² = h² over the axes whose upwind neighbour is nearer than u.
#[inline(always)]
fn eikonal(sides: &[Upwind; 3], h: f32) -> f32 {
    // Of first order: with the nearest neighbour alone, then with two, then with all three.
    let [p, q, r] = [sides[0].first, sides[1].first, sides[2].first];
    let (low, high) = (p.min(q), p.max(q));
    let a = low.min(r);
    let b = high.min(low.max(r));
    let c = high.max(r);
    let one = a + h;
    let (d, hh) = (b - a, h * h);
    let two = 0.5 * ((a + b) + (2.0 * hh - d * d).max(0.0).sqrt());
    // Relative to a, so that nothing large cancels.
    let e = c - a;
    let sum = d + e;
    let three = a + (sum + (sum * sum - 3.0 * (d * d + e * e - hh)).max(0.0).sqrt()) * (1.0 / 3.0);
    let first_order = if one <= b {
        one
    } else if two <= c {
        two
    } else {
        three
    };

    // Of second order, over the same axes.
    let [mut weights, mut linear, mut square, mut latest] = [0.0_f32, 0.0, -hh, a];
    for side in sides {
        let used = side.first < first_order;
        let weight = if used { side.weight } else { 0.0 };
        let target = side.target - a;
        weights += weight;
        linear += weight * target;
        square += weight * target * target;
        latest = latest.max(if used { side.first } else { a });
    }
    let root = (linear * linear - weights * square).sqrt();
    let second_order = a + (linear + root) / weights;
    // Without a root there is no such u; and no u is nearer than what it follows from.
    if second_order >= latest { second_order } else { first_order }
}
