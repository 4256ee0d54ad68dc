//! What splatting promises beyond the model: conservation, order, refusals.

use super::{Chance, Scene, cube, domain, shapes};
use glam::{DVec3, Vec3};
use undine_core::CoreError;
use undine_core::domain::Slot;
use undine_core::volume::{Kernel, VoxelShape, splat_points};

const KERNELS: [Kernel; 3] = [Kernel::Linear, Kernel::Quadratic, Kernel::Cubic];

#[test]
fn the_volume_grows_by_the_sum_of_the_values_on_every_shape() {
    for shape in shapes() {
        for kernel in KERNELS {
            let scene = Scene::on(domain(DVec3::ZERO, 0.125, cube(3)), shape, Vec3::ZERO);
            let points = Chance(1).points(500, 1.0, 2.0);
            let values: Vec<Vec3> = points.iter().map(|p| p.as_vec3()).collect();
            assert_eq!(splat_points(&scene.volume, scene.handle, kernel, &points, &values), Ok(0));
            let column = scene.volume.column(scene.handle).unwrap();
            let slots = 0..scene.volume.topology().local() as Slot;
            let sum: DVec3 = slots.flat_map(|slot| column.chunk(slot)).map(|v| v.as_dvec3()).sum();
            let wanted: DVec3 = values.iter().map(|v| v.as_dvec3()).sum();
            assert!((sum - wanted).abs().max_element() < 1e-3, "{sum}, not {wanted}");
        }
    }
}

#[test]
fn what_cannot_be_splatted_is_refused_by_name_and_changes_nothing() {
    let scene = Scene::on(domain(DVec3::ZERO, 0.125, cube(1)), VoxelShape::CELLS, 1.0_f32);
    let mut points = Chance(2).points(3000, 0.0, 1.0);
    let mut values = vec![1.0_f32; points.len()];
    let splat = |points: &[DVec3], values: &[f32]| {
        splat_points(&scene.volume, scene.handle, Kernel::Linear, points, values).unwrap_err()
    };
    points[1234].y = f64::NAN;
    points[2000].x = f64::INFINITY;
    let error = splat(&points, &values);
    assert!(matches!(error, CoreError::NotFinite { .. }));
    assert!(error.to_string().starts_with("point 1234 of a splat of volume"), "{error}");
    points[1234].y = 0.0;
    points[2000].x = 0.0;
    values[17] = f32::NAN;
    assert!(splat(&points, &values).to_string().starts_with("value 17 of a splat into volume"));
    assert!(matches!(splat(&points, &values[1..]), CoreError::WrongLength { .. }));
    let column = scene.volume.column(scene.handle).unwrap();
    assert!(column.chunk(0).iter().all(|&value| value == 1.0));
    values[17] = 1.0;
    assert!(matches!(splat(&points, &values), CoreError::ChannelBusy { .. }));
}

#[test]
fn points_outside_of_all_buckets_are_counted_and_skipped() {
    let scene = Scene::on(domain(DVec3::ZERO, 0.125, cube(1)), VoxelShape::CELLS, 0.0_f32);
    let points = [DVec3::splat(0.5), DVec3::splat(1e200), DVec3::new(0.5, 0.5, -1e-6), DVec3::ONE];
    let splat = |kernel| splat_points(&scene.volume, scene.handle, kernel, &points, &[1.0; 4]);
    assert_eq!(splat(Kernel::Quadratic), Ok(3));
    let column = scene.volume.column(scene.handle).unwrap();
    assert!((column.chunk(0).iter().sum::<f32>() - 1.0).abs() < 1e-6);
}
