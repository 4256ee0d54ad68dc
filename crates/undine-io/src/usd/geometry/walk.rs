//! All prims of a scene from the top down, with the spaces that they are in.

use super::super::compose::Composed;
use super::super::layer::Value;
use super::super::library::{Library, Stack};
use super::super::scene::Scene;
use super::read::Piece;
use super::{join, read, transform};
use crate::Geometry;
use crate::error::{IoError, Result};
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use undine_core::glam::{DMat3, DMat4, DVec3};

/// Prims below prims, deeper than any scene.
const MOST_DEPTH: usize = 200;

/// Points of several prims together. A few lines can refer to one prim so often that no memory holds its copies.
const MOST_JOINED: usize = 1 << 26;

/// A prim that has geometry, before it is joined with others.
struct Found {
    path: String,
    words: BTreeMap<String, String>,
    piece: Piece,
}

/// The geometry of one prim of a scene.
#[derive(Debug, Clone)]
pub struct PrimGeometry {
    /// Its path: `/fall/shapes/crate`.
    pub path: String,
    /// What it says of itself under names of ours, without their `undine:`: `kind`, `path`, `infinite`.
    pub words: BTreeMap<String, String>,
    /// Where it is at the time, in metres of the world with Y up.
    pub geometry: Geometry,
}

/// Reads the geometry of all prims, or of those at and below one path, as one, and says of how many.
pub(in crate::usd) fn read_prims(
    library: &Library,
    stack: &Rc<Stack>,
    scene: &Scene,
    time: Option<f64>,
    chosen: Option<&str>,
    notes: &mut Vec<String>,
) -> Result<(Geometry, usize)> {
    let found = find(library, stack, scene, time, chosen, notes)?;
    let prims = found.len();
    let pieces = found.into_iter().map(|found| found.piece).collect();
    let geometry = join::join(pieces, notes).map_err(|why| refused(scene, "/", why))?;
    Ok((geometry, prims))
}

/// Reads the geometry of all prims, or of those at and below one path, each by itself.
pub(in crate::usd) fn read_each(
    library: &Library,
    stack: &Rc<Stack>,
    scene: &Scene,
    time: Option<f64>,
    chosen: Option<&str>,
    notes: &mut Vec<String>,
) -> Result<Vec<PrimGeometry>> {
    let found = find(library, stack, scene, time, chosen, notes)?;
    let alone = found.into_iter().map(|Found { path, words, piece }| {
        let geometry = join::join(vec![piece], notes).map_err(|why| refused(scene, &path, why))?;
        Ok(PrimGeometry { path, words, geometry })
    });
    alone.collect()
}

fn refused(scene: &Scene, prim: &str, found: String) -> IoError {
    IoError::Scene {
        file: scene.file().to_owned(),
        prim: prim.to_owned(),
        found,
        wanted: "points, faces and curves that belong together".to_owned(),
    }
}

/// All prims with geometry, or those at and below one path.
fn find(
    library: &Library,
    stack: &Rc<Stack>,
    scene: &Scene,
    time: Option<f64>,
    chosen: Option<&str>,
    notes: &mut Vec<String>,
) -> Result<Vec<Found>> {
    let refused = |prim: &str, found: String| refused(scene, prim, found);
    let chosen = chosen.map_or("", |path| path.trim_end_matches('/'));
    // What is chosen, and what lies on the way to it.
    let is_wanted = |path: &str| is_within(path, chosen) || is_within(chosen, path);
    let mut pieces = Vec::new();
    let mut points = 0_usize;
    let mut is_found = chosen.is_empty();
    let space = space_of(scene);
    let top = Composed::top(library, stack, time, &is_wanted)?;
    let mut left: Vec<_> = top.into_iter().rev().map(|prim| (prim, space)).collect();
    while let Some((prim, above)) = left.pop() {
        let is_chosen = is_within(&prim.path, chosen);
        is_found |= is_chosen;
        if !prim.is_there() || is_aside(&prim, time) {
            continue;
        }
        let local = transform::local(&prim, time).map_err(|why| refused(&prim.path, why))?;
        let matrix = if local.resets { space * local.matrix } else { above * local.matrix };
        match prim.type_name() {
            kind if is_chosen && read::is_geometry(kind) => {
                let piece = read::piece(&prim, time, matrix, notes);
                let piece = piece.map_err(|why| refused(&prim.path, why))?;
                points += piece.positions.len();
                if points > MOST_JOINED && !pieces.is_empty() {
                    let found = format!("with those before it, it has {points} points");
                    return Err(IoError::Scene {
                        file: scene.file().to_owned(),
                        prim: prim.path,
                        found,
                        wanted: "fewer copies of a prim; or choose some by their path".to_owned(),
                    });
                }
                pieces.push(Found { path: prim.path.clone(), words: words(&prim, time), piece });
            }
            // What is below it are patterns that it would repeat.
            "PointInstancer" => {
                notes.push(format!("{}: an instancer", prim.path));
                continue;
            }
            "Sphere" | "Cube" | "Cylinder" | "Cone" | "Capsule" | "Plane" | "NurbsPatch"
            | "NurbsCurves" | "HermiteCurves" | "TetMesh" => {
                notes.push(format!("{}: a {}", prim.path, prim.type_name()));
            }
            _ => {}
        }
        check_depth(&prim, scene.file())?;
        let below = prim.children(library, time, &is_wanted)?;
        left.extend(below.into_iter().rev().map(|child| (child, matrix)));
    }
    if !is_found {
        return Err(IoError::Scene {
            file: scene.file().to_owned(),
            prim: chosen.to_owned(),
            found: "it is not in the scene".to_owned(),
            wanted: "a path such as /World/Splash".to_owned(),
        });
    }
    Ok(pieces)
}

/// What a prim says of itself under names of ours.
fn words(prim: &Composed, time: Option<f64>) -> BTreeMap<String, String> {
    let names = prim.attribute_names().into_iter();
    let ours = names.filter_map(|name| Some((name, name.strip_prefix("undine:")?)));
    let said = ours.filter_map(|(name, own)| {
        let value = prim.value(name, time)?;
        let text = match &*value {
            Value::Bool(flag) => flag.to_string(),
            other => other.text()?.to_owned(),
        };
        Some((own.to_owned(), text))
    });
    said.collect()
}

/// Refuses scenes that are deeper than any: such as one that refers to itself below itself.
pub(in crate::usd) fn check_depth(prim: &Composed, file: &Path) -> Result<()> {
    if prim.path.bytes().filter(|&byte| byte == b'/').count() <= MOST_DEPTH {
        return Ok(());
    }
    Err(IoError::Scene {
        file: file.to_owned(),
        prim: prim.path.chars().take(60).collect(),
        found: format!("prims lie in each other {MOST_DEPTH} times"),
        wanted: "a scene that does not refer to itself".to_owned(),
    })
}

/// Whether a path is another one, or below it.
fn is_within(path: &str, other: &str) -> bool {
    path.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether a prim is only for those who work on the scene, or stands in for one that is rendered.
fn is_aside(prim: &Composed, time: Option<f64>) -> bool {
    let purpose = prim.value("purpose", time);
    matches!(purpose.as_deref().and_then(Value::text), Some("guide" | "proxy"))
}

/// Metres with Y up, of the units and the axis of a scene.
fn space_of(scene: &Scene) -> DMat4 {
    let turn = match scene.is_z_up() {
        // Z to Y, and Y to −Z: a quarter about X.
        true => DMat3::from_cols(DVec3::X, DVec3::NEG_Z, DVec3::Y),
        false => DMat3::IDENTITY,
    };
    DMat4::from_mat3(turn * scene.metres_per_unit())
}
