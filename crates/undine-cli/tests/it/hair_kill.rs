//! Hair in a wind that touches itself and a head which leaps, with all that air and strands do to each other: the same bytes for any
//! number of threads, and after any end.

use crate::hair_scenes::{WIND, head};
use crate::kill::ends_with_the_same_bytes;
use crate::program::{Stage, assert_same, files, succeeds};

/// All of it in one scene.
fn whole() -> String {
    head() + WIND + "collision friction=0.3\n"
}

#[test]
fn hair_in_the_wind_that_touches_itself_has_the_same_bytes_for_any_number_of_threads() {
    let made = |threads: &str| {
        let stage = Stage::new(&whole());
        succeeds(&["run", &stage.scene(), "--quiet", "--threads", threads]);
        files(&stage.cache())
    };
    let one = made("1");
    for name in ["strands.0006.ply", "air.0006.vdb", "checkpoint.0006.undine"] {
        assert!(one.contains_key(name), "no {name} in {:?}", one.keys());
    }
    let others: &[&str] =
        if std::env::var_os("UNDINE_FULL").is_some() { &["2", "3"] } else { &["3"] };
    for threads in others {
        assert_same(&made(threads), &one, &format!("with {threads} threads"));
    }
}

/// Each part of the scene takes part: without it strands end elsewhere.
#[test]
fn nothing_of_hair_in_the_wind_is_for_nothing() {
    let last = |scene: &str| {
        let stage = Stage::new(scene);
        succeeds(&["run", &stage.scene(), "--quiet", "--frames", "3"]);
        files(&stage.cache()).remove("strands.0003.ply").expect("a last frame")
    };
    let scene = whole();
    let all = last(&scene);
    for part in ["collision friction=0.3\n", "coupled-drag\n", "coupled-buoyancy\n"] {
        assert!(scene.contains(part));
        assert!(last(&scene.replace(part, "")) != all, "{part} does nothing");
    }
}

#[test]
fn hair_in_the_wind_that_was_killed_ends_with_the_same_bytes() {
    let kills = if std::env::var_os("UNDINE_FULL").is_some() { 10 } else { 3 };
    let made = ends_with_the_same_bytes(&whole(), ".ply", kills);
    assert!(made.contains_key("strands.0006.ply"), "{:?}", made.keys());
}
