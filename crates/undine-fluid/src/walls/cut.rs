//! Cutting solids out of the cells of a fluid: what they leave open, how far they are, and how fast they move.
//!
//! Areas and volumes are those of [`fractions`] (Batty, Bertails and Bridson 2007), where walls thinner than a voxel close
//! faces. What is written in a Bucket depends on nothing but the Bucket and the colliders as they are given, so that
//! Buckets near which nothing has changed keep what they have.
//!
//! Rigid bodies are cut out one by one, apart from all else ([`Apart`]), so that gaps between solids that face each other within
//! a cell stay open, and cells of such gaps are marked.
//!
//! [`fractions`]: undine_geometry::fractions

use super::apart::Apart;
use super::near::{Near, Stale, Union};
use super::settled::Settled;
use crate::field;
use undine_core::domain::VOXELS_PER_BUCKET;
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;
use undine_core::volume::Resolution;
use undine_core::{Accessor, Bucket, DiscreteVolume, Frame, GridDomain};
use undine_geometry::fractions::Cutter;
use undine_geometry::solid::Solid;
use undine_sim::Result;
use undine_sim::offers::Walls;

/// Voxels of a Bucket.
const VOXELS: usize = 512;

/// The velocity of a wall is told as far from it, in voxels.
const VELOCITY_REACH: f64 = 2.0;

/// Cells where solids face each other within this are those of a gap, in voxels: where it is wider, particles tell.
const GAP: f64 = 1.5;

/// What is cut out of cells.
#[derive(Debug)]
pub struct Solids<'a> {
    /// What is one solid together.
    pub walls: Vec<Near<'a>>,
    /// What keeps apart from them, and from each other.
    pub apart: Vec<Near<'a>>,
}

/// Cuts solids out of the Buckets of a volume that were not cut before, or are stale.
pub fn cut(
    domain: &GridDomain,
    volume: &DiscreteVolume,
    walls: &Walls,
    solids: &Solids<'_>,
    stale: &Stale,
) -> Result<()> {
    let frame = *domain.frame();
    let is_stale = |bucket: Bucket| {
        let corner = frame.corner(bucket);
        let around = Bounds { min: corner, max: corner + frame.bucket_size(0) };
        stale.reaches(&around, f64::from(Walls::FAR) * frame.voxel_size(0))
    };
    let accessor =
        Accessor::new("cut solids out of cells", domain).over(volume.topology()).level(0);
    // Where nothing is to be done nothing is claimed for writing, so that copies on other processes stay fresh.
    let to_do = accessor.reduce(
        volume.own(walls.volume),
        |here, open| u8::from(open[0] < 0.0 || is_stale(here.bucket)),
        u8::max,
    )?;
    if to_do.unwrap_or(0) == 0 {
        return Ok(());
    }
    let [area, velocity] =
        [walls.area, walls.velocity].map(|mac| mac.faces.map(|face| volume.write(face)));
    accessor.run_with(
        (
            area,
            (volume.write(walls.volume), field::gaps(volume).map(|gaps| volume.write(gaps.words))),
            velocity,
            volume.write(walls.distance),
        ),
        || Cells::new(frame),
        |cells, here, (mut area, (open, gaps), velocity, distance)| {
            if open[0] >= 0.0 && !is_stale(here.bucket) {
                return;
            }
            let place = Place { frame, bucket: here.bucket };
            let (walls, apart) = (place.near(&solids.walls), place.near(&solids.apart));
            let near = Union(walls.0.iter().chain(&apart.0).copied().collect());
            let mut marks = [0; 8];
            if near.0.is_empty() {
                area.into_iter().chain([open]).for_each(|channel| channel.fill(1.0));
                velocity.into_iter().for_each(|channel| channel.fill(0.0));
                distance.fill(Walls::FAR * frame.voxel_size(0) as f32);
                gaps.into_iter().for_each(|gaps| gaps.copy_from_slice(&marks));
                return;
            }
            cells.cut(&place, (&walls, &apart), &mut area, open, &mut marks);
            gaps.into_iter().for_each(|gaps| gaps.copy_from_slice(&marks));
            place.measure(&near, distance);
            for (axis, faces) in velocity.into_iter().enumerate() {
                place.take_velocity(&near, axis, distance, faces);
            }
        },
    )?;
    Ok(())
}

/// Cuts one Bucket after the other, with memory of its own.
struct Cells {
    cutter: Cutter,
    area: [[f32; VOXELS]; 3],
    open: [f32; VOXELS],
}

impl Cells {
    fn new(frame: Frame) -> Self {
        Self { cutter: Cutter::new(frame), area: [[1.0; VOXELS]; 3], open: [1.0; VOXELS] }
    }

    /// Cuts walls out of a Bucket, and what keeps apart from them.
    fn cut(
        &mut self,
        place: &Place,
        (walls, apart): (&Union<'_>, &Union<'_>),
        area: &mut [&mut [f32]; 3],
        open: &mut [f32],
        gaps: &mut [u64],
    ) {
        let voxel = place.frame.voxel_size(0);
        let [x, y, z] = area;
        self.cutter.cut(&Settled::new(walls, voxel), place.bucket, [x, y, z], open);
        for (n, near) in apart.0.iter().enumerate() {
            let others = walls.0.iter().chain(&apart.0[..n]);
            let others = others.map(|near| near.step as &dyn Solid).collect();
            let body = Apart::new(near.step, others, voxel);
            let [x, y, z] = &mut self.area;
            self.cutter.cut(&Settled::new(&body, voxel), place.bucket, [x, y, z], &mut self.open);
            for (area, own) in area.iter_mut().zip(&self.area) {
                take_away(area, own);
            }
            take_away(open, &self.open);
            if walls.0.len() + n > 0 {
                place.mark_gaps(&body, gaps);
            }
        }
    }
}

/// Takes what a solid closes from what others leave open, with which it has nothing in common.
fn take_away(open: &mut [f32], own: &[f32]) {
    for (open, own) in open.iter_mut().zip(own) {
        *open = if *open == 1.0 { *own } else { (*open - (1.0 - own)).max(0.0) };
    }
}

/// A Bucket in the world.
struct Place {
    frame: Frame,
    bucket: Bucket,
}

impl Place {
    /// The place [m] at a number of voxels from the Bucket's corner, the same whichever Bucket asks.
    fn at(&self, voxels: DVec3) -> DVec3 {
        let first = (self.bucket.coord * VOXELS_PER_BUCKET as i32).as_dvec3();
        self.frame.origin() + (first + voxels) * self.frame.voxel_size(0)
    }

    /// The colliders within reach of any cell.
    fn near<'a>(&self, colliders: &'a [Near<'a>]) -> Union<'a> {
        let half = 0.5 * 3.0_f64.sqrt() * self.frame.bucket_size(0);
        let reach = half + f64::from(Walls::FAR) * self.frame.voxel_size(0);
        let centre = self.frame.centre(self.bucket);
        Union(colliders.iter().filter(|near| near.at_least(centre) <= reach).collect())
    }

    /// Marks cells in gaps between a body and others.
    fn mark_gaps(&self, body: &Apart<'_>, gaps: &mut [u64]) {
        let width = GAP * self.frame.voxel_size(0);
        for n in 0..VOXELS {
            let is_gap = body.is_gap(self.at(cell(n) + 0.5), width);
            gaps[n >> 6] |= u64::from(is_gap) << (n & 63);
        }
    }

    /// Signed distances at the centres of cells.
    fn measure(&self, near: &Union<'_>, distance: &mut [f32]) {
        let far = Walls::FAR * self.frame.voxel_size(0) as f32;
        for (n, distance) in distance.iter_mut().enumerate() {
            let found = near.distance(self.at(cell(n) + 0.5)) as f32;
            // What has no distance is taken for a wall.
            *distance = if found.is_nan() { 0.0 } else { found.clamp(-far, far) };
        }
    }

    /// The velocity of the nearest solid across the lower faces of cells along an axis.
    fn take_velocity(&self, near: &Union<'_>, axis: usize, distance: &[f32], faces: &mut [f32]) {
        faces.fill(0.0);
        if !near.0.iter().any(|near| near.moves) {
            return;
        }
        let reach = VELOCITY_REACH * self.frame.voxel_size(0);
        // From a centre to a face it is half a voxel.
        let look = (reach + 0.5 * self.frame.voxel_size(0)) as f32;
        let middle = DVec3::splat(0.5) - 0.5 * DVec3::AXES[axis];
        for (n, face) in faces.iter_mut().enumerate().filter(|(n, _)| distance[*n] <= look) {
            let at = self.at(cell(n) + middle);
            let Some((nearest, away)) = near.nearest_one(at) else { continue };
            if nearest.moves && away <= reach {
                *face = nearest.step.velocity(at)[axis] as f32;
            }
        }
    }
}

/// The lower corner of a cell, in voxels from that of its Bucket.
fn cell(n: usize) -> DVec3 {
    DVec3::from_array(Resolution::R8.coords(n).map(|n| n as f64))
}
