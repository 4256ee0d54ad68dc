//! What people get to read when a scene is wrong: one snapshot for each scene in `broken/`.

use crate::catalogue::catalogue;
use std::path::{Path, PathBuf};
use undine_scene::Scene;

/// What a scene of `broken/` says.
fn said(path: &Path, overrides: &[(String, String)]) -> String {
    let report = match Scene::load(path, &catalogue(), overrides) {
        Ok(scene) => scene.warnings,
        Err(report) => report,
    };
    let lines = report.render(100);
    lines.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// Relative to the crate, where tests run, so that messages are the same on every machine.
const FOLDER: &str = "tests/it/broken";

/// Overrides that a scene asks for in its first line: `// --set wind-speed=fast`.
fn overrides(path: &Path) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
    let typed = text.lines().take_while(|line| line.starts_with("// --set "));
    typed
        .map(|line| line["// --set ".len()..].split_once('=').unwrap())
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

#[test]
fn each_broken_scene_is_told_what_is_wrong() {
    let mut scenes: Vec<PathBuf> = std::fs::read_dir(FOLDER)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "kdl"))
        .filter(|path| !path.file_stem().unwrap().to_str().unwrap().starts_with('_'))
        .collect();
    scenes.sort();
    assert!(scenes.len() >= 45, "{} broken scenes", scenes.len());
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for scene in &scenes {
            let said = said(scene, &overrides(scene));
            assert!(!said.is_empty(), "{} is not broken", scene.display());
            insta::assert_snapshot!(scene.file_stem().unwrap().to_str().unwrap(), said);
        }
    });
}

#[test]
fn what_cannot_be_a_file_of_text_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scene.kdl");
    let mut told = String::new();
    for bytes in [
        b"setup \"a\" frames=1\ngravity \xff\xfe".to_vec(),
        b"setup \"a\" frames=1\ngravity\0".to_vec(),
        vec![b' '; 9 << 20],
    ] {
        std::fs::write(&path, bytes).unwrap();
        told += &said(&path, &[]);
    }
    let place = folder.path().display().to_string();
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    told += &said(&path, &[]);
    told += &said(&folder.path().join("none.kdl"), &[]);
    insta::with_settings!({prepend_module_to_snapshot => false, omit_expression => true}, {
        insta::assert_snapshot!("not-a-text", told.replace(&place, "folder"));
    });
}
