//! Running again: going on, growing, redoing, and scenes that have changed.

use crate::program::{SCENE, Stage, assert_same, ended, files, succeeds};

#[test]
fn a_complete_cache_is_left_as_it_is() {
    let stage = Stage::new(SCENE);
    succeeds(&["run", &stage.scene()]);
    let before = files(&stage.cache());
    let out = succeeds(&["run", &stage.scene()]);
    assert!(out.contains("complete"), "{out}");
    assert_same(&files(&stage.cache()), &before, "after a second run");
}

#[test]
fn a_run_may_grow_and_be_redone_from_a_frame() {
    let whole = Stage::new(SCENE);
    succeeds(&["run", &whole.scene(), "--quiet"]);
    let frames = |stage: &Stage| {
        let all = files(&stage.cache());
        all.into_iter()
            .filter(|(name, _)| name.ends_with(".usdc"))
            .collect::<std::collections::BTreeMap<_, _>>()
    };
    let grown = Stage::new(SCENE);
    succeeds(&["run", &grown.scene(), "--quiet", "--frames", "1-9"]);
    assert_eq!(frames(&grown).len(), 9);
    succeeds(&["run", &grown.scene(), "--quiet"]);
    assert_same(&frames(&grown), &frames(&whole), "after growing");
    succeeds(&["run", &grown.scene(), "--quiet", "--from", "23"]);
    assert_same(&frames(&grown), &frames(&whole), "after redoing");
}

#[test]
fn the_same_bytes_for_any_number_of_threads() {
    let one = Stage::new(SCENE);
    succeeds(&["run", &one.scene(), "--quiet", "--threads", "1"]);
    let four = Stage::new(SCENE);
    succeeds(&["run", &four.scene(), "--quiet", "--threads", "4"]);
    assert_same(&files(&four.cache()), &files(&one.cache()), "with four threads");
}

#[test]
fn a_changed_scene_is_noticed_with_what_differs_and_what_to_do() {
    let stage = Stage::new(SCENE);
    succeeds(&["run", &stage.scene(), "--quiet", "--frames", "1-5"]);
    let before = files(&stage.cache());
    std::fs::write(stage.path().join("scene.kdl"), SCENE.replace("5 mm", "6 mm")).unwrap();
    let refused = ended(&["run", &stage.scene()]);
    assert_eq!(refused.code, 2, "{}", refused.error);
    for word in ["balls.radius", "0.005", "0.006", "--fresh", "--keep"] {
        assert!(refused.error.contains(word), "no {word} in\n{}", refused.error);
    }
    assert_same(&files(&stage.cache()), &before, "after refusing");
    succeeds(&["run", &stage.scene(), "--quiet", "--keep", "--frames", "1-7"]);
    let first = "balls.0001.usdc";
    assert_eq!(files(&stage.cache())[first], before[first]);
    succeeds(&["run", &stage.scene(), "--quiet", "--fresh", "--frames", "1-3"]);
    assert_ne!(files(&stage.cache())[first], before[first]);
    assert_eq!(files(&stage.cache()).keys().filter(|name| name.ends_with(".usdc")).count(), 3);
}

#[test]
fn a_damaged_checkpoint_is_noticed_and_an_older_one_taken() {
    let whole = Stage::new(SCENE);
    succeeds(&["run", &whole.scene(), "--quiet"]);
    let stage = Stage::new(SCENE);
    succeeds(&["run", &stage.scene(), "--quiet", "--frames", "1-9"]);
    let path = stage.cache().join("checkpoint.0009.undine");
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let out = succeeds(&["run", &stage.scene()]);
    assert!(out.contains("damaged"), "{out}");
    assert_same(&files(&stage.cache()), &files(&whole.cache()), "after damage");
}

#[test]
fn frames_on_the_command_line_keep_the_first_frame_of_the_scene() {
    let stage = Stage::new(&SCENE.replace("frames=24", "frames=\"1001-1024\""));
    let made = |words: &[&str]| {
        let _ = std::fs::remove_dir_all(stage.cache());
        succeeds(&[&["run", &stage.scene(), "--quiet", "--frames"], words].concat());
        let names = files(&stage.cache()).into_keys().filter(|name| name.ends_with(".usdc"));
        names.collect::<Vec<String>>()
    };
    assert_eq!(made(&["2"]), ["balls.1001.usdc", "balls.1002.usdc"]);
    // What lies before is made on the way.
    assert_eq!(made(&["1002-1003"]), ["balls.1001.usdc", "balls.1002.usdc", "balls.1003.usdc"]);
    for bad in ["1-10", "990-1010", "0", "1010-1002", "some"] {
        let refused = ended(&["run", &stage.scene(), "--frames", bad]);
        assert_eq!(refused.code, 2, "{bad}: {}", refused.error);
        assert!(refused.error.contains("--frames"), "{bad}: {}", refused.error);
    }
    let refused = ended(&["run", &stage.scene(), "--frames", "1-10"]);
    assert!(refused.error.contains("begins at frame 1001"), "{}", refused.error);
}

#[test]
fn redoing_says_how_far_it_goes_back_and_refuses_what_is_not_there() {
    let stage = Stage::new(SCENE);
    succeeds(&["run", &stage.scene(), "--quiet"]);
    let before = files(&stage.cache());
    for from in ["25", "0"] {
        let refused = ended(&["run", &stage.scene(), "--from", from]);
        assert_eq!(refused.code, 2, "{}", refused.error);
        assert!(refused.error.contains("frames 1 to 24"), "{}", refused.error);
        assert_same(&files(&stage.cache()), &before, "after refusing");
    }
    let out = succeeds(&["run", &stage.scene(), "--from", "24"]);
    assert!(out.contains("frames 0024 to 0024 are made again"), "{out}");
    // Two checkpoints are kept: those of the last two frames.
    let out = succeeds(&["run", &stage.scene(), "--from", "12"]);
    assert!(out.contains("goes back to frame 1,"), "{out}");
    assert_same(&files(&stage.cache()), &before, "after redoing");
}

/// Its nozzle speeds up before anything comes, so that how fast that is tells the length of steps where the run goes on.
#[test]
fn a_run_goes_on_with_the_same_steps_where_a_source_moves() {
    let scene = "setup \"jet\" fps=24 frames=6\ninput \"pool\" {\n    box size=\"40 10 40 cm\" centre=\"0 -80 0 cm\"\n}\n\
                 input \"nozzle\" {\n    box size=\"20 20 20 cm\"\n    transform {\n        translate {\n            key 1 \"0 0 0 m\"\n            \
                 key 3 \"0 0.02 0 m\"\n            key 6 \"0 2 0 m\"\n        }\n    }\n}\n\
                 hybrid \"water\" input=\"pool\" voxel=\"5 cm\"\nsource input=\"nozzle\" velocity=\"0 2 0 m/s\" start=\"130 ms\"\n\
                 walls\npressure\noutput dir=\"cache\"\nrender enabled=#false\n";
    let of_frames = |stage: &Stage| {
        let stats = std::fs::read_to_string(stage.cache().join("stats.jsonl")).unwrap();
        let substeps = |line: &str| {
            let frame: serde_json::Value = serde_json::from_str(line).unwrap();
            frame["substeps"].as_u64().unwrap()
        };
        stats.lines().map(substeps).collect::<Vec<_>>()
    };
    let whole = Stage::new(scene);
    succeeds(&["run", &whole.scene(), "--quiet"]);
    let parts = Stage::new(scene);
    for frames in ["1-4", "1-6"] {
        succeeds(&["run", &parts.scene(), "--quiet", "--frames", frames]);
    }
    let steps = of_frames(&whole);
    assert!(steps[3] == 1 && steps[4] > 4, "{steps:?}");
    assert_eq!(of_frames(&parts), steps);
    let (parts, whole) = (files(&parts.cache()), files(&whole.cache()));
    for name in whole.keys().filter(|name| name.starts_with("water.")) {
        assert_eq!(parts[name], whole[name], "{name}");
    }
}
