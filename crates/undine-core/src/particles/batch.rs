//! Particles on their way into a Particle System.

use crate::channel::{ErasedFlat, FlatColumn};
use crate::domain::Bucket;
use crate::element::Element;
use crate::error::{CoreError, Result};
use glam::Vec3;

/// New particles, to be given values and then appended.
///
/// Made by [`ParticleSystem::batch`](super::ParticleSystem::batch); every channel starts at its default.
pub struct Batch {
    /// The store that the particles are for.
    pub(super) store: u64,
    pub(super) label: String,
    /// Which Bucket each particle goes to.
    pub(super) buckets: Vec<Bucket>,
    /// The particles that these were split from, or nothing.
    pub(super) parents: Vec<u64>,
    /// One column per channel of the store, in its order.
    pub(super) columns: Vec<Box<dyn ErasedFlat>>,
    /// The channels' names, in the same order.
    pub(super) names: Vec<String>,
    pub(super) position: usize,
}

impl Batch {
    /// How many particles there are.
    pub fn len(&self) -> usize {
        self.buckets.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.buckets.is_empty()
    }

    /// The Bucket of each particle.
    pub fn buckets(&self) -> &[Bucket] {
        &self.buckets
    }

    /// The ids of the particles that these were split from; empty for new ones.
    pub fn parents(&self) -> &[u64] {
        &self.parents
    }

    /// The offsets [m] from each particle's Bucket's corner. They may leave the Bucket: the particle
    /// then finds its way when it is appended.
    pub fn offsets_mut(&mut self) -> &mut [Vec3] {
        match self.columns[self.position].as_any_mut().downcast_mut::<FlatColumn<Vec3>>() {
            Some(column) => column,
            None => &mut [],
        }
    }

    /// The values of a channel, by name.
    pub fn values_mut<T: Element>(&mut self, name: &str) -> Result<&mut [T]> {
        let Some(column) = self.names.iter().position(|known| known == name) else {
            return Err(CoreError::UnknownChannel {
                store: self.label.clone(),
                channel: name.to_owned(),
                known: self.names.join(", "),
            });
        };
        let found = self.columns[column].element_type();
        match self.columns[column].as_any_mut().downcast_mut::<FlatColumn<T>>() {
            Some(column) => Ok(column),
            None => Err(CoreError::WrongType {
                store: self.label.clone(),
                channel: name.to_owned(),
                found,
                wanted: T::TYPE,
            }),
        }
    }

    /// Sets the values of a channel, one per particle.
    pub fn set<T: Element>(&mut self, name: &str, values: &[T]) -> Result<()> {
        let count = self.len();
        let column = self.values_mut::<T>(name)?;
        if values.len() != count {
            return Err(CoreError::WrongLength {
                what: format!("the batch's channel `{name}`"),
                found: values.len(),
                wanted: count,
            });
        }
        column.copy_from_slice(values);
        Ok(())
    }

    /// Keeps the particles at these places, in this order.
    pub(super) fn keep(&mut self, places: &[u32]) {
        self.buckets = places.iter().map(|&place| self.buckets[place as usize]).collect();
        if !self.parents.is_empty() {
            self.parents = places.iter().map(|&place| self.parents[place as usize]).collect();
        }
        self.columns.iter_mut().for_each(|column| column.gather(places));
    }
}
