//! Liquid that flies, by steps of any length and at any speed: each takes it exactly where a step of its length does.

use std::path::Path;
use undine::{catalogue, prepare};
use undine_core::glam::DVec3;
use undine_core::memory::MemoryBudget;
use undine_scene::Scene;
use undine_sim::Simulation;
use undine_sim::report::{Observer, SubstepReport};

/// A cube of water in the air, with something that it may bump into.
const FLIGHT: &str = r#"
setup "flight" frames=1000 STEPS
input "cube" {
    box size="20 20 20 cm" centre="0 30 0 m"
}
input "wall" {
    WALL
}
hybrid "water" input="cube" voxel="2 cm" WATER
collider "wall" input="wall"
walls
pressure
FORCES
"#;

/// Earth's [m/s²].
const GRAVITY: f64 = 9.80665;

fn simulation(text: &str) -> Simulation {
    let scene = Scene::parse(Path::new("scene.kdl"), text, &catalogue(), &[]);
    let scene = scene.unwrap_or_else(|report| panic!("{}", report.render(100)));
    prepare::simulation(&scene, MemoryBudget::unlimited()).unwrap_or_else(|why| panic!("{why}"))
}

fn at([steps, wall, water, forces]: [&str; 4]) -> String {
    let words = [("STEPS", steps), ("WALL", wall), ("WATER", water), ("FORCES", forces)];
    words.into_iter().fold(FLIGHT.to_owned(), |text, (word, it)| text.replace(word, it))
}

fn flight(words: [&str; 4]) -> Simulation {
    simulation(&at(words))
}

fn frame(simulation: &mut Simulation) {
    simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap_or_else(|why| panic!("{why}"));
}

/// The mean place of all particles, by mass [m].
fn centre(simulation: &Simulation) -> DVec3 {
    let (_, particles) = simulation.world.particles.iter().next().unwrap();
    let masses = particles.column(particles.handle::<f32>("mass").unwrap()).unwrap();
    let slots = 0..particles.topology().local() as u32;
    let masses: Vec<f64> =
        slots.flat_map(|slot| masses.chunk(slot).iter().map(|&mass| f64::from(mass))).collect();
    let places = particles.world_positions().unwrap();
    let moments = places.iter().zip(&masses).map(|(at, mass)| *at * *mass);
    moments.sum::<DVec3>() / masses.iter().sum::<f64>()
}

/// How far the liquid is from where it should be, at worst, in so many frames: as a part of the way, or of the first metre.
fn error(words: [&str; 4], frames: u32, wanted: impl Fn(f64) -> DVec3) -> f64 {
    error_from(&at(words), frames, wanted)
}

fn error_from(text: &str, frames: u32, wanted: impl Fn(f64) -> DVec3) -> f64 {
    let mut simulation = simulation(text);
    let start = centre(&simulation);
    let mut worst = 0.0_f64;
    for n in 1..=frames {
        frame(&mut simulation);
        let way = wanted(f64::from(n));
        worst = worst.max((centre(&simulation) - start).distance(way) / way.length().max(1.0));
    }
    worst
}

/// ½ g t (t + Δt) down, by backward Euler.
fn fallen(time: f64, step: f64) -> DVec3 {
    DVec3::new(0.0, -0.5 * GRAVITY * time * (time + step), 0.0)
}

#[test]
fn what_falls_freely_is_where_its_steps_take_it() {
    let cases = [
        ("fps=24 substeps=1", 1.0 / 24.0, 26, ""),
        ("fps=24 substeps=1", 1.0 / 24.0, 10, "transfer=flip"),
        ("fps=24 substeps=1", 1.0 / 24.0, 10, "transfer=pic advection=rk3"),
        ("fps=4 substeps=1", 0.25, 6, ""),
        ("fps=1 substeps=1", 1.0, 2, "kernel=linear"),
    ];
    for (steps, step, frames, water) in cases {
        let per_frame = steps[4..].split(' ').next().unwrap().parse::<f64>().unwrap().recip();
        let found =
            error([steps, "plane", water, "gravity"], frames, |n| fallen(n * per_frame, step));
        assert!(found < 1e-5, "{steps} {water}: {found:e} of the way");
    }
}

#[test]
fn what_flies_is_where_its_velocity_takes_it_at_any_speed() {
    let fps = "fps=24 substeps=1";
    let cases = [
        ([1.0, 0.0, 0.0], ""),
        ([1000.0, 0.0, 0.0], ""),
        ([1000.0, 700.0, -300.0], "advection=rk3"),
        ([-30.0, 20.0, 40.0], "transfer=flip"),
        ([1e5, 0.0, 0.0], "transfer=flip flip=1"),
    ];
    for (v, water) in cases {
        let water = format!("velocity=\"{} {} {} m/s\" {water}", v[0], v[1], v[2]);
        let found = error([fps, "plane", &water, ""], 4, |n| DVec3::from(v) * n / 24.0);
        assert!(found < 1e-5, "{water}: {found:e} of the way");
    }
}

#[test]
fn walls_that_it_does_not_touch_or_slides_along_do_not_hold_it() {
    // A shaft that leaves three quarters of a voxel on every side, or nothing; and a floor below. What keeps volume would move particles
    // at walls by some hundredths of a millimetre.
    let still = "keep-volume=#false";
    let shafts = ["23 6000 23 cm", "20 6000 20 cm"];
    for shaft in shafts {
        let wall = format!("box size=\"{shaft}\" centre=\"0 30 0 m\"\n    invert");
        for (water, forces) in [("", "gravity"), ("velocity=\"0 -70 0 m/s\"", "")] {
            let water = &format!("{still} {water}");
            let wanted = |n: f64| match forces {
                "" => DVec3::new(0.0, -70.0 * n / 24.0, 0.0),
                _ => fallen(n / 24.0, 1.0 / 24.0),
            };
            let found = error(["fps=24 substeps=1", &wall, water, forces], 8, wanted);
            assert!(found < 1e-5, "{shaft} {water}: {found:e} of the way");
        }
    }
    // The same on a floor.
    let water = &format!("{still} velocity=\"100 0 20 m/s\"");
    let wall = "plane centre=\"0 -0.1 0 m\"";
    let found = error_from(
        &at(["fps=24 substeps=1", wall, water, ""]).replace("0 30 0 m", "0 0 0 m"),
        6,
        |n| DVec3::new(100.0, 0.0, 20.0) * n / 24.0,
    );
    assert!(found < 1e-5, "{found:e} of the way");
}

/// Cells that hold the inside of a liquid give it to particles where a step takes them farther than they can follow.
#[test]
fn the_inside_that_cells_hold_flies_with_the_rest() {
    let water = "band=2 velocity=\"100 0 0 m/s\"";
    let mut simulation = flight(["fps=24 substeps=1", "plane", water, "gravity"]);
    let mass = simulation.budget().unwrap().mass;
    for n in 1..=4 {
        frame(&mut simulation);
        let budget = simulation.budget().unwrap();
        assert!((budget.mass / mass - 1.0).abs() < 1e-6, "{} of {mass} kg", budget.mass);
        let time = f64::from(n) / 24.0;
        let wanted = DVec3::new(100.0 * time, 30.0, 0.0) + fallen(time, 1.0 / 24.0);
        // Particles that cells make are anywhere in them.
        let wrong = centre(&simulation).distance(wanted);
        assert!(wrong < 1e-3, "{wrong} m in frame {n}");
    }
}

/// Water in a tank, by steps of which nothing is said.
const TANK: &str = r#"
setup "tank" frames=1000 SETUP
input "column" {
    box size="20 20 20 cm" centre="0 10 0 cm"
}
input "tank" {
    box size="40 60 40 cm" centre="0 30 0 cm"
    invert
}
hybrid "water" input="column" voxel="4 cm"
collider "tank" input="tank"
walls
pressure
MORE
"#;

/// The substeps of a run.
#[derive(Default)]
struct Steps(Vec<SubstepReport>);

impl Observer for Steps {
    fn substep(&mut self, substep: &SubstepReport) {
        self.0.push(substep.clone());
    }
}

fn tank(setup: &str, more: &str, frames: u32) -> (Simulation, Steps) {
    let mut simulation = simulation(&TANK.replace("SETUP", setup).replace("MORE", more));
    let mut steps = Steps::default();
    for _ in 0..frames {
        let ended = simulation.advance_frame(&mut steps, |_, _| Ok(()));
        ended.unwrap_or_else(|why| panic!("{why}"));
    }
    (simulation, steps)
}

#[test]
fn a_liquid_takes_as_many_steps_as_it_needs_where_nothing_is_said_of_them() {
    let (simulation, steps) = tank("fps=1", "gravity", 4);
    // It has come down, and lies on all of the floor.
    let level = centre(&simulation).y;
    assert!((level / 0.025 - 1.0).abs() < 0.4, "{level} m");
    assert!(steps.0.iter().all(|step| step.cfl < 2.0 + 1e-9), "{:?}", steps.0);
    assert!(steps.0.len() > 20 && steps.0.len() < 400, "{}", steps.0.len());
    let asks = |step: &SubstepReport| step.asked_by.as_deref() == Some("water");
    assert!(steps.0.iter().all(asks));
}

#[test]
fn steps_of_which_nothing_is_said_get_longer_rather_than_end_a_run() {
    let wild = "gravity acceleration=\"0 -1e6 0 m/s2\"";
    let (simulation, steps) = tank("fps=24 max-substeps=10", wild, 3);
    assert_eq!(steps.0.len(), 30);
    assert!(steps.0.iter().all(|step| (step.step * 240.0 - 1.0).abs() < 1e-9));
    assert!(centre(&simulation).is_finite());
    // What says how many voxels may be crossed means it.
    let text = TANK.replace("SETUP", "fps=24 max-substeps=10 cfl=2").replace("MORE", wild);
    let mut strict = self::simulation(&text);
    let told = strict.advance_frame(&mut (), |_, _| Ok(())).unwrap_err().to_string();
    assert!(told.contains("substeps"), "{told}");
}

#[test]
fn what_moves_in_a_liquid_is_as_slow_in_a_step_as_the_liquid() {
    let paddle = |height: f64| {
        format!(
            "input \"paddle\" {{\n    box size=\"4 10 20 cm\" centre=\"-12 {height} 0 cm\"\n    transform {{\n        \
             translate {{\n            key 1 \"0 0 0 m\"\n            key 2 \"0.2 0 0 m\"\n        }}\n    }}\n}}\n\
             collider \"paddle\" input=\"paddle\"\n"
        )
    };
    let count = |more: &str| tank("fps=24", more, 1).1.0.len();
    // Five voxels in a frame.
    let (_, steps) = tank("fps=24", &paddle(10.0), 1);
    assert!(steps.0.len() >= 3 && steps.0[0].asked_by.as_deref() == Some("paddle"));
    // Far above it is nothing to the liquid.
    assert_eq!(count(&paddle(50.0)), 1);
    let body = "input \"cork\" {\n    box size=\"4 4 4 cm\" centre=\"HERE\"\n}\n\
                rigid-body \"cork\" input=\"cork\" density=\"900 kg/m3\" velocity=\"0 -9.6 0 m/s\"\n";
    assert!(count(&body.replace("HERE", "0 23 0 cm")) >= 5);
    assert_eq!(count(&body.replace("HERE", "0 90 0 cm")), 1);
}

/// Without a fluid there is one step, and nothing is asked.
#[test]
fn solids_alone_take_one_step_where_nothing_is_said_of_them() {
    let text = "setup \"a\" frames=3\ninput \"ball\" {\n    points at=\"0 0 0 m\"\n}\n\
                particles \"ball\" input=\"ball\" velocity=\"1000 0 0 m/s\"\ngravity\n";
    let mut simulation = simulation(text);
    let mut steps = Steps::default();
    simulation.advance_frame(&mut steps, |_, _| Ok(())).unwrap();
    assert_eq!(steps.0.len(), 1);
    assert!(steps.0[0].asked_by.is_none() && steps.0[0].cfl > 100.0);
}

/// Far from a surface that bends, filling by chance is right; a film thinner than the spacing of particles is weighed.
#[test]
fn a_film_has_the_mass_of_its_shape() {
    let film = |size: &str| TANK.replace("\"20 20 20 cm\"", &format!("\"20 {size} 20 cm\""));
    let seeds = [("", "0.2"), ("", "2.5"), ("seeding=lattice", "2.5"), ("seeding=poisson", "0.3")];
    for (seed, size) in seeds {
        let film = film(size).replace("voxel=", &format!("{seed} voxel="));
        let scene = film.replace("SETUP", "fps=24").replace("MORE", "gravity");
        let wanted = 998.2 * 0.2 * 0.2 * 0.01 * size.parse::<f64>().unwrap();
        let found = simulation(&scene).budget().unwrap().mass;
        assert!((found / wanted - 1.0).abs() < 0.01, "{seed} {size} cm: {found} of {wanted} kg");
    }
}
