//! Frames that are missing, cut or altered: no run calls such a cache complete, and `verify` finds every one.

use crate::program::{SCENE, Stage, assert_same, ended, files, succeeds};

#[test]
fn a_cache_with_a_damaged_frame_is_not_complete_and_the_command_that_is_told_makes_it_good() {
    let stage = Stage::new(&SCENE.replace("frames=24", "frames=6"));
    succeeds(&["run", &stage.scene(), "--quiet"]);
    let whole = files(&stage.cache());
    let (cache, path) =
        (stage.cache().display().to_string(), stage.cache().join("balls.0003.usdc"));
    let out = succeeds(&["verify", &cache]);
    assert!(out.contains("6 frames and 2 checkpoints"), "{out}");
    let bytes = std::fs::read(&path).unwrap();
    let mut altered = bytes.clone();
    altered[bytes.len() / 2] ^= 1;
    for (damage, told) in [
        (None, "is missing"),
        (Some(&bytes[..bytes.len() / 2]), "bytes, not"),
        (Some(&altered), "another checksum"),
    ] {
        match damage {
            Some(bytes) => std::fs::write(&path, bytes).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
        let found = ended(&["verify", &stage.scene()]);
        assert_eq!(found.code, 5, "{}", found.error);
        for word in [told, "balls.0003.usdc", "undine run", "--from 3"] {
            assert!(found.error.contains(word), "no {word} in\n{}", found.error);
        }
        assert_eq!(ended(&["verify", &cache, "--quiet"]).code, 5);
        for _ in 0..2 {
            let refused = ended(&["run", &stage.scene()]);
            assert_eq!(refused.code, 5, "{told}: {}{}", refused.out, refused.error);
            assert!(!refused.out.contains("complete"), "{}", refused.out);
            let again = refused.error.lines().find(|line| line.contains("  again")).unwrap();
            assert!(again.ends_with("--from 3"), "{again}");
        }
        succeeds(&["run", &stage.scene(), "--quiet", "--from", "3"]);
        assert_same(&files(&stage.cache()), &whole, told);
    }
    assert!(succeeds(&["run", &stage.scene()]).contains("complete"));
}

#[test]
fn verify_finds_damaged_checkpoints_and_copies_and_refuses_what_is_no_cache() {
    let stage = Stage::new(&SCENE.replace("frames=24", "frames=3"));
    succeeds(&["run", &stage.scene(), "--quiet"]);
    let path = stage.path().display().to_string();
    for name in ["checkpoint.0002.undine", "manifest.copy.json"] {
        let file = stage.cache().join(name);
        let bytes = std::fs::read(&file).unwrap();
        std::fs::write(&file, &bytes[1..]).unwrap();
        let found = ended(&["verify", &path]);
        assert_eq!(found.code, 5, "{}", found.error);
        assert!(found.error.contains(name), "{}", found.error);
        std::fs::write(&file, bytes).unwrap();
    }
    assert!(succeeds(&["verify", &path]).contains("is whole"));
    let refused = ended(&["verify", env!("CARGO_MANIFEST_DIR")]);
    assert_eq!(refused.code, 2, "{}", refused.error);
    assert!(refused.error.contains("manifest.json"), "{}", refused.error);
}

#[test]
fn a_lost_manifest_is_told_and_a_run_writes_it_again_from_its_copy() {
    let stage = Stage::new(&SCENE.replace("frames=24", "frames=2"));
    succeeds(&["run", &stage.scene(), "--quiet"]);
    let whole = files(&stage.cache());
    let manifest = stage.cache().join("manifest.json");
    for damage in [None, Some("garbage")] {
        match damage {
            Some(text) => std::fs::write(&manifest, text).unwrap(),
            None => std::fs::remove_file(&manifest).unwrap(),
        }
        for asked in [stage.scene(), stage.cache().display().to_string()] {
            let found = ended(&["verify", &asked]);
            assert_eq!(found.code, 5, "{}", found.error);
            for word in ["manifest.json is", "manifest.copy.json is whole", "undine run"] {
                assert!(found.error.contains(word), "no {word} in\n{}", found.error);
            }
            assert!(!found.error.contains("--fresh"), "{}", found.error);
        }
        succeeds(&["run", &stage.scene(), "--quiet"]);
        assert_same(&files(&stage.cache()), &whole, "restored");
        succeeds(&["verify", &stage.scene()]);
    }
}

#[test]
fn verify_finds_what_is_wrong_with_the_scene_over_all_frames_and_a_run_writes_it_again() {
    let ball = r#"
input "ball" {
    sphere radius="10 cm" centre="0 -2 0 m"
}
collider "ball" input="ball"
"#;
    let stage = Stage::new(&format!("{}{ball}", SCENE.replace("frames=24", "frames=2")));
    succeeds(&["run", &stage.scene(), "--quiet"]);
    let whole = files(&stage.cache());
    for name in ["thrown.usda", "thrown.shapes.usdc", "balls.clips.usda"] {
        let path = stage.cache().join(name);
        let bytes = &whole[name];
        for kept in [None, Some(0), Some(20), Some(bytes.len() / 2)] {
            match kept {
                Some(kept) => std::fs::write(&path, &bytes[..kept]).unwrap(),
                None => std::fs::remove_file(&path).unwrap(),
            }
            let found = ended(&["verify", &stage.scene()]);
            assert_eq!(found.code, 5, "{name}, {kept:?}: {}{}", found.out, found.error);
            for word in [name, "`undine run` writes it again"] {
                assert!(found.error.contains(word), "no {word} in\n{}", found.error);
            }
        }
        // Another number, which can be read as well: the time of a frame, where a shape is, what a clip is called.
        let digit = |n: &usize| bytes[*n].is_ascii_digit() && bytes[n - 1] == b' ';
        let places: Vec<usize> = match name.ends_with(".usda") {
            true => (1..bytes.len()).filter(digit).skip(1).step_by(5).take(4).collect(),
            false => (100..bytes.len()).step_by(bytes.len() / 3).collect(),
        };
        for place in places {
            let mut altered = bytes.clone();
            altered[place] ^= 1;
            std::fs::write(&path, &altered).unwrap();
            let found = ended(&["verify", &stage.scene()]);
            assert_eq!(found.code, 5, "{name}, byte {place}: {}{}", found.out, found.error);
            assert!(found.error.contains(&format!("{name} is damaged")), "{}", found.error);
        }
        std::fs::write(&path, bytes).unwrap();
    }
    // One of an older version says nothing of its checksum.
    let root = String::from_utf8(whole["thrown.usda"].clone()).unwrap();
    let bare: Vec<&str> = root.lines().filter(|line| !line.starts_with("# crc32 ")).collect();
    assert!(bare.len() < root.lines().count(), "{root}");
    std::fs::write(stage.cache().join("thrown.usda"), bare.join("\n") + "\n").unwrap();
    assert!(succeeds(&["verify", &stage.scene()]).contains("is whole"));
    for name in ["thrown.usda", "thrown.shapes.usdc", "balls.clips.usda"] {
        std::fs::write(stage.cache().join(name), "").unwrap();
    }
    succeeds(&["run", &stage.scene(), "--quiet"]);
    assert_same(&files(&stage.cache()), &whole, "written again");
    assert!(succeeds(&["verify", &stage.scene()]).contains("is whole"));
}

#[test]
fn every_command_that_reads_a_damaged_file_ends_with_5() {
    let stage = Stage::new(&SCENE.replace("frames=24", "frames=3"));
    succeeds(&["run", &stage.scene(), "--quiet"]);
    let at = |name: &str| stage.path().join(name).display().to_string();
    let (one, all) = (at("cache/balls.0002.usdc"), at("cache/balls.####.usdc"));
    assert_eq!(ended(&["info", &all]).code, 0);
    let bytes = std::fs::read(&one).unwrap();
    std::fs::write(&one, &bytes[..bytes.len() / 2]).unwrap();
    for words in [
        &["info", &one][..],
        &["info", &all],
        &["info", &all, "--json"],
        &["convert", &one, &at("a.ply")],
        &["convert", &all, &at("b.####.ply")],
        &["compare", &at("cache"), &at("cache"), "--frame", "2", "--size", "32x18"],
    ] {
        let refused = ended(words);
        assert_eq!(refused.code, 5, "{words:?}: {}{}", refused.out, refused.error);
        assert!(refused.error.contains("error: "), "{words:?}: {}", refused.error);
    }
    // The others are shown all the same.
    assert!(ended(&["info", &all]).out.contains("3 frames from 1 to 3"));
}

#[test]
fn a_report_on_nothing_is_refused_and_the_one_that_is_there_stays() {
    let stage = Stage::new(&SCENE.replace("frames=24", "frames=2"));
    succeeds(&["run", &stage.scene(), "--quiet"]);
    let at = |name: &str| stage.cache().join(name);
    let page = std::fs::read(at("report.html")).unwrap();
    for (lines, told) in [("", "is empty"), ("\ngarbage\n{}\n", "line 2")] {
        std::fs::write(at("stats.jsonl"), lines).unwrap();
        let refused = ended(&["report", &stage.scene()]);
        assert_eq!(refused.code, 5, "{}{}", refused.out, refused.error);
        for word in ["stats.jsonl", told] {
            assert!(refused.error.contains(word), "no {word} in\n{}", refused.error);
        }
        assert_eq!(std::fs::read(at("report.html")).unwrap(), page);
    }
}
