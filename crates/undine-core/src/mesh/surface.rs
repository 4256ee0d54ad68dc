//! Surface: polygons of three or more corners, with tables of what touches what.

use super::class::{ElementClass, ElementId, MeshKind};
use super::csr::Csr;
use super::edges::EdgeTable;
use super::fault::MeshFault;
use super::fault_search::{FaultList, no_area, repeated_vertex};
use super::store::{
    Checked, Connectivity, Mesh, count_u32, dangling, first_fault, report_of, rows_of,
};
use crate::error::{CoreError, Result};
use crate::memory::MemoryReport;
use glam::DVec3;
use std::any::Any;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

/// Polygons with channels on vertices, edges, corners, faces and whole.
///
/// A face is seen from outside when its corners turn to the left.
pub type Surface = Mesh<Polygons>;

/// The corners of each polygon. Triangles alone, the common case, need no offsets.
#[derive(Debug, Clone)]
pub struct Polygons {
    /// Face `i` has the corners `offsets[i]..offsets[i + 1]`; `None` if all are triangles.
    offsets: Option<Vec<u32>>,
    /// The vertex at each corner.
    corners: Vec<u32>,
    edges: OnceLock<EdgeTable>,
}

/// Both ends of every edge are listed in vertex tables, whose offsets have 32 bits.
const CORNER_LIMIT: u64 = u32::MAX as u64 / 2;

impl Polygons {
    /// Triangles alone.
    pub fn triangles(triangles: Vec<[u32; 3]>) -> Result<Self> {
        Self::build(None, triangles.into_flattened()).map_err(refusal)
    }

    /// Polygons by the number of corners of each, and the vertices at all corners, face after face.
    pub fn from_counts(counts: &[u32], corners: Vec<u32>) -> Result<Self> {
        let wanted = counts.iter().map(|&count| u64::from(count)).sum::<u64>();
        let found = corners.len() as u64;
        if wanted != found {
            return Err(refusal(MeshFault::CornerCount { found, wanted }));
        }
        first_fault(counts.len(), |face| {
            let element = ElementId::new(ElementClass::Face, face);
            let found = counts[face];
            (found < 3).then_some(MeshFault::TooFewCorners { element, found, wanted: 3 })
        })
        .map_err(refusal)?;
        count_u32("corners of faces", corners.len(), CORNER_LIMIT).map_err(refusal)?;

        let only_triangles = counts.iter().all(|&count| count == 3);
        let offsets = (!only_triangles).then(|| {
            let ends = counts.iter().scan(0, |end, count| {
                *end += count;
                Some(*end)
            });
            let mut offsets = Vec::with_capacity(counts.len() + 1);
            offsets.push(0);
            offsets.extend(ends);
            offsets
        });
        Self::build(offsets, corners).map_err(refusal)
    }

    /// Polygons by the vertices of each.
    pub fn from_faces<F: AsRef<[u32]>>(faces: &[F]) -> Result<Self> {
        let faces = || faces.iter().map(AsRef::as_ref);
        // A count too large for 32 bits is cut here, and found when the counts do not add up.
        let counts: Vec<u32> =
            faces().map(|face| face.len().min(u32::MAX as usize) as u32).collect();
        Self::from_counts(&counts, faces().flatten().copied().collect())
    }

    fn build(offsets: Option<Vec<u32>>, mut corners: Vec<u32>) -> Result<Self, MeshFault> {
        count_u32("corners of faces", corners.len(), CORNER_LIMIT)?;
        corners.shrink_to_fit();
        Ok(Self { offsets, corners, edges: OnceLock::new() })
    }

    /// The number of faces.
    pub fn len(&self) -> usize {
        match &self.offsets {
            Some(offsets) => offsets.len() - 1,
            None => self.corners.len() / 3,
        }
    }

    /// Whether there is no face.
    pub fn is_empty(&self) -> bool {
        self.corners.is_empty()
    }

    /// The vertices of a face, in order.
    #[inline]
    pub fn face(&self, face: usize) -> &[u32] {
        &self.corners[self.corner_range(face)]
    }

    /// The vertices of all faces, one face after the other.
    pub fn faces(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        (0..self.len()).map(|face| self.face(face))
    }

    /// The vertex at each corner, face after face.
    pub fn corners(&self) -> &[u32] {
        &self.corners
    }

    /// The corners of a face.
    #[inline]
    pub fn corner_range(&self, face: usize) -> Range<usize> {
        match &self.offsets {
            Some(offsets) => offsets[face] as usize..offsets[face + 1] as usize,
            None => 3 * face..3 * face + 3,
        }
    }

    /// The face that a corner belongs to.
    #[inline]
    pub fn face_of_corner(&self, corner: usize) -> usize {
        match &self.offsets {
            Some(offsets) => offsets.partition_point(|&start| start as usize <= corner) - 1,
            None => corner / 3,
        }
    }

    /// The faces, if all of them are triangles.
    pub fn as_triangles(&self) -> Option<&[[u32; 3]]> {
        self.offsets.is_none().then(|| self.corners.as_chunks().0)
    }

    /// The edges, found on the first call and kept. The uses of an edge are the corners from which it
    /// leads to the next corner of their faces.
    pub fn edges(&self) -> &EdgeTable {
        self.edges.get_or_init(|| EdgeTable::new(self.corners.len(), |corner| self.side(corner)))
    }

    /// The vertices from which and to which a face runs at a corner.
    #[inline]
    fn side(&self, corner: usize) -> [u32; 2] {
        let range = self.corner_range(self.face_of_corner(corner));
        let next = if corner + 1 == range.end { range.start } else { corner + 1 };
        [self.corners[corner], self.corners[next]]
    }

    /// The faces at an edge, one for each use.
    fn faces_at(&self, edge: usize) -> Vec<u32> {
        let uses = &self.edges().uses()[edge];
        uses.iter().map(|&corner| self.face_of_corner(corner as usize) as u32).collect()
    }

    /// The first edge along which not as many faces run one way as the other.
    pub(super) fn open_edge(&self) -> Result<(), MeshFault> {
        let edges = self.edges();
        first_fault(edges.len(), |edge| {
            let ends = edges.ends()[edge];
            let uses = &edges.uses()[edge];
            let forward = uses.iter().filter(|&&corner| self.side(corner as usize) == ends).count();
            let degenerate = ends[0] == ends[1];
            (!degenerate && 2 * forward != uses.len())
                .then(|| MeshFault::OpenEdge { edge: ends, faces: self.faces_at(edge) })
        })
    }
}

impl Surface {
    /// For each vertex the faces that have it, ascending.
    pub fn vertex_faces(&self) -> Csr {
        let faces = self.connectivity();
        Csr::invert(self.vertex_count(), || {
            (0..)
                .zip(faces.faces())
                .flat_map(|(face, corners)| corners.iter().map(move |&v| (face, v)))
        })
    }

    /// For each edge its faces, ascending.
    pub fn edge_faces(&self) -> Csr {
        let faces = self.connectivity();
        Csr::from_rows(faces.edges().len(), |edge, row| {
            let start = row.len();
            for &corner in &faces.edges().uses()[edge] {
                let face = faces.face_of_corner(corner as usize) as u32;
                if row[start..].last() != Some(&face) {
                    row.push(face);
                }
            }
        })
    }

    /// For each face its neighbours across its edges, in the order of its corners.
    ///
    /// An edge without another face adds none. At an edge of more than two faces the neighbour is the
    /// next in the cycle of its faces, so that the table is never larger than the surface.
    pub fn face_faces(&self) -> Csr {
        let faces = self.connectivity();
        let edges = faces.edges();
        Csr::from_rows(faces.len(), |face, row| {
            for corner in faces.corner_range(face) {
                let uses = &edges.uses()[edges.of_use()[corner] as usize];
                let place = uses.partition_point(|&other| (other as usize) < corner);
                let next = uses[(place + 1) % uses.len()];
                let neighbour = faces.face_of_corner(next as usize);
                if neighbour != face {
                    row.push(neighbour as u32);
                }
            }
        })
    }

    /// Vertices − edges + faces, counting only vertices that a face has: 2 for a sphere, 0 for a torus.
    pub fn euler_characteristic(&self) -> i64 {
        let faces = self.connectivity();
        let vertices = self.vertex_faces().rows().filter(|row| !row.is_empty()).count();
        vertices as i64 - faces.edges().len() as i64 + faces.len() as i64
    }

    /// Whether every edge has as many faces that run along it one way as the other, so that the
    /// surface bounds a volume. If not, the error names the first edge that has not.
    pub fn check_closed(&self) -> Result<()> {
        self.connectivity().open_edge().map_err(|fault| self.refusal(fault))
    }
}

impl Connectivity for Polygons {
    fn kind(&self) -> MeshKind {
        MeshKind::Surface
    }

    fn count(&self, class: ElementClass) -> usize {
        match class {
            ElementClass::Face => self.len(),
            ElementClass::Corner => self.corners.len(),
            ElementClass::Edge => self.edges().len(),
            _ => 0,
        }
    }

    fn edge_ends(&self) -> Cow<'_, [[u32; 2]]> {
        Cow::Borrowed(self.edges().ends())
    }

    fn memory(&self) -> MemoryReport {
        let offsets = self.offsets.as_deref().unwrap_or_default();
        let used = size_of_val(offsets) + size_of_val(self.corners.as_slice());
        let capacity = self.offsets.as_ref().map_or(0, Vec::capacity) + self.corners.capacity();
        let derived = self.edges.get().map_or(0, EdgeTable::allocated_bytes);
        report_of(used, capacity * size_of::<u32>() + derived)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn tables(&self) -> [Cow<'_, [u32]>; 2] {
        [Cow::Borrowed(self.offsets.as_deref().unwrap_or_default()), Cow::Borrowed(&self.corners)]
    }
}

impl Checked for Polygons {
    fn check(&self, vertices: u32) -> Result<(), MeshFault> {
        first_fault(self.len(), |face| {
            dangling(ElementId::new(ElementClass::Face, face), self.face(face), vertices)
        })
    }

    fn find_faults(&self, positions: &[DVec3], faults: &mut FaultList) {
        faults.scan(self.len(), |number| {
            let element = ElementId::new(ElementClass::Face, number);
            let corners = self.face(number);
            let at = |&vertex: &u32| positions[vertex as usize];
            repeated_vertex(element, corners).or_else(|| match corners {
                // A triangle needs no allocation.
                [a, b, c] => no_area(element, &[at(a), at(b), at(c)]),
                _ => no_area(element, &corners.iter().map(at).collect::<Vec<_>>()),
            })
        });
        let edges = self.edges();
        faults.scan(edges.len(), |number| {
            let edge = edges.ends()[number];
            match edges.uses()[number] {
                [] | [_] => None,
                // A face that has a vertex twice has been named already.
                _ if edge[0] == edge[1] => None,
                [first, second] => {
                    let (first, second) = (first as usize, second as usize);
                    let faces = [first, second].map(|corner| self.face_of_corner(corner) as u32);
                    let edge = self.side(first);
                    (edge == self.side(second) && faces[0] != faces[1])
                        .then_some(MeshFault::InconsistentOrientation { edge, faces })
                }
                _ => Some(MeshFault::NonManifoldEdge { edge, faces: self.faces_at(number) }),
            }
        });
    }

    fn set_tables(&mut self, [offsets, corners]: [Vec<u32>; 2], vertices: u32) -> Result<()> {
        let other = if offsets.is_empty() {
            Self::triangles(rows_of(MeshKind::Surface, [offsets, corners])?)?
        } else {
            // An end before its beginning counts as nothing, and so is found to have too few corners.
            let counts = offsets.windows(2).map(|ends| ends[1].saturating_sub(ends[0]));
            Self::from_counts(&counts.collect::<Vec<_>>(), corners)?
        };
        other.check(vertices).map_err(refusal)?;
        *self = other;
        Ok(())
    }

    fn referenced(&self) -> Box<dyn Iterator<Item = u32> + '_> {
        Box::new(self.corners.iter().copied())
    }
}

fn refusal(fault: MeshFault) -> CoreError {
    CoreError::Mesh { mesh: MeshKind::Surface.to_string(), fault }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two triangles and a square side by side along x, vertices 0–3 below, 4–7 above.
    fn strip() -> Surface {
        let positions =
            (0..8).map(|i| DVec3::new(f64::from(i % 4), f64::from(i / 4), 0.0)).collect();
        let faces: [&[u32]; 4] = [&[0, 1, 4], &[1, 5, 4], &[1, 2, 6, 5], &[2, 3, 6]];
        Surface::new("strip", positions, Polygons::from_faces(&faces).unwrap()).unwrap()
    }

    #[test]
    fn faces_across_edges_come_in_the_order_of_corners() {
        let table = strip().face_faces();
        let rows: Vec<_> = table.rows().collect();
        assert_eq!(rows, [&[1][..], &[2, 0], &[3, 1], &[2]]);
    }

    #[test]
    fn edges_are_numbered_by_their_vertices() {
        let surface = strip();
        let edges = surface.connectivity().edges();
        let expected =
            [[0, 1], [0, 4], [1, 2], [1, 4], [1, 5], [2, 3], [2, 6], [3, 6], [4, 5], [5, 6]];
        assert_eq!(edges.ends(), expected);
        let faces: Vec<_> = surface.edge_faces().rows().map(<[u32]>::to_vec).collect();
        assert_eq!(faces[3..5], [vec![0, 1], vec![1, 2]]);
    }

    #[test]
    fn triangles_by_any_way_are_triangles() {
        let direct = Polygons::triangles(vec![[0, 1, 2], [2, 1, 3]]).unwrap();
        let counted = Polygons::from_counts(&[3, 3], vec![0, 1, 2, 2, 1, 3]).unwrap();
        assert_eq!(direct.as_triangles(), counted.as_triangles());
        assert!(strip().connectivity().as_triangles().is_none());
    }

    #[test]
    fn a_surface_without_faces_is_valid() {
        let surface = Surface::new("none", vec![], Polygons::triangles(vec![]).unwrap()).unwrap();
        surface.validate().unwrap();
        assert_eq!(surface.bounds().unwrap(), None);
        assert_eq!(surface.euler_characteristic(), 0);
        assert!(surface.connectivity().is_empty() && surface.face_faces().is_empty());
    }

    #[test]
    fn the_neighbour_table_of_a_fan_around_one_edge_stays_small() {
        let pages = 100;
        let positions = (0..pages + 2).map(|i| DVec3::new(f64::from(i), f64::from(i * i), 1.0));
        let faces = (0..pages).map(|page| [0, 1, page + 2]).collect();
        let faces = Polygons::triangles(faces).unwrap();
        let book = Surface::new("book", positions.collect(), faces).unwrap();
        let table = book.face_faces();
        assert_eq!(table.items().len(), pages as usize);
        assert_eq!(&table[99], [0]);
    }
}
