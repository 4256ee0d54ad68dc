//! Curves: strands of vertices, one after the other, open or closed.

use super::class::{ElementClass, ElementId, MeshKind};
use super::fault::MeshFault;
use super::fault_search::{FaultList, no_length};
use super::measure;
use super::store::{Checked, Connectivity, Mesh, count_u32, first_fault, report_of};
use crate::error::{CoreError, Result};
use crate::memory::MemoryReport;
use glam::DVec3;
use std::any::Any;
use std::borrow::Cow;
use std::ops::Range;

/// Strands with channels on vertices, edges, curves and whole.
pub type Curves = Mesh<Strands>;

/// Which vertices each curve runs through: consecutive ones, so that offsets say everything.
///
/// The edges are numbered along the curves, curve after curve; that which closes a curve comes last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strands {
    /// Curve `i` has the vertices `offsets[i]..offsets[i + 1]`.
    offsets: Vec<u32>,
    /// Whether each curve is closed; empty if none is.
    closed: Vec<bool>,
    /// The first edge of each curve, and the number of edges.
    edge_offsets: Vec<u32>,
}

impl Strands {
    /// Open curves, curve `i` through the vertices `offsets[i]..offsets[i + 1]`.
    ///
    /// The offsets begin with 0, do not decrease, and end with the number of vertices. No
    /// offsets at all are no curves.
    pub fn open(offsets: Vec<u32>) -> Result<Self> {
        Self::build(offsets, Vec::new()).map_err(refusal)
    }

    /// Curves of which those marked are closed: their last vertex is connected to their first.
    pub fn new(offsets: Vec<u32>, closed: Vec<bool>) -> Result<Self> {
        let curves = offsets.len().saturating_sub(1);
        if closed.len() != curves {
            let (found, wanted) = (closed.len() as u64, curves as u64);
            return Err(refusal(MeshFault::FlagCount { found, wanted }));
        }
        let any = closed.contains(&true);
        Self::build(offsets, if any { closed } else { Vec::new() }).map_err(refusal)
    }

    fn build(mut offsets: Vec<u32>, mut closed: Vec<bool>) -> Result<Self, MeshFault> {
        if offsets.is_empty() {
            offsets.push(0);
        }
        offsets.shrink_to_fit();
        closed.shrink_to_fit();
        let curves = offsets.len() - 1;
        count_u32("curves", curves, u64::from(u32::MAX))?;
        first_fault(curves, |number| {
            let (start, end) = (offsets[number], offsets[number + 1]);
            let curve = ElementId::new(ElementClass::Curve, number);
            (end < start).then_some(MeshFault::DecreasingOffsets { curve, start, end })
        })?;
        // No overflow: a curve has at most as many edges as vertices.
        let mut edge_offsets = Vec::with_capacity(offsets.len());
        let mut edges = 0;
        edge_offsets.push(edges);
        for (curve, ends) in offsets.windows(2).enumerate() {
            let vertices = ends[1] - ends[0];
            let closes = vertices > 2 && closed.get(curve).is_some_and(|&closed| closed);
            edges += if closes { vertices } else { vertices.saturating_sub(1) };
            edge_offsets.push(edges);
        }
        Ok(Self { offsets, closed, edge_offsets })
    }

    /// The number of curves.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no curve.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The vertices of a curve.
    pub fn vertices(&self, curve: usize) -> Range<usize> {
        self.offsets[curve] as usize..self.offsets[curve + 1] as usize
    }

    /// The edges of a curve.
    pub fn edges(&self, curve: usize) -> Range<usize> {
        self.edge_offsets[curve] as usize..self.edge_offsets[curve + 1] as usize
    }

    /// Whether a curve is closed.
    pub fn is_closed(&self, curve: usize) -> bool {
        self.closed.get(curve).is_some_and(|&closed| closed)
    }

    /// The ends of the edges of a curve, in order.
    fn curve_edges(&self, curve: usize) -> impl Iterator<Item = [u32; 2]> {
        let (start, end) = (self.offsets[curve], self.offsets[curve + 1]);
        let edges = self.edge_offsets[curve + 1] - self.edge_offsets[curve];
        (start..start + edges)
            .map(move |vertex| [vertex, if vertex + 1 == end { start } else { vertex + 1 }])
    }
}

impl Curves {
    /// The length of every curve [m].
    pub fn curve_lengths(&self) -> Result<Vec<f64>> {
        let positions = self.positions()?;
        let strands = self.connectivity();
        Ok(measure::map(strands.len(), |curve| {
            let edges = strands.curve_edges(curve);
            edges.fold(0.0, |length, [a, b]| {
                length + positions[a as usize].distance(positions[b as usize])
            })
        }))
    }
}

impl Connectivity for Strands {
    fn kind(&self) -> MeshKind {
        MeshKind::Curves
    }

    fn count(&self, class: ElementClass) -> usize {
        match class {
            ElementClass::Curve => self.len(),
            ElementClass::Edge => self.edge_offsets[self.len()] as usize,
            _ => 0,
        }
    }

    fn edge_ends(&self) -> Cow<'_, [[u32; 2]]> {
        let mut ends = Vec::with_capacity(self.count(ElementClass::Edge));
        for curve in 0..self.len() {
            ends.extend(self.curve_edges(curve));
        }
        Cow::Owned(ends)
    }

    fn memory(&self) -> MemoryReport {
        // The offsets of edges follow from those of vertices.
        let used = size_of_val(self.offsets.as_slice()) + self.closed.len();
        let vertices = (self.offsets.capacity() + self.edge_offsets.capacity()) * size_of::<u32>();
        report_of(used, vertices + self.closed.capacity())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn tables(&self) -> [Cow<'_, [u32]>; 2] {
        let closed = self.closed.iter().map(|&closed| u32::from(closed)).collect();
        [Cow::Borrowed(&self.offsets), Cow::Owned(closed)]
    }
}

impl Checked for Strands {
    fn check(&self, vertices: u32) -> Result<(), MeshFault> {
        let (start, end) = (self.offsets[0], self.offsets[self.len()]);
        if start != 0 || end != vertices {
            return Err(MeshFault::OffsetRange { start, end, vertices });
        }
        count_u32("edges", self.count(ElementClass::Edge), u64::from(u32::MAX / 2)).map(|_| ())
    }

    fn find_faults(&self, positions: &[DVec3], faults: &mut FaultList) {
        faults.scan(self.len(), |number| {
            let found = self.vertices(number).len() as u32;
            let wanted = if self.is_closed(number) { 3 } else { 2 };
            let element = ElementId::new(ElementClass::Curve, number);
            (found < wanted).then_some(MeshFault::TooFewCorners { element, found, wanted })
        });
        let ends = self.edge_ends();
        faults.scan(ends.len(), |number| {
            let [a, b] = ends[number].map(|vertex| positions[vertex as usize]);
            no_length(ElementId::new(ElementClass::Edge, number), a, b)
        });
    }

    fn set_tables(&mut self, [offsets, closed]: [Vec<u32>; 2], vertices: u32) -> Result<()> {
        let other = match closed.is_empty() {
            true => Self::open(offsets)?,
            false => Self::new(offsets, closed.iter().map(|&closed| closed != 0).collect())?,
        };
        other.check(vertices).map_err(refusal)?;
        *self = other;
        Ok(())
    }

    fn referenced(&self) -> Box<dyn Iterator<Item = u32> + '_> {
        Box::new(0..self.offsets[self.len()])
    }
}

fn refusal(fault: MeshFault) -> CoreError {
    CoreError::Mesh { mesh: MeshKind::Curves.to_string(), fault }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_run_along_each_curve_and_close_it_last() {
        let strands = Strands::new(vec![0, 3, 3, 4, 7], vec![false, false, true, true]).unwrap();
        let ends = strands.edge_ends();
        assert_eq!(*ends, [[0, 1], [1, 2], [4, 5], [5, 6], [6, 4]]);
        assert_eq!(strands.edges(3), 2..5);
        assert_eq!(strands.vertices(2), 3..4);
    }

    #[test]
    fn the_length_of_a_closed_curve_has_the_way_back() {
        let square = vec![DVec3::ZERO, DVec3::X, DVec3::X + DVec3::Y, DVec3::Y];
        let twice = [square.clone(), square].concat();
        let strands = Strands::new(vec![0, 4, 8], vec![true, false]).unwrap();
        let curves = Curves::new("squares", twice, strands).unwrap();
        assert_eq!(curves.curve_lengths().unwrap(), [4.0, 3.0]);
        assert_eq!(curves.length().unwrap(), 7.0);
        assert_eq!(curves.edge_lengths().unwrap(), [1.0; 7]);
        assert_eq!(curves.components().count(), 2);
    }

    #[test]
    fn offsets_that_decrease_are_refused() {
        let message = Strands::open(vec![0, 9, 5]).unwrap_err().to_string();
        assert_eq!(
            message,
            "Curves is not valid: curve 1 runs from vertex 9 to vertex 5, but offsets must not decrease"
        );
    }

    #[test]
    fn offsets_must_cover_all_vertices() {
        for offsets in [vec![0, 2], vec![0, 4], vec![1, 3], vec![0, u32::MAX]] {
            let strands = Strands::open(offsets.clone()).unwrap();
            let result = Curves::new("hair", vec![DVec3::ZERO; 3], strands);
            let Err(CoreError::Mesh { mesh, fault }) = result else { panic!("{offsets:?}") };
            assert_eq!(mesh, "Curves `hair`");
            assert!(matches!(fault, MeshFault::OffsetRange { vertices: 3, .. }), "{fault}");
        }
    }

    #[test]
    fn there_must_be_as_many_flags_as_curves() {
        let error = Strands::new(vec![0, 2], vec![true, false]).unwrap_err();
        assert!(
            error.to_string().ends_with("2 curves are said to be closed or open, but there are 1")
        );
    }
}
