//! Liquids with particles in a narrow band below the surface alone, beside the same ones with particles everywhere.

use crate::scene::{
    GRAVITY, Scene, adaptive, cuboid, energy, fixed, grid, hybrid, in_the_full_tier, liquid_cells,
    particles, positions, rms_speed, run, tank, velocities, volume,
};
use std::collections::BTreeMap;
use undine_core::glam::DVec3;
use undine_geometry::Shape;
use undine_sim::checkpoint::{Identity, State, load, save};
use undine_sim::offers::Interior;
use undine_sim::registry::Stores;
use undine_sim::{Simulation, Timeline};

/// Water in a tank, with a band of so many cells, if any.
fn water(solid: Shape, room: Shape, voxel: f64, band: Option<i64>) -> Scene {
    let liquid = match band {
        Some(band) => hybrid(voxel).set("band", band),
        None => hybrid(voxel),
    };
    Scene::of_kind(solid, liquid).with_wall("tank", room).under_gravity()
}

/// How much cells hold themselves, in full cells.
fn held(simulation: &Simulation) -> f64 {
    let (_, volume, field) = grid(simulation);
    let parts = volume.column(field.interior.unwrap().parts).unwrap();
    (0..volume.topology().local() as u32)
        .flat_map(|slot| parts.chunk(slot))
        .map(|&parts| f64::from(parts) / f64::from(Interior::FULL))
        .sum()
}

/// Bytes of particles and of what cells hold.
fn bytes(simulation: &Simulation) -> Vec<u8> {
    let (_, volume, field) = grid(simulation);
    let parts = volume.column(field.interior.unwrap().parts).unwrap();
    let parts = (0..volume.topology().local() as u32).flat_map(|slot| parts.chunk(slot));
    let vectors = positions(simulation).into_iter().chain(velocities(simulation));
    let numbers = vectors.flat_map(|v| v.to_array()).flat_map(f64::to_le_bytes);
    numbers.chain(parts.flat_map(|parts| parts.to_le_bytes())).collect()
}

const REST: f64 = 1.0 / 24.0;

#[test]
fn a_resting_liquid_stays_at_rest_and_its_surface_where_it_was() {
    let solid = cuboid(DVec3::ZERO, DVec3::new(1.0, 0.5, 1.0));
    let room = tank(DVec3::ZERO, DVec3::ONE);
    let mut simulation = water(solid, room, REST, Some(3)).simulation(fixed(24.0, 2));
    let mass = simulation.budget().unwrap().mass;
    // Eight in each of 24 × 12 × 24 cells.
    let all = 8 * 24 * 12 * 24;
    run(&mut simulation, 24);
    let scale = (GRAVITY * 0.5).sqrt();
    let after_one = rms_speed(&simulation);
    assert!(after_one < 0.005 * scale, "{} of √(gh)", after_one / scale);
    run(&mut simulation, 24);
    assert!(rms_speed(&simulation) < 1.2 * after_one + 1e-4 * scale);

    // Cells more than four from the air hold themselves what they have: seven of twelve layers.
    let (count, held) = (particles(&simulation).len(), held(&simulation));
    assert!((count as f64) < 0.55 * all as f64, "{count} of {all}");
    assert!(held > 6.5 * 24.0 * 24.0 && held < 8.5 * 24.0 * 24.0, "{held}");
    let budget = simulation.budget().unwrap();
    assert!((budget.mass / mass - 1.0).abs() < 1e-6, "{}", budget.mass / mass);

    let top: Vec<f64> = liquid_cells(&simulation)
        .into_iter()
        .filter(|(_, distance, _)| *distance > -REST)
        .map(|(centre, distance, _)| centre.y - distance)
        .collect();
    let mean = top.iter().sum::<f64>() / top.len() as f64;
    assert!((mean - 0.5).abs() < 0.15 * REST, "{mean}");
    let farthest = top.iter().map(|y| (y - mean).abs()).fold(0.0, f64::max);
    assert!(farthest < 0.6 * REST, "{farthest}");
}

#[test]
fn it_begins_without_particles_deep_inside() {
    let solid = cuboid(DVec3::ZERO, DVec3::new(1.0, 0.5, 1.0));
    let room = tank(DVec3::ZERO, DVec3::ONE);
    let velocity = [0.3, -0.2, 0.1];
    let begin = |band: Option<i64>| {
        let mut scene = hybrid(REST).set("velocity", velocity);
        if let Some(band) = band {
            scene = scene.set("band", band);
        }
        let scene = Scene::of_kind(solid.clone(), scene).with_wall("tank", room.clone());
        scene.simulation(fixed(24.0, 2))
    };
    let [full, band] = [begin(None), begin(Some(3))];
    // Three cells at every side are the band, and one is between.
    assert_eq!(held(&band), 16.0 * 4.0 * 16.0);
    let cells = particles(&band).len() as f64 / 8.0 + held(&band);
    assert_eq!(cells, particles(&full).len() as f64 / 8.0);
    let [full, band] = [full, band].map(|simulation| simulation.budget().unwrap());
    assert!((band.mass / full.mass - 1.0).abs() < 1e-6);
    assert!((band.momentum - full.momentum).length() < 1e-5 * full.momentum.length());
}

/// A basin 1 m long and 0.5 m deep whose surface is tilted.
fn tilted(band: Option<i64>, timeline: Timeline) -> Simulation {
    let voxel = 1.0 / 32.0;
    let depth = 8.0 * voxel;
    let corner = |n: usize| {
        let [x, y, z] = [4, 2, 1].map(|bit| f64::from(u8::from(n & bit != 0)));
        DVec3::new(x, y * (0.55 - 0.1 * x), z * depth)
    };
    let solid = Shape::hull(&(0..8).map(corner).collect::<Vec<DVec3>>()).unwrap();
    let room = tank(DVec3::ZERO, DVec3::new(1.0, 2.0, depth));
    water(solid, room, voxel, band).simulation(timeline)
}

/// The period [s], by the times at which the momentum along x changes its sign.
fn period(simulation: &mut Simulation, fps: f64, frames: usize) -> f64 {
    let (mut before, mut crossings) = (0.0, Vec::new());
    for frame in 1..=frames {
        run(simulation, 1);
        let now = simulation.budget().unwrap().momentum.x;
        if before * now < 0.0 {
            crossings.push((frame as f64 - now / (now - before)) / fps);
        }
        before = now;
    }
    assert!(crossings.len() >= 4, "{crossings:?}");
    2.0 * (crossings[crossings.len() - 1] - crossings[0]) / (crossings.len() - 1) as f64
}

#[test]
fn it_sloshes_as_fast_as_with_particles_everywhere() {
    in_the_full_tier(|| {
        let fps = 48.0;
        let mut full = tilted(None, fixed(fps, 2));
        let mut band = tilted(Some(3), fixed(fps, 2));
        let [full, found] = [&mut full, &mut band].map(|simulation| period(simulation, fps, 120));
        assert!(held(&band) > 400.0, "{}", held(&band));
        assert!((found / full - 1.0).abs() < 0.02, "{found} {full}");
    });
}

#[test]
fn mass_is_kept_to_the_last_part() {
    let mut simulation = tilted(Some(3), fixed(24.0, 4));
    let (mass, start) = (simulation.budget().unwrap().mass, energy(&simulation));
    for _ in 0..5 {
        run(&mut simulation, 4);
        let found = simulation.budget().unwrap().mass;
        assert!((found / mass - 1.0).abs() < 1e-6, "{}", found / mass - 1.0);
        assert!(energy(&simulation) < 1.005 * start, "{} {start}", energy(&simulation));
    }
}

/// A column of water that is let go.
fn dam(band: Option<i64>) -> Simulation {
    let solid = cuboid(DVec3::ZERO, DVec3::new(0.5, 0.8, 0.5));
    let room = tank(DVec3::ZERO, DVec3::new(1.5, 1.5, 0.5));
    water(solid, room, 1.0 / 24.0, band).simulation(adaptive(24.0, 2.0))
}

#[test]
fn a_dam_breaks_as_with_particles_everywhere() {
    let [mut full, mut band] = [dam(None), dam(Some(3))];
    let mass = band.budget().unwrap().mass;
    let start = energy(&band);
    let front = |simulation: &Simulation| {
        let mut ahead: Vec<f64> = positions(simulation).iter().map(|at| at.x).collect();
        ahead.sort_by(f64::total_cmp);
        ahead[ahead.len() - 20]
    };
    for frame in 1..=16 {
        run(&mut full, 1);
        run(&mut band, 1);
        assert!(energy(&band) < 1.005 * start, "frame {frame}");
        if frame <= 7 {
            let [full, band] = [front(&full), front(&band)];
            assert!((full - band).abs() < 1.5 / 24.0, "frame {frame}: {full} {band}");
        }
    }
    assert!((band.budget().unwrap().mass / mass - 1.0).abs() < 1e-6);
    // Spray and foam are larger than what they are made of.
    let found = volume(&band);
    assert!(found > 0.97 * 0.2 && found < 1.15 * 0.2, "{found}");
    for place in positions(&band) {
        assert!(place.cmpge(DVec3::splat(-1e-4)).all() && place.x < 1.5001 && place.z < 0.5001);
    }
}

#[test]
fn threads_change_nothing() {
    let after = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut simulation = dam(Some(2));
            run(&mut simulation, 4);
            assert!(held(&simulation) > 100.0);
            bytes(&simulation)
        })
    };
    assert!(after(1) == after(3));
}

#[test]
fn a_resumed_run_goes_on_as_if_nothing_had_been() {
    let mut whole = dam(Some(2));
    run(&mut whole, 3);
    let (mut file, identity) = (Vec::new(), Identity { build: "b".into(), scene: "s".into() });
    let state = State { frame: 3, time: 0.125, step: 9, values: BTreeMap::default() };
    save(&identity, &state, &whole.world as &dyn Stores, &mut file).unwrap();
    let clock = whole.clock();
    run(&mut whole, 3);
    let mut resumed = dam(Some(2));
    load(Some(&identity), &mut resumed.world, &mut std::io::Cursor::new(file)).unwrap();
    resumed.set_clock(clock);
    run(&mut resumed, 3);
    assert!(held(&whole) > 100.0);
    assert!(bytes(&whole) == bytes(&resumed));
}

#[test]
fn a_closed_tank_keeps_its_volume_for_ten_seconds() {
    in_the_full_tier(|| {
        let mut simulation = tilted(Some(3), fixed(24.0, 2));
        let mass = simulation.budget().unwrap().mass;
        run(&mut simulation, 1);
        let start = volume(&simulation);
        let mut drifts = Vec::new();
        for _ in 0..10 {
            run(&mut simulation, 24);
            drifts.push(volume(&simulation) / start - 1.0);
        }
        let most = drifts.iter().fold(0.0_f64, |most, drift| most.max(drift.abs()));
        println!(
            "band, closed tank: volume off by {:.3} % at most in 10 s: {drifts:.4?}",
            100.0 * most
        );
        assert!((simulation.budget().unwrap().mass / mass - 1.0).abs() < 1e-6);
        assert!(held(&simulation) > 400.0);
        assert!(most < 0.01, "{most}");
    });
}
