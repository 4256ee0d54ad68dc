//! Body: tetrahedra, their edges and faces, and the surface around them.

use super::class::{ElementClass, ElementId, MeshKind};
use super::csr::Csr;
use super::edges::{EdgeTable, Groups};
use super::fault::MeshFault;
use super::fault_search::{FaultList, no_volume, repeated_vertex};
use super::measure::{self, tetrahedron_volume};
use super::store::{
    Checked, Connectivity, Mesh, count_u32, dangling, first_fault, report_of, rows_of,
};
use super::surface::{Polygons, Surface};
use crate::error::{CoreError, Result};
use crate::memory::MemoryReport;
use glam::DVec3;
use std::any::Any;
use std::borrow::Cow;
use std::sync::OnceLock;

/// Tetrahedra with channels on vertices, edges, faces, cells and whole.
pub type Body = Mesh<Tetrahedra>;

/// The four vertices of each tetrahedron; its volume is positive if the last three, seen from the
/// first, turn clockwise.
#[derive(Debug, Clone)]
pub struct Tetrahedra {
    cells: Vec<[u32; 4]>,
    edges: OnceLock<EdgeTable>,
    faces: OnceLock<CellFaces>,
}

/// The corners of the face opposite each corner, turning to the left as seen from outside.
const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

/// The corners of the six edges.
const EDGES: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];

impl Tetrahedra {
    /// Tetrahedra with these corners.
    pub fn new(mut cells: Vec<[u32; 4]>) -> Self {
        cells.shrink_to_fit();
        Self { cells, edges: OnceLock::new(), faces: OnceLock::new() }
    }

    /// The vertices of each tetrahedron.
    pub fn cells(&self) -> &[[u32; 4]] {
        &self.cells
    }

    /// The edges, found on the first call and kept. Use `6 c + k` of an edge is side `k` of cell `c`,
    /// in the order of corners 01, 02, 03, 12, 13, 23.
    pub fn edges(&self) -> &EdgeTable {
        self.edges.get_or_init(|| {
            EdgeTable::new(6 * self.cells.len(), |side| {
                EDGES[side % 6].map(|k| self.cells[side / 6][k])
            })
        })
    }

    /// The triangles between cells, found on the first call and kept.
    pub fn faces(&self) -> &CellFaces {
        self.faces.get_or_init(|| CellFaces::new(&self.cells))
    }
}

/// The triangles of a Body, each once, numbered by their sorted vertices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellFaces {
    corners: Vec<[u32; 3]>,
    of_cell: Vec<[u32; 4]>,
    cells: Csr,
}

impl CellFaces {
    fn new(cells: &[[u32; 4]]) -> Self {
        let face = |side: usize| FACES[side % 4].map(|k| cells[side / 4][k]);
        let groups = Groups::new(4 * cells.len(), |side| {
            let mut key = face(side);
            key.sort_unstable();
            key
        });
        // The lowest cell decides how a face turns.
        let corners = groups.items.rows().map(|sides| face(sides[0] as usize)).collect();
        let of_cell = groups.of_item.as_chunks().0.to_vec();
        Self { corners, of_cell, cells: groups.items.map_items(|side| side / 4) }
    }

    /// The vertices of each face, turning to the left as seen from outside its first cell.
    pub fn corners(&self) -> &[[u32; 3]] {
        &self.corners
    }

    /// The face opposite each corner of every cell.
    pub fn of_cell(&self) -> &[[u32; 4]] {
        &self.of_cell
    }

    /// The cells of each face, ascending: one at the boundary, two inside.
    pub fn cells(&self) -> &Csr {
        &self.cells
    }

    fn allocated_bytes(&self) -> usize {
        self.corners.capacity() * size_of::<[u32; 3]>()
            + self.of_cell.capacity() * size_of::<[u32; 4]>()
            + self.cells.allocated_bytes()
    }
}

/// The surface around a Body, and where its elements come from.
#[derive(Debug)]
pub struct Boundary {
    /// The faces that have one cell, looking outwards, with the vertices that they use.
    pub surface: Surface,
    /// The Body's vertex for each vertex of the surface, ascending.
    pub vertices: Vec<u32>,
    /// The Body's face for each face of the surface, ascending.
    pub faces: Vec<u32>,
}

impl Body {
    /// The signed volume of every cell [m³].
    pub fn cell_volumes(&self) -> Result<Vec<f64>> {
        let positions = self.positions()?;
        let cells = self.connectivity().cells();
        Ok(measure::map(cells.len(), |cell| volume(cells[cell], &positions)))
    }

    /// The sum of the volumes of all cells [m³].
    pub fn volume(&self) -> Result<f64> {
        let positions = self.positions()?;
        let cells = self.connectivity().cells();
        Ok(measure::sum(cells.len(), |cell| volume(cells[cell], &positions)))
    }

    /// For each vertex the cells that have it, ascending.
    pub fn vertex_cells(&self) -> Csr {
        let cells = self.connectivity().cells();
        Csr::invert(self.vertex_count(), || {
            (0..).zip(cells).flat_map(|(cell, corners)| corners.map(|vertex| (cell, vertex)))
        })
    }

    /// For each vertex the faces that have it, ascending.
    pub fn vertex_faces(&self) -> Csr {
        let faces = self.connectivity().faces().corners();
        Csr::invert(self.vertex_count(), || {
            (0..).zip(faces).flat_map(|(face, corners)| corners.map(|vertex| (face, vertex)))
        })
    }

    /// For each edge the faces that have it, ascending.
    pub fn edge_faces(&self) -> Csr {
        let (edges, faces) = (self.connectivity().edges(), self.connectivity().faces().corners());
        Csr::invert(edges.len(), || {
            (0..).zip(faces).flat_map(move |(face, &[a, b, c])| {
                [[a, b], [b, c], [c, a]].map(|[a, b]| {
                    let found = edges.ends().binary_search(&[a.min(b), a.max(b)]);
                    // Every side of a face is an edge of its cells.
                    (face, found.unwrap_or_else(|place| place) as u32)
                })
            })
        })
    }

    /// For each cell its neighbours across faces, in the order of the corners opposite them.
    pub fn cell_cells(&self) -> Csr {
        let faces = self.connectivity().faces();
        Csr::from_rows(faces.of_cell().len(), |cell, row| {
            for &face in &faces.of_cell()[cell] {
                let cells = &faces.cells()[face as usize];
                let place = cells.partition_point(|&other| (other as usize) < cell);
                let next = cells[(place + 1) % cells.len()];
                if next as usize != cell {
                    row.push(next);
                }
            }
        })
    }

    /// The surface around the body, oriented outwards as long as no cell is inverted.
    pub fn boundary(&self) -> Result<Boundary> {
        let all = self.connectivity().faces();
        let at_boundary = |&face: &u32| all.cells()[face as usize].len() == 1;
        let mut faces: Vec<u32> = (0..all.corners().len() as u32).filter(at_boundary).collect();
        faces.shrink_to_fit();

        let mut vertices: Vec<u32> =
            faces.iter().flat_map(|&face| all.corners()[face as usize]).collect();
        vertices.sort_unstable();
        vertices.dedup();
        vertices.shrink_to_fit();
        let mut new_number = vec![0; self.vertex_count()];
        for (number, &vertex) in (0..).zip(&vertices) {
            new_number[vertex as usize] = number;
        }

        let triangles = faces
            .iter()
            .map(|&face| all.corners()[face as usize].map(|vertex| new_number[vertex as usize]))
            .collect();
        let positions = self.positions()?;
        let positions = vertices.iter().map(|&vertex| positions[vertex as usize]).collect();
        let name = format!("boundary of {}", self.name());
        let surface = Surface::new(name, positions, Polygons::triangles(triangles)?)?;
        Ok(Boundary { surface, vertices, faces })
    }
}

#[inline]
fn volume(cell: [u32; 4], positions: &[DVec3]) -> f64 {
    tetrahedron_volume(cell.map(|vertex| positions[vertex as usize]))
}

impl Connectivity for Tetrahedra {
    fn kind(&self) -> MeshKind {
        MeshKind::Body
    }

    fn count(&self, class: ElementClass) -> usize {
        match class {
            ElementClass::Cell => self.cells.len(),
            ElementClass::Face => self.faces().corners.len(),
            ElementClass::Edge => self.edges().len(),
            _ => 0,
        }
    }

    fn edge_ends(&self) -> Cow<'_, [[u32; 2]]> {
        Cow::Borrowed(self.edges().ends())
    }

    fn memory(&self) -> MemoryReport {
        let derived = self.edges.get().map_or(0, EdgeTable::allocated_bytes)
            + self.faces.get().map_or(0, CellFaces::allocated_bytes);
        let allocated = self.cells.capacity() * size_of::<[u32; 4]>();
        report_of(size_of_val(self.cells.as_slice()), allocated + derived)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn tables(&self) -> [Cow<'_, [u32]>; 2] {
        [Cow::default(), Cow::Borrowed(self.cells.as_flattened())]
    }
}

impl Checked for Tetrahedra {
    fn check(&self, vertices: u32) -> Result<(), MeshFault> {
        // Twelve ends of edges per cell are listed in tables whose offsets have 32 bits.
        count_u32("cells", self.cells.len(), u64::from(u32::MAX / 12))?;
        first_fault(self.cells.len(), |cell| {
            dangling(ElementId::new(ElementClass::Cell, cell), &self.cells[cell], vertices)
        })
    }

    fn find_faults(&self, positions: &[DVec3], faults: &mut FaultList) {
        faults.scan(self.cells.len(), |number| {
            let cell = ElementId::new(ElementClass::Cell, number);
            let corners = self.cells[number];
            repeated_vertex(cell, &corners)
                .or_else(|| no_volume(cell, corners.map(|vertex| positions[vertex as usize])))
        });
        let all = self.faces();
        faults.scan(all.corners.len(), |number| {
            let cells = &all.cells[number];
            (cells.len() > 2).then(|| MeshFault::NonManifoldFace {
                face: all.corners[number],
                cells: cells.to_vec(),
            })
        });
    }

    fn set_tables(&mut self, tables: [Vec<u32>; 2], vertices: u32) -> Result<()> {
        let other = Self::new(rows_of(MeshKind::Body, tables)?);
        let refuse = |fault| CoreError::Mesh { mesh: MeshKind::Body.to_string(), fault };
        other.check(vertices).map_err(refuse)?;
        *self = other;
        Ok(())
    }

    fn referenced(&self) -> Box<dyn Iterator<Item = u32> + '_> {
        Box::new(self.cells.as_flattened().iter().copied())
    }
}
