//! How fast things fall in air, through the whole pipeline.

use crate::scene::{
    cloud, gravity, input, particles, run, simulation, store, timeline, velocities,
};
use undine_core::glam::DVec3;
use undine_schema::setup::{Behavior, Group};
use undine_schema::{Interpolation, Value};
use undine_sim::newton::NewtonSettings;
use undine_sim::{Simulation, Timeline};

const WATER: f64 = 998.2;
const AIR: f64 = 1.204;

fn drag() -> Behavior {
    Behavior::new(&undine_actions::drag::DECLARATION)
}

/// Balls of water of these diameters [mm], falling through air in a scene with this drag. Weight is less what the displaced
/// air weighs.
fn falling(drag: Behavior, diameters: &[f64], timeline: Timeline) -> Simulation {
    let setup = Group::default()
        .with(particles().set("density", WATER).set("voxel", 10.0))
        .with(gravity().set("acceleration", [0.0, -9.81 * (1.0 - AIR / WATER), 0.0]))
        .with(drag);
    let positions = (0..diameters.len()).map(|n| DVec3::new(n as f64, 0.0, 0.0)).collect();
    let radii = diameters.iter().map(|d| 0.5e-3 * d).collect();
    simulation(&setup, input("cloud", cloud(positions, &[("pscale", radii)])), timeline)
}

fn speeds(simulation: &Simulation) -> Vec<f64> {
    velocities(store(simulation, 0)).into_iter().map(|v| -v.y).collect()
}

/// Speeds after ten seconds, when all have reached their terminal one.
fn terminal(drag: &Behavior, diameters: &[f64], substeps: u32) -> Vec<f64> {
    let mut simulation = falling(drag.clone(), diameters, timeline(substeps));
    run(&mut simulation, 240);
    speeds(&simulation)
}

/// π/6 d³ Δρ g = ½ρ C_d π/4 d² u² with Schiller and Naumann's C_d, solved elsewhere: diameter [mm] and speed [m/s].
const SCHILLER_NAUMANN: [(f64, f64); 8] = [
    (0.05, 0.0711),
    (0.1, 0.2478),
    (0.2, 0.7066),
    (0.5, 2.025),
    (1.0, 3.858),
    (2.0, 6.931),
    (3.0, 8.594),
    (5.0, 11.09),
];

#[test]
fn rigid_balls_fall_as_schiller_and_naumann_say() {
    let diameters = SCHILLER_NAUMANN.map(|(d, _)| d);
    for substeps in [1, 10] {
        let found = terminal(&drag(), &diameters, substeps);
        for ((d, wanted), found) in SCHILLER_NAUMANN.iter().zip(found) {
            assert!((found / wanted - 1.0).abs() < 1e-3, "{d} mm: {found} m/s, wanted {wanted}");
        }
    }
}

/// Gunn and Kinzer 1949: diameter [mm] and speed [m/s].
const GUNN_KINZER: [(f64, f64); 12] = [
    (0.1, 0.27),
    (0.2, 0.72),
    (0.3, 1.17),
    (0.5, 2.06),
    (0.8, 3.27),
    (1.0, 4.03),
    (1.6, 5.65),
    (2.0, 6.49),
    (2.6, 7.57),
    (3.4, 8.44),
    (4.4, 8.98),
    (5.8, 9.17),
];

/// Each law within what it is good for; that of rigid balls is far too fast for drops that flatten.
#[test]
fn drops_of_water_fall_as_gunn_and_kinzer_measured() {
    let diameters = GUNN_KINZER.map(|(d, _)| d);
    let off = |law: &str| -> Vec<f64> {
        let found = terminal(&drag().set("law", law), &diameters, 1);
        GUNN_KINZER.iter().zip(found).map(|((_, wanted), found)| found / wanted - 1.0).collect()
    };
    let [drop, rigid, standard, stokes] =
        ["drop", "schiller-naumann", "standard", "stokes"].map(off);
    for (n, (d, _)) in GUNN_KINZER.iter().enumerate() {
        let tolerance = match d {
            d if *d < 0.2 => 0.10,
            d if *d < 0.6 => 0.04,
            d if *d < 2.4 => 0.02,
            _ => 0.006,
        };
        assert!(drop[n].abs() < tolerance, "drop of {d} mm: {}", drop[n]);
        if *d <= 2.6 {
            assert!(rigid[n].abs() < 0.11 && standard[n].abs() < 0.11, "{d} mm: {}", rigid[n]);
        }
        if *d >= 4.4 {
            assert!(rigid[n] > 0.15 && standard[n] > 0.15, "{d} mm: {}", rigid[n]);
        }
        if *d >= 0.2 {
            assert!(stokes[n] > 0.5, "{d} mm: {}", stokes[n]);
        }
    }
}

/// From rest, from above and from below, by steps of any length, speeds come nearer to the terminal one and never pass it.
#[test]
fn one_iteration_never_passes_the_terminal_speed() {
    let diameters = SCHILLER_NAUMANN.map(|(d, _)| d);
    for law in ["schiller-naumann", "standard", "drop", "stokes", "newton", "styled"] {
        let drag = drag().set("law", law);
        // After hours, which Stokes' law takes for the largest.
        let hours = Timeline { time_scale: 3e3, ..timeline(1) };
        let mut simulation = falling(drag.clone(), &diameters, hours);
        run(&mut simulation, 60);
        let settled = speeds(&simulation);
        for time_scale in [1e-2, 1.0, 30.0, 3e3] {
            for start in [0.0, 0.5, 200.0] {
                let timeline = Timeline { time_scale, ..timeline(1) };
                let mut simulation = falling(drag.clone(), &diameters, timeline);
                let v = -(start as f32);
                let down = undine_core::glam::Vec3::new(0.0, v, 0.0);
                set_all(&mut simulation, down);
                let mut before = speeds(&simulation);
                for _ in 0..20 {
                    run(&mut simulation, 1);
                    let now = speeds(&simulation);
                    for n in 0..now.len() {
                        let (goal, slack) = (settled[n], 2e-6 * settled[n].max(before[n]));
                        let between = before[n].min(goal) - slack..before[n].max(goal) + slack;
                        assert!(
                            between.contains(&now[n]),
                            "{law}, {} mm, {time_scale}: {} after {}, to {goal}",
                            diameters[n],
                            now[n],
                            before[n]
                        );
                    }
                    before = now;
                }
                if time_scale == 3e3 {
                    for n in 0..before.len() {
                        let close = (before[n] / settled[n] - 1.0).abs();
                        assert!(close < 1e-5, "{law}, {} mm: {close}", diameters[n]);
                    }
                }
            }
        }
    }
}

fn set_all(simulation: &mut Simulation, velocity: undine_core::glam::Vec3) {
    let (id, _) = simulation.world.particles.iter().next().unwrap();
    let particles = &mut simulation.world.particles[id];
    let handle = particles.handle("v").unwrap();
    let mut column = particles.column_mut(handle).unwrap();
    for slot in 0..particles.topology().local() as u32 {
        column.chunk_mut(slot).fill(velocity);
    }
}

/// More iterations solve the same equation: backward Euler has one solution, and the first iteration finds it.
#[test]
fn more_iterations_change_nothing() {
    let diameters = [0.1, 1.0, 5.0];
    for law in ["schiller-naumann", "drop", "newton"] {
        let [one, many] = [1, 8].map(|iterations| {
            let newton = NewtonSettings { iterations, tolerance: 0.0, ..NewtonSettings::default() };
            let timeline = Timeline { newton, ..timeline(1) };
            let mut simulation = falling(drag().set("law", law), &diameters, timeline);
            run(&mut simulation, 12);
            speeds(&simulation)
        });
        for (one, many) in one.iter().zip(many) {
            assert!((one / many - 1.0).abs() < 2e-6, "{law}: {one} and {many}");
        }
    }
}

/// Stokes' law has a solution: v = v_t (1 − exp(−t/τ)), τ = m / 6πμr; backward Euler is nearer to it the shorter its steps are.
#[test]
fn speeds_approach_the_terminal_one_as_stokes_says() {
    let tau = WATER * 0.05e-3_f64.powi(2) / (18.0 * 1.81e-5);
    let time = 2.0 * tau;
    let errors = [10, 20, 40].map(|substeps| {
        let timeline = Timeline { time_scale: 24.0 * time, ..timeline(substeps) };
        let mut simulation = falling(drag().set("law", "stokes"), &[0.05], timeline);
        run(&mut simulation, 1);
        let wanted = tau * 9.81 * (1.0 - AIR / WATER) * (1.0 - f64::exp(-2.0));
        (speeds(&simulation)[0] / wanted - 1.0).abs()
    });
    assert!(errors[2] < 0.01, "{errors:?}");
    let halved = |n: usize| errors[n] / errors[n + 1];
    assert!((1.8..2.2).contains(&halved(0)) && (1.8..2.2).contains(&halved(1)), "{errors:?}");
}

#[test]
fn dust_goes_with_the_wind_and_the_wind_may_be_keyed() {
    let wind = undine_schema::Keys::new(
        [(0.0, [4.0, 0.0, 0.0]), (0.5, [0.0, 0.0, 2.0])]
            .map(|(time, v)| undine_schema::Key { time, value: Value::Vector(v) })
            .to_vec(),
        Interpolation::Hold,
    );
    let setup = Group::default()
        .with(particles().set("radius", 5e-6))
        .with(drag().set("wind", wind.unwrap()));
    let points = cloud(vec![DVec3::ZERO], &[]);
    let mut simulation = simulation(&setup, input("cloud", points), timeline(1));
    run(&mut simulation, 11);
    let v = velocities(store(&simulation, 0))[0];
    assert!(v.distance(DVec3::new(4.0, 0.0, 0.0)) < 1e-5, "{v}");
    run(&mut simulation, 12);
    let v = velocities(store(&simulation, 0))[0];
    assert!(v.distance(DVec3::new(0.0, 0.0, 2.0)) < 1e-5, "{v}");
}

/// The air of a Group reaches the drag in it; that of an Object is nearer, and that of a particle nearest.
#[test]
fn the_air_may_be_set_on_a_group_an_object_and_a_particle() {
    let terminal = |density: f64| {
        (4.0 / 3.0 * 1e-3 * 1000.0 * 9.80665 / (0.44 * density)).sqrt() * 2_f64.sqrt()
    };
    let newton = || drag().set("law", "newton");
    let at = |n: usize| DVec3::new(n as f64, 0.0, 0.0);
    let setup = |group: Group| group.with(particles()).with(gravity()).with(newton());
    let speed = |setup: Group, data| {
        let mut simulation = simulation(&setup, input("cloud", data), timeline(1));
        run(&mut simulation, 240);
        speeds(&simulation)
    };
    let plain = || cloud(vec![at(0), at(1)], &[]);
    let near = |found: f64, density: f64| {
        let wanted = terminal(density);
        assert!((found / wanted - 1.0).abs() < 1e-4, "{found} m/s, wanted {wanted}");
    };
    near(speed(setup(Group::default()), plain())[0], 1.204);
    near(speed(setup(Group::default().set("air-density", 2.0)), plain())[0], 2.0);
    let mut object = plain();
    object.attributes.insert("air-density".to_owned(), Value::Number(3.0));
    near(speed(setup(Group::default().set("air-density", 2.0)), object)[0], 3.0);
    let element = cloud(vec![at(0), at(1)], &[("air-density", vec![4.0, 5.0])]);
    let found = speed(setup(Group::default().set("air-density", 2.0)), element);
    near(found[0], 4.0);
    near(found[1], 5.0);
}
