//! Isosurface stuffing (Labelle and Shewchuk 2007): fills a solid with tetrahedra none of which is badly shaped.
//!
//! A body-centred cubic lattice is laid over the solid. Its edges are cut where they pass the surface; nodes that a
//! cut comes too near to are warped onto it; and what is left of each tetrahedron inside is one of a few stencils.
//! All dihedral angles lie between 10.7° and 164.8°, whatever the surface is: of the choices of α, the one that
//! makes the least angle largest. A test goes through all stencils with all extreme places of nodes and cuts.
//!
//! Nodes are warped all at once, each to its nearest cut, where the paper takes one after another. In a tetrahedron
//! that is kept the outcome is that of some order: a node that moves towards another one moved first. So the bounds
//! hold, and no order of nodes or threads reaches the result.

use super::cuts::Cuts;
use super::lattice::{CELLS, Lattice, NODES, NONE, Spacing, Tile};
use super::pinches::{pinched, separate};
use super::stencils::{Corner, Side, fill};
use crate::error::{GeometryError, Result, positive};
use crate::solid::Solid;
use rayon::prelude::*;
use std::cmp::Ordering;

use undine_core::MemoryBudget;
use undine_core::glam::DVec3;
use undine_core::mesh::{Body, Tetrahedra};

/// The least dihedral angle of a stuffed solid [rad], 10.7°.
pub const MIN_DIHEDRAL: f64 = 10.7 * std::f64::consts::PI / 180.0;

/// The largest dihedral angle of a stuffed solid [rad], 164.8°.
pub const MAX_DIHEDRAL: f64 = 164.8 * std::f64::consts::PI / 180.0;

/// A cut nearer to a node than this fraction of a long edge warps it.
pub(super) const ALPHA_LONG: f64 = 0.285;

/// A cut nearer to a node than this fraction of a short edge warps it.
pub(super) const ALPHA_SHORT: f64 = 0.3985;

/// The length of a short edge, in long ones: √3/2.
const SHORT: f64 = 0.866_025_403_784_438_6;

/// A Body has no more tetrahedra than this.
const MOST_CELLS: usize = u32::MAX as usize / 12;

/// How to lay a lattice of tetrahedra over a solid.
#[derive(Debug, Clone)]
pub struct Stuffing {
    cell: f64,
    anchor: Option<DVec3>,
    budget: MemoryBudget,
}

/// A solid filled with tetrahedra.
#[derive(Debug)]
pub struct Stuffed {
    /// The tetrahedra, all with positive volume. Where parts of it would only touch in a vertex, each has one of
    /// its own.
    pub body: Body,
    /// The edges in which the boundary meets itself, so that it is not manifold there, the lower vertex first.
    /// There are none where the solid and the gaps in it are wider than a few cubes; a finer lattice resolves them.
    pub pinched: Vec<[u32; 2]>,
}

impl Stuffing {
    /// With cubes of this side [m], each of twelve tetrahedra.
    pub fn new(cell: f64) -> Result<Self> {
        let cell = positive("the cell size of a lattice of tetrahedra", cell)?;
        Ok(Self { cell, anchor: None, budget: MemoryBudget::unlimited() })
    }

    /// With a corner of a cube there [m], instead of at the middle of the solid's bounds.
    pub fn with_anchor(self, anchor: DVec3) -> Self {
        Self { anchor: Some(anchor), ..self }
    }

    /// With no more memory than is left of this budget.
    pub fn with_budget(self, budget: MemoryBudget) -> Self {
        Self { budget, ..self }
    }

    /// Fills a solid. What is thinner than a cube may be lost; a solid that no node lies inside of gives a Body
    /// without tetrahedra.
    ///
    /// Vertices on the boundary lie on the surface. They are numbered in the order of the lattice, nodes before
    /// cuts.
    pub fn fill(&self, name: &str, solid: &dyn Solid) -> Result<Stuffed> {
        let Some((lattice, mut sides)) = self.sort_nodes(name, solid)? else {
            let body = Body::new(name, Vec::new(), Tetrahedra::new(Vec::new()))?;
            return Ok(Stuffed { body, pinched: Vec::new() });
        };
        let cuts = Cuts::find(&lattice, &sides, solid);
        let warped = warp(&mut sides, &cuts);
        let cuts = cuts.remaining(&sides);
        self.check_cells(count(&lattice, &sides))?;
        let cells = stuff(&lattice, &sides, &cuts);
        let (mut positions, mut cells, mut on) = number(&lattice, &sides, &warped, &cuts, cells);
        separate(&mut positions, &mut cells, &mut on);
        let pinched = pinched(&cells, &on);
        Ok(Stuffed { body: Body::new(name, positions, Tetrahedra::new(cells))?, pinched })
    }

    /// The lattice around the solid, and on which side of the surface its nodes are.
    pub(super) fn sort_nodes(
        &self,
        name: &str,
        solid: &dyn Solid,
    ) -> Result<Option<(Lattice, Vec<Side>)>> {
        let Some(bounds) = solid.bounds() else {
            return Err(GeometryError::Unbounded { what: name.to_owned() });
        };
        if !bounds.min.cmple(bounds.max).all() {
            return Ok(None);
        }
        let anchor = self.anchor.unwrap_or(bounds.centre());
        // Every tetrahedron with a node inside must be there with all of its nodes, which are at most a long
        // edge away from each other.
        let reach = 1.01 * self.cell;
        let spacing = Spacing { anchor, cell: self.cell };
        let lattice = Lattice::around(spacing, solid, bounds, reach, &self.budget)?;
        let sides = sides(&lattice, solid)?;
        Ok(Some((lattice, sides)))
    }

    /// Refuses so many tetrahedra if they do not fit into memory or cannot be numbered.
    pub(super) fn check_cells(&self, count: usize) -> Result<()> {
        if count > MOST_CELLS {
            let (found, most) = (count as u64, MOST_CELLS as u64);
            return Err(GeometryError::TooMany { what: "tetrahedra", found, most });
        }
        // Twice, by nodes and by vertices, with their positions: there are fewer vertices than tetrahedra.
        let bytes = count * (2 * size_of::<[u32; 4]>() + size_of::<DVec3>());
        Ok(self.budget.check(&format!("a Body of {count} tetrahedra"), bytes as u64)?)
    }
}

/// On which side of the surface each node is.
fn sides(lattice: &Lattice, solid: &dyn Solid) -> Result<Vec<Side>> {
    let mut sides = vec![Side::Inside; lattice.node_count()];
    sides.par_chunks_mut(NODES).enumerate().try_for_each(|(slot, sides)| {
        let (radius, centre) = lattice.ball_around(slot);
        if solid.distance(centre) < -radius {
            return Ok(());
        }
        for (node, side) in ((slot * NODES) as u32..).zip(sides) {
            let distance = solid.distance(lattice.position(node));
            *side = match distance.partial_cmp(&0.0) {
                Some(Ordering::Less) => Side::Inside,
                Some(Ordering::Equal) => Side::On,
                Some(Ordering::Greater) => Side::Outside,
                None => {
                    let what = "the distance to a solid";
                    return Err(GeometryError::BadParameter {
                        what,
                        found: distance,
                        wanted: "a number",
                    });
                }
            };
        }
        Ok(())
    })?;
    Ok(sides)
}

/// Puts every node that a cut comes too near to on the surface. Returns them, ascending, with their new places [m].
fn warp(sides: &mut [Side], cuts: &Cuts) -> Vec<(u32, DVec3)> {
    let mut near: Vec<(u32, f64, u32)> = Vec::new();
    for (number, cut) in (0..).zip(cuts.all()) {
        let (alpha, length) = if cut.long { (ALPHA_LONG, 1.0) } else { (ALPHA_SHORT, SHORT) };
        for (node, fraction) in cut.ends.into_iter().zip([cut.fraction, 1.0 - cut.fraction]) {
            if fraction < alpha {
                near.push((node, fraction * length, number));
            }
        }
    }
    // The nearest cut of each node comes first.
    near.par_sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
    near.dedup_by_key(|near| near.0);
    near.into_iter()
        .map(|(node, _, cut)| {
            sides[node as usize] = Side::On;
            (node, cuts.all()[cut as usize].position)
        })
        .collect()
}

/// Numbers from here on are cuts, below they are nodes.
const FIRST_CUT: u32 = 1 << 31;

/// How many tetrahedra there will be.
fn count(lattice: &Lattice, sides: &[Side]) -> usize {
    let count = |slot| {
        let mut count = 0;
        each_filling(lattice, sides, slot, |_, cells| count += cells.len());
        count
    };
    (0..lattice.block_count()).into_par_iter().map(count).sum()
}

/// The tetrahedra inside, by nodes and cuts.
fn stuff(lattice: &Lattice, sides: &[Side], cuts: &Cuts) -> Vec<[u32; 4]> {
    let fill_block = |slot| {
        let mut found = Vec::new();
        each_filling(lattice, sides, slot, |nodes, cells| {
            found.extend(cells.iter().map(|cell| {
                cell.map(|corner| match corner {
                    Corner::Node(k) => nodes[k as usize],
                    Corner::Cut(p, n) => {
                        let ends = [nodes[p as usize], nodes[n as usize]];
                        let cut = cuts.number(ends);
                        FIRST_CUT + cut.expect("every edge from inside to outside has a cut")
                    }
                })
            }));
        });
        found
    };
    (0..lattice.block_count()).into_par_iter().flat_map_iter(fill_block).collect()
}

/// Shows the nodes of each tetrahedron of a block that has some of the inside, and what of it is.
fn each_filling(
    lattice: &Lattice,
    sides: &[Side],
    slot: usize,
    mut show: impl FnMut([u32; 4], &[[Corner; 4]]),
) {
    let tile = lattice.tile(slot);
    for cube in Tile::cubes() {
        for cell in &CELLS {
            let nodes = cell.corners.map(|place| tile.node(cube, place));
            // A block that is not there has nothing near to the inside.
            if nodes.contains(&NONE) {
                continue;
            }
            let filling = fill(nodes.map(|node| sides[node as usize]), |a, b| cell.even(a, b));
            if !filling.cells().is_empty() {
                show(nodes, filling.cells());
            }
        }
    }
}

/// Numbers the vertices that tetrahedra have, nodes in their order before cuts in theirs, and places them. Tells also
/// which are nodes on the surface.
fn number(
    lattice: &Lattice,
    sides: &[Side],
    warped: &[(u32, DVec3)],
    cuts: &Cuts,
    mut cells: Vec<[u32; 4]>,
) -> (Vec<DVec3>, Vec<[u32; 4]>, Vec<bool>) {
    let mut numbers = vec![NONE; lattice.node_count() + cuts.all().len()];
    let place = |corner: u32| match corner.checked_sub(FIRST_CUT) {
        Some(cut) => lattice.node_count() + cut as usize,
        None => corner as usize,
    };
    for &corner in cells.as_flattened() {
        numbers[place(corner)] = 0;
    }
    let (mut positions, mut on) = (Vec::new(), Vec::new());
    for (place, number) in numbers.iter_mut().enumerate() {
        if *number == NONE {
            continue;
        }
        *number = positions.len() as u32;
        on.push(sides.get(place) == Some(&Side::On));
        positions.push(match place.checked_sub(lattice.node_count()) {
            Some(cut) => cuts.all()[cut].position,
            None => match warped.binary_search_by_key(&(place as u32), |warped| warped.0) {
                Ok(found) => warped[found].1,
                Err(_) => lattice.position(place as u32),
            },
        });
    }
    cells.par_iter_mut().for_each(|cell| *cell = cell.map(|corner| numbers[place(corner)]));
    (positions, cells, on)
}
