//! The tests of the library, as one program.

mod cache;
mod scenes;
mod whole;
