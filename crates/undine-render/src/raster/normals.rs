//! Which way a mesh looks at its vertices: the normals of the triangles around each, weighted by their angles there (Thürmer & Wüthrich,
//! *Computing vertex normals from polygonal facets*, 1998).

use crate::shot::Places;
use rayon::prelude::*;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use undine_core::glam::Vec3;

/// Angles are summed as whole multiples of this [rad]: whole numbers have the same sum in any order.
const STEP: f32 = 1.0 / (1 << 20) as f32;

/// How many triangles a thread takes at once.
const PIECE: usize = 1 << 13;

/// The normals of all vertices, in the coordinates of the mesh itself: of length 1, or 0 where there is none.
pub(super) struct VertexNormals(Vec<Vec3>);

impl VertexNormals {
    pub fn of(positions: Places<'_>, triangles: &[[u32; 3]]) -> Self {
        let nothing = || [const { AtomicI32::new(0) }; 3];
        let sums: Vec<[AtomicI32; 3]> =
            (0..positions.len()).into_par_iter().map(|_| nothing()).collect();
        triangles.par_chunks(PIECE).for_each(|piece| {
            for &triangle in piece {
                let places = triangle.map(|n| positions.at(n as usize));
                let edges = [0, 1, 2].map(|n| (places[(n + 1) % 3] - places[n]).as_vec3());
                // Scaled first, so that the squares of small ones are not lost.
                let longest =
                    edges.iter().fold(0.0f32, |most, edge| most.max(edge.abs().max_element()));
                let edges = edges.map(|edge| edge / longest);
                let across = edges[0].cross(edges[1]);
                let length = across.length();
                if !(length > 0.0 && length.is_finite()) {
                    continue;
                }
                let normal = across / (length * STEP);
                for n in 0..3 {
                    let angle = length.atan2(-edges[n].dot(edges[(n + 2) % 3]));
                    let part = (angle * normal).to_array();
                    for (sum, part) in sums[triangle[n] as usize].iter().zip(part) {
                        sum.fetch_add(part as i32, Relaxed);
                    }
                }
            }
        });
        let normal = |sum: [AtomicI32; 3]| {
            Vec3::from(sum.map(|part| part.into_inner() as f32)).normalize_or_zero()
        };
        Self(sums.into_par_iter().map(normal).collect())
    }

    #[inline(always)]
    pub fn at(&self, n: usize) -> Vec3 {
        self.0[n]
    }
}
