//! Scenes of hair that several tests run.

/// Strands that are welded to the points of a scalp which leaps, and meet the skull.
const STILL: &str = r#"
setup "hair" fps=24 frames=6 substeps=2
input "head" {
    sphere radius="9 cm"
    LEAP
}
input "scalp" {
    sphere radius="9 cm" form="surface"
    scatter on="surface" count=60 seed=5
    LEAP
}
input "groom" {
    sphere radius="9 cm" form="surface"
    scatter on="surface" count=60 seed=5
    set channel="pscale" value="80 um" most="160 um"
    strands length="20 cm" segments=12 bend="0 -1.5 0" curl-radius="3 mm" curl-length="7 cm" variation=0.3
}
anchors "roots" input="scalp" voxel="1 cm"
curves "strands" input="groom" youngs="4 GPa" voxel="1 cm"
stretching
bending damping-time="5 ms"
twisting damping-time="5 ms"
attachment to="roots" emission="pair" orientation-stiffness="1e-3 1e-3 1e-3 J"
collider "skull" input="head"
gravity
output dir="cache" format="ply"
"#;

/// To turn and leap to the side.
const LEAP: &str = r#"transform {
        translate interpolation="cubic" {
            key "0 s" "0 0 0 m"
            key "0.3 s" "0.2 0 0 m"
        }
        rotate interpolation="cubic" {
            key "0 s" "0 0 0 deg"
            key "0.3 s" "0 60 0 deg"
        }
    }"#;

/// A head with hair that leaps.
pub fn head() -> String {
    STILL.replace("LEAP", LEAP)
}

/// The air around them, blown at by a wind, and both push each other.
pub const WIND: &str = r#"
volume "air" voxel="2 cm" around="strands" padding=1
inflow velocity="4 0 0 m/s"
walls against="skull"
pressure
coupled-drag
coupled-buoyancy
"#;
