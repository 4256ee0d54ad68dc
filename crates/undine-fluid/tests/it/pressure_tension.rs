//! Surface tension: curvatures of known surfaces, the pressure in drops, and liquid that stays where it is.

use crate::basin::Basin;
use undine_core::glam::DVec3;
use undine_fluid::pressure::{Settings, Tension};

/// Surface tension of water [N/m].
const SIGMA: f64 = 0.072;
const SETTINGS: Settings =
    Settings { tolerance: 1e-9, smallest: 1e-3, non_stick: false, tension: SIGMA };

/// A basin of `buckets` along 16 mm, with a distance, and its curvature measured for steps of a time [s].
fn drop_of(buckets: i32, distance: impl Fn(DVec3) -> f64, time: f64) -> Basin {
    let voxel = 0.016 / f64::from(8 * buckets);
    let mut basin = Basin::new(voxel, [0; 3], [buckets; 3]);
    basin.pour(distance);
    let volume = &mut basin.volumes[basin.field.volume];
    let tension = Tension::add(volume).unwrap();
    let phi = basin.field.distance.unwrap();
    tension.measure(&basin.domain, volume, phi, SIGMA / 1000.0, time).unwrap();
    basin.tension = Some(tension);
    basin
}

/// The largest and the mean error of κ where the surface crosses the ways between cells.
fn curvature_error(basin: &Basin, wanted: f64) -> (f64, f64) {
    let (phi, kappa) = (basin.field.distance.unwrap(), basin.tension.unwrap().curvature);
    let wet: std::collections::BTreeSet<[i32; 3]> = basin.wet().into_iter().collect();
    let (mut most, mut sum, mut count) = (0.0_f64, 0.0, 0.0);
    // A cylinder ends where the basin does.
    let most_cell = (0.016 / basin.voxel) as i32 - 3;
    for at in wet.iter().filter(|at| at.iter().all(|c| (3..most_cell).contains(c))) {
        for side in 0..6 {
            let mut next = *at;
            next[side / 2] += if side % 2 == 0 { -1 } else { 1 };
            if wet.contains(&next) {
                continue;
            }
            let [a, b] = [*at, next].map(|at| f64::from(basin.value(phi, at)));
            let [k, l] = [*at, next].map(|at| f64::from(basin.value(kappa, at)));
            let theta = a / (a - b);
            let wrong = (k + theta * (l - k)) / wanted - 1.0;
            most = most.max(wrong.abs());
            sum += wrong.abs();
            count += 1.0;
        }
    }
    (most, sum / count)
}

const CENTRE: DVec3 = DVec3::new(0.00803, 0.00797, 0.00811);

#[test]
fn curvature_is_second_order() {
    let radius = 0.0047;
    let sphere = |at: DVec3| (at - CENTRE).length() - radius;
    let cylinder = |at: DVec3| (at - CENTRE).truncate().length() - radius;
    for (name, distance, wanted) in [
        ("sphere", &sphere as &dyn Fn(DVec3) -> f64, 2.0 / radius),
        ("cylinder", &cylinder, 1.0 / radius),
    ] {
        let errors: Vec<(f64, f64)> = [3, 6]
            .into_iter()
            .map(|buckets| curvature_error(&drop_of(buckets, distance, 0.0), wanted))
            .collect();
        println!("{name}: {errors:?}");
        assert!((errors[0].0 / errors[1].0).log2() > 1.6 && errors[1].0 < 0.02, "{errors:?}");
    }
    // And a plane has none.
    let slope = DVec3::new(0.3, 0.8, -0.5).normalize();
    let plane = drop_of(3, |at| (at - CENTRE).dot(slope), 0.0);
    let (phi, kappa) = (plane.field.distance.unwrap(), plane.tension.unwrap().curvature);
    let inside = plane.wet().into_iter().filter(|at| at.iter().all(|c| (3..21).contains(c)));
    for at in inside.filter(|at| plane.value(phi, *at).abs() < 1e-3) {
        assert!(plane.value(kappa, at).abs() < 0.5, "{} 1/m", plane.value(kappa, at));
    }
}

/// p = 2σ/R in a sphere (Laplace).
#[test]
fn the_pressure_in_a_drop_is_that_of_laplace() {
    let radius = 0.0047;
    let errors: Vec<f64> = [3, 6]
        .into_iter()
        .map(|buckets| {
            let basin = drop_of(buckets, |at| (at - CENTRE).length() - radius, 1e-4);
            basin.project(&SETTINGS, 1e-4);
            let wanted = 2.0 * SIGMA / radius;
            let wet = basin.wet();
            let sum: f64 =
                wet.iter().map(|at| f64::from(basin.value(basin.field.pressure, *at))).sum();
            let found = sum / wet.len() as f64;
            println!("{found} Pa, {wanted} Pa; {} m/s after a step", basin.largest_speed());
            assert!(basin.largest_divergence() < 1e-2);
            (found / wanted - 1.0).abs()
        })
        .collect();
    assert!(errors[0] < 0.05 && errors[1] < 0.02 && errors[1] < errors[0], "{errors:?}");
}

/// With the surface held in place, what is wrong with its curvature drives currents. They get no stronger where cells are smaller.
#[test]
fn spurious_currents_are_weak_and_fall_with_resolution() {
    let radius = 0.0047;
    let speeds: Vec<f64> = [3, 6]
        .into_iter()
        .map(|buckets| {
            let basin = drop_of(buckets, |at| (at - CENTRE).length() - radius, 1e-4);
            (0..5).for_each(|_| drop(basin.project(&SETTINGS, 1e-4)));
            basin.mean_speed()
        })
        .collect();
    println!("{speeds:?} m/s");
    // Against the speed of capillary waves as long as the drop, √(σ/ρR).
    let scale = (SIGMA / 1000.0 / radius).sqrt();
    assert!(speeds[0] < 0.01 * scale && speeds[1] < speeds[0], "{speeds:?}, {scale}");
}

/// Steps too long for the shortest waves take their curvature away, and leave that of the drop.
#[test]
fn long_steps_smooth_what_they_could_not_follow() {
    let radius = 0.0047;
    let rippled = |at: DVec3| {
        let r = at - CENTRE;
        // Waves four voxels long.
        let wave = 0.5e-4
            * (r / r.length() * radius * (std::f64::consts::TAU / 2.7e-3))
                .to_array()
                .map(f64::sin)
                .iter()
                .sum::<f64>();
        r.length() - radius - wave
    };
    let short = curvature_error(&drop_of(3, rippled, 0.0), 2.0 / radius);
    let long = curvature_error(&drop_of(3, rippled, 4e-3), 2.0 / radius);
    println!("{short:?}, {long:?}");
    assert!(short.1 > 0.2 && long.1 < 0.5 * short.1, "{short:?}, {long:?}");
    let smooth = |at: DVec3| (at - CENTRE).length() - radius;
    let (most, _) = curvature_error(&drop_of(3, smooth, 4e-3), 2.0 / radius);
    assert!(most < 0.1, "{most}");
}
