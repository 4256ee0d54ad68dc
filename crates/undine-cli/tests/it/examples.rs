//! Every example: it checks, its schedule is the one kept beside it, and it runs.

use crate::program::{Stage, files, succeeds};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use undine_core::glam::DVec3;
use undine_io::{Points, Values};
use undine_vdb::{Content, File, VOXELS};

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let entries = std::fs::read_dir(folder).expect("examples");
    let mut all: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.join("scene.kdl").is_file())
        .collect();
    all.sort();
    assert!(all.len() >= 5, "{all:?}");
    all
}

#[test]
fn every_example_checks_and_is_formatted() {
    for example in examples() {
        let scene = example.join("scene.kdl").display().to_string();
        assert!(succeeds(&["check", &scene]).contains("nothing is wrong"));
        succeeds(&["fmt", "--check", &scene]);
        assert!(example.join("README.md").is_file(), "{scene} has no README.md");
    }
}

/// With UNDINE_UPDATE set, writes the schedules instead.
#[test]
fn every_example_has_the_schedule_that_is_kept_beside_it() {
    for example in examples() {
        let found = succeeds(&["explain", &example.display().to_string()]);
        let kept = example.join("schedule.txt");
        if std::env::var_os("UNDINE_UPDATE").is_some() {
            std::fs::write(&kept, &found).expect("a schedule");
        }
        let wanted = std::fs::read_to_string(&kept).unwrap_or_default();
        assert!(
            found == wanted,
            "{}: run the tests with UNDINE_UPDATE=1 and look at what changed\n{found}",
            kept.display()
        );
    }
}

#[test]
fn every_example_of_a_liquid_runs_for_a_few_frames() {
    run_all(5, has_liquid);
}

#[test]
fn every_example_of_hair_runs_for_a_few_frames() {
    run_all(1, |scene| !has_liquid(scene) && has_hair(scene) && !has_air(scene));
}

#[test]
fn every_example_of_hair_in_air_runs_for_a_few_frames() {
    run_all(1, |scene| has_hair(scene) && has_air(scene));
}

/// The text of an example's scene.
fn scene_of(example: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    std::fs::read_to_string(folder.join(example).join("scene.kdl")).expect("a scene")
}

/// The scene with something else in one place, which it has to have.
fn with(scene: &str, is: &str, becomes: &str) -> String {
    assert!(scene.contains(is), "there is no {is}");
    scene.replace(is, becomes)
}

/// A scene whose points are written as PLY, which is read here, and without pictures.
fn to_be_read(scene: &str) -> String {
    let scene = with(scene, "output dir=\"cache\"", "output dir=\"cache\" format=\"ply\"");
    scene + "render enabled=#false\n"
}

/// The points of an Object in a frame.
fn points(stage: &Stage, object: &str, frame: i64) -> Points {
    let file = stage.cache().join(format!("{object}.{frame:04}.ply"));
    undine_io::read(&file).expect("a frame").points
}

/// How far a point of an Object has gone from where it was in the first frame, at most, until each of these frames [m].
fn farthest(stage: &Stage, object: &str, frames: std::ops::RangeInclusive<i64>) -> f64 {
    let first = points(stage, object, 1).positions;
    let moved = |frame: i64| {
        let there = points(stage, object, frame).positions;
        assert_eq!(there.len(), first.len());
        there.iter().zip(&first).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
    };
    frames.map(moved).fold(0.0, f64::max)
}

/// Without its wind, hair in the wind is a hair solver: there is no air, and the hair hangs on, sag-free as it is: within 1e-3 of its length. With a
/// tenth of its strands, of which each finds its shape by itself.
#[test]
fn hair_in_the_wind_hangs_still_without_its_wind() {
    let scene = with(&scene_of("hair-in-the-wind"), "count=2700", "count=270");
    let stage = Stage::new(&to_be_read(&scene));
    let off = ["--set", "wind.disabled=#true"];
    succeeds(&[&["run", &stage.scene(), "--quiet", "--frames", "4"][..], &off].concat());
    let names: Vec<String> = files(&stage.cache()).into_keys().collect();
    assert!(!names.iter().any(|name| name.ends_with(".vdb")), "there is no air: {names:?}");
    let count = points(&stage, "hair-strands", 1).positions.len();
    assert!(count > 40 * 31, "{count} vertices");
    let (moved, length) = (farthest(&stage, "hair-strands", 2..=4), 0.25);
    assert!(moved < 1e-3 * length, "it moves by {moved} m");
}

/// The velocity along x in the cells of air in a frame [m/s], by where these are [m].
fn wind(stage: &Stage, frame: i64) -> Vec<(DVec3, f64)> {
    let path = stage.cache().join(format!("wind-air.{frame:04}.vdb"));
    let grid = File::open(path).expect("a frame").grid_named("vel").expect("a velocity");
    let Content::Vec3s(tree) = grid.content else { panic!("a velocity is a vector") };
    let mut all = Vec::new();
    for (origin, values) in tree.leaves.origins.iter().zip(tree.leaves.values.chunks(VOXELS)) {
        for (n, value) in values.iter().enumerate() {
            let cell = [n >> 6, n >> 3 & 7, n & 7].map(|c| c as i32);
            let cell = std::array::from_fn(|axis| f64::from(origin[axis] + cell[axis]));
            all.push((DVec3::from_array(grid.transform.world(cell)), f64::from(value[0])));
        }
    }
    all
}

/// Without its hair it is a wind tunnel with a head in it. In half a second the wind of 5 m/s goes through it more than once: behind the head it
/// blows as it comes in, but for a lee of about the head's width. In cells of twice the size.
#[test]
fn hair_in_the_wind_is_a_wind_tunnel_without_its_hair() {
    let scene = with(&scene_of("hair-in-the-wind"), "voxel=\"2 cm\"", "voxel=\"4 cm\"");
    let stage = Stage::new(&to_be_read(&scene));
    let off = ["--set", "hair.disabled=#true"];
    succeeds(&[&["run", &stage.scene(), "--quiet", "--frames", "12"][..], &off].concat());
    let names: Vec<String> = files(&stage.cache()).into_keys().collect();
    assert!(!names.iter().any(|name| name.contains("strands")), "there is no hair: {names:?}");
    let (wind, inflow, head) = (wind(&stage, 12), 5.0, 0.09);
    // The mean at these places along the wind, and these distances from its axis through the head [m].
    let mean = |along: std::ops::Range<f64>, from_axis: std::ops::Range<f64>| {
        let is_there = |at: &DVec3| along.contains(&at.x) && from_axis.contains(&at.y.hypot(at.z));
        let there: Vec<f64> =
            wind.iter().filter(|(at, _)| is_there(at)).map(|(_, speed)| *speed).collect();
        assert!(there.len() >= 10, "{} cells", there.len());
        there.iter().sum::<f64>() / there.len() as f64
    };
    let (behind, lee) = (mean(0.3..0.45, 2.0 * head..0.4), mean(head..0.3, 0.0..0.7 * head));
    assert!((behind / inflow - 1.0).abs() < 0.05, "{behind} m/s behind");
    assert!(lee < 0.5 * inflow, "{lee} m/s in the lee");
}

/// Hair on the shaking head hangs as it is in the input as long as the head does not shake: within 1e-3 of its length, for half a second.
#[test]
fn hair_on_the_shaking_head_starts_sag_free() {
    let scene = with(&scene_of("shaking-head"), "count=1600", "count=60");
    let still = ["0 50 0 deg", "0 -50 0 deg", "0 40 0 deg"]
        .iter()
        .fold(to_be_read(&scene), |scene, turned| with(&scene, turned, "0 0 0 deg"));
    let moved = |scene: &str| {
        let stage = Stage::new(scene);
        succeeds(&["run", &stage.scene(), "--quiet", "--frames", "12"]);
        let count = points(&stage, "hair-strands", 1).positions.len();
        assert!(count >= 20 * 25, "{count} vertices");
        farthest(&stage, "hair-strands", 2..=12)
    };
    let length = 0.25;
    let (held, sags) = (moved(&still), moved(&with(&still, "sag-free=#true", "")));
    assert!(held < 1e-3 * length, "it moves by {held} m");
    assert!(sags > 0.1 * length, "without it by {sags} m, which is little");
}

/// Wet hair, dipped and moved to and fro in a third of the time, in cells that are a third larger, and half as many steps.
fn quickly_dipped() -> String {
    let changed = [
        ("key \"1.2 s\"", "key \"0.5 s\""),
        ("key \"2 s\"", "key \"0.75 s\""),
        ("key \"3 s\"", "key \"1 s\""),
        ("voxel=\"1.5 cm\"", "voxel=\"2 cm\""),
        ("substeps=4", "substeps=2"),
    ];
    let scene = to_be_read(&scene_of("wet-hair"));
    changed.iter().fold(scene, |scene, (is, becomes)| with(&scene, is, becomes))
}

/// After a second the tuft is in the water, and the water goes along: it is faster by half and more than water that hair does nothing to, which comes to
/// rest from how its particles were scattered. (It is not much: hair that is held above the water bends, and pulls as much as it is stiff.)
#[test]
fn wet_hair_is_under_water_and_moves_it() {
    let last = 23;
    let run = |scene: &str| {
        let stage = Stage::new(scene);
        succeeds(&["run", &stage.scene(), "--quiet", "--frames", &last.to_string()]);
        stage
    };
    let speed = |stage: &Stage| {
        let water = points(stage, "water-water", last);
        let velocities = water.channels.get("v").and_then(Values::vectors).expect("velocities");
        let total: f64 = velocities.iter().map(|v| v.length()).sum();
        total / velocities.len() as f64
    };
    let dipped = run(&quickly_dipped());
    // The surface, by the highest particle above each square of 2 cm.
    let square = |at: &DVec3| [at.x, at.z].map(|x| (x / 0.02).floor() as i64);
    let mut surface: BTreeMap<[i64; 2], f64> = BTreeMap::new();
    for at in points(&dipped, "water-water", last).positions {
        let top = surface.entry(square(&at)).or_insert(at.y);
        *top = top.max(at.y);
    }
    let hair = points(&dipped, "hair-strands", last).positions;
    let is_below = |at: &&DVec3| surface.get(&square(at)).is_some_and(|top| at.y < *top);
    let below = hair.iter().filter(is_below).count();
    assert!(below > hair.len() / 4, "{below} of {} vertices are under water", hair.len());

    let scene = with(&quickly_dipped(), "\ncoupled-drag\n", "\n");
    let apart = run(&with(&scene, "\ncoupled-buoyancy\n", "\n"));
    let (found, without) = (speed(&dipped), speed(&apart));
    assert!(found > 1.5 * without, "{found} m/s, and {without} m/s without hair");
}

/// The ball of the curtain goes through it in a second and a half, evenly. The middle line of no cord gets into it, and those in its way go along.
#[test]
fn no_cord_of_the_curtain_is_inside_of_the_ball() {
    let (last, takes) = (24, 1.5);
    let changed = [
        (" interpolation=\"cubic\"", ""),
        ("key \"2.5 s\"", "key \"1.5 s\""),
        ("columns=64", "columns=32"),
    ];
    let scene = to_be_read(&scene_of("curtain"));
    let scene = changed.iter().fold(scene, |scene, (is, becomes)| with(&scene, is, becomes));
    for key in ["-4 26 -26 cm", "4 26 40 cm", "sphere radius=\"9 cm\""] {
        assert!(scene.contains(key), "there is no {key}");
    }
    let stage = Stage::new(&scene);
    succeeds(&["run", &stage.scene(), "--quiet", "--frames", &last.to_string()]);
    let (from, to) = (DVec3::new(-0.04, 0.26, -0.26), DVec3::new(0.04, 0.26, 0.4));
    for frame in 1..=last {
        let ball = from.lerp(to, (frame - 1) as f64 / 24.0 / takes);
        let cords = points(&stage, "cords", frame).positions;
        let nearest = cords.iter().map(|at| at.distance(ball)).fold(f64::MAX, f64::min);
        assert!(
            nearest > 0.09,
            "a vertex is {nearest} m from the middle of the ball in frame {frame}"
        );
    }
    let moved = farthest(&stage, "cords", last..=last);
    assert!(moved > 0.05, "cords are moved by {moved} m");
}

#[test]
fn every_other_example_runs_for_a_few_frames() {
    run_all(5, |scene| !has_liquid(scene) && !has_hair(scene));
}

fn has_liquid(scene: &str) -> bool {
    scene.contains("hybrid ")
}

fn has_air(scene: &str) -> bool {
    scene.contains("volume ")
}

fn has_hair(scene: &str) -> bool {
    scene.contains("curves ")
}

/// Runs the examples whose scene, as it is written, is wanted: at least so many.
fn run_all(at_least: usize, is_wanted: impl Fn(&str) -> bool) {
    let written =
        |example: &PathBuf| std::fs::read_to_string(example.join("scene.kdl")).expect("a scene");
    let wanted: Vec<PathBuf> =
        examples().into_iter().filter(|example| is_wanted(&written(example))).collect();
    assert!(wanted.len() >= at_least, "{wanted:?}");
    for example in wanted {
        let cache = TempDir::new().expect("a temporary folder");
        let set = format!("output.dir={}", cache.path().join("cache").display());
        let scene = example.display().to_string();
        // Coarser than it is meant to be: whether it runs is the question here.
        let run = ["run", &scene, "--quiet", "--set", &set, "--frames", "2", "--quality", "0.4"];
        succeeds(&run);
        let frames = std::fs::read_dir(cache.path().join("cache-quality-0.4")).expect("a cache");
        let count = frames.filter(|entry| {
            let Ok(entry) = entry else { return false };
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.ends_with(".0002.usdc") || name.ends_with(".0002.vdb")
        });
        assert!(count.count() > 0, "{scene} wrote no second frame");
        let check = ["check", &scene, "--set", &set, "--frames", "2", "--quality", "0.4"];
        let told = succeeds(&check);
        assert_estimated(&scene, &told, &cache.path().join("cache-quality-0.4"));
    }
}

/// What `check` says of memory and disk is half and twice of what a run of two frames has taken, where it does not say why nobody knows.
fn assert_estimated(scene: &str, told: &str, cache: &Path) {
    let stats = std::fs::read_to_string(cache.join("stats.jsonl")).expect("statistics");
    let last: serde_json::Value =
        serde_json::from_str(stats.lines().last().unwrap_or_default()).expect("a line of JSON");
    let memory = last["memory"].as_f64().expect("a number of bytes");
    let manifest = std::fs::read(cache.join("manifest.json")).expect("a manifest");
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).expect("a manifest");
    let of_frame = |n: usize| -> f64 {
        let files = manifest["frames"][n]["files"].as_array().expect("files");
        files.iter().filter_map(|file| file["length"].as_f64()).sum()
    };
    // `4.4 MB for the first frame, for the last about 4.4 MB`, or `unknown, because …`.
    let bytes = |words: &[&str]| -> f64 {
        let [number, unit] = [words[0], words[1].trim_end_matches(',')];
        let units = ["bytes", "kB", "MB", "GB"];
        let unit = units.iter().position(|known| *known == unit).expect(told);
        number.parse::<f64>().expect(told) * 1000_f64.powi(unit as i32)
    };
    for (name, first, last) in [("memory", memory, memory), ("disk", of_frame(0), of_frame(1))] {
        let line = told.lines().find(|line| line.trim_start().starts_with(name)).expect(told);
        let words: Vec<&str> = line.split_whitespace().collect();
        if words[1] == "unknown," {
            assert!(line.contains("because `") && name == "memory", "{line}");
            continue;
        }
        let is_near = |said: f64, is: f64| said < 2.0 * is + 1000.0 && said > 0.5 * is - 1000.0;
        assert!(is_near(bytes(&words[1..]), first), "{scene}: {first} bytes, and {line}");
        let at = words.iter().position(|word| *word == "last").expect(told) + 1;
        match words[at] {
            "about" => {
                assert!(is_near(bytes(&words[at + 1..]), last), "{scene}: {last} bytes, and {line}")
            }
            word => {
                assert_eq!(word, "unknown,", "{line}");
                assert!(line.contains("because `") || line.contains("because the"), "{line}");
            }
        }
    }
}
