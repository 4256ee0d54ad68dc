//! Liquids: particles on a sparse MAC grid that follows them.

use undine_sim::BehaviorKind;

/// Every Behavior of this crate.
pub const BEHAVIORS: &[BehaviorKind] = &[];
