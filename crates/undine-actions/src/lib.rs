//! What spans phenomena, written on what Objects offer, never on a kind of Object.

pub mod anchors;
pub mod attachment;
mod begins;
pub mod collider;
pub mod collision;
pub mod contact;
pub mod coupled;
pub mod criteria;
pub mod drag;
pub mod emit;
pub mod error;
pub mod field;
pub mod gravity;
pub mod guide;
pub mod kill;
pub mod nearby;
pub mod springs;
pub mod surface;
pub mod transition;

pub use error::{ActionError, Result};

use undine_sim::BehaviorKind;

/// Every Behavior of this crate.
pub const BEHAVIORS: &[BehaviorKind] = &[
    BehaviorKind::force::<gravity::Gravity>(&gravity::DECLARATION),
    BehaviorKind::force::<drag::AirDrag>(&drag::DECLARATION),
    BehaviorKind::force::<field::ForceField>(&field::DECLARATION),
    BehaviorKind::force::<guide::Guide>(&guide::DECLARATION),
    BehaviorKind::object::<collider::SceneCollider>(&collider::DECLARATION),
    BehaviorKind::object::<anchors::Anchors>(&anchors::DECLARATION),
    BehaviorKind::operator::<collision::Collision>(&collision::DECLARATION),
    BehaviorKind::operator::<coupled::drag::CoupledDrag>(&coupled::drag::DECLARATION),
    BehaviorKind::operator::<coupled::buoyancy::CoupledBuoyancy>(&coupled::buoyancy::DECLARATION),
    BehaviorKind::constraint::<springs::Springs, 1, 2>(&springs::DECLARATION),
    BehaviorKind::constraint::<attachment::Attachment, 12, 2>(&attachment::DECLARATION),
    BehaviorKind::operator::<transition::Transition>(&transition::DECLARATION),
    BehaviorKind::operator::<emit::Emit>(&emit::DECLARATION),
    BehaviorKind::operator::<kill::Kill>(&kill::DECLARATION),
    BehaviorKind::operator::<surface::Surface>(&surface::DECLARATION),
];
