//! Where and on what a run was made: the machine, and the commit of the tree.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The machine in a line: processor, cores, memory.
pub fn machine() -> String {
    let cpu =
        field("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.to_string());
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let memory = field("/proc/meminfo", "MemTotal")
        .and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok())
        .map_or_else(String::new, |kibibytes| format!(", {:.0} GiB", kibibytes / 1_048_576.0));
    format!("{cpu}, {cores} cores{memory}, {}", std::env::consts::OS)
}

/// The commit that the tree stands at, and whether it was changed since.
pub fn commit() -> String {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").current_dir(root()).args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
    };
    let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) else {
        return "unknown".to_string();
    };
    // The pages that this program writes are not a change of what it measures.
    let changes =
        git(&["status", "--porcelain", "--", ".", ":!docs/validation"]).unwrap_or_default();
    if changes.is_empty() { commit } else { format!("{commit} with local changes") }
}

fn field(file: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_once(':').map(|(_, value)| value.trim().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_holds_the_workspace() {
        assert!(root().join("Cargo.lock").is_file());
    }

    #[test]
    fn machine_and_commit_say_something() {
        assert!(machine().contains("cores"));
        assert!(!commit().is_empty());
    }
}
