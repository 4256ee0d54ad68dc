//! Bodies that lie on a floor, or on each other, under water: what is between them is wet, however thin.

use std::path::Path;
use undine::{catalogue, prepare};
use undine_core::glam::DVec3;
use undine_core::memory::MemoryBudget;
use undine_scene::Scene;
use undine_sim::Simulation;
use undine_sim::offers::Material;

fn simulation(text: &str) -> Simulation {
    let scene = Scene::parse(Path::new("scene.kdl"), text, &catalogue(), &[])
        .unwrap_or_else(|report| panic!("{}", report.render(100)));
    prepare::simulation(&scene, MemoryBudget::unlimited()).unwrap_or_else(|why| panic!("{why}"))
}

/// Where the bodies are, in the order of the scene [m].
fn places(simulation: &Simulation) -> Vec<DVec3> {
    let world = &simulation.world;
    let centres = world.objects.iter().filter_map(|object| match object.offers.material {
        Some(Material::Topological(on)) => Some(&world.points[on.points]),
        _ => None,
    });
    centres.map(|bodies| bodies.column(bodies.position()).unwrap()[0]).collect()
}

/// A hundred frames a second.
const FRAME: f64 = 0.01;

/// A tank of 60 × 40 cm with 20 cm of water, and cubes of 12 cm in it: by name, density [kg/m³] and the middle of their bottoms [m].
fn tank(voxel: f64, bodies: &[(&str, f64, DVec3)], walls: &str) -> String {
    let mut text = String::from(
        "setup \"tank\" fps=100 frames=400 substeps=1\n\
         input \"tank\" {\n    box size=\"60 80 40 cm\" centre=\"0 40 0 cm\"\n    invert\n}\n",
    );
    let mut pool = String::from("    box size=\"60 20 40 cm\" centre=\"0 10 0 cm\"\n");
    let mut on = String::new();
    for (name, density, at) in bodies {
        let [x, y, z] = (*at + DVec3::new(0.0, 0.06, 0.0)).to_array();
        text += &format!(
            "input \"{name}\" {{\n    box size=\"12 12 12 cm\" centre=\"{x} {y} {z} m\"\n}}\n"
        );
        pool += &format!("    subtract with=\"{name}\"\n");
        on += &format!("rigid-body \"{name}\" input=\"{name}\" density=\"{density} kg/m3\"\n");
    }
    text + &format!(
        "input \"pool\" {{\n{pool}}}\nhybrid \"water\" input=\"pool\" voxel=\"{voxel} m\"\n{on}\
         walls {walls}\npressure\ncollision friction=0.4\ncollider \"tank\" input=\"tank\"\ngravity\n\
         output dir=\"cache\"\n"
    )
}

/// How long bodies take to rise by 2 cm [s]; infinite for those that have not in a quarter of a second.
fn rises(voxel: f64, bodies: &[(&str, f64, DVec3)], walls: &str) -> Vec<f64> {
    let mut simulation = simulation(&tank(voxel, bodies, walls));
    let start = places(&simulation);
    let mut before = start.clone();
    let mut times = vec![f64::INFINITY; bodies.len()];
    for frame in 0..25 {
        simulation.advance_frame(&mut (), |_, _| Ok(())).unwrap_or_else(|why| panic!("{why}"));
        let now = places(&simulation);
        for n in 0..bodies.len() {
            let [up, was] = [now[n].y - start[n].y, before[n].y - start[n].y];
            if up >= 0.02 && times[n].is_infinite() {
                times[n] = FRAME * (f64::from(frame) + (0.02 - was) / (up - was));
            }
        }
        before = now;
        if times.iter().all(|time| time.is_finite()) {
            break;
        }
    }
    times
}

/// Foam and wood, apart from each other, over the floor by a gap [m].
fn over_the_floor(gap: f64) -> [(&'static str, f64, DVec3); 2] {
    [("foam", 60.0, DVec3::new(0.14, gap, 0.0)), ("wood", 500.0, DVec3::new(-0.14, gap, 0.0))]
}

/// By potential flow, with an added mass of (0.641 + 0.0465 L/g) ρL³ over a gap g, a cube of foam rises by 2 cm in 0.082 s
/// from a gap of 3 mm, and one of wood in 0.128 s. That a gap is as wide as a film of a part of a voxel
/// at the least, where it is none, takes as long again at the most.
#[test]
fn what_is_light_rises_from_a_floor_whatever_the_gap() {
    let wanted = [(0.003, [0.082, 0.128])];
    for (gap, wanted) in wanted {
        let found = rises(0.02, &over_the_floor(gap), "");
        println!("gap of {gap} m: foam and wood rise by 2 cm in {found:.4?} s, wanted {wanted:?}");
        for (found, wanted) in found.iter().zip(wanted) {
            assert!((found / wanted - 1.0).abs() < 0.15, "{gap}: {found} for {wanted}");
        }
    }
    let found = rises(0.02, &over_the_floor(0.0), "");
    println!("from the floor: {found:.4?} s");
    assert!(found[0] < 2.0 * 0.082 && found[1] < 2.0 * 0.128, "{found:?}");
}

#[test]
fn what_is_sealed_stays() {
    let found = rises(0.04, &over_the_floor(0.0), "sealed=#true");
    assert!(found.iter().all(|time| time.is_infinite()), "{found:?}");
}
