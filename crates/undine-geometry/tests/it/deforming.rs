//! Shapes between two frames: by moving vertices, and by carrying level sets.

use crate::solids::{Ball, domain};
use undine_core::glam::{DMat3, DVec3, Vec3};
use undine_core::volume::Resolution;
use undine_geometry::Inside;
use undine_geometry::levelset::{Extent, LevelSet};
use undine_geometry::voxelize::Deforming;
use undine_geometry::{Deformation, Solid, Triangles, gallery};

/// A ball of radius 0.4 m that moves by 0.5 m in half a second.
fn rolling() -> Deforming {
    let ball = gallery::sphere(0.4, 4);
    let next = ball.positions().iter().map(|p| *p + DVec3::new(0.5, 0.0, 0.0)).collect();
    Deforming::new(ball, next, 0.5).unwrap()
}

/// The largest error of distances in the band, in voxels, where the exact ones are within 2 voxels.
fn worst(set: &LevelSet, exact: impl Fn(DVec3) -> f64) -> f64 {
    let column = set.column().unwrap();
    let voxel = set.voxel_size();
    let mut worst = 0.0_f64;
    let mut seen = 0;
    for slot in 0..set.topology().local() as u32 {
        let corner = set.domain().frame().corner(set.topology().bucket(slot));
        for (place, &found) in column.chunk(slot).iter().enumerate() {
            let [x, y, z] = Resolution::R8.coords(place).map(|n| n as f64 + 0.5);
            let wanted = exact(corner + voxel * DVec3::new(x, y, z));
            if wanted.abs() < 2.0 * voxel {
                worst = worst.max((f64::from(found) - wanted).abs() / voxel);
                seen += 1;
            }
        }
    }
    assert!(seen > 1000, "{seen}");
    worst
}

#[test]
fn vertices_between_frames_are_where_they_should_be_and_carry_their_velocity() {
    let rolling = rolling();
    let (set, velocity) =
        rolling.level_set("ball", &domain(0.03), 0.2, Extent::NARROW, Inside::default()).unwrap();
    let exact = |at: DVec3| at.distance(DVec3::new(0.2, 0.0, 0.0)) - 0.4;
    assert!(worst(&set, exact) < 0.05);
    let (column, distance) = (set.volume().column(velocity).unwrap(), set.column().unwrap());
    for slot in 0..set.topology().local() as u32 {
        for (velocity, distance) in column.chunk(slot).iter().zip(distance.chunk(slot)) {
            let near = distance.abs() < set.width();
            assert!(!near || (velocity.as_dvec3() - DVec3::X).length() < 1e-6, "{velocity}");
        }
    }
    let early = rolling.at(-0.1).unwrap_err().to_string();
    assert!(early.contains("the time between two frames is -0.1"), "{early}");
    let few = Deforming::new(gallery::cuboid(DVec3::ONE), vec![DVec3::ZERO], 1.0).unwrap_err();
    assert!(few.to_string().contains("1 entries, but 8"), "{few}");
}

#[test]
fn of_a_sequence_the_two_frames_around_a_time_are_taken() {
    let mesh = gallery::cuboid(DVec3::ONE);
    let moved = |by: f64| mesh.positions().iter().map(|at| *at + by * DVec3::X).collect();
    let frames = vec![(0.0, moved(0.0)), (1.0, moved(1.0)), (3.0, moved(7.0))];
    let sequence = Deformation::new(frames).unwrap();
    for (time, x, speed) in [(0.5, 0.5, 1.0), (1.0, 1.0, 3.0), (2.0, 4.0, 3.0), (3.0, 7.0, 3.0)] {
        let (two, since) = Deforming::around(&mesh, &sequence, time).unwrap();
        let found = two.at(since).unwrap().positions()[0] - mesh.positions()[0];
        assert!(found.distance(x * DVec3::X) < 1e-12, "{time}: {found}");
        assert!((two.velocities()[0] - speed as f32 * Vec3::X).length() < 1e-6, "{time}");
    }
    let late = Deforming::around(&mesh, &sequence, 3.5).unwrap_err().to_string();
    assert!(late.contains("from its first frame to its last"), "{late}");
}

/// The level set between two frames by carrying those of the frames.
fn carried(shape: &Deforming, voxel: f64, time: f64) -> LevelSet {
    let domain = domain(voxel);
    let frames = [0.0, shape.duration()].map(|time| {
        let mesh = shape.at(time).unwrap();
        LevelSet::of_mesh("frame", &domain, &mesh, Extent::NARROW, Inside::default()).unwrap()
    });
    let velocity = shape.shape_velocity(&domain).unwrap();
    velocity
        .read(|velocity| {
            let frames = [&frames[0], &frames[1]];
            LevelSet::between("between", frames, shape.duration(), velocity, time).unwrap()
        })
        .unwrap()
}

#[test]
fn a_ball_carried_farther_than_its_band_is_wide_stays_a_ball() {
    for time in [0.0, 0.1, 0.25, 0.5] {
        let set = carried(&rolling(), 0.03, time);
        let exact = |at: DVec3| at.distance(DVec3::new(time, 0.0, 0.0)) - 0.4;
        let error = worst(&set, exact);
        assert!(error < 0.12, "{error} voxels at {time}");
        // No Bucket is missing, and none is too much.
        let ball = Ball { centre: DVec3::new(time, 0.0, 0.0), radius: 0.4 };
        let whole = LevelSet::of_solid("ball", &domain(0.03), &ball, Extent::NARROW).unwrap();
        let extra = set.topology().all().difference(whole.topology().all()).len();
        let missing = whole.topology().all().difference(set.topology().all()).len();
        let all = whole.topology().all().len();
        assert!(10 * (extra + missing) < all, "{extra} and {missing} of {all}");
        let column = set.column().unwrap();
        assert!(set.sampler(&column).at(DVec3::new(time, 0.0, 0.0)) < 0.0);
    }
}

#[test]
fn a_shape_that_turns_and_swells_is_near_its_mesh_at_every_time() {
    let mesh = gallery::torus(0.4, 0.15, 60, 24);
    let turn = DMat3::from_rotation_z(0.3) * 1.15;
    let next = mesh.positions().iter().map(|p| turn * *p + DVec3::new(0.05, 0.1, 0.2)).collect();
    let shape = Deforming::new(mesh, next, 1.0).unwrap();
    for time in [0.3, 0.7] {
        let set = carried(&shape, 0.025, time);
        let exact = LevelSet::of_mesh(
            "exact",
            &domain(0.025),
            &shape.at(time).unwrap(),
            Extent::Band(4.0),
            Inside::default(),
        )
        .unwrap();
        let column = exact.column().unwrap();
        let sampler = exact.sampler(&column);
        let error = worst(&set, |at| sampler.distance(at));
        assert!(error < 0.15, "{error} voxels at {time}");
    }
}

#[test]
fn frames_that_do_not_fit_are_refused() {
    let mesh = gallery::cuboid(DVec3::splat(0.3));
    let of = |mesh: &Triangles, voxel: f64| {
        LevelSet::of_mesh("frame", &domain(voxel), mesh, Extent::NARROW, Inside::default()).unwrap()
    };
    let (a, b, other) = (of(&mesh, 0.05), of(&mesh, 0.05), of(&mesh, 0.04));
    let still = |_: DVec3| DVec3::ZERO;
    let refused = |frames: [&LevelSet; 2], duration: f64, time: f64, velocity: f64| {
        let wild = move |at: DVec3| velocity * at.x.signum() * DVec3::X;
        let result = if velocity == 0.0 {
            LevelSet::between("between", frames, duration, &still, time)
        } else {
            LevelSet::between("between", frames, duration, &wild, time)
        };
        result.unwrap_err().to_string()
    };
    assert!(refused([&a, &other], 1.0, 0.5, 0.0).contains("another one"));
    assert!(refused([&a, &b], 1.0, 1.5, 0.0).contains("the time between two frames is 1.5"));
    assert!(refused([&a, &b], 0.0, 0.0, 0.0).contains("must be positive"));
    assert!(refused([&a, &b], 1.0, 0.5, 1e4).contains("smoother velocity"));
    assert!(refused([&a, &b], 1.0, 0.5, f64::NAN).contains("smoother velocity"));
}
