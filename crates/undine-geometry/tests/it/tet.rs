//! Tetrahedra: stuffed solids, lattices around them, and what is embedded in them.

use crate::solids::{Ball, Cuboid, Ring, Union};
use std::f64::consts::PI;
use undine_core::MemoryBudget;
use undine_core::glam::DVec3;
use undine_core::mesh::Body;
use undine_geometry::tet::stuffing::{MAX_DIHEDRAL, MIN_DIHEDRAL};
use undine_geometry::tet::{Quality, Stuffing};
use undine_geometry::{Nearest, Solid, random};

fn stuffed(cell: f64, solid: &dyn Solid) -> Body {
    Stuffing::new(cell).unwrap().fill("solid", solid).unwrap()
}

/// Everything that is promised of a stuffed solid, whatever it is.
fn check(body: &Body, solid: &dyn Solid) -> Quality {
    let quality = Quality::of(body).unwrap();
    if quality.cells > 0 {
        let [min, max] = [quality.min_dihedral, quality.max_dihedral];
        assert!(min > MIN_DIHEDRAL && max < MAX_DIHEDRAL, "{quality:?} of {solid:?}");
        assert!(quality.min_volume > 0.0);
    }
    let faults = body.faults(1).unwrap();
    assert_eq!(faults, [], "{solid:?}");
    let boundary = body.boundary().unwrap().surface;
    boundary.check_closed().unwrap();
    let faults = boundary.faults(100).unwrap();
    if !faults.is_empty() {
        println!("{} {:?}", faults.len(), faults[0]);
    }
    let size = solid.bounds().unwrap().size().length();
    for &at in boundary.positions().unwrap().iter() {
        assert!(solid.distance(at).abs() < 1e-9 * size, "{at}: {}", solid.distance(at));
    }
    quality
}

fn anywhere(seed: u64, number: u64) -> DVec3 {
    DVec3::from_array([0, 1, 2].map(|k| random::unit(seed, 3 * number + k) - 0.5))
}

#[test]
fn probe() {
    for seed in 0..200 {
        let count = 1 + random::bits(seed, 0) % 12;
        let parts: Vec<Box<dyn Solid>> = (0..count)
            .map(|n| {
                let radius = 0.05 + 0.4 * random::unit(seed, 500 + n);
                Box::new(Ball { centre: anywhere(seed, 100 + n) * 1.5, radius }) as Box<dyn Solid>
            })
            .collect();
        let solid = Union(parts);
        let cell = 0.03 + 0.2 * random::unit(seed, 1);
        let body = Stuffing::new(cell)
            .unwrap()
            .with_anchor(anywhere(seed, 50))
            .fill("balls", &solid)
            .unwrap();
        check(&body, &solid);
    }
}
