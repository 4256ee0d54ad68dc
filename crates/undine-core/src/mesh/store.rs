//! The mesh itself: a name, positions, channels on every class of elements, and a connectivity.

use super::bounds::Bounds;
use super::class::{ElementClass, MeshKind};
use super::components::Components;
use super::csr::Csr;
use super::fault::MeshFault;
use super::fault_search::FaultList;
use super::measure;
use crate::channel::{ChannelInfo, ChannelRef, ChannelSet, ChannelSpec, ErasedFlat, Flat};
use crate::channel::{FlatColumn, Handle};
use crate::element::Element;
use crate::error::{CoreError, Result};
use crate::memory::MemoryReport;
use glam::DVec3;
use std::any::Any;
use std::borrow::Cow;
use std::fmt::Debug;

/// How the vertices of a mesh hang together. The set of implementors is closed: [`Strands`](super::Strands),
/// [`Segments`](super::Segments), [`Polygons`](super::Polygons), [`Tetrahedra`](super::Tetrahedra).
pub trait Connectivity: Checked + Any + Debug + Send + Sync {
    /// Which of the four it is.
    fn kind(&self) -> MeshKind;

    /// The number of elements of this class, other than vertices and the whole; zero if the kind has
    /// none such.
    fn count(&self, class: ElementClass) -> usize;

    /// The vertices at the ends of every edge.
    fn edge_ends(&self) -> Cow<'_, [[u32; 2]]>;

    /// What it holds; tables that were derived on demand are overhead.
    fn memory(&self) -> MemoryReport;

    /// For the way back from [`AnyMesh`] to the kind.
    fn as_any(&self) -> &dyn Any;

    /// All of it as two tables of numbers, whatever the kind: where the elements begin (empty where
    /// they all have as many vertices), and what they are made of.
    fn tables(&self) -> [Cow<'_, [u32]>; 2];
}

/// What a mesh asks of its connectivity to be sure of it.
pub trait Checked {
    /// Whether every index is good for this number of vertices.
    fn check(&self, vertices: u32) -> Result<(), MeshFault>;

    /// Lists what is wrong with the elements, given checked indices.
    fn find_faults(&self, positions: &[DVec3], faults: &mut FaultList);

    /// The vertices that elements refer to, in any order, with repetitions.
    fn referenced(&self) -> Box<dyn Iterator<Item = u32> + '_>;

    /// Becomes what [`Connectivity::tables`] has told, if every index is good for this number of vertices.
    fn set_tables(&mut self, tables: [Vec<u32>; 2], vertices: u32) -> Result<()>;
}

/// Vertices with positions, a connectivity, and channels on vertices, edges, faces and so on.
///
/// The positions are the channel [`position`](Self::POSITION) on the vertices. The connectivity is
/// fixed; another one makes another mesh.
#[derive(Debug)]
pub struct Mesh<C: ?Sized> {
    name: String,
    vertex_count: u32,
    position: Handle<DVec3>,
    /// One set for each class that the kind has, in that order.
    sets: Vec<ChannelSet<Flat>>,
    // Last, so that a mesh of a known kind becomes an `AnyMesh`.
    connectivity: C,
}

/// A mesh whose kind is forgotten, for work on all of them: checkpoints, checks, reports.
pub type AnyMesh = Mesh<dyn Connectivity>;

impl<C: Connectivity> Mesh<C> {
    /// A mesh with these positions [m] and this connectivity. Every index is checked; whether
    /// the elements make geometric sense is for [`validate`](Self::validate) to say.
    pub fn new(name: impl Into<String>, positions: Vec<DVec3>, connectivity: C) -> Result<Self> {
        let name = name.into();
        let kind = connectivity.kind();
        let refuse = |fault| CoreError::Mesh { mesh: format!("{kind} `{name}`"), fault };
        let vertex_count = count_u32("vertices", positions.len(), VERTEX_LIMIT).map_err(refuse)?;
        connectivity.check(vertex_count).map_err(refuse)?;

        let label = |class: &ElementClass| format!("the {} of {kind} `{name}`", class.plural());
        let mut sets: Vec<_> =
            kind.classes().iter().map(|class| ChannelSet::new(label(class))).collect();
        let spec = ChannelSpec::new(Self::POSITION, DVec3::ZERO).unit("m");
        let column = FlatColumn::with_values(&spec, positions);
        let position = sets[0].add(&spec, column)?;
        Ok(Self { name, vertex_count, position, sets, connectivity })
    }
}

/// The name of the positions' channel.
const POSITION: &str = "position";

/// One index is kept free to mean "none".
const VERTEX_LIMIT: u64 = u32::MAX as u64;

impl<C: Connectivity + ?Sized> Mesh<C> {
    /// The name of the channel that holds the positions of the vertices [m].
    pub const POSITION: &'static str = POSITION;

    /// The name of the mesh.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Which of the four kinds it is.
    pub fn kind(&self) -> MeshKind {
        self.connectivity.kind()
    }

    /// How the vertices hang together.
    pub fn connectivity(&self) -> &C {
        &self.connectivity
    }

    /// The number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.vertex_count as usize
    }

    /// The number of elements of this class. Fails if the kind has none such. Edges of a Surface, and
    /// edges and faces of a Body, are numbered on the first call.
    pub fn count(&self, class: ElementClass) -> Result<usize> {
        self.slot(class)?;
        Ok(match class {
            ElementClass::Vertex => self.vertex_count(),
            ElementClass::Whole => 1,
            _ => self.connectivity.count(class),
        })
    }

    /// The channels on this class, to find and claim them. Fails if the kind has none such.
    pub fn channels(&self, class: ElementClass) -> Result<&ChannelSet<Flat>> {
        Ok(&self.sets[self.slot(class)?])
    }

    /// Adds a channel to this class, with its default everywhere.
    pub fn add_channel<T: Element>(
        &mut self,
        class: ElementClass,
        spec: &ChannelSpec<T>,
    ) -> Result<Handle<T>> {
        let slot = self.slot(class)?;
        self.sets[slot].check_new(spec)?;
        let column = FlatColumn::new(spec, self.count(class)?);
        self.sets[slot].add(spec, column)
    }

    /// Adds a channel to this class with these values, one for each element.
    pub fn add_channel_with<T: Element>(
        &mut self,
        class: ElementClass,
        spec: &ChannelSpec<T>,
        values: Vec<T>,
    ) -> Result<Handle<T>> {
        let slot = self.slot(class)?;
        self.sets[slot].check_new(spec)?;
        let wanted = self.count(class)?;
        if values.len() != wanted {
            let what = format!("channel `{}` of {}", spec.info.name, self.sets[slot].label());
            return Err(CoreError::WrongLength { what, found: values.len(), wanted });
        }
        self.sets[slot].add(spec, FlatColumn::with_values(spec, values))
    }

    /// Removes a channel from this class. The positions cannot be removed.
    pub fn remove_channel(&mut self, class: ElementClass, channel: &str) -> Result<()> {
        let slot = self.slot(class)?;
        if class == ElementClass::Vertex && channel == POSITION {
            return Err(CoreError::BadValue {
                what: format!("the channel to remove from {}", self.sets[slot].label()),
                found: format!("`{POSITION}`"),
                wanted: "another one, because a mesh has positions",
            });
        }
        self.sets[slot].remove(channel)
    }

    /// The values of a channel, for an owner who needs no claim.
    pub fn values_mut<T: Element>(
        &mut self,
        class: ElementClass,
        handle: Handle<T>,
    ) -> Result<&mut [T]> {
        let slot = self.slot(class)?;
        Ok(self.sets[slot].get_mut(handle)?)
    }

    /// Overwrites whole elements of a channel from element `first` on with the bytes of
    /// [`ErasedFlat::bytes`], as a checkpoint or another process gives them back.
    pub fn write_bytes(
        &mut self,
        class: ElementClass,
        channel: &str,
        first: usize,
        bytes: &[u8],
    ) -> Result<()> {
        let slot = self.slot(class)?;
        let column = self.sets[slot].columns_mut().find(|(info, _)| info.name == channel);
        match column {
            Some((_, column)) => column.write_bytes(first, bytes),
            None => Err(CoreError::UnknownChannel {
                store: self.sets[slot].label().to_owned(),
                channel: channel.to_owned(),
                known: channel_names(&self.sets[slot]),
            }),
        }
    }

    /// Becomes another mesh of its kind, with as many vertices and the connectivity that
    /// [`Connectivity::tables`] has told, all channels at their defaults: what a checkpoint is then read into. Channels and
    /// handles stay. Every index is checked; if one is wrong, nothing changes.
    pub fn reset(&mut self, vertices: usize, tables: [Vec<u32>; 2]) -> Result<()> {
        let refuse =
            |fault| CoreError::Mesh { mesh: format!("{} `{}`", self.kind(), self.name), fault };
        let vertices = count_u32("vertices", vertices, VERTEX_LIMIT).map_err(refuse)?;
        self.connectivity.set_tables(tables, vertices).map_err(|error| match error {
            CoreError::Mesh { fault, .. } => self.refusal(fault),
            other => other,
        })?;
        self.vertex_count = vertices;
        for (slot, &class) in self.kind().classes().iter().enumerate() {
            // Some elements are numbered only when somebody asks for them.
            if self.sets[slot].infos().next().is_none() {
                continue;
            }
            let count = self.count(class)?;
            for (_, column) in self.sets[slot].columns_mut() {
                column.resize(0);
                column.resize(count);
            }
        }
        Ok(())
    }

    /// Every column of this class with its description, for work that does not care for types. Columns must keep their
    /// lengths. Fails if the kind has no such class.
    pub fn columns_mut(
        &mut self,
        class: ElementClass,
    ) -> Result<impl Iterator<Item = (&ChannelInfo, &mut (dyn ErasedFlat + 'static))>> {
        let slot = self.slot(class)?;
        Ok(self.sets[slot].columns_mut())
    }

    /// The positions of the vertices [m], claimed for reading.
    pub fn positions(&self) -> Result<ChannelRef<'_, Flat, DVec3>> {
        let positions = self.sets[0].read(self.position, "mesh geometry")?;
        // A column could have been swapped with that of another mesh while it was claimed.
        if positions.len() != self.vertex_count() {
            let what = format!("channel `{POSITION}` of {}", self.sets[0].label());
            let (found, wanted) = (positions.len(), self.vertex_count());
            return Err(CoreError::WrongLength { what, found, wanted });
        }
        Ok(positions)
    }

    /// The handle of the positions.
    pub fn position(&self) -> Handle<DVec3> {
        self.position
    }

    /// The positions of the vertices [m], for an owner who needs no claim.
    pub fn positions_mut(&mut self) -> Result<&mut [DVec3]> {
        self.values_mut(ElementClass::Vertex, self.position)
    }

    /// The box around all vertices; an empty mesh has none.
    pub fn bounds(&self) -> Result<Option<Bounds>> {
        Ok(Bounds::around(self.positions()?.iter().copied()))
    }

    /// The length of every edge [m].
    pub fn edge_lengths(&self) -> Result<Vec<f64>> {
        let positions = self.positions()?;
        let ends = self.connectivity.edge_ends();
        Ok(measure::map(ends.len(), |edge| length(ends[edge], &positions)))
    }

    /// The sum of the lengths of all edges [m].
    pub fn length(&self) -> Result<f64> {
        let positions = self.positions()?;
        let ends = self.connectivity.edge_ends();
        Ok(measure::sum(ends.len(), |edge| length(ends[edge], &positions)))
    }

    /// For each vertex the edges that it ends, ascending.
    pub fn vertex_edges(&self) -> Csr {
        let ends = self.connectivity.edge_ends();
        Csr::invert(self.vertex_count(), || {
            (0..).zip(ends.iter()).flat_map(|(edge, ends)| ends.map(|vertex| (edge, vertex)))
        })
    }

    /// The parts of the mesh that no edge connects.
    pub fn components(&self) -> Components {
        Components::new(self.vertex_count(), &self.connectivity.edge_ends())
    }

    /// Whether the mesh is sound; if not, its first fault.
    pub fn validate(&self) -> Result<()> {
        let fault = self.faults(1)?.into_iter().find(|fault| !fault.is_note());
        match fault {
            Some(fault) => Err(self.refusal(fault)),
            None => Ok(()),
        }
    }

    /// The first `limit` faults: vertices, then elements in their order, then how they
    /// meet, then [notes](MeshFault::is_note).
    pub fn faults(&self, limit: usize) -> Result<Vec<MeshFault>> {
        let positions = self.positions()?;
        let mut faults = FaultList::new(limit);
        faults.scan(positions.len(), |vertex| {
            let position = positions[vertex];
            (!position.is_finite())
                .then_some(MeshFault::NotFinite { vertex: vertex as u32, position })
        });
        self.connectivity.find_faults(&positions, &mut faults);
        faults.scan(1, |_| self.unreferenced_vertices());
        Ok(faults.into_vec())
    }

    /// What the mesh holds: its channels, the positions among them, and its connectivity. Tables that
    /// were derived from it on demand and are kept count as overhead.
    pub fn memory(&self) -> Result<MemoryReport> {
        let mut report = self.connectivity.memory();
        for set in &self.sets {
            set.each_column("memory report", |_, column| {
                report += report_of(column.used_bytes(), column.allocated_bytes());
            })?;
        }
        Ok(report)
    }

    pub(super) fn refusal(&self, fault: MeshFault) -> CoreError {
        CoreError::Mesh { mesh: format!("{} `{}`", self.kind(), self.name), fault }
    }

    fn unreferenced_vertices(&self) -> Option<MeshFault> {
        let mut used = vec![false; self.vertex_count()];
        for vertex in self.connectivity.referenced() {
            used[vertex as usize] = true;
        }
        let first = used.iter().position(|used| !used)? as u32;
        let count = used.iter().filter(|used| !**used).count() as u32;
        Some(MeshFault::UnreferencedVertices { first, count })
    }

    fn slot(&self, class: ElementClass) -> Result<usize> {
        let classes = self.kind().classes();
        classes.iter().position(|&found| found == class).ok_or_else(|| CoreError::BadValue {
            what: format!("the class of elements asked of {} `{}`", self.kind(), self.name),
            found: class.name().to_owned(),
            wanted: match self.kind() {
                MeshKind::Curves => "vertex, edge, curve or whole",
                MeshKind::Wireframe => "vertex, edge or whole",
                MeshKind::Surface => "vertex, edge, corner, face or whole",
                MeshKind::Body => "vertex, edge, face, cell or whole",
            },
        })
    }
}

#[inline]
fn length([a, b]: [u32; 2], positions: &[DVec3]) -> f64 {
    positions[a as usize].distance(positions[b as usize])
}

/// The report of `used` bytes in `allocated` ones.
pub(super) fn report_of(used: usize, allocated: usize) -> MemoryReport {
    MemoryReport { raw: used as u64, overhead: (allocated - used) as u64 }
}

/// The second table as elements of `N` vertices each, when there is no first one.
pub(super) fn rows_of<const N: usize>(
    kind: MeshKind,
    [starts, items]: [Vec<u32>; 2],
) -> Result<Vec<[u32; N]>> {
    let (rows, rest) = items.as_chunks::<N>();
    if !starts.is_empty() || !rest.is_empty() {
        return Err(CoreError::BadValue {
            what: format!("the table of a {kind}"),
            found: format!("{} numbers and {} starts", items.len(), starts.len()),
            wanted: "as many numbers for every element, and no starts",
        });
    }
    Ok(rows.to_vec())
}

/// `found` as an index, if it is within the limit.
pub(super) fn count_u32(what: &'static str, found: usize, limit: u64) -> Result<u32, MeshFault> {
    let found = found as u64;
    if found > limit { Err(MeshFault::TooMany { what, found, limit }) } else { Ok(found as u32) }
}

/// Whether the corners of an element refer to vertices that exist.
pub(super) fn dangling(
    element: super::ElementId,
    corners: &[u32],
    vertices: u32,
) -> Option<MeshFault> {
    let corner = corners.iter().position(|&index| index >= vertices)?;
    let index = corners[corner];
    Some(MeshFault::DanglingIndex { element, corner: corner as u32, index, vertices })
}

/// The first fault that `check` finds among `0..count`.
pub(super) fn first_fault(
    count: usize,
    check: impl Fn(usize) -> Option<MeshFault> + Sync + Send,
) -> Result<(), MeshFault> {
    let mut faults = FaultList::new(1);
    faults.scan(count, check);
    faults.into_vec().pop().map_or(Ok(()), Err)
}

fn channel_names(set: &ChannelSet<Flat>) -> String {
    let names: Vec<_> = set.infos().map(|info| format!("`{}`", info.name)).collect();
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_elements_than_indices_are_refused() {
        assert_eq!(count_u32("vertices", 7, VERTEX_LIMIT), Ok(7));
        let message = count_u32("vertices", 1 << 32, VERTEX_LIMIT).unwrap_err().to_string();
        assert_eq!(message, "there are 4294967296 vertices, but at most 4294967295 are possible");
    }
}
