//! Mass properties of closed meshes, against closed forms.

use std::f64::consts::PI;
use undine_core::glam::{DMat3, DQuat, DVec3};
use undine_geometry::meshing::mass_properties;
use undine_geometry::{MassProperties, Pose, Triangles, gallery};

fn posed(mesh: &Triangles, pose: &Pose) -> Triangles {
    let positions = mesh.positions().iter().map(|&p| pose.to_world(p)).collect();
    Triangles::new(positions, mesh.indices().to_vec()).unwrap()
}

fn assert_near(found: &MassProperties, wanted: &MassProperties, tolerance: f64) {
    assert!((found.volume / wanted.volume - 1.0).abs() < tolerance, "{found:?} {wanted:?}");
    assert!(found.centre.distance(wanted.centre) < tolerance, "{found:?} {wanted:?}");
    let scale = wanted.inertia.x_axis.length();
    assert!(found.inertia.abs_diff_eq(wanted.inertia, tolerance * scale), "{found:?} {wanted:?}");
}

/// A box with half sides h has I = V/3 (h_y² + h_z², …); turned and 10 km away that is the same to rounding: corners
/// are known to 2⁻⁵³ · 10⁴ m there.
#[test]
fn a_box_is_exact_also_far_away() {
    let half = DVec3::new(0.5, 1.0, 1.5);
    let squares = half * half;
    let moments = squares.element_sum() - squares;
    let wanted = MassProperties {
        volume: 6.0,
        centre: DVec3::ZERO,
        inertia: DMat3::from_diagonal(2.0 * moments),
    };
    let mesh = gallery::cuboid(half);
    assert_near(&mass_properties(&mesh).unwrap(), &wanted, 1e-14);
    let rotation = DQuat::from_rotation_y(0.4) * DQuat::from_rotation_x(2.0);
    let pose = Pose { rotation, translation: DVec3::new(1e4, -7e3, 3e3) };
    assert_near(&mass_properties(&posed(&mesh, &pose)).unwrap(), &wanted.moved(&pose), 1e-11);
}

/// A mesh inscribed in a sphere misses O(h²) of its volume, 4π/3, and of its moment of inertia, 8π/15.
#[test]
fn a_sphere_converges_with_order_two() {
    let errors = |levels| {
        let found = mass_properties(&gallery::sphere(1.0, levels)).unwrap();
        assert!(found.centre.length() < 1e-14);
        [found.volume / (4.0 / 3.0 * PI), found.inertia.x_axis.x / (8.0 / 15.0 * PI)]
            .map(|part| 1.0 - part)
    };
    for levels in 2..5 {
        let (coarse, fine) = (errors(levels), errors(levels + 1));
        for n in 0..2 {
            let order = (coarse[n] / fine[n]).log2();
            assert!((order - 2.0).abs() < 0.05, "{order}");
        }
    }
}

/// A torus with ring R and tube r: V = 2π² R r², I_z = V (R² + ¾ r²), I_x = V (½ R² + ⅝ r²).
#[test]
fn a_torus_has_the_moments_of_the_textbook() {
    let (ring, tube) = (1.0_f64, 0.4_f64);
    let volume = 2.0 * PI * PI * ring * tube * tube;
    let (ring, tube) = (ring * ring, tube * tube);
    let across = 0.5 * ring + 0.625 * tube;
    let moments = volume * DVec3::new(across, across, ring + 0.75 * tube);
    let wanted =
        MassProperties { volume, centre: DVec3::ZERO, inertia: DMat3::from_diagonal(moments) };
    assert_near(&mass_properties(&gallery::torus(1.0, 0.4, 400, 200)).unwrap(), &wanted, 1e-3);
}

#[test]
fn open_meshes_are_refused_and_empty_ones_weigh_nothing() {
    let error = mass_properties(&gallery::sheet([1.0, 1.0], [1, 1])).unwrap_err().to_string();
    assert!(error.contains("not closed at the edge"), "{error}");
    let empty = Triangles::new(vec![DVec3::ONE], vec![]).unwrap();
    assert_eq!(mass_properties(&empty).unwrap(), MassProperties::NONE);
    let huge = gallery::cuboid(DVec3::splat(1e80));
    assert!(mass_properties(&huge).unwrap_err().to_string().contains("1e60"));
    // A sheet with two sides is closed and has no volume.
    let flat = Triangles::new(vec![DVec3::ZERO, DVec3::X, DVec3::Y], vec![[0, 1, 2], [0, 2, 1]]);
    let flat = mass_properties(&flat.unwrap()).unwrap();
    assert!(flat.volume == 0.0 && flat.centre.is_finite() && flat.inertia.is_finite());
}

#[test]
fn bits_do_not_depend_on_threads() {
    let mesh = gallery::bunny(5);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| mass_properties(&mesh).unwrap())
    };
    assert!([2, 7].into_iter().all(|threads| run(threads) == run(1)));
}
