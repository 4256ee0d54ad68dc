//! Manifests that somebody else wrote.

use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use undine::cache::faults::FaultyDisk;
use undine::cache::{CacheError, MANIFEST, read_manifest_on};

use super::{FOLDER, Run};

/// What reading these bytes as a manifest gives.
fn read(bytes: &[u8]) -> Result<(), CacheError> {
    let disk = FaultyDisk::default();
    disk.put(&Path::new(FOLDER).join(MANIFEST), bytes);
    read_manifest_on(Arc::new(disk), Path::new(FOLDER)).map(drop)
}

fn good() -> String {
    let disk = FaultyDisk::default();
    Run::default().go(Arc::new(disk.clone()), Path::new(FOLDER)).unwrap();
    String::from_utf8(disk.files()[MANIFEST].clone()).unwrap()
}

#[test]
fn a_manifest_that_is_not_ours_is_refused_with_its_path() {
    let good = good();
    read(good.as_bytes()).unwrap();
    let deep = "[".repeat(100_000);
    let mut bad = vec![
        String::new(),
        "{}".into(),
        "null".into(),
        "\0\0\0\0".into(),
        deep,
        good[..good.len() / 2].into(),
    ];
    let changes = [
        ("liquid.1001.ply", "../../liquid.1001.ply"),
        ("liquid.1001.ply", "/etc/passwd"),
        ("liquid.1001.ply", "liquid.1002.ply"),
        ("liquid.1001.ply", "..\\\\liquid.1001.ply"),
        ("liquid.1001.ply", MANIFEST),
        ("spray.1001.bgeo.sc", "liquid.1001.ply"),
        ("checkpoint.1004.undine", "checkpoint.1005.undine"),
        ("checkpoint.1004.undine", "../checkpoint.1004.undine"),
        ("\"frame\": \"1002\"", "\"frame\": \"1000\""),
        ("\"frame\": 1004", "\"frame\": 1006"),
        ("\"frame\": \"1001+1/2\"", "\"frame\": \"1001+1/0\""),
        ("\"length\": 100", "\"length\": -1"),
        ("\"length\": 100", "\"length\": 1e400"),
        ("\"crc32\": \"", "\"crc32\": \"+"),
        ("\"every\": 2", "\"every\": 0"),
        ("1300 kg/m3", "1400 kg/m3"),
        ("undine cache", "another cache"),
        ("\"frames\"", "\"leaving\": [\"/etc/passwd\"], \"frames\""),
        ("\"frames\"", "\"leaving\": [\"../liquid.1001.ply\"], \"frames\""),
        ("\"frames\"", "\"unheard-of\": 1, \"frames\""),
    ];
    for (from, to) in changes {
        assert!(good.contains(from), "{from}");
        bad.push(good.replacen(from, to, 1));
    }
    for text in bad {
        let shown = text.chars().take(60).collect::<String>();
        match read(text.as_bytes()) {
            Err(error @ CacheError::Manifest { .. }) => {
                let told = error.to_string();
                assert!(
                    told.contains("/shots/cache/manifest.json") && told.contains("--fresh"),
                    "{told}"
                );
                assert!(told.len() < 400, "{told}");
            }
            other => panic!("{shown}: {other:?}"),
        }
    }
}

#[test]
fn another_version_of_the_format_is_refused_with_both_named() {
    let later = r#"{ "format": "undine cache", "version": 7, "undine": "9.1.0", "frames": { "new": "shape" } }"#;
    let told = read(later.as_bytes()).unwrap_err().to_string();
    assert!(["version 7", "version 1", "9.1.0"].iter().all(|part| told.contains(part)), "{told}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_manifest_with_any_byte_changed_is_read_or_refused(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = good().into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let told = matches!(read(&bytes), Ok(()) | Err(CacheError::Manifest { .. } | CacheError::Version { .. }));
        prop_assert!(told);
    }
}
