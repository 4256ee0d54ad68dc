//! Each command, with what people type and what they mistype.

use crate::program::{SCENE, Stage, ended, succeeds};

#[test]
fn the_first_line_promises_what_there_is() {
    let help = succeeds(&["--help"]);
    let first = help.lines().next().unwrap();
    assert!(first.contains("particles") && first.contains("rigid bodies"), "{first}");
    let absent = ["liquid", "gas", "hair", "cloth"];
    assert!(!absent.iter().any(|word| first.contains(word)), "{first}");
}

#[test]
fn check_says_what_a_run_takes() {
    let stage = Stage::new(SCENE);
    let out = succeeds(&["check", &stage.scene()]);
    for word in ["nothing is wrong", "frames     24", "particles", "memory", "disk"] {
        assert!(out.contains(word), "no {word} in\n{out}");
    }
    assert!(!stage.cache().exists());
}

#[test]
fn check_asks_about_absurd_values() {
    let stage = Stage::new(&SCENE.replace("radius=\"5 mm\"", "radius=\"40 m\""));
    let checked = ended(&["check", &stage.scene()]);
    assert_eq!(checked.code, 0, "{}", checked.error);
    assert!(checked.error.contains("40 m") && checked.error.contains("usual"), "{}", checked.error);
}

#[test]
fn a_bad_scene_ends_with_2_and_points_at_the_line() {
    let stage = Stage::new(&SCENE.replace("gravity", "gravitiy"));
    for command in ["run", "check", "explain"] {
        let refused = ended(&[command, &stage.scene()]);
        assert_eq!(refused.code, 2, "{}", refused.error);
        assert!(
            refused.error.contains("gravitiy") && refused.error.contains("`gravity`"),
            "{}",
            refused.error
        );
        assert!(refused.error.contains("scene.kdl:8"), "{}", refused.error);
    }
    assert!(!stage.cache().exists());
}

#[test]
fn what_only_the_pipeline_finds_points_at_the_line_too() {
    let stage = Stage::new(&SCENE.replace("    scatter spacing=\"5 cm\"\n", ""));
    let refused = ended(&["run", &stage.scene()]);
    assert_eq!(refused.code, 2, "{}", refused.error);
    assert!(
        refused.error.contains("scatter") && refused.error.contains("scene.kdl:6"),
        "{}",
        refused.error
    );
}

#[test]
fn what_is_wrong_with_data_points_at_its_line() {
    for (input, line, words) in [
        ("input \"cloud\" file=\"statue.ply\"", "scene.kdl:3", ["no file", "`statues.ply`"]),
        (
            "input \"cloud\" {\n    load file=\"statue.ply\"\n}",
            "scene.kdl:4",
            ["no file", "`statues.ply`"],
        ),
        (
            "input \"cloud\" {\n    sphere\n    transform\n    box\n}",
            "scene.kdl:6",
            ["source", "merge"],
        ),
        (
            "input \"cloud\" {\n    sphere\n    scatter spacing=\"1 nm\"\n}",
            "scene.kdl:5",
            ["scatter", "cells"],
        ),
    ] {
        let start = SCENE.find("input \"cloud\"").unwrap();
        let end = SCENE.find("particles \"balls\"").unwrap();
        let stage = Stage::new(&format!("{}{input}\n{}", &SCENE[..start], &SCENE[end..]));
        std::fs::write(stage.path().join("statues.ply"), "").unwrap();
        for command in ["check", "run"] {
            let refused = ended(&[command, &stage.scene()]);
            assert_eq!(refused.code, 2, "{}", refused.error);
            for word in words.iter().chain([&line]) {
                assert!(refused.error.contains(word), "no {word} in\n{}", refused.error);
            }
        }
    }
}

#[test]
fn a_file_that_is_missing_later_points_at_its_line_too() {
    let points = "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\n\
                  property float z\nend_header\n0 0 0\n";
    let stage = Stage::new(
        "setup \"a\" frames=4\ninput \"source\" file=\"drops.####.ply\"\nparticles \"drops\"\n\
         emit input=\"source\"\n",
    );
    for frame in 1..=2 {
        std::fs::write(stage.path().join(format!("drops.{frame:04}.ply")), points).unwrap();
    }
    let stopped = ended(&["run", &stage.scene()]);
    assert_eq!(stopped.code, 2, "{}\n{}", stopped.out, stopped.error);
    for word in ["drops.0003.ply", "scene.kdl:2", "frame   3", "whole to frame 2"] {
        assert!(stopped.error.contains(word), "no {word} in\n{}", stopped.error);
    }
}

#[test]
fn explain_shows_the_schedule_and_draws_it() {
    let stage = Stage::new(SCENE);
    let drawing = stage.path().join("schedule.svg");
    let out = succeeds(&["explain", &stage.scene(), "--svg", &drawing.display().to_string()]);
    assert!(out.contains("AddForces") && out.contains("balls"), "{out}");
    let svg = std::fs::read_to_string(drawing).unwrap();
    assert!(svg.starts_with("<svg") || svg.starts_with("<?xml"), "{}", &svg[..100]);
}

#[test]
fn help_explains_a_behavior_and_suggests_one() {
    let out = succeeds(&["help", "particles"]);
    for parameter in undine_particles_parameters() {
        assert!(out.contains(parameter), "no {parameter} in\n{out}");
    }
    let all = succeeds(&["help"]);
    for listed in ["gravity", "\n  verify ", "\n  surface ", "\n  compare "] {
        assert!(all.contains(listed), "no {listed} in\n{all}");
    }
    for (name, told) in [
        ("particels", "particles"),
        ("run", "`undine run --help`"),
        ("scene", "docs/scenes.md"),
        ("units", "docs/reference/units.md"),
    ] {
        let unknown = ended(&["help", name]);
        assert_eq!(unknown.code, 2);
        assert!(unknown.error.contains(told), "{}", unknown.error);
    }
}

fn undine_particles_parameters() -> [&'static str; 4] {
    ["input", "velocity", "radius", "density"]
}

#[test]
fn schema_is_json_that_names_every_behavior() {
    let schema: serde_json::Value = serde_json::from_str(&succeeds(&["schema"])).unwrap();
    let text = schema.to_string();
    for name in ["particles", "gravity", "drag", "setup", "output"] {
        assert!(text.contains(&format!("\"{name}\"")), "{name}");
    }
}

#[test]
fn fmt_lays_a_scene_out_and_checks_it() {
    let stage = Stage::new("setup \"a\" frames=2 // why\ngroup \"g\" {\ngravity\n}\n");
    assert_eq!(ended(&["fmt", "--check", &stage.scene()]).code, 1);
    succeeds(&["fmt", &stage.scene()]);
    let text = std::fs::read_to_string(stage.path().join("scene.kdl")).unwrap();
    assert!(text.contains("// why") && text.contains("    gravity"), "{text}");
    succeeds(&["fmt", "--check", &stage.scene()]);
}

#[test]
fn set_changes_an_exposed_parameter_and_a_path() {
    let scene = format!("{SCENE}expose \"size\" path=\"balls.radius\"\n");
    let stage = Stage::new(&scene);
    let with = |set: &str| succeeds(&["explain", &stage.scene(), "--set", set]);
    assert!(with("size=7 mm").contains("7 mm"), "{}", with("size=7 mm"));
    assert!(with("balls.radius=8 mm").contains("8 mm"));
    let refused = ended(&["explain", &stage.scene(), "--set", "sise=7 mm"]);
    assert_eq!(refused.code, 2);
    assert!(refused.error.contains("size"), "{}", refused.error);
}

#[test]
fn json_tells_every_frame_in_a_line() {
    let stage = Stage::new(SCENE);
    let out = succeeds(&["run", &stage.scene(), "--json", "--frames", "1-3"]);
    let lines: Vec<serde_json::Value> =
        out.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let frames: Vec<_> = lines.iter().filter(|line| line["event"] == "frame").collect();
    assert_eq!(frames.len(), 3);
    assert!(frames[2]["mass"].as_f64().unwrap() > 0.0 && frames[2]["seconds_left"].is_number());
    assert!(frames[2]["stages"]["AddForces"].is_number(), "{}", frames[2]);
}

#[test]
fn statistics_log_and_trace_stand_beside_the_cache() {
    let stage = Stage::new(SCENE);
    let trace = stage.path().join("trace.json");
    let trace_name = trace.display().to_string();
    succeeds(&["run", &stage.scene(), "--quiet", "--frames", "1-3", "--trace", &trace_name]);
    let stats = std::fs::read_to_string(stage.cache().join("stats.jsonl")).unwrap();
    assert_eq!(stats.lines().count(), 3, "{stats}");
    assert!(std::fs::read_to_string(stage.cache().join("log.txt")).unwrap().contains("frame 3"));
    let trace = std::fs::read_to_string(trace).unwrap();
    assert!(trace.contains("take forces"), "{trace}");
}

#[test]
fn too_little_memory_ends_with_4_before_it_is_taken() {
    let stage = Stage::new(&SCENE.replace("5 cm", "5 mm"));
    let refused = ended(&["run", &stage.scene(), "--memory", "2MB"]);
    assert_eq!(refused.code, 4, "{}", refused.error);
    assert!(refused.error.contains("memory budget"), "{}", refused.error);
    assert!(!stage.cache().exists());
}

/// A liquid is refused where its particles would not fit, as the air around something is.
#[test]
fn a_liquid_that_does_not_fit_into_memory_ends_with_4_and_says_what_would() {
    let stage = Stage::new(
        r#"
setup "lake" frames=2
input "lake" {
    box size="100 100 100 m"
}
hybrid "water" input="lake" voxel="2 cm"
pressure
gravity
"#,
    );
    let scene = stage.scene();
    let little = ["run", &scene, "--memory", "500MB"];
    for words in [&["check", &scene][..], &little] {
        let refused = ended(words);
        assert_eq!(refused.code, 4, "{words:?}: {}", refused.error);
        for word in ["voxel=", "TB", "would fit", "scene.kdl:6"] {
            assert!(refused.error.contains(word), "no {word} in\n{}", refused.error);
        }
    }
    let refused = ended(&["run", &scene, "--memory", "5"]);
    assert!(refused.error.contains("5 bytes"), "{}", refused.error);
}

/// Air around what is in it, far more of it than fits: `check` says so, without taking it.
#[test]
fn check_refuses_what_no_machine_has_and_says_what_a_first_step_takes() {
    let scene = |voxel: &str, padding: u32| {
        format!(
            r#"
setup "air" frames=6 cfl=3
input "ember" {{
    sphere radius="8 cm" centre="0 10 0 cm"
}}
volume "air" voxel="{voxel}" padding={padding}
stamp input="ember" temperature="400 K"
pressure
gravity
render enabled=#false
"#
        )
    };
    for (voxel, padding) in [("1 um", 1), ("2 cm", 64)] {
        let stage = Stage::new(&scene(voxel, padding));
        let refused = ended(&["check", &stage.scene()]);
        assert_eq!(refused.code, 4, "{}{}", refused.out, refused.error);
        assert!(refused.error.contains("memory budget"), "{}", refused.error);
    }
    let stage = Stage::new(&scene("2 cm", 1));
    let out = succeeds(&["check", &stage.scene()]);
    let line = out.lines().find(|line| line.contains("memory")).unwrap();
    // The ember touches three Buckets of 16 cm to a side at the most, and there is one more around these.
    assert!(line.contains(" MB in the first frame"), "{line}");
    assert!(line.contains("unknown, because the voxels of `air`"), "{line}");
}

/// A hundred thousand boxes with 220 boundary particles or more each: more than a gigabyte, which is refused before any of it is made.
#[test]
fn bodies_that_do_not_fit_are_refused_before_they_are_made() {
    let scene = r#"
setup "boxes" frames=5
input "box" {
    box size="10 10 10 cm"
}
input "places" {
    box size="40 40 40 m" centre="0 30 0 m"
    scatter count=100000
}
rigid-body "bodies" input="places" shape="box"
gravity
render enabled=#false
"#;
    let stage = Stage::new(scene);
    let refused = ended(&["run", &stage.scene(), "--memory", "200MB"]);
    assert_eq!(refused.code, 4, "{}", refused.error);
    assert!(refused.error.contains("100000 bodies with"), "{}", refused.error);
}

#[test]
fn a_run_that_goes_astray_ends_with_3_and_keeps_what_is_whole() {
    // Balls that weigh nearly nothing, in a field that grows without bound.
    let scene =
        SCENE.replace("gravity", "gravity acceleration=\"0 1e6 0 m/s2\"").replace("drag\n", "");
    let stage = Stage::new(&scene.replace("frames=24", "frames=100000"));
    let ended = ended(&["run", &stage.scene()]);
    assert_eq!(ended.code, 3, "{}", ended.error);
    for word in ["error:", "object  balls", "stage", "frame", "kept", "whole to frame", "again"] {
        assert!(ended.error.contains(word), "no {word} in\n{}", ended.error);
    }
}

#[test]
fn quality_makes_voxels_larger() {
    let stage = Stage::new(SCENE);
    let particles = |words: &[&str]| {
        let out = succeeds(words);
        let line = out.lines().find(|line| line.contains("particles")).unwrap().to_owned();
        line.split_whitespace().find_map(|word| word.parse::<u64>().ok()).unwrap()
    };
    let full = particles(&["check", &stage.scene()]);
    let half = particles(&["check", &stage.scene(), "--quality", "0.5"]);
    assert!(half * 4 < full, "{half} of {full}");
    // A quick look leaves the cache of the scene alone, in either order.
    let run = |quality: &str| {
        succeeds(&["run", &stage.scene(), "--quiet", "--frames", "2", "--quality", quality]);
    };
    run("0.5");
    assert!(!stage.cache().exists() && stage.path().join("cache-quality-0.5").is_dir());
    run("1");
    assert!(stage.cache().is_dir());
    run("0.5");
}

#[test]
fn a_disabled_input_takes_along_what_depends_on_it() {
    let scene = SCENE.replace("input \"cloud\"", "input \"cloud\" disabled=#true");
    let scene = format!("{scene}input \"floor\" disabled=#true {{\n    plane\n}}\n");
    let stage = Stage::new(&format!("{scene}collider \"floor\" input=\"floor\"\ncollision\n"));
    let out = succeeds(&["check", &stage.scene()]);
    assert!(out.contains("particles  0"), "{out}");
    let out = succeeds(&["explain", &stage.scene()]);
    assert!(out.contains("left out"), "{out}");
    succeeds(&["run", &stage.scene(), "--quiet", "--frames", "1-3"]);
}

#[test]
fn check_warns_of_a_run_that_would_stop_for_its_substeps() {
    let scene = SCENE.replace("substeps=4", "cfl=0.001 max-substeps=8");
    let stage = Stage::new(&scene);
    let checked = ended(&["check", &stage.scene()]);
    assert_eq!(checked.code, 0, "{}", checked.error);
    for word in ["substeps", "8 are allowed", "max-substeps", "`balls`", "scene.kdl:2"] {
        assert!(checked.error.contains(word), "no {word} in\n{}", checked.error);
    }
    let stopped = ended(&["run", &stage.scene()]);
    assert_eq!(stopped.code, 3, "{}", stopped.error);
    assert!(stopped.error.contains("whole to frame 1"), "{}", stopped.error);
}

#[test]
fn outputs_write_parts_of_a_scene_into_one_folder_and_no_part_twice() {
    let base = SCENE.replace("output dir=\"cache\"\n", "");
    let base = format!("{base}particles \"dust\" input=\"cloud\"\noutput of=\"balls\"\n");
    let parts = Stage::new(&format!("{base}output of=\"dust\" channels=\"v\"\n"));
    succeeds(&["run", &parts.scene(), "--quiet", "--frames", "1"]);
    for name in ["balls.0001.usdc", "dust.0001.usdc"] {
        assert!(parts.cache().join(name).is_file(), "{name}");
    }
    let twice = Stage::new(&format!("{base}output channels=\"v\"\n"));
    for command in ["check", "run"] {
        let refused = ended(&[command, &twice.scene()]);
        assert_eq!(refused.code, 2, "{}", refused.error);
        for word in ["`balls` is written", "scene.kdl:12", "`of`"] {
            assert!(refused.error.contains(word), "no {word} in\n{}", refused.error);
        }
    }
    assert!(!twice.cache().exists());
}

#[test]
fn report_takes_a_cache_or_its_scene_and_compares_two() {
    let stage = Stage::new(&SCENE.replace("frames=24", "frames=4"));
    succeeds(&["run", &stage.scene(), "--quiet"]);
    let cache = stage.cache().display().to_string();
    for run in [&cache, &stage.scene(), &stage.path().display().to_string()] {
        let out = succeeds(&["report", run]);
        for word in ["thrown", "slowest frame", "drift of mass", "report.html"] {
            assert!(out.contains(word), "no {word} in\n{out}");
        }
    }
    let page = stage.path().join("both.html").display().to_string();
    let out = succeeds(&["report", &cache, &cache, "--out", &page]);
    assert!(
        out.contains("both.html") && stage.path().join("both.plots/mass.png").exists(),
        "{out}"
    );
    let refused = ended(&["report", &stage.path().join("nothing").display().to_string()]);
    assert_eq!(refused.code, 2, "{}", refused.error);
    assert!(refused.error.contains("stats.jsonl"), "{}", refused.error);
}
