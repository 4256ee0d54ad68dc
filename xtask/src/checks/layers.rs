//! The arrows between crates: a crate may use the rows below its own, never its own row or one above.
//!
//! Siblings that cannot see each other are what keeps coupling code for a pair of phenomena from being written.

use crate::cargo::root;
use crate::metadata::Package;
use std::path::Path;

/// The layers, from the top down, and the crates of each. To add a crate, add its name to its row.
const LAYERS: &[(&str, &[&str])] = &[
    ("faces", &["undine-cli", "undine-py", "undine-web"]),
    ("assembly", &["undine"]),
    (
        "phenomena",
        &["undine-liquid", "undine-gas", "undine-solid", "undine-particles", "undine-scene"],
    ),
    ("shared", &["undine-fluid", "undine-actions"]),
    ("pipeline", &["undine-sim", "undine-render"]),
    ("tools", &["undine-geometry", "undine-linsolve", "undine-io", "undine-ax", "undine-ocean"]),
    ("ground", &["undine-core", "undine-schema", "undine-vdb"]),
];

/// Programs beside the layers, and their folders: they may use every crate, and nothing may use them.
const BESIDE: &[(&str, &str)] =
    &[("xtask", "xtask"), ("bench", "bench"), ("validation", "tests/validation")];

/// What tests stand on: every crate may use it, and it uses none of ours.
const FOR_TESTS: &[(&str, &str)] = &[("mpirun", "tests/mpirun"), ("peers", "tests/peers")];

/// Checks where the members of the workspace stand, and whom they use.
pub fn check(members: &[Package]) -> Vec<String> {
    members.iter().flat_map(|package| check_package(package, &root())).collect()
}

fn check_package(package: &Package, root: &Path) -> Vec<String> {
    let name = &package.name;
    let mut findings = Vec::new();

    // Where it stands.
    let folder = package.folder.strip_prefix(root).unwrap_or(&package.folder);
    let beside = BESIDE.iter().chain(FOR_TESTS).find(|(beside, _)| beside == name);
    let row = row_of(name);
    let home = match (beside, row) {
        (Some((_, home)), _) => home.to_string(),
        (None, Some(_)) => format!("crates/{name}"),
        (None, None) => {
            return vec![format!(
                "`{name}` has no layer: add it to its row of LAYERS in xtask/src/checks/layers.rs and to ARCHITECTURE.md"
            )];
        }
    };
    if folder != Path::new(&home) {
        findings.push(format!("`{name}` is in {}, but belongs in {home}", folder.display()));
    }

    // Whom it uses.
    for used in &package.dependencies {
        if FOR_TESTS.iter().any(|(scaffold, _)| scaffold == name) && row_of(used).is_some() {
            findings.push(format!(
                "`{name}` uses `{used}`, but what tests of every crate stand on uses none of them"
            ));
        } else if BESIDE.iter().any(|(beside, _)| beside == used) {
            findings.push(format!(
                "`{name}` uses `{used}`, which stands beside the crates and is nobody's dependency"
            ));
        } else if let (Some(row), Some(below)) = (row, row_of(used))
            && below <= row
        {
            findings.push(format!(
                "`{name}` ({}) uses `{used}` ({}): a crate may only use the rows below its own; move what both need down",
                LAYERS[row].0, LAYERS[below].0
            ));
        }
    }

    // One program, since each is linked by itself.
    if package.test_programs.len() > 1 {
        findings.push(format!(
            "`{name}` has {} integration-test programs ({}), but may have one: make them modules of tests/it/main.rs",
            package.test_programs.len(),
            package.test_programs.join(", ")
        ));
    }
    findings
}

fn row_of(name: &str) -> Option<usize> {
    LAYERS.iter().position(|(_, crates)| crates.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(name: &str, folder: &str, uses: &[&str]) -> Vec<String> {
        let package = Package {
            name: name.to_string(),
            folder: Path::new("/undine").join(folder),
            dependencies: uses.iter().map(|name| name.to_string()).collect(),
            ..Package::default()
        };
        check_package(&package, Path::new("/undine"))
    }

    #[test]
    fn rows_below_and_third_parties_are_free_to_use() {
        assert!(
            findings(
                "undine-liquid",
                "crates/undine-liquid",
                &["undine-fluid", "undine-core", "rayon"]
            )
            .is_empty()
        );
        assert!(findings("bench", "bench", &["undine", "undine-core"]).is_empty());
    }

    #[test]
    fn siblings_and_rows_above_are_refused() {
        for (name, used) in [
            ("undine-liquid", "undine-gas"),
            ("undine-solid", "undine-scene"),
            ("undine-core", "undine"),
        ] {
            let found = findings(name, &format!("crates/{name}"), &[used]);
            assert!(
                found.len() == 1 && found[0].contains(name) && found[0].contains(used),
                "{found:?}"
            );
        }
    }

    #[test]
    fn programs_beside_the_crates_are_nobodys_dependency() {
        assert_eq!(findings("undine", "crates/undine", &["bench"]).len(), 1);
        assert_eq!(findings("bench", "bench", &["validation"]).len(), 1);
    }

    #[test]
    fn what_tests_stand_on_is_free_to_use_and_uses_nobody() {
        assert!(findings("undine-core", "crates/undine-core", &["mpirun"]).is_empty());
        assert_eq!(findings("mpirun", "tests/mpirun", &["undine-core"]).len(), 1);
    }

    #[test]
    fn a_crate_of_no_layer_is_told_what_to_do() {
        let found = findings("undine-snow", "crates/undine-snow", &[]);
        assert!(found.len() == 1 && found[0].contains("add it to its row"), "{found:?}");
    }

    #[test]
    fn a_folder_bears_the_name_of_its_crate() {
        assert!(
            findings("undine-gas", "crates/smoke", &[])[0].contains("belongs in crates/undine-gas")
        );
        assert!(
            findings("validation", "crates/validation", &[])[0]
                .contains("belongs in tests/validation")
        );
    }

    #[test]
    fn a_second_integration_test_program_is_refused() {
        let package = Package {
            name: "undine-core".to_string(),
            folder: "/undine/crates/undine-core".into(),
            test_programs: vec!["it".to_string(), "more".to_string()],
            ..Package::default()
        };
        assert!(check_package(&package, Path::new("/undine"))[0].contains("it, more"));
    }

    #[test]
    fn no_crate_stands_in_two_rows() {
        let mut names: Vec<&str> =
            LAYERS.iter().flat_map(|(_, crates)| crates.iter().copied()).collect();
        names.extend(BESIDE.iter().chain(FOR_TESTS).map(|(name, _)| name));
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
