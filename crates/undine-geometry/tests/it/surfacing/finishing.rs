//! What follows: filters, smoothing, fewer triangles, no tiny parts. Meshes stay closed.

use super::sets::*;
use crate::solids::Ball;
use undine_core::glam::DVec3;
use undine_geometry::levelset::Filter;
use undine_geometry::meshing::{
    Decimation, SmoothMethod, SmoothWeights, Smoothing, decimate, smooth, vertex_normals,
    without_parts_below,
};
use undine_geometry::surfacing::Anisotropy;

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
