//! What is measured at particles, against fields whose values are known everywhere.

use crate::pool::{Pool, VOXEL};
use crate::scene::{Scene, fixed, kinds, particles, run};
use std::collections::BTreeMap;
use std::sync::Arc;
use undine_core::glam::{DVec3, Vec3};
use undine_core::{Accessor, Handle, MemoryBudget, ParticleSystem};
use undine_geometry::Shape;
use undine_geometry::random::unit;
use undine_liquid::measure::{Asked, Measured};
use undine_schema::setup::{Behavior, Group};
use undine_sim::Simulation;
use undine_sim::input::{Data, Geometry};

/// A pool over several Buckets with a surface at z = 10.3 [voxels], and what is measured in it.
fn pool(asked: &str) -> (Pool, Measured) {
    let mut pool = Pool::new([3, 2, 4], [14, 12, 12], 1.0, 7, |at| at.z < 10.3);
    let asked = Asked::parse(asked).unwrap();
    let measured = Measured::add(pool.particles_mut(), &asked).unwrap();
    pool.find_surface();
    (pool, measured)
}

fn values<T: undine_core::Element>(store: &ParticleSystem, handle: Handle<T>) -> Vec<T> {
    let column = store.column(handle).unwrap();
    (0..store.topology().local() as u32).flat_map(|slot| column.chunk(slot).to_vec()).collect()
}

/// Sets a channel of the grid by a rule over places [voxels], `offset` from the corner of cells.
fn set(pool: &Pool, handle: Handle<f32>, offset: DVec3, rule: impl Fn(DVec3) -> f64 + Sync) {
    let volume = pool.volume();
    Accessor::new("set", pool.domain())
        .over(volume.topology())
        .run(volume.write(handle), |here, values| {
            for (n, value) in values.iter_mut().enumerate() {
                let cell = DVec3::from_array([n >> 6, n >> 3 & 7, n & 7].map(|c| c as f64));
                *value = rule((here.bucket.coord * 8).as_dvec3() + cell + offset) as f32;
            }
        })
        .unwrap();
}

/// Up to a surface where it is nothing, and far from it however it points.
#[test]
fn a_linear_pressure_has_the_same_gradient_everywhere() {
    let (pool, measured) = pool("pressure-gradient");
    let height = 10.3;
    let surface = |at: DVec3| (at.z - height) * VOXEL;
    set(&pool, pool.field.distance.unwrap(), DVec3::splat(0.5), surface);
    let (up, aslant) = (Vec3::new(0.0, 0.0, -9800.0), Vec3::new(300.0, -120.0, -9800.0));
    for (gradient, most) in [(up, height), (aslant, 9.0)] {
        let rule = |at: DVec3| (at - height).dot(gradient.as_dvec3()) * VOXEL;
        set(&pool, pool.field.pressure, DVec3::splat(0.5), rule);
        measured.measure(pool.domain(), pool.volume(), &pool.field, pool.particles()).unwrap();
        let found = values(pool.particles(), measured.pressure_gradient.unwrap());
        // At its sides and its bottom the pool has pressure beside air, as no liquid has.
        let (low, high) = (DVec3::new(4.0, 3.0, 5.0), DVec3::new(13.0, 11.0, most));
        let places = pool.places();
        let looked_at =
            places.iter().zip(found).filter(|(at, _)| at.cmpge(low).all() && at.cmple(high).all());
        assert!(looked_at.clone().count() > 1000);
        for (at, found) in looked_at {
            assert!((found - gradient).length() < 2e-3 * gradient.length(), "{found} at {at}");
        }
    }
}

#[test]
fn what_turns_as_a_whole_has_twice_its_turn_as_vorticity() {
    let (pool, measured) = pool("vorticity");
    let turn = DVec3::new(0.5, -2.0, 3.0);
    for (axis, face) in pool.field.velocity.faces.into_iter().enumerate() {
        let offset = DVec3::splat(0.5) - 0.5 * DVec3::AXES[axis];
        set(&pool, face, offset, |at| turn.cross(VOXEL * at)[axis]);
    }
    measured.measure(pool.domain(), pool.volume(), &pool.field, pool.particles()).unwrap();
    for found in values(pool.particles(), measured.vorticity.unwrap()) {
        assert!((found.as_dvec3() - 2.0 * turn).length() < 1e-3, "{found}");
    }
}

#[test]
fn the_distance_to_a_plane_is_that_of_the_particle_itself() {
    let (pool, measured) = pool("distance");
    let (normal, height) = (DVec3::new(0.6, 0.0, 0.8), 12.0);
    let rule = |at: DVec3| (at.dot(normal) - height) * VOXEL;
    set(&pool, pool.field.distance.unwrap(), DVec3::splat(0.5), rule);
    measured.measure(pool.domain(), pool.volume(), &pool.field, pool.particles()).unwrap();
    let found = values(pool.particles(), measured.distance.unwrap());
    for (found, place) in found.into_iter().zip(pool.places()) {
        assert!((f64::from(found) - rule(place)).abs() < 1e-5, "{found} at {place}");
    }
}

#[test]
fn as_many_neighbours_are_counted_as_there_are() {
    let places = (0..400).map(|n| 12.0 * DVec3::from_array([0, 1, 2].map(|c| unit(4, 3 * n + c))));
    let mut pool = Pool::of_places(&places.collect::<Vec<_>>());
    let asked = Asked::parse("neighbours").unwrap();
    let measured = Measured::add(pool.particles_mut(), &asked).unwrap();
    measured.measure(pool.domain(), pool.volume(), &pool.field, pool.particles()).unwrap();
    let places = pool.places();
    let near = |at: &DVec3| places.iter().filter(|other| other.distance(*at) < 1.0).count() - 1;
    let found = values(pool.particles(), measured.neighbours.unwrap());
    assert!(found.iter().any(|count| *count > 2.0));
    for (found, place) in found.into_iter().zip(&places) {
        assert_eq!(found as usize, near(place), "{place}");
    }
}

/// A drop that flies freely measures what it would at rest: no pressure, and the depth of each particle.
#[test]
fn what_is_measured_flies_with_the_liquid() {
    let measured = |velocity: f64| {
        let hybrid = Behavior::new(&undine_liquid::hybrid::DECLARATION)
            .named("water")
            .set("input", "liquid")
            .set("voxel", 0.05)
            .set("velocity", [velocity, 0.0, 0.0])
            .set("keep-volume", false)
            .set("measure", "distance, neighbours");
        let ball = Shape::sphere(0.2).unwrap();
        let scene = Scene::default().with_input("liquid", ball).with(hybrid);
        let mut simulation = scene.simulation(fixed(24.0, 1));
        run(&mut simulation, 1);
        let store = particles(&simulation);
        let channel = |name: &str| values(store, store.handle::<f32>(name).unwrap());
        let mut found: Vec<(u64, f32, f32)> = values(store, store.id())
            .into_iter()
            .zip(channel("distance").into_iter().zip(channel("neighbours")))
            .map(|(id, (distance, neighbours))| (id, distance, neighbours))
            .collect();
        found.sort_by_key(|(id, ..)| *id);
        found
    };
    let (rests, flies) = (measured(0.0), measured(2.4));
    assert_eq!(rests, flies);
    assert!(rests.iter().any(|(_, distance, _)| *distance < -0.1));
}

#[test]
fn a_word_that_is_none_is_answered_with_those_that_are() {
    let hybrid = Behavior::new(&undine_liquid::hybrid::DECLARATION)
        .named("water")
        .set("input", "liquid")
        .set("measure", "distance height");
    let ball = Data::new(Geometry::Shape(Arc::new(Shape::sphere(0.2).unwrap())));
    let inputs = BTreeMap::from([("liquid".to_owned(), Arc::new(ball))]);
    let (setup, budget) = (Group::default().with(hybrid), MemoryBudget::unlimited());
    let made = Simulation::new(&setup, &kinds(), fixed(24.0, 1), Arc::new(inputs), budget);
    let why = made.err().map(|why| why.to_string()).unwrap_or_default();
    for word in ["`height`", "`pressure-gradient`", "`vorticity`", "water.measure"] {
        assert!(why.contains(word), "no {word} in {why}");
    }
}
