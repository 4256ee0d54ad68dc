//! Reads `.vdb` files: a [`File`] knows every grid's head when it is opened, and reads one grid's tree when it is asked to.
//!
//! A file may be hostile. Every count, length and offset is checked against the bytes that are there before anything is
//! allocated for it, and an error names its place in the file.

pub(crate) mod content;
pub(crate) mod cursor;
pub mod file;
pub mod head;
pub(crate) mod instances;
pub(crate) mod metadata;
pub(crate) mod native_half;
pub(crate) mod source;
pub(crate) mod topology;
pub(crate) mod transform;
pub(crate) mod tree;
pub(crate) mod values;

pub use file::{File, Warning};
pub use head::GridHead;
