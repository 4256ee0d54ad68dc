//! A dam breaks on several processes as it does on one, within what rounding may do.
//!
//! Sums over all cells round differently on another number of processes, and liquids amplify: so a few frames are compared particle by
//! particle, and what nature keeps to the end.

use super::together::{in_the_full_tier, runs};
use crate::program::{Stage, files, succeeds};
use std::collections::BTreeMap;
use undine_core::glam::DVec3;
use undine_io::{Points, Values};

/// Eight Buckets of liquid in a tank, which are cut somewhere through the middle.
const DAM: &str = r#"
setup "dam" fps=24 frames=5 substeps=2 cfl=3
input "column" {
    box size="0.32 0.32 0.32 m" centre="0.16 0.16 0.16 m"
}
input "room" {
    box size="0.8 0.8 0.32 m" centre="0.4 0.4 0.16 m"
}
input "tank" {
    box size="1 0.8 0.52 m" centre="0.4 0.3 0.16 m"
    subtract with="room"
}
hybrid "water" input="column" voxel="2 cm"
collider "tank" input="tank"
walls
pressure
gravity
output dir="cache" format="ply"
"#;

/// Where the particles of a frame of water are [m], by id.
fn particles(stage: &Stage, frame: i64) -> BTreeMap<u64, DVec3> {
    let file = stage.cache().join(format!("water.{frame:04}.ply"));
    let points: Points = undine_io::read(&file).expect("a frame").points;
    let ids = points.channels.get("id").and_then(Values::ids).expect("ids");
    assert_eq!(ids.len(), points.positions.len());
    ids.iter().copied().zip(points.positions.iter().copied()).collect()
}

/// Fails unless the liquid of a frame is where it is on one process: but for one particle in a hundred within a tenth of a voxel of 2 cm, and
/// together within 0.1 mm.
pub fn is_where_it_is_on_one(found: &Stage, one: &Stage, frame: i64) {
    let (found, wanted) = (particles(found, frame), particles(one, frame));
    assert!(wanted.len() > 10_000, "{} particles", wanted.len());
    let together: Vec<f64> =
        wanted.iter().filter_map(|(id, at)| Some(found.get(id)?.distance(*at))).collect();
    let most = found.len().max(wanted.len());
    let apart = together.iter().filter(|&&distance| distance > 0.1 * 0.02).count();
    let missing = most - together.len();
    assert!(
        apart + missing <= most / 100,
        "frame {frame}: of {most} particles {missing} are others, and {apart} are elsewhere"
    );
    let centre = |all: &BTreeMap<u64, DVec3>| all.values().sum::<DVec3>() / all.len() as f64;
    let off = centre(&found).distance(centre(&wanted));
    assert!(off < 1e-4, "frame {frame}: centres are {off} m apart");
}

fn breaks_as_on_one(processes: usize) {
    let (one, several) = (&Stage::new(DAM), Stage::new(DAM));
    succeeds(&["run", &one.scene(), "--quiet"]);
    runs(processes, &several, &["--quiet"]);
    let names = |stage: &Stage| files(&stage.cache()).into_keys().collect::<Vec<_>>();
    assert_eq!(names(&several), names(one), "one file of each, whoever wrote");
    for frame in [1, 3, 5] {
        is_where_it_is_on_one(&several, one, frame);
    }
}

#[test]
fn a_dam_breaks_on_two_processes_as_on_one() {
    breaks_as_on_one(2);
}

#[test]
fn a_dam_breaks_on_three_processes_as_on_one() {
    in_the_full_tier(|| breaks_as_on_one(3));
}

#[test]
fn a_dam_breaks_on_four_processes_as_on_one() {
    in_the_full_tier(|| breaks_as_on_one(4));
}

/// With a narrow band, cells make particles and take them back as the surface goes by; who is made where has other ids on other
/// processes, so that what is compared is how many there are and where they are together.
#[test]
fn a_dam_with_a_narrow_band_breaks_on_two_processes_as_on_one() {
    let scene = DAM.replace("voxel=\"2 cm\"", "voxel=\"2 cm\" band=3");
    let (one, several) = (&Stage::new(&scene), Stage::new(&scene));
    succeeds(&["run", &one.scene(), "--quiet"]);
    runs(2, &several, &["--quiet"]);
    // To begin with there are particles everywhere.
    for frame in [2, 3, 5] {
        let (found, wanted) = (particles(&several, frame), particles(one, frame));
        let count = wanted.len() as f64;
        assert!((10_000.0..30_000.0).contains(&count), "{count} particles are no narrow band");
        assert!((found.len() as f64 / count - 1.0).abs() < 0.01, "{} of {count}", found.len());
        let centre = |all: &BTreeMap<u64, DVec3>| all.values().sum::<DVec3>() / all.len() as f64;
        let off = centre(&found).distance(centre(&wanted));
        assert!(off < 1e-3, "frame {frame}: centres are {off} m apart");
    }
}

#[test]
fn a_dam_on_two_processes_that_was_ended_goes_on_to_the_same_bytes() {
    let whole = Stage::new(DAM);
    runs(2, &whole, &["--quiet"]);
    let torn = Stage::new(DAM);
    runs(2, &torn, &["--quiet", "--frames", "2"]);
    runs(2, &torn, &["--quiet"]);
    let last = |stage: &Stage| {
        let all = files(&stage.cache());
        let last = |name: &String| name.contains(".0005.") || name == "checkpoint.0005.undine";
        all.into_iter().filter(|(name, _)| last(name)).collect::<BTreeMap<_, _>>()
    };
    assert!(last(&whole).len() >= 3, "{:?}", last(&whole).keys());
    crate::program::assert_same(&last(&torn), &last(&whole), "after going on");
}
