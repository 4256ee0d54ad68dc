//! Meshes: vertices in space, how they hang together, and channels on their elements.
//!
//! One idea in four shapes: a [`Mesh`] is positions, channels, and a [`Connectivity`]. [`Curves`] are
//! strands of vertices, a [`Wireframe`] is edges, a [`Surface`] polygons, a [`Body`] tetrahedra. The
//! connectivity of a mesh never changes, so every index has been checked once, and what is derived
//! from it (edges, faces of cells) is numbered once, in an order that only the input decides.
//!
//! ```
//! use glam::DVec3;
//! use undine_core::mesh::{Polygons, Surface};
//!
//! let corners = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
//! let faces = Polygons::triangles(vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])?;
//! let surface = Surface::new("tetrahedron", corners, faces)?;
//! surface.validate()?;
//! assert!((surface.volume()? - 1.0 / 6.0).abs() < 1e-15);
//! # Ok::<(), undine_core::CoreError>(())
//! ```

mod body;
mod bounds;
mod class;
mod components;
mod csr;
mod curves;
mod edges;
mod fault;
mod fault_search;
mod measure;
mod store;
mod surface;
mod surface_measures;
mod triangulate;
mod wireframe;

pub use body::{Body, Boundary, CellFaces, Tetrahedra};
pub use bounds::Bounds;
pub use class::{ElementClass, ElementId, MeshKind};
pub use components::Components;
pub use csr::Csr;
pub use curves::{Curves, Strands};
pub use edges::EdgeTable;
pub use fault::MeshFault;
pub use store::{AnyMesh, Connectivity, Mesh};
pub use surface::{Polygons, Surface};
pub use surface_measures::NormalWeight;
pub use triangulate::Triangulation;
pub use wireframe::{Segments, Wireframe};
