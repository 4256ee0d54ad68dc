//! Stages in Pixar's USD and in Blender.

use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};
use undine_core::glam::{DVec3, Vec3};
use undine_core::mesh::{Polygons, Strands};
use undine_io::usd::geometry::{self, Form, Up};
use undine_io::usd::stage::{self, Stage, StageOutput, VolumeField};
use undine_io::usd::text;
use undine_io::{Channels, Curves, Faces, Geometry, Points, Values};

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peer").join(name)
}

fn ask(name: &str, stage: &Path, times: &[&str]) -> Json {
    let words = std::iter::once(stage.as_os_str()).chain(times.iter().map(|time| time.as_ref()));
    let said = peers::python(script(name), words);
    // Blender has more to say than it is asked for.
    let answer = said.lines().last().unwrap();
    serde_json::from_str(answer.trim_start_matches("answer:")).unwrap()
}

/// So many points at a frame, and where each is.
fn count_at(frame: usize) -> usize {
    3 + frame
}

fn place(frame: usize, n: usize) -> DVec3 {
    DVec3::new(n as f64, frame as f64, -0.5)
}

fn droplets(frame: usize) -> Geometry {
    let all = 0..count_at(frame);
    let channels = Channels::from([
        ("v".into(), Values::Vec3(all.clone().map(|n| Vec3::new(n as f32, 0.0, 2.0)).collect())),
        ("pscale".into(), Values::F32(all.clone().map(|n| 0.5 + n as f32).collect())),
        ("id".into(), Values::U64(all.clone().map(|n| 100 + n as u64).collect())),
        ("age".into(), Values::F32(all.clone().map(|n| 0.25 * n as f32).collect())),
        ("my colour!".into(), Values::Vec3(all.clone().map(|_| Vec3::X).collect())),
    ]);
    let positions = all.map(|n| place(frame, n)).collect();
    Geometry { points: Points { positions, channels }, faces: None, curves: None }
}

fn surface(frame: usize) -> Geometry {
    let vertices = 2 + frame;
    let positions: Vec<DVec3> = (0..vertices).map(|n| place(frame, n)).collect();
    let v = (0..vertices).map(|n| DVec3::new(0.0, n as f64, 0.0)).collect();
    let channels = Channels::from([
        ("v".into(), Values::DVec3(v)),
        ("N".into(), Values::Vec3(vec![Vec3::Z; vertices])),
        ("mass".into(), Values::F64(vec![0.5; vertices])),
    ]);
    let faces: Vec<[u32; 3]> = (0..frame as u32).map(|n| [n, n + 1, n + 2]).collect();
    let kinds = Channels::from([("kind".into(), Values::I32((0..frame as i32).collect()))]);
    let faces = Faces { polygons: Polygons::from_faces(&faces).unwrap(), channels: kinds };
    Geometry { points: Points { positions, channels }, faces: Some(faces), curves: None }
}

fn hair(frame: usize) -> Geometry {
    let positions: Vec<DVec3> = (0..5).map(|n| place(frame, n)).collect();
    let channels = Channels::from([("pscale".into(), Values::F32(vec![0.01; 5]))]);
    let strands = Strands::open(vec![0, 2, 5]).unwrap();
    let kinds = Channels::from([("strand".into(), Values::I32(vec![7, 8]))]);
    Geometry {
        points: Points { positions, channels },
        faces: None,
        curves: Some(Curves { strands, channels: kinds }),
    }
}

/// Puts a cache of three outputs into a folder. Frame 3 is missing.
fn cache(folder: &Path, up: Up, origin: DVec3) -> PathBuf {
    let frames = [1, 2, 4];
    let mut outputs = Vec::new();
    for (name, made) in
        [("droplets", droplets as fn(usize) -> Geometry), ("surface", surface), ("fine hair", hair)]
    {
        let mut files = Vec::new();
        let mut first = None;
        for frame in frames {
            let time = Some(frame as f64);
            let form = Form { name: name.into(), time, origin, ..Form::default() };
            let mut geometry = made(frame);
            geometry.points.positions.iter_mut().for_each(|position| *position += origin);
            let layer = geometry::layer(&geometry, &form).unwrap();
            let file = format!("{name}.{frame:04}.usda");
            std::fs::write(folder.join(&file), text::write(&layer).unwrap()).unwrap();
            files.push((frame as f64, file));
            first.get_or_insert(layer);
        }
        let manifest = format!("{name}.manifest.usda");
        let output = StageOutput::of_clips(name, &first.unwrap(), &manifest, files).unwrap();
        let declared = stage::manifest(&output).unwrap();
        std::fs::write(folder.join(manifest), text::write(&declared).unwrap()).unwrap();
        outputs.push(output);
    }
    let field = |name: &str, data_type: &str, is_vector| VolumeField {
        name: name.into(),
        data_type: data_type.into(),
        class: "fogVolume".into(),
        is_vector,
    };
    let fields = vec![field("density", "float", false), field("vel", "float3", true)];
    let mut files = Vec::new();
    for frame in frames {
        let file = format!("smoke.{frame:04}.vdb");
        std::fs::write(folder.join(&file), b"").unwrap();
        files.push((frame as f64, file));
    }
    outputs.push(StageOutput::of_volume("smoke", fields, files));
    let stage = Stage {
        name: "splash".into(),
        fps: 25.0,
        first: 1.0,
        last: 4.0,
        up,
        outputs,
        data: Default::default(),
    };
    let root = folder.join("splash.usda");
    std::fs::write(&root, text::write(&stage::layer(&stage).unwrap()).unwrap()).unwrap();
    root
}

#[test]
fn usd_opens_a_cache_without_a_word_and_finds_every_value() {
    let folder = tempfile::tempdir().unwrap();
    let root = cache(folder.path(), Up::Y, DVec3::ZERO);
    let told = ask("usd_dump.py", &root, &["1", "2", "3", "4"]);
    println!("{}", serde_json::to_string_pretty(&told).unwrap());
    assert_eq!(told["complaints"], "");
    assert_eq!(told["faults"], json!([]));
}

#[test]
fn blender_shows_a_cache() {
    let folder = tempfile::tempdir().unwrap();
    let root = cache(folder.path(), Up::Y, DVec3::ZERO);
    let told = ask("usd_blender.py", &root, &["1", "2", "3", "4"]);
    println!("{}", serde_json::to_string_pretty(&told).unwrap());
}
