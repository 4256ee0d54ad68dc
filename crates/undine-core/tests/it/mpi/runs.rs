//! Whole runs, bit for bit the same on any number of processes: diffusion and particle advection.

use super::crowd::Crowd;
use super::passes;
use super::scene::{alone, assert_same, distributed, random, sparse, voxels};
use std::{error::Error, sync::Arc};
use undine_core::{
    Accessor, BucketSet, ChannelSpec, CoreError, DiscreteVolume, GridDomain, Handle, Single,
    domain::Slot, process::Processes, volume::VoxelShape,
};

/// Explicit diffusion ∂u/∂t = ∇²u with a step of 0.15 Δx², on sparse Buckets with the background outside.
pub struct Diffusion {
    pub domain: GridDomain,
    pub volume: DiscreteVolume,
    heat: [Handle<f32>; 2],
    /// Which of the two is the present.
    now: usize,
}

impl Diffusion {
    pub fn new(mut domain: GridDomain, buckets: &BucketSet) -> Result<Self, CoreError> {
        domain.set_buckets(buckets)?;
        let mut volume = DiscreteVolume::new("heat", &domain);
        let mut add =
            |name: &str| volume.add_channel(&ChannelSpec::new(name, 0.0_f32), VoxelShape::CELLS);
        let heat = [add("heat")?, add("next")?];
        Accessor::new("heat up", &domain).run(volume.write(heat[0]), |here, heat| {
            let number: u64 = bytemuck::cast(here.bucket.key());
            for (n, heat) in heat.iter_mut().enumerate() {
                *heat = random(number, n as u64) as f32 * 100.0;
            }
        })?;
        Ok(Self { domain, volume, heat, now: 0 })
    }

    /// One step; `watch` is told of every Bucket that is visited.
    pub fn step(&mut self, watch: impl Fn(Slot) + Sync) -> Result<(), CoreError> {
        let (now, next) = (self.heat[self.now], self.heat[1 - self.now]);
        let access = (self.volume.around(now, 1), self.volume.write(next));
        let over = Accessor::new("diffuse", &self.domain).over(self.volume.topology());
        over.run(access, |here, (now, next)| {
            watch(here.slot);
            for (n, next) in next.iter_mut().enumerate() {
                let (x, y, z) = (n as i32 >> 6, n as i32 >> 3 & 7, n as i32 & 7);
                let here = now.at(x, y, z);
                let around = now.at(x - 1, y, z)
                    + now.at(x + 1, y, z)
                    + now.at(x, y - 1, z)
                    + now.at(x, y + 1, z)
                    + now.at(x, y, z - 1)
                    + now.at(x, y, z + 1);
                *next = here + 0.15 * (around - 6.0 * here);
            }
        })?;
        self.now = 1 - self.now;
        Ok(())
    }

    /// Adds the Buckets around those that are warm.
    fn spread(&mut self) -> Result<(), CoreError> {
        let over = Accessor::new("warm", &self.domain).over(self.volume.topology());
        let warm = over.map(self.volume.own(self.heat[self.now]), |here, heat| {
            heat.iter().any(|&heat| heat > 0.1).then_some(here.bucket)
        })?;
        let warm = BucketSet::from_buckets(warm.into_iter().flatten())?;
        self.domain.add(&warm.dilate(1)?)?;
        self.volume.follow(self.domain.topology())
    }
}

#[test]
fn diffusion_is_the_same_on_any_number_of_processes() {
    passes("diffusion");
}

pub fn diffusion(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    for (buckets, spreads) in [(sparse(6, 40, 2, 1), false), (sparse(7, 30, 1, 1), true)] {
        let mut run = Diffusion::new(distributed(processes), &buckets)?;
        let mut model = Diffusion::new(alone(), &buckets)?;
        for step in 0..50 {
            if spreads && step % 15 == 0 {
                run.spread()?;
                model.spread()?;
                assert_eq!(run.domain.topology().all(), model.domain.topology().all());
            }
            run.step(|_| {})?;
            model.step(|_| {})?;
        }
        let found = voxels(&**processes, &run.volume)?;
        assert_same(&found, &voxels(&Single, &model.volume)?, "after 50 steps");
        assert!(!spreads || found.len() > 4 * buckets.len());
    }
    Ok(())
}

#[test]
fn advection_is_the_same_on_any_number_of_processes() {
    passes("advection");
}

/// Moves particles by a velocity that turns about the z axis and rises, taken at each particle's place.
fn advect(crowd: &mut Crowd, domain: &GridDomain) -> Result<(), CoreError> {
    let system = &crowd.system;
    let access = (system.write(system.position()), system.write(crowd.velocity));
    let frame = *domain.frame();
    crowd.accessor(domain).run(access, |here, (positions, velocities)| {
        for (position, velocity) in positions.iter_mut().zip(velocities) {
            let place = frame.world(here.bucket, *position);
            let rise = 0.2 * (place.x * 2.0).sin();
            let turning = undine_core::glam::DVec3::new(-place.y, place.x, rise);
            *velocity = turning.as_vec3() * 3.0;
            *position += *velocity * 0.05;
        }
    })?;
    crowd.system.rebucketize(domain)
}

pub fn advection(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    let (mut domain, reference) = (distributed(processes), alone());
    let (mut crowd, mut model) = (Crowd::new(&domain)?, Crowd::new(&reference)?);
    crowd.append(&domain, 3, 3000, 2.0)?;
    model.append(&reference, 3, 3000, 2.0)?;
    for step in 0..50 {
        advect(&mut crowd, &domain)?;
        advect(&mut model, &reference)?;
        if step % 10 == 9 {
            rebalance(&mut crowd, &mut domain)?;
            let after = format!("after step {step}");
            assert_same(&crowd.contents(&domain)?, &model.contents(&reference)?, &after);
        }
    }
    assert_eq!(processes.all_sum_u64(crowd.system.len() as u64)?, 3000);
    Ok(())
}

/// Cuts space anew by the numbers of particles.
fn rebalance(crowd: &mut Crowd, domain: &mut GridDomain) -> Result<(), CoreError> {
    domain.set_buckets(crowd.system.topology().all())?;
    let partition = {
        let ids = crowd.system.column(crowd.system.id())?;
        let slot = |bucket| crowd.system.topology().slot(bucket);
        domain.balance(|bucket| slot(bucket).map_or(0.0, |slot| ids.chunk(slot).len() as f64))?
    };
    domain.repartition(Arc::new(partition))?;
    crowd.system.migrate(domain)
}
