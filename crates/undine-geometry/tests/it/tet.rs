//! Tetrahedra: stuffed solids, lattices around them, and what is embedded in them.

use std::f64::consts::PI;
use undine_core::MemoryBudget;
use undine_core::glam::{DMat3, DVec3};
use undine_core::mesh::{Body, Bounds, Tetrahedra};
use undine_geometry::tet::quality::dihedral_angles;
use undine_geometry::tet::stuffing::{MAX_DIHEDRAL, MIN_DIHEDRAL};
use undine_geometry::tet::{Embedding, Outside, Quality, Stuffed, Stuffing};
use undine_geometry::triangle::closest_point;
use undine_geometry::{MeshSolid, Nearest, Pose, Shape, Solid, gallery, random};

fn stuffed(cell: f64, solid: &dyn Solid) -> Body {
    let stuffed = Stuffing::new(cell).unwrap().fill("solid", solid).unwrap();
    assert_eq!(stuffed.pinched, [[0; 2]; 0]);
    stuffed.body
}

/// A place in a cube of side 1 m around the origin.
fn anywhere(seed: u64, number: u64) -> DVec3 {
    DVec3::from_array([0, 1, 2].map(|k| random::unit(seed, 3 * number + k) - 0.5))
}

/// Checks everything that is promised of a stuffed solid, whatever it is.
fn check(stuffed: &Stuffed, solid: &dyn Solid) -> Quality {
    let body = &stuffed.body;
    let quality = Quality::of(body).unwrap();
    if quality.cells > 0 {
        let [min, max] = [quality.min_dihedral, quality.max_dihedral];
        assert!(min > MIN_DIHEDRAL && max < MAX_DIHEDRAL, "{quality:?} of {solid:?}");
        assert!(quality.min_volume > 0.0 && quality.max_aspect < 10.0, "{quality:?} of {solid:?}");
    }
    assert_eq!(body.faults(1).unwrap(), [], "{solid:?}");
    let boundary = body.boundary().unwrap().surface;
    boundary.check_closed().unwrap();
    assert_eq!(boundary.faults(usize::MAX).unwrap().len(), stuffed.pinched.len(), "{solid:?}");
    let size = solid.bounds().unwrap().size().length();
    for &at in boundary.positions().unwrap().iter() {
        assert!(solid.distance(at).abs() < 1e-9 * size, "{at}: {}", solid.distance(at));
    }
    quality
}

fn ball_at(centre: DVec3, radius: f64) -> Shape {
    Shape::sphere(radius).unwrap().moved(&Pose::at(centre)).unwrap()
}

fn cuboid(x: f64, y: f64, z: f64) -> Shape {
    Shape::cuboid(DVec3::new(x, y, z)).unwrap()
}

fn ring(ring: f64, tube: f64) -> Shape {
    Shape::torus(ring, tube).unwrap()
}

fn union(parts: Vec<Shape>) -> Shape {
    Shape::union(parts, 0.0).unwrap()
}

#[test]
fn stuffed_solids_have_good_angles_and_a_closed_boundary_on_the_surface() {
    let solids: [Shape; 6] = [
        ball_at(DVec3::X * 0.3, 0.5),
        ring(0.5, 0.2),
        cuboid(0.5, 0.3, 0.41),
        // A slab thinner than a cube, and two balls with a gap of a fraction of one.
        cuboid(0.5, 0.5, 0.02),
        union(vec![ball_at(DVec3::X * -0.3, 0.29), ball_at(DVec3::X * 0.3, 0.3)]),
        union(vec![ball_at(DVec3::X * -0.3, 0.31), ball_at(DVec3::X * 0.3, 0.3)]),
    ];
    for solid in &solids {
        for n in 0..12 {
            let cell = 0.05 + 0.01 * n as f64;
            let stuffing = Stuffing::new(cell).unwrap();
            check(&stuffing.fill("solid", solid).unwrap(), solid);
            let moved = stuffing.with_anchor(anywhere(3, n)).fill("solid", solid).unwrap();
            check(&moved, solid);
        }
    }
}

#[test]
fn random_unions_of_balls_have_good_angles_however_coarse_the_lattice() {
    let mut pinched = 0;
    let count = 200;
    for seed in 0..count {
        let parts = 1 + random::bits(seed, 0) % 12;
        let part =
            |n| ball_at(1.5 * anywhere(seed, 100 + n), 0.05 + 0.4 * random::unit(seed, 500 + n));
        let solid = union((0..parts).map(part).collect());
        let stuffing = Stuffing::new(0.08 + 0.3 * random::unit(seed, 1)).unwrap();
        let stuffed = stuffing.with_anchor(anywhere(seed, 50)).fill("balls", &solid).unwrap();
        check(&stuffed, &solid);
        pinched += u64::from(!stuffed.pinched.is_empty());
    }
    // Edges in which a solid touches itself are rare even where it is far too coarse.
    assert!(pinched * 50 < count, "{pinched} of {count}");
}

#[test]
fn the_volume_of_a_smooth_solid_is_right_to_second_order() {
    let cases: [(&dyn Solid, f64); 2] = [
        (&ball_at(DVec3::new(0.1, 0.2, 0.3), 0.5), PI / 6.0),
        (&ring(0.5, 0.2), 2.0 * PI * PI * 0.5 * 0.04),
    ];
    for (solid, volume) in cases {
        let errors = [0.1, 0.05, 0.025].map(|cell| {
            // The mean over lattices that lie differently.
            let anchors = 4;
            let error = |n| {
                let stuffing = Stuffing::new(cell).unwrap().with_anchor(anywhere(7, n));
                let body = stuffing.fill("solid", solid).unwrap().body;
                (body.volume().unwrap() / volume - 1.0).abs()
            };
            (0..anchors).map(error).sum::<f64>() / anchors as f64
        });
        for pair in errors.windows(2) {
            let order = (pair[0] / pair[1]).log2();
            assert!((order - 2.0).abs() < 0.35, "{errors:?}");
        }
        assert!(errors[2] < 0.02, "{errors:?}");
    }
}

#[test]
fn boundaries_have_the_topology_of_the_surface() {
    let euler = |body: &Body| body.boundary().unwrap().surface.euler_characteristic();
    assert_eq!(euler(&stuffed(0.07, &ball_at(DVec3::ZERO, 0.5))), 2);
    assert_eq!(euler(&stuffed(0.07, &ring(0.5, 0.2))), 0);
    let two = union(vec![ball_at(DVec3::X * -0.5, 0.4), ball_at(DVec3::X * 0.5, 0.4)]);
    let body = stuffed(0.07, &two);
    assert_eq!((euler(&body), body.components().count()), (4, 2));
    // A wall around a cavity has two surfaces.
    let wall = ball_at(DVec3::ZERO, 0.5).minus(ball_at(DVec3::ZERO, 0.25), 0.0).unwrap();
    let body = stuffed(0.07, &wall);
    assert_eq!((euler(&body), body.components().count()), (4, 1));
}

#[test]
fn closed_meshes_are_filled_and_ride_on_what_fills_them() {
    let mesh = gallery::bunny(3);
    let solid = MeshSolid::new(mesh.clone(), Default::default()).unwrap();
    let filled = Stuffing::new(0.06).unwrap().fill("bunny", &solid).unwrap();
    let quality = check(&filled, &solid);
    let boundary = mesh.clone().into_surface("bunny").unwrap();
    let volume = boundary.volume().unwrap();
    assert!((quality.volume / volume - 1.0).abs() < 0.03, "{quality:?} of {volume}");
    assert_eq!(filled.body.boundary().unwrap().surface.euler_characteristic(), 2);

    // What the chords cut off lies beyond the tetrahedra, but less than a cube away.
    let embedding = Embedding::of_surface(&filled.body, &boundary, Outside::Extrapolate).unwrap();
    let turn = DMat3::from_rotation_y(0.4);
    let turned = embedding.deform(&mapped(&filled.body, |at| turn * at)).unwrap();
    for (&at, &turned) in mesh.positions().iter().zip(&turned) {
        assert!(turned.distance(turn * at) < 1e-12);
    }
    let weights = embedding.weights().as_flattened();
    assert!(weights.iter().all(|&weight| weight > -2.0 && weight < 3.0));
}

#[test]
fn a_box_on_planes_of_the_lattice_is_filled_exactly() {
    let body = stuffed(0.25, &cuboid(0.5, 1.0, 0.75));
    let quality = Quality::of(&body).unwrap();
    assert!((quality.volume - 3.0).abs() < 1e-12, "{quality:?}");
    assert!(quality.min_dihedral > 0.7 && quality.max_dihedral < 2.0, "{quality:?}");
}

#[test]
fn a_solid_between_the_nodes_gives_no_tetrahedra_but_is_covered() {
    let ball = ball_at(DVec3::new(0.25, 0.25, 0.0), 0.01);
    let stuffing = Stuffing::new(1.0).unwrap().with_anchor(DVec3::ZERO);
    let stuffed = stuffing.fill("ball", &ball).unwrap();
    assert_eq!((stuffed.body.connectivity().cells().len(), stuffed.body.vertex_count()), (0, 0));
    let quality = check(&stuffed, &ball);
    assert_eq!((quality.cells, quality.volume), (0, 0.0));
    assert!(!stuffing.cover("ball", &ball).unwrap().connectivity().cells().is_empty());
    // Two balls that are apart have nothing in common.
    let apart = [DVec3::X, -DVec3::X].map(|centre| ball_at(centre, 0.5));
    let nothing = Shape::intersection(apart.to_vec(), 0.0).unwrap();
    let stuffed = stuffing.fill("nothing", &nothing).unwrap();
    assert_eq!(Quality::of(&stuffed.body).unwrap().cells, 0);
}

#[test]
fn the_number_of_threads_does_not_change_a_bit() {
    let solid =
        union(vec![ball_at(DVec3::X * -0.3, 0.31), ball_at(DVec3::X * 0.3, 0.3), ring(0.6, 0.07)]);
    let points: Vec<DVec3> = (0..500).map(|n| 2.0 * anywhere(1, n)).collect();
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let stuffing = Stuffing::new(0.09).unwrap();
            let bodies = [
                stuffing.fill("solid", &solid).unwrap().body,
                stuffing.cover("solid", &solid).unwrap(),
            ];
            bodies.map(|body| {
                let positions = body.positions().unwrap().to_vec();
                let embedding = Embedding::new(&body, &points, Outside::Extrapolate).unwrap();
                (positions, body.connectivity().cells().to_vec(), embedding)
            })
        })
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn what_cannot_be_filled_is_refused_with_numbers() {
    for cell in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let refused = Stuffing::new(cell).unwrap_err().to_string();
        assert!(refused.contains("must be positive"), "{refused}");
    }
    let ball = ball_at(DVec3::ZERO, 1.0);
    for cell in [1e-3, 1e-6, 1e-9, 1e-300] {
        let stuffing = Stuffing::new(cell).unwrap().with_budget(MemoryBudget::new(10_000_000));
        for refused in
            [stuffing.fill("ball", &ball).unwrap_err(), stuffing.cover("ball", &ball).unwrap_err()]
        {
            let refused = refused.to_string();
            assert!(refused.contains("10.0 MB") || refused.contains("cubes"), "{refused}");
        }
    }
    // The nodes fit, the tetrahedra do not.
    let stuffing = Stuffing::new(0.05).unwrap().with_budget(MemoryBudget::new(3_000_000));
    let refused = stuffing.fill("ball", &ball).unwrap_err().to_string();
    assert!(refused.contains("tetrahedra needs"), "{refused}");
    // Without a budget, what cannot be numbered is refused.
    let refused = Stuffing::new(1e-5).unwrap().fill("ball", &ball).unwrap_err().to_string();
    assert!(refused.contains("at most"), "{refused}");

    let far = ball_at(DVec3::splat(1e12), 1e11);
    assert!(Stuffing::new(1.0).unwrap().with_anchor(DVec3::ZERO).fill("far", &far).is_err());
    let nowhere = DVec3::new(0.0, f64::NAN, 0.0);
    assert!(Stuffing::new(1.0).unwrap().with_anchor(nowhere).fill("ball", &ball).is_err());
    let below = Shape::half_space(DVec3::Z, 0.0).unwrap();
    let refused = Stuffing::new(1.0).unwrap().fill("half space", &below).unwrap_err().to_string();
    assert!(refused.contains("half space"), "{refused}");
    let refused = Stuffing::new(1.0).unwrap().fill("unknown", &Unknown).unwrap_err().to_string();
    assert!(refused.contains("NaN"), "{refused}");
}

/// Something whose distance is not a number.
#[derive(Debug)]
struct Unknown;

impl Solid for Unknown {
    fn distance(&self, _: DVec3) -> f64 {
        f64::NAN
    }

    fn nearest(&self, at: DVec3) -> Nearest {
        Nearest { point: at, normal: DVec3::Z, distance: f64::NAN }
    }

    fn bounds(&self) -> Option<Bounds> {
        Some(Bounds { min: DVec3::NEG_ONE, max: DVec3::ONE })
    }
}

#[test]
fn a_lattice_around_a_solid_holds_all_of_it_and_little_more() {
    let solids: [Shape; 3] =
        [ball_at(DVec3::X * 0.3, 0.5), ring(0.5, 0.03), cuboid(0.5, 0.5, 0.005)];
    let cell = 0.11;
    for solid in &solids {
        let stuffing = Stuffing::new(cell).unwrap().with_anchor(DVec3::splat(0.033));
        let body = stuffing.cover("around", solid).unwrap();
        let bounds = solid.bounds().unwrap();
        let points: Vec<DVec3> = (0..20_000)
            .map(|n| bounds.centre() + anywhere(5, n) * bounds.size())
            .filter(|&at| solid.distance(at) <= 0.0)
            .collect();
        let embedding = Embedding::new(&body, &points, Outside::Extrapolate).unwrap();
        assert!(points.len() > 500 && embedding.beyond().len() == 0, "{solid:?}");

        // All are whole tetrahedra of the lattice, and each has something near the solid.
        let positions = body.positions().unwrap();
        for cell_corners in body.connectivity().cells() {
            let corners = cell_corners.map(|vertex| positions[vertex as usize]);
            for angle in dihedral_angles(corners) {
                let degrees = angle.to_degrees();
                assert!((degrees - 60.0).abs() < 1e-6 || (degrees - 90.0).abs() < 1e-6);
            }
            let least = (0..200)
                .map(|n| {
                    let mut weights = [0, 1, 2, 3].map(|k| -random::unit(9, 4 * n + k).ln());
                    let sum: f64 = weights.iter().sum();
                    weights = weights.map(|weight| weight / sum);
                    solid.distance((0..4).map(|k| weights[k] * corners[k]).sum())
                })
                .fold(f64::INFINITY, f64::min);
            assert!(least < 0.3 * cell, "{solid:?}: {least}");
        }
    }
}

/// A Body, points in and around it.
fn embedded() -> (Body, Vec<DVec3>) {
    let body = stuffed(0.1, &ring(0.5, 0.2));
    (body, (0..3000).map(|n| 1.6 * anywhere(11, n)).collect())
}

fn mapped(body: &Body, map: impl Fn(DVec3) -> DVec3) -> Vec<DVec3> {
    body.positions().unwrap().iter().map(|&at| map(at)).collect()
}

#[test]
fn embedded_points_follow_affine_maps_exactly_also_beyond_the_body() {
    let (body, points) = embedded();
    let embedding = Embedding::new(&body, &points, Outside::Extrapolate).unwrap();
    assert!(embedding.beyond().len() > 100 && embedding.beyond().len() < 2900);
    let matrix = DMat3::from_cols_array(&[1.3, 0.2, -0.4, 0.5, 0.7, 0.1, -0.2, 0.3, 1.9]);
    let map = |at: DVec3| matrix * at + DVec3::new(3.0, -2.0, 1.0);
    let moved = embedding.deform(&mapped(&body, map)).unwrap();
    for (&at, &moved) in points.iter().zip(&moved) {
        assert!(moved.distance(map(at)) < 1e-12, "{at}");
    }
    for gradient in embedding.deformation_gradients(&mapped(&body, map)).unwrap() {
        assert!(gradient.abs_diff_eq(matrix, 1e-12), "{gradient}");
    }
}

#[test]
fn a_rotation_of_the_body_is_the_deformation_gradient_of_its_points() {
    let (body, points) = embedded();
    let rotation = DMat3::from_axis_angle(DVec3::new(1.0, 2.0, -2.0) / 3.0, 1.1);
    for beyond in [Outside::Extrapolate, Outside::Carry] {
        let embedding = Embedding::new(&body, &points, beyond).unwrap();
        let turned = mapped(&body, |at| rotation * at);
        for (point, gradient) in
            embedding.deformation_gradients(&turned).unwrap().into_iter().enumerate()
        {
            assert!(gradient.abs_diff_eq(rotation, 1e-12), "{gradient}");
            // The same from the rows' gradients.
            let corners = embedding.indices()[point].map(|vertex| turned[vertex as usize]);
            let outer = |k: usize| {
                let [x, y, z] = embedding.gradients(point)[k].to_array();
                DMat3::from_cols(corners[k] * x, corners[k] * y, corners[k] * z)
            };
            let sum = outer(0) + outer(1) + outer(2) + outer(3);
            assert!(sum.abs_diff_eq(rotation, 1e-11), "{sum}");
        }
    }
}

#[test]
fn points_are_in_the_tetrahedra_that_a_search_through_all_finds() {
    let (body, points) = embedded();
    let embedding = Embedding::new(&body, &points, Outside::Carry).unwrap();
    let beyond: Vec<u32> = embedding.beyond().collect();
    let positions = body.positions().unwrap();
    let carried = embedding.deform(&positions).unwrap();
    for (n, &at) in points.iter().enumerate().step_by(7) {
        let corners = |cell: &[u32; 4]| cell.map(|vertex| positions[vertex as usize]);
        // The distance to the nearest tetrahedron, 0 in it.
        let distance = |cell: &[u32; 4]| {
            let [a, b, c, d] = corners(cell);
            let side = |p: DVec3, q: DVec3, r: DVec3, s: DVec3| {
                (q - p).cross(r - p).dot(s - p) * (q - p).cross(r - p).dot(at - p) >= 0.0
            };
            if side(a, b, c, d) && side(a, b, d, c) && side(a, c, d, b) && side(b, c, d, a) {
                return 0.0;
            }
            [[a, b, c], [a, b, d], [a, c, d], [b, c, d]]
                .map(|face| closest_point(face, at).point.distance(at))
                .into_iter()
                .fold(f64::INFINITY, f64::min)
        };
        let least = body.connectivity().cells().iter().map(distance).fold(f64::INFINITY, f64::min);
        let found = distance(&body.connectivity().cells()[embedding.cells()[n] as usize]);
        assert!((found - least).abs() < 1e-12, "{at}: {found} instead of {least}");
        assert_eq!(beyond.binary_search(&(n as u32)).is_ok(), least > 1e-9, "{at}");

        let weights = embedding.weights()[n];
        assert!(weights.iter().all(|&weight| (-1e-9..=1.0 + 1e-9).contains(&weight)));
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert_eq!(
            embedding.indices()[n],
            body.connectivity().cells()[embedding.cells()[n] as usize]
        );
        assert!(carried[n].distance(at) < 1e-12, "{at}: {}", carried[n]);
    }
}

#[test]
fn the_vertices_of_a_surface_ride_on_the_lattice_around_it() {
    let surface = gallery::torus(0.5, 0.2, 60, 30).into_surface("ring").unwrap();
    let lattice = Stuffing::new(0.15).unwrap().cover("lattice", &ring(0.5, 0.2)).unwrap();
    let embedding = Embedding::of_surface(&lattice, &surface, Outside::default()).unwrap();
    assert_eq!((embedding.len(), embedding.beyond().len()), (surface.vertex_count(), 0));
    // A bend is followed to second order in the size of the tetrahedra.
    let bend = |at: DVec3| at + DVec3::Z * 0.5 * at.x * at.x;
    let moved = embedding.deform(&mapped(&lattice, bend)).unwrap();
    for (&at, &moved) in surface.positions().unwrap().iter().zip(&moved) {
        assert!(moved.distance(bend(at)) < 0.125 * 0.15 * 0.15 + 1e-12);
    }
}

#[test]
fn what_cannot_be_embedded_is_refused_and_what_is_strange_is_not() {
    let (body, _) = embedded();
    let bad = [DVec3::ZERO, DVec3::new(0.0, f64::NAN, 0.0)];
    let refused = Embedding::new(&body, &bad, Outside::Carry).unwrap_err().to_string();
    assert!(refused.contains("vertex 1"), "{refused}");
    let empty = Body::new("none", vec![], Tetrahedra::new(vec![])).unwrap();
    assert!(Embedding::new(&empty, &[], Outside::Carry).is_err());
    let flat = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::X + DVec3::Y];
    let flat = Body::new("flat", flat, Tetrahedra::new(vec![[0, 1, 2, 3], [0, 0, 1, 2]])).unwrap();
    assert!(Embedding::new(&flat, &[DVec3::ZERO], Outside::Carry).is_err());
    let embedding = Embedding::new(&body, &[], Outside::Carry).unwrap();
    assert!(embedding.is_empty() && embedding.deform(&[DVec3::ZERO]).is_err());

    // Very far points, and tetrahedra of very different sizes and turned over.
    let mut corners = Vec::new();
    let mut cells = Vec::new();
    for n in 0..400_u32 {
        let size = if n % 2 == 0 { 1e3 } else { 1e-3 };
        let corner = anywhere(21, n.into()) * 1e3;
        let [x, y, z] = [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| corner + size * axis);
        corners.extend(if n % 3 == 0 { [corner, x, z, y] } else { [corner, x, y, z] });
        cells.push([0, 1, 2, 3].map(|k| 4 * n + k));
    }
    // Few small ones far apart, also farther than numbers reach.
    for apart in [1e6, 1e12, 1e200, 1.7e308] {
        let corners = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
        let far = corners.map(|corner| 1e-3 * corner + DVec3::X * apart);
        let near = corners.map(|corner| 1e-3 * corner - DVec3::X * apart);
        let all = [corners, far, near].concat();
        let cells = vec![[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]];
        let body = Body::new("apart", all, Tetrahedra::new(cells)).unwrap();
        let embedding = Embedding::new(&body, &[DVec3::splat(0.1)], Outside::Extrapolate).unwrap();
        assert_eq!((embedding.cells(), embedding.beyond().len()), (&[0][..], 0));
    }
    let mixed = Body::new("mixed", corners, Tetrahedra::new(cells)).unwrap();
    let points = [DVec3::splat(1e15), DVec3::ZERO, DVec3::splat(-1e4)];
    for beyond in [Outside::Carry, Outside::Extrapolate] {
        let embedding = Embedding::new(&mixed, &points, beyond).unwrap();
        for (at, moved) in points.iter().zip(embedding.deform(&mixed.positions().unwrap()).unwrap())
        {
            assert!(at.distance(moved) <= 1e-9 * at.length().max(1e3), "{at} {moved}");
        }
    }
}
