//! What follows: filters, smoothing, fewer triangles, no tiny parts. Meshes stay closed.

use super::sets::*;
use crate::solids::Ball;
use undine_core::glam::DVec3;
use undine_geometry::levelset::{Extent, Filter};
use undine_geometry::meshing::{
    Decimation, SmoothMethod, SmoothWeights, Smoothing, decimate, sharpen, smooth, vertex_normals,
    without_parts_below,
};
use undine_geometry::surfacing::{Anisotropy, Recipe};
use undine_geometry::{Bvh, LevelSet, Shape, Triangles};

#[test]
fn a_surface_can_be_filtered_smoothed_thinned_and_swept() {
    let spacing = 0.06;
    let ball = Ball { centre: DVec3::ZERO, radius: 0.5 };
    let mut points = filled(&ball, spacing, 0.25);
    points.extend([DVec3::new(1.0, 0.0, 0.0), DVec3::new(0.0, -1.0, 0.2)]);
    let how = ellipsoids(Anisotropy::default());
    let found = surface(&how, 0.4 * spacing, &all(&points, 1.05 * spacing));
    let first = mesh(&found);
    assert_eq!(parts(&first), 3);

    let swept = without_parts_below(&first, 0.01).unwrap().mesh;
    check(&swept);
    assert_eq!(parts(&swept), 1);

    let method = SmoothMethod::KeepVolume { strength: 0.5 };
    let smoothing = Smoothing { method, weights: SmoothWeights::Even, passes: 5 };
    let smoothed = smooth(&swept, smoothing).unwrap();
    check(&smoothed);
    let kept = mass(&smoothed).volume / mass(&swept).volume;
    assert!((kept - 1.0).abs() < 1e-3, "{kept}");

    let error = 0.02 * spacing;
    let thinned = decimate(&smoothed, Decimation { triangles: 0, error, hold_boundary: true });
    let thinned = thinned.unwrap();
    check(&thinned.remeshed.mesh);
    assert!(thinned.error <= error && thinned.remeshed.mesh.len() < smoothed.len() / 2);
    let kept = mass(&thinned.remeshed.mesh).volume / mass(&smoothed).volume;
    assert!((kept - 1.0).abs() < 2e-3, "{kept}");

    let normals = vertex_normals(&smoothed);
    for (normal, at) in normals.iter().zip(smoothed.positions()) {
        assert!((normal.length() - 1.0).abs() < 1e-5);
        assert!(normal.as_dvec3().dot(at.normalize()) > 0.7, "{normal} at {at}");
    }

    let mut set = found.into_level_set().unwrap();
    let before = set.size().unwrap();
    set.filter(Filter::Gaussian(1), 2, None).unwrap();
    let filtered = set.mesh().unwrap();
    check(&filtered);
    assert!(set.size().unwrap().area < before.area, "smoother");
}

/// Particles at random leave gaps between ellipsoids; wherever they lie, deep Buckets without voxels beside them, the mesh is closed. What
/// is no larger than a bubble that a solver could have is filled, and what is larger stays.
#[test]
fn gaps_deep_inside_are_closed_and_bubbles_stay() {
    let spacing = 0.03;
    let ball = Ball { centre: DVec3::ZERO, radius: 0.5 };
    let mut points = filled(&ball, spacing, 0.6);
    points.retain(|at| at.distance(DVec3::new(0.1, 0.0, 0.0)) > 0.15);
    let recipe = Recipe::default();
    for (radius, cavities) in [(0.85 * spacing, 1..30), (1.05 * spacing, 1..2)] {
        let how = ellipsoids(Anisotropy::default());
        let found = surface(&how, 0.4 * radius, &all(&points, radius));
        let holed = mesh(&found);
        let whole = recipe.finish(holed.clone(), radius).unwrap();
        check(&whole);
        // The ball, and its bubble, beside what is as large.
        let found = parts(&whole) - 1;
        assert!(cavities.contains(&found), "{found} of {}", parts(&holed) - 1);
        let kept = Recipe { bubbles: Some(0.0), ..recipe };
        assert_eq!(kept.finish(holed.clone(), radius).unwrap(), holed);
    }
}

/// A box loses a part of a voxel at its edges and corners to marching cubes; sharpened by what it knows of its normals, it has them.
#[test]
fn sharp_edges_can_be_kept() {
    let shape = Shape::cuboid(DVec3::new(0.5, 0.35, 0.27)).unwrap();
    let voxel = 0.031;
    let set = LevelSet::of_solid("box", &domain(voxel), &shape, Extent::NARROW).unwrap();
    let plain = set.mesh().unwrap();
    let sharp = sharpen(&plain, &shape, voxel).unwrap();
    check(&sharp);
    assert_eq!(sharp.indices(), plain.indices());
    // How far the edges of the box are from the mesh.
    let missing = |mesh: &Triangles| {
        let bvh = Bvh::new(mesh.clone()).unwrap();
        let along = (0..400).map(|n| DVec3::new(0.5, 0.35, 0.54 * f64::from(n) / 399.0 - 0.27));
        along.map(|at| bvh.closest(at).unwrap().distance_squared.sqrt()).fold(0.0, f64::max) / voxel
    };
    let [plain, sharp] = [&plain, &sharp].map(missing);
    assert!(plain > 0.25 && sharp < 1e-6, "{plain} {sharp}");
}
