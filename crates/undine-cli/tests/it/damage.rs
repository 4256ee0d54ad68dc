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
