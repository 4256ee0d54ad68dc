//! `cargo xtask gallery`: remakes the pictures of README, examples and docs, and the page of all examples.
//!
//! Each example is run and then drawn from its cache at one moment; what the renderer can besides is drawn by the example `showcase`
//! of `undine-render`. A picture is put into its place when it is done.

use crate::cargo::{CARGO_LIMIT, cargo, passes, root};
use crate::report::Outcome;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the showcase draws.
const SHOWCASE: [&str; 9] =
    ["crown", "pool", "points", "hair", "smoke", "fire", "solids", "buckets", "surfacing"];

/// How an example is drawn.
struct Look {
    name: &'static str,
    frame: u32,
    /// What else `undine render` is told.
    options: &'static [&'static str],
}

/// The examples, simplest first. One that is not here comes last, and is drawn in the middle of its run.
const LOOKS: &[Look] = &[
    Look { name: "thrown-balls", frame: 20, options: &[] },
    Look {
        name: "bouncing-balls",
        frame: 40,
        options: &["--shutter=0.25", "--camera=eye 2.6,1.5,2.9 target 0.1,0.22,0", "--fov=20 deg"],
    },
    // Drops of millimetres in metres of air would be too small to see.
    Look { name: "falling-drops", frame: 24, options: &["--radius=12 mm"] },
    Look { name: "tumbling-box", frame: 40, options: &[] },
    Look {
        name: "hanging-net",
        frame: 36,
        options: &["--camera=eye 1.2,0.75,2.1 target 0.02,-0.04,0", "--fov=27 deg"],
    },
    Look { name: "chained-boxes", frame: 11, options: &[] },
    Look { name: "smoke-plume", frame: 61, options: &[] },
    Look { name: "shaking-head", frame: 18, options: &[] },
    Look {
        name: "hair-in-the-wind",
        frame: 12,
        options: &["--camera=eye 0.15,0.12,0.85 target 0.06,-0.01,0", "--fov=32 deg"],
    },
    Look {
        name: "curtain",
        frame: 38,
        options: &["--camera=eye 0.45,0.45,1.1 target 0,0.3,0", "--fov=36 deg"],
    },
    Look { name: "dam-break", frame: 31, options: &[] },
    Look { name: "double-dam-break", frame: 17, options: &[] },
    Look { name: "water-drop", frame: 22, options: &["--finish=water"] },
    Look { name: "honey-coil", frame: 61, options: &[] },
    Look { name: "pouring", frame: 50, options: &["--finish=water"] },
    Look { name: "paddle-wheel", frame: 40, options: &[] },
    Look { name: "floating-boxes", frame: 91, options: &["--finish=water"] },
    Look { name: "river", frame: 44, options: &["--finish=water"] },
    Look {
        name: "wet-hair",
        frame: 44,
        options: &[
            "--finish=water",
            "--camera=eye 0.35,0.33,0.62 target 0.01,0.14,0",
            "--fov=34 deg",
        ],
    },
];

/// Remakes the pictures of these names, or all of them. True when all were made.
pub fn run(names: &[String]) -> Result<bool, String> {
    let examples = examples()?;
    let unknown = names.iter().find(|name| {
        !SHOWCASE.contains(&name.as_str()) && !examples.iter().any(|one| one == *name)
    });
    if let Some(name) = unknown {
        let known: Vec<&str> = examples.iter().map(String::as_str).chain(SHOWCASE).collect();
        return Err(format!("there is no picture `{name}`; there are {}", known.join(", ")));
    }
    let is_wanted = |name: &str| names.is_empty() || names.iter().any(|one| one == name);
    let drawn: Vec<&String> = examples.iter().filter(|name| is_wanted(name)).collect();
    let shown: Vec<&str> = SHOWCASE.into_iter().filter(|name| is_wanted(name)).collect();
    build(&drawn, &shown)?;
    for name in drawn {
        println!("example {name}");
        draw(name)?;
    }
    if !shown.is_empty() {
        let folder = root().join("docs/pictures");
        done(Command::new(built("examples/showcase")).arg(folder).args(shown))?;
    }
    let page = root().join("examples/README.md");
    fs::write(&page, page_of(&examples)?).map_err(|why| format!("{}: {why}", page.display()))?;
    Ok(true)
}

/// Builds what draws these examples and these pictures.
fn build(examples: &[&String], pictures: &[&str]) -> Result<(), String> {
    if !examples.is_empty() {
        done(&mut cargo(&["build", "--release", "--package", "undine-cli"]))?;
    }
    if !pictures.is_empty() {
        let showcase = ["--package", "undine-render", "--example", "showcase"];
        done(cargo(&["build", "--release"]).args(showcase))?;
    }
    Ok(())
}

/// A program of the release.
fn built(name: &str) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    target.unwrap_or_else(|| root().join("target")).join("release").join(name)
}

/// Runs an example, and draws one of its frames.
fn draw(name: &str) -> Result<(), String> {
    let scene = root().join("examples").join(name);
    let undine = || Command::new(built("undine"));
    done(undine().arg("run").arg(&scene).args(["--fresh", "--quiet"]))?;
    let look = LOOKS.iter().find(|look| look.name == name);
    let frame = match look {
        Some(look) => look.frame,
        None => frames(&read(&scene.join("scene.kdl"))?).div_ceil(2),
    };
    let made = scene.join("cache/gallery");
    // What an interrupted run left.
    match fs::remove_dir_all(&made) {
        Err(why) if why.kind() != std::io::ErrorKind::NotFound => {
            return Err(format!("{}: {why}", made.display()));
        }
        _ => {}
    }
    done(
        undine()
            .arg("render")
            .arg(&scene)
            .args(["--frames", &frame.to_string(), "--size", "960x540", "--samples", "64"])
            .args(["--legend", "false", "--quiet", "--out"])
            .arg(&made)
            .args(look.map_or(&[][..], |look| look.options)),
    )?;
    let picture = only_picture(&made)?;
    let place = scene.join("picture.png");
    fs::rename(&picture, &place).map_err(|why| format!("{}: {why}", place.display()))
}

/// The one PNG of a folder.
fn only_picture(folder: &Path) -> Result<PathBuf, String> {
    let found =
        files(folder)?.into_iter().filter(|file| file.extension().is_some_and(|e| e == "png"));
    let found: Vec<PathBuf> = found.collect();
    match found.as_slice() {
        [one] => Ok(one.clone()),
        _ => Err(format!("{} has {} pictures, not one", folder.display(), found.len())),
    }
}

/// The names of all examples that are scenes, simplest first.
fn examples() -> Result<Vec<String>, String> {
    let folders = files(&root().join("examples"))?;
    let scenes = folders.iter().filter(|folder| folder.join("scene.kdl").is_file());
    let mut names: Vec<String> = scenes
        .filter_map(|folder| folder.file_name())
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    let place = |name: &String| LOOKS.iter().position(|look| look.name == name);
    names.sort_by_key(|name| (place(name).unwrap_or(LOOKS.len()), name.clone()));
    Ok(names)
}

/// The page of all examples: a picture, what it shows, and the command.
fn page_of(names: &[String]) -> Result<String, String> {
    let mut page = String::from(
        "# Examples\n\nA folder each, simplest first: a scene that runs in seconds, and what to try with it. `cargo xtask gallery` \
         makes this page\nand its pictures.\n",
    );
    for name in names {
        let folder = root().join("examples").join(name);
        let title = title(&read(&folder.join("README.md"))?);
        let line = first_comment(&read(&folder.join("scene.kdl"))?);
        page.push_str(&format!(
            "\n## [{title}]({name})\n\n[![{title}]({name}/picture.png)]({name})\n\n{line}\n\n    undine run examples/{name}\n"
        ));
    }
    Ok(page)
}

/// The title of a page.
fn title(page: &str) -> String {
    let line = page.lines().find_map(|line| line.strip_prefix("# "));
    line.unwrap_or_default().trim().to_string()
}

/// What the first comment of a scene says.
fn first_comment(scene: &str) -> String {
    let line = scene.lines().find_map(|line| line.strip_prefix("//"));
    line.unwrap_or_default().trim().to_string()
}

/// How many frames a scene has, as its `setup` says; 1 if it does not.
fn frames(scene: &str) -> u32 {
    let setup = scene.lines().find(|line| line.starts_with("setup "));
    let word =
        setup.and_then(|line| line.split_whitespace().find_map(|w| w.strip_prefix("frames=")));
    word.and_then(|number| number.parse().ok()).unwrap_or(1)
}

fn done(command: &mut Command) -> Result<(), String> {
    let told = format!("{command:?}");
    match passes(command, CARGO_LIMIT)? == Outcome::of(true) {
        true => Ok(()),
        false => Err(format!("this failed: {told}")),
    }
}

fn read(file: &Path) -> Result<String, String> {
    fs::read_to_string(file).map_err(|why| format!("{}: {why}", file.display()))
}

/// What is in a folder.
fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    Ok(entries.flatten().map(|entry| entry.path()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pictures that a page shows, by Markdown or by HTML.
    fn pictures_of(page: &str) -> Vec<String> {
        let markdown = page.split("![").skip(1).filter_map(|rest| {
            let (_, link) = rest.split_once("](")?;
            link.split([')', ' ']).next()
        });
        let html = page.split("<img ").skip(1).filter_map(|rest| {
            let (_, link) = rest.split_once("src=\"")?;
            link.split('"').next()
        });
        markdown.chain(html).map(str::to_string).collect()
    }

    /// The size of a PNG whose every chunk is whole, by its checksum; none otherwise.
    fn size_of_png(bytes: &[u8]) -> Option<[u32; 2]> {
        let number = |at: &[u8]| Some(u32::from_be_bytes(at.get(..4)?.try_into().ok()?));
        let mut rest = bytes.strip_prefix(b"\x89PNG\r\n\x1a\n")?;
        let mut size = None;
        while !rest.is_empty() {
            let length = number(rest)? as usize;
            let (chunk, after) = rest.get(4..)?.split_at_checked(length.checked_add(4)?)?;
            if number(after)? != checksum(chunk) {
                return None;
            }
            if chunk.starts_with(b"IHDR") {
                size = Some([number(&chunk[4..])?, number(chunk.get(8..)?)?]);
            }
            rest = &after[4..];
            if chunk.starts_with(b"IEND") {
                return size.filter(|_| rest.is_empty());
            }
        }
        None
    }

    /// CRC-32, as PNG has it (ISO 3309).
    fn checksum(bytes: &[u8]) -> u32 {
        let step = |crc: u32, _| crc >> 1 ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 };
        !bytes.iter().fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), step))
    }

    /// The pages of the repository, except those in folders that are made.
    fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
        for path in files(folder).unwrap() {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                let is_made =
                    name.starts_with('.') || name.starts_with("target") || name == "cache";
                if !is_made {
                    pages(&path, found);
                }
            } else if name.ends_with(".md") {
                found.push(path);
            }
        }
    }

    #[test]
    fn every_example_has_a_picture_that_its_page_shows() {
        for name in examples().unwrap() {
            let folder = root().join("examples").join(&name);
            let bytes = fs::read(folder.join("picture.png")).expect(&name);
            assert_eq!(size_of_png(&bytes), Some([960, 540]), "{name}");
            assert!(bytes.len() <= 700_000, "{name} has {} bytes", bytes.len());
            let page = read(&folder.join("README.md")).unwrap();
            assert!(pictures_of(&page).contains(&"picture.png".to_string()), "{name}");
        }
    }

    #[test]
    fn the_page_of_examples_is_the_one_that_is_made() {
        let page = read(&root().join("examples/README.md")).unwrap();
        assert_eq!(page, page_of(&examples().unwrap()).unwrap());
    }

    #[test]
    fn pages_show_only_pictures_that_exist() {
        let mut found = Vec::new();
        pages(&root(), &mut found);
        assert!(found.len() > 10);
        for page in found {
            for picture in pictures_of(&read(&page).unwrap()) {
                let file = page.with_file_name(&picture);
                assert!(picture.contains("://") || file.is_file(), "{}: {picture}", page.display());
            }
        }
    }

    #[test]
    fn each_picture_of_the_showcase_is_in_the_docs() {
        let pages = ["docs/pictures.md", "docs/surfacing.md"];
        let page = pages.map(|page| read(&root().join(page)).unwrap()).concat();
        for name in SHOWCASE {
            let file = format!("pictures/{name}.png");
            let bytes = fs::read(root().join("docs").join(&file)).expect(name);
            assert!(size_of_png(&bytes).is_some_and(|[width, _]| width >= 960), "{name}");
            assert!(bytes.len() <= 700_000, "{name} has {} bytes", bytes.len());
            assert!(pictures_of(&page).contains(&file), "{name}");
        }
    }

    #[test]
    fn a_picture_that_is_cut_off_or_changed_is_not_whole() {
        let whole = fs::read(root().join("docs/pictures/fire.png")).unwrap();
        assert_eq!(size_of_png(&whole), Some([1280, 720]));
        assert_eq!(size_of_png(&whole[..whole.len() - 1]), None);
        let mut changed = whole.clone();
        changed[whole.len() / 2] ^= 1;
        assert_eq!(size_of_png(&changed), None);
        assert_eq!(size_of_png(b""), None);
    }

    #[test]
    fn a_look_is_of_an_example_and_within_its_run() {
        let examples = examples().unwrap();
        for look in LOOKS {
            assert!(examples.iter().any(|name| name == look.name), "{}", look.name);
            let scene = root().join("examples").join(look.name).join("scene.kdl");
            assert!((1..=frames(&read(&scene).unwrap())).contains(&look.frame), "{}", look.name);
        }
    }

    #[test]
    fn titles_comments_and_frames_are_read_from_the_files_of_an_example() {
        assert_eq!(title("\n# Falling drops\n\nRain."), "Falling drops");
        let scene = "// Rain.\nsetup \"rain\" fps=24 frames=48 substeps=2\n";
        assert_eq!((first_comment(scene).as_str(), frames(scene)), ("Rain.", 48));
        assert_eq!((first_comment("").as_str(), frames("")), ("", 1));
    }

    #[test]
    fn a_name_that_no_picture_has_is_answered_with_those_that_there_are() {
        let why = run(&["crwon".to_string()]).unwrap_err();
        assert!(why.contains("`crwon`") && why.contains("crown") && why.contains("hanging-net"));
    }
}
