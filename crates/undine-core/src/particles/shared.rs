//! What Particle Systems of both orders share.

use crate::error::{CoreError, Result};
use crate::process::Processes;
use std::ops::Range;

/// The name of the channel with positions.
pub(super) const POSITION: &str = "position";
/// The name of the channel with ids.
pub(super) const ID: &str = "id";

/// Refuses to remove a channel that is always there.
pub(super) fn check_removable(label: &str, channel: &str) -> Result<()> {
    if channel != POSITION && channel != ID {
        return Ok(());
    }
    Err(CoreError::BadValue {
        what: format!("the channel to remove from {label}"),
        found: format!("`{channel}`"),
        wanted: "one that a Particle System can do without",
    })
}

/// The ids of `count` new particles of this process, and the next free one behind those of all
/// processes: from `next_id` on, in order of rank. Collective.
pub(super) fn new_ids(
    processes: &dyn Processes,
    next_id: u64,
    count: usize,
) -> Result<(Range<u64>, u64)> {
    let counts = processes.all_gather_values(&[count as u64])?;
    let counts: Vec<u64> = counts.into_iter().flatten().collect();
    let first = next_id + counts[..processes.rank()].iter().sum::<u64>();
    Ok((first..first + count as u64, next_id + counts.iter().sum::<u64>()))
}
