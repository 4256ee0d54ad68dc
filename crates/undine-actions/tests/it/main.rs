//! What Actions do to things, held against nature.

mod drag;
mod field;
