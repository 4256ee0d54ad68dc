//! Which cells the surface may be near: those that have both an empty cell and one with particles around them.

use crate::rows::Rows;
use std::sync::Arc;
use undine_core::access::{Accessor, VoxelNeighbourhood};
use undine_core::domain::offset_towards;
use undine_core::volume::{DiscreteVolume, Resolution};
use undine_core::{BucketSet, GridDomain, Handle, ParticleSystem, Topology};
use undine_sim::Result;
use undine_sim::offers::{Coupling, FluidField, Interior};

/// How far a cell sees: a particle that a cell feels is in a cell at most so far away, and one whose image behind a wall it feels at
/// most so far.
const KERNEL: u32 = 1;
const IMAGES: u32 = 2;
/// An empty cell is so near to any cell whose distance is not settled by its being full.
const NEAR_EMPTY: u32 = 2;
/// How far the distances of the band reach beyond those cells, and no less than [`SURFACE_REACH`](undine_fluid::field::SURFACE_REACH).
const REACH: u32 = 3;

/// A cell that holds so much itself is as good as one with a particle.
const HELD: u32 = Interior::FULL / 16;

/// The Buckets around the surface, and marks on their cells.
#[derive(Debug)]
pub struct Band {
    /// The Buckets with both empty and full cells in or around them.
    pub topology: Arc<Topology>,
    /// Masks, on all Buckets of the liquid.
    pub marks: DiscreteVolume,
    /// Cells whose particles count: some cell that feels them is near an empty one.
    pub giving: Handle<u64>,
    /// Cells whose particles count should they have images behind walls.
    pub mirrored: Handle<u64>,
    /// Cells whose distance is to be measured.
    pub measured: Handle<u64>,
    /// Cells that the surface may be so near to that their distance is less than the reach.
    pub around_surface: Handle<u64>,
}

impl Band {
    /// Marks cells with particles in the mask of `field`, writes ± `reach` to all distances, and finds the band. Collective.
    pub fn find(
        domain: &GridDomain,
        particles: &ParticleSystem,
        volume: &DiscreteVolume,
        field: &FluidField,
        (distance, reach): (Handle<f32>, f32),
    ) -> Result<Self> {
        let mut marks = DiscreteVolume::on("marks", domain, volume.topology().clone());
        let mut mask = |name: &str| marks.add_mask(name, Resolution::R8).map(|mask| mask.words);
        // Particles have Buckets all around them: where there is none, neither particles nor empty cells matter.
        let empty = mask("empty")?;
        let giving = mask("giving")?;
        let mirrored = mask("mirrored")?;
        let measured = mask("measured")?;
        let around_surface = mask("around the surface")?;
        let occupied = field.cells.words;

        let voxel = domain.frame().voxel_size(0) as f32;
        let over = |task| Accessor::new(task, domain).over(volume.topology());
        over("mark cells with particles").run(
            (
                (
                    particles.own(particles.position()),
                    field.interior.map(|interior| volume.own(interior.parts)),
                ),
                (
                    volume.own(field.walls.volume),
                    Coupling::taken(volume).map(|taken| volume.own(taken)),
                ),
                volume.write(occupied),
                marks.write(empty),
            ),
            |_, ((position, interior), (open, taken), occupied, empty)| {
                mark_occupied(position, 1.0 / voxel, occupied);
                for (n, &parts) in interior.into_iter().flatten().enumerate() {
                    occupied[n >> 6] |= u64::from(parts >= HELD) << (n & 63);
                }
                for (x, (occupied, empty)) in occupied.iter().zip(empty).enumerate() {
                    // Less than half open, a cell may well have no particle; its distance is that of its surroundings.
                    let closed = (0..64).fold(0, |closed, n| {
                        closed | u64::from((0.0..0.5).contains(&open[x << 6 | n])) << n
                    });
                    let closed = taken.map_or(closed, |taken| {
                        let is_full = |n| taken[x << 6 | n] > 0.5;
                        (0..64).fold(closed, |closed, n| closed | u64::from(is_full(n)) << n)
                    });
                    *empty = !(occupied | closed);
                }
            },
        )?;

        let wanted = over("find the band").map(
            (
                (volume.around(occupied, 8), marks.around(empty, 8), volume.write(distance)),
                [giving, mirrored].map(|mask| marks.write(mask)),
                marks.write(measured),
                marks.write(around_surface),
            ),
            |here, ((occupied, empty, distance), [giving, mirrored], measured, around_surface)| {
                let any = |mask: &VoxelNeighbourhood<'_, u64>| {
                    (0..27).any(|towards| {
                        let [x, y, z] = offset_towards(towards).to_array();
                        mask.neighbour(x, y, z).iter().any(|&word| word != 0)
                    })
                };
                let (some, full) = (any(&occupied), !any(&empty));
                distance.fill(if some && full { -reach } else { reach });
                if !some || full {
                    return None;
                }
                let near_empty = Rows::load(&empty).dilate(NEAR_EMPTY);
                let emptied = near_empty.dilate(REACH);
                let filled = Rows::load(&occupied).dilate(NEAR_EMPTY + REACH);
                near_empty.store(measured);
                near_empty.dilate(KERNEL).store(giving);
                near_empty.dilate(IMAGES).store(mirrored);
                emptied.and(&filled).store(around_surface);
                for (n, distance) in distance.iter_mut().enumerate() {
                    if measured[n >> 6] >> (n & 63) & 1 == 0 {
                        *distance = -reach;
                    }
                }
                Some(here.bucket.key())
            },
        )?;
        let wanted = BucketSet::from_keys(wanted.into_iter().flatten().collect());
        let topology = domain.subset(&wanted)?;
        Ok(Self { topology, marks, giving, mirrored, measured, around_surface })
    }
}

/// Sets the bits of cells that hold particles.
fn mark_occupied(position: &[undine_core::glam::Vec3], per_voxel: f32, occupied: &mut [u64]) {
    let mut cells = [0_u64; 8];
    for position in position {
        let cell = (*position * per_voxel).to_array().map(|c| (c as i32).clamp(0, 7));
        cells[cell[0] as usize] |= 1 << (cell[1] << 3 | cell[2]);
    }
    occupied.copy_from_slice(&cells);
}
