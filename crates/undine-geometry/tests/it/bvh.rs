//! The tree against loops over all triangles: every answer must be the same bits.

use proptest::prelude::*;
use undine_core::glam::{DQuat, DVec3};
use undine_geometry::triangle::closest_point;
use undine_geometry::{Bvh, Closest, Triangles, gallery, random};

/// The same answer by asking every triangle.
fn brute_closest(mesh: &Triangles, at: DVec3, distance: f64) -> Option<Closest> {
    let mut best: Option<Closest> = None;
    for (triangle, corners) in mesh.iter().enumerate() {
        let on = closest_point(corners, at);
        let found = Closest {
            triangle: triangle as u32,
            feature: on.feature,
            point: on.point,
            weights: on.weights,
            distance_squared: on.point.distance_squared(at),
        };
        let near = found.distance_squared <= distance * distance;
        if near && best.is_none_or(|best| found.distance_squared < best.distance_squared) {
            best = Some(found);
        }
    }
    best
}

pub fn unit(seed: u64, n: u64) -> DVec3 {
    DVec3::from_array([0, 1, 2].map(|axis| random::unit(3 * seed + axis, n)))
}

pub fn moved(mesh: &Triangles, to: impl Fn(DVec3) -> DVec3) -> Triangles {
    let positions = mesh.positions().iter().map(|&p| to(p)).collect();
    Triangles::new(positions, mesh.indices().to_vec()).unwrap()
}

/// Loose triangles with their corners where `corner` puts them.
pub fn soup(count: u32, corner: impl Fn(u64) -> DVec3) -> Triangles {
    let positions = (0..3 * u64::from(count)).map(corner).collect();
    Triangles::new(positions, (0..count).map(|n| [3 * n, 3 * n + 1, 3 * n + 2]).collect()).unwrap()
}

/// Every mesh that is made, and those that nobody should have made.
pub fn meshes() -> Vec<(&'static str, Triangles)> {
    let turn = DQuat::from_rotation_y(0.3) * DQuat::from_rotation_x(0.7);
    let knot = gallery::knot(0.06, 120, 8);
    let twice = {
        let (positions, mut indices) = gallery::sphere(0.5, 2).into_parts();
        indices.extend(indices.clone());
        indices.extend(indices.clone().iter().map(|&[a, b, c]| [c, b, a]));
        Triangles::new(positions, indices).unwrap()
    };
    let grid = |p: DVec3| (p * 4.0).floor() * 0.25;
    vec![
        ("cuboid", gallery::cuboid(DVec3::new(0.5, 0.4, 0.3))),
        ("sphere", gallery::sphere(0.5, 3)),
        ("bunny", gallery::bunny(3)),
        ("hull", gallery::hull(300).unwrap()),
        ("torus", gallery::torus(0.4, 0.1, 40, 12)),
        ("turned cuboid", moved(&gallery::cuboid(DVec3::splat(0.4)), |p| turn * p)),
        ("sheet", gallery::sheet([1.0, 1.0], [12, 15])),
        ("far", moved(&knot, |p| p + DVec3::new(1e6, -2e6, 3e6))),
        ("huge", moved(&knot, |p| p * 1e6)),
        ("vast", moved(&knot, |p| p * 1e40)),
        ("tiny", moved(&knot, |p| p * 1e-12)),
        ("flat", moved(&knot, |p| p * DVec3::new(1.0, 1e-9, 1.0))),
        ("knot", knot),
        ("four times over", twice),
        ("loose", soup(500, |n| unit(10, n) - 0.5)),
        ("loose and small", soup(800, |n| 0.9 * (unit(11, n / 3) - 0.5) + 0.02 * unit(12, n))),
        ("on a grid", soup(400, |n| grid(unit(13, n)) - 0.5)),
        ("coplanar", soup(400, |n| (unit(14, n) - 0.5) * DVec3::new(1.0, 1.0, 0.0))),
        (
            "needles",
            soup(400, |n| {
                let (a, along) = (unit(15, n / 3) - 0.5, unit(16, n / 3) - 0.5);
                let width = 10.0_f64.powf(-3.0 - 12.0 * random::unit(17, n / 3));
                a + along * random::unit(18, n) + (unit(19, n) - 0.5) * width
            }),
        ),
        (
            "segments",
            soup(300, |n| unit(20, n / 3) - 0.5 + (unit(21, n / 3) - 0.5) * (0.5 * (n % 3) as f64)),
        ),
        ("points", soup(300, |n| unit(22, n / 3) - 0.5)),
        ("one point", soup(300, |_| DVec3::new(0.1, 0.2, 0.3))),
        (
            "of all sizes",
            soup(500, |n| (unit(23, n) - 0.5) * 10.0_f64.powf(-9.0 * random::unit(24, n / 3))),
        ),
        (
            "ever smaller",
            soup(900, |n| DVec3::splat((-0.3 * (n / 3) as f64).exp2()) + 1e-30 * unit(25, n)),
        ),
        ("single", soup(1, |n| unit(26, n) - 0.5)),
    ]
}

/// Places in and around a mesh, far from it, on its surface, its edges and corners, and between equal triangles.
pub fn places(mesh: &Triangles, count: u64) -> Vec<DVec3> {
    let bounds = mesh.bounds().unwrap();
    let size = bounds.size().max_element().max(1e-30);
    let place = |n: u64| {
        let corners = mesh.corners((random::bits(30, n) % mesh.len() as u64) as usize);
        let on = |[u, v, w]: [f64; 3]| u * corners[0] + v * corners[1] + w * corners[2];
        match n % 10 {
            0 => bounds.min + bounds.size() * unit(31, n),
            1 => bounds.centre() + (unit(31, n) - 0.5) * (4.0 * size),
            2 => bounds.centre() + (unit(31, n) - 0.5) * (1e5 * size),
            3 => on([0.3, 0.3, 0.4]),
            4 => on([0.5, 0.5, 0.0]),
            5 => corners[(n / 10 % 3) as usize],
            6 => bounds.centre(),
            7 => on([0.5, 0.5, 0.0]) + (unit(31, n) - 0.5) * (0.01 * size),
            8 => corners[0] + (unit(31, n) - 0.5) * (1e-9 * size),
            _ => on([0.2, 0.3, 0.5]) + (unit(31, n) - 0.5) * (0.1 * size),
        }
    };
    (0..count).map(place).collect()
}

#[test]
fn the_closest_point_is_that_of_a_loop_over_all_triangles() {
    for (name, mesh) in meshes() {
        let places = places(&mesh, 2_000);
        let bvh = Bvh::new(mesh).unwrap();
        let all = bvh.closest_all(&places);
        for (&at, found) in places.iter().zip(all) {
            let wanted = brute_closest(bvh.triangles(), at, f64::INFINITY);
            assert_eq!(found, wanted, "{name} at {at}");
            assert_eq!(bvh.closest(at), wanted, "{name} at {at}");
        }
    }
}

#[test]
fn nothing_beyond_the_largest_distance_is_found_and_everything_within() {
    for (name, mesh) in meshes() {
        let places = places(&mesh, 300);
        let size = mesh.bounds().unwrap().size().max_element();
        let bvh = Bvh::new(mesh).unwrap();
        for (n, &at) in places.iter().enumerate() {
            let exactly = bvh.closest(at).unwrap().distance_squared.sqrt();
            for distance in [0.2 * size * random::unit(40, n as u64), exactly, 0.0] {
                let wanted = brute_closest(bvh.triangles(), at, distance);
                assert_eq!(bvh.closest_within(at, distance), wanted, "{name} at {at}, {distance}");
            }
            assert_eq!(bvh.closest_within(at, -1.0), None);
            assert_eq!(bvh.closest_within(at, f64::NAN), None);
        }
    }
}

#[test]
fn what_is_no_place_has_no_closest_point_and_does_not_disturb_the_others() {
    let bvh = Bvh::new(gallery::sphere(1.0, 2)).unwrap();
    let mut points: Vec<DVec3> = (0..100).map(|n| unit(50, n)).collect();
    points[7] = DVec3::new(0.0, f64::NAN, 0.0);
    points[8] = DVec3::new(f64::INFINITY, 0.0, 0.0);
    points[9] = DVec3::splat(1e100);
    let all = bvh.closest_all(&points);
    for (n, (found, &at)) in all.iter().zip(&points).enumerate() {
        assert_eq!(found.is_none(), (7..10).contains(&n));
        assert_eq!(*found, bvh.closest(at));
    }
}

#[test]
fn places_beyond_all_that_f32_can_hold_have_their_closest_point() {
    let bvh = Bvh::new(gallery::bunny(1)).unwrap();
    let far =
        [1e10, 1e18, 1e19, 1e20, 1e38, 1e39, 1e50].map(|far| DVec3::new(far, -0.5 * far, far));
    for (at, found) in far.into_iter().zip(bvh.closest_all(&far)) {
        assert_eq!(found, brute_closest(bvh.triangles(), at, f64::INFINITY), "{at}");
        assert_eq!(bvh.closest(at), found, "{at}");
    }
}

#[test]
fn an_empty_mesh_is_a_tree_that_finds_nothing() {
    let bvh = Bvh::new(Triangles::new(vec![], vec![]).unwrap()).unwrap();
    assert_eq!(bvh.closest(DVec3::ZERO), None);
    assert_eq!(bvh.closest_all(&[DVec3::ZERO; 3]), [None; 3]);
    assert_eq!(bvh.closest_all(&[]), []);
    assert_eq!(bvh.memory().total(), 0);
}

#[test]
fn a_mesh_whose_squares_would_overflow_is_refused() {
    let mesh = soup(1, |n| DVec3::splat(1e80 * n as f64));
    let error = Bvh::new(mesh).unwrap_err().to_string();
    assert!(error.contains("at most 1e60"), "{error}");
}

#[test]
fn a_refitted_tree_answers_as_a_new_one() {
    let mesh = gallery::bunny(3);
    let mut bvh = Bvh::new(mesh.clone()).unwrap();
    for step in 1..6 {
        let twist = |p: DVec3| DQuat::from_rotation_z(f64::from(step) * p.z) * p * f64::from(step);
        let mesh = moved(&mesh, twist);
        bvh.refit(mesh.positions().to_vec()).unwrap();
        let places = places(&mesh, 1_000);
        let new = Bvh::new(mesh).unwrap();
        assert_eq!(bvh.triangles(), new.triangles());
        assert_eq!(bvh.closest_all(&places), new.closest_all(&places));
    }
    let before = bvh.triangles().clone();
    assert!(bvh.refit(vec![DVec3::ZERO]).is_err());
    assert!(bvh.refit(vec![DVec3::NAN; before.positions().len()]).is_err());
    assert_eq!(*bvh.triangles(), before);
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let mesh = gallery::knot(0.06, 300, 20);
    let places = places(&mesh, 3_000);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut bvh = Bvh::new(mesh.clone()).unwrap();
            let first = bvh.closest_all(&places);
            let shape = format!("{bvh:?}");
            let turned = moved(&mesh, |p| DQuat::from_rotation_x(1.0) * p);
            bvh.refit(turned.positions().to_vec()).unwrap();
            (shape, first, format!("{bvh:?}"), bvh.closest_all(&places))
        })
    };
    let one = with(1);
    for threads in [2, 3, 7] {
        // Not `assert_eq`, which would print megabytes.
        assert!(with(threads) == one, "{threads} threads");
    }
}

proptest! {
    #[test]
    fn any_soup_gives_the_answers_of_the_loop(
        corners in prop::collection::vec(prop::array::uniform3(-2_i32..=2), 3..120),
        at in prop::array::uniform3(-6_i32..=6),
    ) {
        // Few coordinates make many ties, shared corners and triangles without area.
        let place = |p: [i32; 3]| DVec3::from_array(p.map(|x| 0.5 * f64::from(x)));
        let mesh = soup(corners.len() as u32 / 3, |n| place(corners[n as usize]));
        let bvh = Bvh::new(mesh.clone()).unwrap();
        let wanted = brute_closest(&mesh, place(at), f64::INFINITY);
        prop_assert_eq!(bvh.closest(place(at)), wanted);
    }
}
