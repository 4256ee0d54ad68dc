//! Our tables as prims: points as `Points`, polygons as `Mesh`, curves as `BasisCurves`, and back.
//!
//! | table | prim |
//! |---|---|
//! | positions [m] | `points` (`point3f[]`), with `xformOp:translate` for what lies far from the origin |
//! | `v` [m/s] | `velocities` |
//! | `pscale` [m], a radius | `widths`, which are diameters: 2·`pscale` |
//! | `id` | `ids` (`int64[]`), and `primvars:id` for those who do not read `ids`: `int[]` if all fit, else `int64[]` |
//! | `N` | `normals` |
//! | other channels | `primvars:name`, of `vector3f` if they are vectors that turn with the world, with `interpolation` `vertex` for points and `uniform` for faces and curves |
//!
//! Scenes are written in metres. They are read in whatever units they have, and arrive in metres with Y up: a stage that says
//! nothing is in centimetres with Y up, as scene description has it. What is only a help for those who work on a scene
//! (`purpose` `guide`, `proxy`) is not read, and whether something is visible is not asked.

mod join;
mod read;
mod transform;
mod walk;
mod write;

pub(in crate::usd) use read::is_read;
pub use walk::PrimGeometry;
pub(super) use walk::{check_depth, read_each, read_prims};
pub use write::{Form, layer, origin_for};
pub(super) use write::{constant, scene_fields, uniform};

/// A name made of this one that every program takes for an identifier: ASCII letters, digits and `_`.
///
/// `splash 1` becomes `splash_1`; a digit at the beginning gets a `_` before it.
pub fn identifier(name: &str) -> String {
    let mut made = String::with_capacity(name.len() + 1);
    if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        made.push('_');
    }
    made.extend(name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }));
    made
}

#[cfg(test)]
mod tests {
    use super::identifier;

    #[test]
    fn every_name_becomes_an_identifier() {
        for (name, wanted) in [
            ("splash", "splash"),
            ("splash 1", "splash_1"),
            ("1st", "_1st"),
            ("", "_"),
            ("Gischt_über", "Gischt__ber"),
            ("-", "__"),
        ] {
            assert_eq!(identifier(name), wanted);
        }
    }
}
