//! Tools that make and change meshes: contour; weld, orient, fill holes, smooth, sharpen, subdivide, decimate; and what a closed one
//! weighs.
//!
//! Each takes any triangles, however broken, and gives a defined result or a typed error. A tool that changes which
//! vertices there are says what each is made of ([`Origins`]), so that channels can be carried along.

mod contour;
mod decimate;
mod holes;
mod marching;
mod measure;
mod nesting;
mod normals;
mod orient;
mod origins;
mod parts;
mod quadric;
mod sharpen;
mod sides;
mod smooth;
mod subdivide;
mod weld;

pub use contour::contour;
pub use decimate::{Decimated, Decimation, decimate};
pub use holes::{Filled, HoleLimits, fill_holes};
pub use measure::mass_properties;
pub use normals::vertex_normals;
pub use orient::{Oriented, orient};
pub use origins::{Origins, Ranged, Remeshed};
pub use parts::{without_cavities_below, without_parts_below};
pub use sharpen::sharpen;
pub use smooth::{SmoothMethod, SmoothWeights, Smoothing, smooth};
pub use subdivide::{Subdivision, SubdivisionScheme, subdivide};
pub use weld::weld;

use crate::error::Result;
use crate::triangles::Triangles;
use undine_core::glam::DVec3;

/// The triangles that have three different vertices, and their numbers.
fn proper_triangles(mesh: &Triangles) -> (Vec<[u32; 3]>, Vec<u32>) {
    let all = mesh.indices().iter().copied().zip(0..);
    all.filter(|([a, b, c], _)| a != b && b != c && c != a).unzip()
}

/// The mesh of some triangles, each with its source, and of the vertices that they use.
fn compact(
    positions: &[DVec3],
    origins: Origins,
    triangles: Vec<([u32; 3], u32)>,
) -> Result<Remeshed> {
    let mut used = vec![false; positions.len()];
    triangles.iter().flat_map(|(corners, _)| corners).for_each(|&v| used[v as usize] = true);
    let kept: Vec<u32> = (0..positions.len() as u32).filter(|&v| used[v as usize]).collect();
    let mut new_number = vec![0; positions.len()];
    (0..).zip(&kept).for_each(|(number, &vertex)| new_number[vertex as usize] = number);

    let mut vertices = Origins::none();
    kept.iter().for_each(|&vertex| vertices.push(origins.of(vertex as usize).iter().copied()));
    let mesh = Triangles::new(
        kept.iter().map(|&vertex| positions[vertex as usize]).collect(),
        triangles.iter().map(|(corners, _)| corners.map(|v| new_number[v as usize])).collect(),
    )?;
    let triangles = triangles.into_iter().map(|(_, source)| Some(source)).collect();
    Ok(Remeshed { mesh, vertices, triangles })
}
