//! Sampling of surfaces and solids: evenly spread, apart from each other, and without gaps.

use std::f64::consts::PI;
use undine_core::glam::{DQuat, DVec3};
use undine_core::mesh::Bounds;
use undine_geometry::sampling::{
    Sampling, SurfacePoint, sample_surface, sample_surface_poisson, sample_volume_jittered,
    sample_volume_poisson,
};
use undine_geometry::{GeometryError, Nearest, Pose, Shape, Solid, Triangles, gallery};

/// A ball: the simplest solid.
#[derive(Debug)]
struct Ball {
    centre: DVec3,
    radius: f64,
}

impl Solid for Ball {
    fn distance(&self, at: DVec3) -> f64 {
        at.distance(self.centre) - self.radius
    }

    fn nearest(&self, at: DVec3) -> Nearest {
        let normal = (at - self.centre).try_normalize().unwrap_or(DVec3::X);
        let point = self.centre + self.radius * normal;
        Nearest { point, normal, distance: self.distance(at) }
    }

    fn bounds(&self) -> Option<Bounds> {
        let (min, max) = (self.centre - self.radius, self.centre + self.radius);
        Some(Bounds { min, max })
    }
}

/// Everything above the ground.
#[derive(Debug)]
struct Above;

impl Solid for Above {
    fn distance(&self, at: DVec3) -> f64 {
        -at.z
    }

    fn nearest(&self, at: DVec3) -> Nearest {
        let point = at.with_z(0.0);
        Nearest { point, normal: DVec3::NEG_Z, distance: -at.z }
    }

    fn bounds(&self) -> Option<Bounds> {
        None
    }
}

fn assert_on_mesh(mesh: &Triangles, points: &[SurfacePoint]) {
    for sample in points {
        let corners = mesh.corners(sample.triangle as usize);
        let [u, v, w] = sample.weights;
        assert!((u + v + w - 1.0).abs() < 1e-12 && u.min(v).min(w) >= 0.0);
        let again = u * corners[0] + v * corners[1] + w * corners[2];
        assert!(again.distance(sample.point) < 1e-12);
    }
}

/// The least distance of two of the points.
fn least_distance(points: &[DVec3]) -> f64 {
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| a.x.total_cmp(&b.x));
    let mut least = f64::INFINITY;
    for (n, a) in sorted.iter().enumerate() {
        let before = least;
        for b in sorted[n + 1..].iter().take_while(|b| b.x - a.x < before) {
            least = least.min(a.distance(*b));
        }
    }
    least
}

/// The largest distance from a place to the nearest of the points.
fn largest_gap(points: &[DVec3], places: impl Iterator<Item = DVec3>) -> f64 {
    places
        .map(|place| {
            points.iter().map(|p| p.distance_squared(place)).fold(f64::INFINITY, f64::min).sqrt()
        })
        .fold(0.0, f64::max)
}

/// The number of points per triangle follows the multinomial law: with k degrees of freedom, χ² has mean k and
/// variance 2k, so that five deviations are as good as never.
#[test]
fn points_by_area_are_evenly_spread() {
    // A torus has triangles of very different areas.
    let mesh = gallery::torus(1.0, 0.7, 24, 12);
    let area = |[a, b, c]: [DVec3; 3]| 0.5 * (b - a).cross(c - a).length();
    let whole: f64 = mesh.iter().map(area).sum();
    let count = 100_000;
    let points = sample_surface(&mesh, count, Sampling { seed: 5, ..Sampling::default() }).unwrap();
    assert_on_mesh(&mesh, &points);

    // Each triangle in four equal parts: the middle one and those at the corners.
    let mut found = vec![[0_u32; 4]; mesh.len()];
    for sample in &points {
        let part = sample.weights.iter().position(|&weight| weight > 0.5).unwrap_or(3);
        found[sample.triangle as usize][part] += 1;
    }
    let chi_square: f64 = (0..mesh.len())
        .map(|triangle| {
            let expected = 0.25 * count as f64 * area(mesh.corners(triangle)) / whole;
            found[triangle]
                .iter()
                .map(|&n| (f64::from(n) - expected).powi(2) / expected)
                .sum::<f64>()
        })
        .sum();
    let freedom = 4.0 * mesh.len() as f64 - 1.0;
    assert!(
        (chi_square - freedom).abs() < 5.0 * (2.0 * freedom).sqrt(),
        "{chi_square} of {freedom}"
    );

    let fewer = sample_surface(&mesh, 100, Sampling { seed: 5, ..Sampling::default() }).unwrap();
    assert_eq!(fewer, points[..100]);
}

#[test]
fn poisson_disks_on_surfaces_keep_apart_and_leave_no_gap() {
    let sphere = gallery::sphere(1.0, 4);
    let slivers = gallery::sheet([1.0, 1.0], [1, 300]);
    let coarse = gallery::cuboid(DVec3::new(1.0, 0.5, 0.01));
    for (mesh, radius) in
        [(sphere, 0.1), (slivers, 0.05), (coarse, 0.08), (gallery::bunny(4), 0.04)]
    {
        let samples = sample_surface_poisson(&mesh, radius, Sampling::default()).unwrap();
        assert_on_mesh(&mesh, &samples);
        let points: Vec<DVec3> = samples.iter().map(|sample| sample.point).collect();
        assert!(points.len() > 100, "{}", points.len());
        assert!(least_distance(&points) >= radius);
        let places =
            sample_surface(&mesh, 4000, Sampling { seed: 9, ..Sampling::default() }).unwrap();
        let gap = largest_gap(&points, places.iter().map(|place| place.point));
        assert!(gap < 1.01 * radius, "{gap} of {radius}");
    }
}

/// Disks that come at random until there is no room cover 0.547 of the plane (Feder 1980, random sequential addition).
#[test]
fn poisson_disks_are_as_dense_as_they_are_known_to_be() {
    let mesh = gallery::sheet([1.0, 1.0], [3, 3]);
    let samples = sample_surface_poisson(&mesh, 0.02, Sampling::default()).unwrap();
    // The sheet with half a radius all around it, where discs may reach.
    let area = 1.02 * 1.02;
    let density = samples.len() as f64 * PI * 0.01 * 0.01 / area;
    assert!((density - 0.547).abs() < 0.02, "{density}");
}

#[test]
fn poisson_disks_in_a_solid_keep_apart_and_leave_no_gap() {
    let ball = Ball { centre: DVec3::new(1e4, 0.0, 0.0), radius: 1.0 };
    let points = sample_volume_poisson(&ball, 0.15, Sampling::default()).unwrap();
    assert!(points.iter().all(|&point| ball.distance(point) < 0.0));
    assert!(least_distance(&points) >= 0.15);
    let places = sample_volume_jittered(&ball, 0.11, Sampling::default()).unwrap();
    let deep = places.into_iter().filter(|&place| ball.distance(place) < -0.015);
    let gap = largest_gap(&points, deep);
    assert!(gap < 1.1 * 0.15, "{gap}");
}

/// The count has the mean V/h³ and less than the variance of as many independent cells at the surface.
#[test]
fn a_jittered_grid_has_one_point_per_cell() {
    let ball = Ball { centre: DVec3::new(0.3, 0.1, -0.7), radius: 1.0 };
    let h = 0.05;
    let points = sample_volume_jittered(&ball, h, Sampling::default()).unwrap();
    let mean = 4.0 / 3.0 * PI / h.powi(3);
    let at_surface = 4.0 * PI / (h * h) * 2.0;
    assert!(
        (points.len() as f64 - mean).abs() < 2.5 * at_surface.sqrt(),
        "{} {mean}",
        points.len()
    );
    assert!(points.iter().all(|&point| ball.distance(point) < 0.0));
    let low = ball.bounds().unwrap().min;
    let mut cells: Vec<[i64; 3]> =
        points.iter().map(|p| ((*p - low) / h).floor().as_i64vec3().to_array()).collect();
    cells.sort_unstable();
    assert!(cells.windows(2).all(|pair| pair[0] != pair[1]));

    // A hole within takes the points that were in it, and no others.
    let hole = Ball { centre: ball.centre, radius: 0.6 };
    let bits = |p: &DVec3| p.to_array().map(f64::to_bits);
    let kept: Vec<_> = points.iter().filter(|at| hole.distance(**at) > 0.0).map(bits).collect();
    let hollow = Hollow { ball, hole };
    let found = sample_volume_jittered(&hollow, h, Sampling::default()).unwrap();
    assert_eq!(found.iter().map(bits).collect::<Vec<_>>(), kept);
}

/// A ball with a hole in it.
#[derive(Debug)]
struct Hollow {
    ball: Ball,
    hole: Ball,
}

impl Solid for Hollow {
    fn distance(&self, at: DVec3) -> f64 {
        self.ball.distance(at).max(-self.hole.distance(at))
    }

    fn nearest(&self, at: DVec3) -> Nearest {
        let (outer, inner) = (self.ball.nearest(at), self.hole.nearest(at));
        if outer.distance > -inner.distance {
            return outer;
        }
        Nearest { normal: -inner.normal, distance: -inner.distance, ..inner }
    }

    fn bounds(&self) -> Option<Bounds> {
        self.ball.bounds()
    }
}

/// Points are as many, and lie at the same places of what they are of, wherever that is: to what rounding leaves of places 10 km away.
#[test]
fn points_lie_in_the_same_way_wherever_a_solid_or_a_mesh_is() {
    let turn = Pose { rotation: DQuat::from_rotation_x(0.4), translation: DVec3::ZERO };
    let shapes = [
        Shape::cuboid(DVec3::new(0.5, 0.25, 0.125)).unwrap(),
        Shape::sphere(0.5).unwrap(),
        Shape::cuboid(DVec3::new(0.4, 0.3, 0.2)).unwrap().moved(&turn).unwrap(),
    ];
    let meshes = [gallery::cuboid(DVec3::splat(0.5)), gallery::sphere(0.5, 2)];
    let sampling = Sampling { seed: 3, ..Sampling::default() };
    let all = |by: DVec3| {
        let mut found = Vec::new();
        for shape in &shapes {
            let solid = shape.clone().moved(&Pose::at(by)).unwrap();
            // The first two come out even with the sides of the boxes.
            for spacing in [0.0625, 0.1, 0.07] {
                found.push(sample_volume_jittered(&solid, spacing, sampling).unwrap());
            }
            found.push(sample_volume_poisson(&solid, 0.125, sampling).unwrap());
        }
        for mesh in &meshes {
            let mesh = mesh.clone().mapped(|at| at + by);
            let places = |points: Vec<SurfacePoint>| points.iter().map(|on| on.point).collect();
            found.push(places(sample_surface(&mesh, 300, sampling).unwrap()));
            found.push(places(sample_surface_poisson(&mesh, 0.15, sampling).unwrap()));
        }
        found
    };
    let here = all(DVec3::ZERO);
    for by in [
        DVec3::new(1.0, 0.0, 0.0),
        DVec3::new(0.37, -100.003, 2048.0),
        DVec3::new(-10_000.0, 9_999.99, 0.1),
    ] {
        for (n, (found, wanted)) in all(by).iter().zip(&here).enumerate() {
            assert_eq!(found.len(), wanted.len(), "{n} at {by}");
            for (found, wanted) in found.iter().zip(wanted) {
                assert!((*found - by).distance(*wanted) < 1e-9, "{n} at {by}: {found} {wanted}");
            }
        }
    }
}

#[test]
fn requests_that_cannot_be_met_are_refused_with_the_numbers() {
    let mesh = gallery::sphere(1.0, 2);
    let few = Sampling { seed: 0, most: 100 };
    let too_many = |error: GeometryError| match error {
        GeometryError::TooMany { found, .. } => assert!(found > 100),
        other => panic!("{other}"),
    };
    too_many(sample_surface(&mesh, 101, few).unwrap_err());
    too_many(sample_surface_poisson(&mesh, 0.1, few).unwrap_err());
    too_many(sample_surface_poisson(&mesh, 1e-9, few).unwrap_err());
    let ball = Ball { centre: DVec3::ZERO, radius: 1.0 };
    too_many(sample_volume_jittered(&ball, 0.1, few).unwrap_err());
    too_many(sample_volume_jittered(&ball, 1e-6, few).unwrap_err());
    too_many(sample_volume_poisson(&ball, 0.1, few).unwrap_err());
    too_many(sample_volume_poisson(&ball, 1e-6, few).unwrap_err());

    for radius in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-40] {
        assert!(sample_surface_poisson(&mesh, radius, few).is_err());
        assert!(sample_volume_poisson(&ball, radius, few).is_err());
        assert!(sample_volume_jittered(&ball, radius, few).is_err());
    }
    assert!(sample_volume_jittered(&Above, 0.1, few).unwrap_err().to_string().contains("finite"));
    assert!(sample_volume_poisson(&Above, 0.1, few).is_err());

    let flat = Triangles::new(vec![DVec3::ZERO, DVec3::X, DVec3::X], vec![[0, 1, 2]]).unwrap();
    assert!(sample_surface(&flat, 1, few).unwrap_err().to_string().contains("area"));
    assert!(sample_surface(&flat, 0, few).unwrap().is_empty());
    assert!(sample_surface_poisson(&flat, 0.1, few).unwrap().is_empty());
}

#[test]
fn points_are_the_same_for_any_number_of_threads() {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mesh = gallery::bunny(3);
            let ball = Ball { centre: DVec3::ZERO, radius: 1.0 };
            (
                sample_surface(&mesh, 5000, Sampling::default()).unwrap(),
                sample_surface_poisson(&mesh, 0.05, Sampling::default()).unwrap(),
                sample_volume_jittered(&ball, 0.1, Sampling::default()).unwrap(),
                sample_volume_poisson(&ball, 0.3, Sampling::default()).unwrap(),
            )
        })
    };
    let one = run(1);
    assert!([2, 7].into_iter().all(|threads| run(threads) == one));
}

#[test]
fn a_radius_that_drowns_in_rounding_is_refused() {
    let far = DVec3::new(1e12, 0.0, 0.0);
    let corners = [DVec3::ZERO, 0.01 * DVec3::X, 0.01 * DVec3::Y].map(|corner| far + corner);
    let mesh = Triangles::new(corners.to_vec(), vec![[0, 1, 2]]).unwrap();
    let refused = sample_surface_poisson(&mesh, 1e-5, Sampling::default()).unwrap_err();
    assert!(refused.to_string().contains("distance from the origin"), "{refused}");
}
