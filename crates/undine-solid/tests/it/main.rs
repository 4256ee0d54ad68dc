//! What solids do, held against nature.

mod contact;
mod curves;
mod flight;
mod held;
mod resume;
mod scene;
mod spin;
