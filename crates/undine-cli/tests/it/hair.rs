//! Scenes of hair that are not as they should be, and what is said of them.

use crate::program::{Stage, ended};
use std::path::Path;

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
        "hair: 15 vertices of 5 strands begin inside of `skull`",
        "vertex 1 of strand",
        "by 3.2",
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

/// Fails unless every vertex of hair is somewhere near, in all frames up to this one.
fn is_all_near(cache: &Path, last: i64) {
    for frame in 1..=last {
        let file = cache.join(format!("hair.{frame:04}.ply"));
        let places = undine_io::read(&file).expect("a frame").points.positions;
        assert!(!places.is_empty());
        let lost = places.iter().find(|at| !at.is_finite() || at.length() > 0.5);
        assert!(lost.is_none(), "{lost:?} in frame {frame}");
    }
}

/// The tuft, held by points on the ball that it grows from, this stiffly.
fn welded(stiffness: &str) -> String {
    TUFT.replace("roots=\"clamped\"", "").replace(
        "stretching",
        &format!(
            r#"input "scalp" {{
    sphere radius="9 cm" form="surface"
    scatter on="surface" count=5 seed=5
}}
anchors "roots" input="scalp"
attachment to="roots" emission="pair" {stiffness}
gravity
stretching"#
        ),
    )
}

/// Stiffness beyond all that there is is asked about, and does what stiffness does: it holds, and nothing flies away.
#[test]
fn absurd_stiffness_of_what_holds_hair_is_asked_about_and_holds() {
    let pushed = TUFT.replacen("radius=\"9 cm\"", "radius=\"13.5 cm\"", 1).replace(
        "\ncollision\n",
        "\ngravity\ncollision response=\"penalty\" stiffness=\"1e20 N/m\"\n",
    );
    for (scene, asked) in [
        (
            welded("normal-stiffness=\"1e20 N/m\" tangent-stiffness=\"1e20 N/m\""),
            "1e9 N/m is usual",
        ),
        (pushed, "from 1 to 1e9 N/m is usual"),
    ] {
        let scene = scene.replace("dir=\"cache\"", "dir=\"cache\" format=\"ply\"");
        let stage = Stage::new(&scene);
        let told = ended(&["run", &stage.scene()]);
        assert_eq!(told.code, 0, "{}", told.error);
        assert!(told.error.contains("1e20") && told.error.contains(asked), "{}", told.error);
        is_all_near(&stage.cache(), 2);
    }
}

/// Where strands are so much softer than what turns them that numbers lose them, it is said what to look for.
#[test]
fn stiffness_that_numbers_do_not_hold_beside_that_of_hair_is_refused_in_words() {
    let stage = Stage::new(&welded("orientation-stiffness=\"1e20 1e20 1e20 J\""));
    let told = ended(&["run", &stage.scene()]);
    assert_eq!(told.code, 3, "{}", told.error);
    for words in ["1.73205e20 J", "from 0 to 1e9 J is usual", "far too large", "attachment, "] {
        assert!(told.error.contains(words), "no {words} in\n{}", told.error);
    }
}

/// Hair in a storm whose air crosses the tunnel several times in a step.
#[test]
fn air_that_is_too_fast_for_its_steps_is_told_of_once() {
    let windy = TUFT.replace(
        "output dir=\"cache\"",
        r#"volume "air" voxel="2 cm" velocity="WIND" around="hair" padding=1
inflow velocity="WIND"
pressure
coupled-drag
gravity
output dir="cache" format="ply""#,
    );
    let breeze = Stage::new(&windy.replace("WIND", "5 0 0 m/s"));
    let sound = ended(&["run", &breeze.scene()]);
    assert_eq!(sound.code, 0, "{}", sound.error);
    assert!(!sound.out.contains("crosses"), "{}", sound.out);
    let storm = windy.replace("WIND", "100 0 0 m/s");
    let storm =
        Stage::new(&storm.replace("fps=24 frames=2 substeps=2", "fps=1 frames=3 substeps=1"));
    let told = ended(&["run", &storm.scene()]);
    assert_eq!(told.code, 0, "{}", told.error);
    for words in [
        "warning: air: air of ",
        " voxels in a substep of 1.000e0 s",
        "times as many `substeps`",
        "`cfl`",
    ] {
        assert!(told.out.contains(words), "no {words} in\n{}", told.out);
    }
    assert_eq!(told.out.matches("crosses").count(), 1, "{}", told.out);
    is_all_near(&storm.cache(), 3);
}
