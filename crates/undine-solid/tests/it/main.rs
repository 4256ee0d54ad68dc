//! What solids do, held against nature.

mod spin;
