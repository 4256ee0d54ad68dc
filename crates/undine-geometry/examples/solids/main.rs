//! A sheet of pictures, one for each kind of solid: every pixel asks a `Solid` how far it is, until it is there.
//!
//! `cargo run --release -p undine-geometry --example solids [-- PICTURE.png]`
//!
//! In turn: shapes with exact distances; their hollow, rounded and blended kin; meshes; level sets and what their
//! tools make of them. The program prints their names.

mod picture;
mod scenes;

use picture::{Sheet, TILE};
use std::error::Error;
use std::process::ExitCode;
use undine_geometry::Solid;

/// Tiles in a row of the sheet.
const COLUMNS: usize = 7;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "solids.png".into());
    let mut sheet = Sheet::new(&path, COLUMNS)?;
    scenes::each(&mut |name: &str, solid: &dyn Solid| {
        println!("{name}");
        sheet.add(&picture::look_at(solid, TILE));
    })?;
    sheet.write()?;
    println!("wrote {path}");
    Ok(())
}
