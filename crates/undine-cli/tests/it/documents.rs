//! Every scene in the documents is one that can be pasted, checked and run.

use crate::program::{Stage, succeeds};
use std::path::Path;

/// The blocks of KDL in a document of the repository, each with its line, that are whole scenes.
fn scenes(document: &str) -> Vec<(usize, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(document);
    let text = std::fs::read_to_string(path).expect(document);
    let mut found = Vec::new();
    let mut block: Option<(usize, String)> = None;
    for (n, line) in text.lines().enumerate() {
        match &mut block {
            None if line.trim() == "```kdl" => block = Some((n + 2, String::new())),
            None => {}
            Some(_) if line.trim() == "```" => found.extend(block.take()),
            Some((_, text)) => *text += &format!("{line}\n"),
        }
    }
    assert!(block.is_none(), "{document}: a block does not end");
    found.retain(|(_, text)| text.lines().any(|line| line.starts_with("setup ")));
    found
}

#[test]
fn every_scene_in_the_documents_checks_and_is_formatted() {
    for (document, least) in [("docs/scenes.md", 10), ("README.md", 1)] {
        let scenes = scenes(document);
        assert!(scenes.len() >= least, "{document} has {} scenes", scenes.len());
        for (line, text) in scenes {
            println!("{document}:{line}");
            let stage = Stage::new(&text);
            let out = succeeds(&["check", &stage.scene()]);
            assert!(out.contains("nothing is wrong"), "{out}");
            succeeds(&["fmt", "--check", &stage.scene()]);
        }
    }
}
