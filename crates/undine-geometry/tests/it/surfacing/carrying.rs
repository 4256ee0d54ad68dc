//! What particles carry, at the vertices of their surface.

use super::sets::*;
use crate::solids::Ball;
use undine_core::glam::DVec3;
use undine_geometry::surfacing::{Anisotropy, Carrying, Surfacing};

#[test]
fn a_linear_velocity_is_exact_when_blended_and_near_when_not() {
    let spacing = 0.06;
    let points = filled(&Ball { centre: DVec3::ZERO, radius: 0.5 }, spacing, 0.25);
    let velocity = |at: DVec3| DVec3::new(1.0 + 2.0 * at.y, at.x - at.z, 3.0 * at.z - 0.5 * at.x);
    let velocities: Vec<DVec3> = points.iter().map(|at| velocity(*at)).collect();
    for how in [spheres(), ellipsoids(Anisotropy::default())] {
        let found = surface(&how, 0.4 * spacing, &all(&points, 1.05 * spacing));
        let mesh = mesh(&found);
        let error = |carrying: Carrying| {
            let origins = found.origins(mesh.positions(), carrying);
            let carried = origins.carry(&velocities, |v, w| v * w).unwrap();
            assert_eq!(carried.len(), mesh.positions().len());
            let wrong =
                carried.iter().zip(mesh.positions()).map(|(v, at)| v.distance(velocity(*at)));
            wrong.fold(0.0, f64::max)
        };
        let blended = error(Carrying::Blended);
        assert!(blended < 1e-4, "{how:?}: {blended}");
        // From within about a radius, where the field changes by less than four per metre.
        let nearest = error(Carrying::Nearest);
        assert!(nearest > 1e-3 && nearest < 4.0 * 2.5 * spacing, "{how:?}: {nearest}");
    }
}

#[test]
fn droplets_keep_their_own_and_a_sheet_its_slope() {
    let points: Vec<DVec3> = (0..20).map(|n| DVec3::new(0.5 * n as f64, 0.0, 0.0)).collect();
    let ids: Vec<f64> = (0..20).map(f64::from).collect();
    let found = surface(&Surfacing::default(), 0.05, &all(&points, 0.1));
    let mesh_of_droplets = mesh(&found);
    for carrying in [Carrying::Nearest, Carrying::Blended] {
        let origins = found.origins(mesh_of_droplets.positions(), carrying);
        let carried = origins.carry(&ids, |id, w| id * w).unwrap();
        for (id, at) in carried.iter().zip(mesh_of_droplets.positions()) {
            assert!((id - (at.x / 0.5).round()).abs() < 1e-12, "{id} at {at}");
        }
    }
    let points = sheet(0.5, 0.05, 0.2);
    let heights: Vec<f64> = points.iter().map(|at| 2.0 * at.x - at.y).collect();
    let found = surface(&Surfacing::default(), 0.02, &all(&points, 0.05));
    let mesh = mesh(&found);
    let carried = found.origins(mesh.positions(), Carrying::Blended);
    let carried = carried.carry(&heights, |h, w| h * w).unwrap();
    for (found, at) in carried.iter().zip(mesh.positions()) {
        assert!((found - (2.0 * at.x - at.y)).abs() < 1e-4, "{found} at {at}");
    }
}
