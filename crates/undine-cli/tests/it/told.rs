//! What a run tells: once where it happens, counted from then on, and all of it in `log.txt`.

use crate::program::{Stage, ended};

/// Water that falls into a tank with a ball of stone in it, and drops that leave the scene.
const SCENE: &str = r#"
setup "tank" frames=7 substeps=1 bounds="stage"
input "stage" {
    box size="4 2 4 m" centre="0 80 0 cm"
}
input "column" {
    box size="40 40 40 cm" centre="0 10 0 cm"
}
input "tank" {
    box size="1 1 1 m" centre="0 50 0 cm"
    invert
}
input "places" {
    points at="1.5 0 0 m; 1.75 0 0 m; 1.9 0 0 m; 0 0 0 m"
}
group "water" {
    hybrid "water" input="column" voxel="5 cm"
    collider "tank" input="tank"
    walls
    gravity
}
group "drops" {
    particles "drops" input="places" radius="1 mm" velocity="4 0 0 m/s"
}
output dir="cache"
render enabled=#false
"#;

/// A block of 40 cm on the ground, as its faces have it.
fn block(looks_inwards: bool) -> String {
    let faces = ["1 4 3 2", "5 6 7 8", "1 2 6 5", "3 4 8 7", "2 3 7 6", "1 5 8 4"];
    let vertices = "v -0.2 0 -0.2\nv 0.2 0 -0.2\nv 0.2 0.4 -0.2\nv -0.2 0.4 -0.2\nv -0.2 0 0.2\nv 0.2 0 0.2\n\
                    v 0.2 0.4 0.2\nv -0.2 0.4 0.2\n";
    faces.iter().fold(vertices.to_owned(), |text, face| {
        let mut corners: Vec<&str> = face.split(' ').collect();
        if looks_inwards {
            corners.reverse();
        }
        text + "f " + &corners.join(" ") + "\n"
    })
}

fn log_of(stage: &Stage) -> String {
    std::fs::read_to_string(stage.cache().join("log.txt")).unwrap()
}

#[track_caller]
fn lines_with(text: &str, words: &str) -> usize {
    text.lines().filter(|line| line.contains(words)).count()
}

/// Said before anything runs, at the beginning and in every second frame: all of it is in the log, whoever looks at the terminal; what comes again is
/// counted there.
#[test]
fn all_warnings_are_in_the_log_once_and_counted() {
    let unused = "input \"spare\" {\n    sphere radius=\"1 m\"\n}\n";
    for quiet in [true, false] {
        let stage = Stage::new(&format!("{SCENE}{unused}"));
        let scene = stage.scene();
        let words = if quiet { vec!["run", "--quiet", &scene] } else { vec!["run", &scene] };
        let ended = ended(&words);
        assert_eq!(ended.code, 0, "{}{}", ended.out, ended.error);
        let told = format!("{}{}", ended.out, ended.error);
        let log = log_of(&stage);
        for said in [
            "warning: nothing uses the input `spare`: name it where it is meant",
            "warning: nothing keeps the volume of `water/water`",
            "begin inside of colliders",
        ] {
            assert_eq!(lines_with(&log, said), 1, "{said} in\n{log}");
        }
        assert!(log.find("frames 1 to 7").unwrap() < log.find("nothing uses").unwrap(), "{log}");
        assert!(log.find("begin inside of").unwrap() < log.find("frame 2:").unwrap(), "{log}");
        // Three drops leave, each in a frame of its own.
        let first = "`bounds` has ended 1 particles of `drops/drops`";
        assert_eq!(lines_with(&log, &format!("note: {first}")), 1, "{log}");
        let counted = "note: 3 times, at last: `bounds` has ended 1 particles of `drops/drops` of 4.189e-6 kg, 3 since";
        assert_eq!(lines_with(&log, counted), 1, "{log}");
        match quiet {
            true => assert_eq!(told, ""),
            false => {
                assert_eq!(lines_with(&told, first), 2, "{told}");
                assert!(told.contains("begin inside of colliders"), "{told}");
            }
        }
    }
}

/// What leaves the scene is gone, and nothing else is.
#[test]
fn what_leaves_the_bounds_of_the_scene_ends() {
    let start = SCENE.find("group \"water\"").unwrap();
    let end = SCENE.find("group \"drops\"").unwrap();
    let stage = Stage::new(&format!("{}{}", &SCENE[..start], &SCENE[end..]));
    let ended = ended(&["run", &stage.scene()]);
    assert_eq!(ended.code, 0, "{}{}", ended.out, ended.error);
    let log = log_of(&stage);
    for told in ["frame 1: 4 particles", "frame 7: 1 particles"] {
        assert_eq!(lines_with(&log, told), 1, "{log}");
    }
    let wrong = SCENE.replace("bounds=\"stage\"", "bounds=\"stge\"");
    let stage = Stage::new(&wrong);
    let refused = crate::program::ended(&["check", &stage.scene()]);
    let told = format!("{}{}", refused.out, refused.error);
    assert!(refused.code == 2 && told.contains("there is no input `stge`"), "{told}");
    assert!(told.contains("did you mean `stage`"), "{told}");
}

/// As many as have gone, also where a run goes on from a checkpoint.
#[test]
fn what_leaves_the_bounds_is_counted_across_runs() {
    let start = SCENE.find("group \"water\"").unwrap();
    let end = SCENE.find("group \"drops\"").unwrap();
    let stage = Stage::new(&format!("{}{}", &SCENE[..start], &SCENE[end..]));
    let until = |frames: &str| {
        let ended = ended(&["run", &stage.scene(), "--frames", frames]);
        assert_eq!(ended.code, 0, "{}{}", ended.out, ended.error);
    };
    until("1-3");
    let left = |log: &str| -> Vec<String> {
        let lines = log.lines().filter(|line| line.contains("`bounds` has ended"));
        lines.filter_map(|line| line.rsplit_once(", ")).map(|(_, last)| last.to_owned()).collect()
    };
    assert_eq!(left(&log_of(&stage)).last().unwrap(), "2 since the simulation began");
    until("1-7");
    let log = log_of(&stage);
    assert_eq!(left(&log).last().unwrap(), "3 since the simulation began", "{log}");
    assert_eq!(lines_with(&log, "warning: `bounds`"), 0, "{log}");
}

#[track_caller]
fn check(scene: &str, block: &str) -> String {
    let stage = Stage::new(scene);
    std::fs::write(stage.path().join("block.obj"), block).unwrap();
    let checked = ended(&["check", &stage.scene()]);
    assert_eq!(checked.code, 0, "{}{}", checked.out, checked.error);
    // Lines are broken where they are full.
    checked.error.replace('│', " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_collider_that_is_inside_out_is_told_of() {
    let scene = "setup \"a\" frames=2\ninput \"block\" {\n    load file=\"block.obj\"\n}\ncollider \"block\" input=\"block\"\n\
                 input \"p\" {\n    points at=\"0 1 0 m\"\n}\nparticles \"p\" input=\"p\"\ncollision\n";
    let told = check(scene, &block(true));
    assert!(told.contains("the surface of `block` is inside out"), "{told}");
    assert!(
        told.contains("but for 6.400e-2 m³") && told.contains("turn its faces around"),
        "{told}"
    );
    assert_eq!(check(scene, &block(false)), "");
    // A sheet has no inside.
    let sheet = scene.replace("input=\"block\"\n", "input=\"block\" thickness=\"1 cm\"\n");
    assert_eq!(check(&sheet, &block(true)), "");
}

#[test]
fn liquid_without_a_floor_is_told_of() {
    let scene = "setup \"a\" frames=2\ninput \"b\" {\n    sphere radius=\"0.2 m\"\n}\nhybrid \"water\" input=\"b\" voxel=\"5 cm\"\n\
                 pressure\nwalls\n";
    assert_eq!(check(scene, ""), "");
    let told = check(&format!("{scene}gravity\n"), "");
    assert!(told.contains("`water` has no floor"), "{told}");
    let floor = "input \"f\" {\n    plane\n}\ncollider \"f\" input=\"f\"\n";
    assert!(!check(&format!("{scene}gravity\n{floor}"), "").contains("floor:"), "one is there");
}

#[test]
fn drops_that_would_break_are_told_of() {
    let scene = |radius: &str, law: &str| {
        format!(
            "setup \"a\" frames=2\ninput \"p\" {{\n    points at=\"0 1 0 m\"\n}}\nparticles \"rain\" input=\"p\" radius=\"{radius}\"\n\
             gravity\ndrag law=\"{law}\"\n"
        )
    };
    let told = check(&scene("4.2 mm", "drop"), "");
    assert!(
        told.contains("`rain` has drops of 8.4 mm") && told.contains("more than 8 mm"),
        "{told}"
    );
    for (radius, law) in [("4 mm", "drop"), ("4.2 mm", "standard")] {
        assert_eq!(check(&scene(radius, law), ""), "");
    }
}

#[test]
fn coupled_drag_on_what_a_fluid_flows_around_is_told_of() {
    let scene = "setup \"a\" frames=2\ninput \"pool\" {\n    box size=\"1 1 1 m\"\n}\ninput \"tank\" {\n    box size=\"1 1 1 m\"\n    invert\n}\n\
                 input \"ball\" {\n    sphere radius=\"0.2 m\"\n}\nhybrid \"oil\" input=\"pool\" voxel=\"10 cm\"\n\
                 rigid-body \"ball\" input=\"ball\"\ncollider \"tank\" input=\"tank\"\nwalls\npressure\n";
    assert_eq!(check(scene, ""), "");
    let told = check(&format!("{scene}coupled-drag\n"), "");
    assert!(told.contains("`coupled-drag` does nothing to `ball`"), "{told}");
}

#[test]
fn drag_that_does_nothing_beside_viscosity_asks_for_no_viscosity() {
    let scene = "setup \"a\" frames=2\ninput \"pool\" {\n    box size=\"1 1 1 m\"\n}\ninput \"tank\" {\n    box size=\"1 1 1 m\"\n    invert\n}\n\
                 input \"ball\" {\n    sphere radius=\"0.2 m\"\n}\nhybrid \"oil\" input=\"pool\" voxel=\"10 cm\"\n\
                 rigid-body \"ball\" input=\"ball\"\ncollider \"tank\" input=\"tank\"\nwalls\npressure\ncoupled-drag\n";
    assert!(check(scene, "").contains("add `viscosity` for friction"));
    let told = check(&format!("{scene}viscosity viscosity=\"0.1 Pa s\"\n"), "");
    assert!(told.contains("`viscosity` gives it friction already"), "{told}");
}

/// Balls above a floor.
const BALLS: &str = "setup \"a\" frames=2\ninput \"p\" {\n    points at=\"0 1 0 m\"\n}\ninput \"floor\" {\n    plane\n}\n\
                     collider \"floor\" input=\"floor\"\n";

#[test]
fn what_falls_through_everything_is_told_of() {
    let balls = "particles \"hail\" input=\"p\" radius=\"1 cm\"\n";
    let stone = "input \"crate\" {\n    box size=\"1 1 1 m\" centre=\"0 2 0 m\"\n}\nrigid-body \"crate\" input=\"crate\"\n";
    for (made, name) in [(balls, "hail"), (stone, "crate")] {
        let scene = format!("{BALLS}{made}");
        assert!(!check(&scene, "").contains("will fall"));
        let told = check(&format!("{scene}gravity\n"), "");
        assert!(told.contains(&format!("`{name}` will fall through collider `floor`")), "{told}");
        let held = check(&format!("{scene}gravity\ncollision\n"), "");
        assert!(!held.contains("will fall"), "{held}");
        let killed = format!("{scene}gravity\nkill slower-than=\"1 m/s\"\n");
        assert!(name == "crate" || check(&killed, "").is_empty());
    }
}

#[test]
fn a_collision_without_anything_to_collide_with_is_told_of() {
    let apart =
        format!("{BALLS}group \"drops\" {{\n    particles \"p\" input=\"p\"\n    collision\n}}\n");
    let told = check(&apart, "");
    assert!(told.contains("`drops/collision` does nothing"), "{told}");
    let named = apart.replace("    collision", "    collision against=\"floor\"");
    for there in [named, apart.replace("    collision", "    collision disabled=#true")] {
        assert_eq!(check(&there, ""), "");
    }
}

#[test]
fn a_tank_that_is_not_inverted_is_told_of() {
    let scene = "setup \"a\" frames=2\ninput \"pool\" {\n    box size=\"40 20 40 cm\" centre=\"0 10 0 cm\"\n}\ninput \"tank\" {\n    \
                 box size=\"40 80 40 cm\" centre=\"0 40 0 cm\"\n}\nhybrid \"water\" input=\"pool\" voxel=\"4 cm\"\n\
                 collider \"tank\" input=\"tank\"\nwalls\npressure\ngravity\n";
    let told = check(scene, "");
    assert!(told.contains("of `water` begins inside of collider `tank`"), "{told}");
    assert!(told.contains("did you mean `invert`"), "{told}");
    let inverted = scene.replace("0 40 0 cm\"\n", "0 40 0 cm\"\n    invert\n");
    assert_eq!(check(&inverted, ""), "");
}

#[test]
fn bodies_that_begin_in_each_other_are_refused_by_check_as_by_run() {
    let body = |name: &str, centre: &str| {
        format!(
            "input \"{name}\" {{\n    box size=\"1 1 1 m\" centre=\"{centre} m\"\n}}\nrigid-body \"{name}\" input=\"{name}\"\n"
        )
    };
    let scene = |height: &str| {
        let (one, other) = (body("one", "0 1 0"), body("other", &format!("0.1 {height} 0.2")));
        format!("setup \"a\" frames=2\n{one}{other}collision\ngravity\nrender enabled=#false\n")
    };
    check(&scene("2.1"), "");
    let stage = Stage::new(&scene("1.5"));
    let told = ["check", "run"].map(|command| {
        let refused = ended(&[command, &stage.scene()]);
        assert_eq!(refused.code, 2, "{command}: {}{}", refused.out, refused.error);
        let line = refused.error.lines().find(|line| line.contains("inside of"));
        line.unwrap_or_else(|| panic!("{}", refused.error)).to_owned()
    });
    assert_eq!(told[0], told[1]);
}

/// Water that falls in slow frames: a third of a second in one step.
#[test]
fn steps_that_are_longer_than_a_liquid_asks_for_are_told_of() {
    let scene = |most: u32| {
        format!(
            "setup \"a\" fps=3 frames=3 max-substeps={most}\ninput \"b\" {{\n    sphere radius=\"0.2 m\" centre=\"0 1 0 m\"\n}}\n\
             hybrid \"water\" input=\"b\" voxel=\"10 cm\"\npressure\ngravity\noutput dir=\"cache\"\nrender enabled=#false\n"
        )
    };
    for (most, told) in [(1, 1), (64, 0)] {
        let stage = Stage::new(&scene(most));
        let ended = ended(&["run", "--quiet", &stage.scene()]);
        assert_eq!(ended.code, 0, "{}", ended.error);
        let log = log_of(&stage);
        assert_eq!(lines_with(&log, "warning: `water`: steps of frame"), told, "{log}");
        assert_eq!(lines_with(&log, "no more than 1 substeps (`max-substeps`)"), 2 * told, "{log}");
    }
}

/// 300 m/s² for 10 ms, within a step of 42 ms.
#[test]
fn a_force_that_is_shorter_than_a_step_gives_its_whole_impulse() {
    let stage = Stage::new(
        "setup \"a\" fps=24 frames=3 substeps=1\ninput \"p\" {\n    points at=\"0 1 0 m\"\n}\nparticles \"p\" input=\"p\"\n\
         force-field form=\"uniform\" axis=\"1 0 0\" strength=\"300 m/s2\" start=\"0.005 s\" end=\"0.015 s\"\n\
         output dir=\"cache\"\nrender enabled=#false\n",
    );
    let ended = ended(&["run", "--quiet", &stage.scene()]);
    assert_eq!(ended.code, 0, "{}", ended.error);
    let stats = std::fs::read_to_string(stage.cache().join("stats.jsonl")).unwrap();
    let last: serde_json::Value = serde_json::from_str(stats.lines().last().unwrap()).unwrap();
    let speed = last["momentum"][0].as_f64().unwrap() / last["mass"].as_f64().unwrap();
    assert!((speed - 3.0).abs() < 1e-5, "{speed} m/s");
}

/// One of 501 flies 600 times as fast as the others, and 80 of 32,848 drops are far from all others.
#[test]
fn few_that_make_all_others_dear_are_told_of_with_the_cure() {
    let fast = r#"
setup "fast" frames=2 cfl=1
input "slow" {
    box size="1 1 1 m"
    scatter count=500 seed=1
    set channel="v" value="0.1 0 0 m/s"
}
input "all" {
    points at="0 3 0 m"
    set channel="v" value="60 0 0 m/s"
    merge with="slow"
}
particles "dust" input="all" radius="1 mm"
output dir="cache"
render enabled=#false
"#;
    let spread = r#"
setup "spread" frames=1
input "pool" {
    box size="80 80 80 cm"
    scatter on="volume" spacing="2.5 cm"
}
input "all" {
    box size="40 2 40 m" centre="0 6 0 m"
    scatter count=80 seed=1
    merge with="pool"
}
hybrid "water" input="all" voxel="5 cm"
pressure
output dir="cache"
render enabled=#false
"#;
    let of_the_step =
        ["`dust`: 1 of 501 particles rule the step", "60.000 m/s at (2.5", "faster-than=\"0.4"];
    let of_voxels = ["`water`: 80 of", "fly alone, and take 80 of", "`bounds`"];
    for (scene, words) in [(fast, of_the_step), (spread, of_voxels)] {
        let stage = Stage::new(scene);
        let ended = ended(&["run", "--quiet", &stage.scene()]);
        assert_eq!(ended.code, 0, "{}{}", ended.out, ended.error);
        let log = log_of(&stage);
        for word in words {
            assert_eq!(lines_with(&log, word), 1, "{word} in\n{log}");
        }
    }
}

/// Springs give way, so that nothing bounces off them as it is asked to.
#[test]
fn bounces_that_penalties_cannot_make_are_told_of() {
    let scene = "setup \"a\" frames=2\ninput \"floor\" {\n    plane\n}\ninput \"ball\" {\n    sphere radius=\"10 cm\" centre=\"0 1 0 m\"\n}\n\
                 collider \"floor\" input=\"floor\"\nrigid-body \"ball\" input=\"ball\" velocity=\"0 -200 0 m/s\"\n\
                 collision restitution=1 response=\"RESPONSE\"\n";
    let told = check(&scene.replace("RESPONSE", "penalty"), "");
    for word in ["`collision`", "nothing", "bounces", "restitution", "leave `response` away"] {
        assert!(told.contains(word), "no {word} in\n{told}");
    }
    assert_eq!(check(&scene.replace("RESPONSE", "hard"), ""), "");
    assert_eq!(check(&scene.replace("RESPONSE", "penalty").replace("restitution=1", ""), ""), "");
}
