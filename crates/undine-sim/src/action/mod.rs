//! Actions: what works on Objects. A [`force`] needs no neighbours, an [`operator`] does anything else.

pub mod force;
pub mod operator;
