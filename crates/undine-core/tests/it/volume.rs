//! Discrete Volumes: sequences of changing Buckets and channels against a naive model; alignment,
//! reservation and memory.

use crate::channels::{any_bits, for_every_element};
use crate::fixtures::{Random, bytes_of_volume, cube, domain, domain_with, on_threads};
use glam::{DMat3, DMat4, DQuat, DVec2, DVec3, DVec4, IVec3, Mat3, Mat4, Quat, Vec2, Vec3, Vec4};
use proptest::prelude::*;
use std::collections::BTreeMap;
use undine_core::volume::{Axis, Centring, Mask, MaskHandle, Resolution, VoxelShape};
use undine_core::{
    Bucket, BucketSet, ChannelSpec, CoreError, DiscreteVolume, Element, ElementType, Frame,
    GridDomain, Handle, MemoryBudget, Topology,
};

const RESOLUTIONS: [Resolution; 4] =
    [Resolution::R2, Resolution::R4, Resolution::R8, Resolution::R16];

/// One channel of the model: the voxels of each Bucket in a map.
trait Naive {
    fn write(&mut self, volume: &DiscreteVolume, random: &mut Random);
    fn follow(&mut self, topology: &Topology);
    fn check(&self, volume: &DiscreteVolume);
    fn name(&self) -> &str;
}

struct NaiveChannel<T> {
    name: String,
    handle: Handle<T>,
    background: T,
    voxels: usize,
    values: BTreeMap<undine_core::BucketKey, Vec<T>>,
}

impl<T: Element> NaiveChannel<T> {
    fn add(
        volume: &mut DiscreteVolume,
        name: String,
        resolution: Resolution,
        random: &mut Random,
    ) -> Box<dyn Naive> {
        let background: T = any_bits(random);
        let spec = ChannelSpec::new(name.clone(), background);
        let shape = VoxelShape::CELLS.with_resolution(resolution);
        let handle = volume.add_channel(&spec, shape).unwrap();
        let mut channel =
            Self { name, handle, background, voxels: resolution.voxels(), values: BTreeMap::new() };
        channel.follow(volume.topology());
        Box::new(channel)
    }
}

impl<T: Element> Naive for NaiveChannel<T> {
    fn write(&mut self, volume: &DiscreteVolume, random: &mut Random) {
        let mut column = volume.column_mut(self.handle).unwrap();
        for (slot, bucket) in volume.topology().buckets().iter().enumerate() {
            if random.below(3) == 0 {
                let (voxel, value) = (random.below(self.voxels as u64) as usize, any_bits(random));
                column.chunk_mut(slot as u32)[voxel] = value;
                self.values.get_mut(&bucket.key()).unwrap()[voxel] = value;
            }
        }
    }

    fn follow(&mut self, topology: &Topology) {
        self.values.retain(|key, _| topology.slot(key.bucket()).is_some());
        for bucket in topology.buckets() {
            let fresh = || vec![self.background; self.voxels];
            self.values.entry(bucket.key()).or_insert_with(fresh);
        }
    }

    fn check(&self, volume: &DiscreteVolume) {
        let column = volume.column(self.handle).unwrap();
        assert_eq!(self.values.len(), volume.topology().stored());
        for (slot, bucket) in volume.topology().buckets().iter().enumerate() {
            let (found, wanted) = (column.chunk(slot as u32), &self.values[&bucket.key()]);
            let same =
                bytemuck::cast_slice::<T, u8>(found) == bytemuck::cast_slice::<T, u8>(wanted);
            assert!(same, "{} in {bucket:?}", self.name);
        }
        let background = column.chunk(undine_core::domain::NONE);
        assert!(
            background
                .iter()
                .all(|value| { bytemuck::bytes_of(value) == bytemuck::bytes_of(&self.background) })
        );
    }

    fn name(&self) -> &str {
        &self.name
    }
}

struct NaiveMask {
    name: String,
    handle: MaskHandle,
    on: BTreeMap<undine_core::BucketKey, Vec<usize>>,
}

impl Naive for NaiveMask {
    fn write(&mut self, volume: &DiscreteVolume, random: &mut Random) {
        let mut words = volume.column_mut(self.handle.words).unwrap();
        for (slot, bucket) in volume.topology().buckets().iter().enumerate() {
            let voxel = random.below(self.handle.resolution.voxels() as u64) as usize;
            let value = random.below(4) != 0;
            Mask(words.chunk_mut(slot as u32)).set(voxel, value);
            let on = self.on.get_mut(&bucket.key()).unwrap();
            on.retain(|&other| other != voxel);
            if value {
                on.push(voxel);
                on.sort_unstable();
            }
        }
    }

    fn follow(&mut self, topology: &Topology) {
        self.on.retain(|key, _| topology.slot(key.bucket()).is_some());
        for bucket in topology.buckets() {
            self.on.entry(bucket.key()).or_default();
        }
    }

    fn check(&self, volume: &DiscreteVolume) {
        let words = volume.column(self.handle.words).unwrap();
        for (slot, bucket) in volume.topology().buckets().iter().enumerate() {
            let mask = Mask(words.chunk(slot as u32));
            assert_eq!(mask.ones().collect::<Vec<_>>(), self.on[&bucket.key()]);
            assert_eq!(mask.count() as usize, self.on[&bucket.key()].len());
        }
    }

    fn name(&self) -> &str {
        &self.name
    }
}

/// Adds a channel of any type at any resolution, or a mask.
fn add_any(volume: &mut DiscreteVolume, n: usize, random: &mut Random) -> Box<dyn Naive> {
    let resolution = RESOLUTIONS[random.below(4) as usize];
    let name = format!("channel {n}");
    let mut kind = random.below(ElementType::ALL.len() as u64 + 1);
    let mut made = None;
    macro_rules! add {
        ($($type:ty)*) => {$(
            if kind == 0 && made.is_none() {
                made = Some(NaiveChannel::<$type>::add(volume, name.clone(), resolution, random));
            }
            kind = kind.wrapping_sub(1);
        )*};
    }
    add!(f32 f64 i32 u32 u64 Vec2 Vec3 Vec4 IVec3 DVec2 DVec3 DVec4 Mat3 Mat4 DMat3 DMat4 Quat DQuat);
    made.unwrap_or_else(|| {
        let handle = volume.add_mask(&name, resolution).unwrap();
        let mut mask = NaiveMask { name, handle, on: BTreeMap::new() };
        mask.follow(volume.topology());
        Box::new(mask)
    })
}

#[derive(Debug, Clone)]
enum Operation {
    Grow(i32),
    Shrink(u64),
    Shift(i32),
    Replace { shift: i32, keep: u64 },
    Clear,
    Write,
    AddChannel,
    RemoveChannel,
}

fn operation() -> impl Strategy<Value = Operation> {
    use Operation::*;
    prop_oneof![
        (1..4).prop_map(Grow),
        (2_u64..9).prop_map(Shrink),
        (-2..3).prop_map(Shift),
        (-1..2, 2_u64..5).prop_map(|(shift, keep)| Replace { shift, keep }),
        Just(Clear),
        Just(Write),
        Just(Write),
        Just(AddChannel),
        Just(RemoveChannel),
    ]
}

/// The Buckets of `now` after the operation.
fn buckets_after(operation: &Operation, now: &BucketSet, random: &mut Random) -> BucketSet {
    let shifted = |by: i32| {
        BucketSet::from_buckets(now.buckets().map(|b| b.offset(IVec3::new(by, -by, 2 * by))))
            .unwrap()
    };
    let mut thin = |set: &BucketSet, keep: u64| {
        let kept: Vec<_> = set.buckets().filter(|_| random.below(keep) != 0).collect();
        BucketSet::from_buckets(kept).unwrap()
    };
    match *operation {
        Operation::Grow(n) => now.union(&cube(-n, n)),
        Operation::Shrink(keep) => thin(now, keep),
        Operation::Shift(by) => shifted(by),
        Operation::Replace { shift, keep } => thin(&now.union(&shifted(shift)), keep),
        Operation::Clear => BucketSet::new(),
        _ => now.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..Default::default() })]
    #[test]
    fn any_sequence_of_changes_leaves_what_a_map_of_voxels_has(
        operations in prop::collection::vec(operation(), 1..16),
        seed in any::<u64>(),
    ) {
        let mut random = Random::new(seed);
        let budget = MemoryBudget::unlimited();
        let mut domain = domain_with(&budget);
        domain.set_buckets(&cube(0, 2)).unwrap();
        let mut volume = DiscreteVolume::new("smoke", &domain);
        let mut model: Vec<Box<dyn Naive>> = Vec::new();
        for (n, operation) in operations.iter().enumerate() {
            match operation {
                Operation::AddChannel if model.len() < 5 => {
                    model.push(add_any(&mut volume, n, &mut random));
                }
                Operation::RemoveChannel if !model.is_empty() => {
                    let gone = model.swap_remove(random.below(model.len() as u64) as usize);
                    volume.remove_channel(gone.name()).unwrap();
                }
                _ => {}
            }
            let wanted = buckets_after(operation, domain.topology().all(), &mut random);
            if wanted.len() < 300 {
                domain.set_buckets(&wanted).unwrap();
            }
            volume.follow(domain.topology()).unwrap();
            for channel in &mut model {
                channel.follow(domain.topology());
                channel.check(&volume);
                channel.write(&volume, &mut random);
            }
        }
        volume.migrate(&domain).unwrap();
        for channel in &model {
            channel.check(&volume);
        }
        drop(volume);
        prop_assert_eq!(budget.used(), 0);
    }
}

/// A volume with one channel of 2³ voxels that hold their Bucket's key.
fn keyed(domain: &GridDomain) -> (DiscreteVolume, Handle<u64>) {
    let mut volume = DiscreteVolume::new("keys", domain);
    let shape = VoxelShape::CELLS.with_resolution(Resolution::R2);
    let keys = volume.add_channel(&ChannelSpec::new("key", u64::MAX), shape).unwrap();
    (volume, keys)
}

fn fill_keys(volume: &DiscreteVolume, keys: Handle<u64>) {
    let mut column = volume.column_mut(keys).unwrap();
    for (slot, bucket) in volume.topology().buckets().iter().enumerate() {
        column.chunk_mut(slot as u32).fill(bytemuck::cast(bucket.key()));
    }
}

/// Every Bucket that was there holds its key, every new one the background; at most 1/128 and a page of
/// the chunks lie idle.
fn check_keys(volume: &DiscreteVolume, keys: Handle<u64>, before: &BucketSet) {
    let column = volume.column(keys).unwrap();
    for (slot, bucket) in volume.topology().buckets().iter().enumerate() {
        let key = if before.contains(*bucket) { bytemuck::cast(bucket.key()) } else { u64::MAX };
        assert!(column.chunk(slot as u32).iter().all(|&value| value == key), "{bucket:?}");
    }
    let report = volume.memory().unwrap();
    let chunks = report.raw / 64;
    // Idle chunks, a page, the chunk of background, the tables of chunks and pages.
    let most = 64 * (chunks / 128 + 9) + 4 * chunks + 24 * 1000;
    assert!(report.overhead <= most, "{} of {most} bytes beyond {chunks} chunks", report.overhead);
}

#[test]
fn chunks_are_reused_moved_and_given_back_without_touching_what_stays() {
    let mut domain = domain();
    domain.set_buckets(&cube(0, 8)).unwrap();
    let (mut volume, keys) = keyed(&domain);
    let full = cube(0, 8);
    let take =
        |skip: usize, n: usize| BucketSet::from_buckets(full.buckets().skip(skip).take(n)).unwrap();
    let outside = |n: i32| BucketSet::from_buckets((0..n).map(|x| Bucket::new(x, 20, 0))).unwrap();
    let steps = [
        // A few go: gaps stay.
        full.difference(&take(100, 5)),
        // As many come: they fill the gaps, and are fresh.
        full.difference(&take(100, 5)).union(&outside(5)),
        // Half go from the front: those at the end move into the gaps, also within a page.
        take(256, 256),
        // Many go and some come at once: fresh chunks in gaps, and moves behind them.
        take(300, 100).union(&outside(40)),
        // All others go, and more come than there was room for.
        cube(-6, 0),
        BucketSet::new(),
        take(0, 33),
        take(32, 1),
        full.clone(),
    ];
    for wanted in steps {
        fill_keys(&volume, keys);
        let before = volume.topology().all().clone();
        domain.set_buckets(&wanted).unwrap();
        volume.follow(domain.topology()).unwrap();
        check_keys(&volume, keys, &before);
    }
}

#[test]
fn many_random_changes_never_mix_two_buckets() {
    let mut random = Random::new(11);
    let mut domain = domain();
    let (mut volume, keys) = keyed(&domain);
    for round in 0..60 {
        fill_keys(&volume, keys);
        let before = volume.topology().all().clone();
        let (odds, size) = (2 + random.below(60), 3 + (round % 5));
        let grown = before.union(&cube(0, size));
        let kept: Vec<_> = grown.buckets().filter(|_| random.below(odds) != 0).collect();
        domain.set_buckets(&BucketSet::from_buckets(kept).unwrap()).unwrap();
        volume.follow(domain.topology()).unwrap();
        check_keys(&volume, keys, &before);
    }
}

#[test]
fn the_bytes_are_the_same_for_any_number_of_threads() {
    let life = || {
        let mut random = Random::new(4);
        let mut domain = domain();
        let mut volume = DiscreteVolume::new("smoke", &domain);
        let mut model: Vec<_> = (0..5).map(|n| add_any(&mut volume, n, &mut random)).collect();
        for size in [4, 2, 3] {
            domain.set_buckets(&cube(0, size)).unwrap();
            volume.follow(domain.topology()).unwrap();
            for channel in &mut model {
                channel.follow(domain.topology());
                channel.write(&volume, &mut random);
            }
        }
        bytes_of_volume(&mut volume)
    };
    let one = on_threads(1, life);
    for threads in [2, 3, 7] {
        assert!(on_threads(threads, life) == one, "{threads} threads");
    }
}

#[test]
fn chunks_begin_on_cache_lines() {
    let mut domain = domain();
    domain.set_buckets(&cube(0, 5)).unwrap();
    let mut volume = DiscreteVolume::new("smoke", &domain);
    let density = volume.add_channel(&ChannelSpec::new("density", 0.0_f32), VoxelShape::CELLS);
    let column = volume.column(density.unwrap()).unwrap();
    for slot in 0..125 {
        assert!(column.chunk(slot).as_ptr().cast::<u8>().align_offset(64) == 0);
    }
}

#[test]
fn a_volume_costs_at_most_a_tenth_more_than_its_voxels() {
    for size in [10, 11, 13] {
        let budget = MemoryBudget::unlimited();
        let mut domain = domain_with(&budget);
        domain.set_buckets(&cube(0, size)).unwrap();
        let mut volume = DiscreteVolume::new("smoke", &domain);
        volume.add_channel(&ChannelSpec::new("density", 0.0_f32), VoxelShape::CELLS).unwrap();
        let mut random = Random::new(2);
        for round in 0..4 {
            let mut report = volume.memory().unwrap();
            assert_eq!(report.raw, volume.topology().stored() as u64 * 2048);
            let pages = budget.used() as f64 / report.total() as f64;
            assert!((0.98..=1.0).contains(&pages), "reserved {pages} of what is allocated");
            report += volume.topology().memory();
            let ratio = report.overhead_ratio();
            assert!(ratio <= 0.1, "{ratio:.4} for {size}³ Buckets, round {round}");
            let kept: Vec<_> = cube(0, size).buckets().filter(|_| random.below(70) != 0).collect();
            domain.set_buckets(&BucketSet::from_buckets(kept).unwrap()).unwrap();
            volume.follow(domain.topology()).unwrap();
        }
    }
}

#[test]
fn over_budget_nothing_changes() {
    let page = 32 * 512 * 4;
    let budget = MemoryBudget::new(10 * page);
    let mut domain = domain_with(&budget);
    domain.set_buckets(&cube(0, 3)).unwrap();
    let mut volume = DiscreteVolume::new("smoke", &domain);
    let density = ChannelSpec::new("density", 1.0_f32);
    volume.add_channel(&density, VoxelShape::CELLS).unwrap();
    volume.add_mac("velocity", "m/s", Resolution::R8).unwrap();
    let (before, used) = (bytes_of_volume(&mut volume), budget.used());

    let big = ChannelSpec::new("pose", DMat4::IDENTITY);
    let error = volume.add_channel(&big, VoxelShape::CELLS).unwrap_err();
    assert!(matches!(error, CoreError::OverBudget { .. }), "{error}");
    let mut wide = domain.clone();
    wide.set_buckets(&cube(0, 6)).unwrap();
    let error = volume.follow(wide.topology()).unwrap_err();
    assert!(matches!(error, CoreError::OverBudget { .. }), "{error}");
    // The first two components fit, the third does not: none is added.
    let mut more = 0;
    let error = loop {
        match volume.add_mac(&format!("more {more}"), "m/s", Resolution::R8) {
            Ok(_) => more += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, CoreError::OverBudget { .. }), "{error}");
    for more in 0..more {
        for axis in ["x", "y", "z"] {
            volume.remove_channel(&format!("more {more}.{axis}")).unwrap();
        }
    }
    assert!(bytes_of_volume(&mut volume) == before);
    assert_eq!(budget.used(), used);
}

#[test]
fn a_mac_velocity_is_three_channels_on_faces() {
    let mut domain = domain();
    domain.set_buckets(&cube(0, 2)).unwrap();
    let mut volume = DiscreteVolume::new("air", &domain);
    let mac = volume.add_mac("velocity", "m/s", Resolution::R4).unwrap();
    assert_eq!(volume.mac("velocity").unwrap(), mac);
    for axis in Axis::ALL {
        let column = volume.column(mac.faces[axis.index()]).unwrap();
        assert_eq!(column.shape().centring, Centring::Face(axis));
        assert_eq!(column.shape().resolution, Resolution::R4);
        assert_eq!(volume.channels().info(mac.faces[axis.index()]).unwrap().unit, "m/s");
    }
    assert!(matches!(volume.mac("wind"), Err(CoreError::UnknownChannel { .. })));
    // One component is there already: none of the others is added.
    volume.add_channel(&ChannelSpec::new("wind.y", 0.0_f32), VoxelShape::CELLS).unwrap();
    let error = volume.add_mac("wind", "m/s", Resolution::R8).unwrap_err();
    assert!(matches!(error, CoreError::DuplicateChannel { .. }), "{error}");
    assert!(volume.handle::<f32>("wind.x").is_err());
}

#[test]
fn a_volume_follows_only_its_own_lattice() {
    let mut domain = domain();
    domain.set_buckets(&cube(0, 2)).unwrap();
    let mut volume = DiscreteVolume::new("air", &domain);
    volume.add_channel(&ChannelSpec::new("heat", 0.0_f32), VoxelShape::CELLS).unwrap();
    let mut other = GridDomain::new("other", Frame::new(DVec3::ONE, 0.1).unwrap());
    other.set_buckets(&cube(0, 3)).unwrap();
    let before = bytes_of_volume(&mut volume);
    assert!(matches!(volume.follow(other.topology()), Err(CoreError::BadValue { .. })));
    assert!(bytes_of_volume(&mut volume) == before);
}

#[test]
fn every_element_type_has_room_at_every_resolution() {
    fn check<T: Element>() {
        let mut domain = domain();
        domain.set_buckets(&cube(0, 1)).unwrap();
        let mut volume = DiscreteVolume::new("smoke", &domain);
        for resolution in RESOLUTIONS {
            let shape = VoxelShape::NODES.with_resolution(resolution);
            let spec = ChannelSpec::new(format!("{}", resolution.edge()), T::zeroed());
            let handle = volume.add_channel(&spec, shape).unwrap();
            assert_eq!(volume.column(handle).unwrap().chunk(0).len(), resolution.edge().pow(3));
            assert!(volume.column(handle).unwrap().chunk(0).iter().all(Element::is_finite));
        }
    }
    for_every_element!(check);
}

#[test]
fn masks_and_mac_velocities_are_found_by_name_and_removed() {
    let mut domain = domain();
    domain.set_buckets(&cube(0, 1)).unwrap();
    let mut volume = DiscreteVolume::new("air", &domain);
    for resolution in RESOLUTIONS {
        let name = format!("solid {}", resolution.edge());
        let mask = volume.add_mask(&name, resolution).unwrap();
        assert_eq!(volume.mask(&name).unwrap(), mask);
        let name = format!("number {}", resolution.edge());
        let shape = VoxelShape::CELLS.with_resolution(resolution);
        volume.add_channel(&ChannelSpec::new(name.clone(), 0_u64), shape).unwrap();
        let error = volume.mask(&name).unwrap_err();
        assert!(matches!(error, CoreError::BadValue { .. }), "{error}");
    }

    let before = bytes_of_volume(&mut volume);
    let velocity = volume.add_mac("velocity", "m/s", Resolution::R8).unwrap();
    assert_eq!(volume.mac("velocity").unwrap(), velocity);
    volume.remove_mac("velocity").unwrap();
    assert!(bytes_of_volume(&mut volume) == before);
    for error in [volume.mac("velocity").unwrap_err(), volume.remove_mac("velocity").unwrap_err()] {
        assert!(matches!(error, CoreError::UnknownChannel { .. }), "{error}");
    }
}

#[test]
fn a_volume_that_starts_anew_holds_its_background_everywhere() {
    let budget = MemoryBudget::new(1 << 20);
    let mut domain = domain_with(&budget);
    domain.set_buckets(&cube(0, 2)).unwrap();
    let mut smoke = DiscreteVolume::new("smoke", &domain);
    let density =
        smoke.add_channel(&ChannelSpec::new("density", 0.25_f32), VoxelShape::CELLS).unwrap();
    smoke.column_mut(density).unwrap().fill(1.0);

    let huge = domain.subset(&cube(0, 12)).unwrap();
    assert!(matches!(smoke.reset(&huge), Err(CoreError::OverBudget { .. })));
    assert_eq!(smoke.column(density).unwrap().chunk(7), [1.0; 512]);

    let other = domain.subset(&cube(1, 3)).unwrap();
    smoke.reset(&other).unwrap();
    assert_eq!(smoke.topology().id(), other.id());
    let column = smoke.column(density).unwrap();
    assert!((0..8).all(|slot| column.chunk(slot) == [0.25; 512]));
}
