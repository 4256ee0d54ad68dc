//! The same bits for any number of threads and far from the world's origin; refusals of batches.

use super::{ALL, Chance, Scene, cube, domain, noise};
use glam::{DVec3, IVec3, Vec3};
use undine_core::domain::Slot;
use undine_core::volume::{
    DiscreteVolume, Interpolation, Kernel, Resolution, VoxelShape, sample_points,
    sample_velocities, splat_points,
};
use undine_core::{Bucket, CoreError, GridDomain};

/// A sampled field and a splatted one, as bits.
fn run(domain: &GridDomain) -> (Vec<u32>, Vec<u32>) {
    let origin = domain.frame().origin();
    let points: Vec<_> =
        Chance(4).points(20_000, -0.5, 4.5).into_iter().map(|p| p + origin).collect();
    let scene = Scene::on(domain.clone(), VoxelShape::CELLS, 0.5_f32).fill(|p| noise(p) as f32);
    let mut sampled = Vec::new();
    for interpolation in ALL {
        let mut found = vec![0.0; points.len()];
        sample_points(&scene.volume, scene.handle, interpolation, &points, &mut found).unwrap();
        sampled.extend(found.into_iter().map(f32::to_bits));
    }
    let values: Vec<f32> = (0..points.len()).map(|n| (n as f32).sin()).collect();
    for kernel in [Kernel::Linear, Kernel::Quadratic, Kernel::Cubic] {
        splat_points(&scene.volume, scene.handle, kernel, &points, &values).unwrap();
    }
    let column = scene.volume.column(scene.handle).unwrap();
    let slots = 0..domain.topology().local() as Slot;
    (sampled, slots.flat_map(|slot| column.chunk(slot)).map(|v| v.to_bits()).collect())
}

/// Two levels: 3³ fine Buckets and a coarse one beside them.
fn buckets() -> impl Iterator<Item = Bucket> {
    cube(4).filter(|b| b.coord.x < 2).chain([Bucket::at(1, IVec3::new(1, 0, 0))])
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let domain = domain(DVec3::ZERO, 0.125, buckets());
    let expected = run(&domain);
    for threads in [1, 2, 3, 7] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert!(pool.install(|| run(&domain)) == expected, "{threads} threads differ");
    }
}

#[test]
fn ten_kilometres_away_the_bits_are_the_same() {
    let here = run(&domain(DVec3::ZERO, 0.125, buckets()));
    let away = run(&domain(DVec3::new(10_000.0, -10_000.0, 10_000.0), 0.125, buckets()));
    assert!(here == away);
}

#[test]
fn a_point_that_is_not_finite_is_an_error_that_names_it() {
    let scene = Scene::on(domain(DVec3::ZERO, 0.125, cube(1)), VoxelShape::CELLS, 1.0_f32);
    let mut points = vec![DVec3::splat(0.5); 3000];
    points[2222].z = f64::NAN;
    points[2500].x = f64::INFINITY;
    let mut out = vec![9.0; points.len()];
    let mut sample = |points: &[DVec3]| {
        sample_points(&scene.volume, scene.handle, Interpolation::Linear, points, &mut out)
    };
    let error = sample(&points).unwrap_err();
    assert!(error.to_string().starts_with("point 2222 of a sample of volume"), "{error}");
    assert!(matches!(sample(&points[1..]), Err(CoreError::WrongLength { .. })));
    assert!(out.iter().all(|&value| value == 9.0));
}

#[test]
fn velocities_of_a_rigid_rotation_are_exact() {
    let domain = domain(DVec3::ZERO, 0.125, cube(3));
    let mut volume = DiscreteVolume::new("air", &domain);
    let mac = volume.add_mac("velocity", "m/s", Resolution::R8).unwrap();
    let rotation = |p: DVec3| DVec3::new(0.25, -0.5, 1.0).cross(p - 1.5);
    for (axis, face) in mac.faces.into_iter().enumerate() {
        let mut column = volume.column_mut(face).unwrap();
        let shape = column.shape();
        for (slot, bucket) in domain.topology().buckets().iter().enumerate() {
            for (n, place) in super::places(*bucket, shape.resolution).enumerate() {
                let position = super::position(domain.frame(), 0, shape, place);
                column.chunk_mut(slot as Slot)[n] = rotation(position)[axis] as f32;
            }
        }
    }
    let points = Chance(5).points(500, 1.0, 2.0);
    let mut found = vec![Vec3::ZERO; points.len()];
    for interpolation in ALL {
        sample_velocities(&volume, mac, interpolation, &points, &mut found).unwrap();
        for (point, found) in points.iter().zip(&found) {
            assert!((found.as_dvec3() - rotation(*point)).length() < 1e-6);
        }
    }
}
