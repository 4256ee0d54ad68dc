//! Copies of Buckets that other processes own: refreshed when a kernel reads around a Bucket, while
//! the Buckets that need no copies are already being visited.

use crate::channel::Handle;
use crate::domain::{GridDomain, Slot, Topology};
use crate::element::Element;
use crate::error::Result;
use crate::process::{Parcel, Pending, Processes};
use crate::volume::{DiscreteVolume, ErasedVoxels, VoxelColumn};
use rayon::prelude::*;

/// A refresh under way: parcels that travel, and where their bytes go.
pub struct Refresh<'r> {
    pending: Pending,
    topology: &'r Topology,
    store: Box<dyn FnOnce(Vec<Parcel>) -> Result<()> + Send + 'r>,
}

impl<'r> Refresh<'r> {
    pub(crate) fn new(
        pending: Pending,
        topology: &'r Topology,
        store: impl FnOnce(Vec<Parcel>) -> Result<()> + Send + 'r,
    ) -> Self {
        Self { pending, topology, store: Box::new(store) }
    }

    /// The Buckets of the store whose copies are under way.
    pub(super) fn topology(&self) -> &'r Topology {
        self.topology
    }

    /// Waits for the parcels, and stores what they bring.
    pub fn finish(self) -> Result<()> {
        (self.store)(self.pending.finish()?)
    }
}

impl DiscreteVolume {
    /// Refreshes the copies of other processes' Buckets in a channel, if they are stale, for readers
    /// outside of kernels; an Accessor does so by itself. Collective.
    pub fn refresh<T: Element>(&self, domain: &GridDomain, handle: Handle<T>) -> Result<()> {
        match refresh_voxels(self, handle, &**domain.processes())? {
            Some(refresh) => refresh.finish(),
            None => Ok(()),
        }
    }
}

/// Starts to refresh the copies in a channel of a volume, if they are stale.
pub(super) fn refresh_voxels<'r, T: Element>(
    volume: &'r DiscreteVolume,
    handle: Handle<T>,
    processes: &dyn Processes,
) -> Result<Option<Refresh<'r>>> {
    if processes.count() == 1 || volume.channels().halo_is_fresh(handle)? {
        return Ok(None);
    }
    let topology = volume.topology();
    let (outgoing, incoming) = {
        let column = volume.channels().read(handle, "refresh of copies")?;
        let outgoing: Vec<Parcel> = topology
            .sends()
            .iter()
            .map(|(process, slots)| Parcel { process: *process, bytes: pack(&column, slots) })
            .collect();
        let incoming: Vec<(usize, usize)> = topology
            .receives()
            .iter()
            .map(|(process, slots)| (*process, slots.len() * column.chunk_bytes()))
            .collect();
        (outgoing, incoming)
    };
    let pending = processes.start(outgoing, &incoming)?;
    Ok(Some(Refresh::new(pending, topology, move |parcels| {
        let mut column = volume.channels().write(handle, "refresh of copies")?;
        for (parcel, (_, slots)) in parcels.iter().zip(topology.receives()) {
            for (bytes, slot) in parcel.bytes.chunks_exact(column.chunk_bytes()).zip(slots.clone())
            {
                column.chunk_bytes_mut(slot).copy_from_slice(bytes);
            }
        }
        volume.channels().set_halo_fresh(handle)
    })))
}

/// The chunks of these slots, one behind the other.
fn pack<T: Element>(column: &VoxelColumn<T>, slots: &[Slot]) -> Vec<u8> {
    let mut bytes = vec![0; slots.len() * column.chunk_bytes()];
    bytes
        .par_chunks_exact_mut(column.chunk_bytes())
        .with_min_len(16)
        .zip(slots)
        .for_each(|(to, &slot)| to.copy_from_slice(column.read_chunk(slot)));
    bytes
}

/// Sends what was accumulated into copies to the owners, who add it in order of rank. Collective.
pub(super) fn add_up_copies<T: Element>(
    topology: &Topology,
    column: &mut VoxelColumn<T>,
    processes: &dyn Processes,
) -> Result<()> {
    if processes.count() == 1 {
        return Ok(());
    }
    let bytes = column.chunk_bytes();
    let outgoing = topology
        .receives()
        .iter()
        .map(|(process, slots)| Parcel {
            process: *process,
            bytes: pack(column, &slots.clone().collect::<Vec<_>>()),
        })
        .collect();
    let incoming: Vec<_> =
        topology.sends().iter().map(|(process, slots)| (*process, slots.len() * bytes)).collect();
    let parcels = processes.start(outgoing, &incoming)?.finish()?;
    for (parcel, (_, slots)) in parcels.iter().zip(topology.sends()) {
        let values: Vec<T> = bytemuck::pod_collect_to_vec(&parcel.bytes);
        for (values, &slot) in values.chunks_exact(column.chunk_len()).zip(slots) {
            for (voxel, value) in column.chunk_mut(slot).iter_mut().zip(values) {
                *voxel = voxel.sum(*value);
            }
        }
    }
    Ok(())
}
