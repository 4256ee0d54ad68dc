//! Mass properties of a closed mesh: exact integrals over the polyhedron that it is.
//!

use crate::error::Result;
use crate::mass::{MassProperties, Moments};
use crate::triangles::{Triangles, check_scale};
use rayon::prelude::*;

/// So many triangles are summed one after the other; then their sums pairwise, so that rounding grows slowly and
/// the bits do not depend on the number of threads.
const BLOCK: usize = 1024;

/// Volume, centre and inertia of what a mesh encloses, for unit density. An open mesh is refused, with an open edge.
///
/// Triangles are seen from outside when their corners turn to the left; a mesh turned inside out has a negative volume.
/// What is enclosed several times counts as often. A mesh of no volume has its centre in the middle of its box.
pub fn mass_properties(mesh: &Triangles) -> Result<MassProperties> {
    check_scale(mesh.positions())?;
    mesh.clone().into_surface("mesh")?.check_closed()?;
    let Some(bounds) = mesh.bounds() else { return Ok(MassProperties::NONE) };
    // About its own middle: 10 km from the world's origin costs no digits.
    let origin = bounds.centre();
    let blocks: Vec<Moments> = (0..mesh.len().div_ceil(BLOCK))
        .into_par_iter()
        .map(|block| {
            let triangles = block * BLOCK..mesh.len().min((block + 1) * BLOCK);
            let tetrahedron =
                |triangle| Moments::of(mesh.corners(triangle).map(|corner| corner - origin));
            triangles.map(tetrahedron).fold(Moments::default(), Moments::add)
        })
        .collect();
    Ok(pairwise(&blocks).about(origin))
}

fn pairwise(blocks: &[Moments]) -> Moments {
    match blocks {
        [] => Moments::default(),
        [one] => *one,
        _ => {
            let (left, right) = blocks.split_at(blocks.len() / 2);
            pairwise(left).add(pairwise(right))
        }
    }
}
