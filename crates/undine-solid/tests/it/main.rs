//! What solids do, held against nature.

mod flight;
mod held;
mod resume;
mod scene;
mod spin;
