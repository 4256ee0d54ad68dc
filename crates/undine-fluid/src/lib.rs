//! What liquids and gases share, on any MAC velocity: walls, pressure, viscosity, extension.

pub mod bodies;
pub mod carry;
pub mod confinement;
pub mod extend;
pub mod field;
pub mod fill;
mod fill_tile;
pub mod inflow;
pub mod nearby;
pub mod pressure;
pub mod second_order;
pub mod sink;
mod sink_cells;
mod solved;
pub mod source;
pub mod viscosity;
pub mod walls;

use undine_sim::BehaviorKind;

/// Every Behavior of this crate.
pub const BEHAVIORS: &[BehaviorKind] = &[
    BehaviorKind::operator::<confinement::Confinement>(&confinement::DECLARATION),
    BehaviorKind::operator::<inflow::Inflow>(&inflow::DECLARATION),
    BehaviorKind::operator::<pressure::Pressure>(&pressure::DECLARATION),
    BehaviorKind::operator::<sink::Sink>(&sink::DECLARATION),
    BehaviorKind::operator::<source::Source>(&source::DECLARATION),
    BehaviorKind::operator::<viscosity::Viscosity>(&viscosity::DECLARATION),
    BehaviorKind::operator::<walls::Walls>(&walls::DECLARATION),
];
