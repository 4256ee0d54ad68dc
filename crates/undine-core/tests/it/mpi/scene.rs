//! What the scenarios on Buckets share: scenes that every process can compute by itself, and everything
//! that all processes hold, gathered by Bucket so that it can be compared with one process's.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};
use undine_core::{
    Bucket, BucketKey, BucketSet, DiscreteVolume, Frame, GridDomain, ParticleSystem, Partition,
    Result, Topology,
    domain::Slot,
    glam::{DVec3, IVec3},
    process::{Parcel, Pending, Processes},
};

/// A well mixed function of two numbers (splitmix64).
pub fn hash(seed: u64, number: u64) -> u64 {
    let mut mixed = number.wrapping_add((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// A number in 0 .. 1 from the same function.
pub fn random(seed: u64, number: u64) -> f64 {
    (hash(seed, number) >> 11) as f64 / (1_u64 << 53) as f64
}

/// A point in a cube of this half edge from the same function.
pub fn random_point(seed: u64, number: u64, half: f64) -> DVec3 {
    let axis = |axis| (2.0 * random(seed, 3 * number + axis) - 1.0) * half;
    DVec3::new(axis(0), axis(1), axis(2))
}

/// A lattice with voxels of 0.1 m: Buckets of 0.8 m.
pub fn frame() -> Frame {
    Frame::new(DVec3::new(0.3, -0.2, 0.1), 0.1).expect("a lattice")
}

/// A Domain on all processes, cut through the middle of the scenes.
pub fn distributed(processes: &Arc<dyn Processes>) -> GridDomain {
    let partition = Arc::new(Partition::even(frame(), processes.count()));
    GridDomain::distributed("shared", frame(), processes.clone(), partition)
}

/// The same Domain on one process, for the reference.
pub fn alone() -> GridDomain {
    GridDomain::new("alone", frame())
}

/// A sparse set of Buckets on the finest `levels`: about `percent` of a cube around the origin.
pub fn sparse(seed: u64, percent: u64, half: i32, levels: u8) -> BucketSet {
    let mut buckets = Vec::new();
    for level in 0..levels {
        let half = half >> level;
        for x in -half..half {
            for y in -half..half {
                for z in -half..half {
                    let bucket = Bucket::at(level, IVec3::new(x, y, z));
                    let number: u64 = bytemuck::cast(bucket.key());
                    if hash(seed, number) % 100 < percent {
                        buckets.push(bucket);
                    }
                }
            }
        }
    }
    BucketSet::from_buckets(buckets).expect("Buckets in range")
}

/// This process's share of a list: the shares of all processes, in order of rank, are the list.
pub fn share<'l, T>(list: &'l [T], processes: &dyn Processes) -> &'l [T] {
    let (count, rank) = (processes.count(), processes.rank());
    &list[list.len() * rank / count..list.len() * (rank + 1) / count]
}

/// What a store holds on all processes: for each Bucket, the bytes of each channel.
pub type Contents = BTreeMap<BucketKey, Vec<Vec<u8>>>;

/// The voxels of a volume on all processes. Collective.
pub fn voxels(processes: &dyn Processes, volume: &DiscreteVolume) -> Result<Contents> {
    let mut columns = Vec::new();
    volume.channels().each_column("test", |_, column| {
        columns.push(chunks(volume.topology(), |slot| column.read_chunk(slot).to_vec()));
    })?;
    gather(processes, volume.topology(), &columns)
}

/// The particles of a system on all processes, in their order; Buckets without are left out. Collective.
pub fn particles(processes: &dyn Processes, system: &ParticleSystem) -> Result<Contents> {
    let mut columns = Vec::new();
    system.channels().each_column("test", |_, column| {
        columns.push(chunks(system.topology(), |slot| column.read_chunk(slot).to_vec()));
    })?;
    let mut contents = gather(processes, system.topology(), &columns)?;
    contents.retain(|_, channels| channels.iter().any(|bytes| !bytes.is_empty()));
    Ok(contents)
}

fn chunks(topology: &Topology, read: impl Fn(Slot) -> Vec<u8>) -> Vec<Vec<u8>> {
    (0..topology.local() as Slot).map(read).collect()
}

fn gather(
    processes: &dyn Processes,
    topology: &Topology,
    columns: &[Vec<Vec<u8>>],
) -> Result<Contents> {
    let mut mine = Vec::new();
    for (slot, bucket) in topology.buckets()[..topology.local()].iter().enumerate() {
        mine.extend_from_slice(bytemuck::bytes_of(&bucket.key()));
        for column in columns {
            mine.extend_from_slice(&(column[slot].len() as u64).to_ne_bytes());
            mine.extend_from_slice(&column[slot]);
        }
    }
    let mut contents = Contents::new();
    for bytes in processes.all_gather(&mine)? {
        let mut rest = &bytes[..];
        let number = |rest: &mut &[u8]| -> u64 {
            bytemuck::pod_read_unaligned(rest.split_off(..8).expect("a number"))
        };
        while !rest.is_empty() {
            let key: BucketKey = bytemuck::cast(number(&mut rest));
            let channels = (0..columns.len()).map(|_| {
                let len = number(&mut rest) as usize;
                rest.split_off(..len).expect("a chunk").to_vec()
            });
            let before = contents.insert(key, channels.collect());
            assert!(before.is_none(), "two processes own {:?}", key.bucket());
        }
    }
    Ok(contents)
}

/// Says which Bucket and channel differs first, instead of printing megabytes.
pub fn assert_same(found: &Contents, wanted: &Contents, when: &str) {
    let keys = |contents: &Contents| contents.keys().copied().collect::<Vec<_>>();
    assert_eq!(keys(found), keys(wanted), "other Buckets {when}");
    for (key, channels) in found {
        for (n, (found, wanted)) in channels.iter().zip(&wanted[key]).enumerate() {
            assert!(found == wanted, "channel {n} differs in {:?} {when}", key.bucket());
        }
    }
}

/// Other processes, whose transfers are counted.
#[derive(Debug)]
pub struct Counted {
    inner: Arc<dyn Processes>,
    starts: AtomicUsize,
}

impl Counted {
    pub fn new(inner: &Arc<dyn Processes>) -> Arc<Self> {
        Arc::new(Self { inner: inner.clone(), starts: AtomicUsize::new(0) })
    }

    /// How many transfers were started since the last time; none are expected of one process.
    pub fn starts(&self) -> usize {
        self.starts.swap(0, Ordering::Relaxed)
    }
}

impl Processes for Counted {
    fn rank(&self) -> usize {
        self.inner.rank()
    }
    fn count(&self) -> usize {
        self.inner.count()
    }
    fn start(&self, outgoing: Vec<Parcel>, incoming: &[(usize, usize)]) -> Result<Pending> {
        self.starts.fetch_add(1, Ordering::Relaxed);
        self.inner.start(outgoing, incoming)
    }
    fn all_to_all(&self, values: &[u64]) -> Result<Vec<u64>> {
        self.inner.all_to_all(values)
    }
    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>> {
        self.inner.all_gather(bytes)
    }
    fn barrier(&self) -> Result<()> {
        self.inner.barrier()
    }
    fn abort(&self, message: &str) -> ! {
        self.inner.abort(message)
    }
}
