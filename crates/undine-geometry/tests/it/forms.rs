//! What solids look like: meshes of shapes, and contours of anything with an inside.

use std::f64::consts::PI;
use undine_core::glam::{DQuat, DVec2, DVec3};
use undine_core::mesh::Bounds;
use undine_core::{Frame, GridDomain};
use undine_geometry::form::{mesh_of, mesh_of_level_set};
use undine_geometry::levelset::Extent;
use undine_geometry::meshing::{contour, mass_properties};
use undine_geometry::{Detail, Form, LevelSet, Nearest, Pose, Shape, Solid, Triangles};

fn area(mesh: &Triangles) -> f64 {
    mesh.iter().map(|[a, b, c]| 0.5 * (b - a).cross(c - a).length()).sum()
}

fn the_mesh(shape: &Shape, detail: &Detail) -> Triangles {
    match &shape.forms(detail).unwrap()[..] {
        [Form::Mesh(mesh)] => mesh.clone(),
        other => panic!("{other:?}"),
    }
}

/// Refuses what is not closed.
fn volume(mesh: &Triangles) -> f64 {
    mass_properties(mesh).unwrap().volume
}

/// Vertices lie within a part of a cell, and quads are chords: both volume and area converge with the square of the cell.
#[test]
fn the_contour_of_a_sphere_converges_to_it() {
    let sphere = Shape::sphere(1.0).unwrap();
    let bounds = sphere.bounds().unwrap();
    let errors = [16.0, 32.0, 64.0].map(|cells| {
        let mesh = contour(&sphere, &bounds, 2.0 / cells).unwrap();
        let wrong = |found: f64, right: f64| (found / right - 1.0).abs();
        (wrong(volume(&mesh), 4.0 / 3.0 * PI), wrong(area(&mesh), 4.0 * PI))
    });
    for pair in errors.windows(2) {
        assert!(pair[1].0 < 0.35 * pair[0].0 && pair[1].1 < 0.35 * pair[0].1, "{errors:?}");
    }
    assert!(errors[2].0 < 2e-3 && errors[2].1 < 2e-3, "{errors:?}");
}

#[test]
fn edges_of_a_boolean_stay_sharp() {
    let block = Shape::cuboid(DVec3::new(1.0, 0.7, 0.5)).unwrap();
    let hole = Shape::cylinder(0.3, 4.0).unwrap();
    let turned = Pose { rotation: DQuat::from_rotation_y(0.4), translation: DVec3::X * 3.0 };
    let drilled = block.minus(hole, 0.0).unwrap().moved(&turned).unwrap();
    let mesh = the_mesh(&drilled, &Detail::default());
    let right = 2.0 * 1.4 - PI * 0.09;
    assert!((volume(&mesh) / right - 1.0).abs() < 4e-3, "{} of {right}", volume(&mesh));
    // The eight corners are there, to a part of a cell of two centimetres.
    for n in 0..8 {
        let sign = |bit: u32| if n >> bit & 1 == 1 { 1.0 } else { -1.0 };
        let corner = turned.to_world(DVec3::new(sign(0), 0.7 * sign(1), 0.5 * sign(2)));
        let near = mesh.positions().iter().map(|at| at.distance(corner)).fold(9.0, f64::min);
        assert!(near < 4e-3, "{corner}: {near}");
    }
}

#[test]
fn primitives_have_their_corners_on_their_surface() {
    let profile = [(0.5, -1.0), (1.5, -0.5), (1.0, 0.0), (1.2, 1.0), (0.4, 0.8)];
    let profile = profile.map(|(r, z)| DVec2::new(r, z));
    let corners: Vec<DVec3> = (0..40)
        .map(|n| DVec3::new(f64::from(n), f64::from(n * n % 7), f64::from(n % 11)))
        .collect();
    let shapes = [
        Shape::sphere(2.0),
        Shape::cuboid(DVec3::new(1.0, 2.0, 3.0)),
        Shape::cylinder(0.5, 3.0),
        Shape::cone(1.0, 2.0),
        Shape::truncated_cone(0.2, 1.0, 2.0),
        Shape::capsule(0.5, 2.0),
        Shape::capsule(0.5, 0.0),
        Shape::torus(2.0, 0.5),
        Shape::torus(1.0, 1.0),
        Shape::hull(&corners),
        Shape::revolved(&profile),
    ];
    for shape in shapes {
        let shape = shape.unwrap();
        let pose = Pose { rotation: DQuat::from_rotation_x(1.0), translation: DVec3::splat(5.0) };
        let moved = shape.scaled(1.5).unwrap().moved(&pose).unwrap();
        let mesh = the_mesh(&moved, &Detail { segments: 256, ..Detail::default() });
        let most = mesh.positions().iter().map(|at| moved.distance(*at).abs()).fold(0.0, f64::max);
        assert!(most < 1e-9, "{moved:?}: {most}");
        let right = moved.mass_properties().unwrap().volume;
        let found = volume(&mesh);
        assert!((found / right - 1.0).abs() < 2e-3, "{moved:?}: {found} of {right}");
    }
}

#[test]
fn insets_and_blends_have_the_volume_that_they_have() {
    let rounded = Shape::cuboid(DVec3::ONE).unwrap().rounded(0.25).unwrap();
    let right = rounded.mass_properties().unwrap().volume;
    let found = volume(&the_mesh(&rounded, &Detail::default()));
    assert!((found / right - 1.0).abs() < 3e-3, "{found} of {right}");
    let hollow = Shape::sphere(1.0).unwrap().hollow(0.3).unwrap();
    let found = volume(&the_mesh(&hollow, &Detail::default()));
    let right = 4.0 / 3.0 * PI * (1.0 - 0.343);
    assert!((found / right - 1.0).abs() < 5e-3, "{found} of {right}");
}

#[test]
fn planes_stay_planes_and_rooms_are_seen_from_inside() {
    let floor = Shape::half_space(DVec3::new(0.0, 2.0, 0.0), 0.5).unwrap();
    let forms = floor.forms(&Detail::default()).unwrap();
    assert_eq!(forms, [Form::Plane { point: DVec3::Y * 0.5, normal: DVec3::Y }]);
    let room = Shape::cuboid(DVec3::ONE).unwrap().inverted().unwrap();
    assert!((volume(&the_mesh(&room, &Detail::default())) + 8.0).abs() < 1e-12);
    // A floor with a box on it: the box, and the plane as it is.
    let both = Shape::union(vec![floor, Shape::cuboid(DVec3::ONE).unwrap()], 0.0).unwrap();
    let forms = both.forms(&Detail::default()).unwrap();
    assert!(matches!(&forms[..], [Form::Mesh(mesh), Form::Plane { .. }] if mesh.len() == 12));
}

#[test]
fn what_has_no_end_is_cut_off() {
    let slopes = [DVec3::new(1.0, 1.0, 0.0), DVec3::new(-1.0, 1.0, 0.0)];
    let roof = slopes.map(|normal| Shape::half_space(normal, 0.0).unwrap()).to_vec();
    let roof = Shape::intersection(roof, 0.0).unwrap();
    let mesh = the_mesh(&roof, &Detail { reach: 10.0, ..Detail::default() });
    let bounds = mesh.bounds().unwrap();
    assert!((bounds.max.y).abs() < 0.1 && (bounds.min.y + 10.0).abs() < 0.3, "{bounds:?}");
    assert!((volume(&mesh) / 2000.0 - 1.0).abs() < 0.05, "{}", volume(&mesh));
}

#[test]
fn a_level_set_is_seen_where_its_surface_is() {
    let domain = GridDomain::new("seen", Frame::new(DVec3::ZERO, 0.05).unwrap());
    let sphere = Shape::sphere(1.0).unwrap().moved(&Pose::at(DVec3::X)).unwrap();
    let set = LevelSet::of_solid("ball", &domain, &sphere, Extent::NARROW).unwrap();
    let mesh = mesh_of_level_set(&set).unwrap();
    assert!((volume(&mesh) / (4.0 / 3.0 * PI) - 1.0).abs() < 5e-3, "{}", volume(&mesh));
    let most = mesh.positions().iter().map(|at| sphere.distance(*at).abs()).fold(0.0, f64::max);
    assert!(most < 2e-3, "{most}");
}

/// Far from the origin nothing is lost but the digits of the place.
#[test]
fn a_contour_is_the_same_far_away() {
    let shape = |at: DVec3| Shape::torus(1.0, 0.3).unwrap().moved(&Pose::at(at)).unwrap();
    let [here, far] = [DVec3::ZERO, DVec3::splat(16_384.0)]
        .map(|at| mesh_of(&shape(at), &Detail::default()).unwrap());
    assert_eq!(here.indices().len(), far.indices().len());
    for (a, b) in here.positions().iter().zip(far.positions()) {
        assert!(a.distance(*b - 16_384.0) < 1e-6, "{a} {b}");
    }
}

/// A solid that answers with nonsense.
#[derive(Debug)]
struct Nonsense(f64);

impl Solid for Nonsense {
    fn distance(&self, _: DVec3) -> f64 {
        self.0
    }

    fn nearest(&self, at: DVec3) -> Nearest {
        Nearest { point: at, normal: DVec3::NAN, distance: self.0 }
    }

    fn bounds(&self) -> Option<Bounds> {
        Some(Bounds { min: DVec3::splat(-1.0), max: DVec3::splat(1.0) })
    }
}

#[test]
fn nonsense_has_a_defined_contour() {
    for nothing in [f64::NAN, f64::INFINITY, 0.0, 1.0] {
        assert!(mesh_of(&Nonsense(nothing), &Detail::default()).unwrap().is_empty());
    }
    // Inside everywhere: cut off at its box.
    for all in [-1.0, f64::NEG_INFINITY] {
        let mesh = mesh_of(&Nonsense(all), &Detail { cells: 10, ..Detail::default() }).unwrap();
        assert!((volume(&mesh) / 2.2_f64.powi(3) - 1.0).abs() < 0.1, "{}", volume(&mesh));
    }
    let sphere = Shape::sphere(1.0).unwrap();
    let bounds = sphere.bounds().unwrap();
    for cell in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-9] {
        assert!(contour(&sphere, &bounds, cell).is_err(), "{cell}");
    }
    let inside_out = Bounds { min: bounds.max, max: bounds.min };
    assert!(contour(&sphere, &inside_out, 0.1).is_err());
    let detail = Detail { segments: 0, cells: u32::MAX, reach: f64::NAN };
    assert!(!the_mesh(&sphere, &detail).is_empty());
}

#[test]
fn contours_do_not_depend_on_threads() {
    let shape = Shape::cuboid(DVec3::ONE).unwrap().minus(Shape::sphere(1.2).unwrap(), 0.1).unwrap();
    let made = [1, 2, 3, 7].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| the_mesh(&shape, &Detail::default()))
    });
    assert!(made.iter().all(|mesh| *mesh == made[0]));
}
