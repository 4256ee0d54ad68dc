//! The table of contents: every benchmark, in the order of `--list`, and how to find one by name.

use crate::harness::Benchmark;
use crate::{
    ccd, closest, direct, lcp, manybodies, mesh_sdf, neighbours, poisson, poisson_cut, rebucketize,
    redistance, stencil, transfer, triad, viscosity,
};

/// Every benchmark. To add one, write `src/NAME.rs` and add its line here.
pub const BENCHMARKS: &[&Benchmark] = &[
    &triad::BENCHMARK,
    &stencil::BENCHMARK,
    &transfer::BENCHMARK,
    &rebucketize::BENCHMARK,
    &neighbours::BENCHMARK,
    &poisson::BENCHMARK,
    &poisson_cut::BENCHMARK,
    &lcp::BENCHMARK,
    &manybodies::BENCHMARK,
    &viscosity::BENCHMARK,
    &direct::BENCHMARK,
    &mesh_sdf::BENCHMARK,
    &closest::BENCHMARK,
    &ccd::BENCHMARK,
    &redistance::BENCHMARK,
];

/// There is no benchmark of that name.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("no benchmark is called `{name}`{}", did_you_mean(.nearest))]
pub struct UnknownName {
    /// The name that was asked for.
    pub name: String,
    /// Names that are spelt alike, nearest first; may be empty.
    pub nearest: Vec<&'static str>,
}

/// The benchmark called `name`, or the names that come nearest.
pub fn find(name: &str) -> Result<&'static Benchmark, UnknownName> {
    let found = BENCHMARKS.iter().find(|benchmark| benchmark.name == name);
    found.copied().ok_or_else(|| UnknownName {
        name: name.to_owned(),
        nearest: nearest(name, BENCHMARKS.iter().map(|benchmark| benchmark.name)),
    })
}

fn did_you_mean(nearest: &[&str]) -> String {
    match nearest {
        [] => "; `--list` lists them".to_owned(),
        names => format!("; did you mean {}?", names.join(" or ")),
    }
}

/// Those of `names` that a person may have meant by `typed`: a third of its letters wrong at most, or a part of the name.
fn nearest<'a>(typed: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let allowed = 1 + typed.chars().count() / 3;
    let mut alike: Vec<(usize, &str)> = names
        .map(|name| (edit_distance(typed, name), name))
        .filter(|&(distance, name)| {
            distance <= allowed || (!typed.is_empty() && name.contains(typed))
        })
        .collect();
    alike.sort_by_key(|&(distance, _)| distance);
    alike.into_iter().map(|(_, name)| name).collect()
}

/// How many letters to insert, remove or replace to get from `a` to `b` (Levenshtein 1966), one row at a time.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for j in 0..b.len() {
            let replaced = diagonal + usize::from(letter != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn edit_distance_counts_insertions_removals_and_replacements() {
        assert_eq!(edit_distance("stencil", "stencil"), 0);
        assert_eq!(edit_distance("stencl", "stencil"), 1);
        assert_eq!(edit_distance("stensill", "stencil"), 2);
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("kitten", "sitting"), 3);
    }

    #[test]
    fn nearest_names_come_nearest_first_and_strangers_not_at_all() {
        let names = ["stencil", "transfer", "rebucketize", "neighbours"];
        assert_eq!(nearest("neighbors", names.into_iter()), ["neighbours"]);
        assert_eq!(nearest("bucket", names.into_iter()), ["rebucketize"]);
        assert_eq!(nearest("xyz", names.into_iter()), Vec::<&str>::new());
        assert_eq!(nearest("abd", ["abcd", "abd", "zzz"].into_iter()), ["abd", "abcd"]);
    }

    #[test]
    fn an_unknown_name_is_an_error_that_names_the_nearest() {
        let error = find("traid").err().expect("no such benchmark");
        assert_eq!(error.to_string(), "no benchmark is called `traid`; did you mean triad?");
        let error = find("zzzzzzzzz").err().expect("no such benchmark");
        assert_eq!(error.to_string(), "no benchmark is called `zzzzzzzzz`; `--list` lists them");
    }

    #[test]
    fn names_are_unique_and_none_is_called_all() {
        let names: BTreeSet<_> = BENCHMARKS.iter().map(|benchmark| benchmark.name).collect();
        assert_eq!(names.len(), BENCHMARKS.len());
        assert!(!names.contains("all"), "`all` runs every benchmark");
    }
}
