//! Grids and points from memory to `.vdb` files: compressed by Blosc as OpenVDB does, and handed to the system.

use crate::Result;
use crate::harness::{Benchmark, Context, Outcome};
use crate::vdb_files::Samples;

/// The `vdb-write` benchmark.
pub const BENCHMARK: Benchmark = Benchmark {
    name: "vdb-write",
    doc: "a fog volume, a level set of SIZE voxels across and points to .vdb files; one active voxel or point is one unit",
    default_size: 256,
    peers: &[],
    run,
};

fn run(context: &Context) -> Result<Outcome> {
    let mut samples = Samples::new(context.size)?;
    let mut measured = Vec::new();
    for sample in &mut samples.all {
        measured.push(context.work("units", sample.units).measure(
            sample,
            |sample| sample.write(),
            |sample, hash| {
                if let Ok(bytes) = std::fs::read(&sample.path) {
                    hash.write(&bytes);
                }
            },
        )?);
    }
    let measured = measured.try_into().map_err(|_| "there are three of them")?;
    samples.outcome(context, measured, |peer| peer.write_seconds)
}
