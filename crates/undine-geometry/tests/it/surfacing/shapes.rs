//! Balls, rings, sheets and droplets: where their surfaces are.

use super::sets::*;
use crate::solids::{Ball, Ring};
use std::f64::consts::PI;
use undine_core::glam::DVec3;
use undine_geometry::surfacing::{Anisotropy, Averaging, Ellipsoid, Particles, Surfacing};
use undine_geometry::{Bvh, Solid, Triangles};

#[test]
fn a_single_sphere_is_a_sphere_of_second_order() {
    let centre = DVec3::new(0.1234, -0.02, 0.0451);
    let ball = Ball { centre, radius: 0.1 };
    let error = |voxel: f64| {
        let surfaced = surface(&spheres(), voxel, &all(&[centre], ball.radius));
        let mesh = mesh(&surfaced);
        assert_eq!(mesh.clone().into_surface("ball").unwrap().euler_characteristic(), 2);
        let furthest =
            mesh.positions().iter().map(|at| ball.distance(*at).abs()).fold(0.0, f64::max);
        let volume = mass(&mesh).volume / (4.0 / 3.0 * PI * ball.radius.powi(3)) - 1.0;
        (furthest / ball.radius, volume.abs())
    };
    let (coarse, fine) = (error(0.04), error(0.01));
    assert!(coarse.0 < 0.03 && coarse.1 < 0.12, "{coarse:?}");
    assert!(fine.0 < coarse.0 / 12.0 && fine.1 < coarse.1 / 12.0, "{coarse:?} {fine:?}");
}

/// A body of particles at a spacing d, with spheres a little larger than that.
const RADIUS: f64 = 1.05;

#[test]
fn a_ball_and_a_ring_keep_their_volume_and_come_closer_with_resolution() {
    let ball = Ball { centre: DVec3::new(0.02, 0.01, 0.0), radius: 0.6 };
    let ring = Ring { centre: DVec3::ZERO, major: 0.8, minor: 0.35 };
    let solids: [(&dyn Solid, f64, i64); 2] =
        [(&ball, 4.0 / 3.0 * PI * ball.radius.powi(3), 2), (&ring, ring.volume(), 0)];
    for (solid, volume, euler) in solids {
        let run = |spacing: f64| {
            let points = filled(solid, spacing, 0.25);
            let how = ellipsoids(Anisotropy::default());
            let found = surface(&how, 0.4 * spacing, &all(&points, RADIUS * spacing));
            let mesh = mesh(&found);
            let topology = mesh.clone().into_surface("solid").unwrap().euler_characteristic();
            assert_eq!(topology, euler, "no holes, no cavities");
            let furthest =
                mesh.positions().iter().map(|at| solid.distance(*at).abs()).fold(0.0, f64::max);
            let off = normal_error(&mesh, solid);
            (mass(&mesh).volume / volume - 1.0, furthest, off)
        };
        let (coarse, fine) = (run(0.07), run(0.035));
        assert!(fine.0.abs() < 0.02, "{coarse:?} {fine:?}");
        assert!(fine.1 < 0.75 * coarse.1 && fine.1 < 0.035, "{coarse:?} {fine:?}");
        assert!(fine.2 < coarse.2, "{coarse:?} {fine:?}");
    }
}

/// The mean angle between a mesh's triangles, by area, and a solid's normals.
fn normal_error(mesh: &Triangles, solid: &dyn Solid) -> f64 {
    let (mut sum, mut areas) = (0.0, 0.0);
    for [a, b, c] in mesh.iter() {
        let across = (b - a).cross(c - a);
        let normal = solid.nearest((a + b + c) / 3.0).normal;
        let area = across.length();
        sum += area * (across.dot(normal) / area.max(1e-30)).clamp(-1.0, 1.0).acos();
        areas += area;
    }
    sum / areas
}

#[test]
fn a_sheet_has_no_holes_where_spheres_have_and_keeps_its_thickness() {
    let (spacing, half) = (0.1, 1.0);
    let points = sheet(half, spacing, 0.2);
    let radius = 0.7 * spacing;
    let settings = Anisotropy { search: 3.0, ..Anisotropy::default() };
    let voxel = 0.15 * spacing;
    let topology = |how: &Surfacing| {
        let mesh = mesh(&surface(how, voxel, &all(&points, radius)));
        (mesh.clone().into_surface("sheet").unwrap().euler_characteristic(), mesh)
    };
    let (holes, _) = topology(&spheres());
    assert!(holes < -50, "spheres must leave holes: {holes}");
    let (whole, mesh) = topology(&ellipsoids(settings));
    assert_eq!(whole, 2);
    // In a plane the shortest axis is 4^(−2/3) of the radius; where particles crowd, a little more.
    let shortest = 4.0_f64.powf(-2.0 / 3.0) * radius;
    let middle: Vec<f64> = mesh
        .positions()
        .iter()
        .filter(|at| at.truncate().abs().max_element() < 0.7 * half)
        .map(|at| at.z.abs())
        .collect();
    let mean = middle.iter().sum::<f64>() / middle.len() as f64;
    let most = middle.iter().copied().fold(0.0, f64::max);
    assert!(most < 1.3 * shortest && mean > 0.85 * shortest, "{mean} {most} of {shortest}");
}

#[test]
fn every_ellipsoid_of_a_sheet_keeps_its_volume_and_the_global_scale_makes_edges_thinner() {
    let points = sheet(1.0, 0.1, 0.2);
    let radius: f64 = 0.1;
    let volumes = |local: f64| -> Vec<(f64, f64)> {
        let how = ellipsoids(Anisotropy { local, ..Anisotropy::default() });
        let found = surface(&how, 0.05, &all(&points, radius));
        let volume = |e: Ellipsoid| {
            let from_edge = 1.0 - points[e.particle as usize].truncate().abs().max_element();
            (from_edge, e.stretch.determinant() / radius.powi(3))
        };
        found.ellipsoids().map(volume).collect()
    };
    let local = volumes(1.0);
    assert_eq!(local.len(), points.len());
    // But for the corners, which have few neighbours and blend to droplets.
    let inner = |list: &[(f64, f64)]| {
        list.iter().filter(|(from_edge, _)| *from_edge > 0.15).map(|v| v.1).collect::<Vec<_>>()
    };
    for volume in inner(&local) {
        assert!((volume - 1.0).abs() < 1e-5, "{volume}");
    }
    let global = volumes(0.0);
    let mean = |list: Vec<f64>| list.iter().sum::<f64>() / list.len() as f64;
    let middle = mean(inner(&global));
    let second_row = global.iter().filter(|(edge, _)| (0.05..0.15).contains(edge)).map(|v| v.1);
    let edge = mean(second_row.collect());
    assert!(edge < 0.95 * middle, "{edge} {middle}");
    // In between, a blend.
    let half = mean(inner(&volumes(0.5)));
    assert!((half - 1.0) * (half - middle) < 0.0, "{half} {middle}");
}

#[test]
fn droplets_are_all_there_and_stretch_along_their_way() {
    let points: Vec<DVec3> = (0..200)
        .map(|n| {
            DVec3::new((n % 6) as f64, (n / 6 % 6) as f64, (n / 36) as f64) * 0.7
                + 0.2 * noise(n, 1, 2)
        })
        .collect();
    let radius = 0.1;
    for how in [spheres(), Surfacing::default()] {
        let mesh = mesh(&surface(&how, 0.07, &all(&points, radius)));
        assert_eq!(parts(&mesh), points.len(), "{how:?}");
    }
    // A way of two radii to the side: from end to end it is twice as long as wide, of the same volume.
    let velocities = vec![DVec3::new(0.0, 3.0, 4.0); points.len()];
    let settings = Anisotropy { trail: 0.04, ..Anisotropy::default() };
    let particles = Particles { velocities: Some(&velocities), ..all(&points, radius) };
    let found = surface(&ellipsoids(settings), 0.05, &particles);
    assert_eq!(parts(&mesh(&found)), points.len());
    let wanted = settings.droplet_scale * radius;
    for Ellipsoid { stretch, .. } in found.ellipsoids() {
        assert!((stretch.determinant() / wanted.powi(3) - 1.0).abs() < 1e-5);
        let along = (stretch * DVec3::new(0.0, 0.6, 0.8)).length();
        let across = (stretch * DVec3::X).length();
        assert!((along / across - 2.0).abs() < 1e-5, "{along} {across}");
    }
}

/// A neighbour at R (1/2)^⅓ weighs one half, and two halves count as one: with k of them, the radius is 0.7^(1 − s) of the particle's, where
/// s goes smoothly from 0 at five neighbours to 1 at ten.
#[test]
fn the_radius_of_a_droplet_grows_with_its_neighbours() {
    let (radius, settings) = (0.1, Anisotropy::default());
    let away = settings.search * radius * 0.5_f64.cbrt();
    let mut last = 0.0;
    for count in 0..=12_u32 {
        // Spread evenly over a sphere.
        let neighbour = |n: u32| {
            let z = 1.0 - (2.0 * f64::from(n) + 1.0) / f64::from(count);
            let (sin, cos) = (f64::from(n) * PI * (3.0 - 5.0_f64.sqrt())).sin_cos();
            away * DVec3::new((1.0 - z * z).sqrt() * cos, (1.0 - z * z).sqrt() * sin, z)
        };
        let points: Vec<DVec3> =
            std::iter::once(DVec3::ZERO).chain((0..count).map(neighbour)).collect();
        let found = surface(&ellipsoids(settings), 0.05, &all(&points, radius));
        let own = found.ellipsoids().find(|e| e.particle == 0).unwrap();
        let t = ((f64::from(count) - 5.0) / 5.0).clamp(0.0, 1.0);
        let share = t * t * (3.0 - 2.0 * t);
        let wanted = settings.droplet_scale.powf(1.0 - share);
        let size = own.stretch.determinant().cbrt() / radius;
        assert!((size - wanted).abs() < 1e-4, "{count} neighbours: {size}, not {wanted}");
        assert!(size >= last - 1e-6);
        last = size;
    }
    assert!((last - 1.0).abs() < 1e-4);
}

/// The distance of every voxel of the band is that to the surface, so that its slope towards the surface is one. (Differences between voxels
/// tell of no slope where two parts of the surface are equally near, and a surface of particles is full of creases.)
#[test]
fn distances_have_a_slope_of_one_everywhere_in_the_band() {
    let ball = Ball { centre: DVec3::ZERO, radius: 0.6 };
    let (spacing, voxel) = (0.06, 0.024);
    let points = filled(&ball, spacing, 0.25);
    for how in [spheres(), ellipsoids(Anisotropy::default()), averages(Averaging::CORRECTED)] {
        let found = surface(&how, voxel, &all(&points, RADIUS * spacing));
        let bvh = Bvh::new(mesh(&found)).unwrap();
        let set = found.into_level_set().unwrap();
        let column = set.column().unwrap();
        let mut count = 0;
        for slot in 0..set.topology().local() as u32 {
            let corner = set.domain().frame().corner(set.topology().bucket(slot));
            for (place, &distance) in column.chunk(slot).iter().enumerate() {
                let distance = f64::from(distance).abs();
                if distance >= f64::from(set.width()) {
                    continue;
                }
                let cell = [place >> 6, place >> 3 & 7, place & 7].map(|n| n as f64 + 0.5);
                let at = corner + voxel * DVec3::from_array(cell);
                let exact = bvh.closest(at).unwrap().distance_squared.sqrt();
                assert!((distance - exact).abs() <= 1e-3 * voxel, "{at}: {distance}, not {exact}");
                count += 1;
            }
        }
        assert!(count > 30_000, "{count}");
    }
}

#[test]
fn a_surface_moves_no_faster_than_its_particles() {
    // A drop leaves a body, slowly; particles come into and out of each other's reach.
    let spacing = 0.06;
    let body = filled(&Ball { centre: DVec3::ZERO, radius: 0.4 }, spacing, 0.25);
    let drop = filled(&Ball { centre: DVec3::new(0.0, 0.0, 0.35), radius: 0.15 }, spacing, 0.3);
    let frame = |time: f64| {
        let moved = drop.iter().map(|at| *at + DVec3::new(0.0, 0.1 * time, time));
        body.iter().copied().chain(moved).collect::<Vec<_>>()
    };
    let voxel = 0.4 * spacing;
    let how = ellipsoids(Anisotropy::default());
    let step = 0.004;
    let mut worst = [0.0_f64; 2];
    for n in 0..24 {
        let time = 0.012 * f64::from(n);
        let before = surface(&how, voxel, &all(&frame(time), RADIUS * spacing));
        let after = surface(&how, voxel, &all(&frame(time + step), RADIUS * spacing));
        let set = after.into_level_set().unwrap();
        let column = set.column().unwrap();
        let sampler = set.sampler(&column);
        let mesh = mesh(&before);
        let moved = mesh.positions().iter().map(|at| sampler.distance(*at).abs() / step);
        let (sum, most) = moved.fold((0.0, 0.0_f64), |(sum, most), m| (sum + m * m, most.max(m)));
        worst[0] = worst[0].max((sum / mesh.positions().len() as f64).sqrt());
        worst[1] = worst[1].max(most);
    }
    assert!(worst[0] < 1.0 && worst[1] < 6.0, "{worst:?}");
}

#[test]
fn averages_are_smooth_and_the_correction_removes_what_is_not_there() {
    let spacing = 0.06;
    let ball = Ball { centre: DVec3::ZERO, radius: 0.5 };
    let points = filled(&ball, spacing, 0.2);
    for settings in [Averaging::PLAIN, Averaging::CORRECTED] {
        let found = surface(&averages(settings), 0.4 * spacing, &all(&points, spacing));
        let volume = mass(&mesh(&found)).volume / (4.0 / 3.0 * PI * ball.radius.powi(3));
        assert!((0.9..1.3).contains(&volume), "{settings:?}: {volume}");
    }
    // Half way between two droplets, the mean of both is right there.
    let two = [DVec3::ZERO, DVec3::new(0.3, 0.0, 0.0)];
    let middle = |settings: Averaging| {
        let found = surface(&averages(settings), 0.02, &all(&two, 0.1));
        (parts(&mesh(&found)), found)
    };
    assert_eq!(middle(Averaging::PLAIN).0, 3, "a droplet appears between the two");
    assert_eq!(middle(Averaging::CORRECTED).0, 2);
}

#[test]
fn memory_goes_with_the_area_of_the_surface() {
    let buckets = |n: f64| {
        let spacing = 1.0 / n;
        let ball = Ball { centre: DVec3::ZERO, radius: 1.0 };
        let points = filled(&ball, spacing, 0.2);
        let found = surface(&spheres(), 0.5 * spacing, &all(&points, spacing));
        (points.len() as f64, found.stamped().topology().local() as f64)
    };
    let (few, many) = (buckets(16.0), buckets(32.0));
    assert!(many.0 > 7.5 * few.0);
    assert!(many.1 < 4.6 * few.1, "{few:?} {many:?}");
}
