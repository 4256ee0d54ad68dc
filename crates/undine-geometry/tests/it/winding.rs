//! Inside and outside: winding numbers and meshes as solids.

use crate::bvh::{meshes, moved, places, unit};
use undine_core::glam::{DQuat, DVec3};
use undine_geometry::winding::{Orientation, Rule, orientation, solid_angle, winding_number};
use undine_geometry::{Bvh, Inside, MeshSolid, Solid, Triangles, Winding, gallery};

fn inside_out(mesh: &Triangles) -> Triangles {
    let indices = mesh.indices().iter().map(|&[a, b, c]| [c, b, a]).collect();
    Triangles::new(mesh.positions().to_vec(), indices).unwrap()
}

/// Two meshes as one.
fn both(one: &Triangles, other: &Triangles) -> Triangles {
    let (mut positions, mut indices) = one.clone().into_parts();
    let first = positions.len() as u32;
    positions.extend(other.positions());
    indices.extend(other.indices().iter().map(|corners| corners.map(|vertex| vertex + first)));
    Triangles::new(positions, indices).unwrap()
}

#[test]
fn an_octant_is_seen_under_an_eighth_of_the_sphere() {
    let angle = solid_angle([DVec3::X, DVec3::Y, DVec3::Z], DVec3::ZERO);
    assert!((angle - std::f64::consts::FRAC_PI_2).abs() < 1e-15);
    assert_eq!(solid_angle([DVec3::X, DVec3::Y, DVec3::NEG_X], DVec3::ZERO), 0.0);
    assert_eq!(solid_angle([DVec3::X, DVec3::Y, DVec3::Z], DVec3::X), 0.0);
}

#[test]
fn a_closed_mesh_winds_once_around_its_inside_and_not_around_its_outside() {
    let mesh = gallery::bunny(3);
    let twice = both(&mesh, &moved(&mesh, |p| p + DVec3::splat(1e-4)));
    let cavity = both(&gallery::sphere(1.0, 2), &inside_out(&gallery::sphere(0.5, 2)));
    for (mesh, at, wanted) in [
        (&mesh, DVec3::ZERO, 1.0),
        (&mesh, DVec3::splat(2.0), 0.0),
        (&inside_out(&mesh), DVec3::ZERO, -1.0),
        (&twice, DVec3::ZERO, 2.0),
        (&cavity, DVec3::ZERO, 0.0),
        (&cavity, DVec3::X * 0.75, 1.0),
    ] {
        assert!((winding_number(mesh, at) - wanted).abs() < 1e-9);
        let bvh = Bvh::new(mesh.clone()).unwrap();
        assert!((Winding::new(&bvh).number(&bvh, at) - wanted).abs() < 0.02);
    }
    assert_eq!(orientation(&mesh), Orientation::Outwards);
    assert_eq!(orientation(&inside_out(&mesh)), Orientation::Inwards);
    assert!(!Rule::Positive.is_inside(-1.0) && Rule::NonZero.is_inside(-1.0));
}

#[test]
fn the_fast_winding_number_is_as_accurate_as_it_says() {
    let mut worst = [0.0_f64; 2];
    let (mut sum, mut count) = (0.0, 0);
    for (name, mesh) in meshes() {
        let places = places(&mesh, 400);
        let bvh = Bvh::new(mesh).unwrap();
        let windings = [2.0, 4.0].map(|accuracy| Winding::with_accuracy(&bvh, accuracy).unwrap());
        for at in places {
            let exact = winding_number(bvh.triangles(), at);
            for (winding, (worst, most)) in
                windings.iter().zip(worst.iter_mut().zip([0.003, 0.0002]))
            {
                let error = (winding.number(&bvh, at) - exact).abs();
                *worst = worst.max(error);
                assert!(error <= most, "{name} at {at}: {error}");
            }
            sum += (windings[0].number(&bvh, at) - exact).abs();
            count += 1;
        }
    }
    assert!(sum / f64::from(count) < 0.0003, "{} of {worst:?}", sum / f64::from(count));
    assert!(Winding::with_accuracy(&Bvh::new(gallery::sphere(1.0, 1)).unwrap(), 0.5).is_err());
}

#[test]
fn winding_numbers_have_the_same_bits_for_any_number_of_threads() {
    let mesh = gallery::knot(0.06, 200, 20);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let solid = MeshSolid::new(mesh.clone(), Inside::default()).unwrap();
            let numbers: Vec<u64> = (0..500)
                .map(|n| solid.winding().number(solid.bvh(), unit(1, n) - 0.5).to_bits())
                .collect();
            let places: Vec<DVec3> = (0..500).map(|n| unit(2, n) - 0.5).collect();
            (numbers, solid.distances(&places))
        })
    };
    let one = with(1);
    for threads in [2, 3, 7] {
        assert!(with(threads) == one, "{threads} threads");
    }
}

#[test]
fn the_signed_distance_of_a_made_sphere_is_that_of_a_sphere() {
    // A divided icosahedron lies below the sphere by at most r·(h/r)²/8 with edges h of about 0.04.
    let sag = 5e-4;
    for side in [Inside::Winding(Rule::Positive), Inside::Winding(Rule::NonZero), Inside::Normals] {
        let solid = MeshSolid::new(gallery::sphere(1.0, 5), side).unwrap();
        for n in 0..3_000 {
            let at = (unit(5, n) - 0.5) * 4.0;
            let exact = at.length() - 1.0;
            let nearest = solid.nearest(at);
            assert!((nearest.distance - exact).abs() < sag, "{at}: {} {exact}", nearest.distance);
            assert!(nearest.normal.dot(at.normalize()) > 0.99 && nearest.normal.is_normalized());
            assert_eq!(solid.distance(at), nearest.distance);
            assert_eq!(solid.is_inside(at), nearest.distance < 0.0);
        }
        let bounds = solid.bounds().unwrap();
        assert!(bounds.size().max_element() > 1.99 && bounds.size().max_element() < 2.01);
    }
}

#[test]
fn normals_and_winding_numbers_agree_about_closed_meshes() {
    let turn = DQuat::from_rotation_y(0.4);
    let spikes =
        gallery::blob(
            2,
            |p| if (p * 7.0).round().element_sum() as i32 % 2 == 0 { 1.0 } else { 0.3 },
        );
    for mesh in [
        gallery::cuboid(DVec3::new(0.5, 0.1, 0.3)),
        moved(&gallery::cuboid(DVec3::new(0.5, 0.1, 0.3)), |p| turn * p),
        gallery::knot(0.06, 120, 8),
        gallery::bunny(3),
        spikes,
    ] {
        let places = places(&mesh, 3_000);
        let wound = MeshSolid::new(mesh.clone(), Inside::default()).unwrap();
        let behind = MeshSolid::new(mesh, Inside::Normals).unwrap();
        let (one, other) = (wound.distances(&places), behind.distances(&places));
        for ((&at, one), other) in places.iter().zip(one).zip(other) {
            // On the surface itself both signs are right.
            assert!(one == other || one.abs() < 1e-8, "{at}: {one} and {other}");
        }
    }
}

#[test]
fn open_and_crossing_meshes_still_have_an_inside() {
    // A sphere with a hole: away from the hole nothing changes.
    let (positions, mut indices) = gallery::sphere(1.0, 4).into_parts();
    indices.retain(|corners| corners.iter().any(|&vertex| positions[vertex as usize].z < 0.95));
    let open = Triangles::new(positions, indices).unwrap();
    for side in [Inside::default(), Inside::Normals] {
        let solid = MeshSolid::new(open.clone(), side).unwrap();
        for n in 0..500 {
            let at = (unit(6, n) - 0.5) * 4.0;
            if (at - DVec3::Z).length() > 0.5 && (at.length() - 1.0).abs() > 0.02 {
                assert_eq!(solid.is_inside(at), at.length() < 1.0, "{side:?} at {at}");
            }
        }
    }
    // Two spheres that cross: their union, whose overlap winds twice.
    let apart = DVec3::X * 0.7;
    let sphere = gallery::sphere(1.0, 4);
    let crossing = both(&sphere, &moved(&sphere, |p| p + apart));
    let solid = MeshSolid::new(crossing, Inside::default()).unwrap();
    for n in 0..500 {
        let at = (unit(7, n) - 0.5) * 4.0;
        let depth = at.length().min(at.distance(apart)) - 1.0;
        if depth.abs() > 0.01 {
            assert_eq!(solid.is_inside(at), depth < 0.0, "{at}");
        }
    }
}

#[test]
fn a_mesh_that_looks_inwards_is_a_solid_by_the_other_rule() {
    let mesh = inside_out(&gallery::sphere(1.0, 3));
    let at = DVec3::new(0.1, 0.2, 0.3);
    let none = MeshSolid::new(mesh.clone(), Inside::Winding(Rule::Positive)).unwrap();
    assert!(!none.is_inside(at) && none.distance(at) > 0.0);
    let solid = MeshSolid::new(mesh, Inside::Winding(Rule::NonZero)).unwrap();
    let nearest = solid.nearest(at);
    assert!(nearest.distance < 0.0 && nearest.normal.dot(at) > 0.0);
}

#[test]
fn a_sheet_is_as_thick_as_it_is_told() {
    let solid = MeshSolid::new(gallery::sheet([2.0, 2.0], [4, 4]), Inside::Thickness(0.1)).unwrap();
    for (at, wanted, normal) in [
        (DVec3::new(0.3, 0.2, 0.5), 0.45, DVec3::Z),
        (DVec3::new(0.3, 0.2, -0.5), 0.45, DVec3::NEG_Z),
        (DVec3::new(0.3, 0.2, 0.0), -0.05, DVec3::Z),
        (DVec3::new(2.0, 0.0, 0.0), 0.95, DVec3::X),
    ] {
        let nearest = solid.nearest(at);
        assert!(
            (nearest.distance - wanted).abs() < 1e-12 && nearest.normal.distance(normal) < 1e-12
        );
        assert!((nearest.point + nearest.distance * nearest.normal).distance(at) < 1e-12);
    }
    assert!((solid.bounds().unwrap().size() - DVec3::new(2.1, 2.1, 0.1)).length() < 1e-12);
}

#[test]
fn a_refitted_solid_is_as_good_as_a_new_one() {
    let mesh = gallery::bunny(2);
    let mut solid = MeshSolid::new(mesh.clone(), Inside::Normals).unwrap();
    let mesh = moved(&mesh, |p| DQuat::from_rotation_z(p.z) * p * 3.0);
    solid.refit(mesh.positions().to_vec()).unwrap();
    let new = MeshSolid::new(mesh, Inside::Normals).unwrap();
    for n in 0..500 {
        let at = (unit(8, n) - 0.5) * 3.0;
        assert_eq!(solid.nearest(at), new.nearest(at));
    }
}

#[test]
fn what_is_no_solid_is_refused_and_what_is_no_place_is_outside() {
    let empty = Triangles::new(vec![], vec![]).unwrap();
    assert!(MeshSolid::new(empty.clone(), Inside::default()).is_err());
    let mesh = gallery::sphere(1.0, 1);
    for thickness in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(MeshSolid::new(mesh.clone(), Inside::Thickness(thickness)).is_err());
    }
    let solid = MeshSolid::new(mesh, Inside::default()).unwrap();
    assert_eq!(solid.distance(DVec3::NAN), f64::INFINITY);
    assert!(!solid.is_inside(DVec3::NAN));
    let bvh = Bvh::new(empty).unwrap();
    assert_eq!(Winding::new(&bvh).number(&bvh, DVec3::ZERO), 0.0);
    // Triangles without area have no inside and no normal, but distances.
    let points = Triangles::new(vec![DVec3::X; 3], vec![[0, 1, 2]]).unwrap();
    let solid = MeshSolid::new(points, Inside::Normals).unwrap();
    let nearest = solid.nearest(DVec3::ZERO);
    assert!(nearest.distance == 1.0 && nearest.normal == DVec3::NEG_X);
}
