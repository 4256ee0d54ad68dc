//! Resampling: the same surface on any lattice, moved and turned.

use super::measure::{band, bits, check_beyond, even_slopes, largest_error};
use crate::solids::{Ball, Brick, Ring};
use undine_core::glam::{DQuat, DVec3, IVec3};
use undine_core::{Frame, GridDomain, MemoryBudget};
use undine_geometry::levelset::{LevelSet, Resampling};
use undine_geometry::{Pose, Solid, random};

const VOXEL: f64 = 0.05;

fn lattice(origin: DVec3, voxel: f64) -> GridDomain {
    GridDomain::new("other", Frame::new(origin, voxel).unwrap())
}

#[test]
fn a_surface_is_where_it_was_on_any_other_lattice() {
    let ring = Ring { centre: DVec3::new(0.1, -0.2, 0.05), major: 0.8, minor: 0.4 };
    let set = band(&ring, VOXEL);
    for how in [Resampling::Linear, Resampling::Cubic] {
        // A little finer, a little coarser, much finer, much coarser.
        for (voxel, most) in [(0.041, 0.05), (0.07, 0.04), (0.025, 0.12), (0.13, 0.1)] {
            let other = lattice(DVec3::new(0.3, 0.17, -0.01), voxel);
            let found = set.resample(&other, &Pose::IDENTITY, 3.0 * voxel, how).unwrap();
            let error = largest_error(&found, 0.5, |at| ring.distance(at));
            assert!(error < most, "{how:?} {voxel}: {error} voxels");
            check_beyond(&found, |at| ring.distance(at), 4);
            // The widest voxels are hardly smaller than the ring is thick.
            let slopes = if voxel < 0.1 { 90.0 } else { 40.0 };
            assert!(even_slopes(&found) > slopes, "{how:?} {voxel}: {}", even_slopes(&found));
        }
    }
}

#[test]
fn a_turned_and_moved_surface_is_that_of_the_turned_solid() {
    let brick = Brick { min: DVec3::new(-0.7, -0.4, -0.3), max: DVec3::new(0.6, 0.5, 0.4) };
    let set = band(&brick, 0.03);
    let rotation = DQuat::from_rotation_z(0.7) * DQuat::from_rotation_x(-0.4);
    let pose = Pose { rotation, translation: DVec3::new(0.3, -0.2, 0.15) };
    for how in [Resampling::Linear, Resampling::Cubic] {
        let found = set.resample(&lattice(DVec3::ZERO, 0.035), &pose, 0.09, how).unwrap();
        let exact = |at: DVec3| brick.distance(pose.to_local(at));
        // Interpolation rounds the edges.
        let error = largest_error(&found, 0.5, exact);
        assert!(error < 0.35, "{how:?}: {error} voxels");
        check_beyond(&found, exact, 5);
    }
}

#[test]
fn cubic_interpolation_is_nearer_than_linear() {
    let ball = Ball { centre: DVec3::ZERO, radius: 0.5 };
    let set = band(&ball, VOXEL);
    let other = lattice(DVec3::splat(0.01), 0.02);
    let [linear, cubic] = [Resampling::Linear, Resampling::Cubic].map(|how| {
        let found = set.resample(&other, &Pose::IDENTITY, 0.06, how).unwrap();
        largest_error(&found, 1.0, |at| ball.distance(at))
    });
    assert!(cubic < 0.5 * linear, "{linear} {cubic}");
}

#[test]
fn voxels_twice_or_half_as_wide_hold_what_interpolation_gives() {
    let ring = Ring { centre: DVec3::new(0.1, -0.2, 0.05), major: 0.8, minor: 0.4 };
    let set = band(&ring, VOXEL);
    for voxel in [2.0 * VOXEL, 0.5 * VOXEL, VOXEL] {
        for shift in [IVec3::ZERO, IVec3::new(3, -5, 1)] {
            let origin = shift.as_dvec3() * VOXEL.min(voxel);
            let width = 2.0 * VOXEL;
            let found = set
                .resample(&lattice(origin, voxel), &Pose::IDENTITY, width, Resampling::Linear)
                .unwrap();
            // The same with an origin that is off by too much to count as aligned, and by too little to matter.
            let nearly = lattice(origin + 1e-5 * voxel, voxel);
            let general =
                set.resample(&nearly, &Pose::IDENTITY, width, Resampling::Linear).unwrap();
            assert_eq!(found.topology().all(), general.topology().all());
            let (a, b) = (found.column().unwrap(), general.column().unwrap());
            for slot in 0..found.topology().local() as u32 {
                for (a, b) in a.chunk(slot).iter().zip(b.chunk(slot)) {
                    assert!((a - b).abs() < 3e-5 * voxel as f32 + 1e-6, "{voxel} {shift}: {a} {b}");
                }
            }
            check_beyond(&found, |at| ring.distance(at), 4);
        }
    }
}

#[test]
fn a_lattice_moved_by_whole_voxels_takes_every_bit_and_gives_it_back() {
    let ring = Ring { centre: DVec3::new(0.1, -0.2, 0.05), major: 0.8, minor: 0.4 };
    let set = band(&ring, VOXEL);
    let width = f64::from(set.width());
    let moved = lattice(VOXEL * DVec3::new(3.0, -5.0, 7.0), VOXEL);
    let there = set.resample(&moved, &Pose::IDENTITY, width, Resampling::Linear).unwrap();
    let back = there.resample(set.domain(), &Pose::IDENTITY, width, Resampling::Linear).unwrap();
    assert!(bits(&back, IVec3::ZERO) == bits(&set, IVec3::ZERO));
    // A surface moved by whole Buckets has the same bits in other Buckets.
    let pose = Pose::at(8.0 * VOXEL * DVec3::new(2.0, -1.0, 5.0));
    let moved = set.resample(set.domain(), &pose, width, Resampling::Linear).unwrap();
    assert!(bits(&moved, IVec3::ZERO) == bits(&set, IVec3::new(2, -1, 5)));
}

#[test]
fn turning_in_many_small_steps_loses_little() {
    let brick = Brick { min: DVec3::splat(-0.5), max: DVec3::splat(0.5) };
    let set = band(&brick, VOXEL);
    let mut turned = set.with_width(f64::from(set.width())).unwrap();
    let pose = Pose { rotation: DQuat::from_rotation_y(0.1), translation: DVec3::ZERO };
    for _ in 0..5 {
        let width = f64::from(set.width());
        turned = turned.resample(set.domain(), &pose, width, Resampling::Cubic).unwrap();
    }
    let whole = DQuat::from_rotation_y(0.5);
    let column = turned.column().unwrap();
    let sampler = turned.sampler(&column);
    for n in 0..2000 {
        // Points on the faces, away from edges.
        let [u, v] = [0, 1].map(|seed| 0.6 * random::unit(seed, n) - 0.3);
        let point = [DVec3::new(0.5, u, v), DVec3::new(u, 0.5, v), DVec3::new(u, v, -0.5)];
        let off = sampler.distance(whole * point[n as usize % 3]).abs() / VOXEL;
        assert!(off < 0.05, "{off} voxels");
    }
}

#[test]
fn what_cannot_be_resampled_is_refused_with_numbers() {
    let set = band(&Ball { centre: DVec3::ZERO, radius: 0.5 }, VOXEL);
    let bad: [(Pose, f64, &str); 5] = [
        (Pose::IDENTITY, 0.0, "the width of a band"),
        (Pose::IDENTITY, f64::NAN, "the width of a band"),
        (
            Pose { rotation: DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0), ..Pose::IDENTITY },
            0.1,
            "rotation",
        ),
        (Pose::at(DVec3::new(f64::NAN, 0.0, 0.0)), 0.1, "the translation"),
        (Pose::at(DVec3::splat(1e9)), 0.1, "on another lattice"),
    ];
    for (pose, width, what) in bad {
        let refused = set.resample(set.domain(), &pose, width, Resampling::Linear);
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains(what), "{refused}");
    }
    let refused = set.resample(set.domain(), &Pose::IDENTITY, 1e4, Resampling::Linear);
    assert!(refused.unwrap_err().to_string().contains("at most ten million"));
    let tight = lattice(DVec3::ZERO, 1e-3).with_budget(MemoryBudget::new(1_000_000));
    let refused = set.resample(&tight, &Pose::IDENTITY, 3e-3, Resampling::Linear);
    assert!(refused.unwrap_err().to_string().contains("1.0 MB"));
    let nothing = LevelSet::empty("nothing", set.domain(), 0.1).unwrap();
    let other = lattice(DVec3::ZERO, 0.03);
    let found = nothing.resample(&other, &Pose::IDENTITY, 0.1, Resampling::Cubic).unwrap();
    assert_eq!(found.topology().local(), 0);
}
