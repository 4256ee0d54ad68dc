//! Wireframe: edges between vertices, and nothing else.

use super::class::{ElementClass, ElementId, MeshKind};
use super::fault::MeshFault;
use super::fault_search::{FaultList, no_length, repeated_vertex};
use super::store::{
    Checked, Connectivity, Mesh, count_u32, dangling, first_fault, report_of, rows_of,
};
use crate::error::{CoreError, Result};
use crate::memory::MemoryReport;
use glam::DVec3;
use std::any::Any;
use std::borrow::Cow;

/// Edges with channels on vertices, edges and whole.
pub type Wireframe = Mesh<Segments>;

/// Pairs of vertices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segments {
    ends: Vec<[u32; 2]>,
}

impl Segments {
    /// Edges between these vertices, in this order and direction.
    pub fn new(mut ends: Vec<[u32; 2]>) -> Self {
        ends.shrink_to_fit();
        Self { ends }
    }

    /// The vertices of each edge.
    pub fn ends(&self) -> &[[u32; 2]] {
        &self.ends
    }
}

impl Connectivity for Segments {
    fn kind(&self) -> MeshKind {
        MeshKind::Wireframe
    }

    fn count(&self, class: ElementClass) -> usize {
        if class == ElementClass::Edge { self.ends.len() } else { 0 }
    }

    fn edge_ends(&self) -> Cow<'_, [[u32; 2]]> {
        Cow::Borrowed(&self.ends)
    }

    fn memory(&self) -> MemoryReport {
        report_of(size_of_val(self.ends.as_slice()), self.ends.capacity() * size_of::<[u32; 2]>())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn tables(&self) -> [Cow<'_, [u32]>; 2] {
        [Cow::default(), Cow::Borrowed(self.ends.as_flattened())]
    }
}

impl Checked for Segments {
    fn check(&self, vertices: u32) -> Result<(), MeshFault> {
        // Both ends of every edge are listed in vertex tables, whose offsets have 32 bits.
        count_u32("edges", self.ends.len(), u64::from(u32::MAX / 2))?;
        first_fault(self.ends.len(), |edge| {
            dangling(ElementId::new(ElementClass::Edge, edge), &self.ends[edge], vertices)
        })
    }

    fn find_faults(&self, positions: &[DVec3], faults: &mut FaultList) {
        faults.scan(self.ends.len(), |number| {
            let element = ElementId::new(ElementClass::Edge, number);
            let [a, b] = self.ends[number];
            repeated_vertex(element, &[a, b])
                .or_else(|| no_length(element, positions[a as usize], positions[b as usize]))
        });
    }

    fn set_tables(&mut self, tables: [Vec<u32>; 2], vertices: u32) -> Result<()> {
        let other = Self::new(rows_of(MeshKind::Wireframe, tables)?);
        let refuse = |fault| CoreError::Mesh { mesh: MeshKind::Wireframe.to_string(), fault };
        other.check(vertices).map_err(refuse)?;
        *self = other;
        Ok(())
    }

    fn referenced(&self) -> Box<dyn Iterator<Item = u32> + '_> {
        Box::new(self.ends.as_flattened().iter().copied())
    }
}
