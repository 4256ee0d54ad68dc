//! Accessors: what a kernel sees, writes and accumulates against plain loops over maps; what must be
//! refused; fixed orders of sums.

use crate::fixtures::{Random, bytes_of_volume, cube, domain, on_threads};
use glam::{DVec3, IVec3, Vec3};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use undine_core::access::{Accessor, Pad, Tile};
use undine_core::volume::{Resolution, VoxelShape};
use undine_core::{
    Bucket, BucketSet, ChannelSpec, CoreError, DiscreteVolume, Frame, GridDomain, Handle,
    ParticleSystem, Topology,
};

const BACKGROUND: f32 = -7.0;

/// About three in five Buckets of a cube.
fn sparse(from: i32, to: i32, seed: u64) -> BucketSet {
    let mut random = Random::new(seed);
    let kept: Vec<_> = cube(from, to).buckets().filter(|_| random.below(5) < 3).collect();
    BucketSet::from_buckets(kept).unwrap()
}

/// A volume on these Buckets with a channel of random values.
fn noise(
    domain: &GridDomain,
    on: &BucketSet,
    resolution: Resolution,
) -> (DiscreteVolume, Handle<f32>) {
    let mut volume = DiscreteVolume::on("air", domain, domain.subset(on).unwrap());
    let shape = VoxelShape::CELLS.with_resolution(resolution);
    let heat = volume.add_channel(&ChannelSpec::new("heat", BACKGROUND), shape).unwrap();
    let mut random = Random::new(99);
    let mut column = volume.column_mut(heat).unwrap();
    for slot in 0..volume.topology().stored() as u32 {
        column.chunk_mut(slot).fill_with(|| random.signed());
    }
    drop(column);
    (volume, heat)
}

/// The voxels of a channel by their place on the lattice.
fn by_place(volume: &DiscreteVolume, channel: Handle<f32>) -> BTreeMap<[i32; 3], f32> {
    let column = volume.column(channel).unwrap();
    let resolution = column.shape().resolution;
    let mut map = BTreeMap::new();
    for (slot, bucket) in volume.topology().buckets().iter().enumerate() {
        let corner = bucket.coord * resolution.edge() as i32;
        for (n, &value) in column.chunk(slot as u32).iter().enumerate() {
            map.insert((corner + voxel(n, resolution)).to_array(), value);
        }
    }
    map
}

fn voxel(n: usize, resolution: Resolution) -> IVec3 {
    let edge = resolution.edge();
    IVec3::new((n / (edge * edge)) as i32, (n / edge % edge) as i32, (n % edge) as i32)
}

#[test]
fn a_neighbourhood_is_what_the_lattice_holds_whichever_buckets_are_visited() {
    let mut domain = domain();
    domain.set_buckets(&sparse(-1, 3, 1)).unwrap();
    for (resolution, radius) in
        [(Resolution::R2, 2), (Resolution::R4, 3), (Resolution::R8, 1), (Resolution::R4, 0)]
    {
        // The store's Buckets: the same, fewer, more, others.
        for on in
            [sparse(-1, 3, 1), sparse(0, 2, 2), cube(-3, 4), sparse(2, 4, 3), BucketSet::new()]
        {
            let (volume, heat) = noise(&domain, &on, resolution);
            let lattice = by_place(&volume, heat);
            let at = |place: IVec3| lattice.get(&place.to_array()).copied().unwrap_or(BACKGROUND);
            let visits = AtomicUsize::new(0);
            let read = (volume.around(heat, radius), volume.own(heat));
            Accessor::new("look", &domain)
                .run(read, |here, (around, own)| {
                    visits.fetch_add(1, Ordering::Relaxed);
                    let edge = resolution.edge() as i32;
                    let corner = here.bucket.coord * edge;
                    for (n, &value) in own.iter().enumerate() {
                        assert_eq!(value, at(corner + voxel(n, resolution)));
                    }
                    assert_eq!(around.chunk(), own);
                    let r = i32::from(radius);
                    let mut tile = around.tile(Pad::both(radius));
                    around.load(&mut tile);
                    for x in -r..edge + r {
                        for y in -r..edge + r {
                            for z in -r..edge + r {
                                let wanted = at(corner + IVec3::new(x, y, z));
                                assert_eq!(around.at(x, y, z), wanted, "{x} {y} {z}");
                                assert_eq!(tile.values()[tile.index(x, y, z)], wanted);
                            }
                        }
                    }
                    for (x, y, z) in (-1..=1)
                        .flat_map(|x| (-1..=1).flat_map(move |y| (-1..=1).map(move |z| (x, y, z))))
                    {
                        let near = here.bucket.offset(IVec3::new(x, y, z));
                        assert_eq!(around.exists(x, y, z), on.contains(near), "{near:?}");
                    }
                })
                .unwrap();
            assert_eq!(visits.into_inner(), domain.topology().local());
        }
    }
}

#[test]
fn particles_next_to_a_bucket_without_particles_are_seen_from_it() {
    let mut domain = domain();
    let mut system = ParticleSystem::new("spray", &domain).unwrap();
    let mut random = Random::new(6);
    let positions: Vec<DVec3> = (0..60).map(|_| random.point(1.2)).collect();
    let batch = system.batch(&positions).unwrap();
    system.append(&domain, batch).unwrap();
    domain.set_buckets(&system.topology().all().dilate(2).unwrap()).unwrap();
    let place = |position: &DVec3| domain.frame().locate(*position, 0, "test").unwrap().0;
    let homes: Vec<Bucket> = positions.iter().map(place).collect();
    let seen = Accessor::new("count", &domain)
        .map((system.around(system.id()), system.own(system.id())), |here, (around, own)| {
            assert_eq!(around.chunk(), own);
            let mut ids = Vec::new();
            for n in 0..27 {
                let (x, y, z) = (n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1);
                let mut near = around.neighbour(x, y, z).to_vec();
                near.sort_unstable();
                let home = here.bucket.offset(IVec3::new(x, y, z));
                let wanted: Vec<u64> = (0..60).filter(|&id| homes[id as usize] == home).collect();
                assert_eq!(near, wanted, "around {:?}", here.bucket);
                ids.extend(near);
            }
            ids.len()
        })
        .unwrap();
    assert_eq!(seen.iter().sum::<usize>(), 27 * 60, "each is seen from all 27 Buckets around it");
}

#[test]
fn a_kernel_writes_exactly_the_buckets_that_it_visits() {
    let mut domain = domain();
    domain.set_buckets(&cube(0, 3)).unwrap();
    let part = domain.subset(&sparse(0, 3, 5)).unwrap();
    let (volume, heat) = noise(&domain, &cube(-1, 4), Resolution::R4);
    let before = by_place(&volume, heat);
    let mut system = ParticleSystem::new("spray", &domain).unwrap();
    let mut random = Random::new(1);
    let positions: Vec<_> = (0..200).map(|_| random.point(2.0)).collect();
    let batch = system.batch(&positions).unwrap();
    system.append(&domain, batch).unwrap();
    let mark = system.add_channel(&ChannelSpec::new("mark", 0_u32)).unwrap();
    Accessor::new("mark", &domain)
        .over(&part)
        .run_with(
            (volume.write(heat), system.write(mark)),
            || vec![0.0_f32; 64],
            |scratch, here, (heat, mark)| {
                scratch.copy_from_slice(heat);
                let value = here.slot as f32;
                heat.iter_mut().zip(scratch).for_each(|(heat, was)| *heat = value + *was);
                mark.fill(1);
            },
        )
        .unwrap();
    for (place, value) in by_place(&volume, heat) {
        let bucket = Bucket::at(0, IVec3::from_array(place).div_euclid(IVec3::splat(4)));
        let wanted = before[&place] + part.slot(bucket).map_or(0.0, |slot| slot as f32);
        assert_eq!(value, wanted);
    }
    let marks = system.column(mark).unwrap();
    for (slot, &bucket) in system.topology().buckets().iter().enumerate() {
        let wanted = u32::from(part.slot(bucket).is_some());
        assert!(marks.chunk(slot as u32).iter().all(|&mark| mark == wanted));
    }
}

fn bad_access(outcome: undine_core::Result<()>, says: &str) {
    let error = outcome.unwrap_err();
    assert!(matches!(error, CoreError::BadAccess { task: "test", .. }), "{error}");
    assert!(error.to_string().contains(says), "{error}");
}

#[test]
fn impossible_declarations_are_refused_before_anything_runs() {
    let mut domain = domain();
    domain.set_buckets(&cube(0, 3)).unwrap();
    let (mut volume, heat) = noise(&domain, &cube(0, 2), Resolution::R4);
    let mask = volume.add_mask("solid", Resolution::R8).unwrap();
    let before = bytes_of_volume(&mut volume);
    let accessor = Accessor::new("test", &domain);
    let inside = accessor.clone().over(volume.topology());

    bad_access(accessor.run(volume.write(heat), |_, _| panic!()), "does not have");
    let all = volume.accumulate(heat, Pad::both(1));
    bad_access(accessor.scatter((), all, |_, (), _| panic!()), "does not have");
    bad_access(inside.run(volume.around(heat, 5), |_, _| panic!()), "stencil of 5 voxels");
    inside.run(volume.around(heat, 4), |_, _| ()).unwrap();
    for pad in [Pad { low: 2, high: 3 }, Pad { low: 5, high: 0 }, Pad { low: 255, high: 255 }] {
        let wide = volume.accumulate(heat, pad);
        bad_access(inside.scatter((), wide, |_, (), _| panic!()), "together more than a Bucket");
    }
    let words = volume.accumulate(mask.words, Pad::both(1));
    bad_access(inside.scatter((), words, |_, (), _| panic!()), "8 elements in a Bucket");
    for frame in [Frame::new(DVec3::X, 0.1), Frame::new(DVec3::ZERO, 0.2)] {
        let mut other = GridDomain::new("other", frame.unwrap());
        other.set_buckets(&cube(0, 2)).unwrap();
        let elsewhere = Accessor::new("test", &other);
        bad_access(elsewhere.run(volume.own(heat), |_, _| panic!()), "another Grid Domain");
        bad_access(elsewhere.run(volume.around(heat, 1), |_, _| panic!()), "another Grid Domain");
        bad_access(elsewhere.run(volume.write(heat), |_, _| panic!()), "another Grid Domain");
        let system = ParticleSystem::new("spray", &domain).unwrap();
        bad_access(elsewhere.run(system.write(system.id()), |_, _| panic!()), "another Grid");
    }
    assert!(bytes_of_volume(&mut volume) == before);
}

#[test]
fn a_kernel_that_reads_and_writes_one_channel_is_named() {
    let mut domain = domain();
    domain.set_buckets(&cube(0, 2)).unwrap();
    let (volume, heat) = noise(&domain, &cube(0, 2), Resolution::R4);
    let accessor = Accessor::new("smooth", &domain);
    let busy = |outcome: undine_core::Result<()>| {
        let error = outcome.unwrap_err();
        let names_it = |error: &CoreError| {
            matches!(error, CoreError::ChannelBusy { task: "smooth", holder: "smooth", .. })
        };
        assert!(names_it(&error), "{error}");
    };
    busy(accessor.run((volume.around(heat, 1), volume.write(heat)), |_, _| panic!()));
    busy(accessor.run((volume.write(heat), volume.own(heat)), |_, _| panic!()));
    busy(accessor.run([volume.write(heat), volume.write(heat)], |_, _| panic!()));
    let add = || volume.accumulate(heat, Pad::both(1));
    busy(accessor.scatter(volume.own(heat), add(), |_, _, _| panic!()));
    busy(accessor.scatter((), (add(), add()), |_, (), _| panic!()));
    accessor.run([volume.own(heat), volume.own(heat)], |_, [a, b]| assert_eq!(a, b)).unwrap();

    // From within a kernel that has the channel.
    let inner = accessor.map(volume.write(heat), |_, _| {
        Accessor::new("inner", &domain).run(volume.own(heat), |_, _| ()).unwrap_err()
    });
    for error in inner.unwrap() {
        assert!(matches!(error, CoreError::ChannelBusy { task: "inner", holder: "smooth", .. }));
    }
}

/// Buckets on three levels that overlap, as in a multigrid hierarchy.
fn levels(domain: &GridDomain) -> Arc<Topology> {
    let fine = sparse(0, 5, 8);
    let middle = fine.coarsen(0).unwrap();
    let coarse = middle.coarsen(1).unwrap();
    domain.subset(&fine.union(&middle).union(&coarse)).unwrap()
}

#[test]
fn a_level_is_visited_alone() {
    let domain = domain();
    let topology = levels(&domain);
    let mut volume = DiscreteVolume::on("air", &domain, topology.clone());
    let shape = VoxelShape::CELLS.with_resolution(Resolution::R2);
    let heat = volume.add_channel(&ChannelSpec::new("heat", 0_u32), shape).unwrap();
    for level in 0..5 {
        let accessor = Accessor::new("test", &domain).over(&topology).level(level);
        let wanted: Vec<Bucket> =
            topology.buckets().iter().copied().filter(|bucket| bucket.level == level).collect();
        assert_eq!(wanted.is_empty(), level > 2);

        volume.column_mut(heat).unwrap().fill(0);
        accessor.run(volume.write(heat), |_, heat| heat.fill(1)).unwrap();
        let check = |what: u32| {
            let column = volume.column(heat).unwrap();
            for (slot, bucket) in topology.buckets().iter().enumerate() {
                let wanted = if bucket.level == level { what } else { 0 };
                assert!(column.chunk(slot as u32).iter().all(|&value| value == wanted));
            }
        };
        check(1);
        let mapped = accessor.map(volume.own(heat), |here, heat| (here.bucket, heat[0])).unwrap();
        assert!(mapped.iter().all(|(_, value)| *value == 1));
        assert_eq!(mapped.iter().map(|pair| pair.0).collect::<Vec<_>>(), wanted);
        let sum =
            accessor.reduce(volume.own(heat), |_, heat| heat.iter().sum::<u32>(), |a, b| a + b);
        assert_eq!(sum.unwrap(), (!wanted.is_empty()).then_some(8 * wanted.len() as u32));
        let add = volume.accumulate(heat, Pad::both(0));
        accessor.scatter((), add, |_, (), tile| tile.values_mut().fill(4)).unwrap();
        check(5);
    }
    let any_level = Accessor::new("test", &domain).over(&topology).level(1).over(&topology);
    assert_eq!(any_level.map((), |_, ()| ()).unwrap().len(), topology.local());
}

#[test]
fn a_reduction_adds_neighbours_in_pairs_for_any_number_of_threads() {
    let mut domain = domain();
    // Pairs, then pairs of pairs.
    fn pairs(values: &[f32]) -> Option<f32> {
        match values.len() {
            0 => None,
            1 => Some(values[0]),
            n => {
                let half = n.next_power_of_two() / 2;
                Some(pairs(&values[..half])? + pairs(&values[half..])?)
            }
        }
    }
    for count in [0, 1, 2, 3, 17, 300] {
        let some = BucketSet::from_buckets(cube(0, 7).buckets().take(count)).unwrap();
        domain.set_buckets(&some).unwrap();
        let (volume, heat) = noise(&domain, &some, Resolution::R4);
        let firsts: Vec<f32> = {
            let column = volume.column(heat).unwrap();
            (0..count as u32).map(|slot| column.chunk(slot)[0]).collect()
        };
        for threads in [1, 2, 3, 7] {
            let accessor = Accessor::new("sum", &domain);
            let sum = on_threads(threads, || {
                accessor.reduce(volume.own(heat), |_, heat| heat[0], |a, b| a + b).unwrap()
            });
            assert_eq!(sum.map(f32::to_bits), pairs(&firsts).map(f32::to_bits));
        }
    }
}

/// What a Bucket's kernel adds to a voxel of its tile.
fn drop_of(bucket: Bucket, x: i32, y: i32, z: i32) -> f32 {
    let [a, b, c] = bucket.coord.to_array().map(|c| (c + 50) as u64);
    let place = ((x + 20) * 1600 + (y + 20) * 40 + z + 20) as u64;
    Random::new(((a * 100 + b) * 100 + c) << 20 | place).signed()
}

#[test]
fn scatter_is_a_plain_sum_in_a_fixed_order_and_what_lands_nowhere_is_lost() {
    let mut domain = domain();
    let cases = [
        (Resolution::R2, Pad { low: 1, high: 1 }),
        (Resolution::R2, Pad { low: 0, high: 2 }),
        (Resolution::R4, Pad { low: 1, high: 2 }),
        (Resolution::R4, Pad { low: 4, high: 0 }),
        (Resolution::R4, Pad { low: 0, high: 0 }),
        (Resolution::R8, Pad { low: 1, high: 2 }),
        (Resolution::R8, Pad { low: 4, high: 4 }),
    ];
    for (resolution, pad) in cases {
        domain.set_buckets(&sparse(-2, 2, 12)).unwrap();
        let visited = domain.topology().clone();
        // The volume has some Buckets more than are visited.
        let on = visited.all().union(&sparse(-3, 3, 13));
        let mut naive = {
            let (volume, heat) = noise(&domain, &on, resolution);
            by_place(&volume, heat)
        };
        let (low, high) = (i32::from(pad.low), resolution.edge() as i32 + i32::from(pad.high));
        for &slot in visited.colours().iter().flatten() {
            let bucket = visited.bucket(slot);
            for (x, y, z) in (-low..high)
                .flat_map(|x| (-low..high).flat_map(move |y| (-low..high).map(move |z| (x, y, z))))
            {
                let place = bucket.coord * resolution.edge() as i32 + IVec3::new(x, y, z);
                if let Some(value) = naive.get_mut(&place.to_array()) {
                    *value += drop_of(bucket, x, y, z);
                }
            }
        }
        for threads in [1, 2, 3, 7] {
            let (volume, heat) = noise(&domain, &on, resolution);
            let other = on_threads(threads, || {
                let targets = [volume.accumulate(heat, pad)];
                Accessor::new("splat", &domain).scatter((), targets, |here, (), [tile]| {
                    assert!(tile.values().iter().all(|&value| value == 0.0), "zero at each visit");
                    for (x, y, z) in (-low..high).flat_map(|x| {
                        (-low..high).flat_map(move |y| (-low..high).map(move |z| (x, y, z)))
                    }) {
                        let at = tile.index(x, y, z);
                        tile.values_mut()[at] += drop_of(here.bucket, x, y, z);
                    }
                })
            });
            other.unwrap();
            let found = by_place(&volume, heat);
            assert_eq!(found.len(), naive.len());
            for (place, value) in found {
                assert_eq!(value.to_bits(), naive[&place].to_bits(), "{pad:?} at {place:?}");
            }
        }
    }
}

#[test]
fn scatter_reads_while_it_accumulates_into_several_channels() {
    let mut domain = domain();
    domain.set_buckets(&cube(0, 3)).unwrap();
    let (mut volume, heat) = noise(&domain, &cube(0, 3), Resolution::R4);
    let shape = VoxelShape::CELLS.with_resolution(Resolution::R4);
    let sum = volume.add_channel(&ChannelSpec::new("sum", Vec3::ZERO), shape).unwrap();
    let count = volume.add_channel(&ChannelSpec::new("count", 0_u32), shape).unwrap();
    let targets = (volume.accumulate(sum, Pad::both(1)), volume.accumulate(count, Pad::both(2)));
    Accessor::new("count", &domain)
        .scatter(volume.around(heat, 1), targets, |_, heat, (sum, count)| {
            let at = sum.index(-1, 0, 0);
            sum.values_mut()[at] += Vec3::splat(heat.at(-1, 0, 0));
            let at = count.index(5, 5, 5);
            count.values_mut()[at] += 1;
        })
        .unwrap();
    let counts = volume.column(count).unwrap();
    let total: u32 = (0..27).map(|slot| counts.chunk(slot).iter().sum::<u32>()).sum();
    assert_eq!(total, 8, "what the 19 at the upper sides added beyond the volume is lost");
}

#[test]
#[should_panic(expected = "exchanged its tile")]
fn a_tile_of_another_shape_does_not_get_into_a_volume() {
    let mut domain = domain();
    domain.set_buckets(&cube(0, 1)).unwrap();
    let (volume, heat) = noise(&domain, &cube(0, 1), Resolution::R4);
    let target = volume.accumulate(heat, Pad::both(1));
    let _ = Accessor::new("cheat", &domain).scatter((), target, |_, (), tile| {
        *tile = Tile::new(Resolution::R16, Pad::both(8), 1.0);
    });
}

/// Runs a kernel that reads a channel with a stencil of one voxel.
fn peek(read: impl Fn(undine_core::access::VoxelNeighbourhood<'_, f32>) + Sync) {
    let mut domain = domain();
    domain.set_buckets(&cube(0, 2)).unwrap();
    let (volume, heat) = noise(&domain, &cube(0, 2), Resolution::R8);
    let _ = Accessor::new("peek", &domain).run(volume.around(heat, 1), |_, heat| read(heat));
}

#[cfg(debug_assertions)]
#[test]
#[should_panic(expected = "outside of the declared stencil of 1")]
fn reading_beyond_the_declared_stencil_panics_where_it_is_checked() {
    peek(|heat| assert!(heat.at(0, 9, 0).is_finite()));
}

#[cfg(debug_assertions)]
#[test]
#[should_panic(expected = "padding is outside of the declared stencil of 1")]
fn loading_a_tile_beyond_the_declared_stencil_panics_where_it_is_checked() {
    peek(|heat| heat.load(&mut heat.tile(Pad { low: 0, high: 2 })));
}

#[cfg(debug_assertions)]
#[test]
#[should_panic(expected = "declared no stencil")]
fn a_neighbour_without_a_stencil_panics_where_it_is_checked() {
    let mut domain = domain();
    domain.set_buckets(&cube(0, 2)).unwrap();
    let (volume, heat) = noise(&domain, &cube(0, 2), Resolution::R8);
    let kernel = Accessor::new("peek", &domain).run(volume.around(heat, 0), |_, heat| {
        assert!(!heat.neighbour(1, 0, 0).is_empty());
    });
    kernel.unwrap();
}
