//! What the tests of stores share: small Domains, numbers that look random, and the bytes of a store.

use glam::{DVec3, Vec3};
use undine_core::{
    Bucket, BucketSet, DiscreteVolume, Frame, GridDomain, MemoryBudget, ParticleSystem, Topology,
};

/// The finest voxel of test Domains [m]: not a power of two, so that rounding is not forgotten.
pub const VOXEL: f64 = 0.1;

/// A Domain without Buckets at the origin.
pub fn domain() -> GridDomain {
    GridDomain::new("box", Frame::new(DVec3::ZERO, VOXEL).unwrap())
}

/// The same with a limit on memory.
pub fn domain_with(budget: &MemoryBudget) -> GridDomain {
    domain().with_budget(budget.clone())
}

/// A cube of Buckets of the finest level, `from .. to` along each axis.
pub fn cube(from: i32, to: i32) -> BucketSet {
    let axis = || from..to;
    let buckets =
        axis().flat_map(|x| axis().flat_map(move |y| axis().map(move |z| Bucket::new(x, y, z))));
    BucketSet::from_buckets(buckets).unwrap()
}

/// Runs `f` on this many threads.
pub fn on_threads<R: Send>(threads: usize, f: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(f)
}

/// Numbers that look random and are the same every time.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// In -1 .. 1.
    pub fn signed(&mut self) -> f32 {
        (self.next() as f64 / (1_u64 << 52) as f64 - 1.0) as f32
    }

    pub fn vec3(&mut self) -> Vec3 {
        Vec3::new(self.signed(), self.signed(), self.signed())
    }

    /// A point with coordinates in whole 1/1024 of a metre, within `reach` [m]: exact also far away.
    pub fn point(&mut self, reach: f64) -> DVec3 {
        let mut axis = || (f64::from(self.signed()) * reach * 1024.0).round() / 1024.0;
        DVec3::new(axis(), axis(), axis())
    }
}

/// Everything that a Particle System holds, Bucket after Bucket, channel after channel.
pub fn bytes_of_particles(particles: &mut ParticleSystem) -> Vec<u8> {
    let topology = particles.topology().clone();
    let mut bytes = bytes_of_topology(&topology);
    for (info, column) in particles.columns_mut() {
        bytes.extend_from_slice(info.name.as_bytes());
        for slot in 0..topology.stored() as u32 {
            bytes.extend_from_slice(column.read_chunk(slot));
            bytes.push(0xFF);
        }
    }
    bytes
}

/// Everything that a Discrete Volume holds, Bucket after Bucket, channel after channel.
pub fn bytes_of_volume(volume: &mut DiscreteVolume) -> Vec<u8> {
    let topology = volume.topology().clone();
    let mut bytes = bytes_of_topology(&topology);
    for (info, column) in volume.columns_mut() {
        bytes.extend_from_slice(info.name.as_bytes());
        for slot in 0..topology.stored() as u32 {
            bytes.extend_from_slice(column.read_chunk(slot));
        }
    }
    bytes
}

fn bytes_of_topology(topology: &Topology) -> Vec<u8> {
    let coords = topology.buckets().iter().map(|bucket| (bucket.level, bucket.coord.to_array()));
    coords
        .flat_map(|(level, coord)| {
            std::iter::once(level).chain(coord.into_iter().flat_map(i32::to_le_bytes))
        })
        .collect()
}
