//! `cargo xtask test`: the whole list of what makes a tree good, top to bottom.

mod budget;
mod docs;
mod doctests;
mod programs;
mod validation;

use crate::arguments::Tier;
use crate::cargo::{CARGO_LIMIT, cargo, one_build, passes};
use crate::checks;
use crate::metadata;
use crate::report::{Outcome, Report};
use crate::setup;
use budget::Budget;

/// Does everything that belongs to `tier`. True when all of it passed.
pub fn run(tier: Tier) -> Result<bool, String> {
    let mut report = Report::new();
    let mut features = Vec::new();
    report.step("set-up", || {
        let setup = setup::run();
        features = setup.features();
        match setup.failed() {
            true => Err(format!("could not install {}", setup.missing())),
            false if setup.complete() => Ok(Outcome::of(true)),
            false => Ok(Outcome::skipped(format!("without {}", setup.missing()))),
        }
    });
    report.start_clock();
    let members = metadata::members()?;
    let build = one_build(&members, &features);
    let budget = Budget::of(tier);
    let with_default = tier >= Tier::Default;

    report.step("format", || passes(&mut cargo(&["fmt", "--all", "--check"]), CARGO_LIMIT));
    report.step("clippy", || {
        passes(
            cargo(&["clippy", "--all-targets"]).args(&build).args(["--", "-D", "warnings"]),
            CARGO_LIMIT,
        )
    });
    if with_default {
        report.step("docs", || docs::check(&build));
        report.step("arrows between crates", || Ok(Outcome::of_check(&checks::arrows(&members))));
        report.step("licences", || {
            Ok(Outcome::of_check(&checks::licences(&metadata::all_packages()?)))
        });
        report.step("source", || Ok(Outcome::of_check(&checks::source()?)));
    }

    let (mut built, mut slow) = (None, Vec::new());
    report.step("build tests", || {
        built = Some(programs::build(&build)?);
        Ok(Outcome::of(true))
    });
    let cold = built.as_ref().is_some_and(|built| built.cold);
    report.step("tests", || match &built {
        Some(built) => programs::run(&built.programs, &budget, &mut slow),
        None => Ok(Outcome::skipped("they do not build")),
    });
    if with_default {
        report.step("doctests", || match &built {
            Some(_) => doctests::run(&build),
            None => Ok(Outcome::skipped("the crates do not build")),
        });
    }
    if tier == Tier::Full {
        report.step("validation", || validation::run(&build, &[]));
    }

    slow.extend(budget.slow_tier(report.elapsed(), cold));
    Ok(report.finish(&slow))
}

/// `cargo xtask validate`: only the validation program, with these words as its arguments.
pub fn validate(words: &[String]) -> Result<bool, String> {
    let build = one_build(&metadata::members()?, &setup::run().features());
    Ok(validation::run(&build, words)? == Outcome::of(true))
}
