//! Smoothing and subdivision: the volume is kept, limits are reached.

use crate::mesh_weld::{any_soup, closed_gallery};
use proptest::prelude::*;
use undine_core::glam::DVec3;
use undine_geometry::meshing::{
    SmoothMethod, SmoothWeights, Smoothing, Subdivision, SubdivisionScheme, smooth, subdivide,
};
use undine_geometry::{GeometryError, Triangles, gallery, random};

fn volume(mesh: &Triangles) -> f64 {
    mesh.clone().into_surface("mesh").unwrap().volume().unwrap()
}

/// The mean angle between neighbouring triangles [rad].
fn roughness(mesh: &Triangles) -> f64 {
    let surface = mesh.clone().into_surface("mesh").unwrap();
    let normals = surface.face_normals().unwrap();
    let angles = surface.edge_faces();
    let angle =
        |faces: &[u32]| normals[faces[0] as usize].angle_between(normals[faces[1] as usize]);
    angles.rows().map(angle).sum::<f64>() / angles.len() as f64
}

/// The mesh with every vertex moved at random by up to `most` along each axis.
fn shaken(mesh: &Triangles, most: f64) -> Triangles {
    let draw = |n: usize, axis: u64| most * (2.0 * random::unit(axis, n as u64) - 1.0);
    let positions = mesh.positions().iter().enumerate();
    let positions = positions.map(|(n, &p)| p + DVec3::new(draw(n, 1), draw(n, 2), draw(n, 3)));
    Triangles::new(positions.collect(), mesh.indices().to_vec()).unwrap()
}

const METHODS: [SmoothMethod; 2] = [
    SmoothMethod::Taubin { strength: 0.5, pass_band: 0.1 },
    SmoothMethod::KeepVolume { strength: 0.5 },
];

#[test]
fn smoothing_takes_noise_away_and_keeps_the_volume() {
    let bunny = gallery::bunny(5);
    let noisy = shaken(&bunny, 0.003);
    for method in METHODS {
        for weights in [SmoothWeights::Even, SmoothWeights::Cotangent] {
            let smoothing = Smoothing { method, weights, passes: 10 };
            let result = smooth(&noisy, smoothing).unwrap();
            let drift = volume(&result) / volume(&noisy) - 1.0;
            let most = if matches!(method, SmoothMethod::Taubin { .. }) { 0.005 } else { 1e-9 };
            assert!(drift.abs() < most, "{smoothing:?}: {drift}");
            assert!(roughness(&result) < 0.5 * roughness(&noisy), "{smoothing:?}");
        }
    }
}

#[test]
fn smoothing_holds_the_boundary_and_a_flat_sheet_stays_flat() {
    let sheet = gallery::sheet([1.0, 1.0], [10, 10]);
    let noisy = shaken(&sheet, 0.02);
    for method in METHODS {
        let result = smooth(&noisy, Smoothing { method, ..Smoothing::default() }).unwrap();
        for (n, (before, after)) in noisy.positions().iter().zip(result.positions()).enumerate() {
            let rim = n % 11 == 0 || n % 11 == 10 || !(11..110).contains(&n);
            assert_eq!(before == after, rim);
        }
        let result = smooth(&sheet, Smoothing { method, ..Smoothing::default() }).unwrap();
        assert!(result.positions().iter().all(|p| p.z.abs() < 1e-15));
    }
}

#[test]
fn smoothing_refuses_what_would_not_end_well() {
    let mesh = gallery::cuboid(DVec3::ONE);
    for strength in [0.0, -1.0, 1.5, f64::NAN] {
        let method = SmoothMethod::KeepVolume { strength };
        assert!(smooth(&mesh, Smoothing { method, ..Smoothing::default() }).is_err());
    }
    for pass_band in [0.0, 1.0, f64::NAN] {
        let method = SmoothMethod::Taubin { strength: 0.5, pass_band };
        assert!(smooth(&mesh, Smoothing { method, ..Smoothing::default() }).is_err());
    }
}

#[test]
fn midpoints_keep_shape_volume_and_topology() {
    for mesh in closed_gallery() {
        let subdivision = Subdivision {
            scheme: SubdivisionScheme::Midpoint,
            levels: 2,
            ..Subdivision::default()
        };
        let fine = subdivide(&mesh, subdivision).unwrap();
        assert_eq!(fine.mesh.len(), 16 * mesh.len());
        assert!((volume(&fine.mesh) / volume(&mesh) - 1.0).abs() < 1e-12);
        let source = |n: usize| fine.triangles[n].unwrap() as usize;
        assert!((0..fine.mesh.len()).all(|n| source(n) == n / 16));
        let carried = fine.vertices.carry(mesh.positions(), |p, w| p * w).unwrap();
        let near = |(a, b): (&DVec3, &DVec3)| a.distance(*b) < 1e-14;
        assert!(carried.iter().zip(fine.mesh.positions()).all(near));
        let euler = |mesh: Triangles| mesh.into_surface("mesh").unwrap().euler_characteristic();
        assert_eq!(euler(fine.mesh), euler(mesh));
    }
}

/// The volume of the n-th level differs from that of the limit by c·4⁻ⁿ, since a triangle of side h misses h² of a
/// smooth surface. So differences shrink by four.
#[test]
fn the_volume_of_loop_subdivision_converges_with_order_two() {
    for mesh in
        [gallery::cuboid(DVec3::ONE), gallery::torus(1.0, 0.4, 8, 6), gallery::sphere(1.0, 1)]
    {
        let at = |levels| {
            let fine = subdivide(&mesh, Subdivision { levels, ..Subdivision::default() }).unwrap();
            fine.mesh.clone().into_surface("fine").unwrap().check_closed().unwrap();
            volume(&fine.mesh)
        };
        let volumes: Vec<f64> = (1..6).map(at).collect();
        let steps: Vec<f64> = volumes.windows(2).map(|pair| pair[1] - pair[0]).collect();
        for pair in steps.windows(2).skip(1) {
            let order = (pair[0] / pair[1]).log2();
            assert!((order - 2.0).abs() < 0.15, "{order}");
        }
    }
}

/// Inner rules reproduce a plane, and the boundary rule makes the cubic B-spline of a boundary: a straight one stays.
#[test]
fn loop_subdivision_keeps_planes_and_straight_boundaries() {
    let sheet = gallery::sheet([2.0, 1.0], [4, 3]);
    let fine = subdivide(&sheet, Subdivision { levels: 3, ..Subdivision::default() }).unwrap();
    assert!(
        fine.mesh.positions().iter().all(|p| p.z == 0.0 && p.x.abs() <= 1.0 && p.y.abs() <= 0.5)
    );
    let surface = fine.mesh.clone().into_surface("fine").unwrap();
    surface.validate().unwrap();
    // Only the corners are rounded.
    assert!(surface.area().unwrap() > 1.9 && surface.area().unwrap() < 2.0);
    for vertex in 0..fine.vertices.len() {
        let row = fine.vertices.of(vertex);
        assert!((row.iter().map(|(_, w)| w).sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(row.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}

#[test]
fn too_many_triangles_are_refused_with_the_numbers() {
    let mesh = gallery::cuboid(DVec3::ONE);
    for levels in [3, 40, u32::MAX] {
        let error = subdivide(&mesh, Subdivision { levels, most: 700, ..Subdivision::default() });
        let Err(GeometryError::TooMany { found, most: 700, .. }) = error else { panic!() };
        assert!(found >= 768);
    }
}

#[test]
fn bits_do_not_depend_on_threads() {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mesh = gallery::bunny(4);
            let smoothed =
                METHODS.map(|method| smooth(&mesh, Smoothing { method, ..Smoothing::default() }));
            (smoothed, subdivide(&mesh, Subdivision::default()))
        })
    };
    let one = run(1);
    assert!([2, 7].into_iter().all(|threads| run(threads) == one));
}

proptest! {
    #[test]
    fn any_soup_can_be_smoothed_and_subdivided(mesh in any_soup()) {
        for method in METHODS {
            for weights in [SmoothWeights::Even, SmoothWeights::Cotangent] {
                let result = smooth(&mesh, Smoothing { method, weights, passes: 3 });
                prop_assert!(result.is_ok());
            }
        }
        for scheme in [SubdivisionScheme::Loop, SubdivisionScheme::Midpoint] {
            let fine = subdivide(&mesh, Subdivision { scheme, levels: 2, ..Subdivision::default() }).unwrap();
            for vertex in 0..fine.vertices.len() {
                let sum: f64 = fine.vertices.of(vertex).iter().map(|(_, weight)| weight).sum();
                prop_assert!((sum - 1.0).abs() < 1e-12);
            }
        }
    }
}
