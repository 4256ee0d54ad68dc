//! The sides of triangles and who shares them: the little topology that the tools ask for.

use crate::error::Result;
use crate::triangles::Triangles;
use undine_core::mesh::{EdgeTable, Polygons};

/// The sides of the triangles of a mesh, by edges. Side `3 t + k` of triangle `t` leads from its corner `k` to the next.
pub(super) struct Sides {
    polygons: Polygons,
}

impl Sides {
    pub fn new(mesh: &Triangles) -> Result<Self> {
        let polygons = Polygons::triangles(mesh.indices().to_vec())?;
        polygons.edges();
        Ok(Self { polygons })
    }

    /// The edges, each once, and the sides along each.
    pub fn edges(&self) -> &EdgeTable {
        self.polygons.edges()
    }

    /// The vertices from which and to which a side leads.
    #[inline]
    pub fn ends(&self, side: u32) -> [u32; 2] {
        let corners = self.polygons.corners();
        let next = if side % 3 == 2 { side - 2 } else { side + 1 };
        [corners[side as usize], corners[next as usize]]
    }

    /// The vertex opposite a side.
    #[inline]
    pub fn opposite(&self, side: u32) -> u32 {
        let corner = if side.is_multiple_of(3) { side + 2 } else { side - 1 };
        self.polygons.corners()[corner as usize]
    }

    /// The two sides of an edge along which two triangles meet; `None` at a boundary, or where more meet.
    #[inline]
    pub fn pair(&self, edge: usize) -> Option<[u32; 2]> {
        match self.edges().uses()[edge] {
            [one, other] if one / 3 != other / 3 => {
                let [from, to] = self.ends(one);
                (from != to).then_some([one, other])
            }
            _ => None,
        }
    }

    /// The sides that no other runs against: what is missing for the surface to be closed. Ascending.
    pub fn unpaired(&self) -> Vec<u32> {
        let mut unpaired = Vec::new();
        for (ends, sides) in self.edges().ends().iter().zip(self.edges().uses().rows()) {
            if ends[0] == ends[1] {
                continue;
            }
            let (forward, backward): (Vec<u32>, Vec<u32>) =
                sides.iter().partition(|&&side| self.ends(side) == *ends);
            let shared = forward.len().min(backward.len());
            unpaired.extend_from_slice(&forward[shared..]);
            unpaired.extend_from_slice(&backward[shared..]);
        }
        unpaired.sort_unstable();
        unpaired
    }

    /// Which vertices lie on an edge that is not shared by exactly two triangles.
    pub fn rim(&self, vertices: usize) -> Vec<bool> {
        let mut rim = vec![false; vertices];
        for (edge, ends) in self.edges().ends().iter().enumerate() {
            if ends[0] != ends[1] && self.pair(edge).is_none() {
                ends.iter().for_each(|&vertex| rim[vertex as usize] = true);
            }
        }
        rim
    }
}
