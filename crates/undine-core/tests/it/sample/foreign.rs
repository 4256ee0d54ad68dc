//! Points that other processes own, with threads that play the processes.

use super::{ALL, Chance, Scene, noise};
use glam::{DVec3, IVec3, Vec3};
use std::sync::{Arc, Barrier, Mutex};
use undine_core::domain::Slot;
use undine_core::process::{Parcel, Pending, Processes, Single};
use undine_core::volume::{
    DiscreteVolume, Interpolation, Resolution, VoxelShape, foreign, sample_points,
    sample_velocities,
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

#[test]
fn an_error_on_one_process_is_the_same_error_on_all() {
    let buckets = buckets(false);
    let errors = on_each(3, |processes| {
        let mut points = points(0);
        if processes.rank() == 2 {
            points[5].x = f64::NAN;
        }
        let scene = Scene::on(domain(processes, &buckets), VoxelShape::CELLS, 0.0_f32);
        let (domain, volume, handle) = (&scene.domain, &scene.volume, scene.handle);
        foreign::sample(domain, volume, handle, Interpolation::Linear, &points).unwrap_err()
    });
    for error in &errors {
        assert_eq!(error, &errors[0]);
        let message = error.to_string();
        assert!(message.contains("process 2") && message.contains("point 5"), "{message}");
    }
}
