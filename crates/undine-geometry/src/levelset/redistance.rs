//! Making any field whose zero set is a surface the distance to that surface, in a band around it.
//!
//! The surface stays where it is: voxels next to it get distances that are accurate to a small part of a voxel
//! (`near`), and keep them. From there |∇φ| = 1 is solved outwards by passes of upwind differences, of second
//! order where two voxels upwind are known (J. Sethian, *Fast Marching Methods*, SIAM Review 41 (1999), §4.3), else of
//! first. Each pass reads one channel and writes the other, so that neither Buckets nor threads nor processes show in
//! a single bit. A front advances by at least 1/√3 of a voxel per pass, whatever way it faces; in a band a few voxels
//! wide that is the same few passes that sweeping needs, without its order.

use super::lanes::Lanes;
use super::near;
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
        let settled = pass as f32 * voxel / 3.0_f32.sqrt();
        let accessor = Accessor::new("march outwards", domain).over(volume.topology());
        let access = (volume.around(distance, 2), volume.write(next));
        let scratch = || Box::new([[0.0; 16]; 64]);
        accessor.run_with(access, scratch, |padded, here, (around, to)| {
            let around = ends.around(here, &around, beyond);
            march(&around, padded, Limits { voxel, width, settled }, chunk_mut(to));
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
        let channels = DistanceChannels { distance: self.distance, next: self.next };
        let width = f64::from(self.width);
        redistance(&self.domain, &mut self.volume, channels, width, &self.beyond)
    }
}

/// How many passes bring distances as far as so many voxels.
///
/// Voxels next to the surface are known, among them all that are within 1/√3 of a voxel of it: from a nearer one a step
/// along the axis that the normal is nearest to leads across. Each pass adds as much.
fn passes(voxels: f64) -> usize {
    ((voxels * 3.0_f64.sqrt()).ceil() as usize).saturating_sub(1).max(1)
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

/// A row of voxels along z.
type Row = [f32; 8];

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

    /// Writes the rows with the two voxels before and behind each, so that a row shifted along z is a row in memory.
    #[inline(always)]
    fn pad(&self, padded: &mut Padded) {
        let [below, above] = self.sides[2];
        for x in 0..8 {
            for y in 0..8 {
                let padded = &mut padded[x * 8 + y];
                padded[..2].copy_from_slice(&below[x][y][6..]);
                padded[2..10].copy_from_slice(&self.own[x][y]);
                padded[10..12].copy_from_slice(&above[x][y][..2]);
            }
        }
    }
}

/// The rows of a Bucket, each two voxels longer on either side.
type Padded = [[f32; 16]; 64];

/// Lengths that a pass goes by [m].
#[derive(Clone, Copy)]
struct Limits {
    voxel: f32,
    width: f32,
    /// A voxel nearer to the surface keeps its distance.
    settled: f32,
}

/// Gives every voxel the distance that follows from its neighbours, but for those next to the surface and those nearer
/// than `settled`, which stay.
#[multiversion(targets("x86_64+avx2"))]
fn march(around: &Cross<'_>, padded: &mut Padded, limits: Limits, to: &mut [f32; VOXELS]) {
    around.pad(padded);
    let (rows, _) = to.as_chunks_mut::<8>();
    let Limits { voxel, width, settled } = limits;
    // A voxel is farther away than its nearest neighbour by 1/(1.5 √3) of a voxel at least: if all three axes are of second
    // order, with equal values behind each other.
    let reach = Lanes::splat(width - 0.38 * voxel);
    let [voxel, width, settled] = [voxel, width, settled].map(Lanes::splat);
    for (place, to) in rows.iter_mut().enumerate() {
        let (x, y) = (place >> 3, place & 7);
        let own = Lanes(around.own[x][y]);
        *to = own.0;
        let unsettled = settled.at_most(own.abs());
        if !unsettled.any() {
            continue;
        }
        let padded = &padded[place];
        let [a, b] = [Lanes(*around.row(x, y, 0, -1)), Lanes(*around.row(x, y, 0, 1))];
        let [c, d] = [Lanes(*around.row(x, y, 1, -1)), Lanes(*around.row(x, y, 1, 1))];
        let [e, f] = [Lanes::load(padded, 1), Lanes::load(padded, 3)];
        // Voxels that no neighbour can bring into the band stay, whatever they hold.
        let nearest = (a.abs().min(b.abs())).min(c.abs().min(d.abs())).min(e.abs().min(f.abs()));
        if !(unsettled & nearest.below(reach)).any() {
            continue;
        }
        let along_x = upwind(own, a, b, around.row(x, y, 0, -2), around.row(x, y, 0, 2));
        let along_y = upwind(own, c, d, around.row(x, y, 1, -2), around.row(x, y, 1, 2));
        let [low, high] = [Lanes::load(padded, 0), Lanes::load(padded, 4)];
        let along_z = upwind(own, e, f, &low.0, &high.0);
        let distance = eikonal(&[along_x, along_y, along_z], voxel).min(width);
        let lowest = along_x.first.min(along_y.first).min(along_z.first);
        let stays = lowest.below(Lanes::splat(0.0)) | own.abs().below(settled);
        *to = stays.pick(own, distance.times_sign_of(own)).0;
    }
}

/// What lies upwind along an axis.
#[derive(Clone, Copy)]
struct Upwind {
    /// The nearer of the two neighbours.
    first: Lanes,
    /// w and t of the term w (u − t)² that the axis adds: (u − u₁)², or ¼ (3u − 4u₁ + u₂)² where u₂ is upwind of u₁.
    weight: Lanes,
    target: Lanes,
}

/// What the neighbours on either side, and those behind them, are to voxels on the side of `own`.
#[inline(always)]
fn upwind(own: Lanes, low: Lanes, high: Lanes, low_two: &Row, high_two: &Row) -> Upwind {
    let [low, high] = [low.times_sign_of(own), high.times_sign_of(own)];
    let [low_two, high_two] = [Lanes(*low_two), Lanes(*high_two)];
    let second = low.at_most(high).pick(low_two, high_two).times_sign_of(own);
    let first = low.min(high);
    let two = second.at_most(first);
    Upwind {
        first,
        weight: two.pick(Lanes::splat(2.25), Lanes::splat(1.0)),
        target: two.pick((1.0 / 3.0) * (4.0 * first - second), first),
    }
}

/// The u that solves Σ w (u − t)² = h² over the axes whose upwind neighbour is nearer than u.
#[inline(always)]
fn eikonal(sides: &[Upwind; 3], h: Lanes) -> Lanes {
    // Relative to the nearest neighbour, so that nothing large cancels.
    let zero = Lanes::splat(0.0);
    let [p, q, r] = [sides[0].first, sides[1].first, sides[2].first];
    let (low, high) = (p.min(q), p.max(q));
    let a = low.min(r);
    let b = high.min(low.max(r)) - a;
    let c = high.max(r) - a;
    // By differences of first order, u is beyond b if the nearest alone would put it there, and beyond c if those two
    // would: if at u = c the sum falls short of h².
    let hh = h * h;
    let two = b.below(h);
    let three = (c * c + (c - b) * (c - b)).below(hh);
    let farthest = three.pick(c, two.pick(b, zero));

    let [mut weights, mut linear, mut square] = [zero, zero, zero - hh];
    for side in sides {
        let used = (side.first - a).at_most(farthest);
        let (weight, target) = (used.pick(side.weight, zero), side.target - a);
        weights = weights + weight;
        linear = linear + weight * target;
        square = square + weight * target * target;
    }
    let root = (linear * linear - weights * square).sqrt();
    let second_order = (linear + root) / weights;
    // Without a root there is no such u; and no u is nearer than what it follows from.
    let found = farthest.at_most(second_order);
    if !(!found).any() {
        return a + second_order;
    }
    let [one, third] = [1.0, 1.0 / 3.0].map(Lanes::splat);
    let count = three.pick(third, two.pick(Lanes::splat(0.5), one));
    let b = two.pick(b, zero);
    let c = three.pick(c, zero);
    let sum = b + c;
    let root = (sum * sum - (b * b + c * c - hh) / count).max(zero).sqrt();
    a + found.pick(second_order, count * (sum + root))
}
