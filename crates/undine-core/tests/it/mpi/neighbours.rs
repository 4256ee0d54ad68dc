//! Neighbour search across processes: the same bits as on one.

use super::passes;
use crate::neighbours::{cloud, domain, system};
use std::{collections::BTreeMap, error::Error, sync::Arc};
use undine_core::neighbours::Neighbours;
use undine_core::process::Processes;
use undine_core::{ChannelSpec, GridDomain, ParticleSystem, Partition};

#[test]
fn neighbours_across_processes_are_those_of_a_single_one() {
    passes("neighbours");
}

pub fn neighbours(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    let points = cloud(4000, 3.0);
    let alone = domain();
    let wanted = sums(&alone, &mut system("alone", &alone, &points))?;

    let frame = *alone.frame();
    let buckets = alone.buckets_at_points(&points, 0)?;
    let even = Arc::new(Partition::even(frame, processes.count()));
    let mut shared = GridDomain::distributed("shared", frame, processes.clone(), even);
    shared.set_buckets(&buckets)?;
    shared.repartition(Arc::new(shared.balance(|_| 1.0)?))?;
    // All come from one process, so that they have the ids that they have alone.
    let mine = if processes.rank() == 0 { &points[..] } else { &[] };
    let mut particles = system("shared", &shared, mine);
    assert!(!particles.is_empty(), "every process has its share");

    let found = sums(&shared, &mut particles)?;
    assert_eq!(found.len(), particles.len());
    for (id, sum) in found {
        assert_eq!(sum, wanted[&id], "particle {id}");
    }
    Ok(())
}

/// For each id: how many neighbours, and bit for bit a sum over them that depends on their order.
fn sums(
    domain: &GridDomain,
    particles: &mut ParticleSystem,
) -> Result<BTreeMap<u64, (u32, u32)>, Box<dyn Error>> {
    let count = particles.add_channel(&ChannelSpec::new("count", 0_u32))?;
    let sum = particles.add_channel(&ChannelSpec::new("sum", 0.0_f32))?;
    let (id, particles) = (particles.id(), &*particles);
    let access = (particles.around(id), particles.write(count), particles.write(sum));
    let search = Neighbours::new("sums", domain, particles, 0.3)?;
    search.for_each(access, |_, (ids, counts, sums), i, near| {
        counts[i] = near.len() as u32;
        for j in near.iter() {
            sums[i] = 0.9 * sums[i] + ids.of(j.neighbour) as f32 * j.offset.x;
        }
    })?;
    let lists = search.lists()?;
    let (ids, counts, sums) =
        (particles.column(id)?, particles.column(count)?, particles.column(sum)?);
    let mut found = BTreeMap::new();
    for slot in 0..particles.topology().local() as u32 {
        for (place, &id) in ids.chunk(slot).iter().enumerate() {
            let count = counts.chunk(slot)[place];
            assert_eq!(lists.of(slot, place).len() as u32, count);
            found.insert(id, (count, sums.chunk(slot)[place].to_bits()));
        }
    }
    Ok(found)
}
