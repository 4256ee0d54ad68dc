//! The tests of the library, as one program.

mod cache;
mod coupling;
mod files;
mod scenes;
mod shapes;
mod whole;
