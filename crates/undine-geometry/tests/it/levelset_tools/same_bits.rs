//! Every tool gives the same bits for any number of threads, and for a surface moved by whole voxels.

use super::measure::bits;
use crate::solids::{Ball, Ring};
use undine_core::glam::{DQuat, DVec3, IVec3};
use undine_core::{BucketKey, Frame, GridDomain};
use undine_geometry::Pose;
use undine_geometry::levelset::{Extent, Filter, LevelSet, Mask, Resampling};

/// The bits of a level set's voxels, by Bucket.
pub type Bits = Vec<(BucketKey, Vec<u32>)>;

/// What all tools make of a ring and a ball on a lattice, as bits; Buckets moved by so many.
pub fn all_tools(domain: &GridDomain, offset: DVec3, moved: IVec3) -> Vec<Bits> {
    let ring = Ring { centre: offset + DVec3::new(0.125, 0.25, 0.375), major: 0.75, minor: 0.25 };
    let ball = Ball { centre: offset + DVec3::new(0.75, 0.125, 0.5), radius: 0.375 };
    let make = |solid: &dyn undine_geometry::Solid| {
        LevelSet::of_solid("solid", domain, solid, Extent::NARROW).unwrap()
    };
    let (ring_set, ball_set) = (make(&ring), make(&ball));
    let mut results = vec![
        ring_set.union(&ball_set, 0.0).unwrap(),
        ring_set.union(&ball_set, 0.25).unwrap(),
        ring_set.intersection(&ball_set, 0.0625).unwrap(),
        ring_set.difference(&ball_set, 0.0).unwrap(),
    ];
    let filters = [
        Filter::MeanCurvature,
        Filter::Laplacian,
        Filter::Mean(1),
        Filter::Gaussian(2),
        Filter::Median(1),
    ];
    for filter in filters {
        let mut set = ring_set.union(&ball_set, 0.0).unwrap();
        let mask = Mask::solid(&ball, 0.125).unwrap();
        set.filter(filter, 3, Some(&mask)).unwrap();
        set.filter(filter, 2, None).unwrap();
        results.push(set);
    }
    let mut closed = make(&ring);
    closed.close(0.3125).unwrap();
    results.push(closed);
    let mut opened = make(&ball);
    opened.open(0.1875).unwrap();
    results.push(opened);
    let cut = ring_set.difference(&ball_set, 0.0).unwrap();
    results.extend(cut.fracture().unwrap());
    results.push(cut.without_components_below(0.01).unwrap().0);
    results.iter().map(|set| bits(set, moved)).collect()
}

/// What resampling makes of a ring, as bits.
pub fn resampled(domain: &GridDomain, others: &[GridDomain]) -> Vec<Bits> {
    let ring = Ring { centre: DVec3::new(0.125, 0.25, 0.375), major: 0.75, minor: 0.25 };
    let set = LevelSet::of_solid("solid", domain, &ring, Extent::NARROW).unwrap();
    let turned = Pose { rotation: DQuat::from_rotation_x(0.4), translation: DVec3::splat(0.1) };
    let mut results = Vec::new();
    for other in others {
        let width = 3.0 * other.frame().voxel_size(0);
        for (pose, how) in [
            (Pose::IDENTITY, Resampling::Linear),
            (turned, Resampling::Linear),
            (turned, Resampling::Cubic),
        ] {
            results.push(bits(&set.resample(other, &pose, width, how).unwrap(), IVec3::ZERO));
        }
    }
    results
}

/// Lattices to resample to: twice and half as wide, moved, and any other.
pub fn lattices() -> [Frame; 4] {
    [
        (DVec3::ZERO, 0.125),
        (DVec3::ZERO, 0.03125),
        (DVec3::splat(0.1875), 0.0625),
        (DVec3::ONE, 0.05),
    ]
    .map(|(origin, voxel)| Frame::new(origin, voxel).unwrap())
}

pub const VOXEL: f64 = 0.0625;

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let domain = crate::solids::domain(VOXEL);
            let others = lattices().map(|frame| GridDomain::new("other", frame));
            (all_tools(&domain, DVec3::ZERO, IVec3::ZERO), resampled(&domain, &others))
        })
    };
    let one = run(1);
    assert!(one.0.iter().all(|set| !set.is_empty()));
    for threads in [2, 7] {
        assert!(run(threads) == one, "{threads} threads");
    }
}

#[test]
fn a_surface_moved_by_whole_voxels_or_on_a_far_lattice_gives_the_same_bits() {
    let here = all_tools(&crate::solids::domain(VOXEL), DVec3::ZERO, IVec3::ZERO);
    // By Buckets on the same lattice: everything else is as it was.
    let by = IVec3::new(5, -3, 2);
    let there = all_tools(&crate::solids::domain(VOXEL), 8.0 * VOXEL * by.as_dvec3(), IVec3::ZERO);
    // Components are numbered along the curve, which differs elsewhere.
    let sort = |mut all: Vec<Bits>| {
        let mut moved: Vec<Vec<(IVec3, Vec<u32>)>> = all
            .drain(..)
            .map(|set| set.into_iter().map(|(key, bits)| (key.bucket().coord, bits)).collect())
            .collect();
        moved.iter_mut().for_each(|set| set.sort_by_key(|(coord, _)| coord.to_array()));
        moved.sort_by_key(|set| set.iter().map(|(coord, _)| coord.to_array()).collect::<Vec<_>>());
        moved
    };
    let (wanted, mut found) = (sort(here.clone()), sort(there));
    found.iter_mut().flatten().for_each(|(coord, _)| *coord -= by);
    assert!(found == wanted);
    let origin = DVec3::new(10_240.0, -5_120.0, 20_480.0);
    let far = GridDomain::new("far", Frame::new(origin, VOXEL).unwrap());
    assert!(all_tools(&far, origin, IVec3::ZERO) == here);
}
