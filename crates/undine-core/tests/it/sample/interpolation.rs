//! What each interpolation reproduces, how fast it converges, its derivatives and bounds.

use super::{ALL, Chance, Scene, cube, domain, noise, shapes};
use glam::{DVec3, Mat3, Vec3};
use proptest::prelude::*;
use undine_core::Bucket;
use undine_core::volume::{Axis, Interpolation, MacSampler, Resolution, Sampler, VoxelShape};

/// Inside of 3³ Buckets of width 1, at least a Bucket from the outside.
fn inner_points(seed: u64) -> Vec<DVec3> {
    Chance(seed).points(200, 1.0, 2.0)
}

fn unit_scene(shape: VoxelShape, f: impl Fn(DVec3) -> f64) -> Scene<f64> {
    Scene::on(domain(DVec3::ZERO, 0.125, cube(3)), shape, 0.0).fill(f)
}

/// The largest difference between samples and what they should be.
fn error(
    scene: &Scene<f64>,
    interpolation: Interpolation,
    points: &[DVec3],
    expected: impl Fn(DVec3) -> f64,
) -> f64 {
    let column = scene.volume.column(scene.handle).unwrap();
    let sampler = Sampler::new(&column, scene.volume.topology(), interpolation);
    points.iter().map(|&p| (sampler.at_world(p) - expected(p)).abs()).fold(0.0, f64::max)
}

#[test]
fn constant_and_linear_fields_are_reproduced_by_every_interpolation_on_every_shape() {
    let linear = |p: DVec3| 1.0 + p.dot(DVec3::new(2.0, -3.0, 0.5));
    for shape in shapes() {
        let constant = unit_scene(shape, |_| 4.25);
        let sloped = unit_scene(shape, linear);
        for interpolation in ALL {
            assert!(error(&constant, interpolation, &inner_points(1), |_| 4.25) < 1e-14);
            let found = error(&sloped, interpolation, &inner_points(2), linear);
            assert!(found < 1e-13, "{interpolation:?} on {shape:?} is off by {found:e}");
        }
    }
}

#[test]
fn the_linear_interpolation_reproduces_products_of_coordinates() {
    let product = |p: DVec3| p.x * p.y * p.z - 2.0 * p.x * p.z;
    for shape in shapes() {
        let scene = unit_scene(shape, product);
        assert!(error(&scene, Interpolation::Linear, &inner_points(3), product) < 1e-13);
    }
}

/// A B-spline of variance s² makes x² + s² of x², and x³ + 3 s² x of x³; s² is h²/4 and h²/3.
#[test]
fn b_splines_add_their_variance_to_polynomials_of_their_degree() {
    let square = |p: DVec3| p.x * p.x + p.y * p.z;
    let cubed = |p: DVec3| p.x.powi(3) + p.y * p.y;
    for shape in shapes() {
        let h2 = (1.0 / shape.resolution.edge() as f64).powi(2);
        let scene = unit_scene(shape, square);
        let found =
            error(&scene, Interpolation::Quadratic, &inner_points(4), |p| square(p) + h2 / 4.0);
        assert!(found < 1e-13, "quadratic on {shape:?} is off by {found:e}");
        let scene = unit_scene(shape, cubed);
        let found = error(&scene, Interpolation::Cubic, &inner_points(5), |p| {
            cubed(p) + h2 * p.x + h2 / 3.0
        });
        assert!(found < 1e-13, "cubic on {shape:?} is off by {found:e}");
    }
}

#[test]
fn the_monotone_cubic_reproduces_quadratics_away_from_their_extrema() {
    let square = |p: DVec3| p.x * p.x - p.y * p.y + p.z * p.z + p.x * p.y;
    for shape in shapes().filter(|shape| shape.resolution >= Resolution::R4) {
        // The extremum along an axis lies outside of the points' reach.
        let moved = |p: DVec3| square(p + DVec3::new(8.0, 8.0 + 16.0, 8.0));
        let scene = unit_scene(shape, moved);
        let found = error(&scene, Interpolation::MonotoneCubic, &inner_points(6), moved);
        assert!(found < 1e-11, "{shape:?} is off by {found:e}");
    }
}

/// Errors on a smooth field fall with h² (linear, B-splines of point values), or h³ (monotone cubic).
#[test]
fn errors_fall_with_the_order_of_the_interpolation() {
    let smooth = |p: DVec3| (0.9 * p.x + 0.6 * p.y - 0.7 * p.z).exp();
    let orders = [1.95..2.05, 1.95..2.05, 1.95..2.05, 2.8..3.5];
    let scenes = [Resolution::R8, Resolution::R16]
        .map(|resolution| unit_scene(VoxelShape::CELLS.with_resolution(resolution), smooth));
    let points = Chance(7).points(4000, 1.0, 2.0);
    for (interpolation, expected) in ALL.into_iter().zip(orders) {
        let [coarse, fine] =
            [0, 1].map(|n: usize| error(&scenes[n], interpolation, &points, smooth));
        let order = (coarse / fine).log2();
        assert!(expected.contains(&order), "{interpolation:?} has order {order:.3}");
    }
}

/// Where the differences to both sides agree (the field has no kink there), the derivative does too.
#[test]
fn gradients_are_the_derivatives_of_the_values() {
    let step = 1.0 / 8192.0;
    for shape in shapes().filter(|shape| shape.resolution <= Resolution::R8) {
        let scene = unit_scene(shape, noise);
        let column = scene.volume.column(scene.handle).unwrap();
        let topology = scene.volume.topology();
        for interpolation in ALL {
            let sampler = Sampler::new(&column, topology, interpolation);
            let (mut compared, points) = (0, Chance(8).points(60, 1.0, 2.0));
            for &point in &points {
                let (slot, offset) = sampler.locate(point).unwrap();
                let (value, gradient) = sampler.value_and_gradient(slot, offset);
                assert_eq!(value, sampler.at(slot, offset));
                assert_eq!(gradient, sampler.gradient(slot, offset));
                for (axis, derivative) in Vec3::AXES.into_iter().zip(gradient) {
                    let along = axis * step;
                    let sides = [-1.0, 1.0].map(|side| {
                        (sampler.at(slot, offset + side * along) - value) / f64::from(side * step)
                    });
                    if (sides[0] - sides[1]).abs() < 0.05 {
                        compared += 1;
                        let central = 0.5 * (sides[0] + sides[1]);
                        let off = (derivative - central).abs();
                        assert!(off < 0.02, "{interpolation:?} on {shape:?} is off by {off}");
                    }
                }
            }
            assert!(compared > 140, "only {compared} derivatives of {interpolation:?} compared");
        }
    }
}

#[test]
fn fields_are_continuous_across_the_borders_of_buckets() {
    for shape in shapes() {
        let scene = unit_scene(shape, noise);
        let column = scene.volume.column(scene.handle).unwrap();
        let middle = scene.volume.topology().slot(Bucket::new(1, 1, 1)).unwrap();
        for interpolation in ALL {
            let sampler = Sampler::new(&column, scene.volume.topology(), interpolation);
            for point in Chance(9).points(50, 0.0, 1.0) {
                for axis in 0..3 {
                    for border in [0.0, 1.0] {
                        let mut on = point.as_vec3();
                        on[axis] = border;
                        let nudge = Vec3::AXES[axis] * f32::EPSILON;
                        let jump = sampler.at(middle, on - nudge) - sampler.at(middle, on + nudge);
                        // The field's slope is at most 1 per voxel and node.
                        assert!(
                            jump.abs() < 2e-5,
                            "{interpolation:?} on {shape:?} jumps by {jump}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn offsets_outside_of_a_bucket_read_the_bucket_that_is_there() {
    for interpolation in ALL {
        let scene = unit_scene(VoxelShape::CELLS, noise);
        let column = scene.volume.column(scene.handle).unwrap();
        let topology = scene.volume.topology();
        let sampler = Sampler::new(&column, topology, interpolation);
        let first = topology.slot(Bucket::new(0, 0, 0)).unwrap();
        for point in Chance(10).points(200, 0.0, 3.0) {
            assert_eq!(sampler.at(first, point.as_vec3()), sampler.at_world(point));
        }
    }
}

#[test]
fn outside_of_all_buckets_there_is_background_without_a_gradient() {
    let scene = Scene::on(domain(DVec3::ZERO, 0.125, cube(1)), VoxelShape::CELLS, 7.5_f32);
    let scene = scene.fill(|_| 1.0);
    let column = scene.volume.column(scene.handle).unwrap();
    for interpolation in ALL {
        let sampler = Sampler::new(&column, scene.volume.topology(), interpolation);
        for far in [DVec3::splat(-0.01), DVec3::splat(1e300), DVec3::NAN, DVec3::INFINITY] {
            assert_eq!(sampler.value_and_gradient_at_world(far), (7.5, [0.0; 3]));
        }
        for far in [Vec3::splat(-0.01), Vec3::splat(1e30), Vec3::INFINITY, Vec3::NEG_INFINITY] {
            assert_eq!(sampler.value_and_gradient(0, far), (7.5, [0.0; 3]));
        }
        assert!(sampler.at(0, Vec3::NAN).is_nan());
        // Half of the kernel lies outside.
        let edge = sampler.at(0, Vec3::new(0.0, 0.5, 0.5));
        assert!((edge - 4.25).abs() < 1e-5, "{interpolation:?} gives {edge}");
    }
}

#[test]
fn vectors_and_matrices_are_interpolated_by_component() {
    let shape = VoxelShape::CELLS;
    let domain = || domain(DVec3::ZERO, 0.125, cube(2));
    let scalar = |lane: usize| move |p: DVec3| noise(p * (1.0 + lane as f64)) as f32;
    let scenes: Vec<_> =
        (0..9).map(|lane| Scene::on(domain(), shape, 0.0_f32).fill(scalar(lane))).collect();
    let matrices = Scene::on(domain(), shape, Mat3::ZERO).fill(|p| {
        let lanes: [f32; 9] = std::array::from_fn(|lane| scalar(lane)(p));
        Mat3::from_cols_array(&lanes)
    });
    let matrix_column = matrices.volume.column(matrices.handle).unwrap();
    for interpolation in ALL {
        let matrix = Sampler::new(&matrix_column, matrices.volume.topology(), interpolation);
        for (lane, scene) in scenes.iter().enumerate() {
            let column = scene.volume.column(scene.handle).unwrap();
            let sampler = Sampler::new(&column, scene.volume.topology(), interpolation);
            for point in Chance(11).points(20, 0.0, 2.0) {
                let (value, gradient) = matrix.value_and_gradient_at_world(point);
                let (one, one_gradient) = sampler.value_and_gradient_at_world(point);
                assert_eq!(value.to_cols_array()[lane], one);
                assert_eq!(gradient.map(|g| g.to_cols_array()[lane]), one_gradient);
            }
        }
    }
}

#[test]
fn a_mac_velocity_is_its_three_components() {
    let domain = domain(DVec3::ZERO, 0.125, cube(2));
    let mut volume = undine_core::volume::DiscreteVolume::new("air", &domain);
    let mac = volume.add_mac("velocity", "m/s", Resolution::R8).unwrap();
    for axis in Axis::ALL {
        let mut column = volume.column_mut(mac.faces[axis.index()]).unwrap();
        for slot in 0..8 {
            for (n, value) in column.chunk_mut(slot).iter_mut().enumerate() {
                *value = noise(DVec3::new(n as f64, f64::from(slot), axis.index() as f64)) as f32;
            }
        }
    }
    let columns = mac.faces.map(|face| volume.column(face).unwrap());
    let faces = [&*columns[0], &*columns[1], &*columns[2]];
    for interpolation in ALL {
        let velocity = MacSampler::new(faces, volume.topology(), interpolation).unwrap();
        let components = faces.map(|face| Sampler::new(face, volume.topology(), interpolation));
        // A last bit may differ, because the middles are half a node from the corners.
        for point in Chance(12).points(100, -0.1, 2.1) {
            let found = velocity.at_world(point);
            let (slot, offset) = velocity.locate(point).unwrap_or((0, Vec3::splat(-0.05)));
            assert_eq!(velocity.at(slot, offset), found);
            let (value, gradient) = velocity.value_and_gradient(slot, offset);
            assert_eq!((value, gradient), (found, velocity.gradient(slot, offset)));
            for axis in 0..3 {
                let (value, slopes) = components[axis].value_and_gradient(slot, offset);
                assert!((found[axis] - value).abs() < 1e-6);
                assert!((gradient.row(axis) - Vec3::from(slopes)).abs().max_element() < 1e-4);
            }
        }
    }
    let wrong = MacSampler::new([faces[1], faces[0], faces[2]], volume.topology(), ALL[0]);
    assert!(wrong.err().unwrap().to_string().contains("component X"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_monotone_cubic_never_passes_the_eight_values_around_it(
        seed in any::<u64>(),
        steep in 0.5..6.0_f64,
    ) {
        let shape = VoxelShape::NODES.with_resolution(Resolution::R4);
        let value = |p: DVec3| (noise(p + seed as f64 * 1e-19) * steep).sinh() as f32;
        let scene = Scene::on(domain(DVec3::ZERO, 0.5, cube(2)), shape, 0.0_f32).fill(value);
        let column = scene.volume.column(scene.handle).unwrap();
        let sampler =
            Sampler::new(&column, scene.volume.topology(), Interpolation::MonotoneCubic);
        // Nodes lie at whole metres; those at 8 m and beyond are background.
        for point in Chance(seed).points(50, 0.0, 7.0) {
            let low = point.floor();
            let corners = (0..8).map(|n| value(low + DVec3::new(
                f64::from(n >> 2), f64::from(n >> 1 & 1), f64::from(n & 1),
            )));
            let (smallest, largest) = corners
                .fold((f32::INFINITY, f32::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
            let found = sampler.at_world(point);
            prop_assert!(smallest <= found && found <= largest);
        }
    }
}
