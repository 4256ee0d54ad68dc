//! Solids and points become liquid.

use std::f64::consts::PI;
use std::sync::Arc;
use undine_core::glam::{DQuat, DVec3, Vec3};
use undine_core::{ChannelSpec, Combine, Frame, GridDomain, MemoryBudget, ParticleSystem};
use undine_fluid::fill::{DeepCells, Fill, Filled, Room, Seeding, fill};
use undine_geometry::levelset::{Extent, LevelSet};
use undine_geometry::{Motion, Pose, Shape, Solid, Triangles, Twist, gallery};
use undine_liquid::seed::{Initial, Liquid, of_points, of_solid};
use undine_sim::input::{Data, Geometry, PointCloud};

const VOXEL: f64 = 0.05;

fn frame() -> Frame {
    Frame::new(DVec3::ZERO, VOXEL).unwrap()
}

fn cuboid(min: DVec3, max: DVec3) -> Shape {
    let pose = Pose { translation: 0.5 * (min + max), ..Pose::IDENTITY };
    Shape::cuboid(0.5 * (max - min)).unwrap().moved(&pose).unwrap()
}

fn filled(solid: &dyn Solid, how: Fill) -> Filled {
    let budget = MemoryBudget::unlimited();
    fill(solid, &frame(), &how, Room { budget: &budget, bytes_each: 100 }).unwrap()
}

fn volume(filled: &Filled) -> f64 {
    filled.offsets.len() as f64 * filled.volume_each
}

fn water(geometry: Geometry) -> undine_sim::Result<Initial> {
    water_in(&Data::new(geometry), &MemoryBudget::unlimited())
}

fn water_in(data: &Data, budget: &MemoryBudget) -> undine_sim::Result<Initial> {
    let liquid = Liquid { density: 1000.0, velocity: DVec3::X, fill: Fill::default() };
    of_solid(data, 0.0, &liquid, &frame(), budget)
}

fn surface(triangles: Triangles) -> Geometry {
    Geometry::Surface(Arc::new(triangles.into_surface("mesh").unwrap()))
}

fn fault(result: undine_sim::Result<Initial>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn a_shell_has_the_same_particles_and_names_the_cells_inside() {
    let solid = cuboid(DVec3::splat(-3.0 * VOXEL), DVec3::splat(17.0 * VOXEL));
    let places = |found: &Filled| -> Vec<([i32; 3], [u32; 3])> {
        let each = found.buckets.iter().zip(&found.offsets);
        let mut all: Vec<_> = each
            .map(|(bucket, at)| (bucket.coord.to_array(), at.to_array().map(f32::to_bits)))
            .collect();
        all.sort_unstable();
        all
    };
    for how in [Seeding::Jittered, Seeding::Poisson] {
        let everywhere = filled(&solid, Fill { how, ..Fill::default() });
        assert!(everywhere.deep.is_empty());
        let shell = filled(&solid, Fill { how, shell: Some(3), ..Fill::default() });
        // Of 20 cells along each edge, three at either end are the shell.
        let cells = shell.deep.iter().flat_map(|deep| deep.cells).map(u64::count_ones);
        assert_eq!(cells.sum::<u32>(), 14 * 14 * 14);
        let is_deep = |(coord, at): &([i32; 3], [u32; 3])| {
            let [x, y, z] = at.map(|bits| (f32::from_bits(bits) / VOXEL as f32) as usize);
            let here = |deep: &&DeepCells| deep.key.bucket().coord.to_array() == *coord;
            let deep = shell.deep.iter().find(here);
            deep.is_some_and(|deep| deep.cells[x] >> (y << 3 | z) & 1 != 0)
        };
        let mut wanted = places(&everywhere);
        wanted.retain(|place| !is_deep(place));
        assert_eq!(places(&shell), wanted);
    }
}

#[test]
fn a_box_of_cells_has_as_many_particles_as_are_asked_for_in_each() {
    // From cell −3 to cell 17 along each axis: across the corners of Buckets.
    let solid = cuboid(DVec3::splat(-3.0 * VOXEL), DVec3::splat(17.0 * VOXEL));
    for how in [Seeding::Jittered, Seeding::Lattice] {
        for per_axis in [1, 2, 3] {
            let found = filled(&solid, Fill { per_axis, how, ..Fill::default() });
            let mut counts = std::collections::BTreeMap::new();
            for (bucket, offset) in found.buckets.iter().zip(&found.offsets) {
                let cell = bucket.coord * 8 + (*offset / VOXEL as f32).floor().as_ivec3();
                *counts.entry(cell.to_array()).or_insert(0) += 1;
            }
            assert_eq!(counts.len(), 20 * 20 * 20, "{how:?} {per_axis}");
            assert!(counts.values().all(|&count| count == per_axis * per_axis * per_axis));
            assert!((volume(&found) - (20.0 * VOXEL).powi(3)).abs() < 1e-9);
        }
    }
}

#[test]
fn jitter_stays_within_its_part_of_a_cell_and_spreads_over_all_of_it() {
    let solid = cuboid(DVec3::ZERO, DVec3::splat(24.0 * VOXEL));
    let found = filled(&solid, Fill::default());
    let part = 0.5 * VOXEL as f32;
    let mut parts = std::collections::BTreeSet::new();
    let (mut mean, mut square) = (DVec3::ZERO, DVec3::ZERO);
    for (bucket, offset) in found.buckets.iter().zip(&found.offsets) {
        assert!(offset.min_element() >= 0.0 && offset.max_element() < 8.0 * VOXEL as f32);
        let index = (*offset / part).floor();
        assert!(parts.insert((bucket.coord * 16 + index.as_ivec3()).to_array()));
        let within = (*offset / part - index).as_dvec3();
        mean += within;
        square += (within - 0.5) * (within - 0.5);
    }
    let count = found.offsets.len() as f64;
    assert!((mean / count - 0.5).abs().max_element() < 0.01);
    assert!((square / count - 1.0 / 12.0).abs().max_element() < 0.002);
}

#[test]
fn every_kind_of_solid_is_filled_with_its_volume() {
    let radius = 0.6_f64;
    let ball = 4.0 / 3.0 * PI * radius.powi(3);
    let shape = Shape::sphere(radius).unwrap();
    let mesh = gallery::sphere(radius, 5);
    let domain = GridDomain::new("set", Frame::new(DVec3::ZERO, 0.03).unwrap());
    let set = LevelSet::of_solid("set", &domain, &shape, Extent::Band(3.0)).unwrap();
    let solids =
        [Geometry::Shape(Arc::new(shape)), surface(mesh), Geometry::LevelSet(Arc::new(set))];
    for solid in solids {
        let name = Data::new(solid.clone()).noun();
        let found = water(solid).unwrap();
        let mass: f64 = found.masses.iter().map(|&mass| f64::from(mass)).sum();
        assert!((mass / (1000.0 * ball) - 1.0).abs() < 0.004, "{name}: {mass}");
        for (bucket, offset) in found.buckets.iter().zip(&found.offsets) {
            assert!(frame().world(*bucket, *offset).length() < radius + 1e-3, "{name}");
        }
        assert!(found.velocities.iter().all(|&v| v == Vec3::X));
    }
}

#[test]
fn poisson_disks_keep_apart_and_have_the_mass_of_the_solid() {
    let solid = Shape::sphere(0.5).unwrap();
    let found = filled(&solid, Fill { how: Seeding::Poisson, ..Fill::default() });
    let ball = 4.0 / 3.0 * PI * 0.125;
    assert!((volume(&found) / ball - 1.0).abs() < 0.01);
    let places: Vec<DVec3> =
        found.buckets.iter().zip(&found.offsets).map(|(b, o)| frame().world(*b, *o)).collect();
    let nearest = |n: usize| {
        let others = places.iter().enumerate().filter(|(k, _)| *k != n);
        others.map(|(_, at)| at.distance(places[n])).fold(f64::INFINITY, f64::min)
    };
    assert!((0..places.len()).step_by(97).all(|n| nearest(n) > 0.75 * 0.5 * VOXEL));
}

#[test]
fn a_solid_ten_kilometres_away_is_filled_to_the_same_bits() {
    let (low, high) = (DVec3::new(0.12, 0.1, -0.3), DVec3::new(1.0, 0.73, 0.4));
    // Buckets are 0.4 m wide: 25 600 of them, and 1000.
    let away = DVec3::new(10_240.0, -400.0, 10_240.0);
    for how in [Seeding::Jittered, Seeding::Poisson, Seeding::Lattice] {
        let here = filled(&cuboid(low, high), Fill { how, ..Fill::default() });
        let there = filled(&cuboid(low + away, high + away), Fill { how, ..Fill::default() });
        let sorted = |filled: &Filled, by: DVec3| {
            let shift = (by / 0.4).round().as_ivec3();
            let places = filled.buckets.iter().zip(&filled.offsets);
            let key = |offset: &Vec3| offset.to_array().map(f32::to_bits);
            let mut all: Vec<_> =
                places.map(|(b, o)| ((b.coord - shift).to_array(), key(o))).collect();
            all.sort_unstable();
            all
        };
        assert!(!here.offsets.is_empty());
        assert!(sorted(&here, DVec3::ZERO) == sorted(&there, away), "{how:?}");
    }
}

/// Also by parts of a cell: particles lie at the same places of the solid, and there are as many.
#[test]
fn a_solid_is_filled_in_the_same_way_wherever_it_is() {
    let solids = [
        cuboid(DVec3::ZERO, DVec3::new(0.5, 0.3, 0.42)),
        Shape::sphere(0.21).unwrap(),
        cuboid(DVec3::splat(-0.2), DVec3::splat(0.2))
            .moved(&Pose { rotation: DQuat::from_rotation_x(0.5), ..Pose::IDENTITY })
            .unwrap(),
    ];
    let places = |solid: &Shape, by: DVec3, how: Fill| -> Vec<DVec3> {
        let solid = solid.clone().moved(&Pose::at(by)).unwrap();
        let found = filled(&solid, how);
        let each = found.buckets.iter().zip(&found.offsets);
        each.map(|(b, at)| frame().world(*b, *at) - by).collect()
    };
    let near = 2e-6 * VOXEL;
    for how in [Seeding::Jittered, Seeding::Poisson, Seeding::Lattice] {
        let how = Fill { how, ..Fill::default() };
        for solid in &solids {
            let here = places(solid, DVec3::ZERO, how);
            assert!(here.len() > 1000);
            for by in [
                DVec3::new(0.013, 0.0, 0.0),
                DVec3::new(-1.987, 0.025, 7.7777),
                DVec3::new(9_999.99, -1_000.003, 0.026),
            ] {
                let there = places(solid, by, how);
                assert_eq!(there.len(), here.len(), "{how:?} at {by}");
                let is_there = |at: &DVec3| there.iter().any(|one| one.distance(*at) < near);
                assert!(here.iter().all(is_there), "{how:?} at {by}");
            }
        }
    }
}

#[test]
fn threads_and_processes_do_not_change_where_particles_are() {
    let solid = Shape::sphere(0.7).unwrap();
    for how in [Seeding::Jittered, Seeding::Poisson, Seeding::Lattice] {
        let how = Fill { how, seed: 5, ..Fill::default() };
        let all = filled(&solid, how);
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert!(pool.install(|| filled(&solid, how)) == all);
        }
        // One part after the other they are all, so that ids are the same.
        let mut parts = Filled { volume_each: all.volume_each, ..Filled::default() };
        for part in 0..3 {
            let found = filled(&solid, Fill { part: [part, 3], ..how });
            parts.buckets.extend(found.buckets);
            parts.offsets.extend(found.offsets);
        }
        assert!(parts == all);
    }
    assert!(filled(&solid, Fill { seed: 1, ..Fill::default() }) != filled(&solid, Fill::default()));
}

#[test]
fn a_moving_solid_gives_its_velocity_to_the_liquid() {
    let turning = Twist { linear: DVec3::Y, angular: 2.0 * DVec3::Z };
    let motion = Motion::steady(Pose::IDENTITY, turning).unwrap();
    let shape = Arc::new(Shape::sphere(0.3).unwrap());
    let data = Data { motion: Some(motion), ..Data::new(Geometry::Shape(shape)) };
    let found = water_in(&data, &MemoryBudget::unlimited()).unwrap();
    for n in (0..found.len()).step_by(50) {
        let at = frame().world(found.buckets[n], found.offsets[n]);
        let wanted = DVec3::X + DVec3::Y + 2.0 * DVec3::Z.cross(at);
        assert!((found.velocities[n].as_dvec3() - wanted).length() < 1e-5);
    }
}

#[test]
fn points_are_taken_as_they_are_with_their_channels() {
    let positions: Vec<DVec3> = (0..10).map(|n| DVec3::splat(0.13 * f64::from(n))).collect();
    let mut cloud = PointCloud { positions: positions.clone(), ..PointCloud::default() };
    cloud.numbers.insert("salt".into(), (0..10).map(f64::from).collect());
    cloud.vectors.insert("Cd".into(), vec![DVec3::Z; 10]);
    let still = vec![DVec3::ZERO; 10];
    let initial = of_points(&cloud, &still, 0.25, &frame(), [0, 1]).unwrap();
    assert!(initial.masses.iter().all(|&mass| mass == 0.25));

    let domain = GridDomain::new("tank", frame());
    let mut particles = ParticleSystem::new("water", &domain).unwrap();
    let vector = ChannelSpec::new("v", Vec3::ZERO).combine(Combine::Mean);
    particles.add_channel(&vector).unwrap();
    particles.add_channel(&ChannelSpec::new("mass", 0.0_f32).combine(Combine::Sum)).unwrap();
    let radius = particles.add_channel(&ChannelSpec::new("pscale", 0.0_f32)).unwrap();
    assert_eq!(initial.append_to(&domain, &mut particles, 1000.0).unwrap(), 0..10);
    let salt = particles.handle::<f32>("salt").unwrap();
    let (salt, ids) = (particles.column(salt).unwrap(), particles.column(particles.id()).unwrap());
    for slot in 0..particles.topology().local() as u32 {
        for (salt, id) in salt.chunk(slot).iter().zip(ids.chunk(slot)) {
            assert_eq!(*salt, *id as f32);
        }
    }
    let radius = particles.column(radius).unwrap().chunk(0)[0];
    assert!((f64::from(radius).powi(3) * 4.0 / 3.0 * PI * 1000.0 - 0.25).abs() < 1e-5);

    cloud.numbers.insert("mass".into(), (0..10).map(|n| 1.0 + f64::from(n)).collect());
    let parts: Vec<f32> = (0..3)
        .flat_map(|part| of_points(&cloud, &still, 0.25, &frame(), [part, 3]).unwrap().masses)
        .collect();
    assert_eq!(parts, (1..=10).map(|n| n as f32).collect::<Vec<_>>());
    cloud.numbers.insert("mass".into(), vec![0.0; 10]);
    let message = fault(of_points(&cloud, &still, 0.25, &frame(), [0, 1]));
    assert!(message.contains("point 0") && message.contains("mass"), "{message}");
    cloud.positions[3].y = f64::NAN;
    let message = fault(of_points(&cloud, &still, 0.25, &frame(), [0, 1]));
    assert!(message.contains("point 3"), "{message}");
}

#[test]
fn an_open_surface_is_refused_with_the_place_of_its_hole() {
    let (positions, mut triangles) = gallery::cuboid(DVec3::splat(0.5)).into_parts();
    triangles.pop();
    let message = fault(water(surface(Triangles::new(positions, triangles).unwrap())));
    assert!(
        message.contains("hole") && message.contains("0.5") && message.contains("close it"),
        "{message}"
    );
}

#[test]
fn a_surface_that_is_inside_out_is_refused_with_its_volume() {
    let message = fault(water(surface(gallery::sphere(0.5, 3).inverted())));
    assert!(message.contains("inside out") && message.contains("-5."), "{message}");
}

#[test]
fn corners_that_each_face_has_for_itself_are_no_holes() {
    let (positions, triangles) = gallery::sphere(0.5, 3).into_parts();
    let corners: Vec<DVec3> = triangles.iter().flatten().map(|&v| positions[v as usize]).collect();
    let triangles = (0..triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    assert!(!water(surface(Triangles::new(corners, triangles).unwrap())).unwrap().is_empty());
}

#[test]
fn what_cannot_be_filled_is_refused_with_a_reason() {
    let half_space = Shape::half_space(DVec3::Y, 0.0).unwrap();
    let message = fault(water(Geometry::Shape(Arc::new(half_space))));
    assert!(message.contains("no end") && message.contains("box"), "{message}");
    let speck = Shape::sphere(1e-5).unwrap();
    let message = fault(water(Geometry::Shape(Arc::new(speck))));
    assert!(message.contains("no liquid") && message.contains("0.05 m"), "{message}");
    let message = fault(water(Geometry::Points(PointCloud::default())));
    assert!(message.contains("no inside"), "{message}");
}

#[test]
fn voxels_beyond_the_memory_budget_are_refused_with_a_size_that_fits() {
    let liquid = Liquid { density: 1000.0, velocity: DVec3::ZERO, fill: Fill::default() };
    let data = Data::new(Geometry::Shape(Arc::new(Shape::sphere(3.0).unwrap())));
    let budget = MemoryBudget::new(50 << 20);
    for voxel in [0.05, 0.001, 1e-5] {
        let frame = Frame::new(DVec3::ZERO, voxel).unwrap();
        let message = fault(of_solid(&data, 0.0, &liquid, &frame, &budget));
        assert!(message.contains(" MB are left"), "{message}");
        let (_, after) = message.split_once("; voxels of ").unwrap();
        let fits: f64 = after.split_once(" m").unwrap().0.parse().unwrap();
        let frame = Frame::new(DVec3::ZERO, fits).unwrap();
        assert!(of_solid(&data, 0.0, &liquid, &frame, &budget).is_ok(), "{message}");
        assert!(fits < 0.3, "{message}");
    }
}
