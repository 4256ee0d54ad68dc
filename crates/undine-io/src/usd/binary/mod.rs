//! Layers as binary: Pixar's crate format, `.usdc`.
//!
//! A crate begins with a header that says where the table of contents is; the table names six sections, and before them
//! lie the values that are too large to stand in eight bytes. TOKENS are all the words, STRINGS indices into them, FIELDS
//! pairs of a word and a value, FIELDSETS lists of fields that end with a marker, PATHS a tree of names, and SPECS triples
//! of path, field set and kind: one for each prim, attribute and relationship. Equal words, values, fields and sets are
//! stored once. From version 0.4 on the sections are compressed, and from 0.5 on the arrays of integers too.
//!
//! Versions 0.0.1 to 0.16 are read. Version 0.8 is written, which everything of the last years reads; a time code needs
//! 0.9 and a path expression 0.10.

mod integers;
mod kind;
mod lz4;
mod read;
mod write;

pub use read::parse;
pub use write::encode;

/// What a crate begins with.
const MAGIC: &[u8; 8] = b"PXR-USDC";

/// The length of the header: magic, version, where the table of contents is, and a reserve [bytes].
const HEADER: usize = 88;

/// What ends a list of fields.
const NO_FIELD: u32 = u32::MAX;

/// Arrays with fewer elements are not compressed.
const SMALLEST_COMPRESSED: usize = 16;

/// The sections, in the order in which they are written.
const SECTIONS: [&str; 6] = ["TOKENS", "STRINGS", "FIELDS", "FIELDSETS", "PATHS", "SPECS"];

/// Kinds of specs, by their number in the file.
mod spec {
    pub const ATTRIBUTE: u32 = 1;
    pub const PRIM: u32 = 6;
    pub const LAYER: u32 = 7;
    pub const RELATIONSHIP: u32 = 8;
}

/// Which lists an edit of a list has, as bits of its first byte.
mod list {
    pub const IS_EXPLICIT: u8 = 1;
    pub const EXPLICIT: u8 = 1 << 1;
    pub const ADDED: u8 = 1 << 2;
    pub const DELETED: u8 = 1 << 3;
    pub const ORDERED: u8 = 1 << 4;
    pub const PREPENDED: u8 = 1 << 5;
    pub const APPENDED: u8 = 1 << 6;
}

// Arrays are copied between memory and file as they are.
const _: () = assert!(cfg!(target_endian = "little"), "a crate's numbers are little-endian");
