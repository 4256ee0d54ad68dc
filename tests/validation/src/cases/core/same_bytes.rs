//! The same bytes for any number of threads, over a long run of everything at once.

use crate::page::Case;
use crate::verdict::Verdict;
use undine_core::glam::{DVec3, Mat3, Vec3};
use undine_core::transfer::{self, Carried, Kernel};
use undine_core::{Accessor, ChannelSpec, DiscreteVolume, Frame, GridDomain, ParticleSystem, Result};

/// The case.
pub const SAME_BYTES: Case = Case {
    name: "core-same-bytes",
    doc: "Two hundred steps of particles that move, change Buckets, are transferred to a MAC grid and back, are born and \
          deleted: the same bytes on 1 to 8 threads.",
    run: same_bytes,
};

fn same_bytes() -> Verdict {
    let hashes: Vec<std::result::Result<u64, String>> = [1, 2, 3, 5, 8]
        .map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|why| why.to_string())?;
            pool.install(|| run().map_err(|why| why.to_string()))
        })
        .into();
    let mut verdict = Verdict::new();
    let first = match &hashes[0] {
        Ok(hash) => *hash,
        Err(why) => return Verdict::broken(why),
    };
    for (hash, threads) in hashes.iter().zip([1, 2, 3, 5, 8]) {
        match hash {
            Ok(hash) => verdict = verdict.same(&format!("hash of the end on {threads} threads"), *hash, first),
            Err(why) => return Verdict::broken(why),
        }
    }
    verdict
}

fn run() -> Result<u64> {
    todo!()
}
