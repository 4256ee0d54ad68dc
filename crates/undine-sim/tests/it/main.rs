//! One program for all integration tests of the crate.

mod constraint;
mod newton;
mod springs;
