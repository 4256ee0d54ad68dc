//! What the tests ask of a level set.

use crate::solids::domain;
use undine_core::glam::{DVec3, IVec3};
use undine_core::volume::Resolution;
use undine_core::{Bucket, BucketKey};
use undine_geometry::Solid;
use undine_geometry::levelset::{Extent, LevelSet};

/// The customary band around a solid, in voxels of this size [m].
pub fn band(solid: &dyn Solid, voxel: f64) -> LevelSet {
    LevelSet::of_solid("solid", &domain(voxel), solid, Extent::NARROW).unwrap()
}

/// Every voxel that this process owns: its Bucket, its place in it, its centre [m] and its distance [m].
pub fn voxels(set: &LevelSet) -> Vec<(Bucket, usize, DVec3, f64)> {
    let column = set.column().unwrap();
    let frame = set.domain().frame();
    let local = 0..set.topology().local() as u32;
    local
        .flat_map(|slot| {
            let bucket = set.topology().bucket(slot);
            let values = column.chunk(slot).to_vec();
            values.into_iter().enumerate().map(move |(place, distance)| {
                let [x, y, z] = Resolution::R8.coords(place).map(|n| n as f64 + 0.5);
                let centre = frame.corner(bucket) + frame.voxel_size(0) * DVec3::new(x, y, z);
                (bucket, place, centre, f64::from(distance))
            })
        })
        .collect()
}

/// The bits of all distances, by Bucket moved by so many.
pub fn bits(set: &LevelSet, moved: IVec3) -> Vec<(BucketKey, Vec<u32>)> {
    let column = set.column().unwrap();
    let local = 0..set.topology().local() as u32;
    let mut all: Vec<_> = local
        .map(|slot| {
            let key = set.topology().bucket(slot).offset(moved).key();
            (key, column.chunk(slot).iter().map(|value| value.to_bits()).collect())
        })
        .collect();
    all.sort_unstable();
    all
}

/// The largest error of the distances nearer to the surface than so many voxels, in voxels.
pub fn largest_error(set: &LevelSet, within: f64, exact: impl Fn(DVec3) -> f64) -> f64 {
    let voxel = set.voxel_size();
    let near = |distance: &f64| distance.abs() < within * voxel;
    voxels(set)
        .iter()
        .map(|(.., at, distance)| (exact(*at), *distance))
        .filter(|(exact, distance)| near(exact) || near(distance))
        .map(|(exact, distance)| (exact - distance).abs() / voxel)
        .fold(0.0, f64::max)
}

/// How many per cent of the voxels nearer to the surface than the band's width less 1.5 voxels have a slope of 1 ± 0.05.
pub fn even_slopes(set: &LevelSet) -> f64 {
    let column = set.column().unwrap();
    let sampler = set.sampler(&column);
    let voxel = set.voxel_size();
    let (mut near, mut even) = (0, 0);
    for (.., at, distance) in voxels(set) {
        if distance.abs() > f64::from(set.width()) - 1.5 * voxel {
            continue;
        }
        let slope =
            |axis: DVec3| sampler.distance(at + voxel * axis) - sampler.distance(at - voxel * axis);
        let slope = DVec3::new(slope(DVec3::X), slope(DVec3::Y), slope(DVec3::Z)).length();
        near += 1;
        even += usize::from((slope / (2.0 * voxel) - 1.0).abs() < 0.05);
    }
    100.0 * even as f64 / f64::from(near.max(1))
}

/// The volume of the inside [m³].
pub fn volume(set: &LevelSet) -> f64 {
    let voxel = set.voxel_size();
    let filled = |distance: f64| (0.5 - distance / voxel).clamp(0.0, 1.0);
    let in_buckets: f64 = voxels(set).iter().map(|voxel| filled(voxel.3)).sum();
    (in_buckets + 512.0 * set.beyond().inside_count() as f64) * voxel.powi(3)
}

/// That the inside where there are no voxels is that of `exact`, in a box of so many Buckets around zero.
pub fn check_beyond(set: &LevelSet, exact: impl Fn(DVec3) -> f64, around: i32) {
    let frame = set.domain().frame();
    for x in -around..around {
        for y in -around..around {
            for z in -around..around {
                let bucket = Bucket::new(x, y, z);
                if set.topology().slot(bucket).is_none() {
                    let distance = exact(frame.centre(bucket));
                    assert_eq!(set.beyond().is_inside(bucket), distance < 0.0, "{bucket:?}");
                }
            }
        }
    }
}
