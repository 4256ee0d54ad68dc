//! What `cargo metadata` says about the workspace, cut down to what the checks read.

use crate::cargo::cargo;
use serde_json::Value;
use std::path::PathBuf;

/// A package: one of ours, or a third party's.
#[derive(Debug, Clone, Default)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its SPDX expression.
    pub licence: Option<String>,
    /// Where cargo fetched it from; `None` for one of ours.
    pub source: Option<String>,
    /// The folder of its manifest.
    pub folder: PathBuf,
    /// Names of its features.
    pub features: Vec<String>,
    /// Names of the packages that it asks for, for whatever purpose.
    pub dependencies: Vec<String>,
    /// Names of its integration-test programs.
    pub test_programs: Vec<String>,
}

/// The packages of the workspace and nothing else. Needs no network.
pub fn members() -> Result<Vec<Package>, String> {
    read(&["--no-deps"])
}

/// Every package that any feature on any platform may bring in, ours included.
pub fn all_packages() -> Result<Vec<Package>, String> {
    read(&["--all-features"])
}

/// The folder in which cargo builds.
pub fn target_folder() -> Result<PathBuf, String> {
    let json = ask(&["--no-deps"])?;
    let folder = json["target_directory"].as_str().map(PathBuf::from);
    folder.ok_or_else(|| "cargo metadata names no target folder".to_string())
}

fn read(arguments: &[&str]) -> Result<Vec<Package>, String> {
    Ok(list(&ask(arguments)?["packages"]).map(package).collect())
}

fn ask(arguments: &[&str]) -> Result<Value, String> {
    let output = cargo(&["metadata", "--format-version", "1", "--quiet"])
        .args(arguments)
        .output()
        .map_err(|why| format!("cannot run cargo metadata: {why}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata failed:\n{}", String::from_utf8_lossy(&output.stderr)));
    }
    serde_json::from_slice(&output.stdout).map_err(|why| format!("cargo metadata: {why}"))
}

fn package(json: &Value) -> Package {
    let text = |key: &str| json[key].as_str().map(str::to_string);
    let manifest = PathBuf::from(text("manifest_path").unwrap_or_default());
    let is_test = |target: &&Value| list(&target["kind"]).any(|kind| kind == "test");
    Package {
        name: text("name").unwrap_or_default(),
        version: text("version").unwrap_or_default(),
        licence: text("license"),
        source: text("source"),
        folder: manifest.parent().map(PathBuf::from).unwrap_or_default(),
        features: json["features"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, _)| name.clone())
            .collect(),
        dependencies: list(&json["dependencies"]).filter_map(name_of).collect(),
        test_programs: list(&json["targets"]).filter(is_test).filter_map(name_of).collect(),
    }
}

fn list(json: &Value) -> impl Iterator<Item = &Value> {
    json.as_array().into_iter().flatten()
}

fn name_of(json: &Value) -> Option<String> {
    json["name"].as_str().map(str::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_workspace_is_read() {
        let members = members().expect("cargo metadata runs");
        let core = members
            .iter()
            .find(|package| package.name == "undine-core")
            .expect("the core is a member");
        assert!(core.folder.ends_with("crates/undine-core"));
        assert_eq!(core.licence.as_deref(), Some("Apache-2.0 OR MIT"));
        assert_eq!(core.source, None);
        assert_eq!(core.test_programs, ["it"]);
        assert!(core.features.contains(&"mpi".to_string()));
        assert!(core.dependencies.contains(&"glam".to_string()));
    }
}
