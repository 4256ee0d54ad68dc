//! Sharing the work out among processes: the curve of Buckets is cut so that all have as much to do, the same for all Domains.
//!
//! The cut follows from what there is and from nothing else. It is made anew when a frame begins, and not only when somebody
//! has too much to do, so that a run that goes on from a checkpoint is cut as one that was never interrupted.

use crate::error::Result;
use crate::world::World;
use std::sync::Arc;
use undine_core::domain::{Bucket, BucketKey, Slot};
use undine_core::{Frame, Partition};

/// What the voxels of a Bucket cost, in particles: those of a fluid are solved for in many sweeps, but each is less work.
const BUCKET_OF_VOXELS: f64 = 1024.0;
/// What a Bucket costs by being there, in particles.
const BUCKET: f64 = 16.0;

/// How much work there is, along the curve that is cut.
#[derive(Debug)]
pub(crate) struct Weights {
    lattice: Frame,
    along: Vec<(BucketKey, f64)>,
}

impl Weights {
    /// None yet, on the finest of these lattices, so that Buckets of the others are not torn apart; nothing where there are none.
    pub fn on<'a>(lattices: impl Iterator<Item = &'a Frame>) -> Option<Self> {
        let finest = |a: &&Frame, b: &&Frame| a.voxel_size(0).total_cmp(&b.voxel_size(0));
        Some(Self { lattice: *lattices.min_by(finest)?, along: Vec::new() })
    }

    /// Adds a Bucket with this many particles.
    pub fn add_particles(&mut self, frame: &Frame, bucket: Bucket, count: usize) {
        self.add(frame, bucket, BUCKET + count as f64);
    }

    /// Adds a Bucket of voxels.
    pub fn add_voxels(&mut self, frame: &Frame, bucket: Bucket) {
        self.add(frame, bucket, BUCKET_OF_VOXELS);
    }

    fn add(&mut self, frame: &Frame, bucket: Bucket, weight: f64) {
        self.along.push((Partition::place(&self.lattice, frame, bucket), weight));
    }

    /// The cut that gives all processes as much, if these are the Buckets of all of them.
    pub fn cut(&self, processes: usize) -> Partition {
        Partition::balanced(self.lattice, processes, &self.along)
    }
}

impl World {
    /// Shares everything out anew, so that all processes have as much to do. Collective.
    pub fn balance(&mut self) -> Result<()> {
        if self.processes().count() == 1 {
            return Ok(());
        }
        let Some(mut weights) = Weights::on(self.domains.iter().map(|(_, domain)| domain.frame()))
        else {
            return Ok(());
        };
        for (_, particles) in self.particles.iter() {
            let topology = particles.topology();
            let ids = particles.column(particles.id())?;
            for slot in 0..topology.local() as Slot {
                let count = ids.chunk(slot).len();
                weights.add_particles(topology.frame(), topology.bucket(slot), count);
            }
        }
        for (_, volume) in self.volumes.iter() {
            let topology = volume.topology();
            for slot in 0..topology.local() as Slot {
                weights.add_voxels(topology.frame(), topology.bucket(slot));
            }
        }
        let mine: Vec<[u64; 2]> = weights
            .along
            .iter()
            .map(|(key, weight)| [bytemuck::cast(*key), weight.to_bits()])
            .collect();
        let all = self.processes().all_gather_values(&mine)?.concat();
        weights.along =
            all.iter().map(|[key, w]| (bytemuck::cast(*key), f64::from_bits(*w))).collect();
        let cut = weights.cut(self.processes().count());
        self.cut(Arc::new(cut))
    }

    /// Puts another cut in force, and gives everything to its new owners. Collective.
    fn cut(&mut self, cut: Arc<Partition>) -> Result<()> {
        if self.domains.iter().all(|(_, domain)| **domain.partition() == *cut) {
            return Ok(());
        }
        self.domains.iter_mut().try_for_each(|domain| domain.repartition(cut.clone()))?;
        let domains = &self.domains;
        let of = |frame: &Frame| {
            domains.iter().map(|(_, domain)| domain).find(|domain| domain.frame() == frame)
        };
        for particles in self.particles.iter_mut() {
            if let Some(domain) = of(&particles.topology().frame().clone()) {
                particles.migrate(domain)?;
            }
        }
        for volume in self.volumes.iter_mut() {
            if let Some(domain) = of(&volume.topology().frame().clone()) {
                volume.migrate(domain)?;
            }
        }
        Ok(())
    }
}
