//! Sampling and splatting compared with a naive model: a map from places to values, kernels as formulas, all in `f64`.

use super::{ALL, Chance, Scene, domain, noise, places, position};
use glam::{DVec3, IVec3};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use undine_core::Bucket;
use undine_core::volume::{
    Axis, Centring, Interpolation, Kernel, Resolution, VoxelShape, sample_points, splat_points,
};

pub(super) fn any_shape() -> impl Strategy<Value = VoxelShape> {
    let centring = prop::sample::select(vec![
        Centring::Cell,
        Centring::Node,
        Centring::Face(Axis::X),
        Centring::Face(Axis::Y),
        Centring::Face(Axis::Z),
    ]);
    let resolution =
        prop::sample::select(vec![Resolution::R2, Resolution::R4, Resolution::R8, Resolution::R16]);
    (resolution, centring).prop_map(|(resolution, centring)| VoxelShape { resolution, centring })
}

fn any_buckets() -> impl Strategy<Value = BTreeSet<[i32; 3]>> {
    prop::collection::btree_set(prop::array::uniform3(-2..2_i32), 1..30)
}

/// The kernel along one axis at a distance in nodes.
fn weight(interpolation: Interpolation, distance: f64) -> f64 {
    let x = distance.abs();
    match interpolation {
        Interpolation::Linear => (1.0 - x).max(0.0),
        Interpolation::Quadratic if x <= 0.5 => 0.75 - x * x,
        Interpolation::Quadratic if x <= 1.5 => 0.5 * (1.5 - x).powi(2),
        Interpolation::Cubic if x <= 1.0 => (4.0 - 6.0 * x * x + 3.0 * x * x * x) / 6.0,
        Interpolation::Cubic if x <= 2.0 => (2.0 - x).powi(3) / 6.0,
        _ => 0.0,
    }
}

/// The nodes within two of a position, with their weights.
fn weights(interpolation: Interpolation, at: DVec3) -> impl Iterator<Item = (IVec3, f64)> {
    let low = at.floor().as_ivec3() - 2;
    (0..216).map(move |n| low + IVec3::new(n / 36, n / 6 % 6, n % 6)).filter_map(move |node| {
        let distance = at - node.as_dvec3();
        let weight: f64 =
            distance.to_array().into_iter().map(|d| weight(interpolation, d)).product();
        (weight > 0.0).then_some((node, weight))
    })
}

/// The limited cubic through four values, from the Hermite basis.
fn hermite(f: [f64; 4], t: f64) -> f64 {
    let slope = |a: f64, b: f64| {
        if a * b <= 0.0 {
            return 0.0;
        }
        a.signum() * (0.5 * (a + b).abs()).min(3.0 * a.abs()).min(3.0 * b.abs())
    };
    let (d1, d2) = (slope(f[1] - f[0], f[2] - f[1]), slope(f[2] - f[1], f[3] - f[2]));
    let (t2, t3) = (t * t, t * t * t);
    (2.0 * t3 - 3.0 * t2 + 1.0) * f[1]
        + (t3 - 2.0 * t2 + t) * d1
        + (3.0 * t2 - 2.0 * t3) * f[2]
        + (t3 - t2) * d2
}

fn model_sample(
    values: &BTreeMap<[i32; 3], f64>,
    background: f64,
    interpolation: Interpolation,
    at: DVec3,
) -> f64 {
    let value = |node: IVec3| values.get(&node.to_array()).copied().unwrap_or(background);
    if interpolation != Interpolation::MonotoneCubic {
        return weights(interpolation, at).map(|(node, weight)| weight * value(node)).sum();
    }
    let (low, t) = (at.floor().as_ivec3() - 1, at - at.floor());
    let four = std::array::from_fn::<i32, 4, _>(|n| n as i32);
    let line = |x, y| hermite(four.map(|z| value(low + IVec3::new(x, y, z))), t.z);
    hermite(four.map(|x| hermite(four.map(|y| line(x, y)), t.y)), t.x)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn samples_on_random_buckets_are_those_of_the_model(
        buckets in any_buckets(),
        shape in any_shape(),
        seed in any::<u64>(),
    ) {
        let domain = domain(DVec3::new(3.0, -5.0, 0.25), 0.125, buckets.iter().map(|b| Bucket::new(b[0], b[1], b[2])));
        let origin = domain.frame().origin();
        let scene = Scene::on(domain, shape, 0.375_f32).fill(|p| noise(p) as f32);
        let mut values = BTreeMap::new();
        for bucket in scene.domain.topology().buckets() {
            for place in places(*bucket, shape.resolution) {
                let value = noise(position(scene.domain.frame(), 0, shape, place)) as f32;
                values.insert(place.to_array(), f64::from(value));
            }
        }
        let points = Chance(seed).points(60, -2.25, 2.25);
        let world: Vec<_> = points.iter().map(|p| *p + origin).collect();
        for interpolation in ALL {
            let mut found = vec![0.0; points.len()];
            sample_points(&scene.volume, scene.handle, interpolation, &world, &mut found).unwrap();
            for (point, found) in points.iter().zip(found) {
                let covered = buckets.contains(&point.floor().as_ivec3().to_array());
                let edge = shape.resolution.edge() as f64;
                let at = *point * edge - shape.centring.offset().as_dvec3();
                let expected = if covered {
                    model_sample(&values, 0.375, interpolation, at)
                } else {
                    0.375
                };
                prop_assert!(
                    (f64::from(found) - expected).abs() < 2e-6,
                    "{interpolation:?} at {point}: {found}, not {expected}"
                );
            }
        }
    }

    #[test]
    fn splats_on_random_buckets_are_those_of_the_model(
        buckets in any_buckets(),
        shape in any_shape(),
        seed in any::<u64>(),
    ) {
        let domain = domain(DVec3::ZERO, 0.125, buckets.iter().map(|b| Bucket::new(b[0], b[1], b[2])));
        let kernels = [
            (Kernel::Linear, Interpolation::Linear),
            (Kernel::Quadratic, Interpolation::Quadratic),
            (Kernel::Cubic, Interpolation::Cubic),
        ];
        for (kernel, interpolation) in kernels {
            let scene = Scene::on(domain.clone(), shape, 0.25_f64);
            let mut chance = Chance(seed);
            let points = chance.points(80, -2.25, 2.25);
            let values: Vec<f64> = points.iter().map(|_| chance.number() - 0.5).collect();
            let skipped = splat_points(&scene.volume, scene.handle, kernel, &points, &values).unwrap();
            let mut expected: BTreeMap<[i32; 3], f64> = BTreeMap::new();
            let mut outside = 0;
            for (point, value) in points.iter().zip(&values) {
                if !buckets.contains(&point.floor().as_ivec3().to_array()) {
                    outside += 1;
                    continue;
                }
                let at = *point * shape.resolution.edge() as f64 - shape.centring.offset().as_dvec3();
                for (node, weight) in weights(interpolation, at) {
                    *expected.entry(node.to_array()).or_default() += weight * value;
                }
            }
            prop_assert_eq!(skipped, outside);
            let column = scene.volume.column(scene.handle).unwrap();
            for (slot, bucket) in scene.domain.topology().buckets().iter().enumerate() {
                for (n, place) in places(*bucket, shape.resolution).enumerate() {
                    let wanted = 0.25 + expected.get(&place.to_array()).copied().unwrap_or(0.0);
                    let found = column.chunk(slot as u32)[n];
                    prop_assert!((found - wanted).abs() < 1e-13);
                }
            }
        }
    }
}
