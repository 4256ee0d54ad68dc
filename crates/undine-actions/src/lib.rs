//! What spans phenomena, written on what Objects offer, never on a kind of Object.

pub mod gravity;

use undine_sim::BehaviorKind;

/// Every Behavior of this crate.
pub const BEHAVIORS: &[BehaviorKind] =
    &[BehaviorKind::force::<gravity::Gravity>(&gravity::DECLARATION)];
pub mod drag;
pub mod error;
pub mod field;

pub use error::{ActionError, Result};
