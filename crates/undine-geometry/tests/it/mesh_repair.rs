//! Repair: holes are closed and patches look outwards.

use crate::mesh_weld::{any_soup, closed_gallery};
use proptest::prelude::*;
use undine_core::glam::DVec3;
use undine_geometry::meshing::{HoleLimits, fill_holes, orient};
use undine_geometry::{Triangles, gallery, random};

fn volume(mesh: &Triangles) -> f64 {
    mesh.clone().into_surface("mesh").unwrap().volume().unwrap()
}

/// The mesh without the triangles for which `gone` is true.
fn without(mesh: &Triangles, gone: impl Fn(usize) -> bool) -> Triangles {
    let left = mesh.indices().iter().enumerate().filter(|(n, _)| !gone(*n));
    Triangles::new(mesh.positions().to_vec(), left.map(|(_, t)| *t).collect()).unwrap()
}

#[test]
fn holes_are_closed_and_the_volume_comes_back() {
    for (seed, mesh) in (0..).zip(closed_gallery().into_iter().skip(1)) {
        // Single triangles and strips of them: holes that touch each other among them.
        let gone = |n: usize| random::unit(seed, n as u64 / 3) < 0.08;
        let open = without(&mesh, gone);
        assert!(open.len() < mesh.len());
        let filled = fill_holes(&open, HoleLimits { edges: 200, ..HoleLimits::default() }).unwrap();
        assert!(filled.left.is_empty() && filled.filled > 5);
        let closed = &filled.remeshed.mesh;
        assert_eq!(closed.indices()[..open.len()], *open.indices());
        assert_eq!(
            filled.remeshed.triangles.iter().filter(|t| t.is_none()).count(),
            closed.len() - open.len()
        );
        let surface = closed.clone().into_surface("filled").unwrap();
        surface.check_closed().unwrap();
        assert!((surface.volume().unwrap() / volume(&mesh) - 1.0).abs() < 0.02);
    }
}

/// A flat hole of any outline is filled by its own area: no triangle lies over another.
#[test]
fn a_flat_hole_gets_its_own_area_and_a_bent_one_follows_the_surface() {
    let sheet = gallery::sheet([12.0, 12.0], [12, 12]);
    // An L in the middle, so that the hole is not convex.
    let inside = |t: usize| {
        let middle = sheet.corners(t).iter().sum::<DVec3>() / 3.0;
        let near = |d: f64, from: f64, to: f64| d > from && d < to;
        near(middle.x, -4.0, 4.0) && near(middle.y, -4.0, -1.0)
            || near(middle.x, -4.0, -1.0) && near(middle.y, -4.0, 4.0)
    };
    let open = without(&sheet, inside);
    let limits = HoleLimits { edges: 40, ..HoleLimits::default() };
    let filled = fill_holes(&open, limits).unwrap();
    assert_eq!((filled.filled, filled.left.len()), (1, 1));
    assert_eq!(filled.left[0].len(), 48);
    let surface = filled.remeshed.mesh.into_surface("filled").unwrap();
    surface.validate().unwrap();
    assert!((surface.area().unwrap() - 144.0).abs() < 1e-9);
    assert!(surface.face_normals().unwrap().iter().all(|normal| normal.z > 0.999));

    // A pair of triangles over the edge of a box: the fill keeps the edge instead of cutting it off.
    let mesh = gallery::sphere(1.0, 3);
    let open = without(&mesh, |t| mesh.corners(t)[0].z > 0.9);
    let cap = fill_holes(&open, HoleLimits::default()).unwrap().remeshed.mesh;
    cap.clone().into_surface("cap").unwrap().validate().unwrap();
    assert!(volume(&cap) < volume(&mesh));
}

#[test]
fn limits_of_holes_are_kept() {
    let tube = gallery::sheet([1.0, 1.0], [4, 4]);
    let count = |edges, length| {
        let filled = fill_holes(&tube, HoleLimits { edges, length }).unwrap();
        (filled.filled, filled.left.len())
    };
    assert_eq!(count(16, f64::INFINITY), (1, 0));
    assert_eq!(count(15, f64::INFINITY), (0, 1));
    assert_eq!(count(16, 4.01), (1, 0));
    assert_eq!(count(16, 3.99), (0, 1));
    for edges in [0, 2, 1001] {
        assert!(fill_holes(&tube, HoleLimits { edges, length: 1.0 }).is_err());
    }
    assert!(fill_holes(&tube, HoleLimits { edges: 9, length: f64::NAN }).is_err());
}

#[test]
fn triangles_that_were_turned_over_look_outwards_again() {
    for (seed, mesh) in (0..).zip(closed_gallery()) {
        for far in [0.0, 1e4] {
            let mut turned = 0;
            let turn = |(n, &[a, b, c]): (u64, &[u32; 3])| match random::unit(seed, n) < 0.6 {
                true => {
                    turned += 1;
                    [a, c, b]
                }
                false => [a, b, c],
            };
            let triangles = (0..).zip(mesh.indices()).map(turn).collect();
            let positions = mesh.positions().iter().map(|&p| p + far).collect();
            let mixed = Triangles::new(positions, triangles).unwrap();
            let oriented = orient(&mixed).unwrap();
            assert_eq!(oriented.turned.iter().filter(|&&t| t).count(), turned);
            assert_eq!(oriented.twisted, 0);
            assert!(oriented.patch.iter().all(|&patch| patch == 0));
            oriented.mesh.clone().into_surface("outwards").unwrap().check_closed().unwrap();
            assert!(volume(&oriented.mesh) > 0.0);
        }
    }
}

/// A ball in the cavity of a hollow ball, with a smaller cavity of its own beside another: walls look into cavities.
#[test]
fn walls_of_cavities_look_into_them() {
    let mut positions = Vec::new();
    let mut triangles = Vec::new();
    let centred = [
        (0.0, 1.0, true),
        (0.0, 0.8, false),
        (0.2, 0.5, true),
        (0.0, 0.2, false),
        (0.45, 0.15, false),
    ];
    for (x, radius, outwards) in centred.into_iter().chain([(3.0, 1.0, true)]) {
        let ball = gallery::sphere(radius, 2);
        let first = positions.len() as u32;
        positions.extend(ball.positions().iter().map(|&p| p + x * DVec3::X));
        triangles.extend(ball.indices().iter().map(|corners| {
            let [a, b, c] = corners.map(|vertex| vertex + first);
            if outwards { [a, b, c] } else { [a, c, b] }
        }));
    }
    let right = Triangles::new(positions, triangles).unwrap();
    let turn = |(n, &[a, b, c]): (u64, &[u32; 3])| {
        if random::unit(3, n) < 0.5 { [a, c, b] } else { [a, b, c] }
    };
    let mixed = (0..).zip(right.indices()).map(turn).collect();
    let mixed = Triangles::new(right.positions().to_vec(), mixed).unwrap();
    for start in [&right, &mixed] {
        let found = orient(start).unwrap().mesh;
        // The same triangles, whichever corner comes first.
        let same = |a: &[u32; 3], b: &[u32; 3]| {
            (0..3).any(|k| [a[k], a[(k + 1) % 3], a[(k + 2) % 3]] == *b)
        };
        assert!(found.indices().iter().zip(right.indices()).all(|(a, b)| same(a, b)));
    }
}

#[test]
fn open_patches_look_outwards_flat_ones_stay_and_a_moebius_strip_is_told() {
    let sphere = gallery::sphere(1.0, 3);
    let cap = without(&sphere, |t| sphere.corners(t)[0].z < 0.3);
    let inwards = Triangles::new(
        cap.positions().to_vec(),
        cap.indices().iter().map(|&[a, b, c]| [a, c, b]).collect(),
    );
    let oriented = orient(&inwards.unwrap()).unwrap();
    assert!(oriented.turned.iter().all(|&turned| turned));

    let sheet = gallery::sheet([1.0, 1.0], [3, 3]);
    assert_eq!(orient(&sheet).unwrap().mesh, sheet);

    let around = 20;
    let positions = (0..2 * around)
        .map(|n| {
            let angle = f64::from(n / 2) / f64::from(around) * std::f64::consts::TAU;
            let across = if n % 2 == 0 { 0.2 } else { -0.2 };
            let out = DVec3::new(angle.cos(), angle.sin(), 0.0);
            out + across * ((0.5 * angle).cos() * out + (0.5 * angle).sin() * DVec3::Z)
        })
        .collect();
    let triangles = (0..around as u32)
        .flat_map(|n| {
            let [a, b] = [2 * n, 2 * n + 1];
            // The last quad joins the ends with the sides swapped.
            let [c, d] = if n + 1 < around as u32 { [a + 2, b + 2] } else { [1, 0] };
            [[a, c, b], [b, c, d]]
        })
        .collect();
    let strip = Triangles::new(positions, triangles).unwrap();
    assert_eq!(orient(&strip).unwrap().twisted, 1);
}

/// What has neither area nor volume has a volume of rounding, whose sign says nothing.
#[test]
fn triangles_without_area_keep_their_side() {
    let positions = [[-1.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.5, -0.5], [1.0, 0.0, -1.0]];
    let positions = positions.map(DVec3::from_array).to_vec();
    let triangles = vec![[3, 0, 0], [3, 0, 2], [2, 0, 3], [1, 2, 3]];
    let mesh = Triangles::new(positions, triangles).unwrap();
    let again = orient(&orient(&mesh).unwrap().mesh).unwrap();
    assert_eq!(again.turned, [false; 4]);
}

proptest! {
    #[test]
    fn any_soup_is_closed_once_all_holes_are_filled(mesh in any_soup()) {
        let filled = fill_holes(&mesh, HoleLimits { edges: 1000, length: f64::INFINITY }).unwrap();
        prop_assert!(filled.left.is_empty());
        let surface = filled.remeshed.mesh.into_surface("filled").unwrap();
        prop_assert!(surface.check_closed().is_ok());
    }

    #[test]
    fn any_soup_can_be_oriented(mesh in any_soup()) {
        let oriented = orient(&mesh).unwrap();
        prop_assert_eq!(oriented.mesh.len(), mesh.len());
        // Once is enough: patches keep their side, and disagreements do not grow.
        let again = orient(&oriented.mesh).unwrap();
        prop_assert!(again.twisted == oriented.twisted);
        prop_assert!(oriented.twisted > 0 || !again.turned.contains(&true));
    }
}
