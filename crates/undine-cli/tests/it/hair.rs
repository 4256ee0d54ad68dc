//! Scenes of hair that are not as they should be, and what is said of them.

use crate::program::{Stage, ended};

/// A tuft on a ball that grows straight out of it.
const TUFT: &str = r#"
setup "tuft" fps=24 frames=2 substeps=2
input "head" {
    sphere radius="9 cm"
}
input "groom" {
    sphere radius="9 cm" form="surface"
    scatter on="surface" count=5 seed=5
    strands length="10 cm" segments=8
}
curves "hair" input="groom" roots="clamped"
stretching
bending
twisting
collider "skull" input="head"
collision
output dir="cache"
"#;

#[test]
fn strands_that_begin_inside_of_a_collider_are_told_of() {
    let sound = ended(&["run", &Stage::new(TUFT).scene()]);
    assert_eq!(sound.code, 0, "{}", sound.error);
    assert!(!sound.out.contains("begin inside"), "{}", sound.out);
    // A larger skull has the first half of each strand in it; what is held there is where it belongs.
    let larger = TUFT.replacen("radius=\"9 cm\"", "radius=\"13.5 cm\"", 1);
    let told = ended(&["run", &Stage::new(&larger).scene()]);
    assert_eq!(told.code, 0, "{}", told.error);
    for words in [
        "hair: 10 vertices of 5 strands begin inside of `skull`",
        "vertex 2 of strand",
        "by 2.0",
        "keep them from going deeper, but do not push them out",
        "hold what belongs there with `roots`",
    ] {
        assert!(told.out.contains(words), "no {words} in\n{}", told.out);
    }
    let soft =
        larger.replace("\ncollision\n", "\ncollision response=\"penalty\" stiffness=\"1 N/m\"\n");
    let told = ended(&["run", &Stage::new(&soft).scene()]);
    assert!(told.out.contains("springs will push them out"), "{}", told.out);
}

/// Strands as thick as a finger have no room on a ball.
#[test]
fn strands_that_begin_in_each_other_are_told_of() {
    let sound = ended(&["run", &Stage::new(TUFT).scene()]);
    assert!(!sound.out.contains("overlap"), "{}", sound.out);
    let told = ended(&[
        "run",
        &Stage::new(
            &TUFT
                .replace("count=5", "count=60")
                .replace("roots=\"clamped\"", "roots=\"clamped\" radius=\"4 mm\""),
        )
        .scene(),
    ]);
    assert_eq!(told.code, 0, "{}", told.error);
    for words in [
        "hair: 44",
        " pairs of edges overlap when the run begins, ",
        "the deepest at (",
        "`radius`",
    ] {
        assert!(told.out.contains(words), "no {words} in\n{}", told.out);
    }
}

/// What can hardly be meant is asked about before anything runs.
#[test]
fn absurd_stiffness_and_thickness_are_asked_about() {
    for (is, absurd) in [
        ("roots=\"clamped\"", "roots=\"clamped\" youngs=\"3000 GPa\""),
        ("roots=\"clamped\"", "roots=\"clamped\" radius=\"4 m\""),
    ] {
        let stage = Stage::new(&TUFT.replace(is, absurd));
        let checked = ended(&["check", &stage.scene()]);
        assert_eq!(checked.code, 0, "{}", checked.error);
        assert!(checked.error.contains("usual"), "{absurd}: {}", checked.error);
    }
}

/// Where there is no air there is no drag, which nobody would guess from how strands move.
#[test]
fn strands_beyond_the_air_are_told_of_once() {
    let windy = TUFT.replace(
        "output",
        r#"input "tunnel" {
    box size="10 10 10 cm"
}
volume "air" voxel="1 cm" around="hair" padding=1 WITHIN
pressure
coupled-drag
output"#,
    );
    let sound = ended(&["run", &Stage::new(&windy.replace("WITHIN", "")).scene()]);
    assert_eq!(sound.code, 0, "{}", sound.error);
    assert!(!sound.out.contains("beyond the air"), "{}", sound.out);
    // Hair is 9 to 19 cm from the middle, and Buckets of 8 cm that the box touches end at 8 cm.
    let within = windy.replace("WITHIN", "within=\"tunnel\"");
    let told = ended(&["run", &Stage::new(&within).scene()]);
    assert_eq!(told.code, 0, "{}", told.error);
    for words in
        ["hair: ", "of 45 vertices are beyond the air of `air`", "at (", "`around`", "`within`"]
    {
        assert!(told.out.contains(words), "no {words} in\n{}", told.out);
    }
    assert_eq!(told.out.matches("beyond the air").count(), 1, "{}", told.out);
}
