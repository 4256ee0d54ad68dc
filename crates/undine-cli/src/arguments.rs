//! What can be said on the command line.

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Simulates particles, rigid bodies and what acts on them, from one declarative setup
#[derive(Debug, Parser)]
#[command(name = "undine", version, max_term_width = 100, disable_help_subcommand = true)]
pub struct Arguments {
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Makes the frames of a scene; running again goes on where the last run ended
    Run(Run),
    /// Finds mistakes in a scene without running it, and estimates what a run takes
    Check(Check),
    /// Shows the tree of a scene, what acts on what, and the schedule of Tasks on Stages
    Explain(Explain),
    /// Explains a Behavior or another node of a scene; without a name, lists them all
    Help(Help),
    /// Prints the JSON schema of scenes, made from the same declarations as everything else
    Schema,
    /// Formats scenes; comments and meaning stay
    Fmt(Fmt),
}

/// A scene and what is changed in it.
#[derive(Debug, Args)]
pub struct SceneArguments {
    /// The scene: a file, or a folder with a `scene.kdl`
    pub scene: PathBuf,
    /// Sets a parameter by its exposed name or its path: --set wind-speed="8 0 0 m/s"
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = assignment)]
    pub set: Vec<(String, String)>,
    /// Scales resolution for a quick look: 0.5 makes voxels twice as large, and writes to a folder of its own
    #[arg(long, value_name = "FACTOR", value_parser = factor)]
    pub quality: Option<f64>,
    /// Ends the run after so many frames, 96, or at the second of 1001-1096; it begins where the scene does
    #[arg(long, value_name = "FRAMES")]
    pub frames: Option<String>,
}

/// Makes frames.
#[derive(Debug, Args)]
pub struct Run {
    #[command(flatten)]
    pub scene: SceneArguments,
    /// Redoes this frame and all after it
    #[arg(long, value_name = "FRAME", allow_negative_numbers = true)]
    pub from: Option<i64>,
    /// Throws away what is in the cache, and begins again
    #[arg(long, conflicts_with = "keep")]
    pub fresh: bool,
    /// Keeps the frames of a changed scene, and goes on with the new one
    #[arg(long)]
    pub keep: bool,
    /// What all data may take, such as 8GB; by default 90 % of what is free
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub memory: Option<u64>,
    /// How many threads work; by default as many as there are cores
    #[arg(long, value_name = "COUNT")]
    pub threads: Option<usize>,
    /// Says nothing but errors
    #[arg(long, conflicts_with = "json")]
    pub quiet: bool,
    /// Tells progress as lines of JSON, for farms and host applications
    #[arg(long)]
    pub json: bool,
    /// Writes a trace of every Task, to open in chrome://tracing or ui.perfetto.dev
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
}

/// Finds mistakes.
#[derive(Debug, Args)]
pub struct Check {
    #[command(flatten)]
    pub scene: SceneArguments,
}

/// Shows what a scene does.
#[derive(Debug, Args)]
pub struct Explain {
    #[command(flatten)]
    pub scene: SceneArguments,
    /// Draws the schedule into this file
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

/// Explains a node.
#[derive(Debug, Args)]
pub struct Help {
    /// The Behavior or node, such as `drag`
    pub name: Option<String>,
    /// Shows advanced parameters, too
    #[arg(long)]
    pub advanced: bool,
}

/// Formats scenes.
#[derive(Debug, Args)]
pub struct Fmt {
    /// The scenes; `-` reads from standard input and writes to standard output
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Changes nothing, and fails if something would change
    #[arg(long)]
    pub check: bool,
}

fn assignment(text: &str) -> Result<(String, String), String> {
    let (name, value) =
        text.split_once('=').ok_or("write NAME=VALUE, for example wind-speed=\"8 0 0 m/s\"")?;
    if name.trim().is_empty() {
        return Err("there is no name before the `=`".to_owned());
    }
    Ok((name.trim().to_owned(), value.to_owned()))
}

fn factor(text: &str) -> Result<f64, String> {
    let factor: f64 = text.parse().map_err(|_| "write a number, such as 0.5".to_owned())?;
    if (0.01..=100.0).contains(&factor) {
        Ok(factor)
    } else {
        Err("it goes from 0.01 to 100".to_owned())
    }
}

/// `8GB`, `512 MB`, `1.5GiB`, or bytes.
fn size(text: &str) -> Result<u64, String> {
    let wrong = || "write a size such as 8GB, 512MB or 1.5GiB".to_owned();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..digits].parse().map_err(|_| wrong())?;
    let unit = match text[digits..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        "tb" => 1e12,
        "kib" => 1024.0,
        "mib" => 1_048_576.0,
        "gib" => 1_073_741_824.0,
        _ => return Err(wrong()),
    };
    let bytes = number * unit;
    if (1.0..1e18).contains(&bytes) { Ok(bytes as u64) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn sizes_are_read_as_people_write_them() {
        assert_eq!(size("8GB"), Ok(8_000_000_000));
        assert_eq!(size("1.5 GiB"), Ok(1_610_612_736));
        assert_eq!(size("4096"), Ok(4096));
        for bad in ["", "GB", "-1GB", "8 furlongs", "1e99GB", "0"] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }
}
