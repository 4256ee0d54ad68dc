//! What can be said on the command line.

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
use undine::view::Frames;
use undine_io::UpAxis;
use undine_schema::{Dimension, Quantity};
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
    /// Reads every frame and checkpoint of a cache, and says which are not what they were when they were written
    Verify(Verify),
    /// Shows what a run did: plots of times, solves, counts, memory and what nature keeps; or two runs beside each other
    Report(Report),
    /// Converts files of points, meshes and volumes, one or a whole sequence
    Convert(Convert),
    /// Makes meshes of the surfaces of points, of one file or a whole sequence
    Surface(Surface),
    /// Draws pictures of a cache, a scene's cache, a file or a sequence
    Render(Render),
    /// Draws the same frame of two caches beside each other, and says how much they differ
    Compare(Compare),
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
    #[arg(long, value_name = "FRAMES", allow_hyphen_values = true)]
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
    /// Keeps the frames of a changed scene, and goes on with the new one; also without frames that are damaged
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
    /// How many threads work; by default as many as there are cores
    #[arg(long, value_name = "COUNT")]
    pub threads: Option<usize>,
    /// What all data may take, such as 8GB; by default 90 % of what is free
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub memory: Option<u64>,
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
    /// Of a sequence, only these frames: 12, 1001-1096, or every second of them: 1001-1096:2
    #[arg(long, value_name = "FRAMES", value_parser = stepped_frames, allow_hyphen_values = true)]
    pub frames: Option<Frames>,
}

/// Checks a cache.
#[derive(Debug, Args)]
pub struct Verify {
    /// A cache, or its scene, as a file or a folder with a `scene.kdl`
    pub cache: PathBuf,
    /// Says nothing but errors
    #[arg(long)]
    pub quiet: bool,
}

/// Shows what a run did.
#[derive(Debug, Args)]
pub struct Report {
    /// The run: its cache, or its scene, as a file or a folder with a `scene.kdl`
    pub run: PathBuf,
    /// Another run to compare it with
    pub other: Option<PathBuf>,
    /// The page to write, such as run.html; plots as PNG go into a folder beside it, run.plots. By default report.html in the cache, and of two runs
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
    /// Of a sequence or a USD scene that moves, only these frames: 12, 1001-1096, or every second of them: 1001-1096:2
    #[arg(long, value_name = "FRAMES", value_parser = stepped_frames, allow_hyphen_values = true)]
    pub frames: Option<Frames>,
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

/// Makes meshes of points.
#[derive(Debug, Args)]
pub struct Surface {
    /// Points to read: a .vdb, .ply, .obj or USD file, or a sequence such as splash.####.vdb
    pub from: String,
    /// The mesh to write: a .ply, .obj, .stl, .glb or USD file, or a sequence
    pub to: String,
    /// Of a sequence, only these frames: 12, 1001-1096, or every second of them: 1001-1096:2
    #[arg(long, value_name = "FRAMES", value_parser = stepped_frames, allow_hyphen_values = true)]
    pub frames: Option<Frames>,
    /// The radius of all particles, such as "5 mm"; by default that of the channel pscale. About the spacing of particles
    #[arg(long, value_name = "LENGTH", value_parser = length)]
    pub radius: Option<f64>,
    /// What radii are multiplied by; by default 1, or 1.7 for those of pscale, which is that of a ball of the particle's volume
    #[arg(long, value_name = "FACTOR", value_parser = factor)]
    pub scale: Option<f64>,
    /// The width of a voxel; by default 0.4 of the mean radius
    #[arg(long, value_name = "LENGTH", value_parser = length)]
    pub voxel: Option<f64>,
    /// What stands for a particle
    #[arg(long, value_enum, default_value_t = SurfaceMethod::Ellipsoids)]
    pub method: SurfaceMethod,
    /// How far neighbours are looked for, in radii [2]
    #[arg(long, value_name = "RADII")]
    pub search: Option<f64>,
    /// The longest axis of an ellipsoid over its shortest at most [4]
    #[arg(long, value_name = "RATIO")]
    pub ratio: Option<f64>,
    /// A particle with no more neighbours than these is a droplet [5]
    #[arg(long, value_name = "COUNT")]
    pub droplet_neighbours: Option<f64>,
    /// The radius of a droplet in radii of its particle [0.7]
    #[arg(long, value_name = "FACTOR")]
    pub droplet_scale: Option<f64>,
    /// 1 keeps the volume of every ellipsoid, 0 their mean volume [1]
    #[arg(long, value_name = "BLEND")]
    pub local: Option<f64>,
    /// How far centres are moved towards the mean of their neighbours, from 0 to 1 [0.5]
    #[arg(long, value_name = "PART")]
    pub smoothing: Option<f64>,
    /// Droplets are stretched along their velocity by as far as they fly in this time in seconds [0]
    #[arg(long, value_name = "SECONDS")]
    pub trail: Option<f64>,
    /// How often the mesh is smoothed, its volume kept
    #[arg(long, value_name = "PASSES", default_value_t = 0)]
    pub smooth: u32,
    /// Takes fewer triangles where the mesh is flat, and moves it by no more than this: "0.5 mm"
    #[arg(long, value_name = "LENGTH", value_parser = length, default_value = "0 m")]
    pub coarsen: f64,
    /// Drops parts of less than this volume: "1 mm3"
    #[arg(long, value_name = "VOLUME", value_parser = volume, default_value = "0 m3")]
    pub least: f64,
    /// Fills cavities of less than this volume; by default those smaller than a ball of two mean radii
    #[arg(long, value_name = "VOLUME", value_parser = volume)]
    pub bubbles: Option<f64>,
    /// Takes velocities and other channels from the nearest particle alone, and does not blend them
    #[arg(long)]
    pub nearest: bool,
    /// Of a .vdb file, the points of this name; by default the first
    #[arg(long, value_name = "NAME")]
    pub grid: Option<String>,
    /// What all data may take, such as 8GB; by default 90 % of what is free
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub memory: Option<u64>,
    /// How many threads work; by default as many as there are cores
    #[arg(long, value_name = "COUNT")]
    pub threads: Option<usize>,
    /// Says nothing but errors
    #[arg(long)]
    pub quiet: bool,
}

/// What stands for a particle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum SurfaceMethod {
    /// Its sphere: fast, and bumpy
    Spheres,
    /// An ellipsoid, stretched the way its neighbours lie: smooth, with sheets and droplets
    Ellipsoids,
    /// The mean of the particles around a place (Zhu and Bridson)
    Average,
    /// The same without what appears in hollows (Solenthaler and Pajarola)
    CorrectedAverage,
}

/// Draws pictures.
#[derive(Debug, Args)]
pub struct Render {
    /// What to show: a cache, a scene or its folder, a .ply, .obj, .stl, .vdb or USD file, or a sequence such as splash.####.ply
    pub what: String,
    /// Only these frames: 12, 1-48, or every second of them: 1-48:2
    #[arg(long, value_name = "FRAMES", value_parser = stepped_frames, allow_hyphen_values = true)]
    pub frames: Option<Frames>,
    /// The view of the scene to draw, by the name of its `render`; the first, if not given
    #[arg(long, value_name = "NAME")]
    pub view: Option<String>,
    #[command(flatten)]
    pub pictures: PictureArguments,
    /// Makes one picture of all, with their numbers
    #[arg(long)]
    pub sheet: bool,
    /// Makes an animated WebP of all
    #[arg(long)]
    pub animate: bool,
    /// Where pictures go; by default `pictures` in the cache, or in the current folder
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Says nothing but errors
    #[arg(long)]
    pub quiet: bool,
}

/// Compares two caches.
#[derive(Debug, Args)]
pub struct Compare {
    /// A cache, a scene, a file or a sequence
    pub one: String,
    /// Another
    pub other: String,
    /// The frame; the last that both have, if not given
    #[arg(long, value_name = "FRAME", allow_negative_numbers = true)]
    pub frame: Option<i64>,
    #[command(flatten)]
    pub pictures: PictureArguments,
    /// Where the pictures go; by default the current folder
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
}

/// How pictures are drawn: the same words as of the node `render` (see `undine help render`).
#[derive(Debug, Args)]
pub struct PictureArguments {
    /// Width and height in pixels: 1920x1080
    #[arg(long, value_name = "SIZE")]
    pub size: Option<String>,
    /// The channel that colours points, such as v or age; none for one colour
    #[arg(long, value_name = "CHANNEL")]
    pub color_by: Option<String>,
    /// The colours that numbers are shown by: water, viridis, inferno, turbo, grey or coolwarm
    #[arg(long, value_name = "MAP")]
    pub map: Option<String>,
    /// The numbers at both ends of the map, in SI: "0 4"
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
    pub range: Option<String>,
    /// How the camera moves: auto, orbit, or a fixed place: "eye 0,1,4 target 0,0.5,0" [m]
    #[arg(long, value_name = "CAMERA")]
    pub camera: Option<String>,
    /// The angle from the lower to the upper edge of the picture: "35 deg"
    #[arg(long, value_name = "ANGLE")]
    pub fov: Option<String>,
    /// How points are drawn: spheres or splats
    #[arg(long, value_name = "WAY")]
    pub points: Option<String>,
    /// How large points are: "5 mm"
    #[arg(long, value_name = "LENGTH")]
    pub radius: Option<String>,
    /// What surfaces look like: solid or water
    #[arg(long, value_name = "FINISH")]
    pub finish: Option<String>,
    /// What everything stands on: auto, none or plane
    #[arg(long, value_name = "GROUND")]
    pub ground: Option<String>,
    /// How many frames long motion is blurred: 0.5 as in film
    #[arg(long, value_name = "FRAMES")]
    pub shutter: Option<String>,
    /// What is drawn over the picture: none, buckets, levels or processes
    #[arg(long, value_name = "OVERLAY")]
    pub overlay: Option<String>,
    /// How many passes are averaged: more is smoother
    #[arg(long, value_name = "COUNT")]
    pub samples: Option<String>,
    /// The format of pictures: png or exr
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<String>,
    /// Draws the map with its numbers, and the frame: true or false
    #[arg(long, value_name = "FLAG")]
    pub legend: Option<String>,
    /// How many threads work; by default as many as there are cores
    #[arg(long, value_name = "COUNT")]
    pub threads: Option<usize>,
}

impl PictureArguments {
    /// Those that were given, under the names that the node `render` has for them.
    pub fn options(&self) -> Vec<(String, String)> {
        let mut options = Vec::new();
        let mut add = |name: &str, value: &Option<String>| {
            options.extend(value.clone().map(|value| (name.to_owned(), value)));
        };
        add("size", &self.size);
        add("color-by", &self.color_by);
        add("map", &self.map);
        add("range", &self.range);
        add("fov", &self.fov);
        add("points", &self.points);
        add("radius", &self.radius);
        add("finish", &self.finish);
        add("ground", &self.ground);
        add("shutter", &self.shutter);
        add("overlay", &self.overlay);
        add("samples", &self.samples);
        add("format", &self.format);
        add("legend", &self.legend);
        options.extend(self.camera.iter().flat_map(|camera| camera_options(camera)));
        options
    }
}

/// `orbit`, or `eye 0,1,4 target 0,0.5,0`, as options of their own.
fn camera_options(camera: &str) -> Vec<(String, String)> {
    let words: Vec<&str> = camera.split_whitespace().collect();
    let is_place = |word: &&str| matches!(*word, "eye" | "target");
    if !words.iter().any(is_place) || words.len() % 2 == 1 {
        return vec![("camera".to_owned(), camera.to_owned())];
    }
    let pair = |pair: &[&str]| {
        let place = pair[1].replace(',', " ");
        (pair[0].to_owned(), format!("{place} m"))
    };
    words.chunks_exact(2).map(pair).collect()
}

/// `12`, `1001-1096`, or `1001-1096:2`.
fn stepped_frames(text: &str) -> Result<Frames, String> {
    let (range, step) = text.split_once(':').unwrap_or((text, "1"));
    let (first, last) = frames(range)?;
    let step: u64 = step.trim().parse().unwrap_or(0);
    match step {
        0 => Err("write frames such as 1-48, or every second of them: 1-48:2".to_owned()),
        step => Ok(Frames { first, last, step }),
    }
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

/// `5 mm`, in metres.
fn length(text: &str) -> Result<f64, String> {
    quantity(text, Dimension::LENGTH)
}

/// `1 mm3`, in cubic metres.
fn volume(text: &str) -> Result<f64, String> {
    quantity(text, Dimension::VOLUME)
}

fn quantity(text: &str, dimension: Dimension) -> Result<f64, String> {
    let [value] = Quantity::parse(text)
        .and_then(|quantity| quantity.expect::<1>(dimension))
        .map_err(|why| why.to_string())?;
    if value >= 0.0 { Ok(value) } else { Err("it must not be negative".to_owned()) }
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
    fn every_so_many_frames_are_read_as_people_write_them() {
        assert_eq!(stepped_frames("1-48:2"), Ok(Frames { first: 1, last: 48, step: 2 }));
        assert_eq!(stepped_frames("-5"), Ok(Frames { first: -5, last: -5, step: 1 }));
        for bad in ["1-48:", "1-48:0", "1-48:-2", ":2", "1-48:2:3"] {
            assert!(stepped_frames(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_camera_is_a_word_or_places() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(camera_options("orbit"), [pair("camera", "orbit")]);
        assert_eq!(
            camera_options("eye 0,1,4 target 0,0.5,0"),
            [pair("eye", "0 1 4 m"), pair("target", "0 0.5 0 m")]
        );
        assert_eq!(camera_options("eye"), [pair("camera", "eye")]);
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
