//! Shapes against what is known independently of them: support functions, dense samples, quadrature, textbooks.

mod booleans;
mod convex;
mod hulls;
mod masses;
mod refusals;
mod revolved;

use undine_core::glam::{DQuat, DVec3};
use undine_geometry::random::unit;
use undine_geometry::{Nearest, Pose, Shape, Solid};

/// A random place in a cube of this half side.
fn place(seed: u64, number: u64, half: f64) -> DVec3 {
    let [x, y, z] = [0, 1, 2].map(|k| (2.0 * unit(seed, 3 * number + k) - 1.0) * half);
    DVec3::new(x, y, z)
}

/// A random direction.
fn direction(seed: u64, number: u64) -> DVec3 {
    let z = 2.0 * unit(seed, 2 * number) - 1.0;
    let angle = unit(seed, 2 * number + 1) * std::f64::consts::TAU;
    let r = (1.0 - z * z).max(0.0).sqrt();
    DVec3::new(r * angle.cos(), r * angle.sin(), z)
}

fn some_pose() -> Pose {
    let rotation = DQuat::from_rotation_x(0.7) * DQuat::from_rotation_y(-1.9);
    Pose { rotation, translation: DVec3::new(0.3, -0.2, 0.5) }
}

/// Checks all that must hold of an answer at a finite place, whatever the shape, and gives it.
fn checked(shape: &Shape, at: DVec3) -> Nearest {
    let found = shape.nearest(at);
    let size = shape.bounds().map_or(1.0, |bounds| bounds.size().max_element()) + at.length();
    let Nearest { point, normal, distance } = found;
    assert!((normal.length() - 1.0).abs() < 1e-9, "{shape:?} at {at:?}: {found:?}");
    assert!(
        (distance - shape.distance(at)).abs() <= 1e-12 * size,
        "{shape:?} at {at:?}: {found:?}"
    );
    let again = point + normal * distance;
    assert!(again.distance(at) <= 1e-11 * size, "{shape:?} at {at:?}: {found:?}");
    if shape.is_exact() {
        assert!(shape.distance(point).abs() <= 1e-11 * size, "{shape:?} at {at:?}: {found:?}");
    }
    if distance < -1e-12 * size
        && let Some(bounds) = shape.bounds()
    {
        let held = at.cmpge(bounds.min).all() && at.cmple(bounds.max).all();
        assert!(held, "{shape:?} holds {at:?}, but its bounds do not");
    }
    assert_eq!(found, shape.nearest(at), "always the same");
    found
}

/// Places where formulas break: centres, axes, faces, edges, corners, apexes of the shapes in these tests, and far ones.
fn nasty_places() -> Vec<DVec3> {
    let steps = [0.0, -0.0, 1e-300, 1e-17, 0.2, 0.25, 0.5, -0.5, 0.75, -0.75, 1.0, -1.0, 1.5, 1e9];
    let mut places = Vec::new();
    for x in steps {
        for y in steps {
            for z in steps {
                places.push(DVec3::new(x, y, z));
            }
        }
    }
    places
}
