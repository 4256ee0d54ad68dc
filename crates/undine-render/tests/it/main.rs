//! Tests of the whole crate, one program.

mod spheres;
