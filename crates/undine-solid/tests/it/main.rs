//! What solids do, held against nature.

mod contact;
mod flight;
mod held;
mod resume;
mod scene;
mod spin;
