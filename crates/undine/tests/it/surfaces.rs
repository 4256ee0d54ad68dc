//! The Behavior `surface`: meshes of particles, written with every frame.

use std::f64::consts::PI;
use std::path::Path;
use tempfile::TempDir;
use undine::{Options, catalogue, run};
use undine_core::glam::DVec3;
use undine_geometry::{Triangles, meshing};
use undine_io::{Geometry, Values};
use undine_scene::Scene;

/// A ball of water that falls, radius 10 cm.
const BALL: &str = r#"
setup "ball" frames=2 fps=24
input "ball" { sphere radius="10 cm" centre="0 1 0 m" }
input "lower" { box size="1 1 1 m" centre="0 0.5 0 m" }
group "water" {
    hybrid "liquid" input="ball" voxel="2 cm" HYBRID
    pressure
    surface SURFACE
}
gravity
output dir="cache" OUTPUT
render enabled=#false
"#;

fn ball(hybrid: &str, surface: &str, output: &str) -> String {
    BALL.replace("HYBRID", hybrid).replace("SURFACE", surface).replace("OUTPUT", output)
}

fn load(folder: &Path, text: &str) -> Result<Scene, String> {
    let file = folder.join("scene.kdl");
    std::fs::write(&file, text).unwrap();
    Scene::load(&file, &catalogue(), &[]).map_err(|report| report.render(100))
}

fn made(text: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let scene = load(folder.path(), text).unwrap_or_else(|report| panic!("{report}"));
    run(&scene, &Options::default(), &mut ()).unwrap();
    folder
}

fn mesh_of(geometry: &Geometry) -> Triangles {
    let polygons = &geometry.faces.as_ref().expect("faces").polygons;
    let triangles = polygons.faces().map(|face| face.try_into().expect("a triangle")).collect();
    Triangles::new(geometry.points.positions.clone(), triangles).unwrap()
}

/// The mesh of a frame; its edges have a triangle on either side.
fn frame(folder: &Path, number: u32) -> (Geometry, Triangles) {
    let file = folder.join(format!("cache/water-surface.{number:04}.ply"));
    let geometry = undine_io::read(&file).unwrap();
    let mesh = mesh_of(&geometry);
    let mut edges = std::collections::BTreeMap::new();
    for &[a, b, c] in mesh.indices() {
        for (from, to) in [(a, b), (b, c), (c, a)] {
            *edges.entry((from, to)).or_insert(0) += 1;
        }
    }
    let closed = edges.iter().all(|((a, b), count)| *count == 1 && edges.contains_key(&(*b, *a)));
    assert!(closed && !edges.is_empty(), "{} triangles", mesh.indices().len());
    (geometry, mesh)
}

fn volume(mesh: &Triangles) -> f64 {
    meshing::mass_properties(mesh).unwrap().volume
}

fn vectors(geometry: &Geometry, channel: &str) -> Vec<DVec3> {
    geometry.points.channels[channel].vectors().expect("vectors").into_owned()
}

/// A ball of eleven particles across is met within 3 % (surfacing itself within 2 % of its particles, and those within 1 % of the ball),
/// and falls as one: every vertex at g t.
#[test]
fn a_falling_ball_has_a_closed_mesh_with_its_velocity() {
    let folder = made(&ball("", "", "format=\"ply\""));
    for number in [1, 2] {
        let (geometry, mesh) = frame(folder.path(), number);
        let wanted = 4.0 / 3.0 * PI * 0.1_f64.powi(3);
        let found = volume(&mesh);
        assert!((found / wanted - 1.0).abs() < 0.03, "frame {number}: {found} m³, not {wanted}");
        let speed = -9.81 * f64::from(number - 1) / 24.0;
        for v in vectors(&geometry, "v") {
            assert!((v - DVec3::new(0.0, speed, 0.0)).length() < 1e-3, "frame {number}: {v}");
        }
        // Bumps of single particles turn some.
        let [least, mean] = outwards(&geometry, &mesh);
        assert!(mean > 0.9 && least > 0.0, "{least} {mean}");
        assert!(geometry.points.channels.contains_key("id"));
        assert!(!geometry.points.channels.contains_key("pscale"));
    }
}

/// Drops of many ages and speeds, far from each other and at one another: no vertex has what no particle has.
#[test]
fn a_mesh_carries_nothing_that_no_particle_has() {
    let nozzle = "input \"nozzle\" { sphere radius=\"5 cm\" centre=\"-0.16 1.1 0 m\" }\ngroup \"water\" {\n    \
                  source input=\"nozzle\" velocity=\"1 0 0 m/s\"\n";
    let text = ball("velocity=\"0 -3 0 m/s\"", "", "format=\"ply\"");
    let text = text.replace("group \"water\" {\n", nozzle).replace("frames=2", "frames=6 cfl=2");
    let folder = made(&text);
    for number in 2..=6 {
        let (mesh, _) = frame(folder.path(), number);
        let file = folder.path().join(format!("cache/water-liquid.{number:04}.ply"));
        let particles = undine_io::read(&file).unwrap();
        let numbers = |of: &Geometry| of.points.channels["age"].numbers().unwrap().into_owned();
        let range = |values: &[f64]| {
            let fold = |pick: fn(f64, f64) -> f64| values.iter().copied().reduce(pick).unwrap();
            [fold(f64::min), fold(f64::max)]
        };
        let check = |what: &str, of_mesh: Vec<f64>, of_particles: Vec<f64>| {
            let ([least, most], [from, to]) = (range(&of_mesh), range(&of_particles));
            assert!(from <= least && most <= to, "{what}: {least} … {most}, not {from} … {to}");
        };
        check("age", numbers(&mesh), numbers(&particles));
        for axis in 0..3 {
            let along = |of| vectors(of, "v").iter().map(|v| v[axis]).collect::<Vec<f64>>();
            check("v", along(&mesh), along(&particles));
        }
        let speeds = |of| vectors(of, "v").iter().map(|v| v.length()).collect::<Vec<f64>>();
        let fastest = range(&speeds(&particles))[1] * (1.0 + 1e-6);
        assert!(range(&speeds(&mesh))[1] <= fastest, "faster than {fastest} m/s");
    }
}

/// How far normals look away from the middle, as cosines: the least, and the mean.
fn outwards(geometry: &Geometry, mesh: &Triangles) -> [f64; 2] {
    let centre = mesh.positions().iter().sum::<DVec3>() / mesh.positions().len() as f64;
    let normals = vectors(geometry, "N");
    let cosines = || {
        let each = mesh.positions().iter().zip(&normals);
        each.map(|(at, normal)| (*at - centre).normalize().dot(*normal))
    };
    [cosines().fold(1.0, f64::min), cosines().sum::<f64>() / normals.len() as f64]
}

/// As `docs/surfacing.md` has it: wide kernels leave no bump of a particle, and what they take off, two thirds of a spacing of 1 cm, a filter
/// gives back. A cosine of 0.95 is 18°.
#[test]
fn a_smooth_ball_is_round_and_keeps_its_volume() {
    let smooth = "search=3 smoothing=0.95 smooth=12 {\n        dilate distance=\"6.6 mm\"\n    }";
    let folder = made(&ball("", smooth, "format=\"ply\""));
    let (geometry, mesh) = frame(folder.path(), 2);
    let wanted = 4.0 / 3.0 * PI * 0.1_f64.powi(3);
    assert!((volume(&mesh) / wanted - 1.0).abs() < 0.03, "{} m³, not {wanted}", volume(&mesh));
    let [least, mean] = outwards(&geometry, &mesh);
    assert!(mean > 0.99 && least > 0.95, "{least} {mean}");
}

/// Cells that hold the liquid where no particles are belong to it: the mesh has no hollow inside.
#[test]
fn what_no_particles_carry_is_inside_too() {
    let folder =
        made(&ball("band=2", "", "format=\"ply\"").replace("voxel=\"2 cm\"", "voxel=\"1 cm\""));
    let (_, mesh) = frame(folder.path(), 2);
    let wanted = 4.0 / 3.0 * PI * 0.1_f64.powi(3);
    assert!((volume(&mesh) / wanted - 1.0).abs() < 0.03, "{} m³, not {wanted}", volume(&mesh));
    let farthest = mesh.positions().iter().map(|at| at.length()).fold(0.0, f64::max);
    let centre = mesh.positions().iter().sum::<DVec3>() / mesh.positions().len() as f64;
    let nearest = mesh.positions().iter().map(|at| at.distance(centre)).fold(farthest, f64::min);
    assert!(nearest > 0.09, "something is {nearest} m from the centre");
}

/// Of all bodies of its volume a ball grows least (Brunn and Minkowski); by a centimetre d, one with the area A and about the radius r grows by
/// no more than A d (1 + d/r)². Masked to the lower half, by half of that, but for the way between.
#[test]
fn filters_are_chained_and_masked() {
    let size = |surface: &str| {
        let folder = made(&ball("", surface, "format=\"ply\"").replace("frames=2", "frames=1"));
        let (_, mesh) = frame(folder.path(), 1);
        let heights = mesh.positions().iter().map(|at| at.y);
        let (lowest, highest) =
            (heights.clone().fold(f64::MAX, f64::min), heights.fold(0.0, f64::max));
        let twice = mesh.indices().iter().map(|corners| {
            let [a, b, c] = corners.map(|vertex| mesh.positions()[vertex as usize]);
            (b - a).cross(c - a).length()
        });
        (volume(&mesh), lowest, highest, 0.5 * twice.sum::<f64>())
    };
    let plain = size("");
    let (radius, d) = ((plain.0 * 0.75 / PI).cbrt(), 0.01);
    let least = 4.0 / 3.0 * PI * ((radius + d).powi(3) - radius.powi(3));
    let most = plain.3 * d * (1.0 + d / radius).powi(2);
    let grown = size("{ dilate distance=\"1 cm\" }");
    let growth = grown.0 - plain.0;
    assert!(growth > 0.99 * least && growth < most, "{least} {growth} {most}");
    let back = size("{ dilate distance=\"1 cm\"; erode distance=\"1 cm\" }");
    assert!((back.0 / plain.0 - 1.0).abs() < 0.02, "{plain:?} {back:?}");
    let half = size("{ dilate distance=\"1 cm\" within=\"lower\" transition=\"1 mm\" }");
    assert!(((half.0 - plain.0) / growth - 0.5).abs() < 0.05, "{plain:?} {half:?}");
    assert!((half.1 - grown.1).abs() < 1e-3 && (half.2 - plain.2).abs() < 1e-3, "{half:?}");
    let cut = size("{ soften method=\"gaussian\" reach=2; subtract with=\"lower\" }");
    assert!((cut.0 / plain.0 - 0.5).abs() < 0.02 && (cut.1 - 1.0).abs() < 1e-3, "{cut:?}");
}

/// Same bytes for any number of threads, with filters.
#[test]
fn a_mesh_is_the_same_on_any_number_of_threads() {
    let text = ball("", "trail=\"10 ms\" { soften }", "format=\"usd\"");
    let bytes = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let folder = pool.install(|| made(&text));
        [1, 2].map(|n| {
            std::fs::read(folder.path().join(format!("cache/water-surface.{n:04}.usdc"))).unwrap()
        })
    };
    assert!(bytes(1) == bytes(3), "threads show");
}

#[test]
fn before_anything_is_there_the_mesh_is_empty() {
    let folder = made(
        r#"
        setup "late" frames=3
        input "nozzle" { points at="0 1 0 m" }
        group "water" {
            particles "drops" radius="1 cm"
            emit input="nozzle" rate="1000 Hz" start="60 ms"
            surface
        }
        gravity
        output dir="cache" format="ply"
        render enabled=#false
        "#,
    );
    let first = undine_io::read(&folder.path().join("cache/water-surface.0001.ply")).unwrap();
    assert_eq!(first.points.positions.len(), 0);
    let (last, _) = frame(folder.path(), 3);
    assert!(matches!(last.points.channels["v"], Values::Vec3(_) | Values::DVec3(_)));
}

/// What is wrong is said where it stands, with what would be right.
#[test]
fn mistakes_are_found_before_a_run() {
    let folder = TempDir::new().unwrap();
    for (surface, said) in [
        ("filters=\"ball\"", "filters are not named"),
        ("{ scatter spacing=\"1 cm\" }", "`scatter` does not change distances"),
        ("{ dilate }", "`dilate` needs `distance`"),
        ("{ soften reach=9 }", "8"),
        ("{ soften within=\"bal\" }", "did you mean `ball`"),
        ("{ smoothen }", "no parameter `smoothen`"),
        ("scale=0", "scale"),
        ("method=\"ellipsoid\"", "ellipsoids"),
        ("voxel=\"2 kg\"", "voxel"),
        ("of=\"ball\"", "no Object or Group `ball`"),
    ] {
        let report = load(folder.path(), &ball("", surface, "")).expect_err(surface);
        assert!(report.contains(said) && report.contains("scene.kdl:8"), "{surface}:\n{report}");
    }
    // Voxels that particles would fall between.
    let scene = load(folder.path(), &ball("", "voxel=\"20 cm\"", "")).unwrap();
    let error = run(&scene, &Options::default(), &mut ()).expect_err("voxels are too large");
    let said = error.to_string();
    assert!(said.contains("water/surface") || said.contains("voxel"), "{said}");
}

/// Blender shows the mesh that we wrote, with the velocity that it blurs motion by, from USD and from PLY.
#[cfg(feature = "peer-python")]
#[test]
fn peer_blender_opens_the_mesh_with_its_velocity() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peer/surface.py");
    let usd = made(&ball("", "", ""));
    let ply = made(&ball("", "", "format=\"ply\""));
    let file = ply.path().join("cache/water-surface.0002.ply");
    let stage = usd.path().join("cache/ball.usda");
    let words = [stage.to_str().unwrap(), "water_surface", "2", file.to_str().unwrap()];
    let said = peers::python(&script, words);
    let answer = said.lines().rfind(|line| line.starts_with('{')).expect("an answer");
    let answer: serde_json::Value = serde_json::from_str(answer).unwrap();
    let (geometry, mesh) = frame(ply.path(), 2);
    let vectors_of = |value: &serde_json::Value| -> Vec<DVec3> {
        let all: Vec<[f64; 3]> = serde_json::from_value(value.clone()).unwrap();
        all.into_iter().map(DVec3::from_array).collect()
    };
    // Blender turns a stage to its own axis, z up, and takes PLY as it is.
    let turned: fn(DVec3) -> DVec3 = |at| undine_io::UpAxis::Z.to_file(at);
    let as_it_is: fn(DVec3) -> DVec3 = |at| at;
    for (from, channel, way) in [("usd", "velocity", turned), ("ply", "v", as_it_is)] {
        let found = &answer[from];
        let triangles: Vec<[u32; 3]> = serde_json::from_value(found["triangles"].clone()).unwrap();
        assert_eq!(triangles, mesh.indices(), "{from}");
        let near = |found: Vec<DVec3>, wanted: &[DVec3]| {
            found.len() == wanted.len()
                && found.iter().zip(wanted).all(|(a, b)| a.distance(way(*b)) < 1e-4)
        };
        assert!(near(vectors_of(&found["vertices"]), mesh.positions()), "{from}: elsewhere");
        let attributes = &found["attributes"];
        assert!(
            near(vectors_of(&found["vectors"][channel]), &vectors(&geometry, "v")),
            "{from}: {attributes}"
        );
    }
}
