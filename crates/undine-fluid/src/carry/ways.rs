//! The ways of a step: where what comes to the middle of each cell was before it, and where what is there goes.

use super::window::{Extent, REACH, Row, Spots, Window};
use super::{Far, Flow, Traces, Ways};
use std::sync::Mutex;
use undine_core::DiscreteVolume;
use undine_core::access::VoxelNeighbourhood;
use undine_core::domain::{NONE, Slot};
use undine_sim::Result;

/// Ways of fewer voxels along each axis stay within the next Bucket.
pub const FARTHEST: f32 = (REACH - 1) as f32;

/// Cells of Buckets, ascending by slot.
pub type Cells = Vec<(Slot, Vec<u16>)>;

/// How far a flow leads in a step [voxels].
pub struct Speeds {
    /// At most anywhere, along any axis.
    pub most: f32,
    /// At most along each axis, by local Bucket.
    by_bucket: Vec<[f32; 3]>,
    /// The same where there are no Buckets.
    outside: [f32; 3],
}

impl Speeds {
    /// Those of a flow. Collective.
    pub fn of(flow: &Flow<'_>) -> Result<Self> {
        let (volume, step) = (flow.volume, flow.per_voxel());
        let faces = flow.velocity.faces.map(|face| volume.own(face));
        let most = |faces: &[f32]| -> f32 {
            let mut most = [0.0_f32; 8];
            for row in faces.as_chunks::<8>().0 {
                most.iter_mut().zip(row).for_each(|(most, u)| *most = most.max(u.abs()));
            }
            step * most.into_iter().fold(0.0, f32::max)
        };
        let by_bucket = flow.accessor("speed").map(faces, |_, faces| faces.map(most))?;
        let here = by_bucket.iter().flatten().copied().fold(0.0, f32::max);
        let all = flow.domain.processes().all_gather(bytemuck::bytes_of(&here))?;
        let all = all.iter().flat_map(|bytes| bytemuck::pod_collect_to_vec::<u8, f32>(bytes));
        let mut outside = [0.0; 3];
        for (outside, face) in outside.iter_mut().zip(flow.velocity.faces) {
            *outside = step * volume.column(face)?.background().abs();
        }
        Ok(Self { most: all.fold(0.0, f32::max), by_bucket, outside })
    }

    /// At most along each axis in a Bucket and around it.
    fn around(&self, neighbours: &[Slot; 27]) -> [f32; 3] {
        let of = |slot: &Slot| match *slot {
            NONE => self.outside,
            // Of copies nothing is known.
            slot => *self.by_bucket.get(slot as usize).unwrap_or(&[self.most; 3]),
        };
        let larger = |a: [f32; 3], b: [f32; 3]| std::array::from_fn(|axis| a[axis].max(b[axis]));
        neighbours.iter().map(of).fold([0.0; 3], larger)
    }
}

/// Finds the ways of all cells. Collective.
pub fn find(flow: &Flow<'_>, scratch: &DiscreteVolume, ways: Ways, speeds: &Speeds) -> Result<()> {
    let lost = find_near(flow, scratch, ways, speeds)?;
    Far { flow, scratch }.find_ways(&lost, ways.back)
}

/// Finds the ways that lead no farther than to the next Bucket, and lists the cells that what comes from farther away ends in. The way
/// from a cell that leads farther is no number.
fn find_near(
    flow: &Flow<'_>,
    scratch: &DiscreteVolume,
    ways: Ways,
    speeds: &Speeds,
) -> Result<Cells> {
    let volume = flow.volume;
    let access = (
        flow.velocity.faces.map(|face| volume.around(face, REACH as u8)),
        ways.back.map(|channel| scratch.write(channel)),
        ways.forth.map(|channel| scratch.write(channel)),
        flow.only.map(|(marks, cells)| marks.around(cells, 1)),
    );
    let step = flow.per_voxel();
    let goes_forth = flow.scheme != super::Scheme::SemiLagrangian;
    let all_lost = Mutex::new(Cells::new());
    flow.accessor("find ways").run_with(
        access,
        <[Window; 3]>::default,
        |near, here, (velocity, back, forth, only)| {
            if only.is_some_and(|cells| !is_beside(&cells)) {
                return;
            }
            // Nothing is looked up farther away than this part of a step, and as far as the middle of a cell is from its faces.
            let most = speeds.around(here.topology.neighbours(here.slot));
            let extent = Extent::of(most.map(|u| -0.75 * u), most.map(|u| 0.75 * u + 0.5));
            near.iter_mut().zip(&velocity).for_each(|(near, of)| near.load(of, &extent));
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

/// Follows the flow from the middle of every cell of a Bucket, by the copies of its faces; calls `lose` for those whose way leads too
/// far. `step` says how many voxels each m/s leads.
#[inline(always)]
fn follow(
    near: &[Window; 3],
    step: f32,
    traces: Traces,
    ways: [&mut [f32]; 3],
    mut lose: impl FnMut(usize),
) {
    let [x, y, z] = ways.map(|way| way.as_chunks_mut::<8>().0);
    for (row, ((x, y), z)) in x.iter_mut().zip(y).zip(z).enumerate() {
        let here: [Row; 3] = std::array::from_fn(|axis| {
            let (low, high) = (near[axis].row(row, None), near[axis].row(row, Some(axis)));
            std::array::from_fn(|n| 0.5 * (low[n] + high[n]))
        });
        let half_way = velocities(near, row, 0.5 * step, &here);
        let way: [Row; 3] = match traces {
            Traces::Rk2 => half_way.map(|along| along.map(|v| step * v)),
            Traces::Rk3 => {
                let later = velocities(near, row, 0.75 * step, &half_way);
                let sum = |axis: usize, n: usize| {
                    (2.0 / 9.0) * here[axis][n]
                        + (1.0 / 3.0) * half_way[axis][n]
                        + (4.0 / 9.0) * later[axis][n]
                };
                std::array::from_fn(|axis| std::array::from_fn(|n| step * sum(axis, n)))
            }
        };
        [*x, *y, *z] = way;
        for n in 0..8 {
            if !(way[0][n] + way[1][n] + way[2][n]).is_finite() {
                (x[n], y[n], z[n]) = (f32::NAN, f32::NAN, f32::NAN);
                lose(8 * row + n);
            }
        }
    }
}

/// The velocities where others [m/s] lead from the middles of a row of cells in a time; not numbers where that is too far.
#[inline(always)]
fn velocities(near: &[Window; 3], row: usize, time: f32, along: &[Row; 3]) -> [Row; 3] {
    // Faces lie at whole numbers along their own axis, and half-way between along the others.
    let whole: [Row; 3] = std::array::from_fn(|axis| {
        std::array::from_fn(|n| [row >> 3, row & 7, n][axis] as f32 + 0.5 + time * along[axis][n])
    });
    std::array::from_fn(|of| {
        let place = |axis: usize| match axis == of {
            true => whole[axis],
            false => whole[axis].map(|at| at - 0.5),
        };
        near[of].at(&Spots::of([place(0), place(1), place(2)]))
    })
}
