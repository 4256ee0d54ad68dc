//! What can be said on the command line.

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
use undine_io::UpAxis;
use undine_vdb::codec::Codec;

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
    /// Shows what is in files: grids, types, transforms, counts, ranges, boxes, memory
    Info(Info),
    /// Shows what a run did: plots of times, solves, counts, memory and what nature keeps; or two runs beside each other
    Report(Report),
    /// Converts files of points, meshes and volumes, one or a whole sequence
    Convert(Convert),
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

/// Shows what is in files.
#[derive(Debug, Args)]
pub struct Info {
    /// The files; a name such as splash.####.ply sums up a sequence
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<String>,
    /// Prints JSON: an object for each file, each on a line of its own
    #[arg(long)]
    pub json: bool,
    /// Of volumes, reads only what stands before their values: no ranges; of USD scenes, only the one file
    #[arg(long)]
    pub quick: bool,
    /// Of a sequence, only these frames: 12, or 1001-1096
    #[arg(long, value_name = "FRAMES", value_parser = frames, allow_hyphen_values = true)]
    pub frames: Option<(i64, i64)>,
}

/// Shows what a run did.
#[derive(Debug, Args)]
pub struct Report {
    /// The run: its cache, or its scene, as a file or a folder with a `scene.kdl`
    pub run: PathBuf,
    /// Another run to compare it with
    pub other: Option<PathBuf>,
    /// The page to write; plots as PNG go into a folder beside it. By default report.html in the cache, and of two runs
    /// comparison.html here
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// Converts files.
#[derive(Debug, Args)]
pub struct Convert {
    /// What to read: a .ply, .obj, .stl, .vdb or USD file (.usd, .usda, .usdc), or a sequence such as splash.####.ply
    pub from: String,
    /// What to write: a .ply, .obj, .stl, .glb, .vdb or USD file (.usd, .usda, .usdc), or a sequence
    pub to: String,
    /// Of a sequence or a USD scene that moves, only these frames: 12, or 1001-1096
    #[arg(long, value_name = "FRAMES", value_parser = frames, allow_hyphen_values = true)]
    pub frames: Option<(i64, i64)>,
    /// Writes text where the format has a choice: PLY and STL
    #[arg(long)]
    pub text: bool,
    /// Writes 64 bits where the format has a choice: positions of PLY and OBJ, channels of USD
    #[arg(long)]
    pub double: bool,
    /// The axis that points up in what is written; glTF is always Y up
    #[arg(long, value_name = "AXIS", value_parser = axis)]
    pub up: Option<UpAxis>,
    /// The axis that points up in what is read, for files that do not say so; USD always does
    #[arg(long, value_name = "AXIS", value_parser = axis)]
    pub from_up: Option<UpAxis>,
    /// Gives a channel or a grid another name; may be repeated
    #[arg(long, value_name = "OLD=NEW", value_parser = new_name)]
    pub rename: Vec<(String, String)>,
    /// Of a .vdb file, keeps the grid of this name; may be repeated
    #[arg(long = "grid", value_name = "NAME")]
    pub grids: Vec<String>,
    /// Of a volume, keeps values as half floats
    #[arg(long, conflicts_with = "full")]
    pub half: bool,
    /// Of a volume, keeps values that were half floats as full ones
    #[arg(long)]
    pub full: bool,
    /// Of a volume, how it is compressed: none, zip or blosc
    #[arg(long, value_name = "CODEC", value_parser = codec)]
    pub codec: Option<Codec>,
    /// Says nothing but errors
    #[arg(long)]
    pub quiet: bool,
}

/// `12`, or `1001-1096`; the numbers may be negative.
fn frames(text: &str) -> Result<(i64, i64), String> {
    let wrong = || "write a frame such as 12, or frames from 1001-1096".to_owned();
    let number = |text: &str| text.trim().parse::<i64>().map_err(|_| wrong());
    // A dash at the beginning is a sign.
    let dash = text.char_indices().skip(1).find(|(_, c)| *c == '-').map(|(at, _)| at);
    let (first, last) = match dash {
        Some(at) => (number(&text[..at])?, number(&text[at + 1..])?),
        None => (number(text)?, number(text)?),
    };
    if first <= last { Ok((first, last)) } else { Err("the first frame is after the last".into()) }
}

fn axis(text: &str) -> Result<UpAxis, String> {
    UpAxis::of_word(text).ok_or_else(|| "write y or z".to_owned())
}

fn new_name(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((old, new)) if !old.is_empty() && !new.is_empty() => Ok((old.into(), new.into())),
        _ => Err("write OLD=NEW, for example vel=v".to_owned()),
    }
}

fn codec(text: &str) -> Result<Codec, String> {
    match text {
        "none" => Ok(Codec::None),
        "zip" => Ok(Codec::Zip),
        "blosc" => Ok(Codec::Blosc),
        _ => Err("write none, zip or blosc".to_owned()),
    }
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
    fn frames_are_read_as_people_write_them() {
        assert_eq!(frames("12"), Ok((12, 12)));
        assert_eq!(frames("1001-1096"), Ok((1001, 1096)));
        assert_eq!(frames("-5--3"), Ok((-5, -3)));
        for bad in ["", "-", "1-", "5-3", "a-b", "1-2-3", "é"] {
            assert!(frames(bad).is_err(), "{bad}");
        }
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
