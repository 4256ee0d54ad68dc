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
            .filter(|(name, _)| name.ends_with(".ply"))
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
    let first = "balls.0001.ply";
    assert_eq!(files(&stage.cache())[first], before[first]);
    succeeds(&["run", &stage.scene(), "--quiet", "--fresh", "--frames", "1-3"]);
    assert_ne!(files(&stage.cache())[first], before[first]);
    assert_eq!(files(&stage.cache()).keys().filter(|name| name.ends_with(".ply")).count(), 3);
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
