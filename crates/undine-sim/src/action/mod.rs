//! Actions: what works on Objects. A [`force`] needs no neighbours, a [`constraint`] is an energy over several points, an
//! [`operator`] does anything else.

pub mod constraint;
pub mod force;
pub mod operator;
