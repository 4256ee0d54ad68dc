//! Points as spheres.
//!
//! A sphere that is large in a perspective picture is met by each line of sight where geometry says; its outline is an ellipse. A smaller
//! one is a disc with the depth of a sphere, which in an orthographic view it is. One that is smaller than a pixel is drawn into the pixel of its middle,
//! in as many of the passes as it covers of the pixel, but in one at least (stochastic transparency: Enderton, Sintorn, Shirley &
//! Luebke 2010): it neither swells nor vanishes.
//!
//! A sphere that the camera is inside of is not drawn, since it would hide all else. One that reaches through the near plane
//! without that is capped there. In a map of shadows, which is looked at through many passes only, a part of many small ones stands for all:
//! each is in one of a few passes, and covers as many times what it did. What is at no finite place is not drawn; what has no finite radius has none, and no finite velocity, none.

mod batch;
mod piece;

use super::primitives::{Hit, Primitives};
use super::target::{Rectangle, Target};
use super::view::{Ray, View};
use crate::shot::{PointChunk, Points};
use batch::Batch;
use piece::{MOST, Piece};
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use undine_core::glam::{Vec2, Vec3};

/// Larger spheres are drawn exactly in a perspective view [pixels].
const LEAST_EXACT: f32 = 4.0;

/// A disc of this radius has the middle of a pixel inside, wherever it is [pixels].
const LEAST_DISC: f32 = std::f32::consts::FRAC_1_SQRT_2;

/// Points in a map of shadows grow up to this when some stand for all [pixels].
const THINNED: f32 = 2.0;

/// One stands for no more than this.
const MOST_THINNED: f32 = 4.0;

/// What is farther away than this is nowhere [m].
const FARTHEST: f32 = 1e18;

/// Of so many points, the chunk of the first is known, to find that of any quickly.
const STRIDE: usize = 256;

/// Which of the passes it is, for what is in some of them only.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Turn {
    /// The part of all passes before this one, as a part of 2³².
    before: u32,
    /// The part that one pass is, likewise.
    one: u32,
    /// Which pass it is.
    n: usize,
    /// How many there are.
    count: usize,
}

impl Turn {
    /// The n-th of so many.
    pub fn new(n: usize, count: usize) -> Self {
        let count = count.clamp(1, 1 << 20) as u64;
        let before = ((n as u64 % count) << 32) / count;
        // Rounded up, so that one of the passes is always met.
        Self {
            before: before as u32,
            one: ((1u64 << 32) / count + 1).min(u64::from(u32::MAX)) as u32,
            n,
            count: count as usize,
        }
    }

    /// Of which points of a radius [pixels] in a map of shadows to draw one in this pass: as few as cover it without holes.
    fn thinned(self, pixels: f32, piece: u32) -> Thinning {
        let every = (THINNED / pixels.max(1e-3)).powi(2).min(MOST_THINNED) as usize;
        let every = every.min(self.count / 2).max(1);
        // Another one in each piece, so that those of one point are not all in the same pass.
        Thinning { every, first: (self.n + piece as usize) % every }
    }

    /// Whether a primitive that covers a part of a pixel is drawn: in that part of all passes, rounded up or down, and in one at least.
    #[inline(always)]
    fn takes(self, primitive: u32, covered: f32) -> bool {
        let part = ((covered * 4_294_967_296.0) as u32).max(self.one);
        part == u32::MAX || scrambled(primitive).wrapping_add(self.before) < part
    }
}

/// A number that looks random (the finish of MurmurHash3).
#[inline(always)]
fn scrambled(n: u32) -> u32 {
    let n = (n ^ n >> 16).wrapping_mul(0x85eb_ca6b);
    let n = (n ^ n >> 13).wrapping_mul(0xc2b2_ae35);
    n ^ n >> 16
}

/// Every so-many-th of some points, from one on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Thinning {
    /// One of so many is drawn.
    pub every: usize,
    /// The first that is.
    pub first: usize,
}

impl Thinning {
    /// All of them.
    const NONE: Self = Self { every: 1, first: 0 };
}

/// Points as spheres.
pub(super) struct Spheres<'a> {
    points: &'a Points<'a>,
    /// The number of the first point of each chunk, and of all.
    firsts: Vec<usize>,
    /// The chunk of the first of every [`STRIDE`] points.
    chunks: Vec<u32>,
    pieces: Vec<Piece>,
    /// Which pass is drawn.
    pub turn: Turn,
    /// Whether light makes them round.
    is_lit: bool,
}

impl<'a> Spheres<'a> {
    pub fn of(points: &'a Points<'a>, is_lit: bool) -> Self {
        let mut firsts = vec![0];
        for chunk in &points.chunks {
            firsts.push(firsts[firsts.len() - 1] + chunk.positions.len());
        }
        let mut found = 0;
        let chunk_of = |point: usize| {
            while firsts[found + 1] <= point {
                found += 1;
            }
            found as u32
        };
        let count = firsts[firsts.len() - 1];
        let chunks = (0..count).step_by(STRIDE).map(chunk_of).collect();
        let all = points.chunks.par_iter().enumerate();
        let pieces = all.flat_map(|(number, chunk)| {
            let count = chunk.positions.len();
            (0..count.div_ceil(MOST)).into_par_iter().filter_map(move |piece| {
                let from = piece * MOST;
                Piece::of(chunk, number as u32, from, MOST.min(count - from))
            })
        });
        Self { points, firsts, chunks, pieces: pieces.collect(), turn: Turn::new(0, 1), is_lit }
    }

    /// The pieces that may be seen, the nearest first.
    fn in_view(&self, view: &View, moment: f32) -> Vec<u64> {
        let pieces = self.pieces.par_iter().enumerate().with_min_len(256);
        let mut order: Vec<u64> = pieces
            .filter_map(|(n, piece)| {
                let near = piece.footprint(view, moment)?.near.max(0.0);
                Some(u64::from(near.to_bits()) << 32 | n as u64)
            })
            .collect();
        order.par_sort_unstable();
        order
    }

    /// The chunk and the place in it of a point.
    fn find(&self, point: usize) -> (&PointChunk<'a>, usize) {
        let near = point / STRIDE;
        let from = self.chunks[near] as usize;
        let to = self.chunks.get(near + 1).map_or(self.points.chunks.len(), |&to| to as usize + 1);
        let after = self.firsts[from..=to].partition_point(|&first| first <= point);
        let chunk = from + after - 1;
        (&self.points.chunks[chunk], point - self.firsts[chunk])
    }
}

impl Primitives for Spheres<'_> {
    fn len(&self) -> usize {
        self.firsts[self.firsts.len() - 1]
    }

    fn draw<T: Target>(&self, view: &View, moment: f32, first: u32, target: &T) {
        let order = self.in_view(view, moment);
        // Every thread takes the next piece, so that what is near comes first and hides the rest. What is hidden changes nothing, so
        // that the picture does not depend on who was first.
        let next = AtomicUsize::new(0);
        (0..rayon::current_num_threads()).into_par_iter().with_max_len(1).for_each(|_| {
            let mut batch = Batch::new();
            while let Some(&key) = order.get(next.fetch_add(1, Relaxed)) {
                let piece = &self.pieces[key as u32 as usize];
                let footprint = piece.footprint(view, moment);
                if footprint.is_none_or(|footprint| piece.is_hidden(&footprint, view, target)) {
                    continue;
                }
                let (chunk, from) = (piece.chunk as usize, piece.from as usize);
                let range = from..from + piece.count as usize;
                let thinning = match target.may_thin() {
                    true => self.turn.thinned(piece.pixels(view), piece.chunk),
                    false => Thinning::NONE,
                };
                let count = batch.take(&self.points.chunks[chunk], range, thinning, view, moment);
                let number = first + (self.firsts[chunk] + from) as u32;
                draw(&batch, count, thinning, view, self.turn, number, target);
            }
        });
    }

    fn hit(&self, primitive: usize, view: &View, moment: f32, ray: &Ray) -> Hit {
        let (chunk, n) = self.find(primitive);
        let mut middle = chunk.positions.from_eye(n, view.eye);
        let velocity = chunk.velocities.map_or(Vec3::ZERO, |velocities| velocities.at(n));
        if moment != 0.0 {
            middle += moment * velocity;
        }
        let radius = chunk.radii.at(n);
        let (depth, normal) = meet(middle, radius, view, ray);
        Hit {
            depth,
            normal,
            colour: self.points.colouring.of(chunk.values.map(|values| values.at(n))),
            velocity,
            tangent: None,
            is_lit: self.is_lit,
        }
    }
}

/// At which depth a line of sight meets a sphere, and which way that looks there. One that is smaller than a pixel looks as if it
/// filled it, so that on average over the pixel it is lit as all of the sphere is.
#[inline(always)]
fn meet(middle: Vec3, radius: f32, view: &View, ray: &Ray) -> (f32, Vec3) {
    let pixel = 1.0 / view.pixels_per_metre(middle.dot(view.forward)).abs();
    let filling = if pixel.is_finite() { radius.max(LEAST_DISC * pixel) } else { radius };
    // |origin + z direction − middle|² = radius², where b / a is the depth nearest to the middle and `aside` the way from there:
    // not by the difference of large squares.
    let away = middle - ray.origin;
    let a = ray.direction.length_squared();
    let b = away.dot(ray.direction);
    let aside = away - b / a * ray.direction;
    let inside = (filling * filling - aside.length_squared()).max(0.0);
    let back = (inside / a).sqrt();
    let normal = -(aside + back * ray.direction).normalize_or(view.forward);
    let depth = b / a - back * (radius / filling.max(f32::MIN_POSITIVE)).min(1.0);
    (depth.max(view.near), normal)
}

/// Draws the points of a batch; the number of its first is `number`.
#[inline(always)]
fn draw<T: Target>(
    batch: &Batch,
    count: usize,
    thinning: Thinning,
    view: &View,
    turn: Turn,
    number: u32,
    target: &T,
) {
    // Those that stand for several cover as many times as much, and are no nearer for that.
    let growth = (thinning.every as f32).sqrt();
    let limit = Vec2::new(view.size.width as f32, view.size.height as f32);
    for n in 0..count {
        let (z, radius) = (batch.z[n], batch.radius[n]);
        // So written that what is no number is left out.
        if !(z + radius > view.near && z < FARTHEST) {
            continue;
        }
        let primitive = number + (thinning.first + n * thinning.every) as u32;
        let pixels = growth * radius * batch.scale[n];
        if view.slope > 0.0 && (pixels > LEAST_EXACT || z - radius <= view.near) {
            let middle = Vec3::new(batch.x[n], batch.y[n], z);
            draw_exact(middle, radius, view, primitive, target);
            continue;
        }
        let at = Vec2::new(batch.across[n], batch.down[n]);
        let inside = at.x + pixels >= 0.0
            && at.y + pixels >= 0.0
            && at.x - pixels < limit.x
            && at.y - pixels < limit.y;
        if !inside {
            continue;
        }
        if pixels < LEAST_DISC {
            let own = at.x >= 0.0 && at.y >= 0.0 && at.x < limit.x && at.y < limit.y;
            if own && turn.takes(primitive, part_of_own_pixel(pixels)) {
                target.put(at.x as usize, at.y as usize, (z - radius).max(view.near), primitive);
            }
            if pixels <= 0.5 {
                continue;
            }
        }
        draw_disc(at, pixels, z, radius, view, primitive, target);
    }
}

/// How much a disc around a place in a pixel covers, on average over all such places, of that pixel; what else it covers is of others.
/// A disc in the middle of the pixel: π r² up to ½, and then less, by the four caps that are outside. That is a fit, true to 2 %.
#[inline(always)]
fn part_of_own_pixel(radius: f32) -> f32 {
    const QUARTER: f32 = std::f32::consts::FRAC_PI_4;
    if radius <= 0.5 {
        return 4.0 * QUARTER * radius * radius;
    }
    let t = ((radius - 0.5) / (LEAST_DISC - 0.5)).min(1.0);
    QUARTER + (1.0 - QUARTER) * t * (2.0 - t)
}

/// A disc of all pixels whose middles are inside, with the depth of a sphere. Of less than [`LEAST_DISC`], the pixel of its own middle is
/// left out, which is drawn already.
#[inline(always)]
fn draw_disc<T: Target>(
    at: Vec2,
    pixels: f32,
    z: f32,
    radius: f32,
    view: &View,
    primitive: u32,
    target: &T,
) {
    let Rectangle { from, to } = Rectangle::middles_within(at - pixels, at + pixels, view.size);
    let per_square = 1.0 / (pixels * pixels);
    let nearest = (z - radius).max(view.near);
    let own = if pixels < LEAST_DISC { (at.x as i32, at.y as i32) } else { (-1, -1) };
    for y in from[1]..to[1] {
        let dy = y as f32 + 0.5 - at.y;
        for x in from[0]..to[0] {
            let dx = x as f32 + 0.5 - at.x;
            let inside = 1.0 - (dx * dx + dy * dy) * per_square;
            let seen = inside >= 0.0 && (x as i32, y as i32) != own && !target.hides(x, y, nearest);
            if seen {
                let depth = z - radius * inside.sqrt();
                target.put(x, y, depth.max(view.near), primitive);
            }
        }
    }
}

/// A sphere in a perspective view, where the lines of sight meet it.
#[inline(never)]
fn draw_exact<T: Target>(middle: Vec3, radius: f32, view: &View, primitive: u32, target: &T) {
    let Vec3 { x: mx, y: my, z: mz } = middle;
    if middle.length_squared() <= radius * radius {
        return;
    }
    let Some([low, high]) = outline(mx, mz, radius, view.near) else { return };
    let Some([bottom, top]) = outline(my, mz, radius, view.near) else { return };
    let from = view.centre + view.scale * Vec2::new(low, -top);
    let to = view.centre + view.scale * Vec2::new(high, -bottom);
    let Rectangle { from, to } = Rectangle::around(from, to, view.size);
    let nearest = (mz - radius).max(view.near);
    for y in from[1]..to[1] {
        let dy = (view.centre.y - (y as f32 + 0.5)) / view.scale;
        for x in from[0]..to[0] {
            if target.hides(x, y, nearest) {
                continue;
            }
            // The line is z d with d = (dx, dy, 1), and |m × d| is how far it passes the middle, times |d|.
            let dx = (x as f32 + 0.5 - view.centre.x) / view.scale;
            let a = dx * dx + dy * dy + 1.0;
            let cross = Vec3::new(my - mz * dy, mz * dx - mx, mx * dy - my * dx);
            let inside = a * radius * radius - cross.length_squared();
            if inside < 0.0 {
                continue;
            }
            let (b, root) = (mx * dx + my * dy + mz, inside.sqrt());
            // Behind the eye, or before the near plane as a whole.
            if b + root > a * view.near {
                target.put(x, y, ((b - root) / a).max(view.near), primitive);
            }
        }
    }
}

/// Between which slopes x / z a circle around (x, z) is seen from the origin, of what is beyond a near line; none if nothing is. The
/// tangents through the origin touch it where x / z = (x z ± r √(x² + z² − r²)) / (z² − r²).
fn outline(x: f32, z: f32, radius: f32, near: f32) -> Option<[f32; 2]> {
    if z + radius <= near {
        return None;
    }
    if z - radius <= near {
        // It goes on to the side for as far as it is wide, seen from as near as can be.
        return Some([(x - radius).min(0.0) / near, (x + radius).max(0.0) / near]);
    }
    let (below, root) = ((z - radius) * (z + radius), (x * x + (z - radius) * (z + radius)).sqrt());
    Some([(x * z - radius * root) / below, (x * z + radius * root) / below])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_point_is_in_as_many_passes_as_it_covers_and_in_one_at_least() {
        for count in [1usize, 3, 8, 32] {
            for covered in [0.0f32, 1e-6, 0.1, 0.3, 0.5, 0.9, 1.0] {
                for primitive in 0..500 {
                    let taken = (0..count)
                        .filter(|&n| Turn::new(n, count).takes(primitive, covered))
                        .count();
                    let wanted = covered * count as f32;
                    let (low, high) = (wanted.floor().max(1.0), wanted.ceil().max(1.0) + 1.0);
                    assert!(taken as f32 >= low, "{taken} of {count} for {covered}");
                    assert!(taken as f32 <= high, "{taken} of {count} for {covered}");
                }
            }
        }
    }

    #[test]
    fn where_some_points_stand_for_all_each_has_its_passes() {
        for count in [1usize, 2, 3, 8, 32] {
            for pixels in [0.0f32, 0.1, 0.7, 1.0, 1.2, 1.5, 3.0] {
                let passes: Vec<_> =
                    (0..count).map(|n| Turn::new(n, count).thinned(pixels, 5)).collect();
                let every = passes[0].every;
                // What grows must stay within a pixel of what it was: what is hidden is told by that.
                assert!(every == 1 || pixels * ((every as f32).sqrt() - 1.0) <= 1.0);
                for point in 0..every {
                    let taken = passes.iter().filter(|pass| pass.first == point).count();
                    assert!(taken >= (count / every).max(1), "{taken} of {count}, {pixels} pixels");
                }
            }
        }
    }

    #[test]
    fn the_outline_touches_the_circle() {
        for (x, z, r) in [(0.0f32, 5.0f32, 1.0f32), (3.0, 4.0, 2.0), (-7.0, 2.0, 1.5)] {
            for slope in outline(x, z, r, 1e-3).unwrap() {
                // The distance of the centre from the line through the origin.
                let distance = (x - slope * z).abs() / (1.0 + slope * slope).sqrt();
                assert!((distance - r).abs() < 1e-4, "{distance} instead of {r}");
            }
        }
    }
}
