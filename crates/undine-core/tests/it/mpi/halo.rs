//! Halo: a kernel that reads around a Bucket finds what the owners of the Buckets around it wrote.

use super::passes;
use super::scene::{Counted, alone, distributed, frame, hash, share, sparse, voxels};
use std::{
    error::Error,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};
use undine_core::{
    Accessor, Bucket, BucketSet, ChannelSpec, DiscreteVolume, GridDomain, Handle, Partition,
    Result, Topology,
    access::{Pad, VoxelNeighbourhood},
    glam::{IVec3, Vec3},
    process::{Parcel, Pending, Processes},
    volume::{Resolution, VoxelShape},
};

/// The value of a voxel in a round: a function of its place in the world of its level.
fn value(round: u64, level: u8, voxel: IVec3) -> f32 {
    let [x, y, z] = voxel.to_array().map(|c| (c + (1 << 18)) as u64);
    (hash(round * 20 + u64::from(level), x << 40 | y << 20 | z) % 1_000_000) as f32
}

/// A volume with channels of different types and resolutions.
struct Field {
    volume: DiscreteVolume,
    cells: Handle<f32>,
    coarse: Handle<Vec3>,
    fine: Handle<f32>,
}

const BACKGROUND: f32 = -1.0;

impl Field {
    fn new(domain: &GridDomain, topology: &Arc<Topology>) -> Result<Self> {
        let mut volume = DiscreteVolume::on("field", domain, topology.clone());
        let scalar = |name: &str| ChannelSpec::new(name, BACKGROUND);
        let shape = VoxelShape::CELLS;
        let cells = volume.add_channel(&scalar("cells"), shape)?;
        let coarse = volume.add_channel(
            &ChannelSpec::new("coarse", Vec3::splat(BACKGROUND)),
            shape.with_resolution(Resolution::R2),
        )?;
        let fine = volume
            .add_channel(&scalar("fine"), VoxelShape::NODES.with_resolution(Resolution::R16))?;
        Ok(Self { volume, cells, coarse, fine })
    }

    fn accessor(&self, domain: &GridDomain) -> Accessor {
        Accessor::new("test", domain).over(self.volume.topology())
    }

    fn write(&self, domain: &GridDomain, round: u64) -> Result<()> {
        self.write_cells(domain, round)?;
        let access = (self.volume.write(self.coarse), self.volume.write(self.fine));
        self.accessor(domain).run(access, |here, (coarse, fine)| {
            let fill = |edge: i32, n: i32| {
                let voxel = IVec3::new(n / edge / edge, n / edge % edge, n % edge);
                value(round, here.bucket.level, here.bucket.coord * edge + voxel)
            };
            (0..8).for_each(|n| coarse[n as usize] = Vec3::new(1.0, 2.0, 3.0) * fill(2, n));
            (0..4096).for_each(|n| fine[n as usize] = fill(16, n));
        })
    }

    fn write_cells(&self, domain: &GridDomain, round: u64) -> Result<()> {
        self.accessor(domain).run(self.volume.write(self.cells), |here, cells| {
            for (n, cell) in cells.iter_mut().enumerate() {
                let voxel = IVec3::new(n as i32 >> 6, n as i32 >> 3 & 7, n as i32 & 7);
                *cell = value(round, here.bucket.level, here.bucket.coord * 8 + voxel);
            }
        })
    }

    /// Reads `cells` around each Bucket of `over`, and compares everything within the stencil.
    fn check_cells(&self, over: &Accessor, round: u64) -> Result<usize> {
        let visits = AtomicUsize::new(0);
        over.run(self.volume.around(self.cells, 3), |here, cells| {
            visits.fetch_add(1, Ordering::Relaxed);
            check(here.bucket, self.volume.topology(), 8, 3, |voxel, wanted| {
                assert_eq!(at(&cells, voxel), wanted.map_or(BACKGROUND, |at| at(round)));
            });
        })?;
        Ok(visits.into_inner())
    }
}

fn at<T: undine_core::Element>(around: &VoxelNeighbourhood<'_, T>, voxel: IVec3) -> T {
    around.at(voxel.x, voxel.y, voxel.z)
}

/// Calls `compare` with each voxel within a stencil, and what its value is by round, if its Bucket exists.
fn check(
    bucket: Bucket,
    topology: &Topology,
    edge: i32,
    radius: i32,
    compare: impl Fn(IVec3, Option<&dyn Fn(u64) -> f32>),
) {
    let range = || -radius..edge + radius;
    let exists: Vec<bool> = (0..27)
        .map(|n| IVec3::new(n / 9, n / 3 % 3, n % 3) - 1)
        .map(|by| topology.all().contains(bucket.offset(by)))
        .collect();
    for x in range() {
        for y in range() {
            for z in range() {
                let voxel = IVec3::new(x, y, z);
                let by = voxel.map_components(|c| c.div_euclid(edge) + 1);
                let wanted = |round| value(round, bucket.level, bucket.coord * edge + voxel);
                let there = exists[(by.x * 9 + by.y * 3 + by.z) as usize];
                compare(voxel, if there { Some(&wanted) } else { None });
            }
        }
    }
}

/// Applies a function to each component.
trait MapComponents {
    fn map_components(self, f: impl Fn(i32) -> i32) -> Self;
}

impl MapComponents for IVec3 {
    fn map_components(self, f: impl Fn(i32) -> i32) -> Self {
        IVec3::from_array(self.to_array().map(f))
    }
}

#[test]
fn a_kernel_reads_around_a_bucket_what_the_owners_wrote() {
    passes("halo");
}

pub fn halo(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    for (seed, percent, half) in [(1, 15, 4), (2, 50, 2), (3, 97, 2)] {
        let counted = Counted::new(processes);
        let shared: Arc<dyn Processes> = counted.clone();
        let mut domain = distributed(&shared);
        // Each process asks for a part; all get the whole.
        let all = sparse(seed, percent, half, 3);
        domain.set_buckets(&BucketSet::from_keys(share(all.keys(), &*shared).to_vec()))?;
        assert_eq!(*domain.topology().all(), all);
        let local = domain.topology().local();
        assert_eq!(processes.all_sum_u64(local as u64)?, all.len() as u64);
        let field = Field::new(&domain, domain.topology())?;
        let run = field.accessor(&domain);

        field.write(&domain, 1)?;
        counted.starts();
        let access = (
            field.volume.around(field.cells, 1),
            field.volume.around(field.coarse, 2),
            field.volume.around(field.fine, 2),
        );
        run.run(access, |here, (cells, coarse, fine)| {
            let topology = field.volume.topology();
            check(here.bucket, topology, 8, 1, |voxel, wanted| {
                assert_eq!(at(&cells, voxel), wanted.map_or(BACKGROUND, |at| at(1)));
            });
            check(here.bucket, topology, 2, 2, |voxel, wanted| {
                let wanted =
                    wanted.map_or(Vec3::splat(BACKGROUND), |at| Vec3::new(1.0, 2.0, 3.0) * at(1));
                assert_eq!(at(&coarse, voxel), wanted);
            });
            check(here.bucket, topology, 16, 2, |voxel, wanted| {
                assert_eq!(at(&fine, voxel), wanted.map_or(BACKGROUND, |at| at(1)));
            });
        })?;
        // A transfer for each stale channel, and none for a fresh one.
        let several = processes.count() > 1;
        assert_eq!(counted.starts(), if several { 3 } else { 0 });
        assert_eq!(field.check_cells(&run, 1)?, local);
        field.check_cells(&run, 1)?;
        assert!(counted.starts() <= 1);
        field.write_cells(&domain, 2)?;
        assert_eq!(field.check_cells(&run, 2)?, local);
        assert_eq!(counted.starts(), usize::from(several));

        // Level by level, and by tiles.
        field.write_cells(&domain, 3)?;
        for level in 0..3 {
            let visits = field.check_cells(&field.accessor(&domain).level(level), 3)?;
            assert_eq!(visits, domain.topology().level(level).len());
        }
        run.run(field.volume.around(field.cells, 2), |here, cells| {
            let mut tile = cells.tile(Pad::both(2));
            cells.load(&mut tile);
            check(here.bucket, field.volume.topology(), 8, 2, |voxel, wanted| {
                let found = tile.values()[tile.index(voxel.x, voxel.y, voxel.z)];
                assert_eq!(found, wanted.map_or(BACKGROUND, |at| at(3)));
            });
        })?;

        // Over fewer Buckets than the volume has: what is around them may be another process's.
        let some = sparse(seed + 10, 50, half, 3).intersection(&all);
        let over = domain.subset(&some)?;
        field.write_cells(&domain, 4)?;
        let run = Accessor::new("test", &domain).over(&over);
        assert_eq!(field.check_cells(&run, 4)?, over.local());
    }
    lonely(processes)?;
    grows(processes)?;
    interior_first(processes)
}

/// Buckets without neighbours are visited, too: no copies are to come, but transfers start on all processes.
fn lonely(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    let mut domain = distributed(processes);
    // Two neighbours across the border between some processes, and others far from everybody.
    let near = [Bucket::new(-1, -1, -1), Bucket::new(0, -1, -1)];
    let far = [-40, 40].map(|c| Bucket::new(c, c / 2, -c));
    domain.set_buckets(&BucketSet::from_buckets(near.into_iter().chain(far))?)?;
    let field = Field::new(&domain, domain.topology())?;
    field.write(&domain, 7)?;
    let visits = field.check_cells(&field.accessor(&domain), 7)?;
    assert_eq!(processes.all_sum_u64(visits as u64)?, 4);
    Ok(())
}

/// Buckets come and go; what stays keeps its values, and copies follow.
fn grows(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    let (mut domain, mut reference) = (distributed(processes), alone());
    let start = sparse(5, 30, 2, 1);
    domain.set_buckets(&start)?;
    reference.set_buckets(&start)?;
    let mut field = Field::new(&domain, domain.topology())?;
    let mut wanted = Field::new(&reference, reference.topology())?;
    for round in 0..6 {
        field.write(&domain, round)?;
        wanted.write(&reference, round)?;
        match round % 3 {
            0 => (domain.dilate(1)?, reference.dilate(1)?),
            1 => {
                let gone = sparse(round, 60, 6, 1);
                (domain.remove(&gone)?, reference.remove(&gone)?)
            }
            _ => {
                let more = sparse(round, 10, 6, 2);
                let mine = BucketSet::from_keys(share(more.keys(), &**processes).to_vec());
                (domain.add(&mine)?, reference.add(&more)?)
            }
        };
        field.volume.follow(domain.topology())?;
        wanted.volume.follow(reference.topology())?;
        assert_eq!(domain.topology().all(), reference.topology().all());
        // New Buckets hold the background, the others what was written before.
        let single = undine_core::Single;
        super::scene::assert_same(
            &voxels(&**processes, &field.volume)?,
            &voxels(&single, &wanted.volume)?,
            "after the Buckets changed",
        );
        field.write(&domain, round + 100)?;
        wanted.write(&reference, round + 100)?;
        field.check_cells(&field.accessor(&domain), round + 100)?;
    }
    Ok(())
}

/// Processes of which the last starts no transfer until the first has visited a Bucket inside.
#[derive(Debug)]
struct Late(Arc<dyn Processes>, PathBuf);

impl Processes for Late {
    fn rank(&self) -> usize {
        self.0.rank()
    }
    fn count(&self) -> usize {
        self.0.count()
    }
    fn start(&self, outgoing: Vec<Parcel>, incoming: &[(usize, usize)]) -> Result<Pending> {
        while self.rank() + 1 == self.count() && !self.1.exists() {
            thread::sleep(Duration::from_millis(1));
        }
        self.0.start(outgoing, incoming)
    }
    fn all_to_all(&self, values: &[u64]) -> Result<Vec<u64>> {
        self.0.all_to_all(values)
    }
    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>> {
        self.0.all_gather(bytes)
    }
    fn barrier(&self) -> Result<()> {
        self.0.barrier()
    }
    fn abort(&self, message: &str) -> ! {
        self.0.abort(message)
    }
}

/// Buckets inside are visited while parcels travel: were they not, this would never end.
fn interior_first(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    if processes.count() == 1 {
        return Ok(());
    }
    let id = processes.all_max_u64(std::process::id().into())?;
    let sign = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("inside-{id}"));
    let late: Arc<dyn Processes> = Arc::new(Late(processes.clone(), sign.clone()));
    let partition = Arc::new(Partition::even(frame(), late.count()));
    let mut domain = GridDomain::distributed("late", frame(), late, partition);
    domain.set_buckets(&sparse(0, 100, 3, 1))?;
    let field = Field::new(&domain, domain.topology())?;
    field.write(&domain, 1)?;
    let first = processes.rank() == 0;
    assert!(!first || !domain.topology().interior().is_empty());
    field.accessor(&domain).run(field.volume.around(field.cells, 1), |here, _| {
        if first && here.topology.interior().contains(&here.slot) {
            std::fs::write(&sign, "").expect("a sign");
        }
    })?;
    processes.barrier()?;
    if first {
        std::fs::remove_file(&sign)?;
    }
    Ok(())
}
