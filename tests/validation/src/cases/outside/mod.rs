//! Cases from outside: what was tried by those who knew the documentation alone.

mod carried;
mod falling;
mod far;
mod filling;
mod flight;
mod gaps;
mod hair;
mod round;
mod scene;
mod slot;
mod stacks;
mod viscous;

use crate::page::Case;

/// The cases, in the order in which they run.
pub const CASES: &[Case] = &[
    far::CORK,
    far::WATER,
    flight::FALLING,
    flight::THROWN,
    viscous::SETTLING,
    viscous::SPINNING,
    viscous::FLOATING,
    gaps::RISING,
    gaps::SINKING,
    round::ROLLING,
    round::SLIDING,
    round::BOUNCING,
    hair::HAIR,
    carried::CARRIED,
    slot::SLOT,
    falling::HAIL,
    filling::FILM,
    filling::WALL,
    stacks::STACK,
];
