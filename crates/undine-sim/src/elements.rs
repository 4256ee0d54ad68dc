//! What a Constraint acts on: an element for each group of points, with rest state and memory in channels.

use crate::error::Result;
use undine_core::channel::{ChannelMut, ChannelRef, ChannelSet, Flat, FlatColumn};
use undine_core::{ChannelSpec, Element, Handle};

/// Elements with channels of one length.
pub struct ElementSet {
    channels: ChannelSet<Flat>,
    len: usize,
}

impl ElementSet {
    /// No elements, no channels.
    pub fn new(label: impl Into<String>) -> Self {
        Self { channels: ChannelSet::new(label), len: 0 }
    }

    /// How messages call it.
    pub fn label(&self) -> &str {
        self.channels.label()
    }

    /// How many elements there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Its channels.
    pub fn channels(&self) -> &ChannelSet<Flat> {
        &self.channels
    }

    /// Its channels and how many elements they have, for whoever restores both.
    pub fn parts_mut(&mut self) -> (&mut ChannelSet<Flat>, &mut usize) {
        (&mut self.channels, &mut self.len)
    }

    /// Adds a channel.
    pub fn add_channel<T: Element>(&mut self, spec: &ChannelSpec<T>) -> Result<Handle<T>> {
        Ok(self.channels.add(spec, FlatColumn::new(spec, self.len))?)
    }

    /// The handle of a channel.
    pub fn handle<T: Element>(&self, name: &str) -> Result<Handle<T>> {
        Ok(self.channels.handle(name)?)
    }

    /// Claims a channel for reading.
    pub fn column<T: Element>(&self, handle: Handle<T>) -> Result<ChannelRef<'_, Flat, T>> {
        Ok(self.channels.read(handle, "elements")?)
    }

    /// Claims a channel for writing.
    pub fn column_mut<T: Element>(&self, handle: Handle<T>) -> Result<ChannelMut<'_, Flat, T>> {
        Ok(self.channels.write(handle, "elements")?)
    }

    /// Makes it `len` elements long; what is new holds the defaults of its channels.
    pub fn resize(&mut self, len: usize) {
        self.len = len;
        for (_, column) in self.channels.columns_mut() {
            column.resize(len);
        }
    }
}
