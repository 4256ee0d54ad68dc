//! Edges that move, or that colliders move against: none gets past a rod, whatever the rod is made of.

use crate::solids::domain;
use std::f64::consts::TAU;
use undine_core::glam::DVec3;
use undine_geometry::collider::Collider;
use undine_geometry::levelset::{Extent, LevelSet};
use undine_geometry::{Inside, MeshSolid, Motion, Pose, Shape, Triangles, Twist};

const THICK: f64 = 0.05;

/// A rod along z at x = 1, as a shape, as its mesh and in voxels of an eighth of its thickness; and how far their surfaces are off.
fn rods() -> [(&'static str, Collider, f64); 3] {
    let shape = Shape::cylinder(THICK, 2.0).unwrap().moved(&Pose::at(DVec3::X)).unwrap();
    let set = LevelSet::of_solid("rod", &domain(0.0125), &shape, Extent::NARROW).unwrap();
    let corner = |n: u32| {
        let (angle, z) = (TAU * f64::from(n / 2) / 64.0, f64::from(n % 2) * 2.0 - 1.0);
        DVec3::new(1.0 + THICK * angle.cos(), THICK * angle.sin(), z)
    };
    let side = |n: u32| {
        let [a, b, c, d] = [2 * n, 2 * n + 1, 2 * n + 2, 2 * n + 3].map(|corner| corner % 128);
        [[a, c, b], [b, c, d]]
    };
    let mesh = Triangles::new((0..128).map(corner).collect(), (0..64).flat_map(side).collect());
    let mesh = mesh.unwrap();
    [
        ("a shape", Collider::solid(shape), 1e-9),
        ("a mesh", Collider::mesh(MeshSolid::new(mesh, Inside::default()).unwrap()), 1e-4),
        ("a level set", Collider::level_set(set, None).unwrap(), 1e-3),
    ]
}

/// The rod goes around z, and is where the edge along y = h is when sin φ = h − ρ − r.
#[test]
fn a_rod_that_swings_touches_an_edge_at_rest_when_it_should() {
    let (height, radius, speed) = (0.5, 0.01, 1.5);
    let edge = [DVec3::new(0.2, height, -0.1), DVec3::new(1.4, height, 0.2)];
    let spin = Twist { linear: DVec3::ZERO, angular: DVec3::Z * speed };
    for (name, rod, off) in rods() {
        let rod = rod.with_motion(Motion::steady(Pose::IDENTITY, spin).unwrap());
        let step = rod.during(0.0, 1.0).unwrap();
        let (part, impact) = step.first_impact_of_edge(edge, edge, radius).unwrap().unwrap();
        // Legs are straight but for a thousandth of the arm, and touches early by half the radius.
        let time = |gap: f64| (height - THICK - gap).asin() / speed;
        let between = time(1.5 * radius + off + 1e-3)..time(radius - off - 1e-3);
        assert!(between.contains(&impact.time), "{name}: {} not in {between:?}", impact.time);
        let place = edge[0].lerp(edge[1], part);
        let centre = (speed * impact.time).cos();
        assert!((place.x - centre).abs() < 0.04, "{name}: {place}, not {centre}");
        assert!(impact.normal.y > 0.8, "{name}: {}", impact.normal);
    }
}

/// Flying and spinning, in one step across the rod and beyond: it is found on the side from which it came.
#[test]
fn an_edge_that_spins_past_a_rod_is_stopped_before_it() {
    for (name, rod, _) in rods() {
        let step = rod.during(0.0, 0.0).unwrap();
        for tilt in [-3.0, -1.0, 0.0, 1.0, 3.0] {
            let from = [DVec3::new(0.7, 1.0, 0.1), DVec3::new(1.3, 1.0, -0.1)];
            let to = [DVec3::new(0.8, -5.0 - tilt, 0.0), DVec3::new(1.2, -5.0 + tilt, 0.0)];
            let (part, impact) = step.first_impact_of_edge(from, to, 0.01).unwrap().unwrap();
            let [a, b] = [0, 1].map(|end| from[end].lerp(to[end], impact.time));
            assert!(a.lerp(b, part).distance(impact.position) < 1e-9, "{name}, {tilt}");
            assert!(impact.normal.y > 0.0 && impact.distance > 0.005, "{name}, {tilt}: {impact:?}");
        }
        let beside = [DVec3::new(0.7, 1.0, 0.0), DVec3::new(0.8, 1.0, 0.0)];
        let free = step.first_impact_of_edge(beside, beside.map(|at| at - 3.0 * DVec3::Y), 0.01);
        assert_eq!(free.unwrap(), None, "{name}");
    }
}
