//! The kinds of meshes, and the classes of elements that they have.

use std::fmt::{self, Display};

/// The four shapes of connectivity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MeshKind {
    /// Strands of vertices: hair, ropes.
    Curves,
    /// Edges between vertices.
    Wireframe,
    /// Polygons.
    Surface,
    /// Tetrahedra.
    Body,
}

impl MeshKind {
    /// The classes of elements that carry channels, in a fixed order.
    pub const fn classes(self) -> &'static [ElementClass] {
        use ElementClass::{Cell, Corner, Curve, Edge, Face, Vertex, Whole};
        match self {
            Self::Curves => &[Vertex, Edge, Curve, Whole],
            Self::Wireframe => &[Vertex, Edge, Whole],
            Self::Surface => &[Vertex, Edge, Corner, Face, Whole],
            Self::Body => &[Vertex, Edge, Face, Cell, Whole],
        }
    }
}

impl Display for MeshKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Curves => "Curves",
            Self::Wireframe => "Wireframe",
            Self::Surface => "Surface",
            Self::Body => "Body",
        })
    }
}

/// A class of elements of a mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ElementClass {
    /// The points.
    Vertex,
    /// The pairs of vertices that are connected, each once.
    Edge,
    /// The places of polygons, face after face: a vertex as one face sees it (texture coordinates).
    Corner,
    /// The polygons of a Surface; of a Body the triangles between its cells, each once.
    Face,
    /// The strands of Curves.
    Curve,
    /// The tetrahedra.
    Cell,
    /// The mesh itself: one element.
    Whole,
}

impl ElementClass {
    /// What one such element is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Vertex => "vertex",
            Self::Edge => "edge",
            Self::Corner => "corner",
            Self::Face => "face",
            Self::Curve => "curve",
            Self::Cell => "cell",
            Self::Whole => "whole",
        }
    }

    /// What several of them are called.
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Vertex => "vertices",
            Self::Edge => "edges",
            Self::Corner => "corners",
            Self::Face => "faces",
            Self::Curve => "curves",
            Self::Cell => "cells",
            Self::Whole => "whole",
        }
    }
}

impl Display for ElementClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One element of a mesh, as messages name it: `face 7`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ElementId {
    /// Its class.
    pub class: ElementClass,
    /// Its number within the class, from 0.
    pub number: u32,
}

impl ElementId {
    /// The element of this class and number.
    pub(super) const fn new(class: ElementClass, number: usize) -> Self {
        Self { class, number: number as u32 }
    }
}

impl Display for ElementId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.class, self.number)
    }
}
