//! Every third-party package comes from crates.io, under a permissive licence, and is none that we refuse.

use super::refused::REFUSED;
use super::spdx::Expression;
use crate::metadata::Package;

/// Licences that ask for no more than attribution. A package must be usable under these alone.
const PERMISSIVE: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// The one place that packages come from.
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Checks all packages that are not ours.
pub fn check(packages: &[Package]) -> Vec<String> {
    let third_party =
        || packages.iter().filter_map(|package| Some((package, package.source.as_deref()?)));
    println!("  {} third-party packages", third_party().count());
    third_party().filter_map(|(package, source)| objection(package, source)).collect()
}

fn objection(package: &Package, source: &str) -> Option<String> {
    let who = format!("`{}` {}", package.name, package.version);
    if source != CRATES_IO {
        return Some(format!("{who} comes from {source}, but must come from crates.io"));
    }
    if let Some((_, why)) = REFUSED.iter().find(|(name, _)| *name == package.name) {
        return Some(format!(
            "{who} is refused: {why}; see who brings it with `cargo tree -i {}`",
            package.name
        ));
    }
    let Some(licence) = &package.licence else {
        return Some(format!("{who} states no licence"));
    };
    match Expression::parse(licence) {
        Err(why) => Some(format!("{who} has a licence that cannot be read, `{licence}`: {why}")),
        Ok(expression) if !expression.satisfied_by(&|name| PERMISSIVE.contains(&name)) => {
            Some(format!(
                "{who} is under `{licence}`, which none of the permissive licences in xtask/src/checks/licences.rs satisfies"
            ))
        }
        Ok(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(name: &str, licence: Option<&str>, source: &str) -> Option<String> {
        let package = Package {
            name: name.to_string(),
            licence: licence.map(str::to_string),
            ..Package::default()
        };
        objection(&package, source)
    }

    #[test]
    fn a_permissive_package_of_crates_io_passes() {
        assert_eq!(object("rayon", Some("MIT OR Apache-2.0"), CRATES_IO), None);
        assert_eq!(
            object("r-efi", Some("MIT OR Apache-2.0 OR LGPL-2.1-or-later"), CRATES_IO),
            None
        );
    }

    #[test]
    fn each_objection_names_its_reason() {
        let cases = [
            (object("a", Some("GPL-3.0-only"), CRATES_IO), "`GPL-3.0-only`"),
            (object("a", None, CRATES_IO), "no licence"),
            (object("a", Some("MIT OR"), CRATES_IO), "cannot be read"),
            (object("a", Some("MIT"), "git+https://example.org/a"), "must come from crates.io"),
            (object("bincode", Some("MIT"), CRATES_IO), "refused"),
        ];
        for (objection, reason) in cases {
            assert!(
                objection.as_ref().is_some_and(|text| text.contains(reason)),
                "{objection:?} lacks {reason}"
            );
        }
    }
}
