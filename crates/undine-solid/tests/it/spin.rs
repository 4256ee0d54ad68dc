//! Rigid bodies that nothing turns: tops, middle axes that flip, and what must not change.

use std::f64::consts::{FRAC_PI_2, TAU};
use undine_core::glam::{DQuat, DVec3};
use undine_solid::rigid::{Inertia, spin};

fn body(moments: DVec3) -> Inertia {
    // Axes that are not the frame's own, so that nothing is right by accident.
    let axes = DQuat::from_scaled_axis(DVec3::new(0.4, -1.2, 0.9));
    Inertia::new(1.0, DVec3::ZERO, moments, axes).unwrap()
}

/// The momentum in the principal axes.
fn own(body: &Inertia, orientation: DQuat, momentum: DVec3) -> DVec3 {
    (orientation * body.axes()).inverse() * momentum
}

/// An orientation in which the world's momentum has this direction in the principal axes.
fn facing(body: &Inertia, momentum: DVec3, own: DVec3) -> DQuat {
    DQuat::from_rotation_arc(own.normalize(), momentum.normalize()) * body.axes().inverse()
}

/// K(k) by the arithmetic-geometric mean, from k'² = 1 − k².
fn quarter_period(complement: f64) -> f64 {
    let (mut a, mut g) = (1.0_f64, complement.sqrt());
    for _ in 0..40 {
        (a, g) = (0.5 * (a + g), (a * g).sqrt());
    }
    FRAC_PI_2 / a
}

/// The period [s] of the momentum's path in the body (Landau and Lifshitz, *Mechanics*, §37): 4 K(k) over a rate.
pub fn period(moments: DVec3, own: DVec3) -> f64 {
    let energy = 0.5 * (own * own / moments).element_sum();
    let square = own.length_squared();
    let [mut a, b, mut c] = moments.to_array();
    if square < 2.0 * energy * b {
        (a, c) = (c, a);
    }
    let rate = ((c - b) * (square - 2.0 * energy * a) / (a * b * c)).sqrt();
    // 1 − k² = (c − a)(L² − 2Eb) / ((c − b)(L² − 2Ea)), with L² − 2Eb = Σ Π_i² (1 − b/I_i) so that nothing cancels.
    let excess = own.x * own.x * (1.0 - b / moments.x) + own.z * own.z * (1.0 - b / moments.z);
    let complement = (c - a) * excess / ((c - b) * (square - 2.0 * energy * a));
    4.0 * quarter_period(complement) / rate
}

/// The top's axis precesses about L at |L|/I₁, and the body turns about its axis at Π₃(1/I₃ − 1/I₁) besides.
#[test]
fn a_symmetric_top_precesses_exactly() {
    for (moments, axis) in [
        (DVec3::new(2.0, 2.0, 3.0), DVec3::Z),
        (DVec3::new(0.5, 2.0, 2.0), DVec3::X),
        (DVec3::new(1e-6, 1.0, 1.0), DVec3::X),
    ] {
        let body = body(moments);
        let momentum = DVec3::new(1.0, -2.0, 0.5) * 3.0;
        let inside = DVec3::new(0.6, 0.5, 0.8).normalize() * momentum.length();
        let start = facing(&body, momentum, inside);
        let across = moments.y;
        let along = if axis == DVec3::Z { moments.z } else { moments.x };
        for time in [1e-3, 0.7, 40.0] {
            let found = spin(&body, start, momentum, time);
            let precession = DQuat::from_scaled_axis(momentum * (time / across));
            let rate = inside.dot(axis) * (along.recip() - across.recip());
            let own_turn = DQuat::from_axis_angle(body.axes() * axis, (rate * time) % TAU);
            let wanted = precession * start * own_turn;
            // An angle of a million turns is known to that many roundings.
            let tolerance = 1e-13 + 1e-15 * (rate * time).abs();
            assert!(1.0 - found.dot(wanted).abs() < tolerance, "{moments}, {time} s");
        }
    }
}

#[test]
fn a_top_on_its_axis_only_turns_about_it() {
    let body = body(DVec3::new(1.0, 2.0, 2.5));
    for axis in 0..3 {
        let inside = DVec3::AXES[axis];
        let momentum = DVec3::Y * 4.0;
        let start = facing(&body, momentum, inside);
        let found = spin(&body, start, momentum, 2.0);
        let wanted = DQuat::from_rotation_y(2.0 * 4.0 / body.moments()[axis]) * start;
        // On the middle axis too: it is unstable, but two seconds let a rounding grow by e⁴ at most.
        assert!(1.0 - found.dot(wanted).abs() < 1e-12, "axis {axis}");
    }
}

/// The middle axis flips (Dzhanibekov's nut), and keeps flipping with the period of the exact solution.
#[test]
fn the_middle_axis_flips_with_the_period_of_the_elliptic_functions() {
    let moments = DVec3::new(1.0, 2.0, 2.5);
    let body = body(moments);
    for off in [0.3, 1e-2, 1e-4] {
        let inside = DVec3::new(off, 1.0, 0.5 * off).normalize() * 7.0;
        let momentum = DVec3::new(2.0, 3.0, 6.0);
        let wanted = period(moments, inside);
        let mut orientation = facing(&body, momentum, inside);
        // Upward passages of the middle component through zero, found between steps by a straight line.
        let step = 0.004;
        let (mut before, mut passages) = (own(&body, orientation, momentum).y, Vec::new());
        for n in 1..=(6.5 * wanted / step) as usize {
            orientation = spin(&body, orientation, momentum, step);
            let now = own(&body, orientation, momentum).y;
            if before < 0.0 && now >= 0.0 {
                passages.push((n as f64 - now / (now - before)) * step);
            }
            before = now;
        }
        let found = (passages[passages.len() - 1] - passages[0]) / (passages.len() - 1) as f64;
        assert!(passages.len() >= 5, "{passages:?}");
        assert!((found / wanted - 1.0).abs() < 1e-5, "off by {off}: {found} s, wanted {wanted} s");
    }
}

#[test]
fn it_is_of_fourth_order() {
    // Steps so short that each is one inner step, so long that roundings are not seen.
    let body = body(DVec3::new(1.0, 2.0, 2.9));
    let momentum = DVec3::new(1.0, 0.3, -0.2);
    let start = facing(&body, momentum, DVec3::new(0.5, 1.0, 0.4));
    let run = |steps: u32| {
        let step = 24.0 / f64::from(steps);
        (0..steps).fold(start, |turned, _| spin(&body, turned, momentum, step))
    };
    let exact = run(3000);
    // The angle between two orientations, which the scalar part would know to half the digits only.
    let error = |steps| 2.0 * (run(steps).inverse() * exact).xyz().length();
    let errors = [60, 120, 240].map(error);
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((3.7..4.5).contains(&order), "order {order} of {errors:?}");
    }
}

/// Ten thousand flips: the momentum is not integrated, and the energy's error neither grows nor is large.
#[test]
fn energy_does_not_drift_over_ten_thousand_flips() {
    let moments = DVec3::new(1.0, 2.0, 2.5);
    let body = body(moments);
    let momentum = DVec3::new(2.0, 3.0, 6.0);
    let inside = DVec3::new(1e-2, 1.0, 5e-3).normalize() * 7.0;
    let mut orientation = facing(&body, momentum, inside);
    let energy = body.spin_energy(orientation, momentum);
    // Two flips in a period.
    let time = 5_000.0 * period(moments, inside);
    let frames = (time * 24.0) as u32;
    let (mut worst, mut flips, mut side) = (0.0_f64, 0, 1.0_f64);
    for _ in 0..frames {
        orientation = spin(&body, orientation, momentum, 1.0 / 24.0);
        let middle = own(&body, orientation, momentum).y;
        if middle * side < -1.0 {
            (flips, side) = (flips + 1, -side);
        }
        worst = worst.max((body.spin_energy(orientation, momentum) / energy - 1.0).abs());
    }
    assert!(worst < 1e-6, "energy is off by {worst}");
    assert!((9_900..=10_100).contains(&flips), "{flips} flips");
    assert!((orientation.length() - 1.0).abs() < 1e-15);
    // World momentum from the angular velocity is what it was.
    let omega = body.angular_velocity(orientation, momentum);
    assert!(body.angular_momentum(orientation, omega).abs_diff_eq(momentum, 1e-13));
}

#[test]
fn spheres_rods_discs_and_points_spin_without_trouble() {
    let momentum = DVec3::new(0.3, -1.0, 2.0);
    let start = DQuat::from_scaled_axis(DVec3::new(0.1, 0.2, 0.3));
    let sphere = spin(&body(DVec3::splat(0.4)), start, momentum, 1.7);
    let wanted = DQuat::from_scaled_axis(momentum * (1.7 / 0.4)) * start;
    assert!(1.0 - sphere.dot(wanted).abs() < 1e-14);

    let point = spin(&body(DVec3::ZERO), start, momentum, 1.7);
    assert!(1.0 - point.dot(start).abs() < 1e-15);

    // A rod has no momentum along itself; across, it turns evenly about the momentum.
    let rod = body(DVec3::new(0.0, 0.5, 0.5));
    let turned = facing(&rod, momentum, DVec3::Z);
    let found = spin(&rod, turned, momentum, 1.7);
    let wanted = DQuat::from_scaled_axis(momentum * (1.7 / 0.5)) * turned;
    assert!(1.0 - found.dot(wanted).abs() < 1e-14);
    // Momentum that a rod cannot have does no harm.
    assert!(spin(&rod, start, momentum, 1.7).is_finite());

    for moments in [DVec3::new(1.0, 1.0, 2.0), DVec3::new(1.0, 1.5, 2.5), DVec3::splat(1e-300)] {
        assert!(spin(&body(moments), start, momentum * moments.x, 1.7).is_finite(), "{moments}");
    }
}

#[test]
fn huge_spins_keep_their_momentum_and_energy() {
    let moments = DVec3::new(1.0, 2.0, 2.5);
    let body = body(moments);
    let start = DQuat::from_scaled_axis(DVec3::new(0.1, 0.2, 0.3));
    for size in [1e2, 1e3, 1e4] {
        let momentum = DVec3::new(0.3, -1.0, 2.0) * size;
        let energy = body.spin_energy(start, momentum);
        let mut orientation = start;
        for _ in 0..50 {
            orientation = spin(&body, orientation, momentum, 1.0 / 24.0);
        }
        let found = body.spin_energy(orientation, momentum);
        assert!((found / energy - 1.0).abs() < 1e-6, "|L| = {size}: {found} of {energy} J");
    }
    // More than the inner steps can follow: bounded work, a rotation, and an energy that this momentum may have.
    for size in [1e9, 1e100] {
        let momentum = DVec3::new(0.3, -1.0, 2.0) * size;
        let found = spin(&body, start, momentum, 1.0 / 24.0);
        assert!((found.length() - 1.0).abs() < 1e-12, "{found}");
        let energy = 2.0 * body.spin_energy(found, momentum) / momentum.length_squared();
        assert!((1.0 / moments.z - 1e-9..=1.0 / moments.x + 1e-9).contains(&energy));
    }
}

#[test]
fn going_back_in_time_undoes_it() {
    let body = body(DVec3::new(1.0, 2.0, 2.5));
    let momentum = DVec3::new(2.0, 3.0, 6.0);
    let start = facing(&body, momentum, DVec3::new(0.1, 1.0, 0.3));
    let there = spin(&body, start, momentum, 0.3);
    let back = spin(&body, there, momentum, -0.3);
    assert!(1.0 - back.dot(start).abs() < 1e-13);
    let still = spin(&body, start, DVec3::ZERO, 1.0);
    assert!(1.0 - still.dot(start).abs() < 1e-15);
}
