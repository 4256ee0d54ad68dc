//! Particles in topological order: ghosts of what is near, and bodies that change their owner.

use super::passes;
use super::scene::{distributed, hash, random_point};
use std::{collections::BTreeMap, error::Error, sync::Arc};
use undine_core::{
    ChannelSpec, CoreError, GridDomain, Handle,
    domain::direction,
    glam::{DQuat, DVec3},
    particles::TopologicalParticles,
    process::Processes,
};

#[test]
fn particles_of_a_mesh_see_those_near_them_on_any_process() {
    passes("topological");
}

struct Strands {
    particles: TopologicalParticles,
    twist: Handle<f64>,
    turn: Handle<DQuat>,
}

/// What all processes own: by id, the position and the other channels.
type Everything = BTreeMap<u64, (DVec3, f64, DQuat)>;

impl Strands {
    fn everything(&self, processes: &dyn Processes) -> Result<Everything, CoreError> {
        let particles = &self.particles;
        let own = 0..particles.len();
        let ids = processes.all_gather_values(&particles.column(particles.id())?[own.clone()])?;
        let positions =
            processes.all_gather_values(&particles.column(particles.position())?[own.clone()])?;
        let twists = processes.all_gather_values(&particles.column(self.twist)?[own.clone()])?;
        let turns = processes.all_gather_values(&particles.column(self.turn)?[own])?;
        let mut everything = Everything::new();
        for (n, id) in ids.concat().into_iter().enumerate() {
            let value = (positions.concat()[n], twists.concat()[n], turns.concat()[n]);
            assert!(everything.insert(id, value).is_none(), "two particles have id {id}");
        }
        Ok(everything)
    }

    /// Around each Bucket with an own particle, ids and values are those of everything there is.
    fn check_ghosts(&self, domain: &GridDomain, all: &Everything) -> Result<(), CoreError> {
        let particles = &self.particles;
        let mut by_bucket: BTreeMap<_, Vec<u64>> = BTreeMap::new();
        for (&id, (position, ..)) in all {
            let (bucket, _) = domain.frame().locate(*position, 0, "a particle")?;
            by_bucket.entry(bucket.key()).or_default().push(id);
        }
        let (ids, positions) =
            (particles.column(particles.id())?, particles.column(particles.position())?);
        let (twists, turns) = (particles.column(self.twist)?, particles.column(self.turn)?);
        assert_eq!(ids.len(), particles.ghosts().end);
        let table = particles.table();
        for index in 0..particles.len() {
            let (bucket, _) = domain.frame().locate(positions[index], 0, "a particle")?;
            let slot = table.topology().slot(bucket).expect("the Bucket of an own particle");
            assert_eq!(table.topology().neighbours(slot)[direction(0, 0, 0)], slot);
            let mut found: Vec<u64> = table.around(slot).map(|n| ids[n as usize]).collect();
            found.sort_unstable();
            let near = (0..27).map(|n| [n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1]);
            let mut wanted: Vec<u64> = near
                .filter_map(|by| by_bucket.get(&bucket.offset(by.into()).key()))
                .flatten()
                .copied()
                .collect();
            wanted.sort_unstable();
            assert_eq!(found, wanted, "around {bucket:?}");
            for n in table.around(slot).map(|n| n as usize) {
                assert_eq!((positions[n], twists[n], turns[n]), all[&ids[n]]);
            }
        }
        Ok(())
    }
}

pub fn topological(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    let (rank, count) = (processes.rank() as u64, processes.count());
    let domain = distributed(processes);
    let mut particles = TopologicalParticles::new("strands", &domain)?;
    let twist = particles.add_channel(&ChannelSpec::new("twist", 0.0_f64))?;
    let turn = particles.add_channel(&ChannelSpec::new("turn", DQuat::IDENTITY))?;
    let mut strands = Strands { particles, twist, turn };
    for round in 0..4 {
        // Everybody's bodies lie anywhere; some processes bring none.
        let more = if (rank + round) % 3 == 2 { 0 } else { 80 };
        let places: Vec<DVec3> =
            (0..more).map(|n| random_point(round * 10 + rank, n, 2.5)).collect();
        strands.particles.append(&domain, &places)?;
        {
            let ids = strands.particles.column(strands.particles.id())?;
            let mut twists = strands.particles.column_mut(twist)?;
            let mut turns = strands.particles.column_mut(turn)?;
            for (n, id) in ids.iter().enumerate() {
                twists[n] = hash(round, *id) as f64;
                turns[n] = DQuat::from_rotation_x(*id as f64);
            }
        }
        strands.particles.locate(&domain)?;
        let all = strands.everything(&**processes)?;
        strands.check_ghosts(&domain, &all)?;

        // A channel changes, and its ghosts follow when they are asked to.
        {
            let own = strands.particles.len();
            let mut twists = strands.particles.column_mut(twist)?;
            twists[..own].iter_mut().for_each(|twist| *twist *= 0.5);
        }
        strands.particles.refresh(&domain, twist)?;
        let all = strands.everything(&**processes)?;
        strands.check_ghosts(&domain, &all)?;

        // Bodies of eight change their owner; nothing is lost, and everyone has its particles by id.
        let owners: Vec<usize> = {
            let ids = strands.particles.column(strands.particles.id())?;
            let own = &ids[..strands.particles.len()];
            own.iter().map(|id| hash(round, id / 8) as usize % count).collect()
        };
        strands.particles.hand_over(&domain, &owners)?;
        assert_eq!(strands.everything(&**processes)?, all);
        {
            let ids = strands.particles.column(strands.particles.id())?;
            assert!(ids.is_sorted());
            let owner = |id: &u64| hash(round, id / 8) as usize % count;
            assert!(ids.iter().all(|id| owner(id) == processes.rank()));
        }
        strands.particles.locate(&domain)?;
        strands.check_ghosts(&domain, &all)?;
        refused(processes, &domain, &mut strands)?;
    }
    Ok(())
}

/// What one process cannot do, none does.
fn refused(
    processes: &Arc<dyn Processes>,
    domain: &GridDomain,
    strands: &mut Strands,
) -> Result<(), Box<dyn Error>> {
    let before = strands.everything(&**processes)?;
    let last = processes.rank() + 1 == processes.count();
    let bad = if last { vec![DVec3::ZERO, DVec3::NAN] } else { vec![DVec3::ZERO] };
    let error = strands.particles.append(domain, &bad).unwrap_err();
    assert!(error.to_string().contains("new particle 1 of strands"), "{error}");
    let mut owners = vec![0; strands.particles.len()];
    if last {
        owners.push(0);
    }
    let error = strands.particles.hand_over(domain, &owners).unwrap_err();
    assert!(error.to_string().contains("owners of the particles of strands"), "{error}");
    assert_eq!(strands.everything(&**processes)?, before);
    strands.check_ghosts(domain, &before)?;
    Ok(())
}
