//! Channels: named, typed arrays that belong to a store (Particle System, Discrete Volume, mesh).
//!
//! A [`ChannelSet`] keeps the channels of one store whatever their memory layout; the store says how
//! a column of `T` is laid out through [`Layout`]. Channels are reached by typed [`Handle`]s, which
//! are checked on every use. A kernel claims its channels for as long as it runs, so that two users
//! of which one writes are an error that names both.

mod flat;
mod set;
mod spec;

pub use flat::{ErasedFlat, Flat, FlatColumn};
pub use set::{ChannelMut, ChannelRef, ChannelSet, ErasedColumn, Handle, Layout};
pub use spec::{ChannelInfo, ChannelSpec, Combine};
