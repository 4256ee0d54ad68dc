//! Starting the program, and looking at what it leaves behind.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// The program, with these words.
pub fn undine(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_undine"));
    command.args(words).env("COLUMNS", "100").stdin(Stdio::null());
    command
}

/// What came of it.
pub struct Ended {
    pub code: i32,
    pub out: String,
    pub error: String,
}

/// Runs the program to its end.
pub fn ended(words: &[&str]) -> Ended {
    of(undine(words).output().expect("the program starts"))
}

pub fn of(output: Output) -> Ended {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ended {
        code: output.status.code().unwrap_or(-1),
        out: text(&output.stdout),
        error: text(&output.stderr),
    }
}

/// Runs the program, which has to end well.
pub fn succeeds(words: &[&str]) -> String {
    let Ended { code, out, error } = ended(words);
    assert_eq!(code, 0, "undine {words:?}\n{out}\n{error}");
    out
}

/// A folder with a scene in it, gone when dropped.
pub struct Stage {
    folder: TempDir,
}

impl Stage {
    pub fn new(scene: &str) -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        std::fs::write(folder.path().join("scene.kdl"), scene).expect("a scene");
        Self { folder }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn scene(&self) -> String {
        self.path().join("scene.kdl").display().to_string()
    }

    pub fn cache(&self) -> PathBuf {
        self.path().join("cache")
    }
}

/// Every file of a cache that is compared: all but logs, statistics and the lock; pictures as `pictures/…`.
pub fn files(cache: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = files_of(cache);
    let pictures = files_of(&cache.join("pictures"));
    all.extend(pictures.into_iter().map(|(name, bytes)| (format!("pictures/{name}"), bytes)));
    all
}

fn files_of(cache: &Path) -> BTreeMap<String, Vec<u8>> {
    let exempt = ["stats.jsonl", "log.txt", "run.json", "report.html", "report", ".undine-lock"];
    let Ok(entries) = std::fs::read_dir(cache) else { return BTreeMap::new() };
    let named = entries.map(|entry| {
        let entry = entry.expect("an entry");
        (entry.file_name().to_string_lossy().into_owned(), entry.path())
    });
    named
        .filter(|(name, path)| !exempt.contains(&name.as_str()) && !path.is_dir())
        .map(|(name, path)| (name, std::fs::read(path).expect("a file")))
        .collect()
}

/// Fails with the names of files that differ.
pub fn assert_same(
    found: &BTreeMap<String, Vec<u8>>,
    wanted: &BTreeMap<String, Vec<u8>>,
    when: &str,
) {
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(found), names(wanted), "{when}");
    let differ: Vec<_> = wanted.iter().filter(|(name, bytes)| found[*name] != **bytes).collect();
    let differ: Vec<_> = differ.iter().map(|(name, _)| name).collect();
    assert!(differ.is_empty(), "{when}: {differ:?} differ");
}

/// Balls that are thrown, dragged and tied together: forces, constraints and moving Buckets.
pub const SCENE: &str = r#"
setup "thrown" fps=24 frames=24 substeps=4
input "cloud" {
    sphere radius="30 cm"
    scatter spacing="5 cm"
}
particles "balls" input="cloud" radius="5 mm" velocity="2 6 0 m/s"
gravity
drag
output dir="cache"
"#;
