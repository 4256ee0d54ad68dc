//! The table of contents: every benchmark, in the order of `--list`, and how to find one by name.

use crate::harness::Benchmark;
use crate::{
    ccd, closest, direct, flip_dam, flip_scale, groom, hair, lcp, manybodies, mesh_sdf, neighbours,
    particle_flight, poisson, poisson_cut, rebucketize, redistance, render_mesh, render_points,
    render_volume, smoke, stencil, surface, transfer, triad, vdb_read, vdb_write, viscosity, wind,
};
use undine_schema::spelling::alike;

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
    &surface::BENCHMARK,
    &particle_flight::BENCHMARK,
    &hair::BENCHMARK,
    &groom::BENCHMARK,
    &wind::BENCHMARK,
    &flip_dam::BENCHMARK,
    &flip_scale::BENCHMARK,
    &smoke::BENCHMARK,
    &render_mesh::BENCHMARK,
    &render_points::BENCHMARK,
    &render_volume::BENCHMARK,
    &vdb_write::BENCHMARK,
    &vdb_read::BENCHMARK,
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
        nearest: alike(name, BENCHMARKS.iter().map(|benchmark| benchmark.name)),
    })
}

fn did_you_mean(nearest: &[&str]) -> String {
    match nearest {
        [] => "; `--list` lists them".to_owned(),
        names => format!("; did you mean {}?", names.join(" or ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

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
