//! Shells in shells, bands narrow and wide, and whole boxes of voxels through every tool: what has no voxels stays
//! inside or outside as it should.

use super::measure::{check_beyond, largest_error};
use crate::solids::{Ball, domain};
use undine_core::glam::{DQuat, DVec3};
use undine_core::mesh::Bounds;
use undine_core::{Frame, GridDomain};
use undine_geometry::levelset::{Advection, Carrier, Extent, Filter, LevelSet, Resampling};
use undine_geometry::{Nearest, Pose, Solid};

/// Balls in each other around one centre, by turns inside and outside, the largest radius first.
#[derive(Debug, Clone)]
struct Shells {
    centre: DVec3,
    radii: Vec<f64>,
}

impl Shells {
    fn volume(&self) -> f64 {
        let ball = |radius: &f64| 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3);
        self.radii.iter().map(ball).enumerate().map(|(n, v)| if n % 2 == 0 { v } else { -v }).sum()
    }

    /// Every surface moved outwards of the inside.
    fn grown(&self, by: f64) -> Self {
        let moved = |(n, radius): (usize, &f64)| radius + if n % 2 == 0 { by } else { -by };
        Self { centre: self.centre, radii: self.radii.iter().enumerate().map(moved).collect() }
    }
}

impl Solid for Shells {
    fn distance(&self, at: DVec3) -> f64 {
        let from_centre = at.distance(self.centre);
        let inside = self.radii.iter().filter(|radius| from_centre < **radius).count() % 2 == 1;
        let nearest = self.radii.iter().map(|radius| (from_centre - radius).abs());
        let nearest = nearest.fold(f64::INFINITY, f64::min);
        if inside { -nearest } else { nearest }
    }

    fn nearest(&self, at: DVec3) -> Nearest {
        Nearest { point: at, normal: DVec3::X, distance: self.distance(at) }
    }

    fn bounds(&self) -> Option<Bounds> {
        Some(Bounds { min: self.centre - self.radii[0], max: self.centre + self.radii[0] })
    }
}

const VOXEL: f64 = 0.05;

/// A ball in a shell; wall and gap are 18 voxels thick or more, so that some Buckets in them have no voxels.
fn shells() -> Shells {
    Shells { centre: DVec3::new(0.02, -0.03, 0.01), radii: vec![2.4, 1.4, 0.5] }
}

fn made(solid: &dyn Solid, extent: Extent) -> LevelSet {
    LevelSet::of_solid("shells", &domain(VOXEL), solid, extent).unwrap()
}

/// Distances near the surface are within so many voxels of the solid's, what has no voxels is on its side, and the
/// volume is the solid's to one part in a hundred.
fn check(what: &str, set: &LevelSet, solid: &Shells, voxels: f64) {
    let exact = |at: DVec3| solid.distance(at);
    check_beyond(set, exact, 8);
    let error = largest_error(set, 0.9, exact);
    assert!(error < voxels, "{what}: {error} voxels");
    let volume = set.size().unwrap().volume;
    assert!((volume / solid.volume() - 1.0).abs() < 0.01, "{what}: {volume} {}", solid.volume());
}

#[test]
fn shells_in_shells_keep_their_sides_through_every_tool() {
    let solid = shells();
    for voxels in [1.5, 3.0] {
        let make = || made(&solid, Extent::Band(voxels));
        // In the least of bands distances are those next to the surface alone, and errors add up.
        let most = |error: f64| if voxels < 2.0 { 3.0 * error } else { error };
        let name = |tool: &str| format!("{tool} in a band of {voxels}");
        check(&name("made"), &make(), &solid, 1e-4);
        let mut set = make();
        set.rebuild().unwrap();
        check(&name("rebuilt"), &set, &solid, 0.06);
        set.trim().unwrap();
        set.redistance().unwrap();
        check(&name("trimmed"), &set, &solid, 0.06);
        for by in [0.12, -0.12] {
            let mut set = make();
            if by > 0.0 { set.dilate(by) } else { set.erode(-by) }.unwrap();
            check(&name("offset"), &set, &solid.grown(by), most(0.1));
        }
        let mut set = make();
        set.open(0.1).unwrap();
        set.close(0.1).unwrap();
        check(&name("opened and closed"), &set, &solid, most(0.15));
        for filter in [Filter::MeanCurvature, Filter::Laplacian] {
            let mut set = make();
            set.filter(filter, 2, None).unwrap();
            check(&name("filtered"), &set, &solid, most(0.1));
        }
        if voxels > 2.0 {
            for filter in [Filter::Mean(1), Filter::Gaussian(2), Filter::Median(1)] {
                let mut set = make();
                set.filter(filter, 1, None).unwrap();
                check(&name("filtered"), &set, &solid, 0.2);
            }
        }
        let velocity = DVec3::new(1.0, -0.5, 0.25);
        let field = |_: DVec3, _: f64| velocity;
        let mut set = make();
        set.advect(Carrier::Field(&field), 0.0, 0.3, &Advection::default()).unwrap();
        let there = Shells { centre: solid.centre + 0.3 * velocity, ..solid.clone() };
        check(&name("carried"), &set, &there, most(0.1));
        let set = make().resample(&domain(0.07), &Pose::IDENTITY, 0.21, Resampling::Cubic).unwrap();
        check_beyond(&set, |at| solid.distance(at), 6);
        let turned = Pose { rotation: DQuat::from_rotation_x(0.3), translation: DVec3::splat(0.1) };
        let set = make().resample(&domain(VOXEL), &turned, 0.15, Resampling::Linear).unwrap();
        let there = Shells { centre: turned.to_world(solid.centre), ..solid.clone() };
        check(&name("turned"), &set, &there, most(0.1));

        let parts = make().fracture().unwrap();
        assert_eq!(parts.len(), 2);
        let wanted = [&solid.radii[..2], &solid.radii[2..]]
            .map(|radii| Shells { centre: solid.centre, radii: radii.to_vec() });
        for part in &parts {
            let outer = part.size().unwrap().volume > 2.0;
            check(&name("part"), part, &wanted[usize::from(!outer)], 0.06);
        }
        let together = parts[0].union(&parts[1], 0.0).unwrap();
        check(&name("united"), &together, &solid, 0.06);
        let (without, gone) = make().without_components_below(2.0).unwrap();
        assert_eq!(gone, 1);
        check(&name("without the inner"), &without, &wanted[0], 0.06);
        let outer = solid.radii[0] + 0.4;
        let ball = Shells { centre: solid.centre, radii: vec![outer] };
        let hollow = made(&ball, Extent::Band(voxels)).difference(&make(), 0.0).unwrap();
        let other = Shells { centre: solid.centre, radii: [&[outer], &solid.radii[..]].concat() };
        check(&name("the rest"), &hollow, &other, 0.06);
    }
}

#[test]
fn whole_boxes_of_voxels_go_through_every_tool() {
    let solid = Shells { centre: DVec3::new(0.02, -0.03, 0.01), radii: vec![1.0, 0.6] };
    let make = || made(&solid, Extent::Full(2.0));
    check("made", &make(), &solid, 1e-4);
    let buckets = make().topology().local();
    let bounded = |what: &str, set: &LevelSet| {
        let found = set.topology().local();
        assert!(found <= 8 * buckets, "{what}: {found} Buckets of {buckets}");
    };
    let mut set = make();
    set.rebuild().unwrap();
    check("rebuilt", &set, &solid, 0.06);
    bounded("rebuilt", &set);
    // Within the box, and far beyond its padding.
    for by in [0.03, 0.3, -0.1] {
        let mut set = make();
        if by > 0.0 { set.dilate(by) } else { set.erode(-by) }.unwrap();
        check(&format!("offset by {by}"), &set, &solid.grown(by), 0.1);
        bounded("offset", &set);
    }
    let velocity = DVec3::new(1.0, -0.5, 0.25);
    let field = |_: DVec3, _: f64| velocity;
    let mut set = make();
    set.advect(Carrier::Field(&field), 0.0, 0.8, &Advection::default()).unwrap();
    let there = Shells { centre: solid.centre + 0.8 * velocity, ..solid.clone() };
    check("carried", &set, &there, 0.1);
    bounded("carried", &set);
    let mut set = make();
    set.filter(Filter::MeanCurvature, 2, None).unwrap();
    check("filtered", &set, &solid, 0.1);
    let parts = make().fracture().unwrap();
    check("part", &parts[0], &solid, 0.06);
    let ball = made(&Ball { centre: solid.centre, radius: 0.6 }, Extent::Full(2.0));
    let whole = make().union(&ball, 0.0).unwrap();
    let wanted = Shells { centre: solid.centre, radii: vec![1.0] };
    check_beyond(&whole, |at| wanted.distance(at), 6);
    let hole =
        make().difference(&made(&Ball { centre: solid.centre, radius: 0.7 }, Extent::NARROW), 0.0);
    let wanted = Shells { centre: solid.centre, radii: vec![1.0, 0.7] };
    check("hollowed", &hole.unwrap(), &wanted, 0.05);
    let set = make().resample(&domain(VOXEL), &Pose::IDENTITY, 0.15, Resampling::Linear).unwrap();
    check("narrowed", &set, &solid, 0.06);
}

#[test]
fn a_wide_band_is_as_wide_after_its_surface_has_moved() {
    let ball = Ball { centre: DVec3::new(0.02, -0.03, 0.01), radius: 1.0 };
    let mut set = made(&ball, Extent::Band(30.0));
    set.dilate(1.35).unwrap();
    let column = set.column().unwrap();
    let sampler = set.sampler(&column);
    for n in 0..29 {
        let away = VOXEL * f64::from(n);
        let found = f64::from(sampler.at(ball.centre + DVec3::X * (2.35 + away)));
        assert!((found - away).abs() < 0.3 * VOXEL, "{n} voxels away: {}", found / VOXEL);
    }
}

#[test]
fn surfaces_on_the_faces_of_buckets_and_one_bucket_apart_are_told_apart() {
    use crate::solids::Brick;
    use undine_geometry::Several;
    // Faces exactly between Buckets; a gap of one Bucket between the two, and an inside of three.
    let size = 8.0 * VOXEL;
    let brick = |x: f64| Brick {
        min: size * DVec3::new(x, -1.0, -2.0),
        max: size * DVec3::new(x + 3.0, 3.0, 3.0),
    };
    let both = Several(vec![brick(-4.0), brick(0.0)]);
    for extent in [Extent::Band(1.5), Extent::NARROW, Extent::Band(8.0), Extent::Full(1.0)] {
        let mut set = made(&both, extent);
        let exact = |at: DVec3| both.distance(at);
        let wanted = 2.0 * 3.0 * 4.0 * 5.0 * size.powi(3);
        for _ in 0..2 {
            check_beyond(&set, exact, 8);
            let size = set.size().unwrap();
            assert!((size.volume / wanted - 1.0).abs() < 5e-3, "{extent:?}: {size:?} {wanted}");
            assert_eq!(set.components().unwrap().count(), 2, "{extent:?}");
            let volumes = set.components().unwrap().volumes().to_vec();
            assert!(volumes.iter().all(|volume| (volume / wanted - 0.5).abs() < 5e-3));
            set.rebuild().unwrap();
        }
    }
}

#[test]
fn ten_kilometres_away_a_level_set_is_as_good() {
    let solid = Shells { centre: DVec3::new(1e4, -1e4, 1e4), radii: vec![1.0, 0.4] };
    let far = GridDomain::new("far", Frame::new(DVec3::ZERO, VOXEL).unwrap());
    let mut set = LevelSet::of_solid("far", &far, &solid, Extent::NARROW).unwrap();
    let exact = |at: DVec3| solid.distance(at);
    assert!(largest_error(&set, 0.9, exact) < 1e-4);
    set.rebuild().unwrap();
    assert!(largest_error(&set, 0.9, exact) < 0.02);
    let spin = |at: DVec3, _: f64| (at - solid.centre).cross(DVec3::Z);
    let report = set.advect(Carrier::Field(&spin), 0.0, 1.0, &Advection::default()).unwrap();
    assert!(report.drift().abs() < 2e-3, "{report:?}");
    assert!(largest_error(&set, 0.9, exact) < 0.1);
    set.dilate(0.1).unwrap();
    assert!(largest_error(&set, 0.9, |at| solid.grown(0.1).distance(at)) < 0.1);
}
