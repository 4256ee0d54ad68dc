//! Sampling and splatting across levels.

use super::model::any_shape;
use super::{ALL, Chance, Scene, noise, shapes};
use glam::{DVec3, IVec3, Vec3};
use proptest::prelude::*;
use undine_core::domain::Slot;
use undine_core::volume::{
    Interpolation, Kernel, Sampler, VoxelShape, sample_points, splat_points,
};
use undine_core::{Bucket, BucketSet, Frame, GridDomain};

/// A graded cover of −8 .. 8 m with levels 0 to 2: Buckets of 1 m around `fine`, coarser ones elsewhere.
fn graded(fine: &[IVec3]) -> GridDomain {
    let coarse = (0..64).map(|n| Bucket::at(2, IVec3::new(n >> 4, n >> 2 & 3, n & 3) - 2));
    let fine = fine.iter().map(|&coord| Bucket::at(0, coord));
    let buckets = BucketSet::from_buckets(coarse.chain(fine)).unwrap().graded();
    assert!(buckets.is_graded());
    let mut domain =
        GridDomain::new("graded", Frame::new(DVec3::new(1.0, 2.0, 3.0), 0.125).unwrap());
    domain.set_buckets(&buckets).unwrap();
    domain
}

/// Means of finer values and trilinear coarser values are exact for linear fields, and so is the sum of exact nodes.
/// The points stay three coarse voxels away from the outside, where there is background.
#[test]
fn linear_fields_are_reproduced_across_levels() {
    let linear = |p: DVec3| 1.0 + p.dot(DVec3::new(2.0, -3.0, 0.5));
    let domain = graded(&[IVec3::ZERO, IVec3::new(-3, 1, 2), IVec3::new(2, 2, -1)]);
    assert!(domain.topology().all().levels().eq(0..3));
    let origin = domain.frame().origin();
    for shape in shapes().filter(|shape| shape.resolution.edge() >= 8) {
        let scene = Scene::on(domain.clone(), shape, f64::NAN).fill(linear);
        let margin = 3.0 * 4.0 / shape.resolution.edge() as f64;
        let points = Chance(1).points(3000, margin - 8.0, 8.0 - margin);
        let world: Vec<_> = points.iter().map(|p| *p + origin).collect();
        for interpolation in ALL {
            let mut found = vec![0.0; points.len()];
            sample_points(&scene.volume, scene.handle, interpolation, &world, &mut found).unwrap();
            for (point, found) in points.iter().zip(found) {
                let off = (found - linear(*point)).abs();
                assert!(off < 1e-12, "{interpolation:?} on {shape:?} at {point} is off by {off:e}");
            }
        }
    }
}

#[test]
fn offsets_from_any_bucket_find_the_level_that_is_there() {
    let domain = graded(&[IVec3::ZERO, IVec3::new(-3, 1, 2)]);
    let scene = Scene::on(domain, VoxelShape::CELLS, 0.0_f32).fill(|p| noise(p) as f32);
    let topology = scene.volume.topology();
    let frame = topology.frame();
    let column = scene.volume.column(scene.handle).unwrap();
    let sampler = Sampler::new(&column, topology, Interpolation::Linear);
    for slot in 0..topology.local() as Slot {
        let corner = frame.corner(topology.bucket(slot));
        for point in Chance(u64::from(slot)).points(20, -8.0, 8.0) {
            let point = point + frame.origin();
            let offset = (point - corner).as_vec3();
            assert_eq!(sampler.at(slot, offset), sampler.at_world(point));
        }
    }
    assert_eq!(sampler.at(0, Vec3::splat(1e4)), 0.0);
}

#[test]
fn of_overlapping_levels_the_finest_is_read_unless_one_is_named() {
    let fine = BucketSet::from_buckets([Bucket::new(0, 0, 0), Bucket::new(3, 3, 3)]).unwrap();
    let buckets = fine.union(&fine.coarsen(0).unwrap());
    let mut domain = GridDomain::new("multigrid", Frame::new(DVec3::ZERO, 0.125).unwrap());
    domain.set_buckets(&buckets).unwrap();
    let scene = Scene::on(domain, VoxelShape::CELLS, -1.0_f32);
    {
        let mut column = scene.volume.column_mut(scene.handle).unwrap();
        for (slot, bucket) in scene.volume.topology().buckets().iter().enumerate() {
            column.chunk_mut(slot as Slot).fill(f32::from(bucket.level) + 5.0);
        }
    }
    let column = scene.volume.column(scene.handle).unwrap();
    let sampler = || Sampler::new(&column, scene.volume.topology(), Interpolation::Linear);
    let (in_fine, in_coarse) = (DVec3::splat(0.5), DVec3::splat(1.5));
    assert_eq!(sampler().at_world(in_fine), 5.0);
    assert_eq!(sampler().at_world(in_coarse), 6.0);
    assert_eq!(sampler().on_level(1).at_world(in_fine), 6.0);
    assert_eq!(sampler().on_level(0).at_world(in_coarse), -1.0);
    assert_eq!(sampler().on_level(7).at_world(in_fine), -1.0);
    assert_eq!(sampler().on_level(200).at_world(in_fine), -1.0);
    // Nodes beyond the fine Bucket come from the coarse one, or, on a level of its own, from nowhere.
    let border = DVec3::new(1.0 - 1.0 / 4096.0, 0.5, 0.5);
    let blend = sampler().at_world(border);
    assert!((5.4..5.6).contains(&blend), "{blend}");
    let blend = sampler().on_level(0).at_world(border);
    assert!((1.9..2.1).contains(&blend), "{blend}");
}

#[test]
fn splatting_across_levels_keeps_the_sum() {
    let domain = graded(&[IVec3::ZERO, IVec3::new(-3, 1, 2)]);
    let origin = domain.frame().origin();
    for kernel in [Kernel::Linear, Kernel::Quadratic, Kernel::Cubic] {
        let scene = Scene::on(domain.clone(), VoxelShape::CELLS, 0.0_f64);
        let points: Vec<_> =
            Chance(3).points(2000, -6.0, 6.0).into_iter().map(|p| p + origin).collect();
        let values: Vec<f64> = points.iter().map(|&p| 1.0 + noise(p)).collect();
        assert_eq!(splat_points(&scene.volume, scene.handle, kernel, &points, &values), Ok(0));
        let column = scene.volume.column(scene.handle).unwrap();
        let slots = 0..scene.volume.topology().local() as Slot;
        let sum: f64 = slots.flat_map(|slot| column.chunk(slot)).sum();
        assert!((sum - values.iter().sum::<f64>()).abs() < 1e-9);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Σ over voxels of splatted times field = Σ over points of value times sampled field.
    #[test]
    fn splatting_is_the_transpose_of_sampling(
        fine in prop::collection::vec(prop::array::uniform3(-8..8_i32), 0..4),
        shape in any_shape(),
        seed in any::<u64>(),
    ) {
        let fine: Vec<_> = fine.into_iter().map(IVec3::from_array).collect();
        let domain = graded(&fine);
        let origin = domain.frame().origin();
        let mut chance = Chance(seed);
        let points: Vec<_> = chance.points(100, -8.0, 8.0).into_iter().map(|p| p + origin).collect();
        let values: Vec<f64> = points.iter().map(|_| chance.number()).collect();
        let field = Scene::on(domain.clone(), shape, 0.0_f64).fill(noise);
        let fields = field.volume.column(field.handle).unwrap();
        let pairs = [
            (Kernel::Linear, Interpolation::Linear),
            (Kernel::Quadratic, Interpolation::Quadratic),
            (Kernel::Cubic, Interpolation::Cubic),
        ];
        for (kernel, interpolation) in pairs {
            let splatted = Scene::on(domain.clone(), shape, 0.0_f64);
            splat_points(&splatted.volume, splatted.handle, kernel, &points, &values).unwrap();
            let column = splatted.volume.column(splatted.handle).unwrap();
            let over_voxels: f64 = (0..domain.topology().local() as Slot)
                .flat_map(|slot| column.chunk(slot).iter().zip(fields.chunk(slot)))
                .map(|(a, b)| a * b)
                .sum();
            let mut sampled = vec![0.0; points.len()];
            sample_points(&field.volume, field.handle, interpolation, &points, &mut sampled).unwrap();
            let over_points: f64 = sampled.iter().zip(&values).map(|(a, b)| a * b).sum();
            prop_assert!((over_voxels - over_points).abs() < 1e-11);
        }
    }
}
