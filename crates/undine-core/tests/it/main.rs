//! Integration tests of `undine-core`, one program.

mod sample;
