//! The project's own commands, called as `cargo xtask COMMAND`.
//!
//! It is what the README, CI and a contributor all run, so that there is one way to know whether a tree is good.

mod arguments;
mod cargo;
mod checks;
mod gallery;
mod libtest;
mod metadata;
mod process;
mod report;
mod setup;
mod test;

use arguments::Command;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments::parse(&words) {
        Ok(Command::Help) => {
            print!("{}", arguments::HELP);
            Ok(true)
        }
        Ok(Command::Setup) => Ok(setup::run().complete()),
        Ok(Command::Test(tier)) => test::run(tier),
        Ok(Command::Validate(names)) => test::validate(&names),
        Ok(Command::Gallery(names)) => gallery::run(&names),
        Err(why) => Err(format!("{why}\n\n{}", arguments::HELP)),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::from(2)
        }
    }
}
