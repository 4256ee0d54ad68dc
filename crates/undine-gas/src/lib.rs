//! Gases: air and smoke on a sparse MAC grid that exists where it is wanted.

pub mod air;
pub mod dissipation;
pub mod stamp;

use undine_sim::BehaviorKind;

/// Every Behavior of this crate.
pub const BEHAVIORS: &[BehaviorKind] = &[
    BehaviorKind::object::<air::Air>(&air::DECLARATION),
    BehaviorKind::operator::<dissipation::Dissipation>(&dissipation::DECLARATION),
    BehaviorKind::operator::<stamp::Stamp>(&stamp::DECLARATION),
];
