//! Tests of files as a whole.
