//! Numbers that make no sense are refused by every tool, and nothing goes through all of them.

use super::measure::band;
use crate::solids::{Ball, domain};
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;
use undine_core::volume::VoxelShape;
use undine_core::{ChannelSpec, MemoryBudget};
use undine_geometry::levelset::{
    Advection, Beyond, Carrier, DistanceChannels, Extent, Extrapolation, Filter, Known, LevelSet,
    Mask, Order, Resampling, SurfaceChannel, extrapolate, redistance,
};
use undine_geometry::{Nearest, Pose, Solid};

const VOXEL: f64 = 0.05;
const NO_NUMBERS: [f64; 4] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0];
const BALL: Ball = Ball { centre: DVec3::ZERO, radius: 0.5 };

#[test]
fn nothing_goes_through_every_tool_and_stays_nothing() {
    let nothing = || LevelSet::empty("nothing", &domain(VOXEL), 3.0 * VOXEL).unwrap();
    let check = |set: &LevelSet| {
        assert_eq!((set.topology().local(), set.beyond().inside_count()), (0, 0));
        assert_eq!(set.size().unwrap().volume, 0.0);
    };
    let mut set = nothing();
    set.rebuild().unwrap();
    set.redistance().unwrap();
    set.trim().unwrap();
    set.dilate(1.0).unwrap();
    set.erode(1.0).unwrap();
    set.open(1.0).unwrap();
    set.close(1.0).unwrap();
    let filters = [
        Filter::MeanCurvature,
        Filter::Laplacian,
        Filter::Mean(2),
        Filter::Gaussian(1),
        Filter::Median(2),
    ];
    let mask = Mask::solid(&BALL, 0.1).unwrap();
    for filter in filters {
        set.filter(filter, u32::MAX, None).unwrap();
        set.filter(filter, 2, Some(&mask)).unwrap();
    }
    set.flow_by_mean_curvature(1.0, None).unwrap();
    check(&set);
    for blend in [0.0, 0.1, 1.0] {
        check(&nothing().union(&set, blend).unwrap());
        check(&nothing().intersection(&set, blend).unwrap());
        check(&nothing().difference(&set, blend).unwrap());
    }
    check(&set.with_width(1.0).unwrap());
    check(&set.resample(&domain(0.07), &Pose::IDENTITY, 0.2, Resampling::Linear).unwrap());
    assert_eq!(set.components().unwrap().count(), 0);
    assert!(set.fracture().unwrap().is_empty());
    check(&set.without_components_below(1.0).unwrap().0);
    let spec = ChannelSpec::new("heat", 1.0_f32);
    let channel = set.volume_mut().add_channel(&spec, VoxelShape::CELLS).unwrap();
    let how = Extrapolation { distance: 1.0, order: Order::Linear, known: Known::Inside };
    set.extrapolate(channel, &how).unwrap();
    let between = LevelSet::between("b", [&nothing(), &nothing()], 1.0, &|_| DVec3::X, 0.5);
    check(&between.unwrap());
}

#[test]
fn widths_that_are_none_are_refused() {
    for width in NO_NUMBERS.into_iter().chain([0.0, 1e300, 1e30, 1e-60]) {
        let refused = LevelSet::empty("none", &domain(VOXEL), width);
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("the width of a band"), "{width}: {refused}");
    }
    for extent in
        [1e300, 1e30, 1e9, f64::NAN].map(|n| [Extent::Band(n), Extent::Full(n)]).as_flattened()
    {
        let tight = domain(VOXEL).with_budget(MemoryBudget::new(100_000_000));
        assert!(LevelSet::of_solid("ball", &tight, &BALL, *extent).is_err(), "{extent:?}");
    }
    let set = band(&BALL, VOXEL);
    for width in NO_NUMBERS.into_iter().chain([0.0, 1e300, 1e30, 1e12]) {
        assert!(set.with_width(width).is_err(), "{width}");
        assert!(set.resample(&domain(0.07), &Pose::IDENTITY, width, Resampling::Linear).is_err());
    }
}

/// A solid that lies about where it is.
#[derive(Debug)]
struct Liar {
    bounds: Bounds,
    distance: f64,
}

impl Solid for Liar {
    fn distance(&self, _: DVec3) -> f64 {
        self.distance
    }

    fn nearest(&self, at: DVec3) -> Nearest {
        Nearest { point: at, normal: DVec3::X, distance: self.distance }
    }

    fn bounds(&self) -> Option<Bounds> {
        Some(self.bounds)
    }
}

#[test]
fn solids_that_make_no_sense_are_refused_or_have_no_inside() {
    let unit = Bounds { min: DVec3::ZERO, max: DVec3::ONE };
    let broken = [
        Bounds { min: DVec3::NAN, max: DVec3::ONE },
        Bounds { min: DVec3::ZERO, max: DVec3::INFINITY },
        Bounds { min: DVec3::NEG_INFINITY, max: DVec3::ZERO },
        Bounds { min: DVec3::splat(1e300), max: DVec3::splat(1.1e300) },
    ];
    for extent in [Extent::NARROW, Extent::Full(1.0)] {
        for bounds in broken {
            let solid = Liar { bounds, distance: 0.0 };
            assert!(LevelSet::of_solid("liar", &domain(VOXEL), &solid, extent).is_err());
        }
        for distance in [f64::NAN, f64::INFINITY] {
            let solid = Liar { bounds: unit, distance };
            let mut set = LevelSet::of_solid("liar", &domain(VOXEL), &solid, extent).unwrap();
            set.rebuild().unwrap();
            assert_eq!(set.size().unwrap().volume, 0.0, "{distance} {extent:?}");
        }
    }
}

#[test]
fn every_tool_refuses_numbers_that_are_none_and_leaves_the_surface() {
    let mut set = band(&BALL, VOXEL);
    let before = set.size().unwrap();
    let other = band(&BALL, VOXEL);
    for bad in NO_NUMBERS {
        assert!(set.dilate(bad).is_err() && set.erode(bad).is_err(), "{bad}");
        assert!(set.open(bad).is_err() && set.close(bad).is_err(), "{bad}");
        assert!(set.flow_by_mean_curvature(bad, None).is_err(), "{bad}");
        assert!(set.union(&other, bad).is_err() && set.difference(&other, bad).is_err());
        assert!(set.without_components_below(bad).is_err(), "{bad}");
        assert!(Mask::solid(&BALL, bad).is_err() && Mask::set(&other, bad).is_err(), "{bad}");
        let how = Extrapolation { distance: bad, order: Order::Constant, known: Known::Inside };
        let distance = set.distance();
        assert!(set.extrapolate(distance, &how).is_err(), "{bad}");
        let pair = [&other, &other];
        for (duration, time) in [(bad, 0.0), (1.0, bad)] {
            assert!(LevelSet::between("b", pair, duration, &|_| DVec3::X, time).is_err(), "{bad}");
        }
        let how = Advection { voxels_per_step: bad, ..Advection::default() };
        let still = |_: DVec3, _: f64| DVec3::ZERO;
        assert!(set.advect(Carrier::Field(&still), 0.0, 1.0, &how).is_err(), "{bad}");
    }
    for (reach, filter) in [(0, 9), (9, 200)] {
        assert!(set.filter(Filter::Mean(reach), 1, None).is_err());
        assert!(set.filter(Filter::Median(filter), 1, None).is_err());
    }
    for velocity in [DVec3::NAN, DVec3::INFINITY, DVec3::splat(1e300)] {
        let refused = LevelSet::between("b", [&other, &other], 1.0, &|_| velocity, 0.5);
        assert!(refused.is_err(), "{velocity}");
    }
    let channel = set.distance();
    for bad in [f32::NAN, f32::INFINITY] {
        assert!(Mask::ramp(channel, bad, 1.0).is_err() && Mask::ramp(channel, 0.0, bad).is_err());
        assert!(Mask::range(channel, bad, 1.0, 1.0).is_err());
        assert!(Mask::range(channel, 0.0, 1.0, bad).is_err());
    }
    assert_eq!(set.size().unwrap(), before);
}

#[test]
fn a_mask_on_another_lattice_is_refused() {
    let mut set = band(&BALL, VOXEL);
    let other = band(&BALL, 0.07);
    let mask = Mask::set(&other, 0.1).unwrap();
    let refused = set.filter(Filter::Laplacian, 1, Some(&mask)).unwrap_err().to_string();
    assert!(refused.contains("lattice"), "{refused}");
}

#[test]
fn a_surface_whose_width_is_none_is_refused() {
    let set = band(&BALL, VOXEL);
    let mut volume = undine_core::DiscreteVolume::on("v", set.domain(), set.topology().clone());
    let spec = ChannelSpec::new("a", 1.0_f32);
    let distance = volume.add_channel(&spec, VoxelShape::CELLS).unwrap();
    let next = volume.add_channel(&ChannelSpec::new("b", 1.0_f32), VoxelShape::CELLS).unwrap();
    let beyond = Beyond::find(set.domain(), &volume, distance).unwrap();
    let how = Extrapolation { distance: 1e18, order: Order::Constant, known: Known::Inside };
    for width in [f32::NAN, f32::INFINITY, -1.0, 0.0, 1e20] {
        let surface = SurfaceChannel { distance, width, beyond: &beyond };
        let refused = extrapolate(set.domain(), &mut volume, surface, next, &how);
        assert!(refused.is_err(), "{width}");
        let channels = DistanceChannels { distance, next };
        let width = f64::from(width);
        assert!(redistance(set.domain(), &mut volume, channels, width, &beyond).is_err());
    }
}

#[test]
fn level_sets_of_any_soup_go_through_the_tools() {
    use undine_geometry::Inside;
    use undine_geometry::{Triangles, random};
    for seed in 0..12 {
        // A few vertices, so that triangles are repeated, turned over, folded and without area.
        let vertices = 4 + seed % 5;
        let place = |n: u64| DVec3::from_array([0, 1, 2].map(|k| random::unit(seed, 8 * n + k)));
        let mut positions: Vec<DVec3> = (0..vertices).map(place).collect();
        positions[0] = positions[1];
        let corner = |n: u64| (random::bits(seed + 100, n) % vertices) as u32;
        let triangles = (0..3 + seed).map(|n| [0, 1, 2].map(|k| corner(3 * n + k))).collect();
        let mesh = Triangles::new(positions, triangles).unwrap();
        let rules = [Inside::default(), Inside::Thickness(0.15)];
        let extents = [Extent::Band(1.5), Extent::NARROW, Extent::Full(0.1)];
        let (rule, extent) = (rules[seed as usize % 2], extents[seed as usize % 3]);
        let make = || LevelSet::of_mesh("soup", &domain(VOXEL), &mesh, extent, rule).unwrap();
        let mut set = make();
        set.rebuild().unwrap();
        let all = set.size().unwrap();
        assert!(all.volume >= 0.0 && all.volume < 10.0, "{seed}: {all:?}");
        let parts = set.fracture().unwrap();
        let sum: f64 = parts.iter().map(|part| part.size().unwrap().volume).sum();
        assert!((sum - all.volume).abs() < 0.02 + 0.2 * all.volume, "{seed}: {sum} {all:?}");
        let mut wider = make();
        wider.dilate(0.2).unwrap();
        assert!(wider.size().unwrap().volume >= all.volume, "{seed}");
        let rest = wider.difference(&set, 0.0).unwrap().size().unwrap().volume;
        let wanted = wider.size().unwrap().volume - all.volume;
        assert!((rest - wanted).abs() < 0.02 + 0.1 * wanted, "{seed}: {rest} {wanted}");
        set.erode(2.0).unwrap();
        assert_eq!(set.topology().local(), 0, "{seed}");
    }
}

#[test]
fn other_channels_stay_in_the_buckets_that_stay() {
    let mut set = band(&BALL, VOXEL);
    let spec = ChannelSpec::new("number", -1.0_f32);
    let number = set.volume_mut().add_channel(&spec, VoxelShape::CELLS).unwrap();
    let mark =
        |key: undine_core::BucketKey, n: usize| (key.bucket().coord.x * 512 + n as i32) as f32;
    {
        let mut column = set.volume().column_mut(number).unwrap();
        for slot in 0..set.topology().local() as u32 {
            let key = set.topology().bucket(slot).key();
            column.chunk_mut(slot).iter_mut().enumerate().for_each(|(n, to)| *to = mark(key, n));
        }
    }
    let before = set.topology().all().clone();
    let check = |set: &LevelSet, what: &str| {
        let column = set.volume().column(number).unwrap();
        for slot in 0..set.topology().local() as u32 {
            let bucket = set.topology().bucket(slot);
            let stayed = before.contains(bucket);
            let wanted = |n: usize| if stayed { mark(bucket.key(), n) } else { -1.0 };
            let right = column.chunk(slot).iter().enumerate().all(|(n, found)| *found == wanted(n));
            assert!(right, "{what}: {bucket:?}");
        }
    };
    set.rebuild().unwrap();
    check(&set, "rebuilt");
    set.dilate(0.05).unwrap();
    check(&set, "dilated");
    set.filter(Filter::Laplacian, 1, None).unwrap();
    check(&set, "filtered");
    let still = |_: DVec3, _: f64| DVec3::X * 0.01;
    set.advect(Carrier::Field(&still), 0.0, 1.0, &Advection::default()).unwrap();
    check(&set, "carried");
}
