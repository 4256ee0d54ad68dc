//! What every store and every channel costs.

use super::store::{Store, StoreKind, Stores};
use undine_core::mesh::ElementClass;
use undine_core::{ElementType, MemoryReport, Result};

/// What one store costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreMemory {
    /// What kind of store it is.
    pub kind: StoreKind,
    /// How messages call it.
    pub label: String,
    /// All of it: channels, tables, connectivity.
    pub total: MemoryReport,
    /// Its channels, in the order in which it keeps them.
    pub channels: Vec<ChannelMemory>,
}

/// What one channel costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelMemory {
    /// The class of elements that it is on, for a mesh.
    pub class: Option<ElementClass>,
    /// Its name.
    pub name: String,
    /// The type of one element.
    pub element: ElementType,
    /// How many elements it has.
    pub elements: u64,
    /// Its bytes.
    pub bytes: MemoryReport,
}

/// What every store and every channel costs. Fails if a channel is being written.
pub fn memory(stores: &dyn Stores) -> Result<Vec<StoreMemory>> {
    let mut all = Ok(Vec::new());
    stores.each(&mut |store| {
        if let Ok(list) = &mut all {
            match store.memory() {
                Ok(memory) => list.push(memory),
                Err(error) => all = Err(error),
            }
        }
    });
    all
}

impl Store<'_> {
    /// What this store and its channels cost.
    pub fn memory(&self) -> Result<StoreMemory> {
        let mut channels = Vec::new();
        self.each_column("memory report", |column| {
            let raw = column.bytes();
            channels.push(ChannelMemory {
                class: column.class,
                name: column.info.name.clone(),
                element: column.info.element,
                elements: column.elements(),
                bytes: MemoryReport { raw, overhead: column.allocated_bytes().saturating_sub(raw) },
            });
        })?;
        let total = match self {
            Store::Domain(domain) => domain.topology().memory(),
            Store::Particles(particles) => particles.memory()?,
            Store::Topological(particles) => particles.memory()?,
            Store::Volume(volume) => volume.memory()?,
            Store::Mesh(mesh) => mesh.memory()?,
            Store::Flat(..) => {
                let mut total = MemoryReport::default();
                channels.iter().for_each(|channel| total += channel.bytes);
                total
            }
        };
        Ok(StoreMemory { kind: self.kind(), label: self.label().to_owned(), total, channels })
    }
}
