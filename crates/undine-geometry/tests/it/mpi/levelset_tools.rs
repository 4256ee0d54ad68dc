//! Every tool on a level set gives the same bits on several processes as on one.

use super::passes;
use crate::levelset_tools::same_bits::{Bits, VOXEL, all_tools, lattices, resampled};
use std::error::Error;
use std::sync::Arc;
use undine_core::glam::{DVec3, IVec3};
use undine_core::process::Processes;
use undine_core::{Frame, GridDomain, Partition};

#[test]
fn level_set_tools_over_processes_give_the_bits_of_one() {
    passes("level-set tools");
}

pub fn tools(processes: &Arc<dyn Processes>) -> Result<(), Box<dyn Error>> {
    let frame = Frame::new(DVec3::ZERO, VOXEL)?;
    let alone = GridDomain::new("alone", frame);
    let others = lattices();
    let on_one = others.map(|frame| GridDomain::new("alone", frame));
    let whole = (all_tools(&alone, DVec3::ZERO, IVec3::ZERO), resampled(&alone, &on_one));

    // Cut through the middle of everything, along the curve of the lattice itself and along that of another.
    for cut in [frame, Frame::new(DVec3::splat(0.3), 0.047)?] {
        let around = GridDomain::new("cut", cut);
        let around = around.buckets_in_box(DVec3::splat(-1.5), DVec3::splat(2.0), 0)?;
        let weights: Vec<_> = around.keys().iter().map(|&key| (key, 1.0)).collect();
        let partition = Arc::new(Partition::balanced(cut, processes.count(), &weights));
        let shared = |frame: Frame| {
            GridDomain::distributed("shared", frame, Arc::clone(processes), Arc::clone(&partition))
        };
        let domain = shared(frame);
        compare(processes, &whole.0, &all_tools(&domain, DVec3::ZERO, IVec3::ZERO))?;
        compare(processes, &whole.1, &resampled(&domain, &others.map(shared)))?;
    }
    Ok(())
}

/// That the parts of all processes together are the whole.
fn compare(
    processes: &Arc<dyn Processes>,
    whole: &[Bits],
    part: &[Bits],
) -> Result<(), Box<dyn Error>> {
    assert_eq!(whole.len(), part.len());
    for (number, (whole, part)) in whole.iter().zip(part).enumerate() {
        for (key, bits) in part {
            let at = whole.binary_search_by_key(key, |(key, _)| *key);
            let found = at.ok().map(|at| &whole[at].1);
            assert!(found == Some(bits), "set {number} differs in {:?}", key.bucket());
        }
        let together = processes.all_sum_u64(part.len() as u64)?;
        assert_eq!(together, whole.len() as u64, "Buckets of set {number}");
        let shared = processes.all_min_u64(part.len() as u64)?;
        assert!(number > 0 || shared > 0, "every process has a share");
    }
    Ok(())
}
