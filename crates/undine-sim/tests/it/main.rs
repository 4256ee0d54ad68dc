//! One program for all integration tests of the crate.

mod checkpoint;
mod checkpoint_damage;
mod checkpoint_world;
mod constraint;
mod explain;
mod fixtures;
mod forces;
#[cfg(feature = "mpi")]
mod mpi;
mod newton;
mod pipeline;
mod registry;
mod springs;
mod stand;
mod toy;
mod toy_tie;
