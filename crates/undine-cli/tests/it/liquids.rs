//! Liquids that are not as somebody meant them: what is said, with the numbers and what to change.

use crate::program::{Stage, ended};

/// Water in a tank.
const SCENE: &str = r#"
setup "tank" frames=2 substeps=1
input "column" {
    box size="40 40 40 cm" centre="0 20 0 cm"
}
input "tank" {
    box size="1 1 1 m" centre="0 50 0 cm"
    invert
}
hybrid "water" input="column" voxel="5 cm"
collider "tank" input="tank"
walls
pressure
gravity
output dir="cache"
render enabled=#false
"#;

/// A cube of 40 cm on the ground.
const CUBE: &str = "v -0.2 0 -0.2\nv 0.2 0 -0.2\nv 0.2 0.4 -0.2\nv -0.2 0.4 -0.2\nv -0.2 0 0.2\nv 0.2 0 0.2\n\
                    v 0.2 0.4 0.2\nv -0.2 0.4 0.2\nf 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 3 4 8 7\nf 2 3 7 6\nf 1 5 8 4\n";

/// Fails unless a command ends with this code and says all of these words.
#[track_caller]
fn says(command: &[&str], scene: &str, code: i32, words: &[&str]) {
    let stage = Stage::new(scene);
    tells(&stage, command, code, words);
}

#[track_caller]
fn tells(stage: &Stage, command: &[&str], code: i32, words: &[&str]) {
    let scene = stage.scene();
    let command: Vec<&str> = command.iter().copied().chain([scene.as_str()]).collect();
    let ended = ended(&command);
    let told = format!("{}{}", ended.out, ended.error);
    assert_eq!(ended.code, code, "{told}");
    // Lines are broken where they are full.
    let flat = told.replace('│', " ").split_whitespace().collect::<Vec<_>>().join(" ");
    for word in words {
        assert!(flat.contains(word), "no {word} in\n{told}");
    }
}

#[test]
fn nothing_is_said_of_a_tank_of_water() {
    let stage = Stage::new(SCENE);
    let checked = ended(&["check", &stage.scene()]);
    assert_eq!((checked.code, checked.error.as_str()), (0, ""));
}

#[test]
fn a_collider_that_is_no_wall_is_told_of() {
    let scene = SCENE.replace("walls\n", "");
    let words = ["`water` will go through collider `tank`", "add `walls`", "scene.kdl:10"];
    says(&["check"], &scene, 0, &words);
    says(&["run"], &scene, 0, &words);
    // In a Group of its own it does not reach.
    let scene = SCENE.replace("walls\n", "group \"other\" {\n    walls\n}\n");
    says(&["check"], &scene, 0, &["`water` will go through collider `tank`"]);
}

#[test]
fn liquid_that_nothing_keeps_apart_is_told_of() {
    let scene = SCENE.replace("pressure\n", "");
    let words = ["nothing keeps the volume of `water`", "add `pressure`", "scene.kdl:10"];
    says(&["check"], &scene, 0, &words);
    says(&["check"], &SCENE.replace("pressure\n", "pressure disabled=#true\n"), 0, &words);
}

#[test]
fn no_liquid_at_all_is_told_of() {
    let scene = SCENE.replace(" input=\"column\" voxel", " voxel");
    says(&["check"], &scene, 0, &["there is no liquid in `water`", "`input`", "`source`"]);
    let source = "source input=\"column\" velocity=\"0 -1 0 m/s\"\n";
    let stage = Stage::new(&format!("{scene}{source}"));
    let checked = ended(&["check", &stage.scene()]);
    assert_eq!((checked.code, checked.error.as_str()), (0, ""));
    let drop = SCENE.replace("size=\"40 40 40 cm\"", "size=\"1 1 1 mm\"");
    says(&["check"], &drop, 2, &["no liquid in it", "smaller voxels"]);
}

#[test]
fn liquid_inside_of_a_collider_is_removed_and_counted() {
    let scene = SCENE.replace("centre=\"0 20 0 cm\"", "centre=\"0 10 0 cm\"");
    let words =
        ["warning: water:", " particles (", "kg) begin inside of colliders or bodies", "removed"];
    says(&["run"], &scene, 0, &words);
    let json = ["\"event\":\"warning\"", "begin inside of colliders"];
    says(&["run", "--json"], &scene, 0, &json);
}

#[test]
fn surfaces_without_an_inside_make_no_liquid() {
    let start = SCENE.find("input \"column\"").unwrap();
    let end = SCENE.find("input \"tank\"").unwrap();
    let scene = format!("{}input \"column\" file=\"cube.obj\"\n{}", &SCENE[..start], &SCENE[end..]);
    let turned: String = CUBE.lines().fold(String::new(), |text, line| {
        let turned = match line.strip_prefix("f ") {
            Some(corners) => {
                format!("f {}", corners.split(' ').rev().collect::<Vec<_>>().join(" "))
            }
            None => line.to_owned(),
        };
        text + &turned + "\n"
    });
    let open = CUBE.replace("f 1 5 8 4\n", "");
    for (cube, code, words) in [
        (CUBE.to_owned(), 0, ["nothing is wrong", "4096"]),
        (open, 2, ["has a hole", "`to-distance`"]),
        (turned, 2, ["inside out: it encloses -6.400e-2 m³", "turn its faces over"]),
    ] {
        let stage = Stage::new(&scene);
        std::fs::write(stage.path().join("cube.obj"), cube).unwrap();
        tells(&stage, &["check"], code, &words);
    }
}

#[test]
fn a_wall_with_a_hole_is_told_of_unless_it_is_a_sheet() {
    let block = "input \"block\" file=\"cube.obj\"\ncollider \"block\" input=\"block\"\n";
    let away = SCENE.replace("centre=\"0 20 0 cm\"", "centre=\"0 70 0 cm\"");
    let stage = Stage::new(&format!("{away}{block}"));
    std::fs::write(stage.path().join("cube.obj"), CUBE.replace("f 1 5 8 4\n", "")).unwrap();
    let words = ["the surface of `block` has a hole", "[-0.2000, 0.0000", "`thickness`"];
    tells(&stage, &["check"], 0, &words);
    let sheet = block.replace("input=\"block\"\n", "input=\"block\" thickness=\"1 cm\"\n");
    std::fs::write(stage.scene(), format!("{away}{sheet}")).unwrap();
    let checked = ended(&["check", &stage.scene()]);
    assert_eq!((checked.code, checked.error.as_str()), (0, ""));
}

#[test]
fn voxels_that_no_memory_holds_are_refused_with_some_that_fit() {
    let scene = SCENE.replace("voxel=\"5 cm\"", "voxel=\"0.1 mm\"");
    let words = ["voxels of 0.0001 m make 5.2e11 particles", "of memory", "would fit"];
    says(&["check"], &scene, 4, &words);
    says(&["run"], &scene, 4, &words);
}

#[test]
fn absurd_materials_are_asked_about() {
    let pressure = "pressure tension=\"1e6 N/m\"\nviscosity viscosity=\"1e12 Pa·s\"\n";
    let scene = SCENE.replace("pressure\n", pressure);
    says(&["check"], &scene, 0, &["tension 1000 kN/m", "from 0 to 1 N/m is usual", "1e12 Pa·s"]);
    let scene = SCENE.replace("pressure\n", "pressure tension=\"-1 N/m\"\n");
    says(&["check"], &scene, 2, &["tension", "-1"]);
}

#[test]
fn sources_and_sinks_that_cannot_work_are_told_of() {
    let ball = "input \"ball\" {\n    sphere radius=\"5 cm\" centre=\"5 5 5 m\"\n}\n";
    let source = "source input=\"ball\" velocity=\"0 -1 0 m/s\"\n";
    let words = ["inside of collider `tank`", "move it out of there"];
    says(&["check"], &format!("{SCENE}{ball}{source}"), 2, &words);
    let alone = format!("setup \"a\" frames=1\n{ball}sink input=\"ball\"\n{source}");
    let words = ["sink", "source", "no fluid with particles in its scope", "`hybrid`"];
    says(&["check"], &alone, 0, &words);
}

#[test]
fn a_collider_that_is_faster_than_steps_allow_is_told_of() {
    let paddle = "input \"paddle\" {\n    box size=\"5 5 5 cm\" centre=\"-45 50 0 cm\"\n    transform {\n        translate {\n            \
                  key 1 \"0 0 0 m\"\n            key 2 \"0.85 0 0 m\"\n        }\n    }\n}\n\
                  collider \"paddle\" input=\"paddle\"\n";
    let words = ["warning: paddle: crosses 17.0 voxels", "4 times as many substeps"];
    says(&["run"], &format!("{SCENE}{paddle}"), 0, &words);
}

#[test]
fn walls_that_stick_because_of_bodies_are_told_of() {
    let body = "input \"cork\" {\n    box size=\"10 10 10 cm\" centre=\"0 60 0 cm\"\n}\nrigid-body \"cork\" input=\"cork\" density=\"200 kg/m3\"\n";
    let scene = SCENE.replace("pressure\n", "pressure non-stick=#true\n");
    let stage = Stage::new(&scene);
    let run = ended(&["run", &stage.scene()]);
    assert!(run.code == 0 && !run.error.contains("non-stick"), "{}", run.error);
    let words = ["`non-stick` is left out", "Make the bodies kinematic"];
    says(&["run"], &format!("{scene}{body}"), 0, &words);
}

/// The substeps of each frame, and who asked for so many.
fn steps(scene: &str) -> Vec<(u64, String)> {
    let stage = Stage::new(scene);
    let ended = ended(&["run", "--quiet", &stage.scene()]);
    assert_eq!(ended.code, 0, "{}{}", ended.out, ended.error);
    let stats = std::fs::read_to_string(stage.cache().join("stats.jsonl")).unwrap();
    let frame = |line: &str| {
        let frame: serde_json::Value = serde_json::from_str(line).unwrap();
        let asked = frame["asked_by"].as_str().unwrap_or_default().to_owned();
        (frame["substeps"].as_u64().unwrap(), asked)
    };
    stats.lines().map(frame).collect()
}

/// Eight voxels and more in a frame, from the frame on in which it begins; before, nothing moves.
#[test]
fn what_sources_bring_is_counted_in_steps_before_it_is_there() {
    let pool = "setup \"jet\" fps=24 frames=3\ninput \"pool\" {\n    box size=\"40 10 40 cm\" centre=\"0 -80 0 cm\"\n}\n\
                input \"nozzle\" {\n    box size=\"20 20 20 cm\"\n}\nhybrid \"water\" input=\"pool\" voxel=\"5 cm\"\n\
                walls\npressure\noutput dir=\"cache\"\nrender enabled=#false\n";
    let air = "setup \"jet\" fps=24 frames=3\ninput \"nozzle\" {\n    box size=\"40 40 40 cm\"\n}\n\
               volume \"air\" input=\"nozzle\" voxel=\"5 cm\"\npressure\noutput dir=\"cache\"\nrender enabled=#false\n";
    for (scene, brings) in [
        (pool, "source input=\"nozzle\" velocity=\"0 20 0 m/s\" start=\"60 ms\""),
        (pool, "source input=\"nozzle\" velocity=\"0 1 0 m/s\" rate=\"800 l/s\" start=\"60 ms\""),
        (air, "stamp input=\"nozzle\" velocity=\"0 20 0 m/s\" start=\"60 ms\""),
    ] {
        let found = steps(&format!("{scene}{brings}\n"));
        assert_eq!(found[1], (1, String::new()), "{brings}: {found:?}");
        assert!((9..40).contains(&found[2].0), "{brings}: {found:?}");
        // One that never comes asks for nothing.
        let never = brings.replace("start=\"60 ms\"", "active=#false");
        let found = steps(&format!("{scene}{never}\n"));
        assert!(found.iter().all(|(count, _)| *count <= 1), "{never}: {found:?}");
    }
    // Particles that no fluid is made of count where `cfl` says that anything does.
    let spray = |setup: &str| {
        format!(
            "setup \"spray\" fps=24 frames=3 {setup}\ninput \"nozzle\" {{\n    points at=\"0 0 0 m\"\n}}\n\
             input \"dust\" {{\n    points at=\"5 0 0 m\"\n}}\n\
             particles \"dust\" input=\"dust\" voxel=\"10 cm\"\n\
             emit input=\"nozzle\" rate=\"1 kHz\" velocity=\"0 16 0 m/s\" jitter=\"4 m/s\" start=\"60 ms\"\n\
             output dir=\"cache\"\nrender enabled=#false\n"
        )
    };
    let found = steps(&spray("cfl=1"));
    assert_eq!(found[1], (1, String::new()), "{found:?}");
    assert!(found[2].0 >= 9, "{found:?}");
    assert!(steps(&spray("")).iter().all(|(count, _)| *count <= 1));
}
