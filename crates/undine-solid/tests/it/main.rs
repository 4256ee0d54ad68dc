//! What solids do, held against nature.

mod flight;
mod held;
mod scene;
mod spin;
