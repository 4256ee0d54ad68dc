//! Edges and corners that marching cubes cut off, brought back: Ohtake & Belyaev 2002, *Dual/primal mesh optimization for polygonized implicit
//! surfaces*.
//!
//! The middle of each triangle is brought onto the surface, where the solid knows the normal. Each vertex goes where the planes of the
//! triangles around it meet best. Who is whose neighbour does not change: what was closed and a manifold stays so.

use crate::error::{Result, positive};
use crate::solid::Solid;
use crate::surfacing::eigen::eigen;
use crate::triangles::Triangles;
use rayon::prelude::*;
use undine_core::glam::DVec3;

/// Directions in which planes say less than this part of the most leave a vertex free: it stays in the middle of their points.
const FLAT: f64 = 0.03;
/// How often: triangles that have come to lie on one side of an edge say so in the next pass.
const PASSES: usize = 3;

/// The mesh of a solid with its sharp edges. In each of a few passes no vertex moves farther than `farthest` [m], which should be the width
/// of a voxel or cell; one that would stays where it is.
pub fn sharpen(mesh: &Triangles, solid: &dyn Solid, farthest: f64) -> Result<Triangles> {
    let farthest = positive("how far vertices may move", farthest)?;
    // The triangles around each vertex, one vertex after the other.
    let mut starts = vec![0_u32; mesh.positions().len() + 1];
    mesh.indices().iter().flatten().for_each(|&vertex| starts[vertex as usize + 1] += 1);
    (1..starts.len()).for_each(|n| starts[n] += starts[n - 1]);
    let mut next = starts.clone();
    let mut around = vec![0_u32; 3 * mesh.len()];
    for (corners, triangle) in mesh.indices().iter().zip(0..) {
        for &vertex in corners {
            let place = &mut next[vertex as usize];
            around[*place as usize] = triangle;
            *place += 1;
        }
    }

    let mut positions = mesh.positions().to_vec();
    for _ in 0..PASSES {
        let planes: Vec<(DVec3, DVec3)> = mesh
            .indices()
            .par_iter()
            .map(|corners| {
                let [a, b, c] = corners.map(|vertex| positions[vertex as usize]);
                let nearest = solid.nearest((a + b + c) / 3.0);
                (nearest.point, nearest.normal)
            })
            .collect();
        positions = positions
            .par_iter()
            .enumerate()
            .map(|(vertex, &old)| {
                let of = starts[vertex] as usize..starts[vertex + 1] as usize;
                let best = best_for(around[of].iter().map(|&n| planes[n as usize]));
                best.filter(|best| best.distance(old) <= farthest).unwrap_or(old)
            })
            .collect();
    }
    Triangles::new(positions, mesh.indices().to_vec())
}

/// Where planes through points meet best, near to the mean of the points.
fn best_for(planes: impl ExactSizeIterator<Item = (DVec3, DVec3)> + Clone) -> Option<DVec3> {
    let count = planes.len();
    if count == 0 {
        return None;
    }
    let mean = planes.clone().map(|(point, _)| point).sum::<DVec3>() / count as f64;
    let (mut squares, mut rest) = ([0.0; 6], DVec3::ZERO);
    for (point, n) in planes {
        let products = [n.x * n.x, n.x * n.y, n.x * n.z, n.y * n.y, n.y * n.z, n.z * n.z];
        squares.iter_mut().zip(products).for_each(|(sum, product)| *sum += product);
        rest += n * n.dot(point - mean);
    }
    let (values, vectors) = eigen(squares);
    let inverse = values.map(|value| if value > FLAT * values.x { 1.0 / value } else { 0.0 });
    let best = mean + vectors * (inverse * (vectors.transpose() * rest));
    best.is_finite().then_some(best)
}
