//! When do moving primitives first meet: candidate pairs of two wavy sheets that pass through each other.

use crate::Result;
use crate::harness::{Benchmark, Context, Outcome};
use crate::report::Value;
use undine_core::glam::DVec3;
use undine_core::{Frame, MemoryBudget};
use undine_geometry::ccd::mix::{Candidates, PassingSheets, passing_sheets};
use undine_geometry::ccd::{Gap, PairContact, edge_edge_all, point_triangle_all};

/// The `ccd` benchmark.
pub const BENCHMARK: Benchmark = Benchmark {
    name: "ccd",
    doc: "first contacts of two sheets of SIZE × SIZE quads that pass through each other: point-triangle and edge-edge candidates; one pair is one unit. broad_ finds the candidates",
    default_size: 300,
    peers: &[],
    run,
};

fn run(context: &Context) -> Result<Outcome> {
    if !(2..=2000).contains(&context.size) {
        let size = context.size;
        return Err(format!("a size of {size} makes no sense: from 2 to 2000 quads").into());
    }
    let sheets = passing_sheets(context.size as u32, DVec3::ZERO, 1);
    let gap = Gap::new(1e-4, 1e-5)?;
    let frame = Frame::new(DVec3::ZERO, 1.0 / 64.0)?;
    let find = |sheets: &PassingSheets| sheets.candidates(frame, gap, &MemoryBudget::unlimited());
    let candidates = find(&sheets)?;
    let pairs = (candidates.point_triangle.len() + candidates.edge_edge.len()) as u64;

    let mut hits: [Vec<PairContact>; 2] = Default::default();
    let narrow = context.work("pairs", pairs).measure(
        &mut hits,
        |hits| {
            let motion = sheets.motion()?;
            hits[0] = point_triangle_all(motion, &candidates.point_triangle, gap)?;
            hits[1] = edge_edge_all(motion, &candidates.edge_edge, gap)?;
            Ok(())
        },
        |hits, hash| {
            for hits in hits {
                let times = hits.iter().map(|hit| hit.contact.time);
                hash.write(&times.collect::<Vec<f64>>());
            }
        },
    )?;
    let met = hits.iter().map(Vec::len).sum::<usize>() as f64;

    let mut found: Option<Candidates> = None;
    let broad = context.work("pairs", pairs).measure(
        &mut found,
        |found| {
            *found = Some(find(&sheets)?);
            Ok(())
        },
        |found, hash| {
            if let Some(found) = found {
                hash.write(&found.point_triangle);
                hash.write(&found.edge_edge);
            }
        },
    )?;
    Ok(Outcome::new(narrow)
        .mem_bytes(pairs * size_of::<[u32; 4]>() as u64)
        .also("broad", broad)
        .with("hits", Value::Number(met / pairs as f64)))
}
