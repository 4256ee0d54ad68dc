//! The tests of geometry, as one program.

mod gallery;
