//! Motions go through their keys, and their velocity is the derivative of their pose.

use undine_core::glam::{DQuat, DVec3};
use undine_geometry::motion::{Interpolation, Key};
use undine_geometry::random::unit;
use undine_geometry::{Collider, ColliderStep, Course, Motion, Pose, Shape, Solid, Twist};

fn vector(seed: u64, number: u64, half: f64) -> DVec3 {
    let [x, y, z] = [0, 1, 2].map(|k| (2.0 * unit(seed, 3 * number + k) - 1.0) * half);
    DVec3::new(x, y, z)
}

fn keys(case: u64) -> Vec<Key> {
    let mut time = -1.0;
    (0..2 + case % 6)
        .map(|i| {
            time += 0.05 + unit(case, 100 + i);
            let rotation = DQuat::from_scaled_axis(vector(case, i, 4.0));
            // Either sign of a quaternion is the same rotation.
            let rotation = if i % 2 == 0 { rotation } else { -rotation };
            Key { time, pose: Pose { rotation, translation: vector(case, 50 + i, 3.0) } }
        })
        .collect()
}

fn angle_between(a: &Pose, b: &Pose) -> f64 {
    2.0 * a.rotation.dot(b.rotation).abs().min(1.0).acos()
}

fn apart(a: &Pose, b: &Pose) -> f64 {
    (a.matrix() - b.matrix()).to_cols_array().iter().fold(0.0_f64, |most, x| most.max(x.abs()))
        + a.translation.distance(b.translation)
}

/// The derivative of a motion by differences.
fn by_differences(motion: &Motion, time: f64) -> Twist {
    let h = 1e-6;
    let (before, after) = (motion.pose(time - h), motion.pose(time + h));
    let turn = after.rotation * before.rotation.inverse();
    let turn = if turn.w < 0.0 { -turn } else { turn };
    Twist {
        linear: (after.translation - before.translation) / (2.0 * h),
        angular: DVec3::new(turn.x, turn.y, turn.z) * 2.0 / (2.0 * h),
    }
}

#[test]
fn a_motion_goes_through_its_keys_and_rests_beyond_them() {
    for case in 0..300 {
        let keys = keys(case);
        for how in [Interpolation::Hold, Interpolation::Linear, Interpolation::Cubic] {
            let motion = Motion::keyed(keys.clone(), how).unwrap();
            for key in &keys {
                assert!(apart(&motion.pose(key.time), &key.pose) < 1e-12);
            }
            let (first, last) = (&keys[0], &keys[keys.len() - 1]);
            for (time, key) in
                [(first.time - 1.0, first), (last.time + 1e9, last), (f64::INFINITY, last)]
            {
                assert!(apart(&motion.pose(time), &key.pose) < 1e-12);
                assert_eq!(motion.twist(time), Twist::default());
            }
        }
    }
}

#[test]
fn the_twist_is_the_derivative_of_the_pose() {
    let mut motions = vec![Motion::steady(
        keys(3)[0].pose,
        Twist { linear: DVec3::X, angular: vector(1, 2, 9.0) },
    )];
    for case in 0..300 {
        motions.extend(
            [Interpolation::Hold, Interpolation::Linear, Interpolation::Cubic]
                .map(|how| Motion::keyed(keys(case), how)),
        );
    }
    for (number, motion) in motions.into_iter().enumerate() {
        let motion = motion.unwrap();
        let times: Vec<f64> = keys(number as u64 / 3).iter().map(|key| key.time).collect();
        for i in 0..60 {
            let time = 8.0 * unit(number as u64, i) - 2.0;
            if times.iter().any(|key| (key - time).abs() < 1e-5) {
                continue;
            }
            let (found, wanted) = (motion.twist(time), by_differences(&motion, time));
            let scale = 1.0 + found.linear.length() + found.angular.length();
            assert!(found.linear.distance(wanted.linear) < 1e-6 * scale, "{found:?} {wanted:?}");
            assert!(
                found.angular.distance(wanted.angular) < 1e-6 * scale * scale,
                "{found:?} {wanted:?}"
            );
        }
    }
}

#[test]
fn a_cubic_motion_has_no_jump_of_velocity_at_its_keys() {
    for case in 0..300 {
        let keys = keys(case);
        let motion = Motion::keyed(keys.clone(), Interpolation::Cubic).unwrap();
        for key in &keys[1..keys.len() - 1] {
            let (before, after) = (motion.twist(key.time - 1e-9), motion.twist(key.time + 1e-9));
            let scale = 1.0 + after.linear.length() + after.angular.length().powi(2);
            assert!(before.linear.distance(after.linear) < 1e-5 * scale);
            assert!(before.angular.distance(after.angular) < 1e-5 * scale, "{before:?} {after:?}");
        }
    }
}

#[test]
fn a_cubic_motion_through_the_keys_of_a_steady_one_is_that() {
    let twist = Twist { linear: DVec3::new(1.0, 2.0, -0.5), angular: DVec3::new(0.3, -0.9, 0.4) };
    let steady = Motion::steady(Pose::at(DVec3::X), twist).unwrap();
    let at = |time: f64| Key { time, pose: steady.pose(time) };
    let keys = [0.0, 0.7, 1.0, 2.9].map(at).to_vec();
    for how in [Interpolation::Linear, Interpolation::Cubic] {
        let motion = Motion::keyed(keys.clone(), how).unwrap();
        for i in 0..100 {
            let time = 2.9 * unit(5, i);
            assert!(apart(&motion.pose(time), &steady.pose(time)) < 1e-12);
            let found = motion.twist(time);
            assert!(found.linear.distance(twist.linear) < 1e-12);
            assert!(found.angular.distance(twist.angular) < 1e-12);
        }
        let turned = twist.angular.length();
        assert!((motion.swept_angle(0.5, 2.0) - 1.5 * turned).abs() < 1e-12);
        assert!((motion.swept_angle(-5.0, 50.0) - 2.9 * turned).abs() < 1e-12);
        assert!(
            (motion.swept_length(0.5, 2.0, DVec3::ZERO) - 1.5 * twist.linear.length()).abs()
                < 1e-12
        );
        assert_eq!(motion.swept_angle(2.0, 0.5), 0.0);
    }
    assert!((steady.swept_angle(-1.0, 1.0) - 2.0 * twist.angular.length()).abs() < 1e-12);
}

#[test]
fn the_swept_angle_is_the_sum_of_many_small_turns() {
    for case in 0..50 {
        let keys = keys(case);
        let motion = Motion::keyed(keys.clone(), Interpolation::Cubic).unwrap();
        let (from, to) = (keys[0].time, keys[keys.len() - 1].time);
        let steps = 20_000;
        let time = |i: u32| from + (to - from) * f64::from(i) / f64::from(steps);
        let mut swept = 0.0;
        let mut before = motion.pose(from);
        for i in 1..=steps {
            let after = motion.pose(time(i));
            let turn = before.rotation.inverse() * after.rotation;
            swept += 2.0 * DVec3::new(turn.x, turn.y, turn.z).length().asin();
            before = after;
        }
        let found = motion.swept_angle(from, to);
        assert!((found - swept).abs() < 1e-3 * (1.0 + swept), "{found} {swept}");
    }
}

#[test]
fn a_linear_motion_turns_by_the_shorter_way() {
    let turn = |angle: f64| Pose { rotation: DQuat::from_rotation_z(angle), ..Pose::IDENTITY };
    for (angle, way) in [(3.0, 3.0), (3.3, std::f64::consts::TAU - 3.3), (1e-9, 1e-9), (0.0, 0.0)] {
        let keys = vec![Key { time: 0.0, pose: turn(0.0) }, Key { time: 1.0, pose: turn(angle) }];
        let motion = Motion::keyed(keys, Interpolation::Linear).unwrap();
        assert!((motion.swept_angle(0.0, 1.0) - way).abs() < 1e-12);
        assert!((angle_between(&motion.pose(0.5), &turn(0.0)) - 0.5 * way).abs() < 1e-7);
    }
}

#[test]
fn what_is_no_motion_is_refused() {
    let key = |time: f64| Key { time, pose: Pose::IDENTITY };
    for how in [Interpolation::Hold, Interpolation::Linear, Interpolation::Cubic] {
        assert!(Motion::keyed(vec![], how).is_err());
        for bad in [
            vec![key(1.0), key(1.0)],
            vec![key(1.0), key(0.5)],
            vec![key(f64::NAN)],
            vec![key(f64::INFINITY)],
        ] {
            let error = Motion::keyed(bad, how).unwrap_err().to_string();
            assert!(error.contains("later than"), "{error}");
        }
        let lost = Pose::at(DVec3::new(0.0, f64::NAN, 0.0));
        assert!(Motion::keyed(vec![Key { time: 0.0, pose: lost }], how).is_err());
        let alone = Motion::keyed(vec![key(1.0)], how).unwrap();
        assert!(alone.is_still() && alone.pose(7.0) == Pose::IDENTITY);
    }
    let far = vec![key(0.0), Key { time: 1e-300, pose: Pose::at(DVec3::X * 1e100) }];
    assert!(Motion::keyed(far, Interpolation::Cubic).is_err());
    let unturned = Pose { rotation: DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0), ..Pose::IDENTITY };
    assert!(Motion::still(unturned).is_err());
    let wild = Twist { linear: DVec3::INFINITY, angular: DVec3::ZERO };
    assert!(Motion::steady(Pose::IDENTITY, wild).is_err());
}

#[test]
fn the_surface_of_a_moving_shape_moves_as_its_points_do() {
    let shape = Shape::cuboid(DVec3::new(0.5, 0.3, 0.8)).unwrap();
    for case in 0..100 {
        let motion = Motion::keyed(keys(case), Interpolation::Cubic).unwrap();
        let collider = Collider::solid(shape.clone()).with_motion(motion.clone());
        let time = keys(case)[0].time + 0.04;
        let now = collider.during(time, time).unwrap();
        let at = vector(case, 7, 4.0);
        let (nearest, velocity) = (now.nearest(at), now.velocity(at));
        assert!(now.distance(nearest.point).abs() < 1e-12 && nearest.distance == now.distance(at));
        // The same point of the shape a little later and earlier.
        let own = motion.pose(time).to_local(nearest.point);
        let h = 1e-6;
        let [before, after] = [-h, h].map(|dt| motion.pose(time + dt).to_world(own));
        let wanted = (after - before) / (2.0 * h);
        assert!(velocity.distance(wanted) < 1e-5 * (1.0 + wanted.length()), "{velocity} {wanted}");
        let bounds = now.bounds().unwrap();
        assert!(
            nearest.point.cmpge(bounds.min - 1e-9).all()
                && nearest.point.cmple(bounds.max + 1e-9).all()
        );
    }
}

/// Round a circle about z, turning with it, and resting before time 0.
#[derive(Debug)]
struct Carousel;

impl Course for Carousel {
    fn pose(&self, time: f64) -> Pose {
        let rotation = DQuat::from_rotation_z(2.0 * time.max(0.0));
        Pose { rotation, translation: rotation * DVec3::X }
    }

    fn twist(&self, time: f64) -> Twist {
        let angular = if time < 0.0 { DVec3::ZERO } else { 2.0 * DVec3::Z };
        Twist { linear: angular.cross(self.pose(time).translation), angular }
    }

    fn twist_before(&self, time: f64) -> Twist {
        if time <= 0.0 { Twist::default() } else { self.twist(time) }
    }

    fn turns(&self, from: f64, to: f64) -> Vec<f64> {
        [0.0].into_iter().filter(|&time| from < time && time < to).collect()
    }
}

#[test]
fn a_course_of_its_own_moves_as_it_says() {
    let motion = Motion::course(std::sync::Arc::new(Carousel));
    let differences = by_differences(&motion, 0.7);
    assert!(differences.linear.distance(motion.twist(0.7).linear) < 1e-8);
    assert!((motion.swept_angle(-1.0, 1.5) - 3.0).abs() < 1e-12);
    assert!((motion.swept_length(-1.0, 1.5, DVec3::ZERO) - 3.0).abs() < 1e-12);
    assert_eq!(motion.turns(-1.0, 1.0).collect::<Vec<_>>(), [0.0]);
    assert_eq!(motion.twist_before(0.0), Twist::default());
    assert!(!motion.is_still() && motion == motion.clone());
    // A ball on the carousel is where the carousel says.
    let ball = Collider::solid(Shape::sphere(0.1).unwrap()).with_motion(motion.clone());
    let step = ball.during(0.0, 0.5).unwrap();
    assert!(step.distance(motion.pose(0.5).translation) < -0.0999);
}

/// A step of a collider whose own coordinates begin elsewhere is that of one whose do not: what turns about a centre near by does so, however far
/// away the origin of its coordinates is.
#[test]
fn where_the_coordinates_of_a_collider_begin_does_not_matter() {
    let plate = Shape::cuboid(DVec3::new(0.5, 0.02, 0.3)).unwrap();
    let key = |time: f64, angle: f64, x: f64| {
        let pose = Pose { rotation: DQuat::from_rotation_z(angle), translation: DVec3::X * x };
        Key { time, pose }
    };
    let keys = vec![key(0.0, 0.2, 0.0), key(1.0, 1.0, 0.1)];
    let motion = Motion::keyed(keys, Interpolation::Linear).unwrap();
    let near = Collider::solid(plate.clone()).with_motion(motion.clone());
    let from = DVec3::new(10_000.0, -3_000.0, 2_048.0);
    let far = Collider::solid(plate.moved(&Pose::at(from)).unwrap());
    let far = far.with_motion(motion.about(from));
    let (near, far) = (near.during(0.0, 1.0).unwrap(), far.during(0.0, 1.0).unwrap());
    let apart = |one: DVec3, other: DVec3| one.distance(other) < 1e-9;
    let (reach, other) = (near.reach().unwrap(), far.reach().unwrap());
    assert!(apart(reach.min, other.min) && apart(reach.max, other.max));
    let mut touched = 0;
    for case in 0..200 {
        let (at, to) = (vector(case, 1, 0.8), vector(case, 2, 0.8));
        assert!((near.distance(at) - far.distance(at)).abs() < 1e-9);
        assert!(apart(near.velocity(at), far.velocity(at)));
        assert!((near.way_near(at, 0.1) - far.way_near(at, 0.1)).abs() < 1e-9);
        assert!(apart(near.moved(at), far.moved(at)) && apart(near.takes(at), far.takes(at)));
        let touch = |on: &ColliderStep<'_>| on.first_impact(0.0, at, to, 0.01).unwrap();
        let (one, other) = (touch(&near), touch(&far));
        assert_eq!(one.is_some(), other.is_some());
        if let (Some(one), Some(other)) = (one, other) {
            touched += 1;
            assert!((one.time - other.time).abs() < 1e-6);
            assert!(one.position.distance(other.position) < 1e-6);
            assert!(one.velocity.distance(other.velocity) < 1e-6);
            assert!(one.carried.distance(other.carried) < 1e-6);
        }
    }
    assert!(touched > 20, "{touched}");
}
