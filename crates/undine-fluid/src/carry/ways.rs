//! The ways of a step: where what comes to the middle of each cell was before it, and where what is there goes.

use super::{Far, Flow, Traces, VOXELS, Ways};
use crate::nearby::{AlongTheWay, AlongWideWays, MARGIN, Nearby, WIDE};
use std::sync::Mutex;
use undine_core::DiscreteVolume;
use undine_core::access::VoxelNeighbourhood;
use undine_core::domain::Slot;
use undine_core::glam::Vec3;
use undine_sim::Result;

/// How far around a Bucket its ways are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// A few voxels: [`MARGIN`].
    Here,
    /// As far as a Bucket: [`WIDE`].
    Wide,
}

impl Reach {
    /// What is enough for nearly all ways of so many voxels along an axis.
    pub fn of(voxels: f32) -> Self {
        // A sample needs another voxel, as a way begins half of one within the Bucket.
        if voxels <= (MARGIN - 1) as f32 { Self::Here } else { Self::Wide }
    }
}

/// Ways of fewer voxels along each axis stay within the next Bucket.
pub const FARTHEST: f32 = (WIDE - 1) as f32;

/// Cells of Buckets, ascending by slot.
pub type Cells = Vec<(Slot, Vec<u16>)>;

/// Finds the ways of all cells. Collective.
pub fn find(flow: &Flow<'_>, scratch: &DiscreteVolume, ways: Ways, reach: Reach) -> Result<()> {
    let lost = match reach {
        Reach::Here => find_within(flow, scratch, ways, MARGIN, AlongTheWay::default)?,
        Reach::Wide => find_within(flow, scratch, ways, WIDE, AlongWideWays::default)?,
    };
    Far { flow, scratch }.find_ways(&lost, ways.back)
}

/// Finds the ways that stay within a margin, and lists the cells that what comes from farther away ends in. The way from a cell that
/// leads farther is no number.
fn find_within<const M: usize, const W: usize>(
    flow: &Flow<'_>,
    scratch: &DiscreteVolume,
    ways: Ways,
    margin: usize,
    near: fn() -> Nearby<M, W>,
) -> Result<Cells> {
    let volume = flow.volume;
    let access = (
        flow.velocity.faces.map(|face| volume.around(face, margin as u8)),
        ways.back.map(|channel| scratch.write(channel)),
        ways.forth.map(|channel| scratch.write(channel)),
        flow.only.map(|(marks, cells)| marks.around(cells, 1)),
    );
    let step = flow.per_voxel();
    let goes_forth = flow.scheme != super::Scheme::SemiLagrangian;
    let all_lost = Mutex::new(Cells::new());
    flow.accessor("find ways").run_with(
        access,
        near,
        |near, here, (velocity, back, forth, only)| {
            if only.is_some_and(|cells| !is_beside(&cells)) {
                return;
            }
            near.load(velocity);
            let mut lost = Vec::new();
            follow(near, -step, flow.traces, back, |n| lost.push(n as u16));
            if goes_forth {
                follow(near, step, flow.traces, forth, |_| {});
            }
            if !lost.is_empty() {
                all_lost
                    .lock()
                    .unwrap_or_else(|poison| poison.into_inner())
                    .push((here.slot, lost));
            }
        },
    )?;
    let mut lost = all_lost.into_inner().unwrap_or_else(|poison| poison.into_inner());
    lost.sort_unstable_by_key(|(slot, _)| *slot);
    Ok(lost)
}

/// Whether a Bucket or one beside it has a marked cell.
fn is_beside(cells: &VoxelNeighbourhood<'_, u64>) -> bool {
    const BESIDE: [(i32, i32, i32); 7] =
        [(0, 0, 0), (-1, 0, 0), (1, 0, 0), (0, -1, 0), (0, 1, 0), (0, 0, -1), (0, 0, 1)];
    BESIDE.iter().any(|&(x, y, z)| cells.neighbour(x, y, z).iter().any(|&word| word != 0))
}

/// Follows the flow from the middle of every cell of a Bucket; calls `lose` for those whose way leads too far.
#[inline(always)]
fn follow<const M: usize, const W: usize>(
    near: &Nearby<M, W>,
    step: f32,
    traces: Traces,
    ways: [&mut [f32]; 3],
    mut lose: impl FnMut(usize),
) {
    let [x, y, z] = ways;
    for n in 0..VOXELS {
        let place = Vec3::new((n >> 6) as f32, (n >> 3 & 7) as f32, (n & 7) as f32) + 0.5;
        let way = way(place, near.at_centre(n), step, traces, |at| near.at(at));
        let way = way.unwrap_or_else(|| {
            lose(n);
            Vec3::NAN
        });
        (x[n], y[n], z[n]) = (way.x, way.y, way.z);
    }
}

/// The way from a place with a velocity [m/s]; `step` says how many voxels each m/s leads.
#[inline(always)]
fn way(
    place: Vec3,
    here: Vec3,
    step: f32,
    traces: Traces,
    at: impl Fn(Vec3) -> Option<Vec3>,
) -> Option<Vec3> {
    let half_way = at(place + 0.5 * step * here)?;
    Some(match traces {
        Traces::Rk2 => step * half_way,
        Traces::Rk3 => {
            let later = at(place + 0.75 * step * half_way)?;
            step * ((2.0 / 9.0) * here + (1.0 / 3.0) * half_way + (4.0 / 9.0) * later)
        }
    })
}
