//! Surfaces that are carried along, and their size.

use crate::levelset_bits::{bits, on_threads};
use crate::solids::{Ball, domain};
use std::f64::consts::PI;
use undine_core::glam::{DVec3, IVec3, Vec3};
use undine_core::mesh::Bounds;
use undine_core::volume::{Resolution, VoxelShape};
use undine_core::{Accessor, ChannelSpec};
use undine_geometry::levelset::{Advection, Carrier, Extent, LevelSet};
use undine_geometry::{Nearest, Solid, gallery};

fn ball_set(ball: &Ball, voxel: f64) -> LevelSet {
    LevelSet::of_solid("ball", &domain(voxel), ball, Extent::NARROW).unwrap()
}

#[test]
fn area_and_volume_of_a_ball_are_of_second_order() {
    let ball = Ball { centre: DVec3::new(0.1, 0.03, -0.2), radius: 1.0 };
    let found = [0.1, 0.05, 0.025].map(|voxel| {
        let size = ball_set(&ball, voxel).size().unwrap();
        [1.0 - size.volume / (4.0 / 3.0 * PI), 1.0 - size.area / (4.0 * PI)]
    });
    for [error, finer] in [[0, 1], [1, 2]] {
        for k in 0..2 {
            let order = (found[error][k] / found[finer][k]).log2();
            assert!((1.8..2.2).contains(&order), "{found:?}");
        }
    }
    assert!(found[2][0].abs() < 1e-3 && found[2][1].abs() < 1e-3, "{found:?}");
}

#[test]
fn nothing_has_no_size_and_goes_nowhere() {
    let mut empty = LevelSet::empty("nothing", &domain(0.1), 0.3).unwrap();
    let field = |_: DVec3, _: f64| DVec3::X;
    let report = empty.advect(Carrier::Field(&field), 0.0, 1.0, &Advection::default()).unwrap();
    assert_eq!((report.before.volume, report.after.area, report.drift()), (0.0, 0.0, 0.0));
}

#[test]
fn every_carrier_takes_a_ball_along() {
    let ball = Ball { centre: DVec3::ZERO, radius: 0.5 };
    let velocity = DVec3::new(1.0, -0.5, 0.25);
    let far = Ball { centre: velocity, ..ball };
    let how = Advection::default();
    let field = move |_: DVec3, _: f64| velocity;

    let mut by_field = ball_set(&ball, 0.05);
    let report = by_field.advect(Carrier::Field(&field), 0.0, 1.0, &how).unwrap();
    assert!(report.drift().abs() < 2e-3 && report.correction == 0.0, "{report:?}");
    assert!(report.steps >= 5 && report.steps < 12, "{report:?}");

    let mut by_cells = ball_set(&ball, 0.05);
    let spec = ChannelSpec::new("velocity", velocity.as_vec3()).unit("m/s");
    let channel = by_cells.volume_mut().add_channel(&spec, VoxelShape::CELLS).unwrap();
    by_cells.advect(Carrier::Cells(channel), 0.0, 1.0, &how).unwrap();
    assert_eq!(by_cells.volume().handle::<Vec3>("velocity").unwrap(), channel);

    let mut air = domain(0.05);
    let buckets = air.buckets_in_box(DVec3::splat(-2.0), DVec3::splat(2.0), 0).unwrap();
    air.set_buckets(&buckets).unwrap();
    let mut flow = undine_core::DiscreteVolume::new("air", &air);
    let faces = flow.add_mac("velocity", "m/s", Resolution::R8).unwrap();
    for (axis, face) in faces.faces.into_iter().enumerate() {
        let accessor = Accessor::new("blow", &air);
        accessor.run(flow.write(face), |_, face| face.fill(velocity[axis] as f32)).unwrap();
    }
    let mut by_faces = ball_set(&ball, 0.05);
    by_faces.advect(Carrier::Faces(&flow, faces), 0.0, 1.0, &how).unwrap();

    for set in [&by_field, &by_cells, &by_faces] {
        let column = set.column().unwrap();
        let sampler = set.sampler(&column);
        for n in 0..500 {
            let direction = DVec3::from_array(
                [0, 1, 2].map(|k| 2.0 * undine_geometry::random::unit(k, n) - 1.0),
            );
            let at = far.centre + far.radius * direction.normalize();
            // Between voxels the ball's own distances are off by 1/(8 R) voxels, 0.6 mm.
            assert!(sampler.at(at).abs() < 0.03 * 0.05, "{at}: {}", sampler.at(at));
        }
    }
    // There and back again.
    let report = by_field.advect(Carrier::Field(&field), 1.0, 0.0, &how).unwrap();
    assert!(report.drift().abs() < 2e-3);
    let column = by_field.column().unwrap();
    let at = by_field.sampler(&column).at(DVec3::new(0.5, 0.0, 0.0));
    assert!(at.abs() < 0.03 * 0.05);
}

/// A cylinder along z with a slot (Zalesak 1979), in units of 100.
#[derive(Debug)]
pub struct Slotted;

impl Solid for Slotted {
    fn distance(&self, at: DVec3) -> f64 {
        let [x, y, z] = (at - DVec3::new(50.0, 75.0, 0.0)).to_array();
        let cylinder = (x.hypot(y) - 15.0).max(z.abs() - 8.0);
        let slot = (x.abs() - 2.5).max(y - 10.0);
        cylinder.max(-slot)
    }

    fn nearest(&self, at: DVec3) -> Nearest {
        Nearest { point: at, normal: DVec3::Z, distance: self.distance(at) }
    }

    fn bounds(&self) -> Option<Bounds> {
        Some(Bounds { min: DVec3::new(35.0, 60.0, -8.0), max: DVec3::new(65.0, 90.0, 8.0) })
    }
}

#[test]
fn a_slotted_cylinder_turns_once_and_keeps_its_slot() {
    let mut set = LevelSet::of_solid("disc", &domain(1.0), &Slotted, Extent::NARROW).unwrap();
    set.rebuild().unwrap();
    let start = set.size().unwrap().volume;
    let turn = |at: DVec3, _: f64| DVec3::new(50.0 - at.y, at.x - 50.0, 0.0) * PI / 314.0;
    let report = set.advect(Carrier::Field(&turn), 0.0, 628.0, &Advection::default()).unwrap();
    let lost = 1.0 - report.after.volume / start;
    assert!(lost.abs() < 0.04, "{lost}");
    let column = set.column().unwrap();
    let sampler = set.sampler(&column);
    // The slot is open and the arms beside it are there.
    assert!(sampler.at(DVec3::new(50.0, 72.0, 0.0)) > 1.0);
    assert!(sampler.at(DVec3::new(45.0, 72.0, 0.0)) < -1.0);
    assert!(sampler.at(DVec3::new(55.0, 72.0, 0.0)) < -1.0);
    assert!(sampler.at(DVec3::new(50.0, 87.0, 0.0)) < -1.0);
}

#[test]
fn what_is_deformed_and_back_reports_what_it_lost_and_can_regain_it() {
    let ball = Ball { centre: DVec3::splat(0.35), radius: 0.15 };
    let mut set = ball_set(&ball, 1.0 / 48.0);
    let field = Carrier::Field(&gallery::deformation);
    let kept = Advection { keep_volume: true, ..Advection::default() };
    let report = set.advect(field, 0.0, 0.6, &kept).unwrap();
    assert!(report.drift().abs() < 0.1 && report.drift() != 0.0, "{report:?}");
    assert!(report.after.area > 1.5 * report.before.area, "{report:?}");
    assert!(report.correction != 0.0);
    let regained = set.size().unwrap().volume / report.before.volume;
    assert!((regained - 1.0).abs() < 2e-3, "{regained}");
}

#[test]
fn bits_do_not_depend_on_threads_nor_on_where_buckets_begin() {
    let voxel = 0.03125;
    let run = |shift: IVec3| {
        let shift_by = shift.as_dvec3() * voxel;
        let ball = Ball { centre: DVec3::splat(0.375) + shift_by, radius: 0.15625 };
        let mut set = ball_set(&ball, voxel);
        let whirl = move |at: DVec3, time: f64| {
            let at = at - shift_by - DVec3::splat(0.5);
            DVec3::new(-at.y, at.x, at.z * at.x * time)
        };
        set.advect(Carrier::Field(&whirl), 0.0, 0.75, &Advection::default()).unwrap();
        bits(&set, shift)
    };
    let wanted = run(IVec3::ZERO);
    assert!(wanted.len() > 1000);
    for shift in [IVec3::new(8, -16, 24), IVec3::new(-3, 5, 2)] {
        assert_eq!(run(shift), wanted, "{shift}");
    }
    for threads in [1, 2, 7] {
        assert_eq!(on_threads(threads, || run(IVec3::ZERO)), wanted, "{threads} threads");
    }
}

#[test]
fn a_velocity_or_a_time_that_makes_no_sense_is_refused() {
    let ball = Ball { centre: DVec3::ZERO, radius: 0.5 };
    let mut set = ball_set(&ball, 0.1);
    let how = Advection::default();
    let still = |_: DVec3, _: f64| DVec3::ZERO;
    for time in [f64::NAN, f64::INFINITY] {
        assert!(set.advect(Carrier::Field(&still), 0.0, time, &how).is_err());
    }
    for voxels_per_step in [0.0, -1.0, 5.0, f64::NAN] {
        let how = Advection { voxels_per_step, ..how };
        assert!(set.advect(Carrier::Field(&still), 0.0, 1.0, &how).is_err());
    }
    for bad in [f64::NAN, f64::INFINITY, 1e300] {
        let field = move |_: DVec3, _: f64| DVec3::splat(bad);
        let refused = set.advect(Carrier::Field(&field), 0.0, 1.0, &how).unwrap_err();
        assert!(refused.to_string().contains("surface"), "{refused}");
    }
    // A velocity that is well at the start only.
    let later = |_: DVec3, time: f64| DVec3::X * if time > 0.0 { f64::NAN } else { 1.0 };
    assert!(set.advect(Carrier::Field(&later), 0.0, 1.0, &how).is_err());
    let report = set.advect(Carrier::Field(&still), 0.0, 1.0, &how).unwrap();
    assert_eq!(report.steps, 1);
    assert!(report.drift().abs() < 1e-3);
}
