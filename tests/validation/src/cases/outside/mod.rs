//! Cases from outside: what was tried by those who knew the documentation alone.

mod scene;
mod viscous;

use crate::page::Case;

/// The cases, in the order in which they run.
pub const CASES: &[Case] = &[viscous::SETTLING, viscous::SPINNING, viscous::FLOATING];
