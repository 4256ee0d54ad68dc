//! Which of the Buckets without voxels lie inside.
//!
//! Along a column of Buckets (z), what lies between two that have voxels is all inside or all outside, and the voxels
//! that face the gap say which. So a list of gaps is enough, as long as the list of Buckets around the surface at most.

use crate::error::Result;
use rayon::prelude::*;
use undine_core::access::{Here, Tile};
use undine_core::domain::{NONE, Topology, VOXELS_PER_BUCKET, offset_towards};
use undine_core::glam::IVec3;
use undine_core::volume::Resolution;
use undine_core::{Accessor, Bucket, DiscreteVolume, GridDomain, Handle};

/// The inside of a level set where it has no voxels.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Beyond {
    /// The gaps that lie inside, by x, y and z; they do not touch.
    gaps: Vec<Gap>,
    /// For each local slot a bit per neighbour, in the order of directions: no voxels there, but inside.
    inside: Vec<u32>,
}

/// Buckets of a column from one z up to, and without, another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Gap {
    x: i32,
    y: i32,
    from: i32,
    to: i32,
}

impl Gap {
    /// How many Buckets it has.
    pub fn buckets(&self) -> u64 {
        (self.to - self.from) as u64
    }
}

/// What a Bucket says of those below and above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Ends {
    /// x, y and z.
    bucket: [i32; 3],
    /// Bit 0: the voxels at the lower end are inside; bit 1: those at the upper end.
    inside: i32,
}

impl Beyond {
    /// Looks at the ends of all columns of a channel of cells, negative inside. Collective.
    pub fn find(
        domain: &GridDomain,
        volume: &DiscreteVolume,
        distance: Handle<f32>,
    ) -> Result<Self> {
        let accessor = Accessor::new("look beyond the band", domain).over(volume.topology());
        let mut ends = accessor.map(volume.own(distance), |here, distance| Ends {
            bucket: here.bucket.coord.to_array(),
            inside: face_is_inside(distance, 0) | face_is_inside(distance, 7) << 1,
        })?;
        if domain.processes().count() > 1 {
            ends = domain.processes().all_gather_values(&ends)?.concat();
        }
        ends.par_sort_unstable();

        let gaps = ends.windows(2).filter_map(|pair| {
            let [[x, y, z], above] = [pair[0].bucket, pair[1].bucket];
            let inside = pair[0].inside & 2 != 0 && pair[1].inside & 1 != 0;
            let same_column = [x, y] == above[..2];
            (same_column && inside && z + 1 < above[2]).then_some(Gap {
                x,
                y,
                from: z + 1,
                to: above[2],
            })
        });
        let mut beyond = Self { gaps: gaps.collect(), inside: Vec::new() };
        let topology = volume.topology();
        let slots = (0..topology.local() as u32).into_par_iter();
        beyond.inside = slots.map(|slot| beyond.mask(topology, slot)).collect();
        Ok(beyond)
    }

    /// Whether a Bucket without voxels lies inside. One with voxels does not, nor one of a coarser level.
    pub fn is_inside(&self, bucket: Bucket) -> bool {
        self.gap_of(bucket).is_some()
    }

    /// The number of the inside gap that a Bucket lies in.
    pub(super) fn gap_of(&self, bucket: Bucket) -> Option<usize> {
        let IVec3 { x, y, z } = bucket.coord;
        let after = self.gaps.partition_point(|gap| (gap.x, gap.y, gap.from) <= (x, y, z));
        let holds = |gap: &Gap| bucket.level == 0 && (gap.x, gap.y) == (x, y) && z < gap.to;
        after.checked_sub(1).filter(|&before| holds(&self.gaps[before]))
    }

    /// The inside gaps, by x, y and z.
    pub(super) fn gaps(&self) -> &[Gap] {
        &self.gaps
    }

    /// The numbers of the inside gaps that touch one, in the column so many Buckets away.
    pub(super) fn gaps_beside(&self, gap: &Gap, dx: i32, dy: i32) -> impl Iterator<Item = usize> {
        let column = (gap.x + dx, gap.y + dy);
        // Gaps of a column do not touch: by where they end, they are in order too.
        let start = self.gaps.partition_point(|one| {
            (one.x, one.y) < column || (one.x, one.y) == column && one.to <= gap.from
        });
        let to = gap.to;
        let touches = move |one: &&Gap| (one.x, one.y) == column && one.from < to;
        let count = self.gaps[start..].iter().take_while(touches).count();
        start..start + count
    }

    /// The neighbours of a local slot that have no voxels but lie inside, a bit each in the order of
    /// [`directions`](undine_core::domain::direction).
    #[inline]
    pub fn inside_around(&self, slot: u32) -> u32 {
        self.inside[slot as usize]
    }

    /// How many Buckets without voxels lie inside.
    pub fn inside_count(&self) -> u64 {
        self.gaps.iter().map(Gap::buckets).sum()
    }

    /// The Buckets without voxels that lie inside.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.gaps.iter().flat_map(|gap| (gap.from..gap.to).map(|z| Bucket::new(gap.x, gap.y, z)))
    }

    /// Bytes that it holds.
    pub fn bytes(&self) -> u64 {
        (size_of_val(&self.gaps[..]) + size_of_val(&self.inside[..])) as u64
    }

    /// Writes `value` to the padding of a tile, loaded around a Bucket, that lies in Buckets without voxels inside.
    pub fn fill(&self, here: Here<'_>, tile: &mut Tile<f32>, value: f32) {
        let mut rest = self.inside_around(here.slot);
        let (low, high) = (i32::from(tile.pad().low), i32::from(tile.pad().high));
        let edge = VOXELS_PER_BUCKET as i32;
        let span = |step: i32| match step {
            -1 => -low..0,
            0 => 0..edge,
            _ => edge..edge + high,
        };
        while rest != 0 {
            let offset = offset_towards(rest.trailing_zeros() as usize);
            rest &= rest - 1;
            let along_z = span(offset.z);
            for x in span(offset.x) {
                for y in span(offset.y) {
                    let first = tile.index(x, y, along_z.start);
                    tile.values_mut()[first..first + along_z.len()].fill(value);
                }
            }
        }
    }

    fn mask(&self, topology: &Topology, slot: u32) -> u32 {
        let bucket = topology.bucket(slot);
        let neighbours = topology.neighbours(slot);
        (0..27)
            .filter(|&towards| neighbours[towards] == NONE)
            .filter(|&towards| self.is_inside(bucket.offset(offset_towards(towards))))
            .fold(0, |mask, towards| mask | 1 << towards)
    }
}

/// 1 if the voxels at one z are inside. Where a gap follows they are all alike; of others, the farthest decides.
fn face_is_inside(distance: &[f32], z: usize) -> i32 {
    let edge = 0..VOXELS_PER_BUCKET;
    let voxels =
        edge.clone().flat_map(|x| edge.clone().map(move |y| Resolution::R8.index(x, y, z)));
    let farthest = voxels
        .map(|voxel| distance[voxel])
        .fold(0.0_f32, |far, distance| if distance.abs() > far.abs() { distance } else { far });
    i32::from(farthest < 0.0)
}
