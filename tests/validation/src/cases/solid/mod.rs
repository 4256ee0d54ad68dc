//! Cases of `undine-solid`: bodies at rest, for longer than a test can wait.

mod creep;

use crate::page::Case;

/// The cases, in the order in which they run.
pub const CASES: &[Case] = &[creep::CREEP];
