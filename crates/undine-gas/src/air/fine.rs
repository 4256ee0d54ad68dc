//! Smoke and heat on voxels of half the size: 8³ of them where there are 4³ cells of velocity and pressure (Loki, Figure 1). What is seen is
//! then twice as sharp as what is solved for.
//!
//! They lie in Buckets of their own, which follow smoke and heat. Before they are carried along, the velocity is brought onto
//! their faces; what they weigh goes back to the cells that they are in. Either may lie on another process.

use super::channels::Channels;
use super::declaration::Settings;
use undine_core::domain::Slot;
use undine_core::glam::{DVec3, IVec3};
use undine_core::volume::{Interpolation, MacHandle, Resolution, VoxelShape, foreign};
use undine_core::{Accessor, Bucket, BucketSet, ChannelSpec, DiscreteVolume, GridDomain, Handle};
use undine_fluid::carry::{Cargo, Flow};
use undine_fluid::extend::extend_cells;
use undine_sim::offers::{FineGrid, FluidField};
use undine_sim::{Result, World};

/// Voxels along the edge of a cell of velocity and pressure.
pub const VOXELS_PER_CELL: i32 = 2;

/// Buckets whose places are asked for at once.
const BUCKETS_AT_ONCE: usize = 256;

/// Voxels of a Bucket.
const VOXELS: usize = 512;

/// The finer grid of air.
#[derive(Debug, Clone, Copy)]
pub struct Fine {
    /// Where it is.
    pub grid: FineGrid,
    /// The velocity on its faces [m/s].
    velocity: MacHandle,
    /// How much solids leave open of the cell that each voxel is in.
    open: Handle<f32>,
}

impl Fine {
    /// Adds a store for it to the World; what it carries is added to that.
    pub fn add(world: &mut World, label: &str, settings: &Settings) -> Result<Self> {
        let domain = world.domain(settings.voxel / f64::from(VOXELS_PER_CELL))?;
        let none = world.domains[domain].subset(&BucketSet::new())?;
        let mut volume = DiscreteVolume::on(format!("{label} fine"), &world.domains[domain], none);
        let passing = |name: &'static str, default: f32| {
            ChannelSpec::new(name, default).internal().transient()
        };
        let wind = settings.wind.as_vec3().to_array();
        let velocity =
            volume.add_mac_with(&passing("flow", 0.0).unit("m/s"), wind, Resolution::R8)?;
        let open = volume.add_channel(&passing("open-cells", -1.0), VoxelShape::CELLS)?;
        let volume = world.volumes.add(volume);
        Ok(Self { grid: FineGrid { volume, domain }, velocity, open })
    }

    /// Follows smoke and heat, with as much room around them as air has, where there is air. Collective.
    pub fn follow(
        &self,
        world: &mut World,
        air: &FluidField,
        smoke: &BucketSet,
        padding: u32,
    ) -> Result<()> {
        let per_cell = VOXELS_PER_CELL as u32;
        let room = children(world.volumes[air.volume].topology().all())?;
        let wanted = smoke.dilate(per_cell * padding.max(1))?.intersection(&room);
        let volume = &mut world.volumes[self.grid.volume];
        if *volume.topology().all() != wanted {
            let topology = world.domains[self.grid.domain].subset(&wanted)?;
            volume.follow(&topology)?;
        }
        Ok(())
    }

    /// What of an acceleration acts on cells of air, by the smoke and heat in them. Collective.
    pub fn weigh(
        &self,
        world: &World,
        domain: &GridDomain,
        channels: &Channels,
        weigh: impl Fn(f32, f32) -> f32,
    ) -> Result<()> {
        let (air, fine) = (&world.volumes[channels.field.volume], self.volume(world));
        let covered = parents(fine.topology().all())?;
        let topology = air.topology();
        let slots: Vec<Slot> = (0..topology.local() as Slot)
            .filter(|&slot| covered.contains(topology.bucket(slot)))
            .collect();
        // In the middle of a cell eight voxels meet, and what lies between them is their mean.
        let frame = domain.frame();
        let middle = |slot: Slot, n: usize| {
            frame.corner(topology.bucket(slot)) + frame.voxel_size(0) * (place(n) + 0.5)
        };
        let mut weights: Vec<Vec<f32>> = vec![Vec::new(); topology.local()];
        self.in_pieces(world, &slots, |slots| {
            let points: Vec<DVec3> =
                slots.iter().flat_map(|&slot| (0..VOXELS).map(move |n| middle(slot, n))).collect();
            let grid = &world.domains[self.grid.domain];
            let at = |of| foreign::sample(grid, fine, of, Interpolation::Linear, &points);
            let (smoke, heat) = (at(channels.smoke)?, at(channels.temperature)?);
            let all: Vec<f32> = smoke.iter().zip(&heat).map(|(s, t)| weigh(*s, *t)).collect();
            for (&slot, all) in slots.iter().zip(all.chunks(VOXELS)) {
                weights[slot as usize] = all.to_vec();
            }
            Ok(())
        })?;
        let none = weigh(0.0, fine.column(channels.temperature)?.background());
        Accessor::new("weigh air", domain).over(topology).run(
            air.write(channels.weight),
            |here, weight| match &weights[here.slot as usize][..] {
                [] => weight.fill(none),
                found => weight.copy_from_slice(found),
            },
        )?;
        Ok(())
    }

    /// Carries numbers along with the velocity of the air. Collective.
    pub fn carry(
        &self,
        world: &World,
        domain: &GridDomain,
        channels: &Channels,
        settings: &Settings,
        step: f64,
    ) -> Result<()> {
        let (grid, volume) = (&world.domains[self.grid.domain], self.volume(world));
        self.take_flow(world, domain, &channels.field)?;
        extend_cells(grid, volume, self.open, &channels.carried)?;
        let flow = Flow {
            domain: grid,
            volume,
            velocity: self.velocity,
            step,
            traces: settings.traces,
            scheme: settings.scheme,
            only: None,
        };
        flow.carry(&Cargo { velocity: None, cells: &channels.carried })
    }

    /// Brings the velocity of the air onto its faces, and what is open of cells to the voxels in them. Collective.
    fn take_flow(&self, world: &World, domain: &GridDomain, air: &FluidField) -> Result<()> {
        let (grid, volume) = (&world.domains[self.grid.domain], self.volume(world));
        let (frame, topology) = (*grid.frame(), volume.topology());
        let coarse = &world.volumes[air.volume];
        let voxel = frame.voxel_size(0);
        let corner = |slot: Slot| frame.corner(topology.bucket(slot));
        let face = |slot: Slot, axis: usize, n: usize| {
            corner(slot) + voxel * (place(n) + 0.5 - 0.5 * DVec3::AXES[axis])
        };
        // The middle of the cell that a voxel is in: Buckets begin where cells do.
        let parent = |slot: Slot, n: usize| {
            let cell = (place(n) / f64::from(VOXELS_PER_CELL)).floor() + 0.5;
            corner(slot) + voxel * f64::from(VOXELS_PER_CELL) * cell
        };
        let slots: Vec<Slot> = (0..topology.local() as Slot).collect();
        let mut flow: Vec<[Vec<f32>; 3]> = vec![Default::default(); slots.len()];
        let mut open: Vec<Vec<f32>> = vec![Vec::new(); slots.len()];
        let linear = Interpolation::Linear;
        self.in_pieces(world, &slots, |slots| {
            for axis in 0..3 {
                let points: Vec<DVec3> = slots
                    .iter()
                    .flat_map(|&slot| (0..VOXELS).map(move |n| face(slot, axis, n)))
                    .collect();
                let found =
                    foreign::sample_velocities(domain, coarse, air.velocity, linear, &points)?;
                for (&slot, found) in slots.iter().zip(found.chunks(VOXELS)) {
                    flow[slot as usize][axis] = found.iter().map(|v| v[axis]).collect();
                }
            }
            let points: Vec<DVec3> =
                slots.iter().flat_map(|&slot| (0..VOXELS).map(move |n| parent(slot, n))).collect();
            let found = foreign::sample(domain, coarse, air.walls.volume, linear, &points)?;
            for (&slot, found) in slots.iter().zip(found.chunks(VOXELS)) {
                // What is closed is closed, whatever rounding made of it.
                let closed = |open: &f32| if open.abs() < CLOSED { 0.0 } else { *open };
                open[slot as usize] = found.iter().map(closed).collect();
            }
            Ok(())
        })?;
        let faces = self.velocity.faces.map(|face| volume.write(face));
        Accessor::new("take the flow of the air", grid).over(topology).run(
            (faces, volume.write(self.open)),
            |here, (faces, values)| {
                for (face, found) in faces.into_iter().zip(&flow[here.slot as usize]) {
                    face.copy_from_slice(found);
                }
                values.copy_from_slice(&open[here.slot as usize]);
            },
        )?;
        Ok(())
    }

    fn volume<'w>(&self, world: &'w World) -> &'w DiscreteVolume {
        &world.volumes[self.grid.volume]
    }

    /// Does something for a few Buckets at a time, as often on all processes. Collective.
    fn in_pieces(
        &self,
        world: &World,
        slots: &[Slot],
        mut work: impl FnMut(&[Slot]) -> Result<()>,
    ) -> Result<()> {
        let own = slots.len().div_ceil(BUCKETS_AT_ONCE);
        let pieces = world.processes().all_max_f64(own as f64)? as usize;
        for piece in 0..pieces {
            let end = |piece: usize| (piece * BUCKETS_AT_ONCE).min(slots.len());
            work(&slots[end(piece)..end(piece + 1)])?;
        }
        Ok(())
    }
}

/// A cell of which less than this is open is closed.
const CLOSED: f32 = 1e-4;

/// The first corner of a voxel, from that of its Bucket [voxels].
fn place(n: usize) -> DVec3 {
    DVec3::from_array(Resolution::R8.coords(n).map(|c| c as f64))
}

/// The Buckets of air that Buckets of voxels are in.
pub fn parents(buckets: &BucketSet) -> Result<BucketSet> {
    let parent = |bucket: Bucket| {
        let coord = bucket.coord.to_array().map(|c| c.div_euclid(VOXELS_PER_CELL));
        Bucket { coord: IVec3::from_array(coord), ..bucket }
    };
    Ok(BucketSet::from_buckets(buckets.buckets().map(parent))?)
}

/// The Buckets of voxels in Buckets of air.
fn children(buckets: &BucketSet) -> Result<BucketSet> {
    let per_cell = VOXELS_PER_CELL;
    let child = move |bucket: Bucket| {
        (0..per_cell.pow(3)).map(move |n| {
            let at = IVec3::new(n % per_cell, n / per_cell % per_cell, n / per_cell / per_cell);
            Bucket { coord: bucket.coord * per_cell + at, ..bucket }
        })
    };
    Ok(BucketSet::from_buckets(buckets.buckets().flat_map(child))?)
}
