//! Rays through meshes and triangles near places, against loops over all triangles.

use crate::bvh::{meshes, moved, places, soup, unit};
use undine_core::glam::{DQuat, DVec3};
use undine_core::mesh::Bounds;
use undine_geometry::triangle::closest_point;
use undine_geometry::winding::winding_number;
use undine_geometry::{Bvh, Ray, RayHit, Triangles, gallery, random};

/// Trees over single triangles, which have nothing to leave out.
fn singles(mesh: &Triangles) -> Vec<Bvh> {
    let single = |corners: [DVec3; 3]| Triangles::new(corners.to_vec(), vec![[0, 1, 2]]).unwrap();
    mesh.iter().map(|corners| Bvh::new(single(corners)).unwrap()).collect()
}

fn brute_hits(singles: &[Bvh], ask: impl Fn(&Bvh) -> Vec<RayHit>) -> Vec<RayHit> {
    let mut hits: Vec<RayHit> = (0..)
        .zip(singles)
        .flat_map(|(triangle, bvh)| ask(bvh).into_iter().map(move |hit| RayHit { triangle, ..hit }))
        .collect();
    hits.sort_by(|a, b| a.t.total_cmp(&b.t).then(a.triangle.cmp(&b.triangle)));
    hits
}

/// Rays from and to places in and around a mesh: many go through its edges and corners, and along the axes.
fn rays(mesh: &Triangles, count: u64) -> Vec<Ray> {
    let (starts, ends) = (places(mesh, count), places(mesh, count + 3));
    let ray = |n: u64| {
        let (start, end) = (starts[n as usize], ends[n as usize + 3]);
        match n % 4 {
            0 => Ray::new(start, end - start),
            1 => Ray::segment(start, end),
            2 => Ray::new(start, [DVec3::X, DVec3::NEG_Y, DVec3::Z][(n / 4 % 3) as usize]),
            _ => Ray { from: -1e3, ..Ray::new(start, 0.1 * (end - start)) },
        }
    };
    (0..count).map(ray).filter(|ray| ray.direction.length() > 1e-30).collect()
}

#[test]
fn rays_meet_what_a_loop_over_all_triangles_meets() {
    for (name, mesh) in meshes() {
        let rays = rays(&mesh, 60);
        let singles = singles(&mesh);
        let bvh = Bvh::new(mesh).unwrap();
        for ray in rays {
            let wanted = brute_hits(&singles, |bvh| bvh.all_hits(&ray));
            assert_eq!(bvh.all_hits(&ray), wanted, "{name}, {ray:?}");
            assert_eq!(bvh.first_hit(&ray), wanted.first().copied(), "{name}, {ray:?}");
            assert_eq!(bvh.any_hit(&ray), !wanted.is_empty(), "{name}, {ray:?}");
            let wanted = brute_hits(&singles, |bvh| bvh.crossings(&ray));
            assert_eq!(bvh.crossings(&ray), wanted, "{name}, {ray:?}");
        }
    }
}

#[test]
fn a_hit_lies_on_its_triangle_and_on_the_ray() {
    let bvh = Bvh::new(gallery::bunny(4)).unwrap();
    let mut met = 0;
    for n in 0..2_000 {
        let ray = Ray { from: -9.0, ..Ray::new(0.5 * (unit(60, n) - 0.5), unit(61, n) - 0.5) };
        for hit in bvh.all_hits(&ray) {
            let [a, b, c] = bvh.triangles().corners(hit.triangle as usize);
            let [u, v, w] = hit.weights;
            assert!((u * a + v * b + w * c).distance(ray.at(hit.t)) < 1e-12);
            assert_eq!(hit.enters, (b - a).cross(c - a).dot(ray.direction) < 0.0);
            met += 1;
        }
    }
    assert!(met > 1_000);
}

#[test]
fn no_ray_slips_through_an_edge_or_a_corner() {
    let turn = DQuat::from_rotation_y(0.3) * DQuat::from_rotation_x(0.7);
    let closed = [
        gallery::cuboid(DVec3::new(0.5, 0.25, 1.0)),
        gallery::sphere(1.0, 3),
        moved(&gallery::cuboid(DVec3::splat(1e-3)), |p| turn * p),
        moved(&gallery::sphere(1e6, 2), |p| p + DVec3::splat(1e5)),
    ];
    for mesh in closed {
        let bounds = mesh.bounds().unwrap();
        let size = bounds.size().max_element();
        let bvh = Bvh::new(mesh).unwrap();
        for (n, &[a, b, _]) in (0..4).flat_map(|_| bvh.triangles().indices()).enumerate() {
            let n = n as u64;
            let at = |vertex: u32| bvh.triangles().positions()[vertex as usize];
            let share = [0.0, 0.5, random::unit(70, n)][(n % 3) as usize];
            let target = at(a) + share * (at(b) - at(a));
            // From inside everything that is looked at must be met, and the surface left once more than entered.
            let start = bounds.centre() + (unit(71, n) - 0.5) * (0.2 * size);
            let ray = Ray::new(start, target - start);
            assert!(bvh.any_hit(&ray) && bvh.first_hit(&ray).is_some(), "{ray:?}");
            let crossings = bvh.crossings(&ray);
            let out = crossings.iter().filter(|hit| !hit.enters).count();
            assert_eq!(out, crossings.len() - out + 1, "{ray:?}");
            // A whole line through it enters as often as it leaves.
            let line = Ray { from: f64::NEG_INFINITY, ..Ray::new(target, target - start) };
            let enters = bvh.crossings(&line).iter().filter(|hit| hit.enters).count();
            assert_eq!(2 * enters, bvh.crossings(&line).len(), "{line:?}");
        }
    }
}

#[test]
fn crossings_add_up_to_the_winding_number() {
    for mesh in [
        gallery::knot(0.06, 120, 8),
        gallery::bunny(3),
        gallery::torus(0.4, 0.1, 40, 12),
        gallery::hull(100).unwrap(),
    ] {
        let places = places(&mesh, 2_000);
        let bvh = Bvh::new(mesh).unwrap();
        let on_a_grid = |p: DVec3| (p * 32.0).round() / 32.0;
        for (n, &at) in places.iter().enumerate() {
            if bvh.closest(at).unwrap().distance_squared < 1e-12 {
                continue;
            }
            let winding = winding_number(bvh.triangles(), at);
            let direction = on_a_grid(unit(72, n as u64) - 0.5) + DVec3::new(0.0, 0.0, 1e-3);
            let crossings = bvh.crossings(&Ray::new(at, direction));
            let enters = crossings.iter().filter(|hit| hit.enters).count() as f64;
            let found = crossings.len() as f64 - 2.0 * enters;
            assert!((winding - found).abs() < 1e-6, "{winding} and {found} at {at}");
        }
    }
}

#[test]
fn a_ray_that_is_none_meets_nothing() {
    let bvh = Bvh::new(gallery::sphere(1.0, 1)).unwrap();
    for (origin, direction) in [
        (DVec3::ZERO, DVec3::ZERO),
        (DVec3::NAN, DVec3::X),
        (DVec3::ZERO, DVec3::NAN),
        (DVec3::ZERO, DVec3::INFINITY),
        (DVec3::splat(1e90), DVec3::X),
    ] {
        let ray = Ray::new(origin, direction);
        assert!(!bvh.any_hit(&ray) && bvh.first_hit(&ray).is_none());
        assert!(bvh.all_hits(&ray).is_empty() && bvh.crossings(&ray).is_empty());
    }
    assert!(!bvh.any_hit(&Ray { from: f64::NAN, ..Ray::new(DVec3::ZERO, DVec3::X) }));
    assert!(bvh.any_hit(&Ray::new(DVec3::ZERO, DVec3::X)));
}

fn box_of(mesh: &Triangles, triangle: usize) -> Bounds {
    Bounds::around(mesh.corners(triangle)).unwrap()
}

fn meet(a: &Bounds, b: &Bounds, distance: f64) -> bool {
    (a.min - distance).cmple(b.max).all() && b.min.cmple(a.max + distance).all()
}

#[test]
fn boxes_and_spheres_find_what_a_loop_finds() {
    for (name, mesh) in meshes() {
        let places = places(&mesh, 100);
        let size = mesh.bounds().unwrap().size().max_element();
        let bvh = Bvh::new(mesh).unwrap();
        let mesh = bvh.triangles();
        for (n, &at) in (0..).zip(&places) {
            let radius = [0.1 * size * random::unit(80, n), 0.0][(n % 5 == 4) as usize];
            let bounds = Bounds { min: at - radius * unit(81, n), max: at + radius * unit(82, n) };
            let inside = |&n: &u32| meet(&box_of(mesh, n as usize), &bounds, 0.0);
            let wanted: Vec<u32> = (0..mesh.len() as u32).filter(inside).collect();
            assert_eq!(bvh.in_box(&bounds), wanted, "{name}, {bounds:?}");
            let near = |&n: &u32| {
                let point = closest_point(mesh.corners(n as usize), at).point;
                point.distance_squared(at) <= radius * radius
            };
            let wanted: Vec<u32> = (0..mesh.len() as u32).filter(near).collect();
            assert_eq!(bvh.in_sphere(at, radius), wanted, "{name}, {radius} around {at}");
        }
        let nothing = Bounds { min: DVec3::NAN, max: DVec3::NAN };
        assert!(bvh.in_box(&nothing).is_empty() && bvh.in_sphere(DVec3::NAN, 1.0).is_empty());
        assert!(bvh.in_sphere(DVec3::ZERO, f64::NAN).is_empty());
    }
}

#[test]
fn pairs_are_those_of_two_loops() {
    let turn = DQuat::from_rotation_y(0.4);
    let one = gallery::bunny(2);
    let meshes = [
        gallery::knot(0.06, 40, 6),
        moved(&one, |p| turn * p + 0.1),
        soup(200, |n| unit(90, n) - 0.5),
        moved(&one, |p| p + 1e3),
        Triangles::new(vec![], vec![]).unwrap(),
    ];
    let bvh = Bvh::new(one.clone()).unwrap();
    for (other, distance) in meshes.into_iter().zip([0.0, 0.01, 0.1, 0.0, 1.0]) {
        let pair = |a: usize, b: usize| meet(&box_of(&one, a), &box_of(&other, b), distance);
        let wanted: Vec<[u32; 2]> = (0..one.len())
            .flat_map(|a| (0..other.len()).map(move |b| (a, b)))
            .filter(|&(a, b)| pair(a, b))
            .map(|(a, b)| [a as u32, b as u32])
            .collect();
        let other = Bvh::new(other).unwrap();
        assert_eq!(bvh.pairs(&other, distance), wanted);
    }
    let both = bvh.pairs(&bvh, 0.01);
    let once: Vec<[u32; 2]> = both.into_iter().filter(|[a, b]| a < b).collect();
    assert_eq!(bvh.pairs_within(0.01), once);
}
