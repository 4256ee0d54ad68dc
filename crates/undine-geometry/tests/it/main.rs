//! The tests of geometry, as one program.

mod fractions;
mod gallery;
mod levelset;
mod solids;
