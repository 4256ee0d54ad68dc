//! Walls that liquid may leave, and such that hold it.

use crate::basin::Basin;
use undine_core::glam::DVec3;
use undine_fluid::pressure::Settings;

const G: f64 = 9.81;
const STEP: f64 = 0.01;

/// A block of liquid under a ceiling: it fills 8 × 6 × 8 cells below y = 2 m, with air at its sides and below.
fn under_a_ceiling() -> Basin {
    let basin = Basin::new(0.125, [0; 3], [3; 3]);
    basin.wall(|at| 2.0 - at.y, |_| DVec3::ZERO);
    let block = |at: DVec3| {
        let d = (at - DVec3::new(1.5, 1.7, 1.5)).abs() - DVec3::new(0.5, 0.45, 0.5);
        d.max_element()
    };
    basin.pour(block);
    basin.fill_mac(basin.field.velocity, |axis, _| if axis == 1 { -G * STEP } else { 0.0 });
    basin
}

#[test]
fn water_falls_off_a_ceiling_only_where_it_does_not_stick() {
    let settings = Settings { tolerance: 1e-8, ..Settings::default() };
    let stuck = under_a_ceiling();
    assert!(stuck.project(&settings, STEP).report.converged());
    let free = under_a_ceiling();
    let projected = free.project(&Settings { non_stick: true, ..settings }, STEP);
    assert!(projected.report.converged(), "{}", projected.report);

    let speed = |basin: &Basin, y: i32| basin.face(basin.field.velocity, 1, [12, y, 12]);
    println!("{} and {} m/s under the ceiling", speed(&stuck, 15), speed(&free, 15));
    // What sticks is held by air from below: the middle of the block is far behind.
    assert!(speed(&stuck, 15).abs() < 0.5 * G * STEP);
    // What does not falls as a stone does, also right at the ceiling.
    for y in [11, 13, 15, 16] {
        assert!((speed(&free, y) + G * STEP).abs() < 1e-3 * G * STEP, "{y}: {}", speed(&free, y));
    }
    let wet = free.wet();
    assert!(wet.iter().all(|at| free.value(free.field.pressure, *at).abs() < 1e-2));
}

#[test]
fn water_that_rests_on_a_floor_rests_there_without_sticking() {
    let basin = Basin::new(0.125, [0; 3], [2; 3]);
    basin.wall(
        |at| (at - DVec3::splat(0.375)).min_element().min(1.625 - at.x).min(1.625 - at.z),
        |_| DVec3::ZERO,
    );
    basin.pour(|at| at.y - 1.3);
    basin.fill_mac(basin.field.velocity, |axis, _| if axis == 1 { -G * STEP } else { 0.0 });
    let settings = Settings { tolerance: 1e-9, non_stick: true, ..Settings::default() };
    let projected = basin.project(&settings, STEP);
    assert!(projected.report.converged(), "{}", projected.report);
    assert!(basin.largest_speed() < 1e-5, "{}", basin.largest_speed());
}
