//! Neither the order of particles, nor threads, nor where the lattice lies shows in the surface.

use super::sets::*;
use crate::levelset_bits::{bits, on_threads};
use crate::solids::Ball;
use undine_core::glam::{DQuat, DVec3, IVec3};
use undine_geometry::surfacing::{Anisotropy, Averaging, Particles, Radii, Surfacing};
use undine_geometry::{Solid, random};

fn ways() -> [Surfacing; 5] {
    [
        spheres(),
        ellipsoids(Anisotropy::default()),
        ellipsoids(Anisotropy { local: 0.5, trail: 0.1, ..Anisotropy::default() }),
        averages(Averaging::PLAIN),
        averages(Averaging::CORRECTED),
    ]
}

/// A ball and some droplets.
fn splash() -> Vec<DVec3> {
    let ball = Ball { centre: DVec3::new(0.2, 0.1, -0.3), radius: 0.7 };
    let mut points = filled(&ball, 0.0625, 0.3);
    points.extend((0..60).map(|n| {
        DVec3::new(random::unit(1, n), random::unit(2, n), random::unit(3, n)) * 2.0 - 0.5
    }));
    points
}

#[test]
fn order_and_threads_do_not_show() {
    let points = splash();
    let velocities: Vec<DVec3> = points.iter().map(|at| DVec3::new(at.y, 1.0, at.x)).collect();
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by_key(|&n| random::bits(9, n as u64));
    let shuffled = |list: &[DVec3]| order.iter().map(|&n| list[n]).collect::<Vec<_>>();
    let (mixed, mixed_velocities) = (shuffled(&points), shuffled(&velocities));
    for how in ways() {
        let run = |positions: &[DVec3], velocities: &[DVec3], threads: usize| {
            let particles =
                Particles { positions, radii: Radii::All(0.06), velocities: Some(velocities) };
            on_threads(threads, || {
                let found = surface(&how, 0.03, &particles);
                let mesh = mesh(&found);
                (mesh, bits(&found.into_level_set().unwrap(), IVec3::ZERO))
            })
        };
        let wanted = run(&points, &velocities, 1);
        assert!(wanted.0.len() > 1000 && !wanted.1.is_empty());
        assert!(run(&points, &velocities, 3) == wanted, "threads: {how:?}");
        assert!(run(&mixed, &mixed_velocities, 2) == wanted, "order: {how:?}");
    }
}

#[test]
fn a_set_moved_by_whole_voxels_has_the_same_surface() {
    // Places and voxels without rounding.
    let exact = |at: DVec3| (at * 1024.0).round() / 1024.0;
    let points: Vec<DVec3> = splash().into_iter().map(exact).collect();
    let by = IVec3::new(3, -21, 64);
    let moved: Vec<DVec3> = points.iter().map(|at| *at + by.as_dvec3() / 32.0).collect();
    for how in [spheres(), ellipsoids(Anisotropy::default())] {
        let here = surface(&how, 1.0 / 32.0, &all(&points, 0.0625)).into_level_set().unwrap();
        let there = surface(&how, 1.0 / 32.0, &all(&moved, 0.0625)).into_level_set().unwrap();
        let (a, b) = (bits(&here, IVec3::ZERO), bits(&there, by));
        // Places within a Bucket round otherwise where it begins elsewhere.
        assert_eq!(a.len(), b.len(), "{how:?}");
        for (voxel, value) in &a {
            let difference = f32::from_bits(*value) - f32::from_bits(b[voxel]);
            assert!(difference.abs() < 1e-5, "{how:?} at {voxel:?}: {difference}");
        }
    }
}

#[test]
fn a_set_that_is_turned_has_the_surface_turned() {
    let points = splash();
    let turn = DQuat::from_scaled_axis(DVec3::new(0.4, -0.8, 0.3));
    let shift = DVec3::new(0.37, 0.11, -0.05);
    let turned: Vec<DVec3> = points.iter().map(|at| turn * *at + shift).collect();
    for how in [spheres(), ellipsoids(Anisotropy::default())] {
        let here = surface(&how, 0.025, &all(&points, 0.0625));
        let there = surface(&how, 0.025, &all(&turned, 0.0625)).into_level_set().unwrap();
        let (mesh, column) = (mesh(&here), there.column().unwrap());
        let sampler = there.sampler(&column);
        let squares: f64 =
            mesh.positions().iter().map(|at| sampler.distance(turn * *at + shift).powi(2)).sum();
        let error = (squares / mesh.positions().len() as f64).sqrt() / 0.025;
        // Creases between spheres are cut off at other places.
        assert!(error < 0.15, "{how:?}: {error} voxels");
    }
}

#[test]
fn looking_everywhere_changes_nothing() {
    let ball = Ball { centre: DVec3::new(0.01, 0.02, 0.03), radius: 1.0 };
    let points = filled(&ball, 0.0625, 0.25);
    for how in [spheres(), ellipsoids(Anisotropy::default())] {
        let everywhere = Surfacing { look_everywhere: true, ..how };
        let made = [how, everywhere].map(|how| surface(&how, 0.025, &all(&points, 0.0625)));
        let [some, full] = &made;
        // There must be something to skip.
        let buckets = made.each_ref().map(|found| found.stamped().topology().local());
        assert!(buckets[0] + 27 < buckets[1], "{buckets:?}");
        assert!(mesh(some) == mesh(full), "{how:?}");
        let [some, full] = made.map(|found| bits(&found.into_level_set().unwrap(), IVec3::ZERO));
        assert!(some == full, "{how:?}");
    }
}
