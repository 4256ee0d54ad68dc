//! Stores that several processes have parts of, as one file has them: Bucket after Bucket along the curve, whoever owns which.
//!
//! The first process writes for all: channel by channel it gets what the others have, and puts it in order. So a file does not
//! tell how many wrote it, and any number can read it.

use super::error::CheckpointError;
use crate::registry::{Store, Stores};
use std::sync::Arc;
use undine_core::process::{Parcel, Processes, Single};
use undine_core::{GridDomain, Topology};

/// Who has which part of the stores.
pub(super) struct Spread {
    pub processes: Arc<dyn Processes>,
    domains: Vec<GridDomain>,
}

impl Spread {
    /// As the Domains say; one process has everything, where there is none.
    pub fn of(stores: &dyn Stores) -> Self {
        let mut domains: Vec<GridDomain> = Vec::new();
        stores.each(&mut |store| {
            if let Store::Domain(domain) = store {
                domains.push(domain.clone());
            }
        });
        let processes = domains.first().map(|domain| domain.processes().clone());
        Self { processes: processes.unwrap_or_else(|| Arc::new(Single)), domains }
    }

    /// Whether this process has everything.
    pub fn is_alone(&self) -> bool {
        self.processes.count() == 1
    }

    /// Whether this process writes.
    pub fn is_first(&self) -> bool {
        self.processes.rank() == 0
    }

    /// The owner of every Bucket, in the order of the file.
    pub fn owners(&self, topology: &Topology) -> Vec<usize> {
        let domain = self.domains.iter().find(|domain| domain.frame() == topology.frame());
        let owner = |bucket| domain.map_or(0, |domain| domain.owner(bucket));
        topology.all().buckets().map(owner).collect()
    }

    /// Brings the parts of all processes together on the first, in the order of the file, given the owner and the bytes of every
    /// Bucket; `own` is what this process has. `None` on other processes. Collective.
    pub fn gather(
        &self,
        owners: &[usize],
        bytes_of: impl Fn(usize) -> usize,
        own: Vec<u8>,
    ) -> Result<Option<Vec<u8>>, CheckpointError> {
        if self.is_alone() {
            return Ok(Some(own));
        }
        if !self.is_first() {
            self.processes.exchange(vec![Parcel { process: 0, bytes: own }])?;
            return Ok(None);
        }
        let mut parts = vec![Vec::new(); self.processes.count()];
        parts[0] = own;
        for parcel in self.processes.exchange(Vec::new())? {
            parts[parcel.process] = parcel.bytes;
        }
        let mut rest: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        let mut whole = Vec::with_capacity(parts.iter().map(Vec::len).sum());
        for (place, &owner) in owners.iter().enumerate() {
            let Some(part) = rest[owner].split_off(..bytes_of(place)) else {
                let why = format!("process {owner} has another number of elements than it said");
                return Err(CheckpointError::malformed(why));
            };
            whole.extend_from_slice(part);
        }
        Ok(Some(whole))
    }
}
