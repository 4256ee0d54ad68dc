//! The drag of a fluid on small round things: laws by Reynolds number, their exact derivatives, and an implicit step.
//!
//! Only drag is here. The weight of the displaced fluid is buoyancy, which goes with gravity.

pub mod law;
pub mod sphere;
pub mod step;

pub use law::{Body, Drag, Law, Medium, Resistance};
pub use step::implicit_velocity;
