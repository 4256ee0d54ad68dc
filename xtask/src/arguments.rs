//! The words after `cargo xtask`. Few enough to read by hand, so that the first command on a new machine builds fast.

/// How much `cargo xtask test` does. Each tier includes the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// The inner loop: format, clippy, unit and integration tests.
    Quick,
    /// What CI runs: also docs, doctests, arrows between crates, licences, source rules.
    Default,
    /// Also the long validation cases.
    Full,
}

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
pub enum Command {
    /// Print the help.
    Help,
    /// Install what the tests need.
    Setup,
    /// Set up, check and test.
    Test(Tier),
    /// Run the named validation cases, or all of them.
    Validate(Vec<String>),
    /// Remake the pictures of these names, or all of them.
    Gallery(Vec<String>),
}

/// The help text.
pub const HELP: &str = "\
Undine's own commands

Usage: cargo xtask COMMAND

  test            install what is missing, check everything, run all tests (what CI runs, some 30 minutes)
  test --quick    the inner loop: format, clippy, unit and integration tests (some 2 minutes once built)
  test --full     everything, and the long validation cases
  setup           only install what the tests need
  validate        only the long validation cases; `validate NAME …` runs those named, `validate --list` lists them
  gallery         remakes the pictures of README, examples and docs; `gallery NAME …` only those of examples and pictures so named
  help            this text
";

/// Reads the words after `cargo xtask`.
pub fn parse(words: &[String]) -> Result<Command, String> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] | ["help" | "--help" | "-h", ..] | [_, "--help" | "-h"] => Ok(Command::Help),
        ["setup"] => Ok(Command::Setup),
        ["test"] => Ok(Command::Test(Tier::Default)),
        ["test", "--quick"] => Ok(Command::Test(Tier::Quick)),
        ["test", "--full"] => Ok(Command::Test(Tier::Full)),
        ["validate", names @ ..] => Ok(Command::Validate(owned(names))),
        ["gallery", names @ ..] => match names.iter().find(|name| name.starts_with('-')) {
            Some(option) => Err(format!("`gallery` takes names, not `{option}`")),
            None => Ok(Command::Gallery(owned(names))),
        },
        ["test", other @ ..] => Err(format!(
            "`test` takes --quick or --full, not `{}`; to run one test: cargo test NAME",
            other.join(" ")
        )),
        ["setup", other @ ..] => {
            Err(format!("`setup` takes no arguments, but got `{}`", other.join(" ")))
        }
        [other, ..] => Err(format!("there is no command `{other}`")),
    }
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Command, String> {
        parse(&line.split_whitespace().map(str::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn no_words_and_every_spelling_of_help_show_the_help() {
        for line in ["", "help", "--help", "-h", "test --help", "validate -h"] {
            assert_eq!(parsed(line), Ok(Command::Help), "{line}");
        }
    }

    #[test]
    fn each_tier_has_its_flag() {
        assert_eq!(parsed("test"), Ok(Command::Test(Tier::Default)));
        assert_eq!(parsed("test --quick"), Ok(Command::Test(Tier::Quick)));
        assert_eq!(parsed("test --full"), Ok(Command::Test(Tier::Full)));
    }

    #[test]
    fn a_gallery_is_of_all_or_of_the_names_that_follow() {
        assert_eq!(parsed("gallery"), Ok(Command::Gallery(Vec::new())));
        let names = ["crown", "hanging-net"].map(str::to_string).to_vec();
        assert_eq!(parsed("gallery crown hanging-net"), Ok(Command::Gallery(names)));
        assert_eq!(parsed("gallery --help"), Ok(Command::Help));
        assert!(parsed("gallery --fast").unwrap_err().contains("`--fast`"));
    }

    #[test]
    fn unknown_words_are_named() {
        assert!(parsed("tset").unwrap_err().contains("`tset`"));
        assert!(parsed("test --fast").unwrap_err().contains("`--fast`"));
        assert!(parsed("setup now").unwrap_err().contains("`now`"));
    }
}
