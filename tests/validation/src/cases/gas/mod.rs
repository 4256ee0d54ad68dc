//! Cases of `undine-gas`: flows of air, held against what was measured and computed of them.

mod cavity;
mod flat;
mod vortex;
mod wake;

use crate::page::Case;

/// The cases, in the order in which they run.
pub const CASES: &[Case] = &[vortex::VORTEX, cavity::CAVITY, wake::WAKE];
