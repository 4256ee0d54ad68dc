//! Carrying a surface along with a velocity.
//!
//! A step is semi-Lagrangian: each voxel near the surface is traced back to where it was, and reads the distance there
//! by a polynomial through 6³ voxels (Lagrange). What a level set loses, it loses by interpolation; so steps are long,
//! several voxels each, and traces within a step short and of fourth order (Runge–Kutta). After each step the band
//! is rebuilt around where the surface now is, and distances are made anew.
//!
//! Still, what is thinner than two voxels cannot be kept by any level set: that volume is lost, and the report says
//! how much.

use super::band::Travel;
use super::measure::Size;
use super::trace::{Back, Carrier, NODES, interpolate};
use super::{LevelSet, VOXELS};
use crate::error::{GeometryError, Result};
use std::sync::atomic::{AtomicBool, Ordering};
use undine_core::Accessor;
use undine_core::access::{Pad, Tile};
use undine_core::domain::VOXELS_PER_BUCKET;
use undine_core::glam::{DVec3, IVec3};
use undine_core::volume::{Resolution, VoxelShape};

/// How a surface is carried.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Advection {
    /// How many voxels the fastest part moves in a step, at most: up to 4.
    pub voxels_per_step: f64,
    /// Whether the surface is moved, by the same distance everywhere, so that the volume stays what it was: no
    /// physics, but a picture without leaks. Off by default; the report says by how much.
    pub keep_volume: bool,
}

impl Default for Advection {
    fn default() -> Self {
        Self { voxels_per_step: 4.0, keep_volume: false }
    }
}

/// What became of a surface that was carried.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Advected {
    /// Steps that it took.
    pub steps: usize,
    /// Area and volume before.
    pub before: Size,
    /// Area and volume after; with the volume kept, those before it was.
    pub after: Size,
    /// How far the surface was moved outwards to keep the volume [m]; 0 if it was not to be kept.
    pub correction: f64,
}

impl Advected {
    /// The change of the volume, as a part of what it was before; it would be 0 in a flow without divergence.
    pub fn drift(&self) -> f64 {
        if self.before.volume > 0.0 { self.after.volume / self.before.volume - 1.0 } else { 0.0 }
    }
}

/// The farthest that the fastest part can go in a step [voxels]: a Bucket's width, less what interpolation reads.
const MOST_VOXELS: f64 = 4.0;

/// A part of a step, for tracing: so many voxels at most.
const VOXELS_PER_PART: f64 = 1.5;

/// More steps than anyone waits for: the velocity or the time is wrong.
const MOST_STEPS: usize = 100_000;

impl LevelSet {
    /// Carries the surface from one time [s] to another, forwards or backwards. Where memory runs out on the way, or the
    /// velocity is no number, the surface stays where it was by then. Collective.
    pub fn advect(
        &mut self,
        carrier: Carrier<'_>,
        from: f64,
        to: f64,
        how: &Advection,
    ) -> Result<Advected> {
        check(from, to, how)?;
        let before = self.size()?;
        if self.fills_box {
            // Distances go on beyond the box, for the surface to leave it.
            self.renormalise()?;
        }
        let mut report = Advected { steps: 0, before, after: before, correction: 0.0 };
        let mut time = from;
        while time != to {
            let fastest = self.fastest(carrier, time)?;
            let allowed = how.voxels_per_step * self.voxel_size() / fastest;
            let mut next =
                if (to - time).abs() <= allowed { to } else { time + allowed.copysign(to - time) };
            // The speed may rise within the step: one that turns out too long is tried again at half its length.
            while !self.step(carrier, [time, next])? {
                report.steps += 1;
                next = 0.5 * (time + next);
                check_progress(&report, [time, next, to])?;
            }
            report.steps += 1;
            check_progress(&report, [time, next, to])?;
            time = next;
        }
        report.after = self.size()?;
        if how.keep_volume {
            report.correction = self.regain(before.volume)?;
        }
        Ok(report)
    }

    /// The largest speed in the band [m/s]. Refuses a velocity that is no number.
    fn fastest(&self, carrier: Carrier<'_>, time: f64) -> Result<f64> {
        let claimed = self.claim(carrier)?;
        let reader = claimed.reader()?;
        let width = self.width;
        let frame = *self.domain.frame();
        let accessor = Accessor::new("find the speed", &self.domain).over(self.topology());
        let fastest = accessor.reduce(
            self.volume.own(self.distance),
            |here, distance| {
                let velocity = reader.around(&frame, here.bucket);
                let near = |place: &usize| distance[*place].abs() < width;
                let speed = |place: usize| {
                    let speed = velocity(self.centre(place), time).length();
                    if speed.is_finite() { speed } else { f64::INFINITY }
                };
                (0..VOXELS).filter(near).map(speed).fold(0.0, f64::max)
            },
            f64::max,
        )?;
        match fastest.unwrap_or(0.0) {
            found if found.is_finite() => Ok(found),
            found => Err(GeometryError::BadParameter {
                what: "the speed that carries a surface",
                found,
                wanted: "finite everywhere in the band",
            }),
        }
    }

    /// Moves the surface from one time to another; `false`, and nothing has changed but Buckets, if it moves too far.
    fn step(&mut self, carrier: Carrier<'_>, [from, to]: [f64; 2]) -> Result<bool> {
        let paths = self.paths(carrier, [from, to])?;
        let longest = paths.iter().map(|path| path.longest()).max().unwrap_or(0);
        let longest = self.domain.processes().all_max_u64(longest as u64)?;
        self.cover_band(|slot| paths[slot as usize])?;

        let parts = (longest as f64 / VOXELS_PER_PART).ceil().clamp(1.0, 16.0) as u32;
        let back = Back { end: to, span: to - from, parts };
        let too_far = AtomicBool::new(false);
        {
            let claimed = self.claim(carrier)?;
            let reader = claimed.reader()?;
            let frame = *self.domain.frame();
            let access = (self.volume.around(self.distance, REACH), self.volume.write(self.next));
            let tile = || Tile::new(VoxelShape::CELLS.resolution, Pad::both(REACH), self.width);
            let accessor = Accessor::new("carry the surface", &self.domain).over(self.topology());
            accessor.run_with(access, tile, |tile, here, (around, next)| {
                around.load(tile);
                self.beyond.fill(here, tile, -self.width);
                let velocity = reader.around(&frame, here.bucket);
                if !self.carry(tile, &velocity, &back, next) {
                    too_far.store(true, Ordering::Relaxed);
                }
            })?;
        }
        if self.domain.processes().any(too_far.into_inner())? {
            return Ok(false);
        }
        self.volume.swap(self.distance, self.next)?;
        self.find_beyond()?;
        self.redistance()?;
        self.trim()?;
        Ok(true)
    }

    /// How far the surface goes within a step in each Bucket, by slot.
    fn paths(&self, carrier: Carrier<'_>, [from, to]: [f64; 2]) -> Result<Vec<Travel>> {
        let claimed = self.claim(carrier)?;
        let reader = claimed.reader()?;
        let frame = *self.domain.frame();
        let voxel = self.voxel_size();
        let accessor = Accessor::new("find the path", &self.domain).over(self.topology());
        Ok(accessor.map(self.volume.own(self.distance), |here, distance| {
            let velocity = reader.around(&frame, here.bucket);
            let (mut low, mut high) = (DVec3::ZERO, DVec3::ZERO);
            for (place, distance) in distance.iter().enumerate() {
                if f64::from(distance.abs()) >= voxel {
                    continue;
                }
                for time in [from, 0.5 * (from + to), to] {
                    let path = (to - from) / voxel * velocity(self.centre(place), time);
                    (low, high) = (low.min(path), high.max(path));
                }
            }
            // Farther than a Bucket is too far anyway, and NaN becomes zero.
            let limit = DVec3::splat(f64::from(REACH));
            let whole = |path: DVec3| path.clamp(-limit, limit).as_ivec3();
            Travel { low: whole(low.floor()), high: whole(high.ceil()) }
        })?)
    }

    /// The distances of a Bucket at the end of a step; `false` if one came from farther away than the tile reaches.
    fn carry(
        &self,
        tile: &Tile<f32>,
        velocity: &impl Fn(DVec3, f64) -> DVec3,
        back: &Back,
        next: &mut [f32],
    ) -> bool {
        let far = |value: f32| value.abs() >= self.width;
        let own = |place: usize| {
            let [x, y, z] = Resolution::R8.coords(place).map(|n| n as i32);
            tile.values()[tile.index(x, y, z)]
        };
        if tile.values().iter().all(|&value| far(value)) {
            (0..VOXELS).for_each(|place| next[place] = own(place));
            return true;
        }
        let per_voxel = 1.0 / self.voxel_size();
        let mut all_found = true;
        for (place, next) in next.iter_mut().enumerate() {
            let centre = self.centre(place);
            let was = own(place);
            // Where the band did not come from nor goes to, a glance is enough.
            let glance = back.glance(velocity, centre) * per_voxel - 0.5;
            let nearest = glance.round();
            if !is_within(nearest, 0) {
                all_found &= far(was);
                *next = was;
                continue;
            }
            let [x, y, z] = nearest.as_ivec3().to_array();
            let found = tile.values()[tile.index(x, y, z)];
            if far(found) {
                *next = found;
                continue;
            }
            let origin = back.trace(velocity, centre) * per_voxel - 0.5;
            if is_within(origin, NODES as i32 / 2) {
                *next = interpolate(tile, origin).clamp(-self.width, self.width);
            } else {
                all_found &= far(was);
                *next = was;
            }
        }
        all_found
    }

    /// Moves the surface by the same distance everywhere until it holds a volume [m³]; returns how far outwards [m].
    fn regain(&mut self, volume: f64) -> Result<f64> {
        self.cover_band(|_| Travel { low: IVec3::NEG_ONE, high: IVec3::ONE })?;
        let mut moved = 0.0;
        for _ in 0..4 {
            let size = self.size()?;
            if size.area <= 0.0 {
                break;
            }
            // The band is no wider than it was.
            let limit = self.voxel_size();
            let outwards =
                (moved + (volume - size.volume) / size.area).clamp(-limit, limit) - moved;
            let (width, change) = (self.width, outwards as f32);
            self.update("regain the volume", 0, |_, tile, to| {
                let rows = tile.values().chunks(tile.row());
                for (to, from) in to.iter_mut().zip(rows.flat_map(|row| &row[..VOXELS_PER_BUCKET]))
                {
                    let moved = (from - change).clamp(-width, width);
                    *to = if from.abs() < width { moved } else { *from };
                }
            })?;
            moved += outwards;
        }
        self.trim()?;
        Ok(moved)
    }

    /// The centre of a voxel, from the corner of its Bucket [m].
    fn centre(&self, place: usize) -> DVec3 {
        let [x, y, z] = Resolution::R8.coords(place).map(|n| n as f64 + 0.5);
        self.voxel_size() * DVec3::new(x, y, z)
    }
}

impl Travel {
    /// The longest way along an axis [voxels].
    fn longest(&self) -> i32 {
        self.high.max(-self.low).max_element()
    }
}

/// Whether a place, in voxels from the centre of the Bucket's first, is so far inside the padding. NaN is not.
fn is_within(place: DVec3, margin: i32) -> bool {
    let low = f64::from(margin - i32::from(REACH));
    let high = f64::from(VOXELS_PER_BUCKET as i32 - 1 + i32::from(REACH) - margin);
    place.cmpge(DVec3::splat(low)).all() && place.cmple(DVec3::splat(high)).all()
}

/// Voxels of padding around a Bucket: all that a kernel may read.
const REACH: u8 = VOXELS_PER_BUCKET as u8;

fn check(from: f64, to: f64, how: &Advection) -> Result<()> {
    for (what, found) in [("the time at the start", from), ("the time at the end", to)] {
        if !found.is_finite() {
            return Err(GeometryError::BadParameter { what, found, wanted: "finite" });
        }
    }
    let voxels = how.voxels_per_step;
    if voxels > 0.0 && voxels <= MOST_VOXELS {
        return Ok(());
    }
    Err(GeometryError::BadParameter {
        what: "the voxels that a surface moves in a step",
        found: voxels,
        wanted: "above 0 and at most 4",
    })
}

/// Refuses to go on where steps are too many or too short.
fn check_progress(report: &Advected, [time, next, to]: [f64; 3]) -> Result<()> {
    if report.steps < MOST_STEPS && next != time {
        return Ok(());
    }
    Err(GeometryError::BadParameter {
        what: "the steps that carry a surface",
        found: report.steps as f64 * ((to - time) / (next - time)).abs(),
        wanted: "less than 100000: a shorter time or a slower velocity",
    })
}
