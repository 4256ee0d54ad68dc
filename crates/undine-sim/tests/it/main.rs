//! One program for all integration tests of the crate.

mod checkpoint;
mod checkpoint_damage;
mod constraint;
mod fixtures;
mod forces;
mod newton;
mod registry;
mod springs;
mod stand;
