//! Mass properties of a closed mesh: exact integrals over the polyhedron that it is.
//!
//! The divergence theorem makes volume integrals into sums over triangles (Mirtich 1996; Eberly, *Polyhedral mass
//! properties*), here as signed tetrahedra between each triangle and the middle of the mesh (Tonon 2004).

use super::check_scale;
use crate::error::Result;
use crate::mass::MassProperties;
use crate::triangles::Triangles;
use rayon::prelude::*;
use undine_core::glam::{DMat3, DVec3};

/// So many triangles are summed one after the other; then their sums pairwise, so that rounding grows slowly and
/// the bits do not depend on the number of threads.
const BLOCK: usize = 1024;

/// Volume, centre and inertia of what a mesh encloses, for unit density. An open mesh is refused, with an open edge.
///
/// Triangles are seen from outside when their corners turn to the left; a mesh turned inside out has a negative volume.
/// What is enclosed several times counts as often. A mesh of no volume has its centre in the middle of its box.
pub fn mass_properties(mesh: &Triangles) -> Result<MassProperties> {
    check_scale(mesh)?;
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
    let Moments { volume, first, squares, products } = pairwise(&blocks);
    let [xx, yy, zz] = squares.to_array();
    let [yz, zx, xy] = products.to_array();
    let second = DMat3::from_cols_array(&[xx, xy, zx, xy, yy, yz, zx, yz, zz]);
    Ok(MassProperties::of_moments(origin, volume, first, second))
}

/// Integrals over a volume.
#[derive(Debug, Clone, Copy, Default)]
struct Moments {
    /// ∫ dx [m³].
    volume: f64,
    /// ∫ x dx [m⁴].
    first: DVec3,
    /// ∫ (x², y², z²) dx [m⁵].
    squares: DVec3,
    /// ∫ (yz, zx, xy) dx [m⁵].
    products: DVec3,
}

impl Moments {
    /// Of the tetrahedron between a triangle and the origin, negative if that sees the triangle from outside:
    /// with s = a + b + c, ∫ x xᵀ = V/20 (a aᵀ + b bᵀ + c cᵀ + s sᵀ).
    #[inline]
    fn of([a, b, c]: [DVec3; 3]) -> Self {
        let volume = a.dot(b.cross(c)) / 6.0;
        let sum = a + b + c;
        let product = |v: DVec3| DVec3::new(v.y * v.z, v.z * v.x, v.x * v.y);
        Self {
            volume,
            first: sum * (volume / 4.0),
            squares: (a * a + b * b + c * c + sum * sum) * (volume / 20.0),
            products: (product(a) + product(b) + product(c) + product(sum)) * (volume / 20.0),
        }
    }

    #[inline]
    fn add(self, other: Self) -> Self {
        Self {
            volume: self.volume + other.volume,
            first: self.first + other.first,
            squares: self.squares + other.squares,
            products: self.products + other.products,
        }
    }
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
