//! Liquids: particles on a sparse MAC grid that follows them.

pub mod advance;
pub mod density;
pub mod hybrid;
pub mod measure;
pub mod reseed;
mod rows;
pub mod seed;
pub mod surface;
mod volume;

use undine_sim::BehaviorKind;

/// Every Behavior of this crate.
pub const BEHAVIORS: &[BehaviorKind] =
    &[BehaviorKind::object::<hybrid::Hybrid>(&hybrid::DECLARATION)];
