//! What solids do, held against nature.

mod contact;
mod curves;
mod flight;
mod held;
mod pile;
mod resume;
mod scene;
mod spin;
