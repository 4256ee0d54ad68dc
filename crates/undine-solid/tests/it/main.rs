//! What solids do, held against nature.

mod contact;
mod curves;
mod flight;
mod held;
mod on_surface;
mod pile;
mod resume;
mod same_bytes;
mod scene;
mod spin;
