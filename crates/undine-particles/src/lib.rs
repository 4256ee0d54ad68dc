//! Particles that fly through the air, each by itself until something couples them.

pub mod particles;

use undine_sim::BehaviorKind;

/// Every Behavior of this crate.
pub const BEHAVIORS: &[BehaviorKind] =
    &[BehaviorKind::object::<particles::Particles>(&particles::DECLARATION)];
