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

/// A tuft of some twenty strands, of which the lower parts are in a tank of water, and which is pulled to the side: each pushes the other.
pub const WET: &str = r#"
setup "wet" fps=24 frames=4 substeps=2
input "pool" {
    box size="32 16 32 cm" centre="0 8 0 cm"
}
input "tank" {
    box size="32 60 32 cm" centre="0 30 0 cm"
    invert
}
input "tuft" {
    sphere radius="4 cm" form="surface"
    scatter on="surface" count=80 seed=7
    strands length="16 cm" segments=12 bend="0 -1 0" curl-radius="2 mm" curl-length="5 cm" variation=0.2 towards="0 -1 0" within="60 deg"
    transform {
        translate interpolation="cubic" {
            key "0 s" "0 25 0 cm"
            key "0.15 s" "8 23 0 cm"
        }
    }
}
curves "strands" input="tuft" radius="0.25 mm" youngs="0.3 GPa" roots="clamped" voxel="1 cm"
stretching
bending damping-time="5 ms"
twisting damping-time="5 ms"
hybrid "water" input="pool" voxel="2 cm"
collider "tank" input="tank"
walls
pressure
gravity
coupled-drag
coupled-buoyancy
output dir="cache" format="ply"
"#;
