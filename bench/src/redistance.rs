//! Distances made anew in the band around a ball, whose values were none: voxels of the band per second.

use crate::Result;
use crate::harness::{Benchmark, Context, Outcome};
use crate::report::Value;
use undine_core::access::Here;
use undine_core::glam::DVec3;
use undine_core::{Accessor, Frame, GridDomain};
use undine_geometry::levelset::{Extent, LevelSet};
use undine_geometry::{Shape, Solid};

/// The `redistance` benchmark.
pub const BENCHMARK: Benchmark = Benchmark {
    name: "redistance",
    doc: "distances made anew within 3 voxels of a ball SIZE voxels across; one voxel of that band is one unit",
    default_size: 256,
    peers: &[],
    run,
};

fn run(context: &Context) -> Result<Outcome> {
    if !(16..=4096).contains(&context.size) {
        let size = context.size;
        return Err(format!("a size of {size} makes no sense: from 16 to 4096 voxels").into());
    }
    let ball = Shape::sphere(0.5 * context.size as f64)?;
    let domain = GridDomain::new("space", Frame::new(DVec3::ZERO, 1.0)?);
    let mut set = LevelSet::of_solid("ball", &domain, &ball, Extent::NARROW)?;
    let memory = set.volume().memory()?.total() + set.topology().memory().total();
    let voxels = compare(&set, &ball)?[0] as u64;
    let measured = context.work("voxels", voxels).measure_after(
        &mut set,
        |set| distort(set, &ball),
        |set| Ok(set.redistance()?),
        |set, hash| {
            if let Ok(column) = set.column() {
                (0..set.topology().local() as u32).for_each(|slot| hash.write(column.chunk(slot)));
            }
        },
    )?;
    let [_, worst] = compare(&set, &ball)?;
    Ok(Outcome::new(measured).mem_bytes(memory).with("largest_error_voxels", Value::Number(worst)))
}

/// Writes values whose zero set is the ball, but which are no distances.
fn distort(set: &mut LevelSet, ball: &Shape) -> Result<()> {
    let accessor = Accessor::new("distort", set.domain()).over(set.topology());
    accessor.run(set.volume().write(set.distance()), |here, distance| {
        for (n, distance) in distance.iter_mut().enumerate() {
            let at = centre(here, n);
            let factor = 1.5 + 0.5 * (0.1 * at.x).sin() + 0.3 * (0.13 * at.y).cos();
            *distance = (ball.distance(at) * factor) as f32;
        }
    })?;
    Ok(())
}

/// How many voxels the band has, and the largest error among all [voxels].
fn compare(set: &LevelSet, ball: &Shape) -> Result<[f64; 2]> {
    let width = f64::from(set.width());
    let accessor = Accessor::new("compare", set.domain()).over(set.topology());
    let found = accessor.reduce(
        set.volume().own(set.distance()),
        |here, distance| {
            let [mut count, mut worst] = [0.0, 0.0_f64];
            for (n, found) in distance.iter().enumerate() {
                let wanted = ball.distance(centre(here, n));
                count += if wanted.abs() < width { 1.0 } else { 0.0 };
                worst = worst.max((f64::from(*found) - wanted.clamp(-width, width)).abs());
            }
            [count, worst]
        },
        |a, b| [a[0] + b[0], a[1].max(b[1])],
    )?;
    Ok(found.unwrap_or([0.0; 2]))
}

fn centre(here: Here<'_>, n: usize) -> DVec3 {
    let voxel = DVec3::new((n >> 6) as f64, (n >> 3 & 7) as f64, (n & 7) as f64);
    here.topology.frame().corner(here.bucket) + voxel + 0.5
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distances_that_are_timed_are_right() {
        let domain = GridDomain::new("space", Frame::new(DVec3::ZERO, 1.0).unwrap());
        let ball = Shape::sphere(20.0).unwrap();
        let mut set = LevelSet::of_solid("ball", &domain, &ball, Extent::NARROW).unwrap();
        distort(&mut set, &ball).unwrap();
        assert!(compare(&set, &ball).unwrap()[1] > 0.5);
        set.redistance().unwrap();
        assert!(compare(&set, &ball).unwrap()[1] < 0.05);
    }
}
