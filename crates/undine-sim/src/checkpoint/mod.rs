//! The checkpoint: the full state of a simulation in one file, generated from the [registry](crate::registry).
//!
//! [`save`] writes every channel that belongs in a checkpoint, with all that its store needs to be the same again: Buckets and
//! how many particles each has, in their order; the next free id; connectivity; frame, time and whatever small
//! values the framework names. [`load`] puts them into stores that were freshly made from the same scene. A store is then the
//! same bit for bit, and stays so in whatever is done to it next.
//!
//! # The file
//!
//! | part | what it holds |
//! |---|---|
//! | header, 40 bytes | magic, format version, byte order, lengths of the other two parts, checksums of header and directory. It has this shape in every version |
//! | directory, JSON | who made it, [`State`], all stores and channels, the length of every section |
//! | sections | the bytes of Buckets, counts, connectivity and channels as they lie in memory, a CRC-32 behind each |
//!
//! There is no time stamp, and nothing that depends on threads or on the order in which channels were made: the same state is the
//! same file. Both ways stream; apart from the directory, they need a buffer of a megabyte.
//!
//! Several processes write one file: the first does, and gets from the others, channel by channel, what they have. The file has the
//! order of one process, so that however many there are next time, each finds its own part. Only the directory tells how many
//! there were.
//!
//! # What can go wrong
//!
//! Before [`load`] changes anything, it compares the length of the file with what the header says, verifies every checksum, and
//! compares stores and channels with those that are there; then only memory, the disk or a forged connectivity can fail it. No
//! number in the file is believed until the bytes that it speaks of were counted, and Domains ask their memory budget, as always.
//!
//! - A channel of the file that its store does not have is made. One that the store has and the file does not is refused, unless it
//!   is transient; transient channels begin at their defaults.
//! - An older format version is brought up to date by [`MIGRATIONS`]; a newer one is refused, both versions named.
//! - Tables that stores derive from channels (the Bucket table of topological particles) are not state: they are made again by
//!   whoever needs them.

mod directory;
mod error;
mod header;
mod migrate;
mod read;
mod restore;
mod spread;
mod state;
mod write;

pub use error::CheckpointError;
pub use header::VERSION;
pub use migrate::{MIGRATIONS, Migration};
pub use read::{Summary, inspect, load, load_with, verify};
pub use state::{Identity, State, Value};
pub use write::save;
