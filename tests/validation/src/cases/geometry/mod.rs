//! Cases of `undine-geometry`: what becomes of surfaces that are carried along.

mod carried;

use crate::page::Case;

/// The cases, in the order in which they run.
pub const CASES: &[Case] = &[carried::ZALESAK, carried::ZALESAK_SPHERE, carried::DEFORMATION];
