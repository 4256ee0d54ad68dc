//! What the renderer draws, at its best: pictures of data made for them by formulas, not simulated.
//!
//! `cargo run --release -p undine-render --example showcase -- FOLDER [NAME…]` writes `FOLDER/NAME.png` for each name, or for all.

mod buckets;
mod crown;
mod cubes;
mod fire;
mod hair;
mod noise;
mod points;
mod pool;
mod smoke;
mod solids;
mod studio;
mod surfacing;

use std::path::Path;
use std::process::ExitCode;
use studio::{Outcome, Studio};
use undine_render::canvas::resized;
use undine_render::{Display, Size, files};

/// A picture's name, and what draws it.
type Picture = (&'static str, fn(&Studio) -> Outcome<Display>);

const PICTURES: [Picture; 9] = [
    ("crown", crown::picture),
    ("pool", pool::picture),
    ("points", points::picture),
    ("hair", hair::picture),
    ("smoke", smoke::picture),
    ("fire", fire::picture),
    ("solids", solids::picture),
    ("buckets", buckets::picture),
    ("surfacing", surfacing::picture),
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[String]) -> Outcome<()> {
    let Some((folder, names)) = words.split_first() else {
        return Err("which folder? showcase FOLDER [NAME…]".into());
    };
    let folder = Path::new(folder);
    std::fs::create_dir_all(folder)?;
    let studio = Studio::new()?;
    for (name, draw) in chosen(names)? {
        let bytes = encoded(draw(&studio)?, name)?;
        let file = folder.join(name).with_extension("png");
        files::write(&file, &bytes)?;
        println!("{}", file.display());
    }
    Ok(())
}

/// The file of a picture. One with so much detail that its file would be large is made smaller.
fn encoded(display: Display, name: &str) -> Outcome<Vec<u8>> {
    const LARGE: usize = 650_000;
    let encoded = |display: &Display| files::png::encoded(display, &[("Title", name)]);
    let bytes = encoded(&display)?;
    if bytes.len() <= LARGE {
        return Ok(bytes);
    }
    let Size { width, height } = display.size;
    Ok(encoded(&resized(&display, Size::new(width * 3 / 4, height * 3 / 4)?))?)
}

/// The pictures of these names; all, if there are none.
fn chosen(names: &[String]) -> Outcome<Vec<Picture>> {
    if names.is_empty() {
        return Ok(PICTURES.to_vec());
    }
    let named = |name: &String| {
        let found = PICTURES.into_iter().find(|(known, _)| known == name);
        let known = PICTURES.map(|(known, _)| known).join(", ");
        found.ok_or_else(|| format!("there is no picture `{name}`; there are {known}").into())
    };
    names.iter().map(named).collect()
}
