//! The tests of geometry, as one program.

mod gallery;
mod levelset;
mod solids;
