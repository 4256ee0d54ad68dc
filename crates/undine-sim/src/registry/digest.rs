//! Content hashes of all state: what two runs are compared by, and what tells which channels a Task changed.
//!
//! A column's digest is the [XXH64](super::xxh64()) of the hashes of its pieces, in their order. It depends on the bytes of the
//! elements and their order alone, not on threads, nor on where the allocator put them.

use super::column::Column;
use super::store::{Store, StoreKind, Stores};
use super::xxh64::xxh64;
use rayon::prelude::*;
use undine_core::mesh::ElementClass;
use undine_core::{Frame, Result, Topology};

/// The content of one store as hashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreDigest {
    /// What kind of store it is.
    pub kind: StoreKind,
    /// How messages call it.
    pub label: String,
    /// Everything but channels: Buckets, how many particles each has, the next id, connectivity.
    pub structure: u64,
    /// The channels, by class and name.
    pub channels: Vec<ChannelDigest>,
}

/// The content of one channel as a hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelDigest {
    /// The class of elements that it is on, for a mesh.
    pub class: Option<ElementClass>,
    /// Its name.
    pub name: String,
    /// Whether it belongs in a checkpoint.
    pub checkpoint: bool,
    /// The hash of its elements.
    pub digest: u64,
}

/// The content of every store as hashes. Fails if a channel is being written.
pub fn digests(stores: &dyn Stores) -> Result<Vec<StoreDigest>> {
    let mut all = Ok(Vec::new());
    stores.each(&mut |store| {
        if let Ok(list) = &mut all {
            match store.digest() {
                Ok(digest) => list.push(digest),
                Err(error) => all = Err(error),
            }
        }
    });
    all
}

impl Store<'_> {
    /// The content of this store as hashes.
    pub fn digest(&self) -> Result<StoreDigest> {
        let mut channels = Vec::new();
        self.each_column("digest", |column| {
            channels.push(ChannelDigest {
                class: column.class,
                name: column.info.name.clone(),
                checkpoint: column.info.checkpoint,
                digest: column.digest(),
            });
        })?;
        channels.sort_by(|a, b| (a.class, &a.name).cmp(&(b.class, &b.name)));
        Ok(StoreDigest {
            kind: self.kind(),
            label: self.label().to_owned(),
            structure: self.structure()?,
            channels,
        })
    }

    /// The hash of everything but channels.
    fn structure(&self) -> Result<u64> {
        Ok(match self {
            Store::Domain(domain) => buckets(domain.topology()),
            Store::Particles(particles) => {
                let ids = particles.column(particles.id())?;
                let local = 0..particles.topology().local() as u32;
                let counts = local.map(|slot| ids.chunk(slot).len() as u64);
                let parts = [buckets(particles.topology()), particles.next_id()];
                hash_of(&parts.into_iter().chain(counts).collect::<Vec<_>>())
            }
            Store::Topological(particles) => {
                hash_of(&[particles.len() as u64, particles.next_id()])
            }
            Store::Volume(volume) => buckets(volume.topology()),
            Store::Mesh(mesh) => {
                let tables = mesh.connectivity().tables();
                let [starts, items] = tables.map(|table| xxh64(bytemuck::cast_slice(&table), 0));
                hash_of(&[mesh.vertex_count() as u64, starts, items])
            }
            Store::Flat(_, len) => *len as u64,
        })
    }
}

impl Column<'_> {
    /// The hash of its elements.
    pub fn digest(&self) -> u64 {
        let pieces: Vec<u64> = self.par_pieces().map(|n| xxh64(self.piece(n), 0)).collect();
        hash_of(&pieces)
    }
}

/// The hash of Buckets and of where they lie.
fn buckets(topology: &Topology) -> u64 {
    let frame: &Frame = topology.frame();
    let [x, y, z] = frame.origin().to_array().map(f64::to_bits);
    let keys = xxh64(bytemuck::cast_slice(topology.all().keys()), 0);
    hash_of(&[x, y, z, frame.voxel_size(0).to_bits(), keys])
}

fn hash_of(values: &[u64]) -> u64 {
    xxh64(bytemuck::cast_slice(values), 0)
}
