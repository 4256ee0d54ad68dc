//! Channels: every element type goes in and comes out, handles are checked, claims exclude each other.

use crate::fixtures::{Random, cube, domain};
use bytemuck::{Pod, bytes_of};
use glam::{DMat3, DMat4, DQuat, DVec2, DVec3, DVec4, IVec3, Mat3, Mat4, Quat, Vec2, Vec3, Vec4};
use rayon::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use undine_core::channel::{ChannelSet, ErasedFlat, Flat, FlatColumn};
use undine_core::volume::{Resolution, VoxelShape};
use undine_core::{
    Accessor, ChannelSpec, Combine, CoreError, DiscreteVolume, Element, ElementType, ParticleSystem,
};

/// Calls a generic function for every element type.
macro_rules! for_every_element {
    ($f:ident) => {
        for_every_element!($f: f32 f64 i32 u32 u64 Vec2 Vec3 Vec4 IVec3 DVec2 DVec3 DVec4
            Mat3 Mat4 DMat3 DMat4 Quat DQuat)
    };
    ($f:ident: $($type:ty)*) => {{
        let found = [$(<$type as Element>::TYPE),*];
        assert_eq!(found, ElementType::ALL, "the list in this test is whole");
        $($f::<$type>();)*
    }};
}
pub(crate) use for_every_element;

/// Any bits at all, also such as are NaN.
pub fn any_bits<T: Pod>(random: &mut Random) -> T {
    let bytes: Vec<u8> = (0..size_of::<T>()).map(|_| random.next() as u8).collect();
    bytemuck::pod_read_unaligned(&bytes)
}

/// Small whole numbers, which sums and shares treat exactly.
fn whole<T: Element>(random: &mut Random, parts: u64) -> T {
    let zero: [T; 1] = bytemuck::zeroed_vec(1).try_into().unwrap();
    let bits = |value: u64| -> Vec<u8> {
        match T::TYPE {
            ElementType::F32
            | ElementType::Vec2
            | ElementType::Vec3
            | ElementType::Vec4
            | ElementType::Mat3
            | ElementType::Mat4
            | ElementType::Quat => (value as f32).to_le_bytes().to_vec(),
            ElementType::I32 | ElementType::U32 | ElementType::IVec3 => {
                (value as u32).to_le_bytes().to_vec()
            }
            ElementType::U64 => value.to_le_bytes().to_vec(),
            _ => (value as f64).to_le_bytes().to_vec(),
        }
    };
    let mut bytes = Vec::new();
    while bytes.len() < size_of_val(&zero) {
        bytes.extend(bits(parts * random.below(1000)));
    }
    bytemuck::pod_read_unaligned(&bytes)
}

#[test]
fn every_element_type_goes_through_a_flat_column_bit_by_bit() {
    fn check<T: Element>() {
        let mut random = Random::new(1);
        let values: Vec<T> = (0..33).map(|_| any_bits(&mut random)).collect();
        let spec = ChannelSpec::new("x", values[0]);
        let mut set = ChannelSet::<Flat>::new("mesh");
        let handle = set.add(&spec, FlatColumn::new(&spec, 33)).unwrap();
        set.write(handle, "test").unwrap().copy_from_slice(&values);
        let column = set.read(handle, "test").unwrap();
        assert_eq!(column.bytes(), bytemuck::cast_slice::<T, u8>(&values));
        assert_eq!(column.element_type(), T::TYPE);
        assert_eq!(size_of::<T>(), T::TYPE.bytes());
        assert_eq!(column.bytes().as_ptr().align_offset(align_of::<T>()), 0);
        let mut copy = FlatColumn::new(&spec, 33);
        copy.write_bytes(0, column.bytes()).unwrap();
        assert_eq!(copy.bytes(), column.bytes());
    }
    for_every_element!(check);
}

#[test]
fn every_element_type_goes_through_particles_and_voxels_bit_by_bit() {
    fn check<T: Element>() {
        let mut random = Random::new(2);
        let mut domain = domain();
        let background = any_bits(&mut random);
        let mut system = ParticleSystem::new("spray", &domain).unwrap();
        let channel = system.add_channel(&ChannelSpec::new("x", background)).unwrap();
        let positions: Vec<DVec3> = (0..40).map(|_| random.point(1.0)).collect();
        let values: Vec<T> = (0..40).map(|_| any_bits(&mut random)).collect();
        let mut batch = system.batch(&positions).unwrap();
        batch.set("x", &values).unwrap();
        system.append(&domain, batch).unwrap();
        let (ids, column) = (system.column(system.id()).unwrap(), system.column(channel).unwrap());
        for slot in 0..system.topology().local() as u32 {
            for (id, value) in ids.chunk(slot).iter().zip(column.chunk(slot)) {
                assert_eq!(bytes_of(value), bytes_of(&values[*id as usize]));
            }
        }

        domain.set_buckets(&cube(0, 2)).unwrap();
        let mut volume = DiscreteVolume::new("smoke", &domain);
        for resolution in [Resolution::R2, Resolution::R4, Resolution::R8, Resolution::R16] {
            let name = format!("x{}", resolution.edge());
            let shape = VoxelShape::CELLS.with_resolution(resolution);
            let channel = volume.add_channel(&ChannelSpec::new(name, background), shape).unwrap();
            let mut column = volume.column_mut(channel).unwrap();
            let values: Vec<T> = (0..resolution.voxels()).map(|_| any_bits(&mut random)).collect();
            column.chunk_mut(3).copy_from_slice(&values);
            assert_eq!(
                bytemuck::cast_slice::<T, u8>(column.chunk(3)),
                bytemuck::cast_slice::<T, u8>(&values)
            );
            let background = vec![background; resolution.voxels()];
            for slot in [0, 1, 2, 4, 5, 6, 7] {
                assert_eq!(
                    bytemuck::cast_slice::<T, u8>(column.chunk(slot)),
                    bytemuck::cast_slice::<T, u8>(&background)
                );
            }
        }
    }
    for_every_element!(check);
}

#[test]
fn shares_sum_up_to_the_whole_and_extremes_bound_it() {
    fn check<T: Element>() {
        let mut random = Random::new(7);
        for parts in [1_u32, 2, 3, 7] {
            let value: T = whole(&mut random, u64::from(parts));
            let other: T = whole(&mut random, 1);
            if !matches!(T::TYPE, ElementType::Quat | ElementType::DQuat) {
                let shares = (0..parts).map(|part| value.share(parts, part));
                assert_eq!(shares.reduce(T::sum).unwrap(), value, "{}", T::TYPE);
            }
            assert_eq!(value.min(other).sum(value.max(other)), value.sum(other));
            assert!(value.is_finite());
        }
    }
    for_every_element!(check);
}

#[test]
fn not_finite_is_found_in_every_lane_of_every_type() {
    fn check<T: Element>() {
        let mut random = Random::new(8);
        let lanes = match T::TYPE {
            _ if T::TYPE.is_integer() => 0,
            ElementType::F32 | ElementType::Vec2 | ElementType::Vec3 | ElementType::Vec4 => 4,
            ElementType::Mat3 | ElementType::Mat4 | ElementType::Quat => 4,
            _ => 8,
        };
        if lanes == 0 {
            assert!(any_bits::<T>(&mut random).is_finite());
            return;
        }
        for lane in 0..size_of::<T>() / lanes {
            let mut value: T = whole(&mut random, 1);
            let bytes = &mut bytemuck::bytes_of_mut(&mut value)[lane * lanes..][..lanes];
            match lanes {
                4 => bytes.copy_from_slice(&f32::NAN.to_le_bytes()),
                _ => bytes.copy_from_slice(&f64::NEG_INFINITY.to_le_bytes()),
            }
            assert!(!value.is_finite(), "{} lane {lane}", T::TYPE);
        }
    }
    for_every_element!(check);
}

#[test]
fn a_handle_reaches_its_own_channel_or_nothing() {
    let domain = domain();
    let mut spray = ParticleSystem::new("spray", &domain).unwrap();
    let foam = ParticleSystem::new("foam", &domain).unwrap();
    let heat = spray.add_channel(&ChannelSpec::new("heat", 1.0_f32)).unwrap();

    let error = foam.column(heat).err().unwrap();
    assert_eq!(error, CoreError::StaleHandle { store: "foam".into() });
    let error = spray.handle::<f64>("heat").unwrap_err();
    assert!(
        matches!(
            error,
            CoreError::WrongType { found: ElementType::F32, wanted: ElementType::F64, .. }
        ),
        "{error}"
    );
    let error = spray.handle::<f32>("cold").unwrap_err();
    assert!(error.to_string().contains("`position`, `id`, `heat`"), "{error}");
    assert_eq!(spray.handle::<f32>("heat").unwrap(), heat);
    let error = spray.add_channel(&ChannelSpec::new("heat", 1_u32)).unwrap_err();
    assert!(matches!(error, CoreError::DuplicateChannel { .. }), "{error}");
    assert!(spray.add_channel(&ChannelSpec::new("", 1_u32)).is_err());

    spray.remove_channel("heat").unwrap();
    assert!(matches!(spray.remove_channel("heat"), Err(CoreError::UnknownChannel { .. })));
    let again = spray.add_channel(&ChannelSpec::new("heat", 2.0_f32)).unwrap();
    assert!(matches!(spray.column(heat), Err(CoreError::StaleHandle { .. })), "not the new one");
    assert!(matches!(spray.channels().info(heat), Err(CoreError::StaleHandle { .. })));
    assert!(spray.column(again).is_ok());
}

#[test]
fn what_cannot_be_combined_is_refused() {
    let domain = domain();
    let mut spray = ParticleSystem::new("spray", &domain).unwrap();
    let mean = spray.add_channel(&ChannelSpec::new("n", 1_u32).combine(Combine::Mean));
    assert!(matches!(mean, Err(CoreError::BadValue { .. })));
    for combine in [Combine::Sum, Combine::Min, Combine::Max] {
        let turn = ChannelSpec::new("turn", Quat::IDENTITY).combine(combine);
        assert!(matches!(spray.add_channel(&turn), Err(CoreError::BadValue { .. })));
    }
    for (name, combine) in [("a", Combine::Keep), ("b", Combine::Mean)] {
        spray.add_channel(&ChannelSpec::new(name, DQuat::IDENTITY).combine(combine)).unwrap();
    }
}

#[test]
fn two_users_of_which_one_writes_are_an_error_that_names_both() {
    let mut domain = domain();
    domain.set_buckets(&cube(0, 2)).unwrap();
    let mut air = DiscreteVolume::new("air", &domain);
    let heat = air.add_channel(&ChannelSpec::new("heat", 1.0_f32), VoxelShape::CELLS).unwrap();
    let busy = |error: CoreError, wanted: &str, task: &str, holder: &str| {
        let right = format!("cannot be {wanted} by `{task}`: `{holder}` is using it");
        assert!(matches!(error, CoreError::ChannelBusy { .. }), "{error}");
        assert!(error.to_string().contains(&right), "{error}");
    };
    let channels = air.channels();
    let first = channels.read(heat, "first").unwrap();
    let second = channels.read(heat, "second").unwrap();
    busy(channels.write(heat, "third").err().unwrap(), "written", "third", "first");
    drop(first);
    busy(channels.write(heat, "third").err().unwrap(), "written", "third", "second");
    drop(second);
    let third = channels.write(heat, "third").unwrap();
    busy(channels.read(heat, "fourth").err().unwrap(), "read", "fourth", "third");
    busy(air.memory().unwrap_err(), "read", "memory report", "third");
    drop(third);
    channels.write(heat, "fourth").unwrap();

    // A claim that is never given back keeps the channel: no error, no undefined behaviour.
    std::mem::forget(channels.write(heat, "forgetful").unwrap());
    busy(channels.read(heat, "fifth").err().unwrap(), "read", "fifth", "forgetful");
}

#[test]
fn a_channel_whose_writer_panicked_says_so_until_it_is_made_anew() {
    let mut domain = domain();
    domain.set_buckets(&cube(0, 2)).unwrap();
    let mut air = DiscreteVolume::new("air", &domain);
    let heat = air.add_channel(&ChannelSpec::new("heat", 1.0_f32), VoxelShape::CELLS).unwrap();
    let cold = air.add_channel(&ChannelSpec::new("cold", 2.0_f32), VoxelShape::CELLS).unwrap();
    let accessor = Accessor::new("burn", &domain);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        accessor.run((air.write(heat), air.own(cold)), |here, (heat, _)| {
            heat[0] = 5.0;
            assert!(here.slot != 5, "on purpose");
        })
    }));
    assert!(panicked.is_err());
    let half_written =
        CoreError::HalfWritten { store: "air".into(), channel: "heat".into(), task: "burn" };
    assert_eq!(air.column(heat).err().unwrap(), half_written);
    assert_eq!(air.column_mut(heat).err().unwrap(), half_written);
    assert_eq!(accessor.run(air.own(heat), |_, _| ()).unwrap_err(), half_written);
    assert_eq!(
        accessor.scatter(
            (),
            air.accumulate(heat, undine_core::access::Pad::both(0)),
            |_, (), _| ()
        ),
        Err(half_written)
    );
    // Who only read is whole, and everybody else goes on.
    assert_eq!(air.column(cold).unwrap().chunk(0)[0], 2.0);
    air.column_mut(cold).unwrap().fill(3.0);
    air.remove_channel("heat").unwrap();
    let heat = air.add_channel(&ChannelSpec::new("heat", 1.0_f32), VoxelShape::CELLS).unwrap();
    assert_eq!(air.column(heat).unwrap().chunk(0)[0], 1.0);
}

#[test]
fn swapped_channels_hold_each_others_values() {
    use undine_core::volume::{Resolution, VoxelShape};
    use undine_core::{Bucket, BucketSet, DiscreteVolume, Frame, GridDomain};
    let mut domain = GridDomain::new("box", Frame::new(glam::DVec3::ZERO, 1.0).unwrap());
    domain.set_buckets(&BucketSet::from_buckets([Bucket::new(0, 0, 0)]).unwrap()).unwrap();
    let mut volume = DiscreteVolume::new("volume", &domain);
    let mut add = |name, background: f32, shape| {
        volume.add_channel(&ChannelSpec::new(name, background), shape).unwrap()
    };
    let one = add("one", 0.0, VoxelShape::CELLS);
    let other = add("other", 0.0, VoxelShape::CELLS);
    let unlike = add("unlike", 1.0, VoxelShape::CELLS);
    let fine = add("fine", 0.0, VoxelShape::CELLS.with_resolution(Resolution::R16));
    volume.column_mut(one).unwrap().fill(3.0);
    volume.swap(one, other).unwrap();
    volume.swap(one, one).unwrap();
    assert_eq!(volume.column(one).unwrap().chunk(0)[0], 0.0);
    assert_eq!(volume.column(other).unwrap().chunk(0)[0], 3.0);
    assert_eq!(volume.handle::<f32>("one").unwrap(), one);
    for refused in [unlike, fine] {
        assert!(volume.swap(one, refused).unwrap_err().to_string().contains("alike"));
    }
}

/// Who has claimed a channel for writing may read it on all threads in between.
#[test]
fn a_channel_that_is_written_is_read_by_all_threads_of_who_writes_it() {
    let mut set = ChannelSet::<Flat>::new("mesh");
    let spec = ChannelSpec::new("heat", 1.0_f64);
    let heat = set.add(&spec, FlatColumn::new(&spec, 1000)).unwrap();
    let mut column = set.write(heat, "burn").unwrap();
    for n in 0..1000 {
        column[n] = n as f64;
    }
    let sums: Vec<f64> =
        (0..1000_usize).into_par_iter().map(|n| column[n] + column[999 - n]).collect();
    assert!(sums.iter().all(|&sum| sum == 999.0));
    column.fill(2.0);
    drop(column);
    assert_eq!(set.read(heat, "look").unwrap().iter().sum::<f64>(), 2000.0);
}
