//! Units of measurement: what a value of a scene may carry, and what it means in SI.
//!
//! Inside Undine every number is in SI. At its edges people write `2 cm`, `4 0 0 m/s` or `20 degC`; a [`Dimension`] says
//! whether that is what was asked for, and [`quantity`] turns it into SI or says what would be right.

pub mod dimension;
pub mod quantity;
pub mod spelling;
pub mod unit;

pub use dimension::Dimension;
pub use quantity::{Quantity, QuantityError};
pub use unit::{Unit, UnitError};
