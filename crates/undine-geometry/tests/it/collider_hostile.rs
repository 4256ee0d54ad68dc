//! Colliders where they are likely to break: on the surface, in between, at the end of a step, very far and very fast.

use crate::solids::{Ball, Brick, domain};
use undine_core::glam::{DQuat, DVec3};
use undine_geometry::collider::{Collider, sweep};
use undine_geometry::levelset::{Extent, LevelSet};
use undine_geometry::motion::{Interpolation, Key};
use undine_geometry::{
    Deformation, Inside, MeshSolid, Motion, Pose, Several, Shape, Solid, Triangles, Twist, gallery,
};

fn sheet(thickness: f64) -> MeshSolid {
    MeshSolid::new(gallery::sheet([4.0, 4.0], [5, 5]), Inside::Thickness(thickness)).unwrap()
}

fn moving(from: DVec3, velocity: DVec3) -> Motion {
    Motion::steady(Pose::at(from), Twist { linear: velocity, angular: DVec3::ZERO }).unwrap()
}

fn ball_of_level_set(voxel: f64) -> Collider {
    let shape = Shape::sphere(1.0).unwrap();
    let set = LevelSet::of_solid("ball", &domain(voxel), &shape, Extent::NARROW).unwrap();
    Collider::level_set(set, None).unwrap()
}

/// Colliders whose surface is at z = 0 with the outside above, the lower side at z = -0.1.
fn slabs() -> Vec<(&'static str, Collider)> {
    let half = DVec3::new(2.0, 2.0, 0.05);
    let down = |at: &DVec3| *at - 0.05 * DVec3::Z;
    let (positions, triangles) = gallery::cuboid(half).into_parts();
    let positions: Vec<DVec3> = positions.iter().map(down).collect();
    let mesh = Triangles::new(positions.clone(), triangles).unwrap();
    let mesh = |side| MeshSolid::new(mesh.clone(), side).unwrap();
    let frames = Deformation::new(vec![(0.0, positions.clone()), (1.0, positions)]).unwrap();
    vec![
        (
            "solid",
            Collider::solid(Brick { min: [-2.0, -2.0, -0.1].into(), max: [2.0, 2.0, 0.0].into() }),
        ),
        ("mesh", Collider::mesh(mesh(Inside::default()))),
        ("mesh by normals", Collider::mesh(mesh(Inside::Normals))),
        ("deforming", Collider::deforming(mesh(Inside::default()), frames).unwrap()),
    ]
}

#[test]
fn what_begins_on_the_surface_may_leave() {
    for (name, collider) in slabs() {
        let step = [collider.during(0.0, 1.0).unwrap()];
        for at in [DVec3::new(0.3, 0.2, 0.0), DVec3::ZERO, DVec3::new(0.3, 0.2, 1e-17)] {
            for way in [DVec3::Z, DVec3::new(0.5, 0.1, 0.4), DVec3::new(0.5, 0.0, 1e-3)] {
                let swept = sweep(&step, at, at + way, 0.01).unwrap();
                assert!(swept.position.distance(at + way) < 0.02, "{name} {at} {way}: {swept:?}");
            }
        }
    }
    let sheet = Collider::mesh(sheet(1e-6));
    let step = [sheet.during(0.0, 1.0).unwrap()];
    for at in [DVec3::new(0.3, 0.2, 0.0), DVec3::ZERO] {
        for way in [DVec3::Z, -DVec3::Z, DVec3::new(0.5, 0.1, 0.4), DVec3::new(0.5, 0.0, -1e-2)] {
            let swept = sweep(&step, at, at + way, 0.01).unwrap();
            assert!(swept.position.distance(at + way) < 0.02, "sheet {at} {way}: {swept:?}");
        }
        // Along it there is no side to leave to, but it must not be stuck either.
        let along = sweep(&step, at, at + 0.5 * DVec3::X, 0.01).unwrap();
        assert!(along.position.distance(at + 0.5 * DVec3::X) < 0.02, "sheet {at}: {along:?}");
    }
}

#[test]
fn what_begins_on_the_surface_or_a_little_inside_does_not_get_through() {
    for (name, collider) in slabs() {
        let step = [collider.during(0.0, 1.0).unwrap()];
        for depth in [0.0, 1e-18, 1e-12, 1e-4] {
            let at = DVec3::new(0.3, 0.2, -depth);
            let swept = sweep(&step, at, at - DVec3::Z, 0.01).unwrap();
            assert!(swept.position.z > -0.02, "{name} {depth}: {swept:?}");
        }
    }
}

#[test]
fn what_leaves_the_inside_is_stopped_by_what_comes_next() {
    let bricks =
        [0.0, 1.0].map(|x| Brick { min: [x, -1.0, -1.0].into(), max: [x + 0.5, 1.0, 1.0].into() });
    let two = |x: f64| {
        let (positions, triangles) = gallery::cuboid(DVec3::new(0.25, 1.0, 1.0)).into_parts();
        (positions.iter().map(|at| *at + (x + 0.25) * DVec3::X).collect::<Vec<_>>(), triangles)
    };
    let ((mut positions, mut triangles), (more, second)) = (two(0.0), two(1.0));
    let count = positions.len() as u32;
    positions.extend(more);
    triangles.extend(second.iter().map(|t| t.map(|v| v + count)));
    let mesh =
        MeshSolid::new(Triangles::new(positions, triangles).unwrap(), Inside::default()).unwrap();
    for (name, collider) in
        [("solids", Collider::solid(Several(bricks.to_vec()))), ("mesh", Collider::mesh(mesh))]
    {
        let step = [collider.during(0.0, 1.0).unwrap()];
        let swept = sweep(&step, 0.45 * DVec3::X, 3.0 * DVec3::X, 0.01).unwrap();
        assert!((swept.position.x - 0.99).abs() < 1e-3, "{name}: {swept:?}");
    }
}

#[test]
fn a_point_slides_along_a_solid_as_far_as_it_goes() {
    for radius in [0.0, 1e-6, 1e-4] {
        for (name, collider) in slabs() {
            let step = [collider.during(0.0, 1.0).unwrap()];
            let (from, to) = (DVec3::new(-1.0, 0.0, 0.5), DVec3::new(1.0, 0.0, -0.5));
            let swept = sweep(&step, from, to, radius).unwrap();
            assert!((swept.position.x - 1.0).abs() < 1e-2, "{name} {radius}: {swept:?}");
            assert!(
                swept.position.z > 0.0 && swept.position.z < 0.01,
                "{name} {radius}: {swept:?}"
            );
        }
    }
}

#[test]
fn a_long_way_through_empty_space_is_free_for_a_level_set_too() {
    let collider = ball_of_level_set(0.1);
    let step = collider.during(0.0, 1.0).unwrap();
    let (from, to) = (DVec3::new(-2000.0, 0.5, 0.0), DVec3::new(-2.0, 0.5, 0.0));
    assert_eq!(step.first_impact(0.0, from, to, 0.1).unwrap(), None);
    let (from, to) = (DVec3::new(-2000.0, 5.0, 0.0), DVec3::new(2000.0, 5.0, 0.0));
    assert_eq!(step.first_impact(0.0, from, to, 0.1).unwrap(), None);
    // And at the end of it, what is there is found.
    let (from, to) = (DVec3::new(-100.0, 0.0, 0.0), DVec3::ZERO);
    let impact = step.first_impact(0.0, from, to, 0.1).unwrap().unwrap();
    assert!((impact.position.x + 1.1).abs() < 0.02, "{impact:?}");
    assert!(step.first_impact(0.0, DVec3::splat(1e12), DVec3::splat(2e12), 0.1).unwrap().is_none());
}

#[test]
fn a_sphere_larger_than_a_band_is_refused_or_stopped_at_its_radius() {
    let collider = ball_of_level_set(0.1);
    let step = collider.during(0.0, 1.0).unwrap();
    for radius in [0.2, 0.29, 0.295, 0.5, 3.0] {
        let found = step.first_impact(0.0, DVec3::new(-6.0, 0.0, 0.0), DVec3::ZERO, radius);
        match found {
            Ok(impact) => {
                let gap = impact.unwrap().position.length() - 1.0;
                assert!((gap - radius).abs() < 0.02, "{radius}: {gap}");
            }
            Err(refused) => {
                assert!(radius > 0.28 && refused.to_string().contains("band"), "{refused}")
            }
        }
    }
}

#[test]
fn an_impact_knows_how_fast_the_surface_moves_that_is_touched() {
    // A plank that turns and goes; the ball is large, so that its centre is far from where it touches.
    let half = DVec3::new(2.0, 0.05, 0.5);
    let plank = Shape::cuboid(half).unwrap();
    let mesh = MeshSolid::new(gallery::cuboid(half), Inside::default()).unwrap();
    let still = Deformation::new(vec![(0.0, mesh.bvh().triangles().positions().to_vec())]).unwrap();
    let spin = Twist { linear: DVec3::new(0.3, 0.1, 0.0), angular: DVec3::new(0.0, 0.0, 1.5) };
    let start = Pose::at(DVec3::new(5.0, 1.0, 0.0));
    let motion = Motion::steady(start, spin).unwrap();
    for (name, collider) in [
        ("solid", Collider::solid(plank)),
        ("mesh", Collider::mesh(mesh.clone())),
        ("deforming", Collider::deforming(mesh, still).unwrap()),
    ] {
        let collider = collider.with_motion(motion.clone());
        let step = collider.during(0.0, 1.0).unwrap();
        let at = start.translation + DVec3::new(1.0, 1.2, 0.0);
        let impact = step.first_impact(0.0, at, at, 0.4).unwrap().unwrap();
        let touched = impact.position - impact.distance * impact.normal;
        let origin = start.translation + impact.time * spin.linear;
        let wanted = spin.at(touched - origin);
        assert!(
            impact.velocity.distance(wanted) < 1e-2,
            "{name}: {} not {wanted}",
            impact.velocity
        );
    }
}

#[test]
fn at_the_last_key_a_collider_is_as_fast_as_it_came() {
    let key = |time: f64| Key { time, pose: Pose::at(2.0 * time * DVec3::X) };
    for interpolation in [Interpolation::Linear, Interpolation::Cubic] {
        let motion = Motion::keyed(vec![key(0.0), key(0.5), key(1.0)], interpolation).unwrap();
        let collider = Collider::solid(Shape::sphere(1.0).unwrap()).with_motion(motion);
        let step = collider.during(0.9, 1.0).unwrap();
        let found = step.velocity(DVec3::splat(3.0));
        assert!(found.distance(2.0 * DVec3::X) < 1e-9, "{interpolation:?}: {found}");
        // After it, it rests.
        let step = collider.during(1.0, 1.1).unwrap();
        assert_eq!(step.velocity(DVec3::splat(3.0)), DVec3::ZERO);
    }
}

#[test]
fn between_plates_that_close_a_ball_is_pressed_but_not_through_them() {
    // Two sheets at z = ±0.5 that come to z = ±gap; the ball cannot keep its radius from both.
    for gap in [0.02, 0.005, 1e-3] {
        for offset in [0.0, 0.3, -0.2] {
            for steps in [1, 3, 10] {
                let plates = [1.0, -1.0].map(|side: f64| {
                    Collider::mesh(sheet(1e-6))
                        .with_motion(moving(0.5 * side * DVec3::Z, side * (gap - 0.5) * DVec3::Z))
                });
                let mut at = DVec3::new(0.1, 0.2, offset);
                for step in 0..steps {
                    let [start, end] = [step, step + 1].map(|n| f64::from(n) / f64::from(steps));
                    let during =
                        [&plates[0], &plates[1]].map(|plate| plate.during(start, end).unwrap());
                    at = sweep(&during, at, at + DVec3::new(0.01, 0.0, 0.05), 0.03)
                        .unwrap()
                        .position;
                    let height = 0.5 + end * (gap - 0.5);
                    assert!(at.z.abs() < height, "{gap} {offset} {steps}: {at} of {height}");
                }
            }
        }
    }
}

#[test]
fn what_is_pushed_at_the_end_of_a_step_is_not_pushed_through_another() {
    // A plate comes to within half of the ball's radius of a resting sheet exactly when the step ends.
    let wall = Collider::mesh(sheet(1e-6));
    for height in [0.0299, 0.02, 0.015] {
        let plate =
            Collider::mesh(sheet(1e-6)).with_motion(moving(DVec3::Z, (height - 1.0) * DVec3::Z));
        let steps = [&plate, &wall].map(|collider| collider.during(0.0, 1.0).unwrap());
        for start in [0.011, 0.0101, 0.02, 0.3] {
            let at = DVec3::new(0.1, 0.1, start);
            let end = sweep(&steps, at, at, 0.01).unwrap().position;
            assert!(end.z > 0.0 && end.z < height, "{height} {start}: {end}");
        }
    }
    // A jump that takes no time is checked as every other way is.
    let step = wall.during(0.0, 0.0).unwrap();
    let (above, below) = (DVec3::new(0.1, 0.1, 1.0), DVec3::new(0.1, 0.1, -1.0));
    assert!(step.first_impact(1.0, above, below, 0.01).unwrap().is_some());
    let step = wall.during(0.0, 1.0).unwrap();
    assert!(step.first_impact(1.0, above, below, 0.01).unwrap().is_some());
}

#[test]
fn a_point_at_rest_is_hit_by_what_moves_and_never_passed() {
    let solids = [
        Collider::solid(Shape::cuboid(DVec3::new(2.0, 2.0, 1e-3)).unwrap()),
        Collider::mesh(sheet(1e-9)),
        Collider::mesh(
            MeshSolid::new(gallery::cuboid(DVec3::new(2.0, 2.0, 1e-3)), Inside::default()).unwrap(),
        ),
    ];
    for (number, collider) in solids.into_iter().enumerate() {
        let collider = collider.with_motion(moving(DVec3::Z, -2.0 * DVec3::Z));
        for steps in [1, 7, 40] {
            let mut at = DVec3::new(0.37, -0.21, 0.123);
            for step in 0..steps {
                let [start, end] = [step, step + 1].map(|n| f64::from(n) / f64::from(steps));
                at = sweep(&[collider.during(start, end).unwrap()], at, at, 0.0).unwrap().position;
                let plate = 1.0 - 2.0 * end;
                assert!(at.z < plate, "{number} {steps} {step}: {at} over {plate}");
            }
        }
    }
}

#[test]
fn a_motion_that_curves_between_keys_is_followed() {
    // There and back between two keys: the step begins and ends with the ball far from the sphere.
    let keys = [(0.0, -40.0), (1.0, 0.0), (2.0, 0.0), (3.0, -40.0)];
    let keys = keys.map(|(time, x)| Key { time, pose: Pose::at(x * DVec3::X) });
    let motion = Motion::keyed(keys.to_vec(), Interpolation::Cubic).unwrap();
    let highest = motion.pose(1.5).translation.x;
    assert!(highest > 4.0);
    let collider = Collider::solid(Shape::sphere(1.0).unwrap()).with_motion(motion.clone());
    let step = collider.during(1.0, 2.0).unwrap();
    let at = DVec3::new(3.0, 0.0, 0.0);
    let impact = step.first_impact(0.0, at, at, 0.1).unwrap().expect("the sphere comes by");
    let there = motion.pose(1.0 + impact.time).translation.x;
    assert!((there - 1.9).abs() < 0.1, "{there} at {}", impact.time);
    let wanted = motion.twist(1.0 + impact.time).linear;
    assert!(
        impact.velocity.distance(wanted) < 0.1 * wanted.length(),
        "{} not {wanted}",
        impact.velocity
    );
}

#[test]
fn impacts_of_a_deforming_closed_mesh_agree_with_those_of_a_moving_one() {
    let mesh = MeshSolid::new(gallery::sphere(1.0, 3), Inside::default()).unwrap();
    let shift = DVec3::new(2.0, 1.0, -0.5);
    let start = mesh.bvh().triangles().positions().to_vec();
    let frames = [0.0, 0.25, 0.5, 1.0]
        .map(|time: f64| (time, start.iter().map(|at| *at + time * shift).collect()));
    let deforming =
        Collider::deforming(mesh.clone(), Deformation::new(frames.to_vec()).unwrap()).unwrap();
    let rigid = Collider::mesh(mesh).with_motion(moving(DVec3::ZERO, shift));
    let steps = [deforming.during(0.0, 1.0).unwrap(), rigid.during(0.0, 1.0).unwrap()];
    let random = |n: u64| 6.0 * undine_geometry::random::unit(3, n) - 3.0;
    let (mut hits, mut inside) = (0, 0);
    for n in 0..600 {
        let [from, to] =
            [0, 3].map(|k| DVec3::from_array([0, 1, 2].map(|j| random(6 * n + j + k))));
        let [a, b] =
            [&steps[0], &steps[1]].map(|step| step.first_impact(0.0, from, to, 0.05).unwrap());
        if from.length() < 1.0 {
            inside += 1;
        }
        if from.length() < 1.1 {
            continue;
        }
        match (a, b) {
            (Some(a), Some(b)) => {
                hits += 1;
                assert!(
                    (a.time - b.time).abs() < 1e-3 && a.position.distance(b.position) < 5e-3,
                    "{n}: {a:?} {b:?}"
                );
                assert!(
                    a.velocity.distance(b.velocity) < 1e-6 && a.carried.distance(b.carried) < 5e-3,
                    "{n}"
                );
            }
            (None, None) => {}
            _ => panic!("{n}: {a:?} {b:?}"),
        }
    }
    assert!(hits > 30 && inside > 5, "{hits} {inside}");
}

#[test]
fn what_is_inside_of_a_deforming_mesh_is_held_back_by_the_leg_it_is_in() {
    // It goes to the right until 0.5 s and back again; a point a little inside that goes with it is not deeper at any time.
    let mesh = MeshSolid::new(gallery::cuboid(DVec3::splat(0.5)), Inside::default()).unwrap();
    let start = mesh.bvh().triangles().positions().to_vec();
    let at = |x: f64| start.iter().map(|at| *at + x * DVec3::X).collect::<Vec<_>>();
    let frames = Deformation::new(vec![(0.0, at(0.0)), (0.5, at(5.0)), (1.0, at(0.0))]).unwrap();
    let collider = Collider::deforming(mesh, frames).unwrap();
    let step = collider.during(0.0, 1.0).unwrap();
    // It leaves to the left while the box goes to the right.
    let from = DVec3::new(-0.45, 0.0, 0.0);
    assert_eq!(step.first_impact(0.0, from, from - DVec3::X, 0.01).unwrap(), None);
    assert_eq!(
        step.first_impact(0.0, from, from - 0.04 * DVec3::X, 0.01).unwrap().map(|i| i.time > 0.9),
        Some(true)
    );
}

#[test]
fn a_scene_a_thousand_kilometres_away_behaves_as_here() {
    let far = DVec3::new(1e6, -1e6, 5e5);
    let here = Collider::solid(Shape::cuboid(DVec3::new(1.0, 1.0, 0.1)).unwrap());
    let there = here.clone().with_motion(Motion::still(Pose::at(far)).unwrap());
    let (from, to) = (DVec3::new(0.2, 0.1, 1.0), DVec3::new(0.4, 0.1, -1.0));
    let a = here.during(0.0, 1.0).unwrap().first_impact(0.0, from, to, 0.01).unwrap().unwrap();
    let b = there
        .during(0.0, 1.0)
        .unwrap()
        .first_impact(0.0, from + far, to + far, 0.01)
        .unwrap()
        .unwrap();
    assert!((a.time - b.time).abs() < 1e-6 && b.position.distance(a.position + far) < 1e-6);
    let turned = Pose { rotation: DQuat::from_rotation_z(1.0), translation: far };
    let turned = here.with_motion(Motion::still(turned).unwrap());
    let c = turned
        .during(0.0, 1.0)
        .unwrap()
        .first_impact(0.0, from + far, to + far, 0.01)
        .unwrap()
        .unwrap();
    assert!((a.time - c.time).abs() < 1e-6);
}

#[test]
fn ways_that_are_none_cross_nothing_and_end() {
    let shape = Shape::sphere(1.0).unwrap();
    let set = LevelSet::of_solid("ball", &domain(0.1), &shape, Extent::NARROW).unwrap();
    let level = Collider::level_set(set, None).unwrap();
    let mesh = Collider::mesh(MeshSolid::new(gallery::sphere(1.0, 3), Inside::default()).unwrap());
    let ball = Collider::solid(Ball { centre: DVec3::ZERO, radius: 1.0 });
    for collider in [level, mesh, ball, Collider::mesh(sheet(0.1)), Collider::solid(shape)] {
        let step = collider.during(0.0, 1.0).unwrap();
        for bad in [DVec3::NAN, DVec3::INFINITY, DVec3::new(0.0, f64::NAN, 0.0)] {
            assert!(
                step.first_hit(bad, 2.0 * DVec3::X).is_none()
                    && step.first_hit(3.0 * DVec3::X, bad).is_none(),
                "{step:?}"
            );
        }
    }
}

#[test]
fn a_way_past_the_edge_of_a_thick_sheet_crosses_what_is_thick() {
    let sheet = MeshSolid::new(gallery::sheet([2.0, 2.0], [2, 2]), Inside::Thickness(0.4)).unwrap();
    // A tenth of a metre beside the edge, where the sheet is still thick.
    assert!(sheet.first_hit(DVec3::new(1.1, 0.0, 1.0), DVec3::new(1.1, 0.0, -1.0)).is_some());
    assert!(sheet.first_hit(DVec3::new(1.3, 0.0, 1.0), DVec3::new(1.3, 0.0, -1.0)).is_none());
    let ball = MeshSolid::new(gallery::sphere(1.0, 3), Inside::default()).unwrap();
    assert!(ball.first_hit(DVec3::splat(0.1), DVec3::splat(-0.1)).is_some());
    // What it only leaves is not in its way.
    assert!(ball.first_hit(DVec3::splat(0.1), DVec3::splat(3.0)).is_none());
    assert!(ball.first_hit(DVec3::new(0.0, 0.0, 1.1), DVec3::splat(3.0)).is_none());
}

#[test]
fn a_fast_spin_of_a_sheet_lets_nothing_through() {
    // A point between the blades of a cross of sheets stays in its quarter, however fast the cross turns.
    for turns in [0.01, 0.2, 3.0] {
        let blade = |angle: f64| {
            let rotation =
                DQuat::from_rotation_z(angle) * DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2);
            let spin =
                Twist { linear: DVec3::ZERO, angular: turns * std::f64::consts::TAU * DVec3::Z };
            Collider::mesh(sheet(1e-9)).with_motion(
                Motion::steady(Pose { rotation, translation: DVec3::ZERO }, spin).unwrap(),
            )
        };
        let blades = [blade(0.0), blade(std::f64::consts::FRAC_PI_2)];
        let mut at = DVec3::new(0.5, 0.4, 0.1);
        for step in 0..10 {
            let [start, end] = [step, step + 1].map(|n| 0.1 * f64::from(n));
            let during = [&blades[0], &blades[1]].map(|blade| blade.during(start, end).unwrap());
            at = sweep(&during, at, at, 1e-3).unwrap().position;
            let turned = DQuat::from_rotation_z(-turns * std::f64::consts::TAU * end) * at;
            assert!(turned.x > 0.0 && turned.y > 0.0, "{turns} {step}: {turned}");
            assert!(at.truncate().length() < 1.9, "{at}");
        }
    }
}
