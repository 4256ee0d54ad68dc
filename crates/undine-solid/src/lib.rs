//! Rigid bodies and deformable solids.

pub mod curves;
pub mod error;
pub mod rigid;

pub use error::{Result, SolidError};

use undine_sim::BehaviorKind;

/// Every Behavior of this crate.
pub const BEHAVIORS: &[BehaviorKind] = &[
    BehaviorKind::object::<rigid::RigidBody>(&rigid::body::DECLARATION),
    BehaviorKind::object::<curves::CurvesObject>(&curves::object::DECLARATION),
    BehaviorKind::constraint::<curves::Stretching, 1, 2>(&curves::stretching::DECLARATION),
    BehaviorKind::constraint::<curves::Bending, 2, 2>(&curves::bending::DECLARATION),
    BehaviorKind::constraint::<curves::Twisting, 1, 2>(&curves::twisting::DECLARATION),
];
