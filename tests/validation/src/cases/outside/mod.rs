//! Cases from outside: what was tried by those who knew the documentation alone.

mod far;
mod scene;
mod viscous;

use crate::page::Case;

/// The cases, in the order in which they run.
pub const CASES: &[Case] =
    &[far::CORK, far::WATER, viscous::SETTLING, viscous::SPINNING, viscous::FLOATING];
