//! A closed box of Buckets, liquid where a mask says: what the pressure benchmarks build their systems from.

use crate::Result;
use undine_core::glam::{DVec3, IVec3};
use undine_core::volume::{MacHandle, MaskHandle, Resolution, VoxelShape};
use undine_core::{Bucket, ChannelSpec, DiscreteVolume, Frame, GridDomain, Handle};
use undine_linsolve::pressure::place;

/// A box of n³ cells of unit size, n a multiple of 8, with the channels of a pressure system.
pub struct Tank {
    /// The Domain.
    pub domain: GridDomain,
    /// The volume with the channels.
    pub volume: DiscreteVolume,
    /// Which cells have a pressure.
    pub liquid: MaskHandle,
    size: usize,
}

impl Tank {
    /// A box of `size`³ cells, liquid where `liquid` says by cell, the last axis fastest.
    pub fn new(size: usize, liquid: &[bool]) -> Result<Self> {
        if !size.is_multiple_of(8) || liquid.len() != size.pow(3) {
            return Err(format!("a size of {size} is no multiple of 8 cells").into());
        }
        let mut domain = GridDomain::new("tank", Frame::new(DVec3::ZERO, 1.0)?);
        let end = DVec3::splat(size as f64 - 0.5);
        domain.set_buckets(&domain.buckets_in_box(DVec3::ZERO, end, 0)?)?;
        let mut volume = DiscreteVolume::new("tank", &domain);
        let mask = volume.add_mask("liquid", Resolution::R8)?;
        let tank = Self { domain, volume, liquid: mask, size };
        let mut words = tank.volume.column_mut(mask.words)?;
        tank.each_cell(|cell, slot, voxel| {
            if liquid[cell] {
                words.chunk_mut(slot)[voxel >> 6] |= 1 << (voxel & 63);
            }
        });
        drop(words);
        Ok(tank)
    }

    /// Adds a channel of cells, filled by place of the cell's centre.
    pub fn add_cells(&mut self, name: &str, value: impl Fn(DVec3) -> f64) -> Result<Handle<f32>> {
        let channel =
            self.volume.add_channel(&ChannelSpec::new(name, 0.0_f32), VoxelShape::CELLS)?;
        self.fill(channel, DVec3::splat(0.5), value)?;
        Ok(channel)
    }

    /// Adds a channel of faces, filled by axis and place of the face's centre.
    pub fn add_faces(
        &mut self,
        name: &str,
        unit: &'static str,
        value: impl Fn(usize, DVec3) -> f64,
    ) -> Result<MacHandle> {
        let mac = self.volume.add_mac(name, unit, Resolution::R8)?;
        for axis in 0..3 {
            let centre = DVec3::splat(0.5) - 0.5 * DVec3::AXES[axis];
            self.fill(mac.faces[axis], centre, |at| value(axis, at))?;
        }
        Ok(mac)
    }

    /// By cell, the last axis fastest: its entry in vectors of a pressure system whose Buckets have the slots of `system`.
    pub fn entries(&self, system: &undine_core::Topology) -> Vec<Option<usize>> {
        let mut entries = vec![None; self.size.pow(3)];
        let topology = self.volume.topology();
        self.each_cell(|cell, slot, voxel| {
            let slot = system.slot(topology.bucket(slot));
            entries[cell] = slot.map(|slot| slot as usize * 512 + place(voxel));
        });
        entries
    }

    fn fill(
        &self,
        channel: Handle<f32>,
        offset: DVec3,
        value: impl Fn(DVec3) -> f64,
    ) -> Result<()> {
        let mut column = self.volume.column_mut(channel)?;
        let n = self.size;
        self.each_cell(|cell, slot, voxel| {
            let at = IVec3::new((cell / (n * n)) as i32, (cell / n % n) as i32, (cell % n) as i32);
            column.chunk_mut(slot)[voxel] = value(at.as_dvec3() + offset) as f32;
        });
        Ok(())
    }

    /// Calls `visit` with each cell of the box, its slot and its voxel.
    fn each_cell(&self, mut visit: impl FnMut(usize, u32, usize)) {
        let topology = self.volume.topology();
        for slot in topology.level(0) {
            let Bucket { coord, .. } = topology.bucket(slot);
            for voxel in 0..512 {
                let at = coord * 8 + IVec3::new(voxel >> 6, voxel >> 3 & 7, voxel & 7);
                let [x, y, z] = at.to_array().map(|a| a as usize);
                visit((x * self.size + y) * self.size + z, slot, voxel as usize);
            }
        }
    }
}
