//! Tests of the whole crate, one program.
