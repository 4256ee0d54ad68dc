//! Liquids: particles on a sparse MAC grid that follows them.

pub mod seed;

use undine_sim::BehaviorKind;

/// Every Behavior of this crate.
pub const BEHAVIORS: &[BehaviorKind] = &[];
