//! The points of a mesh nearest to many places: within the box of a knot of a million triangles, and near its surface.

use crate::Result;
use crate::harness::{Benchmark, Context, Outcome};
use crate::measure::Measured;
use crate::random;
use crate::report::Value;
use undine_core::glam::DVec3;
use undine_geometry::{Bvh, Closest, gallery};

/// The `closest` benchmark.
pub const BENCHMARK: Benchmark = Benchmark {
    name: "closest",
    doc: "the points of a knot of 1 million triangles nearest to SIZE thousand places: near its surface, and (spread_) in its box; one place is one unit",
    default_size: 1000,
    peers: &[],
    run,
};

/// Quads along the knot and around it.
const QUADS: [u32; 2] = [2500, 200];
/// How far from the surface a place near it may be [m]: three voxels, if the knot is 256 across.
const NEAR: f64 = 3.0 / 256.0;

fn run(context: &Context) -> Result<Outcome> {
    if !(1..=100_000).contains(&context.size) {
        let size = context.size;
        return Err(format!("a size of {size} makes no sense: from 1 to 100000 thousand").into());
    }
    let bvh = Bvh::new(gallery::knot(0.07, QUADS[0], QUADS[1]))?;
    let bounds = bvh.triangles().bounds().ok_or("the knot has triangles")?;
    let count = context.size as u64 * 1000;
    let positions = bvh.triangles().positions();
    let spread: Vec<DVec3> =
        (0..count).map(|n| bounds.min + random::point(n) * bounds.size()).collect();
    let near: Vec<DVec3> = (0..count)
        .map(|n| {
            let vertex = random::scramble(n ^ 0x5eed) % positions.len() as u64;
            let aside = 2.0 * random::point(count + n) - 1.0;
            positions[vertex as usize] + NEAR * aside / 3.0_f64.sqrt()
        })
        .collect();
    let measured = measure(context, &bvh, &near)?;
    let bytes = bvh.memory().total();
    Ok(Outcome::new(measured)
        .mem_bytes(bytes)
        .also("spread", measure(context, &bvh, &spread)?)
        .with("triangles", Value::Count(bvh.triangles().len() as u64)))
}

fn measure(context: &Context, bvh: &Bvh, points: &[DVec3]) -> Result<Measured> {
    let mut found: Vec<Option<Closest>> = Vec::new();
    context.work("places", points.len() as u64).measure(
        &mut found,
        |found| {
            *found = bvh.closest_all(points);
            Ok(())
        },
        |found, hash| {
            let distance = |closest: &Option<Closest>| closest.map_or(-1.0, |c| c.distance_squared);
            hash.write(&found.iter().map(distance).collect::<Vec<f64>>());
        },
    )
}
