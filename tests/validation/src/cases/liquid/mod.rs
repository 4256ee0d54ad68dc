//! Cases of `undine-liquid`: whole simulations, held against what was measured in tanks.

mod marin;
mod scene;

use crate::page::Case;

/// The cases, in the order in which they run.
pub const CASES: &[Case] = &[marin::MARIN];
