//! Migration: particles that move to Buckets of other processes are, after any number of steps, what they are on one
//! process: the same particles with the same values, in the same order. And a kernel sees those around its Bucket.

use super::crowd::Crowd;
use super::passes;
use super::scene::{Counted, alone, assert_same, distributed, hash, random, random_point, share};
use std::{
    collections::BTreeSet,
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};
use undine_core::{
    BucketKey, CoreError, GridDomain,
    glam::{DVec3, Vec3},
    process::Processes,
};

#[test]
fn ids_of_new_particles_are_those_of_one_process() {
    passes("new_ids");
}

/// What every process makes alike, and what each brings in an order that all share, gets the ids that one process gives.
pub fn new_ids(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    let (domain, reference) = (distributed(processes), alone());
    let (mut crowd, mut wanted) = (Crowd::new(&domain)?, Crowd::new(&reference)?);
    for round in 0..3 {
        let same = |crowd: &mut Crowd, domain: &GridDomain| {
            let places: Vec<DVec3> = (0..300).map(|n| random_point(round, n, 2.5)).collect();
            let mut batch = crowd.system.batch(&places)?;
            batch.set("energy", &(0..300).map(|n| random(round, n)).collect::<Vec<_>>())?;
            crowd.system.append_same(domain, batch)
        };
        assert_eq!(same(&mut crowd, &domain)?, same(&mut wanted, &reference)?);
        let ordered = |crowd: &mut Crowd, domain: &GridDomain| {
            let all: Vec<u64> = (0..300).collect();
            let mine: Vec<u64> = share(&all, &**domain.processes()).to_vec();
            let keys: Vec<u64> = mine.iter().map(|&n| hash(round, n)).collect();
            let places: Vec<DVec3> = mine.iter().map(|&n| random_point(7, n, 2.5)).collect();
            let mut batch = crowd.system.batch(&places)?;
            batch.set("energy", &mine.iter().map(|&n| n as f64).collect::<Vec<_>>())?;
            crowd.system.append_in_order(domain, batch, &keys)
        };
        ordered(&mut crowd, &domain)?;
        ordered(&mut wanted, &reference)?;
        assert_eq!(crowd.system.next_id(), wanted.system.next_id());
        assert_same(&crowd.contents(&domain)?, &wanted.contents(&reference)?, "after appending");
    }
    // Batches that differ are refused by all, and change nothing.
    if processes.count() > 1 {
        let before = crowd.system.next_id();
        let places = vec![DVec3::ZERO; processes.rank()];
        let batch = crowd.system.batch(&places)?;
        let error = crowd.system.append_same(&domain, batch).unwrap_err();
        assert!(matches!(error, CoreError::WrongLength { .. }), "{error}");
        assert_eq!(crowd.system.next_id(), before);
    }
    Ok(())
}

#[test]
fn particles_migrate_as_they_would_on_one_process() {
    passes("migration");
}

pub fn migration(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    let (domain, reference) = (distributed(processes), alone());
    let (mut crowd, mut wanted) = (Crowd::new(&domain)?, Crowd::new(&reference)?);
    let mut ids = BTreeSet::new();
    for step in 0..24 {
        if step % 6 == 0 {
            let mine = crowd.append(&domain, step, 700, 2.5)?;
            let all = processes.all_gather_values(&[mine.start, mine.end])?;
            for id in all.iter().flat_map(|range| range[0]..range[1]) {
                assert!(ids.insert(id), "id {id} was given twice");
            }
            wanted.append(&reference, step, 700, 2.5)?;
        }
        crowd.step(&domain, step)?;
        wanted.step(&reference, step)?;
        crowd.system.rebucketize(&domain)?;
        wanted.system.rebucketize(&reference)?;
        match step % 6 {
            2 => {
                let gone = |id: &u64| hash(step, *id).is_multiple_of(10);
                let id = crowd.system.id();
                crowd.system.delete_where(&domain, id, gone)?;
                wanted.system.delete_where(&reference, wanted.system.id(), gone)?;
            }
            4 => {
                let made = processes.all_sum_u64(split(&mut crowd, &domain)? as u64)?;
                assert_eq!(made, split(&mut wanted, &reference)? as u64);
                assert!(made > 0);
            }
            5 => {
                let merged = processes.all_sum_u64(merge(&mut crowd)? as u64)?;
                assert_eq!(merged, merge(&mut wanted)? as u64);
            }
            _ => {}
        }
        assert_eq!(crowd.system.topology().all(), wanted.system.topology().all());
        let after = format!("after step {step}");
        assert_same(&crowd.contents(&domain)?, &wanted.contents(&reference)?, &after);
    }
    assert_eq!(processes.all_sum_u64(crowd.system.len() as u64)?, wanted.system.len() as u64);
    refused(processes, &domain, &mut crowd)
}

/// Splits some particles; the new ones jump away, some to other processes.
fn split(crowd: &mut Crowd, domain: &GridDomain) -> Result<usize, CoreError> {
    let parts = crowd.accessor(domain).map(crowd.system.own(crowd.system.id()), |_, ids| {
        let places = (0..ids.len() as u32).filter(|&place| ids[place as usize] % 9 == 0);
        places.map(|place| (place, 3)).collect::<Vec<_>>()
    })?;
    crowd.system.split(domain, &parts, |batch| {
        let parents = batch.parents().to_vec();
        for (n, (offset, id)) in batch.offsets_mut().iter_mut().zip(parents).enumerate() {
            // The two of one parent must differ, whatever else this process splits.
            *offset +=
                Vec3::splat((hash(3, id) % 5) as f32 * 0.5 - if n % 2 == 0 { 1.0 } else { 0.0 });
        }
        Ok(())
    })
}

/// Merges the first two particles of every Bucket that has them.
fn merge(crowd: &mut Crowd) -> Result<usize, CoreError> {
    let groups: Vec<Vec<Vec<u32>>> = {
        let ids = crowd.system.column(crowd.system.id())?;
        let local = 0..crowd.system.topology().local() as u32;
        let pair = |slot| if ids.chunk(slot).len() > 1 { vec![vec![0, 1]] } else { Vec::new() };
        local.map(pair).collect()
    };
    crowd.system.merge(&groups)
}

/// What one process cannot do, none does, and nothing changes anywhere.
fn refused(
    processes: &Arc<dyn Processes>,
    domain: &GridDomain,
    crowd: &mut Crowd,
) -> Result<(), Box<dyn Error>> {
    let count = processes.count();
    for bad in 0..count {
        let mine = processes.rank() == bad;
        let place = {
            let ids = crowd.system.column(crowd.system.id())?;
            let local = 0..crowd.system.topology().local() as u32;
            local.into_iter().find(|&slot| !ids.chunk(slot).is_empty())
        };
        let has = processes.any(mine && place.is_some())?;
        assert!(has, "process {bad} has no particle");
        // Everybody moves, one particle gets lost.
        crowd.step(domain, 500)?;
        for lost in [f32::NAN, f32::INFINITY, 1e30] {
            let mut kept = None;
            {
                let mut positions = crowd.system.column_mut(crowd.system.position())?;
                if let (true, Some(slot)) = (mine, place) {
                    kept = Some(std::mem::replace(&mut positions.chunk_mut(slot)[0].y, lost));
                }
            }
            let before = crowd.contents(domain)?;
            let error = crowd.system.rebucketize(domain).unwrap_err();
            if count > 1 {
                let told = matches!(error, CoreError::OnProcess { process, .. } if process == bad);
                assert!(told, "{error}");
            }
            assert!(error.to_string().contains("of crowd"), "{error}");
            assert_same(&crowd.contents(domain)?, &before, "after a refused rebucketize");
            let mut positions = crowd.system.column_mut(crowd.system.position())?;
            if let (Some(slot), Some(kept)) = (place, kept) {
                positions.chunk_mut(slot)[0].y = kept;
            }
        }
        crowd.system.rebucketize(domain)?;

        // A batch that is bad on one process is appended nowhere, and takes no ids.
        let before = crowd.contents(domain)?;
        let topology = crowd.system.topology().id();
        let mut batch = crowd.system.batch(&[DVec3::ZERO, DVec3::splat(20.0)])?;
        if mine {
            batch.offsets_mut()[1].x = f32::NAN;
        }
        let error = crowd.system.append(domain, batch).unwrap_err();
        assert!(error.to_string().contains("new particle 1"), "{error}");
        assert_eq!(crowd.system.topology().id(), topology);
        assert_same(&crowd.contents(domain)?, &before, "after a refused append");
        let batch = crowd.system.batch(&[])?;
        let next = crowd.system.append(domain, batch)?;
        let batch = crowd.system.batch(&[DVec3::ZERO])?;
        let ids = crowd.system.append(domain, batch)?;
        assert_eq!(ids.start, next.start + processes.rank() as u64);
    }
    Ok(())
}

#[test]
fn a_kernel_sees_the_particles_around_its_bucket() {
    passes("particle_halo");
}

pub fn particle_halo(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    let counted = Counted::new(processes);
    let shared: Arc<dyn Processes> = counted.clone();
    let domain = distributed(&shared);
    let mut crowd = Crowd::new(&domain)?;
    let several = usize::from(processes.count() > 1);
    for round in 0..4 {
        crowd.append(&domain, round, 400, 2.0)?;
        check_around(&crowd, &domain)?;
        counted.starts();
        // Nothing is stale; then one channel is.
        check_around(&crowd, &domain)?;
        assert_eq!(counted.starts(), 0);
        crowd.step(&domain, round)?;
        check_around(&crowd, &domain)?;
        assert_eq!(counted.starts(), several);
        crowd.system.rebucketize(&domain)?;
        counted.starts();
        check_around(&crowd, &domain)?;
        // The numbers of particles, and two channels.
        assert_eq!(counted.starts(), 3 * several);
        let id = crowd.system.id();
        crowd.system.delete_where(&domain, id, |id| hash(round, *id).is_multiple_of(3))?;
        check_around(&crowd, &domain)?;
        merge(&mut crowd)?;
        check_around(&crowd, &domain)?;
    }
    Ok(())
}

/// Reads positions and ids around each Bucket, and compares them with what all processes hold.
fn check_around(crowd: &Crowd, domain: &GridDomain) -> Result<(), Box<dyn Error>> {
    let system = &crowd.system;
    // In the order of the channels: positions, then ids.
    let all = crowd.contents(domain)?;
    let visits = AtomicUsize::new(0);
    let access = (system.around(system.position()), system.around(system.id()));
    crowd.accessor(domain).run(access, |here, (positions, ids)| {
        visits.fetch_add(1, Ordering::Relaxed);
        for n in 0..27 {
            let (x, y, z) = (n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1);
            let key: BucketKey = here.bucket.offset([x, y, z].into()).key();
            let wanted = all.get(&key);
            let bytes = |channel: usize| wanted.map_or(&[][..], |channels| &channels[channel]);
            let found: &[u8] = bytemuck::cast_slice(positions.neighbour(x, y, z));
            assert_eq!(found, bytes(0), "positions in {:?}", key.bucket());
            let found: &[u8] = bytemuck::cast_slice(ids.neighbour(x, y, z));
            assert_eq!(found, bytes(1), "ids in {:?}", key.bucket());
        }
    })?;
    assert_eq!(visits.into_inner(), system.topology().local());
    Ok(())
}
