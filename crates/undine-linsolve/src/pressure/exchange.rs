//! What travels between processes on one level, and between it and the next.
//!
//! Of a copy only the layer of cells that touches a local Bucket is ever read, so only that layer is sent, and of the colour
//! that was just relaxed. A Bucket and its parent may have different owners: sums of residuals go up to the parent's owner, and
//! corrections come down.

use super::half::{HALF, Half, VOXELS, place};
use super::piece::{Piece, voxel_at};
use super::smooth::Octant;
use super::stencil::NONE;
use super::tables::Tables;
use crate::error::Result;
use crate::rows::Rows;
use std::collections::BTreeMap;
use std::sync::Arc;
use undine_core::Processes;
use undine_core::process::Parcel;

/// To or from each process: what, in the order of sending.
type Lists<T> = BTreeMap<usize, Vec<T>>;

/// The layers of Buckets that processes show each other on a level.
#[derive(Debug, Default)]
struct Layers {
    /// A local Bucket and the side of its layer.
    sends: Lists<(u32, usize)>,
    /// A copy and the side of its layer.
    receives: Lists<(u32, usize)>,
}

impl Layers {
    fn new(table: &Tables) -> Self {
        let mut layers = Self::default();
        for (place, sides) in table.sides.iter().enumerate() {
            for (side, &next) in sides.iter().enumerate() {
                if let Some(owner) = table.owner(next) {
                    layers.sends.entry(owner).or_default().push((place as u32, side));
                    layers.receives.entry(owner).or_default().push((next, side ^ 1));
                }
            }
        }
        // Both sides count along the curve.
        layers.receives.values_mut().for_each(|list| list.sort_unstable());
        layers
    }

    /// Both lists as entries of a vector. `entries` adds those of a voxel of a Bucket.
    fn entries(
        &self,
        entries: impl Fn(usize, usize, &mut Vec<u32>),
    ) -> [Vec<(usize, Vec<u32>)>; 2] {
        [&self.sends, &self.receives].map(|lists| {
            let list = |(&process, layers): (&usize, &Vec<(u32, usize)>)| {
                let mut list = Vec::new();
                for &(bucket, side) in layers {
                    let plane = if side % 2 == 1 { 7 } else { 0 };
                    for bit in 0..64 {
                        entries(bucket as usize, voxel_at(side / 2, plane, bit), &mut list);
                    }
                }
                (process, list)
            };
            lists.iter().map(list).collect()
        })
    }
}

/// The rows of vectors with 512 entries to a Bucket, in the order by colours. Collective.
pub fn rows(processes: &Arc<dyn Processes>, table: &Tables) -> Result<Arc<Rows>> {
    let [sends, receives] = Layers::new(table)
        .entries(|bucket, voxel, list| list.push((bucket * VOXELS + place(voxel)) as u32));
    let (local, stored) = (table.local * VOXELS, table.stored * VOXELS);
    Rows::with_exchange(processes.clone(), local, stored, sends, receives)
}

/// What travels for the smoother on one level.
#[derive(Debug)]
pub struct Halo {
    /// By colour.
    colours: [Arc<Rows>; 2],
}

impl Halo {
    /// Collective.
    pub fn new(processes: &Arc<dyn Processes>, table: &Tables) -> Result<Self> {
        let layers = Layers::new(table);
        let colour = |colour: usize| {
            let [sends, receives] = layers.entries(|bucket, voxel, list| {
                let place = place(voxel);
                if place / HALF == colour {
                    list.push((bucket * HALF + place % HALF) as u32);
                }
            });
            let (local, stored) = (table.local * HALF, table.stored * HALF);
            Rows::with_exchange(processes.clone(), local, stored, sends, receives)
        };
        Ok(Self { colours: [colour(0)?, colour(1)?] })
    }

    /// Brings the layers of copies up to date. Collective.
    pub fn refresh(&self, colour: usize, halves: &mut [Half<f32>]) -> Result<()> {
        self.colours[colour].refresh(bytemuck::cast_slice_mut::<Half<f32>, f32>(halves))
    }
}

/// What travels between a level and the next coarser one.
#[derive(Debug)]
pub struct Transfer {
    processes: Arc<dyn Processes>,
    /// Local Buckets whose parents others own.
    sends: Lists<u32>,
    /// Foreign children of local parents: their copies, and the parent's place and octant.
    receives: Lists<(u32, u32, u8)>,
    /// Parents, with copies of those that others own.
    parents: Arc<Rows>,
}

impl Transfer {
    /// Collective.
    pub fn new(processes: &Arc<dyn Processes>, fine: &Tables, coarse: &Tables) -> Result<Self> {
        let mut sends: Lists<u32> = Lists::new();
        let mut wanted: Lists<u32> = Lists::new();
        for (place, &parent) in fine.parents.iter().enumerate() {
            if let Some(owner) = coarse.owner(parent) {
                sends.entry(owner).or_default().push(place as u32);
                wanted.entry(owner).or_default().push(parent);
            }
        }
        let mut receives: Lists<(u32, u32, u8)> = Lists::new();
        let mut shown: Lists<u32> = Lists::new();
        for (parent, children) in coarse.children.iter().enumerate() {
            for (octant, &child) in children.iter().enumerate() {
                if let Some(owner) = fine.owner(child) {
                    let entry = (child, parent as u32, octant as u8);
                    receives.entry(owner).or_default().push(entry);
                    shown.entry(owner).or_default().push(parent as u32);
                }
            }
        }
        receives.values_mut().for_each(|list| list.sort_unstable());
        for list in wanted.values_mut().chain(shown.values_mut()) {
            list.sort_unstable();
            list.dedup();
        }
        let parents = Rows::with_exchange(
            processes.clone(),
            coarse.local,
            coarse.stored,
            shown.into_iter().collect(),
            wanted.into_iter().collect(),
        )?;
        Ok(Self { processes: processes.clone(), sends, receives, parents })
    }

    /// The pieces of all children of local parents, by place; local ones are moved in. Collective.
    pub fn with_foreign(&self, pieces: &[Piece], stored: usize) -> Result<Vec<Piece>> {
        let parcel = |(&process, list): (&usize, &Vec<u32>)| {
            let mut bytes = Vec::new();
            list.iter().for_each(|&place| pieces[place as usize].pack(&mut bytes));
            Parcel { process, bytes }
        };
        let arrived = self.processes.exchange(self.sends.iter().map(parcel).collect())?;
        let mut all = pieces.to_vec();
        all.resize_with(stored, Piece::empty);
        for parcel in arrived {
            let mut bytes = &parcel.bytes[..];
            for &(child, ..) in self.receives.get(&parcel.process).into_iter().flatten() {
                all[child as usize] = Piece::unpack(&mut bytes)?;
            }
        }
        Ok(all)
    }

    /// Sends sums of residuals up: `sums` of each local Bucket whose parent is elsewhere; `put` those that arrive into a parent's
    /// octant. Collective.
    pub fn up(
        &self,
        sums: impl Fn(usize) -> Octant,
        mut put: impl FnMut(usize, usize, &Octant),
    ) -> Result<()> {
        let outgoing = |(&process, list): (&usize, &Vec<u32>)| {
            let sums: Vec<Octant> = list.iter().map(|&place| sums(place as usize)).collect();
            Parcel { process, bytes: bytemuck::cast_slice(&sums).to_vec() }
        };
        let incoming: Vec<(usize, usize)> = self
            .receives
            .iter()
            .map(|(&process, list)| (process, list.len() * size_of::<Octant>()))
            .collect();
        let sends = self.sends.iter().map(outgoing).collect();
        let arrived = self.processes.start(sends, &incoming)?.finish()?;
        for (list, parcel) in self.receives.values().zip(arrived) {
            for (&(_, parent, octant), bytes) in
                list.iter().zip(parcel.bytes.chunks_exact(size_of::<Octant>()))
            {
                put(parent as usize, usize::from(octant), &bytemuck::pod_read_unaligned(bytes));
            }
        }
        Ok(())
    }

    /// Brings corrections down: copies of parents that others own become fresh. Collective.
    pub fn down(&self, halves: &mut [Half<f32>]) -> Result<()> {
        self.parents.refresh(halves)
    }
}

/// How a level that is small is gathered on every process, so that it and all above it need no messages.
#[derive(Debug)]
pub struct Gather {
    processes: Arc<dyn Processes>,
    /// By process: the places of its Buckets among all.
    places: Vec<Vec<u32>>,
}

impl Gather {
    /// `own` are the places of the local Buckets among all. Collective.
    pub fn new(processes: &Arc<dyn Processes>, own: &[u32]) -> Result<Self> {
        Ok(Self { processes: processes.clone(), places: processes.all_gather_values(own)? })
    }

    /// Everyone's pieces. Collective.
    pub fn pieces(&self, own: &[Piece]) -> Result<Vec<Piece>> {
        let mut bytes = Vec::new();
        own.iter().for_each(|piece| piece.pack(&mut bytes));
        let total = self.places.iter().map(Vec::len).sum();
        let mut all = vec![Piece::empty(); total];
        for (places, bytes) in self.places.iter().zip(self.processes.all_gather(&bytes)?) {
            let mut bytes = &bytes[..];
            for &place in places {
                all[place as usize] = Piece::unpack(&mut bytes)?;
            }
        }
        Ok(all)
    }

    /// Everyone's halves of one colour. Collective.
    pub fn halves(&self, own: &[Half<f32>], all: &mut [Half<f32>]) -> Result<()> {
        let everyone = self.processes.all_gather(bytemuck::cast_slice(own))?;
        for (places, bytes) in self.places.iter().zip(everyone) {
            for (&place, bytes) in places.iter().zip(bytes.chunks_exact(size_of::<Half<f32>>())) {
                all[place as usize] = bytemuck::pod_read_unaligned(bytes);
            }
        }
        Ok(())
    }
}

impl Tables {
    /// The process that owns a place, if it is another one.
    fn owner(&self, place: u32) -> Option<usize> {
        let copy = (place != NONE).then(|| (place as usize).checked_sub(self.local))??;
        Some(self.owners[copy] as usize)
    }
}
