//! Memory that is short on one process alone: all refuse together, and nobody goes on alone.

use super::passes;
use super::scene::{distributed, sparse};
use std::{error::Error, sync::Arc};
use undine_core::process::Processes;
use undine_core::{BucketSet, GridDomain, MemoryBudget, Result};

#[test]
fn what_does_not_fit_on_one_process_is_refused_on_all() {
    passes("budget");
}

pub fn budget(processes: &Arc<dyn Processes>) -> std::result::Result<(), Box<dyn Error>> {
    let poor = processes.rank() + 1 == processes.count();
    let budget = if poor { MemoryBudget::new(20_000) } else { MemoryBudget::unlimited() };
    let mut domain = distributed(processes).with_budget(budget);
    let few = sparse(1, 30, 3, 1);
    let many = sparse(2, 80, 5, 1);
    domain.set_buckets(&few)?;

    let mut refuse = |change: &dyn Fn(&mut GridDomain) -> Result<()>| {
        let before = domain.topology().id();
        let error = change(&mut domain).unwrap_err().to_string();
        assert!(error.contains("memory budget"), "{error}");
        let name = format!("process {} of {}", processes.count() - 1, processes.count());
        assert!(processes.count() == 1 || error.contains(&name), "{error}");
        assert_eq!(domain.topology().id(), before);
    };
    refuse(&|domain| domain.set_buckets(&many));
    refuse(&|domain| domain.add(&many));
    refuse(&|domain| domain.subset(&many).map(drop));
    refuse(&|domain| domain.dilate(4));
    // Everyone is still at the same place of the program.
    domain.remove(&BucketSet::from_buckets(few.buckets().take(3))?)?;
    assert_eq!(domain.topology().all().len(), few.len() - 3);
    Ok(())
}
