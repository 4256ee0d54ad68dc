//! Points that other processes own, with threads that play the processes.

use super::{ALL, Chance, Scene, noise};
use glam::{DVec3, IVec3, Vec3};
use std::sync::{Arc, Barrier, Mutex};
use undine_core::domain::Slot;
use undine_core::process::{Parcel, Pending, Processes, Single};
use undine_core::volume::{
    DiscreteVolume, Interpolation, Kernel, Resolution, VoxelShape, foreign, sample_points,
    sample_velocities, splat_points,
};
use undine_core::{Bucket, BucketSet, Frame, GridDomain, Partition, Result};

/// One of several threads that talk by writing on a board, all at the same time.
#[derive(Debug, Clone)]
struct Member {
    rank: usize,
    crew: Arc<Crew>,
}

#[derive(Debug)]
struct Crew {
    barrier: Barrier,
    board: Mutex<Vec<Vec<u8>>>,
}

impl Processes for Member {
    fn rank(&self) -> usize {
        self.rank
    }

    fn count(&self) -> usize {
        self.crew.board.lock().unwrap().len()
    }

    fn start(&self, outgoing: Vec<Parcel>, incoming: &[(usize, usize)]) -> Result<Pending> {
        let written: Vec<u8> = outgoing
            .iter()
            .flat_map(|parcel| {
                let head = [parcel.process as u64, parcel.bytes.len() as u64];
                [bytemuck::cast_slice(&head), &parcel.bytes].concat()
            })
            .collect();
        let mut received = Vec::new();
        for mut sent in self.all_gather(&written)? {
            while !sent.is_empty() {
                let head: Vec<u64> = bytemuck::pod_collect_to_vec(&sent[..16]);
                let rest = sent.split_off(16 + head[1] as usize);
                if head[0] as usize == self.rank {
                    // The embedded process hands over what it sent to itself, in the same order.
                    received.push(Parcel { process: 0, bytes: sent.split_off(16) });
                }
                sent = rest;
            }
        }
        let expected: Vec<_> = incoming.iter().map(|&(_, bytes)| (0, bytes)).collect();
        Single.start(received, &expected)
    }

    fn all_to_all(&self, values: &[u64]) -> Result<Vec<u64>> {
        let rows = self.all_gather(bytemuck::cast_slice(values))?;
        Ok(rows.iter().map(|row| bytemuck::pod_collect_to_vec::<u8, u64>(row)[self.rank]).collect())
    }

    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>> {
        self.crew.board.lock().unwrap()[self.rank] = bytes.to_vec();
        self.crew.barrier.wait();
        let board = self.crew.board.lock().unwrap().clone();
        self.crew.barrier.wait();
        Ok(board)
    }

    fn barrier(&self) -> Result<()> {
        self.crew.barrier.wait();
        Ok(())
    }

    fn abort(&self, message: &str) -> ! {
        panic!("{message}")
    }
}

/// What `work` gives on each of `count` processes, by rank.
fn on_each<R: Send>(count: usize, work: impl Fn(Arc<dyn Processes>) -> R + Sync) -> Vec<R> {
    let crew =
        Arc::new(Crew { barrier: Barrier::new(count), board: Mutex::new(vec![Vec::new(); count]) });
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..count)
            .map(|rank| {
                let member = Arc::new(Member { rank, crew: crew.clone() });
                scope.spawn(|| work(member))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn frame() -> Frame {
    Frame::new(DVec3::ZERO, 0.125).unwrap()
}

/// A cover of −8 .. 8 m with three levels, or one of −4 .. 4 m with holes on one level.
fn buckets(several_levels: bool) -> BucketSet {
    let cell = |n: i32, width: i32| IVec3::new(n / (width * width), n / width % width, n % width);
    if several_levels {
        let coarse = (0..64).map(|n| Bucket::at(2, cell(n, 4) - 2));
        let fine = [Bucket::new(0, 0, 0), Bucket::new(-3, 1, 2)];
        BucketSet::from_buckets(coarse.chain(fine)).unwrap().graded()
    } else {
        let all = (0..512).filter(|n| n % 7 != 3).map(|n| Bucket::at(0, cell(n, 8) - 4));
        BucketSet::from_buckets(all).unwrap()
    }
}

fn domain(processes: Arc<dyn Processes>, buckets: &BucketSet) -> GridDomain {
    let weights: Vec<_> = buckets.keys().iter().map(|&key| (key, 1.0)).collect();
    let partition = Partition::balanced(frame(), processes.count(), &weights);
    let mut domain = GridDomain::distributed("domain", frame(), processes, Arc::new(partition));
    domain.set_buckets(buckets).unwrap();
    domain
}

fn points(rank: usize) -> Vec<DVec3> {
    Chance(rank as u64).points(if rank == 1 { 0 } else { 700 }, -5.0, 5.0)
}

#[test]
fn foreign_samples_are_those_of_a_single_process() {
    for (several_levels, interpolation) in
        ALL.into_iter().flat_map(|interpolation| [(false, interpolation), (true, interpolation)])
    {
        let buckets = buckets(several_levels);
        let scene = |processes| {
            Scene::on(domain(processes, &buckets), VoxelShape::CELLS, 0.5_f32)
                .fill(|p| noise(p) as f32)
        };
        let single = scene(Arc::new(Single));
        for count in [1, 2, 3, 4] {
            let found = on_each(count, |processes| {
                let points = points(processes.rank());
                let scene = scene(processes);
                foreign::sample(&scene.domain, &scene.volume, scene.handle, interpolation, &points)
            });
            for (rank, found) in found.into_iter().enumerate() {
                let points = points(rank);
                let mut wanted = vec![0.0; points.len()];
                sample_points(&single.volume, single.handle, interpolation, &points, &mut wanted)
                    .unwrap();
                assert_eq!(found.unwrap(), wanted, "{interpolation:?}, process {rank} of {count}");
            }
        }
    }
}

#[test]
fn foreign_splats_are_those_of_a_single_process() {
    for several_levels in [false, true] {
        let buckets = buckets(several_levels);
        for resolution in [Resolution::R2, Resolution::R8] {
            for kernel in [Kernel::Linear, Kernel::Quadratic, Kernel::Cubic] {
                let shape = VoxelShape::CELLS.with_resolution(resolution);
                let value = |p: &DVec3| 1.0 + noise(*p);
                for count in [2, 3, 4] {
                    let single = Scene::on(domain(Arc::new(Single), &buckets), shape, 0.0_f64);
                    let mut wanted_skips = Vec::new();
                    for rank in 0..count {
                        let points = points(rank);
                        let values: Vec<_> = points.iter().map(value).collect();
                        wanted_skips.push(splat_points(
                            &single.volume,
                            single.handle,
                            kernel,
                            &points,
                            &values,
                        ));
                    }
                    let wanted = single.volume.column(single.handle).unwrap();
                    let parts = on_each(count, |processes| {
                        let points = points(processes.rank());
                        let values: Vec<_> = points.iter().map(value).collect();
                        let scene = Scene::on(domain(processes, &buckets), shape, 0.0_f64);
                        let skipped = foreign::splat(
                            &scene.domain,
                            &scene.volume,
                            scene.handle,
                            kernel,
                            &points,
                            &values,
                        );
                        let column = scene.volume.column(scene.handle).unwrap();
                        let topology = scene.volume.topology();
                        let chunks: Vec<(Bucket, Vec<f64>)> = (0..topology.local() as Slot)
                            .map(|slot| (topology.bucket(slot), column.chunk(slot).to_vec()))
                            .collect();
                        (skipped, chunks)
                    });
                    let mut seen = 0;
                    for (rank, (skipped, chunks)) in parts.into_iter().enumerate() {
                        assert_eq!(skipped, wanted_skips[rank]);
                        seen += chunks.len();
                        for (bucket, chunk) in chunks {
                            let slot = single.volume.topology().slot(bucket).unwrap();
                            for (found, wanted) in chunk.iter().zip(wanted.chunk(slot)) {
                                assert!((found - wanted).abs() < 1e-12, "{kernel:?} in {bucket:?}");
                            }
                        }
                    }
                    assert_eq!(seen, buckets.len());
                }
            }
        }
    }
}

#[test]
fn foreign_velocities_are_those_of_a_single_process() {
    let buckets = buckets(false);
    let scene = |processes| {
        let domain = domain(processes, &buckets);
        let mut volume = DiscreteVolume::new("air", &domain);
        let mac = volume.add_mac("velocity", "m/s", Resolution::R8).unwrap();
        for (axis, face) in mac.faces.into_iter().enumerate() {
            let mut column = volume.column_mut(face).unwrap();
            for (slot, bucket) in domain.topology().buckets().iter().enumerate() {
                let corner = bucket.coord.as_dvec3() + 0.1 * axis as f64;
                for (n, value) in column.chunk_mut(slot as Slot).iter_mut().enumerate() {
                    *value = noise(corner + n as f64) as f32;
                }
            }
        }
        (domain, volume, mac)
    };
    let (_, volume, mac) = scene(Arc::new(Single));
    let found = on_each(3, |processes| {
        let points = points(processes.rank());
        let (domain, volume, mac) = scene(processes);
        foreign::sample_velocities(&domain, &volume, mac, Interpolation::Quadratic, &points)
    });
    for (rank, found) in found.into_iter().enumerate() {
        let points = points(rank);
        let mut wanted = vec![Vec3::ZERO; points.len()];
        sample_velocities(&volume, mac, Interpolation::Quadratic, &points, &mut wanted).unwrap();
        assert_eq!(found.unwrap(), wanted);
    }
}

/// Faces of three shapes, whose kernels reach other Buckets than those of cells.
#[test]
fn channels_that_are_splatted_at_once_are_each_as_alone() {
    let buckets = buckets(false);
    let value = |p: &DVec3, axis: usize| 1.0 + axis as f32 + noise(*p) as f32;
    for count in [1, 3] {
        let same = on_each(count, |processes| {
            let points = points(processes.rank());
            let values = |axis| points.iter().map(|p| value(p, axis)).collect::<Vec<f32>>();
            let values = [0, 1, 2].map(values);
            let domain = domain(processes, &buckets);
            let [together, alone] = ["together", "alone"].map(|name| {
                let mut volume = DiscreteVolume::new(name, &domain);
                let mac = volume.add_mac("momentum", "", Resolution::R8).unwrap();
                (volume, mac)
            });
            let (volume, mac) = &together;
            let channels = [0, 1, 2].map(|axis| (mac.faces[axis], &values[axis][..]));
            let skipped =
                foreign::splat_all(&domain, volume, &channels, Kernel::Linear, &points).unwrap();
            let (volume, mac) = &alone;
            for (&face, values) in mac.faces.iter().zip(&values) {
                let kernel = Kernel::Linear;
                let one = foreign::splat(&domain, volume, face, kernel, &points, values).unwrap();
                assert_eq!(one, skipped);
            }
            let bits = |(volume, mac): &(DiscreteVolume, undine_core::volume::MacHandle)| {
                let columns = mac.faces.map(|face| volume.column(face).unwrap());
                let slots = 0..volume.topology().local() as Slot;
                let all = slots.flat_map(|slot| columns.iter().flat_map(move |c| c.chunk(slot)));
                all.map(|value| value.to_bits()).collect::<Vec<_>>()
            };
            assert!(bits(&alone).iter().any(|&bits| bits != 0));
            bits(&together) == bits(&alone)
        });
        assert_eq!(same, vec![true; count]);
    }
}

#[test]
fn an_error_on_one_process_is_the_same_error_on_all() {
    let buckets = buckets(false);
    let errors = on_each(3, |processes| {
        let mut points = points(0);
        if processes.rank() == 2 {
            points[5].x = f64::NAN;
        }
        let scene = Scene::on(domain(processes, &buckets), VoxelShape::CELLS, 0.0_f32);
        let values = vec![1.0; points.len()];
        let (domain, volume, handle) = (&scene.domain, &scene.volume, scene.handle);
        let sampled = foreign::sample(domain, volume, handle, Interpolation::Linear, &points);
        let splatted = foreign::splat(domain, volume, handle, Kernel::Linear, &points, &values);
        let column = volume.column(handle).unwrap();
        let untouched = (0..domain.topology().stored() as Slot)
            .all(|slot| column.chunk(slot).iter().all(|&value| value == 0.0));
        (sampled.unwrap_err(), splatted.unwrap_err(), untouched)
    });
    for (sampled, splatted, untouched) in &errors {
        assert!(untouched);
        assert_eq!((sampled, splatted), (&errors[0].0, &errors[0].1));
        let message = sampled.to_string();
        assert!(message.contains("process 2") && message.contains("point 5"), "{message}");
    }
}
