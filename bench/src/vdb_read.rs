//! `.vdb` files, which the system still has in memory, to grids and points: every value of them.

use crate::Result;
use crate::harness::{Benchmark, Context, Outcome};
use crate::vdb_files::{Samples, hash_grid};

/// The `vdb-read` benchmark.
pub const BENCHMARK: Benchmark = Benchmark {
    name: "vdb-read",
    doc: "a fog volume, a level set of SIZE voxels across and points from .vdb files; one active voxel or point is one unit",
    default_size: 256,
    peers: &[],
    run,
};

fn run(context: &Context) -> Result<Outcome> {
    let samples = Samples::new(context.size)?;
    let mut measured = Vec::new();
    for sample in &samples.all {
        sample.write()?;
        let mut read = None;
        measured.push(context.work("units", sample.units).measure_after(
            &mut read,
            // A second grid beside the first would take memory that nobody has touched yet, and so longer.
            |read| {
                *read = None;
                Ok(())
            },
            |read| {
                *read = Some(sample.read()?);
                Ok(())
            },
            |read, hash| read.iter().for_each(|grid| hash_grid(grid, hash)),
        )?);
        if read.as_ref() != Some(&sample.grid) {
            return Err(format!("the {} are not what was written", sample.name).into());
        }
    }
    let measured = measured.try_into().map_err(|_| "there are three of them")?;
    samples.outcome(context, measured, |peer| peer.read_seconds)
}
