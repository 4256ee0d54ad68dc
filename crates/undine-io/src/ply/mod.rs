//! PLY, the polygon file of Turk (1994): ASCII, or binary of either byte order, with any properties.
//!
//! The element `vertex` is read as points: `x`, `y`, `z` are positions, three properties that differ only in a last `x`, `y`,
//! `z` are one channel of vectors (`vx vy vz` is `v`, `nx ny nz` is `N`), and every other number is a channel of its own. The list
//! `vertex_indices` of the element `face` is the polygons. Other elements and other lists are passed over.

mod header;
mod read;
mod write;

pub use read::parse;
pub use write::{Precision, write};

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
