//! Orient: neighbours agree about which side is outside, and it is outside.

use super::nesting::depths;
use super::sides::Sides;
use crate::error::Result;
use crate::triangles::{Triangles, check_scale};
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;

/// A mesh whose patches are oriented.
#[derive(Debug, Clone, PartialEq)]
pub struct Oriented {
    /// The mesh, with vertices and triangles of the same numbers.
    pub mesh: Triangles,
    /// Which triangles were turned over.
    pub turned: Vec<bool>,
    /// The patch of each triangle: those that hang together across edges of two triangles, by their first triangle.
    pub patch: Vec<u32>,
    /// Edges at which two triangles of one patch still disagree; not 0 on surfaces with one side only (Möbius).
    pub twisted: usize,
}

/// Turns triangles over, so that each patch looks outwards.
///
/// A patch is what hangs together across edges of two triangles. A closed patch encloses a positive volume afterwards,
/// unless it lies inside of an odd number of other closed ones: then it is the wall of a cavity, and looks into it.
/// An open patch has a positive volume together with cones from the middle of its rim. Where that says nothing,
/// as on a flat sheet, the larger part of the area keeps its side.
pub fn orient(mesh: &Triangles) -> Result<Oriented> {
    check_scale(mesh.positions())?;
    let sides = Sides::new(mesh)?;
    let (patch, mut turned) = agree(mesh, &sides);
    let patches = patch.iter().max().map_or(0, |&last| last as usize + 1);
    let over = patches_to_turn(mesh, &sides, &patch, &turned, patches);
    for (turned, &patch) in turned.iter_mut().zip(&patch) {
        *turned ^= over[patch as usize];
    }

    let twisted = (0..sides.edges().len())
        .filter_map(|edge| sides.pair(edge))
        .filter(|&pair| {
            disagree(&sides, pair) != (turned[pair[0] as usize / 3] != turned[pair[1] as usize / 3])
        })
        .count();
    let turn = |(&[a, b, c], &over): (&[u32; 3], &bool)| if over { [a, c, b] } else { [a, b, c] };
    let triangles = mesh.indices().iter().zip(&turned).map(turn).collect();
    let mesh = Triangles::new(mesh.positions().to_vec(), triangles)?;
    Ok(Oriented { mesh, turned, patch, twisted })
}

/// Whether two sides along one edge run the same way, so that their triangles look to different sides.
fn disagree(sides: &Sides, [one, other]: [u32; 2]) -> bool {
    sides.ends(one) == sides.ends(other)
}

/// The patch of each triangle, and which to turn over so that each agrees with the first of its patch.
fn agree(mesh: &Triangles, sides: &Sides) -> (Vec<u32>, Vec<bool>) {
    const NONE: u32 = u32::MAX;
    let mut patch = vec![NONE; mesh.len()];
    let mut turned = vec![false; mesh.len()];
    let mut patches = 0;
    let mut open = Vec::new();
    for first in 0..mesh.len() {
        if patch[first] != NONE {
            continue;
        }
        patch[first] = patches;
        open.push(first);
        while let Some(triangle) = open.pop() {
            for side in 3 * triangle..3 * triangle + 3 {
                let edge = sides.edges().of_use()[side] as usize;
                let Some(pair) = sides.pair(edge) else { continue };
                let other = (pair[0] + pair[1]) as usize - side;
                let neighbour = other / 3;
                if patch[neighbour] == NONE {
                    patch[neighbour] = patches;
                    turned[neighbour] = turned[triangle] ^ disagree(sides, pair);
                    open.push(neighbour);
                }
            }
        }
        patches += 1;
    }
    (patch, turned)
}

/// Which patches look inwards, or, where volume does not tell, turned over the larger part of their area.
fn patches_to_turn(
    mesh: &Triangles,
    sides: &Sides,
    patch: &[u32],
    turned: &[bool],
    patches: usize,
) -> Vec<bool> {
    // The middle of each patch's rim, and of all of it where there is none.
    let mut rim = vec![(DVec3::ZERO, 0.0); patches];
    let mut is_closed = vec![true; patches];
    let mut whole: Vec<Option<Bounds>> = vec![None; patches];
    for (triangle, &patch) in patch.iter().enumerate() {
        let corners = mesh.corners(triangle);
        let around = Bounds::around(corners);
        let whole = &mut whole[patch as usize];
        *whole = whole.iter().copied().chain(around).reduce(Bounds::union);
        for k in 0..3 {
            if sides.pair(sides.edges().of_use()[3 * triangle + k] as usize).is_none() {
                let [a, b] = [corners[k], corners[(k + 1) % 3]];
                is_closed[patch as usize] = false;
                let rim = &mut rim[patch as usize];
                *rim = (rim.0 + a.distance(b) * 0.5 * (a + b), rim.1 + a.distance(b));
            }
        }
    }
    let middle: Vec<DVec3> = rim
        .iter()
        .zip(&whole)
        .map(|(&(sum, length), whole)| match whole {
            _ if length > 0.0 => sum / length,
            Some(bounds) => bounds.centre(),
            None => DVec3::ZERO,
        })
        .collect();

    #[derive(Clone, Copy, Default)]
    struct Sums {
        volume: f64,
        area: f64,
        turned_area: f64,
    }
    let mut sums = vec![Sums::default(); patches];
    for (triangle, &patch) in patch.iter().enumerate() {
        let [a, b, c] = mesh.corners(triangle).map(|corner| corner - middle[patch as usize]);
        let area = 0.5 * (b - a).cross(c - a).length();
        let volume = a.dot(b.cross(c)) / 6.0;
        let sums = &mut sums[patch as usize];
        sums.area += area;
        sums.turned_area += if turned[triangle] { area } else { 0.0 };
        sums.volume += if turned[triangle] { -volume } else { volume };
    }
    let depths = depths(mesh, patch, &is_closed);
    // A volume that is nothing against the area, or against the box of the patch, is rounding.
    let size = |bounds: &Option<Bounds>| bounds.map_or(0.0, |bounds| bounds.size().length());
    let tells = |sums: &Sums, whole: &Option<Bounds>| {
        let least = (1e-9 * sums.area * sums.area.sqrt()).max(1e-14 * size(whole).powi(3));
        sums.volume.abs() > least
    };
    let over = |((sums, whole), (&closed, depth)): ((&Sums, _), (&bool, usize))| match tells(
        sums, whole,
    ) {
        true => (sums.volume < 0.0) ^ (closed && depth % 2 == 1),
        false => 2.0 * sums.turned_area > sums.area,
    };
    sums.iter().zip(&whole).zip(is_closed.iter().zip(depths)).map(over).collect()
}
