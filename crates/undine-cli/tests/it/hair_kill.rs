//! Hair in a wind that touches itself and a head which leaps, with all that air and strands do to each other, and hair in water: the same bytes
//! for any number of threads, and after any end.

use crate::hair_scenes::{WET, WIND, head};
use crate::kill::ends_with_the_same_bytes;
use crate::program::{Stage, assert_same, files, succeeds};

/// All of it in one scene.
fn whole() -> String {
    head() + WIND + "collision friction=0.3\n"
}

/// Runs a scene with one thread, and with others: all that it leaves behind is the same, these files among it.
fn has_the_same_bytes_for_any_number_of_threads(scene: &str, names: &[&str]) {
    let made = |threads: &str| {
        let stage = Stage::new(scene);
        succeeds(&["run", &stage.scene(), "--quiet", "--threads", threads]);
        files(&stage.cache())
    };
    let one = made("1");
    for name in names {
        assert!(one.contains_key(*name), "no {name} in {:?}", one.keys());
    }
    let others: &[&str] =
        if std::env::var_os("UNDINE_FULL").is_some() { &["2", "3"] } else { &["3"] };
    for threads in others {
        assert_same(&made(threads), &one, &format!("with {threads} threads"));
    }
}

#[test]
fn hair_in_the_wind_that_touches_itself_has_the_same_bytes_for_any_number_of_threads() {
    let names = ["strands.0006.ply", "air.0006.vdb", "checkpoint.0006.undine"];
    has_the_same_bytes_for_any_number_of_threads(&whole(), &names);
}

#[test]
fn hair_in_water_has_the_same_bytes_for_any_number_of_threads() {
    let names = ["strands.0004.ply", "water.0004.ply", "checkpoint.0004.undine"];
    has_the_same_bytes_for_any_number_of_threads(WET, &names);
}

/// Each part of a scene takes part: without it strands and others are elsewhere at the third frame.
fn has_nothing_for_nothing(scene: &str, parts: &[&str], objects: &[&str]) {
    let third = |scene: &str| {
        let stage = Stage::new(scene);
        succeeds(&["run", &stage.scene(), "--quiet", "--frames", "3"]);
        let mut all = files(&stage.cache());
        let mut frame = |name: &&str| all.remove(&format!("{name}.0003.ply")).expect("a frame");
        objects.iter().map(&mut frame).collect::<Vec<_>>()
    };
    let all = third(scene);
    for part in parts {
        assert!(scene.contains(part));
        let without = third(&scene.replace(part, ""));
        for ((without, with), name) in without.iter().zip(&all).zip(objects) {
            assert!(without != with, "{part} does nothing to {name}");
        }
    }
}

#[test]
fn nothing_of_hair_in_the_wind_is_for_nothing() {
    let parts = ["collision friction=0.3\n", "coupled-drag\n", "coupled-buoyancy\n"];
    has_nothing_for_nothing(&whole(), &parts, &["strands"]);
}

#[test]
fn nothing_of_hair_in_water_is_for_nothing() {
    let parts = ["coupled-drag\n", "coupled-buoyancy\n"];
    has_nothing_for_nothing(WET, &parts, &["strands", "water"]);
}

/// How often a run is killed: a few times, or many in the full tier.
fn kills() -> u32 {
    if std::env::var_os("UNDINE_FULL").is_some() { 10 } else { 3 }
}

#[test]
fn hair_in_the_wind_that_was_killed_ends_with_the_same_bytes() {
    let made = ends_with_the_same_bytes(&whole(), ".ply", kills());
    assert!(made.contains_key("strands.0006.ply"), "{:?}", made.keys());
}

#[test]
fn hair_in_water_that_was_killed_ends_with_the_same_bytes() {
    let made = ends_with_the_same_bytes(WET, ".ply", kills());
    for name in ["strands.0004.ply", "water.0004.ply"] {
        assert!(made.contains_key(name), "no {name} in {:?}", made.keys());
    }
}
