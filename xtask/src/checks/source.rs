//! Things that may not stand in the source, found by reading its lines.

use crate::cargo::root;
use std::path::{Path, PathBuf};

/// Folders with Rust source.
const FOLDERS: &[&str] = &["crates", "xtask", "bench", "tests", "examples"];

/// The start of a line that is refused, and why.
const REFUSED_STARTS: &[(&str, &str)] = &[
    (
        "#[ignore",
        "a test that is not run rots; make it fast, or make it a case of tests/validation",
    ),
    (
        "/// ```ignore",
        "an example that is not compiled rots; use `no_run`, or `text` for what is not Rust",
    ),
    (
        "//! ```ignore",
        "an example that is not compiled rots; use `no_run`, or `text` for what is not Rust",
    ),
];

/// Checks the repository's files.
pub fn check() -> Result<Vec<String>, String> {
    let root = root();
    let mut findings = Vec::new();
    for folder in FOLDERS.iter().map(|folder| root.join(folder)).filter(|folder| folder.is_dir()) {
        for file in rust_files(&folder)? {
            let name = file.strip_prefix(&root).unwrap_or(&file).display().to_string();
            findings.extend(refused_lines(&name, &read(&file)?));
        }
    }
    findings.extend(cpu_settings(".cargo/config.toml", &read(&root.join(".cargo/config.toml"))?));
    Ok(findings)
}

fn refused_lines(file: &str, text: &str) -> Vec<String> {
    let reason =
        |line: &str| REFUSED_STARTS.iter().find(|(start, _)| line.trim_start().starts_with(start));
    text.lines()
        .enumerate()
        .filter_map(|(at, line)| {
            reason(line).map(|(start, why)| format!("{file}:{}: `{start}`: {why}", at + 1))
        })
        .collect()
}

/// A `target-cpu` would make programs that stop with an illegal instruction elsewhere; kernels choose at run time.
fn cpu_settings(file: &str, text: &str) -> Vec<String> {
    text.lines()
        .enumerate()
        .filter(|(_, line)| line.contains("target-cpu") && !line.trim_start().starts_with('#'))
        .map(|(at, _)| format!("{file}:{}: no `target-cpu` here: hot kernels choose their instructions at run time", at + 1))
        .collect()
}

/// All Rust files below a folder, sorted, so that findings come in the same order everywhere. Hidden folders hold what
/// is not ours (`bench/.peers`).
fn rust_files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder)
        .map_err(|why| format!("cannot list {}: {why}", folder.display()))?;
    let is_hidden =
        |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    let mut paths: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| !is_hidden(path)).collect();
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            files.extend(rust_files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(files)
}

fn read(file: &Path) -> Result<String, String> {
    std::fs::read_to_string(file).map_err(|why| format!("cannot read {}: {why}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ignored_test_is_found_with_its_line() {
        let found = refused_lines(
            "a.rs",
            "#[test]\n    #[ignore = \"slow\"]\nfn a() {}\n// not `#[ignore]` in words",
        );
        assert!(found.len() == 1 && found[0].starts_with("a.rs:2:"), "{found:?}");
    }

    #[test]
    fn an_uncompiled_example_is_found() {
        assert_eq!(refused_lines("a.rs", "/// ```ignore\n/// a();\n/// ```\n//! ```text").len(), 1);
    }

    #[test]
    fn a_processor_setting_is_found_unless_it_is_a_comment() {
        assert_eq!(
            cpu_settings("c", "rustflags = [\"-Ctarget-cpu=native\"]\n# no target-cpu here").len(),
            1
        );
    }
}
