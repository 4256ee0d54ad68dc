//! Filters: flow by curvature as it is known, planes that stay, masks that keep every bit.

use super::measure::{band, even_slopes, largest_error, volume, voxels};
use crate::solids::{Ball, Brick, domain};
use undine_core::ChannelSpec;
use undine_core::glam::DVec3;
use undine_core::volume::VoxelShape;
use undine_geometry::Solid;
use undine_geometry::levelset::{Extent, Filter, LevelSet, Mask};

const ALL: [Filter; 5] = [
    Filter::MeanCurvature,
    Filter::Laplacian,
    Filter::Mean(1),
    Filter::Gaussian(2),
    Filter::Median(1),
];

/// The voxels of the bumpy ball [m].
const VOXEL: f64 = 0.0625;

/// A ball with a bump of a few voxels.
fn bumpy(voxel: f64) -> LevelSet {
    let ball = band(&Ball { centre: DVec3::ZERO, radius: 1.0 }, voxel);
    let bump = band(&Ball { centre: DVec3::new(0.9, 0.3, 0.1), radius: 4.0 * voxel }, voxel);
    ball.union(&bump, 0.0).unwrap()
}

#[test]
fn a_ball_shrinks_under_its_mean_curvature_as_the_square_root() {
    // κ = 2/r, so that dr/dt = −2/r and r² = r₀² − 4t.
    let voxel = 0.05;
    let ball = Ball { centre: DVec3::new(0.01, -0.02, 0.005), radius: 1.0 };
    let mut set = band(&ball, voxel);
    for step in 1..=3 {
        set.flow_by_mean_curvature(0.02, None).unwrap();
        let radius = (1.0 - 4.0 * 0.02 * f64::from(step)).sqrt();
        let error = largest_error(&set, 0.5, |at| at.distance(ball.centre) - radius);
        assert!(error < 0.1, "{step}: {error} voxels");
        assert!(even_slopes(&set) > 99.0, "{}", even_slopes(&set));
    }
}

#[test]
fn a_drop_smaller_than_a_few_voxels_flows_away() {
    let mut set = band(&Ball { centre: DVec3::splat(0.02), radius: 0.12 }, 0.05);
    set.flow_by_mean_curvature(0.02, None).unwrap();
    assert_eq!((set.topology().local(), set.beyond().inside_count()), (0, 0));
}

#[test]
fn planes_stay_where_they_are_under_every_filter() {
    // Planes of a large box, away from its edges; not in the middle between voxels.
    let brick = Brick { min: DVec3::splat(-1.013), max: DVec3::splat(1.021) };
    for filter in ALL {
        let mut set = band(&brick, 0.05);
        set.filter(filter, 4, None).unwrap();
        let away = |at: DVec3| {
            let beyond = (brick.min - at).max(at - brick.max);
            let mut sorted = beyond.to_array();
            sorted.sort_by(f64::total_cmp);
            sorted[1] < -0.6
        };
        for (.., at, distance) in voxels(&set).into_iter().filter(|voxel| away(voxel.2)) {
            let wanted = brick.distance(at).clamp(-0.15, 0.15);
            // A filter that reaches two voxels feels the ends of a band of three.
            let most = if filter == Filter::Gaussian(2) { 1e-3 } else { 1e-5 };
            assert!((distance - wanted).abs() < most, "{filter:?} {at}: {distance} {wanted}");
        }
    }
}

#[test]
fn filters_take_bumps_away_and_leave_distances() {
    for filter in ALL {
        let mut set = bumpy(VOXEL);
        let exact = |at: DVec3| at.length() - 1.0;
        let before = largest_error(&set, 1.0, exact);
        let iterations = match filter {
            Filter::MeanCurvature | Filter::Laplacian => 24,
            _ => 10,
        };
        set.filter(filter, iterations, None).unwrap();
        let after = largest_error(&set, 1.0, exact);
        assert!(after < 0.8 * before, "{filter:?}: {before} {after}");
        assert!(even_slopes(&set) > 97.0, "{filter:?}: {}", even_slopes(&set));
        assert!((volume(&set) / 4.19 - 1.0).abs() < 0.12, "{filter:?}: {}", volume(&set));
    }
}

/// The voxels that differ, and whether each may.
fn changes(before: &LevelSet, after: &LevelSet, may: impl Fn(DVec3) -> bool) -> usize {
    let [before, after] = [before, after].map(|set| {
        let mut all: Vec<_> =
            voxels(set).into_iter().map(|(b, p, at, d)| (b.key(), p, at, d)).collect();
        all.sort_by_key(|(key, place, ..)| (*key, *place));
        all
    });
    let find = |key, place| {
        let at = after.binary_search_by_key(&(key, place), |(key, place, ..)| (*key, *place));
        at.ok().map(|at| after[at].3)
    };
    let mut changed = 0;
    for (key, place, at, distance) in before {
        let found = find(key, place);
        if found.map(f64::to_bits) != Some(distance.to_bits()) {
            // A voxel whose Bucket has gone must have been at the end of the band.
            assert!(
                may(at) || found.is_none() && distance.abs() > 2.99 * VOXEL,
                "{at}: {distance} {found:?}"
            );
            changed += 1;
        }
    }
    changed
}

#[test]
fn masked_voxels_keep_every_bit() {
    let region = Ball { centre: DVec3::new(1.0, 0.0, 0.0), radius: 0.6 };
    let region_set = band(&region, VOXEL);
    for filter in ALL {
        let before = bumpy(VOXEL);
        for inverted in [false, true] {
            let masks = [Mask::solid(&region, 0.1), Mask::set(&region_set, 0.1)];
            let results = masks.map(|mask| {
                let mask = mask.unwrap();
                let mask = if inverted { mask.inverted() } else { mask };
                let mut set = bumpy(VOXEL);
                set.filter(filter, 3, Some(&mask)).unwrap();
                set
            });
            for set in &results {
                // The distances of a level set are rounded to f32, and so is where its mask ends.
                let may = |at: DVec3| {
                    let distance = region.distance(at);
                    if inverted { distance > -1e-6 } else { distance < 0.1 + 1e-6 }
                };
                assert!(changes(&before, set, may) > 300, "{filter:?}");
            }
        }
    }
}

#[test]
fn a_channel_can_be_a_mask() {
    let mut set = bumpy(VOXEL);
    let spec = ChannelSpec::new("wetness", 0.0_f32);
    let wetness = set.volume_mut().add_channel(&spec, VoxelShape::CELLS).unwrap();
    {
        let mut column = set.volume().column_mut(wetness).unwrap();
        for (n, (bucket, place, at, _)) in voxels(&set).into_iter().enumerate() {
            let slot = set.topology().slot(bucket).unwrap();
            assert_eq!(n % 512, place);
            column.chunk_mut(slot)[place] = at.x as f32;
        }
    }
    let mut ranged = set.with_width(f64::from(set.width())).unwrap();
    let there = ranged.volume_mut().add_channel(&spec, VoxelShape::CELLS).unwrap();
    for slot in 0..set.topology().local() as u32 {
        let from = set.volume().column(wetness).unwrap().chunk(slot).to_vec();
        let to = ranged.topology().slot(set.topology().bucket(slot)).unwrap();
        ranged.volume().column_mut(there).unwrap().chunk_mut(to).copy_from_slice(&from);
    }
    let mask = Mask::range(there, 0.6, 0.8, 0.1).unwrap();
    ranged.filter(Filter::Laplacian, 4, Some(&mask)).unwrap();
    let may = |at: DVec3| at.x > 0.5 - 1e-6 && at.x < 0.9 + 1e-6;
    assert!(changes(&bumpy(VOXEL), &ranged, may) > 300);

    let mask = Mask::ramp(wetness, 0.5, 0.7).unwrap();
    set.filter(Filter::Laplacian, 4, Some(&mask)).unwrap();
    assert!(changes(&bumpy(VOXEL), &set, |at| at.x > 0.5 - 1e-6) > 300);
    let refused = Mask::ramp(wetness, 0.5, 0.5).unwrap_err().to_string();
    assert!(refused.contains("full effect"), "{refused}");
    assert!(Mask::range(wetness, 0.8, 0.6, 0.1).is_err());
    assert!(Mask::range(wetness, f32::NAN, 0.6, 0.1).is_err());
    assert!(Mask::range(wetness, 0.6, 0.8, 0.0).is_err());
}

#[test]
fn filters_that_reach_beyond_the_band_and_bad_masks_are_refused() {
    let ball = Ball { centre: DVec3::ZERO, radius: 0.5 };
    let mut set = band(&ball, 0.1);
    for filter in [Filter::Mean(3), Filter::Mean(0), Filter::Gaussian(9), Filter::Median(3)] {
        let refused = set.filter(filter, 1, None).unwrap_err().to_string();
        assert!(refused.contains("the reach of a filter"), "{refused}");
    }
    let mut wide = set.with_width(0.5).unwrap();
    wide.filter(Filter::Mean(3), 1, None).unwrap();
    for time in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(set.flow_by_mean_curvature(time, None).is_err());
    }
    for transition in [0.0, -0.1, f64::NAN, f64::INFINITY] {
        assert!(Mask::solid(&ball, transition).is_err());
        assert!(Mask::set(&set, transition).is_err());
    }
    assert!(Mask::set(&set, 0.5).is_err());
    let nothing = LevelSet::of_solid(
        "nothing",
        &domain(0.1),
        &Ball { centre: DVec3::ZERO, radius: -1.0 },
        Extent::NARROW,
    );
    if let Ok(mut nothing) = nothing {
        nothing.filter(Filter::Laplacian, 3, None).unwrap();
        assert_eq!(nothing.topology().local(), 0);
    }
}
