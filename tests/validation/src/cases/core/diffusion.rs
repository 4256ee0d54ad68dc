//! Heat that spreads over Buckets which come into being as it does.

use super::heat;
use crate::page::Case;
use crate::verdict::Verdict;
use undine_core::glam::{DVec3, Vec3};
use undine_core::volume::VoxelShape;
use undine_core::{
    Accessor, Bucket, BucketSet, ChannelSpec, DiscreteVolume, Frame, GridDomain, Result,
};

/// The case.
pub const DIFFUSION: Case = Case {
    name: "core-diffusion",
    doc: "A Gaussian spreads as exp(−r²/(4Dt + s²)) · (s²/(4Dt + s²))^(3/2); explicit steps on Buckets that grow with it \
          have an error of second order in the voxel.",
    run: diffusion,
};

/// How wide the heat is at first [m], its diffusivity [m²/s], and how long it spreads [s].
const WIDTH: f64 = 0.16;
const DIFFUSIVITY: f64 = 0.01;
const TIME: f64 = 0.5;

fn diffusion() -> Verdict {
    let voxels = [0.04, 0.027, 0.018];
    match voxels.map(spread) {
        [Ok(coarse), Ok(middle), Ok(fine)] => {
            let order = |a: usize, from: &Spread, to: &Spread| {
                (from.error / to.error).ln() / (voxels[a] / voxels[a + 1]).ln()
            };
            Verdict::new()
                .at_most("largest error at 1.8 cm voxels", fine.error, 1e-3)
                .at_least("order from 4 to 2.7 cm", order(0, &coarse, &middle), 1.8)
                .at_least("order from 2.7 to 1.8 cm", order(1, &middle, &fine), 1.8)
                .at_most("heat lost", fine.lost, 1e-3)
                .at_least("Buckets at the end, times those at the start", fine.growth, 1.5)
        }
        [Err(why), ..] | [_, Err(why), _] | [.., Err(why)] => Verdict::broken(why),
    }
}

/// What a run gives.
struct Spread {
    /// The largest difference from the exact solution.
    error: f64,
    /// The part of the heat that is missing at the end.
    lost: f64,
    /// Buckets at the end over those at the start.
    growth: f64,
}

/// Spreads the heat with voxels of a width [m]; the step is proportional to its square.
fn spread(voxel: f64) -> Result<Spread> {
    let mut domain = GridDomain::new("plate", Frame::new(DVec3::ZERO, voxel)?);
    let reach = (3.2 * WIDTH / (8.0 * voxel)).ceil() as i32;
    let cells = (-reach..reach).flat_map(|x| {
        (-reach..reach).flat_map(move |y| (-reach..reach).map(move |z| Bucket::new(x, y, z)))
    });
    domain.set_buckets(&BucketSet::from_buckets(cells)?)?;
    let first = domain.topology().local();
    let mut plate = DiscreteVolume::new("plate", &domain);
    let heat =
        plate.add_channel(&ChannelSpec::new("heat", 0.0_f32).unit("K"), VoxelShape::CELLS)?;
    let next =
        plate.add_channel(&ChannelSpec::new("next", 0.0_f32).unit("K"), VoxelShape::CELLS)?;
    Accessor::new("start", &domain).run(plate.write(heat), |here, heat| {
        let corner = here.topology.frame().corner(here.bucket);
        for (n, heat) in heat.iter_mut().enumerate() {
            *heat = exact(centre(corner, n, voxel), 0.0) as f32;
        }
    })?;
    let before = total(&domain, &plate, heat)?;

    let steps = (TIME * DIFFUSIVITY / (voxel * voxel) / 0.03).ceil();
    let factor = (DIFFUSIVITY * TIME / steps / (voxel * voxel)) as f32;
    let (mut from, mut to) = (heat, next);
    for _ in 0..steps as usize {
        // Buckets in which heat comes near a face get neighbours.
        let warm = Accessor::new("find the warm", &domain).map(plate.own(from), |here, heat| {
            heat.iter().any(|heat| *heat > 1e-5).then_some(here.bucket)
        })?;
        domain.add(&BucketSet::from_buckets(warm.into_iter().flatten())?.dilate(1)?)?;
        plate.follow(domain.topology())?;
        Accessor::new("diffuse", &domain)
            .run((plate.around(from, 1), plate.write(to)), |_, (heat, next)| {
                heat::step(&heat, next, factor)
            })?;
        (from, to) = (to, from);
    }

    let error = Accessor::new("compare", &domain).reduce(
        plate.own(from),
        |here, heat| {
            let corner = here.topology.frame().corner(here.bucket);
            let difference = |(n, heat): (usize, &f32)| {
                (f64::from(*heat) - exact(centre(corner, n, voxel), TIME)).abs()
            };
            heat.iter().enumerate().map(difference).fold(0.0, f64::max)
        },
        f64::max,
    )?;
    let after = total(&domain, &plate, from)?;
    Ok(Spread {
        error: error.unwrap_or(f64::NAN),
        lost: 1.0 - after / before,
        growth: domain.topology().local() as f64 / first as f64,
    })
}

fn total(
    domain: &GridDomain,
    plate: &DiscreteVolume,
    heat: undine_core::Handle<f32>,
) -> Result<f64> {
    let sum = Accessor::new("total", domain).reduce(
        plate.own(heat),
        |_, heat| heat.iter().map(|heat| f64::from(*heat)).sum::<f64>(),
        |a, b| a + b,
    )?;
    Ok(sum.unwrap_or(0.0))
}

/// The centre of a voxel by its place in the chunk [m].
fn centre(corner: DVec3, n: usize, voxel: f64) -> DVec3 {
    let cell = Vec3::new((n >> 6) as f32, (n >> 3 & 7) as f32, (n & 7) as f32);
    corner + (cell.as_dvec3() + 0.5) * voxel
}

/// The heat at a place and a time.
fn exact(place: DVec3, time: f64) -> f64 {
    let square = WIDTH * WIDTH + 4.0 * DIFFUSIVITY * time;
    (WIDTH * WIDTH / square).powf(1.5) * (-place.length_squared() / square).exp()
}
