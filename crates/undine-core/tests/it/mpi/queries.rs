//! Points anywhere: what other processes own is sampled as one's own.

use super::passes;
use super::scene::{alone, distributed, random, random_point, share, sparse};
use std::{error::Error, sync::Arc};
use undine_core::{
    Accessor, BucketSet, ChannelSpec, CoreError, DiscreteVolume, GridDomain, Handle,
    glam::{DVec3, Vec3},
    process::Processes,
    volume::{
        Interpolation, MacHandle, Resolution, VoxelShape, foreign, sample_points, sample_velocities,
    },
};

#[test]
fn points_of_other_processes_are_sampled_as_ones_own() {
    passes("queries");
}

struct Air {
    volume: DiscreteVolume,
    heat: Handle<f32>,
    wind: MacHandle,
}

impl Air {
    fn new(domain: &mut GridDomain, buckets: &BucketSet) -> Result<Self, CoreError> {
        domain.set_buckets(buckets)?;
        let mut volume = DiscreteVolume::new("air", domain);
        let heat = volume.add_channel(&ChannelSpec::new("heat", 20.0_f32), VoxelShape::CELLS)?;
        let wind = volume.add_mac("wind", "m/s", Resolution::R8)?;
        Ok(Self { volume, heat, wind })
    }

    /// Only owners write: whoever asks must find the copies fresh.
    fn blow(&self, domain: &GridDomain, round: u64) -> Result<(), CoreError> {
        let access =
            (self.volume.write(self.heat), self.wind.faces.map(|face| self.volume.write(face)));
        Accessor::new("blow", domain).run(access, |here, (heat, [x, y, z])| {
            let number: u64 = bytemuck::cast(here.bucket.key());
            for (n, face) in [heat, x, y, z].into_iter().enumerate() {
                for (m, value) in face.iter_mut().enumerate() {
                    *value = random(number + n as u64 * round, m as u64 + round) as f32;
                }
            }
        })
    }
}

pub fn queries(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    let coarse = sparse(1, 60, 4, 3);
    let several = BucketSet::from_keys(coarse.level(2).to_vec())
        .union(&BucketSet::from_keys(sparse(2, 1, 4, 1).keys().to_vec()))
        .graded();
    for (seed, buckets) in [(1, sparse(1, 60, 3, 1)), (2, several)] {
        let (mut domain, mut reference) = (distributed(processes), alone());
        let air = Air::new(&mut domain, &buckets)?;
        let model = Air::new(&mut reference, &buckets)?;
        let all: Vec<DVec3> = (0..2000).map(|n| random_point(seed, n, 3.0)).collect();
        // The first process asks nothing.
        let mine: &[DVec3] = if processes.rank() == 0 && processes.count() > 1 {
            &[]
        } else {
            share(&all, &**processes)
        };
        let interpolations = [
            Interpolation::Linear,
            Interpolation::Quadratic,
            Interpolation::Cubic,
            Interpolation::MonotoneCubic,
        ];
        for (round, interpolation) in interpolations.into_iter().enumerate() {
            air.blow(&domain, round as u64)?;
            model.blow(&reference, round as u64)?;
            let found = foreign::sample(&domain, &air.volume, air.heat, interpolation, mine)?;
            let mut wanted = vec![0.0; mine.len()];
            sample_points(&model.volume, model.heat, interpolation, mine, &mut wanted)?;
            assert_eq!(found, wanted, "{interpolation:?}");
            let found =
                foreign::sample_velocities(&domain, &air.volume, air.wind, interpolation, mine)?;
            let mut wanted = vec![Vec3::ZERO; mine.len()];
            sample_velocities(&model.volume, model.wind, interpolation, mine, &mut wanted)?;
            assert_eq!(found, wanted, "{interpolation:?}");
        }
        refused(processes, &domain, &air);
    }
    Ok(())
}

/// A bad point on one process is an error on all.
fn refused(processes: &Arc<dyn Processes>, domain: &GridDomain, air: &Air) {
    let mut points = vec![DVec3::ZERO; 3];
    if processes.rank() + 1 == processes.count() {
        points[1].z = f64::NAN;
    }
    let sampled =
        foreign::sample(domain, &air.volume, air.heat, Interpolation::Linear, &points).unwrap_err();
    assert!(sampled.to_string().contains("point 1"), "{sampled}");
}
