//! Colliders: every kind answers alike, moves as it is told, and lets nothing through.

use crate::solids::domain;
use std::f64::consts::{PI, TAU};
use undine_core::ChannelSpec;
use undine_core::glam::{DQuat, DVec3, Vec3};
use undine_core::volume::VoxelShape;
use undine_geometry::collider::{Collider, sweep};
use undine_geometry::levelset::{Extent, LevelSet};
use undine_geometry::motion::{Interpolation, Key};
use undine_geometry::{
    Deformation, Inside, MeshSolid, Motion, Pose, Ray, Shape, Solid, Triangles, Twist, gallery,
    random,
};

fn point(seed: u64, n: u64, half: f64) -> DVec3 {
    DVec3::from_array([0, 1, 2].map(|k| half * (2.0 * random::unit(3 * seed + k, n) - 1.0)))
}

/// A ball of radius 1 m as a shape, as a mesh and as a level set in voxels of 4 cm.
fn balls() -> [(&'static str, Collider, f64); 3] {
    let shape = Shape::sphere(1.0).unwrap();
    let set = LevelSet::of_solid("ball", &domain(0.04), &shape, Extent::NARROW).unwrap();
    let mesh = MeshSolid::new(gallery::sphere(1.0, 5), Inside::default()).unwrap();
    [
        ("shape", Collider::solid(shape), 1e-9),
        ("mesh", Collider::mesh(mesh), 2e-3),
        ("level set", Collider::level_set(set, None).unwrap(), 2e-3),
    ]
}

#[test]
fn a_ball_answers_alike_whatever_it_is_made_of() {
    let spin = Twist { linear: DVec3::new(1.0, 0.0, 0.0), angular: DVec3::new(0.0, 0.0, 2.0) };
    let pose =
        Pose { rotation: DQuat::from_rotation_y(0.4), translation: DVec3::new(0.0, 3.0, 0.0) };
    let motion = Motion::steady(pose, spin).unwrap();
    for (name, collider, tolerance) in balls() {
        let collider = collider.with_motion(motion.clone()).with_friction(0.25).unwrap();
        let step = collider.during(0.0, 0.5).unwrap();
        assert_eq!(step.friction(), 0.25);
        let centre = DVec3::new(0.5, 3.0, 0.0);
        for n in 0..2000 {
            let direction = point(1, n, 1.0).normalize();
            let distance = 0.12 * random::unit(9, n) - 0.06;
            let at = centre + (1.0 + distance) * direction;
            assert!((step.distance(at) - distance).abs() < tolerance, "{name} at {at}");
            let near = step.nearest(at);
            assert!(near.point.distance(centre + direction) < 0.01 + tolerance, "{name}: {near:?}");
            assert!(step.normal(at).dot(direction) > 0.99, "{name}: {near:?}");
            // The surface moves with the centre and turns about it.
            let wanted = spin.linear + spin.angular.cross(direction);
            assert!(step.velocity(at).distance(wanted) < 0.05, "{name}: {}", step.velocity(at));
        }
    }
}

#[test]
fn a_sphere_stops_before_a_ball_at_its_radius_whatever_the_ball_is_made_of() {
    for (name, collider, tolerance) in balls() {
        let step = collider.during(0.0, 1.0).unwrap();
        let (mut hits, mut misses) = (0, 0);
        for n in 0..3000 {
            let (from, to) = (point(1, n, 3.0), point(2, n, 3.0));
            let radius = 0.02 + 0.05 * random::unit(7, n);
            if from.length() < 1.2 || to.length() < 1.2 {
                continue;
            }
            // The nearest that the way comes to the centre.
            let along = (to - from).normalize();
            let nearest = (-from).dot(along).clamp(0.0, from.distance(to));
            let closest = (from + nearest * along).length();
            match step.first_impact(0.0, from, to, radius).unwrap() {
                Some(impact) => {
                    hits += 1;
                    assert!(closest < 1.0 + 1.011 * radius + tolerance, "{name}: {closest}");
                    let gap = impact.position.length() - 1.0;
                    let wanted = radius..1.011 * radius;
                    assert!(
                        gap > wanted.start - tolerance && gap < wanted.end + tolerance,
                        "{name}: {gap} {radius}"
                    );
                    assert!(
                        impact.normal.dot(impact.position.normalize()) > 0.97,
                        "{name}: {impact:?}"
                    );
                    assert!((from.lerp(to, impact.time) - impact.position).length() < 1e-12);
                }
                None => {
                    misses += 1;
                    assert!(closest > 1.0 + radius - tolerance, "{name}: {closest}");
                }
            }
        }
        assert!(hits > 300 && misses > 300, "{name}: {hits} {misses}");
    }
}

/// A wavy sheet of 6 m × 6 m around the origin, without any thickness to speak of: too wide to be gone around in a step.
fn sheet(quads: u32) -> Triangles {
    let flat = gallery::sheet([6.0, 6.0], [quads, quads]);
    let (positions, triangles) = flat.into_parts();
    let wavy = |at: DVec3| DVec3::new(at.x, at.y, 0.1 * (5.0 * at.x).sin() * (4.0 * at.y).cos());
    Triangles::new(positions.into_iter().map(wavy).collect(), triangles).unwrap()
}

/// For a time, how high places are over the sheet, where it must be positive; `None` beside it.
type Height<'a> = dyn Fn(f64) -> Box<dyn Fn(DVec3) -> Option<f64> + 'a> + 'a;

/// Lets points fly, fall and bounce for a second in so many steps; none may ever get below the sheet. Returns how often they touched it.
fn rain(collider: &Collider, steps: usize, radius: f64, height: &Height<'_>) -> usize {
    let duration = 1.0 / steps as f64;
    let begin = |n: u64| {
        let place = point(1, n, 0.8);
        (DVec3::new(place.x, place.y, 0.6 + 0.2 * place.z), point(2, n, 3.0) - 4.0 * DVec3::Z)
    };
    let mut points: Vec<Option<(DVec3, DVec3)>> = (0..300).map(|n| Some(begin(n))).collect();
    let mut touches = 0;
    for step in 0..steps {
        let [start, end] = [step, step + 1].map(|n| n as f64 * duration);
        let during = [collider.during(start, end).unwrap()];
        let height = height(end);
        for (n, slot) in points.iter_mut().enumerate() {
            let Some((at, velocity)) = *slot else { continue };
            let swept = sweep(&during, at, at + duration * velocity, radius).unwrap();
            touches += swept.impacts;
            let mut velocity = velocity - 3.0 * duration * DVec3::Z;
            if let Some((_, impact)) = swept.last {
                let inwards = (velocity - impact.velocity).dot(impact.normal).min(0.0);
                velocity -= 1.3 * inwards * impact.normal;
            }
            // Who leaves the sheet sideways may come back from below: it is not looked at any more.
            *slot = height(swept.position).map(|height| {
                assert!(
                    height > 0.0,
                    "point {n} is {height} below after step {step}, at {}",
                    swept.position
                );
                (swept.position, velocity)
            });
        }
    }
    let left = points.iter().flatten().count();
    assert!(left > 20, "{left} points are left over the sheet");
    touches
}

/// The height over a mesh, along z, well within the sheet.
fn height_over(mesh: &MeshSolid, at: DVec3) -> Option<f64> {
    let within = at.x.abs() < 1.8 && at.y.abs() < 1.8;
    let down = Ray::new(DVec3::new(at.x, at.y, 10.0), -DVec3::Z);
    within.then(|| mesh.bvh().first_hit(&down).map(|hit| at.z - (10.0 - hit.t))).flatten()
}

fn solid(mesh: Triangles, thickness: f64) -> MeshSolid {
    MeshSolid::new(mesh, Inside::Thickness(thickness)).unwrap()
}

#[test]
fn nothing_gets_through_a_sheet_at_rest() {
    let mesh = solid(sheet(60), 1e-9);
    let touches =
        rain(&Collider::mesh(mesh.clone()), 60, 1e-3, &|_| Box::new(|at| height_over(&mesh, at)));
    assert!(touches > 200, "{touches}");
}

#[test]
fn nothing_gets_through_a_sheet_that_shakes_and_tilts() {
    let mesh = solid(sheet(40), 1e-9);
    let key = |n: u32| {
        let phase = f64::from(n) * 2.1;
        let tilt = DQuat::from_axis_angle(DVec3::new(1.0, 0.4, 0.0).normalize(), 0.5 * phase.sin());
        let pose = Pose { rotation: tilt, translation: 0.25 * (1.7 * phase).cos() * DVec3::Z };
        Key { time: f64::from(n) * 0.11, pose }
    };
    let motion = Motion::keyed((0..12).map(key).collect(), Interpolation::Cubic).unwrap();
    for steps in [7, 30] {
        let collider = Collider::mesh(mesh.clone()).with_motion(motion.clone());
        let touches = rain(&collider, steps, 1e-3, &|time| {
            let pose = motion.pose(time);
            let mesh = &mesh;
            Box::new(move |at| height_over(mesh, pose.to_local(at)))
        });
        assert!(touches > 100, "{touches}");
    }
}

#[test]
fn nothing_gets_through_a_sheet_that_deforms() {
    let flat = sheet(40);
    let frames = (0..=8).map(|n| {
        let time = f64::from(n) / 8.0;
        let wave = |at: &DVec3| {
            let lift = 0.3 * (6.0 * time + 3.0 * at.x).sin() * (2.0 * at.y + 9.0 * time).cos();
            *at + lift * DVec3::Z + 0.1 * (7.0 * time).sin() * DVec3::X
        };
        (time, flat.positions().iter().map(wave).collect())
    });
    let deformation = Deformation::new(frames.collect()).unwrap();
    let rest = solid(flat, 1e-9);
    for steps in [5, 24] {
        let collider = Collider::deforming(rest.clone(), deformation.clone()).unwrap();
        let touches = rain(&collider, steps, 1e-3, &|time| {
            let mut mesh = rest.clone();
            mesh.refit(deformation.positions(time)).unwrap();
            Box::new(move |at| height_over(&mesh, at))
        });
        assert!(touches > 100, "{touches}");
    }
}

#[test]
fn nothing_gets_through_a_solid_plate_thinner_than_any_voxel() {
    let plate = Shape::cuboid(DVec3::new(1.0, 1.0, 1e-7)).unwrap();
    let collider = Collider::solid(plate);
    let touches = rain(&collider, 60, 1e-3, &|_| {
        Box::new(|at: DVec3| (at.x.abs() < 0.9 && at.y.abs() < 0.9).then_some(at.z))
    });
    assert!(touches > 200, "{touches}");
}

#[test]
fn a_sheet_that_falls_on_what_rests_takes_it_along() {
    // Down by a metre a second, for a second, onto points at rest; they must end up below it.
    let mesh = solid(gallery::sheet([2.0, 2.0], [3, 3]), 1e-6);
    let fall = Twist { linear: -DVec3::Z, angular: DVec3::ZERO };
    let collider = Collider::mesh(mesh).with_motion(Motion::steady(Pose::IDENTITY, fall).unwrap());
    for steps in [1, 10] {
        let mut at = DVec3::new(0.2, 0.3, -0.35);
        for step in 0..steps {
            let [start, end] = [step, step + 1].map(|n| f64::from(n) / f64::from(steps));
            let during = collider.during(start, end).unwrap();
            let swept = sweep(&[during], at, at, 0.01).unwrap();
            if let Some((_, impact)) = swept.last {
                assert!(impact.normal.z < -0.999 && impact.velocity.distance(-DVec3::Z) < 1e-12);
            }
            at = swept.position;
        }
        assert!(
            at.z < -1.0 - 0.004 && at.z > -1.02 && at.truncate().distance([0.2, 0.3].into()) < 1e-9,
            "{at}"
        );
    }
}

#[test]
fn friction_holds_what_is_pressed_and_lets_the_rest_slide() {
    let floor = |friction: f64| {
        Collider::solid(Shape::half_space(DVec3::Z, 0.0).unwrap()).with_friction(friction).unwrap()
    };
    // From 1 m above, a metre on for each metre down; at the floor a metre of each is left.
    let (from, to) = (DVec3::new(0.0, 0.0, 1.01), DVec3::new(2.0, 0.0, -0.99));
    for (friction, wanted) in [(0.0, 2.0), (0.25, 1.75), (1.0, 1.0), (5.0, 1.0)] {
        let collider = floor(friction);
        let swept = sweep(&[collider.during(0.0, 1.0).unwrap()], from, to, 0.01).unwrap();
        assert!((swept.position.x - wanted).abs() < 1e-3, "{friction}: {}", swept.position);
        assert!((swept.position.z - 0.01).abs() < 2e-4 && swept.impacts == 1);
    }
}

#[test]
fn in_a_corner_of_several_colliders_a_sphere_comes_to_rest() {
    let walls = [DVec3::X, DVec3::Y, DVec3::Z]
        .map(|normal| Collider::solid(Shape::half_space(normal, 0.0).unwrap()));
    let steps: Vec<_> = walls.iter().map(|wall| wall.during(0.0, 1.0).unwrap()).collect();
    let swept = sweep(&steps, DVec3::splat(0.5), DVec3::new(-3.0, -5.0, -4.0), 0.01).unwrap();
    assert!(
        swept.position.min_element() > 0.0 && swept.position.max_element() < 0.0102,
        "{swept:?}"
    );
    assert!(swept.impacts >= 3);
}

#[test]
fn what_is_inside_gets_out_and_not_deeper() {
    for (name, collider, _) in balls() {
        let step = collider.during(0.0, 1.0).unwrap();
        let (deep, shallow) = (0.93 * DVec3::X, 0.97 * DVec3::X);
        let out = sweep(std::slice::from_ref(&step), deep, 2.0 * DVec3::X, 0.01).unwrap();
        assert_eq!((out.position, out.impacts), (2.0 * DVec3::X, 0), "{name}");
        let stopped = step.first_impact(0.0, shallow, deep, 0.01).unwrap().unwrap();
        assert!(stopped.time == 0.0 && stopped.normal.x > 0.99, "{name}: {stopped:?}");
    }
}

#[test]
fn a_level_set_carries_the_velocities_of_its_channel() {
    let shape = Shape::sphere(1.0).unwrap();
    let mut set = LevelSet::of_solid("ball", &domain(0.1), &shape, Extent::NARROW).unwrap();
    let spec = ChannelSpec::new("velocity", Vec3::ZERO).unit("m/s");
    let velocity = set.volume_mut().add_channel(&spec, VoxelShape::CELLS).unwrap();
    set.volume().column_mut(velocity).unwrap().fill(Vec3::new(1.0, 2.0, 3.0));
    let turned = Pose { rotation: DQuat::from_rotation_z(PI / 2.0), translation: DVec3::ZERO };
    let motion = Motion::steady(turned, Twist { linear: DVec3::Z, angular: DVec3::ZERO }).unwrap();
    let collider = Collider::level_set(set, Some(velocity)).unwrap().with_motion(motion);
    let step = collider.during(0.0, 0.0).unwrap();
    assert!(step.velocity(1.05 * DVec3::X).distance(DVec3::new(-2.0, 1.0, 4.0)) < 1e-6);
    let impact = step.first_impact(0.0, 3.0 * DVec3::X, DVec3::ZERO, 0.05).unwrap().unwrap();
    assert!(impact.velocity.distance(DVec3::new(-2.0, 1.0, 4.0)) < 1e-6, "{impact:?}");
}

#[test]
fn a_fast_turn_is_followed_around_the_bend() {
    // A plank that turns by most of a circle in one step hits a ball on the other side of it.
    let plank = Shape::cuboid(DVec3::new(2.0, 0.02, 0.5)).unwrap();
    let spin = Twist { linear: DVec3::ZERO, angular: 0.4 * TAU * DVec3::Z };
    let collider =
        Collider::solid(plank).with_motion(Motion::steady(Pose::IDENTITY, spin).unwrap());
    let step = collider.during(0.0, 1.0).unwrap();
    let at = DVec3::new(0.0, 1.5, 0.0);
    let impact = step.first_impact(0.0, at, at, 0.05).unwrap().unwrap();
    // After a quarter turn, less what the ball and the plank are thick.
    let angle = impact.time * 0.4 * TAU;
    assert!((angle - (PI / 2.0 - 0.07 / 1.5)).abs() < 5e-3, "{angle}");
    assert!(
        (impact.velocity - DVec3::new(-0.4 * TAU * 1.5, 0.0, 0.0)).length() < 0.2,
        "{impact:?}"
    );
    assert!(impact.normal.x < -0.99, "{impact:?}");
}

#[test]
fn what_cannot_be_swept_is_refused() {
    let collider = Collider::solid(Shape::sphere(1.0).unwrap());
    assert!(collider.during(1.0, 0.0).is_err() && collider.during(0.0, f64::NAN).is_err());
    assert!(collider.clone().with_friction(-0.1).is_err());
    let step = collider.during(0.0, 1.0).unwrap();
    for (from, to, radius) in [
        (DVec3::NAN, DVec3::ZERO, 0.1),
        (DVec3::ZERO, DVec3::INFINITY, 0.1),
        (DVec3::ZERO, DVec3::ZERO, -1.0),
        (DVec3::ZERO, DVec3::ZERO, f64::NAN),
    ] {
        let refused = step.first_impact(0.0, from, to, radius).unwrap_err();
        assert!(refused.to_string().contains("must be finite"), "{refused}");
    }
    let frames = vec![(0.0, vec![DVec3::ZERO; 3])];
    let mesh = solid(gallery::cuboid(DVec3::ONE), 0.1);
    assert!(Collider::deforming(mesh, Deformation::new(frames).unwrap()).is_err());
}

#[test]
fn a_step_that_ends_on_a_key_moves_as_it_did_before_it() {
    let key = |time: f64, x: f64| Key { time, pose: Pose::at(x * DVec3::X) };
    let keys = vec![key(0.0, 0.0), key(1.0, 2.0), key(2.0, -1.0)];
    let motion = Motion::keyed(keys, Interpolation::Linear).unwrap();
    let collider = Collider::solid(Shape::sphere(0.5).unwrap()).with_motion(motion);
    for (start, end, wanted) in
        [(0.5, 1.0, 2.0), (1.0, 1.5, -3.0), (1.5, 2.0, -3.0), (2.0, 3.0, 0.0)]
    {
        let velocity = collider.during(start, end).unwrap().velocity(DVec3::ZERO);
        assert!(velocity.distance(wanted * DVec3::X) < 1e-12, "{start} to {end}: {velocity}");
    }
}

#[test]
fn a_level_set_that_moves_by_its_channel_overtakes_nobody() {
    // At the end of the step the ball is half a metre further on.
    let shape = Shape::sphere(1.0).unwrap().moved(&Pose::at(0.5 * DVec3::X)).unwrap();
    let mut set = LevelSet::of_solid("ball", &domain(0.04), &shape, Extent::NARROW).unwrap();
    let spec = ChannelSpec::new("velocity", Vec3::new(0.5, 0.0, 0.0)).unit("m/s");
    let velocity = set.volume_mut().add_channel(&spec, VoxelShape::CELLS).unwrap();
    let collider = Collider::level_set(set, Some(velocity)).unwrap();
    let step = [collider.during(0.0, 1.0).unwrap()];
    let at = 1.2 * DVec3::X;
    let impact = step[0].first_impact(0.0, at, at, 0.05).unwrap().unwrap();
    assert!((impact.time - 0.3).abs() < 0.02 && impact.normal.x > 0.99, "{impact:?}");
    let swept = sweep(&step, at, at, 0.05).unwrap();
    assert!((swept.position - 1.55 * DVec3::X).length() < 0.01, "{swept:?}");
}

#[test]
fn what_first_touches_a_spinning_mesh_is_what_fine_steps_of_time_find() {
    // A sheet with no inside, which turns by a third of a circle about a slanted axis while things fly through it.
    let spin = Twist { linear: DVec3::new(0.5, 0.0, -1.0), angular: DVec3::new(3.0, 1.0, 7.0) };
    let motion = Motion::steady(Pose::IDENTITY, spin).unwrap();
    let knot = MeshSolid::new(gallery::knot(0.07, 60, 8), Inside::Thickness(1e-4)).unwrap();
    let collider = Collider::mesh(knot.clone()).with_motion(motion.clone());
    let (duration, radius, fine) = (0.25, 0.03, 1000);
    // Straight ways of 0.1 rad: (0.1² · 0.6 m + 2 · 0.1 · 0.1 m) / 8, since a twentieth of the way is gone on each.
    let off = 3.3e-3;
    let during = collider.during(0.0, duration).unwrap();
    let (mut touched, mut passed) = (0, 0);
    for n in 0..150 {
        let (from, to) = (point(1, n, 0.6), point(2, n, 0.6));
        let distance =
            |part: f64| knot.distance(motion.pose(part * duration).to_local(from.lerp(to, part)));
        if distance(0.0) < 2.0 * radius {
            continue;
        }
        let first = during.first_impact(0.0, from, to, radius).unwrap();
        let parts = (0..=fine).map(|n| f64::from(n) / f64::from(fine));
        let near = parts.clone().find(|&part| distance(part) < radius - off);
        match (first, near) {
            (Some(impact), near) => {
                touched += 1;
                assert!(
                    (distance(impact.time) - radius).abs() < off + 0.02 * radius,
                    "{n}: {impact:?}"
                );
                assert!(near.is_none_or(|part| part > impact.time), "{n}: {impact:?} {near:?}");
            }
            (None, Some(part)) => panic!("way {n} touches at {part} and nothing was found"),
            (None, None) => passed += 1,
        }
    }
    assert!(touched > 20 && passed > 20, "{touched} {passed}");
}

/// What a quick look at boxes leaves out cannot be met: whatever is hit may be met, also where it moves and turns.
#[test]
fn whatever_is_hit_may_be_met() {
    let twist = Twist { linear: DVec3::new(2.0, -1.0, 0.5), angular: DVec3::new(3.0, 40.0, -5.0) };
    let bar = || Shape::cuboid(DVec3::new(1.0, 0.05, 0.05)).unwrap();
    let pose = Pose::at(DVec3::new(0.3, 0.0, 0.2));
    let mesh = MeshSolid::new(gallery::sphere(0.4, 2), Inside::default()).unwrap();
    let grown = |by: f64| mesh.bvh().triangles().positions().iter().map(|at| by * *at).collect();
    let breath = vec![(0.0, grown(1.0)), (0.02, grown(3.0)), (0.05, grown(0.5))];
    let breathing = Collider::deforming(mesh.clone(), Deformation::new(breath).unwrap()).unwrap();
    for collider in [
        Collider::solid(bar()).with_motion(Motion::still(pose).unwrap()),
        Collider::solid(bar()).with_motion(Motion::steady(pose, twist).unwrap()),
        breathing.clone(),
        breathing.with_motion(Motion::steady(pose, twist).unwrap()),
    ] {
        let step = collider.during(0.0, 0.05).unwrap();
        let moment = |k: i32| collider.during(5e-4 * f64::from(k), 5e-4 * f64::from(k)).unwrap();
        let moments: Vec<_> = (0..=100).map(moment).collect();
        let (mut hits, mut passed) = (0, 0);
        for n in 0..500 {
            let place = |k: u64| {
                let unit = |axis: u64| undine_geometry::random::unit(k, 3 * n + axis) - 0.5;
                6.0 * DVec3::new(unit(0), unit(1), unit(2))
            };
            let (from, to) = (place(1), place(2));
            let may = step.may_meet(from, to, 0.01);
            // One that never asks the boxes: it begins in the step, and the whole of it is asked.
            let near = moments
                .iter()
                .enumerate()
                .any(|(k, then)| then.distance(from.lerp(to, 0.01 * k as f64)) < 0.01);
            assert!(may || !near, "from {from} to {to}");
            hits += usize::from(step.first_impact(0.0, from, to, 0.01).unwrap().is_some());
            passed += usize::from(!may);
        }
        assert!(hits > 5 && passed > 75, "{hits} hits, {passed} left out");
    }
}

/// A sheet that is stretched along x, and back: the velocity of a place is that of the surface there, and how far the step has taken it is the
/// sum over all that it did.
#[test]
fn a_surface_that_deforms_has_the_velocity_and_the_way_of_its_points() {
    for thickness in [0.0, 0.02] {
        let mesh = MeshSolid::new(
            gallery::sheet([2.0, 2.0], [8, 8]),
            if thickness > 0.0 { Inside::Thickness(thickness) } else { Inside::default() },
        )
        .unwrap();
        let rest = mesh.bvh().triangles().positions().to_vec();
        let stretched = |by: f64, up: f64| {
            rest.iter().map(move |at| *at * DVec3::new(by, 1.0, 1.0) + up * DVec3::Z)
        };
        let frames = vec![
            (0.0, rest.clone()),
            (0.1, stretched(1.5, 0.3).collect()),
            (0.2, stretched(1.2, 0.1).collect()),
        ];
        let collider = Collider::deforming(mesh, Deformation::new(frames).unwrap()).unwrap();
        for (end, by, up, rate, rises) in [(0.1, 1.5, 0.3, 5.0, 3.0), (0.2, 1.2, 0.1, -3.0, -2.0)] {
            let step = collider.during(0.0, end).unwrap();
            for n in 0..20 {
                let x = 1.6 * (undine_geometry::random::unit(1, n) - 0.5);
                let y = 1.6 * (undine_geometry::random::unit(2, n) - 0.5);
                let at = DVec3::new(by * x, y, up + 0.5 * thickness);
                let wanted = DVec3::new(rate * x, 0.0, rises);
                assert!(step.velocity(at).distance(wanted) < 1e-9, "{} at {at}", step.velocity(at));
                let wanted = DVec3::new((by - 1.0) * x, 0.0, up);
                assert!(step.moved(at).distance(wanted) < 1e-9, "{} at {at}", step.moved(at));
                let start = DVec3::new(x, y, 0.5 * thickness);
                assert!(step.takes(start).distance(wanted) < 1e-9, "{}", step.takes(start));
            }
        }
    }
}

#[test]
fn what_is_near_when_a_step_begins_is_found_and_carried_along() {
    let twist = Twist { linear: DVec3::X, angular: DVec3::Z };
    let motion = Motion::steady(Pose::at(DVec3::Y), twist).unwrap();
    let ball = Collider::solid(Shape::sphere(1.0).unwrap()).with_motion(motion);
    let step = ball.during(0.0, 0.1).unwrap();
    let touched = step.touched_at_start(DVec3::new(1.1, 1.0, 0.0), 0.2, 0.1).unwrap();
    assert!((touched.distance - 0.1).abs() < 1e-12 && touched.normal.distance(DVec3::X) < 1e-12);
    // The middle moves along x, and the place touched up, since it turns.
    assert!(touched.velocity.distance(DVec3::new(1.0, 1.0, 0.0)) < 1e-9, "{}", touched.velocity);
    let carried = DVec3::new(0.1 + 1.1 * 0.1_f64.cos(), 1.0 + 1.1 * 0.1_f64.sin(), 0.0);
    assert!(touched.carried.distance(carried) < 1e-9);
    assert!(step.touched_at_start(DVec3::new(1.1, 1.0, 0.0), 0.05, 0.05).is_none());
    assert!(step.touched_at_start(DVec3::new(0.5, 1.0, 0.0), 0.2, 0.1).is_none());
}

/// A response that bounces instead of sliding.
#[test]
fn a_response_says_how_it_goes_on() {
    let floor = Collider::solid(Shape::half_space(DVec3::Y, 0.0).unwrap());
    let step = floor.during(0.0, 1.0).unwrap();
    let (from, to) = (DVec3::new(0.0, 1.0, 0.0), DVec3::new(1.0, -1.0, 0.0));
    let swept =
        undine_geometry::collider::sweep_with(&[step], from, to, 1e-3, |number, touch, left| {
            assert_eq!(number, 0);
            left - 2.0 * left.dot(touch.normal) * touch.normal
        })
        .unwrap();
    assert!(swept.position.distance(DVec3::new(1.0, 1.0, 0.0)) < 6e-3, "{}", swept.position);
    assert!(swept.impacts == 1 && !swept.is_pressed());
}

#[test]
fn the_closest_point_of_a_surface_is_on_it_and_within_reach() {
    for (name, collider, tolerance) in balls() {
        if name == "level set" {
            assert!(!collider.has_surface() && collider.closest(DVec3::X * 2.0, 9.0).is_none());
            continue;
        }
        for n in 0..100 {
            let at = point(5, n, 2.0);
            let apart = (at.length() - 1.0).abs();
            let found = collider.closest(at, f64::INFINITY).unwrap();
            assert!(found.distance(at.normalize()) < 0.05, "{name}: {found} for {at}");
            assert!((found.length() - 1.0).abs() <= tolerance, "{name}: {found}");
            assert!(collider.closest(at, apart - 2.0 * tolerance).is_none(), "{name}");
            assert!(collider.closest(at, apart + 2.0 * tolerance).is_some(), "{name}");
        }
    }
}

#[test]
fn the_mesh_of_a_collider_is_where_it_moves_and_deforms_to() {
    let [one, other] = [1.0, 2.0].map(|size| gallery::cuboid(DVec3::splat(size)));
    let frames = vec![(0.0, one.positions().to_vec()), (1.0, other.positions().to_vec())];
    let mesh = MeshSolid::new(one, Inside::default()).unwrap();
    let twist = Twist { linear: DVec3::X, angular: DVec3::Z };
    let motion = Motion::steady(Pose::at(DVec3::Y), twist).unwrap();
    let collider = Collider::deforming(mesh, Deformation::new(frames).unwrap()).unwrap();
    let moved = collider.with_motion(motion.clone()).mesh_at(0.5).unwrap().unwrap();
    for (found, corner) in moved.positions().iter().zip(other.positions()) {
        assert!(found.distance(motion.pose(0.5).to_world(*corner * 0.75)) < 1e-12, "{found}");
    }
    assert!(Collider::solid(Shape::sphere(1.0).unwrap()).mesh_at(0.0).unwrap().is_none());
}
