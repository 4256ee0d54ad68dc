//! Copies of Buckets that other processes own: refreshed when a kernel reads around a Bucket, while
//! the Buckets that need no copies are already being visited.

use crate::channel::Handle;
use crate::domain::Topology;
use crate::element::Element;
use crate::error::Result;
use crate::process::{Parcel, Pending, Processes};
use crate::volume::{DiscreteVolume, ErasedVoxels, VoxelColumn};

/// A refresh under way: parcels that travel, and where their bytes go.
pub struct Refresh<'r> {
    pending: Pending,
    store: Box<dyn FnOnce(Vec<Parcel>) -> Result<()> + Send + 'r>,
}

impl<'r> Refresh<'r> {
    pub(crate) fn new(
        pending: Pending,
        store: impl FnOnce(Vec<Parcel>) -> Result<()> + Send + 'r,
    ) -> Self {
        Self { pending, store: Box::new(store) }
    }

    /// Waits for the parcels, and stores what they bring.
    pub fn finish(self) -> Result<()> {
        (self.store)(self.pending.finish()?)
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
        (pack_chunks(topology, &column), expected_chunks(topology, column.chunk_bytes()))
    };
    let pending = processes.start(outgoing, &incoming)?;
    Ok(Some(Refresh::new(pending, move |parcels| {
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

fn pack_chunks<T: Element>(topology: &Topology, column: &VoxelColumn<T>) -> Vec<Parcel> {
    let pack = |slots: &Vec<u32>| {
        slots.iter().flat_map(|&slot| column.read_chunk(slot)).copied().collect()
    };
    topology
        .sends()
        .iter()
        .map(|(process, slots)| Parcel { process: *process, bytes: pack(slots) })
        .collect()
}

fn expected_chunks(topology: &Topology, chunk_bytes: usize) -> Vec<(usize, usize)> {
    topology
        .receives()
        .iter()
        .map(|(process, slots)| (*process, slots.len() * chunk_bytes))
        .collect()
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
            bytes: slots.clone().flat_map(|slot| column.read_chunk(slot)).copied().collect(),
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
