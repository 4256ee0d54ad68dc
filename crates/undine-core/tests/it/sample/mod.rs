//! Reading and writing volumes at points.

mod batch;
mod foreign;
mod interpolation;
mod levels;
mod model;
mod splat;

use glam::{DVec3, IVec3};
use undine_core::domain::Slot;
use undine_core::volume::{Blend, Centring, DiscreteVolume, Interpolation, Resolution, VoxelShape};
use undine_core::{Bucket, BucketSet, ChannelSpec, Frame, GridDomain, Handle};

const ALL: [Interpolation; 4] = [
    Interpolation::Linear,
    Interpolation::Quadratic,
    Interpolation::Cubic,
    Interpolation::MonotoneCubic,
];

/// A volume with a channel that is to be filled.
struct Scene<T> {
    domain: GridDomain,
    volume: DiscreteVolume,
    handle: Handle<T>,
}

impl<T: Blend> Scene<T> {
    fn on(domain: GridDomain, shape: VoxelShape, background: T) -> Self {
        let mut volume = DiscreteVolume::new("volume", &domain);
        let handle = volume.add_channel(&ChannelSpec::new("value", background), shape).unwrap();
        Self { domain, volume, handle }
    }

    /// Sets every value to what `f` says of its place [m], counted from the Domain's origin.
    fn fill(self, f: impl Fn(DVec3) -> T) -> Self {
        let topology = self.volume.topology().clone();
        let mut column = self.volume.column_mut(self.handle).unwrap();
        let shape = column.shape();
        for slot in 0..topology.stored() as Slot {
            let bucket = topology.bucket(slot);
            for (n, place) in places(bucket, shape.resolution).enumerate() {
                let position = position(topology.frame(), bucket.level, shape, place);
                column.chunk_mut(slot)[n] = f(position);
            }
        }
        drop(column);
        self
    }
}

/// The places of a Bucket's voxels on its level, in the order of its chunk.
fn places(bucket: Bucket, resolution: Resolution) -> impl Iterator<Item = IVec3> {
    let edge = resolution.edge() as i32;
    (0..edge.pow(3)).map(move |n| {
        bucket.coord * edge + IVec3::new(n / (edge * edge), n / edge % edge, n % edge)
    })
}

/// Where the value of a voxel lies, from the Domain's origin [m].
fn position(frame: &Frame, level: u8, shape: VoxelShape, place: IVec3) -> DVec3 {
    let voxel = frame.bucket_size(level) / shape.resolution.edge() as f64;
    (place.as_dvec3() + shape.centring.offset().as_dvec3()) * voxel
}

fn domain(origin: DVec3, voxel: f64, buckets: impl IntoIterator<Item = Bucket>) -> GridDomain {
    let mut domain = GridDomain::new("domain", Frame::new(origin, voxel).unwrap());
    domain.set_buckets(&BucketSet::from_buckets(buckets).unwrap()).unwrap();
    domain
}

/// n³ Buckets of the finest level from the origin on.
fn cube(n: i32) -> impl Iterator<Item = Bucket> {
    (0..n.pow(3)).map(move |i| Bucket::new(i / (n * n), i / n % n, i % n))
}

fn shapes() -> impl Iterator<Item = VoxelShape> {
    use undine_core::volume::Axis::{X, Y, Z};
    let centrings =
        [Centring::Cell, Centring::Node, Centring::Face(X), Centring::Face(Y), Centring::Face(Z)];
    let resolutions = [Resolution::R2, Resolution::R4, Resolution::R8, Resolution::R16];
    resolutions.into_iter().flat_map(move |resolution| {
        centrings.into_iter().map(move |centring| VoxelShape { resolution, centring })
    })
}

/// A fixed sequence of numbers in 0 .. 1 that looks like chance.
struct Chance(u64);

impl Chance {
    fn number(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / (1_u64 << 31) as f64
    }

    /// A point of a box, on a lattice of 2⁻¹² of its size, so that offsets are exact in `f32`.
    fn point(&mut self, low: f64, high: f64) -> DVec3 {
        let mut coordinate = || low + (high - low) * (self.number() * 4096.0).floor() / 4096.0;
        DVec3::new(coordinate(), coordinate(), coordinate())
    }

    fn points(&mut self, count: usize, low: f64, high: f64) -> Vec<DVec3> {
        (0..count).map(|_| self.point(low, high)).collect()
    }
}

/// A number for a place that looks like chance, and is the same on every process.
fn noise(position: DVec3) -> f64 {
    let wave = (position.dot(DVec3::new(12.9898, 78.233, 37.719))).sin() * 43_758.545;
    wave - wave.floor() - 0.5
}
