//! Undine as a library: every Behavior, and running, resuming and caching a setup.

pub mod cache;
