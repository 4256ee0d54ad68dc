//! PLY, the polygon file of Turk (1994): ASCII, or binary of either byte order, with any properties.
//!
//! The element `vertex` is read as points: `x`, `y`, `z` are positions, three properties that differ only in a last `x`, `y`,
//! `z` are one channel of vectors (`vx vy vz` is `v`, `nx ny nz` is `N`), and every other number is a channel of its own. The list
//! `vertex_indices` of the element `face` is the polygons; where there is none, strips of the element `tristrips` are triangles, and the
//! element `edge` (`vertex1`, `vertex2`) is curves. Colours (`red green blue`, `alpha`) are the channels `Cd` and `Alpha`, from 0
//! to 1. Other elements and other lists are passed over.

mod header;
mod read;
mod write;

pub use crate::table::Precision;
pub use read::{parse, parse_noting};
pub use write::{Style, write, write_geometry};

/// The least significant half of an id is under its own name; the other half, which PLY has no type for, under this ending.
const HIGH_HALF: &str = "_high";

/// How a channel of vectors is called in a file, before its `x`, `y`, `z`.
fn stem_of_channel(channel: &str) -> &str {
    if channel == "N" { "n" } else { channel }
}

/// The channel of vectors that a file calls so.
fn channel_of_stem(stem: &str) -> &str {
    if stem == "n" { "N" } else { stem }
}

/// How a file calls the components of the channel `Cd`.
const COLOUR: [&str; 3] = ["red", "green", "blue"];

/// How a file calls the channel `Alpha`.
const ALPHA: &str = "alpha";
