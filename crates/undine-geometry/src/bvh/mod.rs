//! A tree of boxes over triangles: the index behind every question about a mesh.
//!
//! Built top down by binned surface-area heuristic (Wald 2007) straight into nodes of eight children, so that eight
//! boxes, and the eight triangles of a leaf, are tested at a time. Boxes and leaves are `f32` in the mesh's own
//! frame and only rule triangles out, with every rounding on the safe side; what is left is decided
//! in `f64` by the functions that ask one triangle. The answers are therefore the same bits as those of a loop over
//! all triangles: they depend on neither the shape of the tree, nor its history of refits, nor the number of threads.
//!
//! Memory: a leaf of up to eight takes 448 bytes, a node 784; meshes come to 80 to 90 bytes per triangle beside the
//! [`Triangles`] themselves, which take 12 per triangle and 24 per vertex. [`Bvh::memory`] counts them.

mod build;
mod closest;
mod fit;
mod frame;
mod leaf;
mod node;
mod overlap;
mod ray;
mod tree;
mod turned;

pub use closest::Closest;
pub use ray::{Ray, RayHit};
pub(crate) use tree::Branch;

use crate::error::{GeometryError, Result};
use crate::triangles::{LARGEST_COORDINATE, Triangles, check_scale};
use frame::Frame;
use leaf::Leaf;
use node::Node;
use std::ops::Range;
use turned::Turned;
use undine_core::glam::DVec3;

/// Triangles and the tree over them. Without triangles there is no tree, and every query finds nothing.
#[derive(Debug, Clone)]
pub struct Bvh {
    triangles: Triangles,
    frame: Frame,
    /// Level after level, the root first; without triangles there are none.
    nodes: Vec<Node>,
    /// The nodes of each level.
    levels: Vec<Range<usize>>,
    /// The leaves under each node.
    spans: Vec<Range<usize>>,
    /// For each node its boxes once more, along the surface.
    turned: Vec<Turned>,
    leaves: Vec<Leaf>,
}

impl Bvh {
    /// Builds the tree. No coordinate may pass [`LARGEST_COORDINATE`].
    pub fn new(triangles: Triangles) -> Result<Self> {
        check_scale(triangles.positions())?;
        let frame = Frame::of(&triangles);
        let topology = build::topology(&triangles, &frame);
        let mut bvh = Self {
            triangles,
            frame,
            turned: vec![Turned::EMPTY; topology.nodes.len()],
            nodes: topology.nodes,
            spans: topology.spans,
            levels: topology.levels,
            leaves: topology.leaves,
        };
        bvh.fit();
        Ok(bvh)
    }

    /// Moves the vertices and grows or shrinks the boxes with them, in a tenth of the time that building takes.
    ///
    /// The tree keeps its shape: answers stay exact, but become slower when triangles that were neighbours part.
    pub fn refit(&mut self, positions: Vec<DVec3>) -> Result<()> {
        check_scale(&positions)?;
        self.triangles.set_positions(positions)?;
        self.frame = Frame::of(&self.triangles);
        self.fit();
        Ok(())
    }

    /// A tree of the same shape over other triangles, as many, of which those with the same number are near to each other.
    pub(crate) fn refitted(&self, triangles: Triangles) -> Result<Self> {
        let (found, wanted) = (triangles.len(), self.triangles.len());
        if found != wanted {
            return Err(GeometryError::WrongLength { what: "the new triangles", found, wanted });
        }
        check_scale(triangles.positions())?;
        let mut bvh = Self { frame: Frame::of(&triangles), triangles, ..self.clone() };
        bvh.fit();
        Ok(bvh)
    }

    /// The triangles under the tree.
    pub fn triangles(&self) -> &Triangles {
        &self.triangles
    }

    /// The triangles, without the tree.
    pub fn into_triangles(self) -> Triangles {
        self.triangles
    }

    /// The memory [B] of the tree and of the triangles under it.
    pub fn memory(&self) -> Memory {
        let bytes = |len: usize, one: usize| (len * one) as u64;
        Memory {
            nodes: bytes(
                self.nodes.len(),
                size_of::<Node>() + size_of::<Range<usize>>() + size_of::<Turned>(),
            ),
            leaves: bytes(self.leaves.len(), size_of::<Leaf>()),
            triangles: bytes(self.triangles.len(), size_of::<[u32; 3]>())
                + bytes(self.triangles.positions().len(), size_of::<DVec3>()),
        }
    }
}

/// What a [`Bvh`] takes [B].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// The nodes.
    pub nodes: u64,
    /// The leaves.
    pub leaves: u64,
    /// Vertices and indices.
    pub triangles: u64,
}

impl Memory {
    /// All of it.
    pub fn total(&self) -> u64 {
        self.nodes + self.leaves + self.triangles
    }
}

/// Whether a query at `at` has a meaning.
fn is_place(at: DVec3) -> bool {
    // A NaN compares as false.
    at.abs().cmple(DVec3::splat(LARGEST_COORDINATE)).all()
}
