//! Pressure makes velocities free of divergence, up to walls that cut cells and surfaces between them.

use crate::basin::Basin;
use std::f64::consts::PI;
use undine_core::glam::DVec3;
use undine_fluid::pressure::Settings;

/// Gravity [m/s²].
const G: f64 = 9.81;
/// As good as single precision allows.
const EXACT: Settings =
    Settings { tolerance: 1e-10, smallest: 1e-4, non_stick: false, tension: 0.0 };

/// Some velocity that nothing is simple about [m/s].
fn stirred(axis: usize, at: DVec3) -> f64 {
    let k = [7.0, 11.0, 5.0][axis];
    (k * at.x + 1.0).sin() * (9.0 * at.y).cos() + (6.0 * at.z * at.x - k * at.y).sin()
}

/// The inside of a box turned about two axes is outside of this solid: the distance to its walls [m].
fn turned_box(centre: DVec3, half: DVec3) -> impl Fn(DVec3) -> f64 {
    let turn =
        undine_core::glam::DQuat::from_euler(undine_core::glam::EulerRot::XYZ, 0.3, 0.2, -0.4);
    move |at| {
        let d = (turn * (at - centre)).abs() - half;
        -d.max_element()
    }
}

#[test]
fn no_liquid_cell_is_left_with_divergence() {
    let basin = Basin::new(0.05, [0; 3], [4; 3]);
    basin.wall(turned_box(DVec3::splat(0.8), DVec3::new(0.45, 0.4, 0.4)), |at| {
        DVec3::new(0.1, 0.3 * at.x, -0.2)
    });
    basin.pour(|at| at.y - 0.8 - 0.1 * (6.0 * at.x).sin() * (4.0 * at.z).cos());
    basin.fill_mac(basin.field.velocity, stirred);
    let before = basin.largest_divergence();
    let projected = basin.project(&EXACT, 0.01);
    assert!(projected.report.converged(), "{}", projected.report);
    assert!(projected.unknowns == basin.wet().len() && projected.unknowns > 2000);
    let after = basin.largest_divergence();
    println!("{before} to {after}: {}", projected.report);
    // Velocities of 2 m/s in single precision, over voxels of 5 cm; the surface divides by θ, at the worst.
    assert!(before > 10.0 && after < 2e-4, "{before} to {after}");
}

#[test]
fn the_tolerance_is_what_is_left_of_the_divergence() {
    let basin = Basin::new(0.05, [0; 3], [3; 3]);
    basin.wall(|at| 0.55 - (at - DVec3::splat(0.6)).length(), |_| DVec3::ZERO);
    basin.pour(|at| at.y - 0.7);
    let square = |basin: &Basin| -> f64 {
        basin.wet().iter().map(|at| basin.divergence(*at).powi(2)).sum::<f64>().sqrt()
    };
    for tolerance in [1e-2, 1e-3, 1e-4] {
        basin.fill_mac(basin.field.velocity, stirred);
        basin.fill(basin.field.pressure, DVec3::ZERO, |_| 0.0);
        let before = square(&basin);
        let projected = basin.project(&Settings { tolerance, ..EXACT }, 0.01);
        let after = square(&basin);
        assert!(projected.report.converged() && after < 1.01 * tolerance * before + 1e-3);
        assert!(after > 1e-3 * tolerance * before, "no more work than was asked for");
    }
}

/// Liquid at rest in an upright tank with its surface at a height that is any part of a cell.
#[test]
fn a_resting_tank_stays_at_rest_wherever_its_surface_lies() {
    let (h, step) = (0.125, 0.01);
    let basin = Basin::new(h, [0; 3], [3; 3]);
    basin.wall(
        |at| (at - DVec3::splat(0.375)).min_element().min(2.625 - at.x).min(2.625 - at.z),
        |_| DVec3::ZERO,
    );
    for part in [0.001, 0.25, 0.5, 0.501, 0.75, 0.999] {
        let height = 1.5 + part * h;
        basin.pour(|at| at.y - height);
        basin.fill_mac(basin.field.velocity, |axis, _| if axis == 1 { -G * step } else { 0.0 });
        basin.fill(basin.field.pressure, DVec3::ZERO, |_| 0.0);
        basin.project(&EXACT, step);
        let speed = basin.largest_speed();
        assert!(speed < 1e-6, "{part}: {speed} m/s");
        for at in basin.wet().into_iter().filter(|at| at.iter().all(|&c| c > 2)) {
            let depth = height - basin.centre(at).y;
            let p = f64::from(basin.value(basin.field.pressure, at));
            assert!((p - 1000.0 * G * depth).abs() < 0.02, "{part}: {p} Pa at {depth} m");
        }
    }
}

/// Walls, surface and gravity all at odd angles to the grid.
#[test]
fn a_resting_tank_stays_at_rest_at_any_slope() {
    let step = 0.01;
    let down = DVec3::new(0.4, -0.8, 0.3).normalize();
    let basin = Basin::new(0.05, [0; 3], [4; 3]);
    basin.wall(turned_box(DVec3::splat(0.8), DVec3::new(0.45, 0.4, 0.4)), |_| DVec3::ZERO);
    let depth = |at: DVec3| (at - DVec3::splat(0.83)).dot(down);
    basin.pour(|at| -depth(at));
    basin.fill_mac(basin.field.velocity, |axis, _| G * step * down[axis]);
    basin.project(&EXACT, step);
    // θ is cut off at a ten-thousandth of a cell.
    let speed = basin.largest_speed();
    assert!(speed < 2e-4 * G * step, "{speed} m/s");
    let wrong = basin.wet().into_iter().map(|at| {
        let wanted = 1000.0 * G * depth(basin.centre(at));
        (f64::from(basin.value(basin.field.pressure, at)) - wanted).abs()
    });
    let wrong = wrong.fold(0.0, f64::max);
    assert!(wrong < 0.1, "{wrong} Pa");
}

#[test]
fn two_layers_weigh_what_they_are() {
    let (h, step) = (0.125, 0.01);
    let basin = Basin::new(h, [0; 3], [2; 3]);
    basin.wall(
        |at| (at - DVec3::splat(0.375)).min_element().min(1.625 - at.x).min(1.625 - at.z),
        |_| DVec3::ZERO,
    );
    basin.pour(|at| at.y - 1.45);
    // Between the centres of two cells the mean of their densities holds.
    basin.fill(
        basin.field.density,
        DVec3::splat(0.5),
        |at| if at.y < 1.0 { 1000.0 } else { 800.0 },
    );
    basin.fill_mac(basin.field.velocity, |axis, _| if axis == 1 { -G * step } else { 0.0 });
    basin.project(&EXACT, step);
    assert!(basin.largest_speed() < 1e-6);
    let p = f64::from(basin.value(basin.field.pressure, [5, 4, 5]));
    let wanted = G * (800.0 * (1.45 - 1.0) + 1000.0 * (1.0 - 0.5625));
    assert!((p - wanted).abs() < 0.02, "{p} Pa, {wanted} Pa");
}

/// A full box that begins to move takes its liquid along as one, also where its walls cut cells.
#[test]
fn a_closed_box_takes_its_liquid_along() {
    let basin = Basin::new(0.05, [0; 3], [4; 3]);
    let velocity = DVec3::new(0.7, -0.4, 0.2);
    basin.wall(turned_box(DVec3::splat(0.8), DVec3::new(0.45, 0.4, 0.4)), |_| velocity);
    basin.pour(|_| -1.0);
    let projected = basin.project(&EXACT, 0.01);
    assert!(projected.report.converged(), "{}", projected.report);
    let mut faces = 0;
    for at in basin.wet() {
        for axis in (0..3).filter(|&axis| basin.face(basin.field.walls.area, axis, at) > 0.0) {
            let u = basin.face(basin.field.velocity, axis, at);
            // What rounding leaves of the flux through a sliver of a face is large for its velocity.
            let area = basin.face(basin.field.walls.area, axis, at);
            assert!(area * (u - velocity[axis]).abs() < 2e-6, "{u} m/s along {axis} at {at:?}");
            faces += 1;
        }
    }
    assert!(faces > 5000);
}

/// A piston at the lower end of an upright pipe lifts all of the liquid in it.
#[test]
fn a_piston_lifts_the_liquid_above_it() {
    let basin = Basin::new(0.125, [0; 3], [2, 4, 2]);
    let pipe = |at: DVec3| 0.5 - (at.x - 1.0).abs().max((at.z - 1.0).abs());
    let piston = |at: DVec3| at.y - 0.73;
    basin.wall(
        |at| pipe(at).min(piston(at)),
        |at| {
            if piston(at) < pipe(at) { DVec3::new(0.0, 0.5, 0.0) } else { DVec3::ZERO }
        },
    );
    basin.pour(|at| at.y - 2.44);
    basin.project(&EXACT, 0.01);
    assert!(basin.largest_divergence() < 1e-4);
    for y in 6..20 {
        let u = basin.face(basin.field.velocity, 1, [8, y, 8]);
        assert!((u - 0.5).abs() < 1e-5, "{u} m/s at {y}");
    }
}

/// Walls that turn about their own axis push nothing; walls of another shape stir.
#[test]
fn a_round_tank_turns_without_its_liquid() {
    let basin = Basin::new(0.05, [0; 3], [4, 2, 4]);
    let centre = DVec3::new(0.8, 0.0, 0.8);
    let turn = |at: DVec3| DVec3::new(0.0, 2.0, 0.0).cross(at - centre);
    basin.wall(|at| (0.6 - (at.x - 0.8).hypot(at.z - 0.8)).min(at.y - 0.1).min(0.7 - at.y), turn);
    basin.pour(|_| -1.0);
    basin.project(&EXACT, 0.01);
    let round = basin.mean_speed();
    basin.wall(
        |at| {
            (0.55 - (at.x - 0.8).abs())
                .min(0.5 - (at.z - 0.8).abs())
                .min(at.y - 0.1)
                .min(0.7 - at.y)
        },
        turn,
    );
    basin.pour(|_| -1.0);
    basin.fill_mac(basin.field.velocity, |_, _| 0.0);
    basin.project(&EXACT, 0.01);
    let square = basin.mean_speed();
    println!("round {round} m/s, square {square} m/s");
    // A wall's speed is 1.2 m/s; what is left of it is what faces miss of the circle.
    assert!(round < 0.02 && square > 0.1);
    assert!(basin.largest_divergence() < 1e-4);
}

#[test]
fn a_piston_into_a_closed_tank_is_reported() {
    let basin = Basin::new(0.125, [0; 3], [2; 3]);
    let inside = |at: DVec3| {
        (at - DVec3::splat(0.375)).min_element().min((DVec3::splat(1.625) - at).min_element())
    };
    basin.wall(inside, |at| if at.x < 0.45 { DVec3::new(0.5, 0.0, 0.0) } else { DVec3::ZERO });
    basin.pour(|_| -1.0);
    let projected = basin.project(&EXACT, 0.01);
    assert!(projected.report.converged(), "{}", projected.report);
    // 0.5 m/s over 1.25 m of length.
    assert!((projected.squeezed - 0.4).abs() < 1e-6, "{}", projected.squeezed);
    assert!((basin.largest_divergence() - 0.4).abs() < 1e-3);
}

/// u* = u + ∇q, with u along the walls of a round tank and q arbitrary: the projection finds u again.
#[test]
fn curved_walls_converge_faster_than_first_order() {
    let errors: Vec<(f64, f64)> = [2, 4, 8]
        .into_iter()
        .map(|buckets| {
            let voxel = 1.6 / f64::from(8 * buckets);
            let basin = Basin::new(voxel, [0; 3], [buckets, 2, buckets]);
            let (x, z) = (0.8, 0.8);
            basin.wall(|at| 0.6131 - (at.x - x).hypot(at.z - z), |_| DVec3::ZERO);
            // Closed below and above, so that it is flat.
            basin.fill(basin.field.walls.area.faces[1], DVec3::ZERO, |_| 0.0);
            basin.pour(|at| at.y - 4.0 * voxel);
            let swirl = |at: DVec3| {
                let r = DVec3::new(at.x - x, 0.0, at.z - z);
                DVec3::Y.cross(r) * (1.0 + r.length_squared())
            };
            let potential = |at: DVec3| {
                DVec3::new(
                    (PI * at.x).cos() * (2.0 * at.z).sin(),
                    0.0,
                    2.0 / PI * (PI * at.x).sin() * (2.0 * at.z).cos(),
                )
            };
            basin.fill_mac(basin.field.velocity, |axis, at| (swirl(at) + potential(at))[axis]);
            basin.project(&EXACT, 0.01);
            let (mut square, mut most, mut count) = (0.0_f64, 0.0_f64, 0.0);
            for (axis, at, area, u) in basin.faces() {
                let centre = basin.centre(at) - 0.5 * voxel * DVec3::AXES[axis];
                let wrong = u - swirl(centre)[axis];
                square += area * wrong * wrong;
                most = most.max(area * wrong.abs());
                count += area;
            }
            ((square / count).sqrt(), most)
        })
        .collect();
    println!("{errors:?}");
    for pair in errors.windows(2) {
        assert!((pair[0].0 / pair[1].0).log2() > 1.3, "root mean square: {errors:?}");
        assert!(pair[1].1 < pair[0].1, "largest: {errors:?}");
    }
}

/// The same with a free surface: p = 0 on a sphere of liquid, u* = u + ∇q with q zero there.
#[test]
fn curved_surfaces_are_second_order() {
    let errors: Vec<f64> = [2, 4]
        .into_iter()
        .map(|buckets| {
            let voxel = 1.6 / f64::from(8 * buckets);
            let basin = Basin::new(voxel, [0; 3], [buckets; 3]);
            let centre = DVec3::splat(0.8);
            let (radius, step) = (0.6131, 0.01);
            basin.pour(|at| (at - centre).length() - radius);
            // q = r² − R², times Δt/ρ: the pressure is known, too.
            basin.fill_mac(basin.field.velocity, |axis, at| 2.0 * (at - centre)[axis]);
            basin.project(&EXACT, step);
            let wrong = basin.wet().into_iter().map(|at| {
                let r = (basin.centre(at) - centre).length();
                let wanted = 1000.0 / step * (r * r - radius * radius);
                (f64::from(basin.value(basin.field.pressure, at)) - wanted).abs()
            });
            wrong.fold(0.0, f64::max)
        })
        .collect();
    println!("{errors:?}");
    assert!((errors[0] / errors[1]).log2() > 1.7, "{errors:?}");
}

#[test]
fn a_first_guess_saves_work_and_changes_nothing_else() {
    let basin = Basin::new(0.05, [0; 3], [3; 3]);
    basin.wall(|at| 0.55 - (at - DVec3::splat(0.6)).length(), |_| DVec3::ZERO);
    basin.pour(|at| at.y - 0.7);
    let settings = Settings { tolerance: 1e-6, ..EXACT };
    basin.fill_mac(basin.field.velocity, stirred);
    let first = basin.project(&settings, 0.01);
    basin.fill_mac(basin.field.velocity, stirred);
    let again = basin.project(&settings, 0.01);
    assert!(again.report.iterations < first.report.iterations && again.report.iterations <= 1);
    assert!(basin.largest_divergence() < 1e-3);
}

#[test]
fn pressure_is_nothing_where_there_is_no_liquid() {
    let basin = Basin::new(0.05, [0; 3], [3; 3]);
    basin.wall(|at| 0.55 - (at - DVec3::splat(0.6)).length(), |_| DVec3::ZERO);
    basin.pour(|at| at.y - 0.7);
    basin.fill(basin.field.pressure, DVec3::ZERO, |_| 5.0);
    basin.fill_mac(basin.field.velocity, stirred);
    basin.project(&EXACT, 0.01);
    let wet = basin.wet();
    let dry = |at: &[i32; 3]| !wet.contains(at);
    let all = (0..24).flat_map(|x| (0..24).map(move |y| [x, y, 12]));
    assert!(all.filter(dry).all(|at| basin.value(basin.field.pressure, at) == 0.0));
    // No liquid at all is no reason to fail.
    basin.pour(|_| 1.0);
    assert_eq!(basin.project(&EXACT, 0.01).unknowns, 0);
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let basin = Basin::new(0.05, [0; 3], [4; 3]);
            basin.wall(turned_box(DVec3::splat(0.8), DVec3::new(0.45, 0.4, 0.4)), |_| DVec3::ZERO);
            basin.pour(|at| at.y - 0.8 - 0.1 * (6.0 * at.x).sin());
            basin.fill_mac(basin.field.velocity, stirred);
            basin.project(&Settings::default(), 0.01);
            let faces: Vec<u32> = basin
                .wet()
                .into_iter()
                .map(|at| basin.value(basin.field.velocity.faces[1], at).to_bits())
                .collect();
            faces
        })
    };
    assert_eq!(on(1), on(3));
}
