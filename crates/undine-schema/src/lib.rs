//! What a scene's values mean, and how whatever takes values declares them.
//!
//! Inside Undine every number is in SI. At its edges people write `2 cm`, `4 0 0 m/s` or `20 degC`; a [`Dimension`] says
//! whether that is what was asked for, and [`quantity`] turns it into SI or says what would be right.
//!
//! A Behavior is declared once, by a [`Declaration`] with its [`Parameter`]s; parser, help, reference and JSON schema are
//! made from it. What a user sets is a [`setup`]: a tree of Groups and Behaviors with [`Setting`]s.

mod cut;
pub mod declaration;
pub mod dimension;
pub mod display;
pub mod faces;
pub mod parameter;
pub mod quantity;
pub mod setup;
pub mod spelling;
pub mod unit;
pub mod value;

pub use cut::cut;
pub use declaration::{Declaration, Kind};
pub use dimension::Dimension;
pub use parameter::{Fallback, Level, Parameter, Range, Type};
pub use quantity::{Quantity, QuantityError};
pub use unit::{Unit, UnitError};
pub use value::{Interpolation, Key, Keys, Setting, Value};
