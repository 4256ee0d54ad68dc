//! What can be wrong with a mesh, as messages that name the element and the values.

use super::class::ElementId;
use glam::DVec3;
use std::fmt::{self, Display};

/// Something wrong with a mesh.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MeshFault {
    /// More elements than indices of 32 bits can tell apart.
    #[error("there are {found} {what}, but at most {limit} are possible")]
    TooMany {
        /// What there are too many of.
        what: &'static str,
        /// How many there are.
        found: u64,
        /// How many there may be.
        limit: u64,
    },
    /// An element refers to a vertex that does not exist.
    #[error("{element}, corner {corner} refers to vertex {index}, but there are only {vertices}")]
    DanglingIndex {
        /// The element.
        element: ElementId,
        /// Which of its corners, from 0.
        corner: u32,
        /// The index found.
        index: u32,
        /// How many vertices there are.
        vertices: u32,
    },
    /// Numbers of corners that do not add up to the corners that are there.
    #[error("the faces have {wanted} corners by their counts, but {found} indices are there")]
    CornerCount {
        /// The number of indices.
        found: u64,
        /// The sum of the counts.
        wanted: u64,
    },
    /// A curve that ends before it begins.
    #[error("{curve} runs from vertex {start} to vertex {end}, but offsets must not decrease")]
    DecreasingOffsets {
        /// The curve.
        curve: ElementId,
        /// Where it begins.
        start: u32,
        /// Where it ends, exclusively.
        end: u32,
    },
    /// Curves that do not cover the vertices exactly.
    #[error(
        "the curves run over vertices {start}..{end}, but must run over all of them, 0..{vertices}"
    )]
    OffsetRange {
        /// The first offset.
        start: u32,
        /// The last offset.
        end: u32,
        /// How many vertices there are.
        vertices: u32,
    },
    /// A flag per curve, but not as many flags as curves.
    #[error("{found} curves are said to be closed or open, but there are {wanted}")]
    FlagCount {
        /// The number of flags.
        found: u64,
        /// The number of curves.
        wanted: u64,
    },
    /// An element with fewer corners than its kind needs.
    #[error("{element} has too few vertices: {found} instead of at least {wanted}")]
    TooFewCorners {
        /// The element.
        element: ElementId,
        /// How many it has.
        found: u32,
        /// How many it needs.
        wanted: u32,
    },
    /// A vertex at a position that is NaN or infinite.
    #[error("vertex {vertex} is at {position}, which is not finite")]
    NotFinite {
        /// The vertex.
        vertex: u32,
        /// Its position [m].
        position: DVec3,
    },
    /// An element that has a vertex twice.
    #[error("{element} is degenerate: its corners {} and {} are both vertex {vertex}", corners[0], corners[1])]
    RepeatedVertex {
        /// The element.
        element: ElementId,
        /// The vertex it has twice.
        vertex: u32,
        /// The first two corners that have it.
        corners: [u32; 2],
    },
    /// An element whose length, area or volume is nothing against its size.
    #[error(
        "{element} is degenerate: its {measure} is {value:e}, nothing against its size of {size} m"
    )]
    NoExtent {
        /// The element.
        element: ElementId,
        /// `length`, `area` or `volume`.
        measure: &'static str,
        /// The measure found, in metres, square or cubic metres.
        value: f64,
        /// The largest extent of the element [m]; for a length, of its coordinates.
        size: f64,
    },
    /// A tetrahedron whose corners are in the wrong order.
    #[error("{cell} is inverted: its volume is {volume:e} m³, but must be positive")]
    Inverted {
        /// The tetrahedron.
        cell: ElementId,
        /// Its signed volume [m³].
        volume: f64,
    },
    /// An edge of more than two faces.
    #[error("the edge {}–{} is not manifold: it has {}", edge[0], edge[1], List("face", faces))]
    NonManifoldEdge {
        /// Its vertices.
        edge: [u32; 2],
        /// Its faces.
        faces: Vec<u32>,
    },
    /// A triangle of more than two tetrahedra.
    #[error("the triangle {}–{}–{} is not manifold: it has {}", face[0], face[1], face[2], List("cell", cells))]
    NonManifoldFace {
        /// Its vertices.
        face: [u32; 3],
        /// Its cells.
        cells: Vec<u32>,
    },
    /// Two neighbouring faces of which one is turned over.
    #[error(
        "face {} and face {} are oriented differently: both run along their edge from vertex {} to {}",
        faces[0], faces[1], edge[0], edge[1]
    )]
    InconsistentOrientation {
        /// The edge, in the direction in which both faces run.
        edge: [u32; 2],
        /// The two faces.
        faces: [u32; 2],
    },
    /// An edge at which a surface that must be closed is not.
    #[error(
        "the surface is not closed at the edge {}–{}: as many faces must run along it either way, but it has {}",
        edge[0], edge[1], List("face", faces)
    )]
    OpenEdge {
        /// Its vertices.
        edge: [u32; 2],
        /// Its faces.
        faces: Vec<u32>,
    },
    /// Vertices that no element uses. This is only a note: such a mesh is valid.
    #[error("{}", unreferenced(*first, *count))]
    UnreferencedVertices {
        /// The first of them.
        first: u32,
        /// How many they are.
        count: u32,
    },
}

impl MeshFault {
    /// Whether this is a remark about a mesh that is valid all the same.
    pub fn is_note(&self) -> bool {
        matches!(self, Self::UnreferencedVertices { .. })
    }
}

fn unreferenced(first: u32, count: u32) -> String {
    match count {
        1 => format!("vertex {first} belongs to no element"),
        _ => format!("{count} vertices belong to no element, the first is vertex {first}"),
    }
}

/// A short list of numbers: `faces 1, 2 and 3`, cut after eight.
struct List<'a>(&'static str, &'a [u32]);

impl Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 8;
        let Self(what, numbers) = self;
        match numbers {
            [] => write!(f, "no {what}s"),
            [one] => write!(f, "only {what} {one}"),
            [start @ .., last] if numbers.len() <= SHOWN => {
                let start: Vec<_> = start.iter().map(u32::to_string).collect();
                write!(f, "{what}s {} and {last}", start.join(", "))
            }
            _ => {
                let start: Vec<_> = numbers[..SHOWN].iter().map(u32::to_string).collect();
                write!(f, "{what}s {} and {} more", start.join(", "), numbers.len() - SHOWN)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_cut_after_eight() {
        let list = |count: u32| List("face", &(0..count).collect::<Vec<_>>()).to_string();
        assert_eq!(list(0), "no faces");
        assert_eq!(list(1), "only face 0");
        assert_eq!(list(2), "faces 0 and 1");
        assert_eq!(list(3), "faces 0, 1 and 2");
        assert_eq!(list(8), "faces 0, 1, 2, 3, 4, 5, 6 and 7");
        assert_eq!(list(20), "faces 0, 1, 2, 3, 4, 5, 6, 7 and 12 more");
    }
}
