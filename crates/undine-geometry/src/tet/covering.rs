//! A lattice of tetrahedra around a solid: all those of a body-centred cubic lattice that touch it.
//!
//! They are not cut, so all are alike and well shaped. What is inside rides on them (see [`embed`](super::embed)),
//! as a bunny does in section 7.2 of the Loki paper (Lesser et al. 2022).

use super::lattice::{CELLS, Lattice, NONE, Tile};
use super::stencils::Side;
use super::stuffing::Stuffing;
use crate::error::Result;
use crate::solid::Solid;
use rayon::prelude::*;
use undine_core::glam::DVec3;
use undine_core::mesh::{Body, Tetrahedra};

/// How often a tetrahedron is divided by eight to find out whether it touches the solid.
const DIVISIONS: u32 = 3;

impl Stuffing {
    /// The tetrahedra of the lattice that touch a solid, uncut. No tetrahedron that touches it is missing, and
    /// none is farther from it than an eighth of its size.
    pub fn cover(&self, name: &str, solid: &dyn Solid) -> Result<Body> {
        let Some((lattice, sides)) = self.sort_nodes(name, solid)? else {
            return Ok(Body::new(name, Vec::new(), Tetrahedra::new(Vec::new()))?);
        };
        // Most that are counted here are inside, and all of those touch.
        let count: usize = (0..lattice.block_count())
            .into_par_iter()
            .map(|slot| touching(&lattice, &sides, slot, |_| false).len())
            .sum();
        self.check_cells(count)?;
        let cells: Vec<[u32; 4]> = (0..lattice.block_count())
            .into_par_iter()
            .flat_map_iter(|slot| {
                touching(&lattice, &sides, slot, |nodes| {
                    touches(solid, nodes.map(|node| lattice.position(node)), DIVISIONS)
                })
            })
            .collect();
        self.check_cells(cells.len())?;

        let mut numbers = vec![NONE; lattice.node_count()];
        for &node in cells.as_flattened() {
            numbers[node as usize] = 0;
        }
        let mut positions = Vec::new();
        for (node, number) in numbers.iter_mut().enumerate().filter(|(_, number)| **number != NONE)
        {
            *number = positions.len() as u32;
            positions.push(lattice.position(node as u32));
        }
        let cells = cells.iter().map(|cell| cell.map(|node| numbers[node as usize])).collect();
        Ok(Body::new(name, positions, Tetrahedra::new(cells))?)
    }
}

/// The tetrahedra of a block that have a node inside or on the surface, or else of which `touches` tells so.
fn touching(
    lattice: &Lattice,
    sides: &[Side],
    slot: usize,
    touches: impl Fn([u32; 4]) -> bool,
) -> Vec<[u32; 4]> {
    let tile = lattice.tile(slot);
    let cubes = Tile::cubes();
    cubes
        .flat_map(|cube| CELLS.iter().map(move |cell| (cube, cell)))
        .map(|(cube, cell)| cell.corners.map(|place| tile.node(cube, place)))
        .filter(|nodes| {
            !nodes.contains(&NONE)
                && (nodes.iter().any(|&node| sides[node as usize] != Side::Outside)
                    || touches(*nodes))
        })
        .collect()
}

/// Whether a solid has a point in a tetrahedron, or nearly so.
fn touches(solid: &dyn Solid, corners: [DVec3; 4], divisions: u32) -> bool {
    let [a, b, c, d] = corners;
    let centre = 0.25 * (a + b + c + d);
    let radius = corners.iter().map(|corner| corner.distance(centre)).fold(0.0, f64::max);
    let distance = solid.distance(centre);
    if distance <= 0.0 {
        return true;
    }
    if distance > radius {
        return false;
    }
    if divisions == 0 {
        return true;
    }
    let middle = |p: DVec3, q: DVec3| 0.5 * (p + q);
    let [ab, ac, ad] = [middle(a, b), middle(a, c), middle(a, d)];
    let [bc, bd, cd] = [middle(b, c), middle(b, d), middle(c, d)];
    // Four at the corners, and four around the shortest diagonal of the octahedron between them.
    let parts = [
        [a, ab, ac, ad],
        [ab, b, bc, bd],
        [ac, bc, c, cd],
        [ad, bd, cd, d],
        [ab, cd, ac, bc],
        [ab, cd, bc, bd],
        [ab, cd, bd, ad],
        [ab, cd, ad, ac],
    ];
    parts.into_iter().any(|part| touches(solid, part, divisions - 1))
}
