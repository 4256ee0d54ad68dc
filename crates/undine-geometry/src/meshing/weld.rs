//! Weld: vertices that are as good as one become one.

use super::compact;
use super::origins::{Origins, Remeshed};
use crate::error::{GeometryError, Result};
use crate::point_cells::PointCells;
use crate::triangles::{Triangles, check_scale};
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;

/// Merges vertices within `tolerance` [m] of each other; 0 merges those at the same place.
///
/// In the order of their numbers each vertex goes to the first kept vertex within the tolerance, or is kept itself.
/// So nothing moves further than the tolerance (chains of near vertices do not collapse into one), and kept vertices
/// stay where they are, further than the tolerance from each other. Triangles that lose a corner go, of triangles with
/// the same corners in the same sense the first stays, and vertices without a triangle go. Two triangles back to back
/// stay: they are a sheet with two sides.
pub fn weld(mesh: &Triangles, tolerance: f64) -> Result<Remeshed> {
    if !(0.0..f64::INFINITY).contains(&tolerance) {
        let wanted = "zero or a positive length in metres";
        return Err(GeometryError::BadParameter {
            what: "the tolerance of a weld",
            found: tolerance,
            wanted,
        });
    }
    check_scale(mesh.positions())?;
    let positions = mesh.positions();
    let keeper = match Bounds::around(positions.iter().copied()) {
        Some(bounds) if tolerance > 0.0 => first_within(positions, &bounds, tolerance)?,
        _ => first_at_the_same_place(positions),
    };

    let merged = mesh.indices().iter().map(|corners| corners.map(|vertex| keeper[vertex as usize]));
    let mut triangles: Vec<([u32; 3], u32)> =
        merged.zip(0..).filter(|([a, b, c], _)| a != b && b != c && c != a).collect();
    keep_first_of_equals(&mut triangles);
    compact(positions, Origins::identity(positions.len()), triangles)
}

/// For each vertex the first kept one within the tolerance.
fn first_within(positions: &[DVec3], bounds: &Bounds, tolerance: f64) -> Result<Vec<u32>> {
    // Cells a few tolerances wide: few balls touch more than one or two, and no cell holds many kept vertices.
    let mut kept =
        PointCells::new(bounds, 4.0 * tolerance, "the tolerance of a weld, times four,")?;
    let mut number_of_kept = Vec::new();
    let mut keeper = Vec::with_capacity(positions.len());
    for (vertex, &position) in (0..).zip(positions) {
        let mut first = u32::MAX;
        kept.find(position, tolerance, |number, point| {
            if point.distance_squared(position) <= tolerance * tolerance {
                first = first.min(number);
            }
            None::<()>
        });
        if first == u32::MAX {
            first = number_of_kept.len() as u32;
            number_of_kept.push(vertex);
            kept.push(position);
        }
        keeper.push(number_of_kept[first as usize]);
    }
    Ok(keeper)
}

/// For each vertex the first one at the same place.
fn first_at_the_same_place(positions: &[DVec3]) -> Vec<u32> {
    // Adding zero makes one of the two zeros, which are the same place.
    let key = |vertex: u32| (positions[vertex as usize] + DVec3::ZERO).to_array();
    let order = |a: u32, b: u32| {
        let axes = key(a).into_iter().zip(key(b)).map(|(a, b)| a.total_cmp(&b));
        axes.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
    };
    let mut sorted: Vec<u32> = (0..positions.len() as u32).collect();
    sorted.sort_by(|&a, &b| order(a, b).then(a.cmp(&b)));
    let mut keeper = vec![0; positions.len()];
    for same in sorted.chunk_by(|&a, &b| order(a, b).is_eq()) {
        same.iter().for_each(|&vertex| keeper[vertex as usize] = same[0]);
    }
    keeper
}

/// Of triangles that have the same corners and are seen from the same side the first stays.
fn keep_first_of_equals(triangles: &mut Vec<([u32; 3], u32)>) {
    let lowest_first = |[a, b, c]: [u32; 3]| match a.min(b).min(c) {
        low if low == a => [a, b, c],
        low if low == b => [b, c, a],
        _ => [c, a, b],
    };
    triangles.sort_unstable_by_key(|&(corners, number)| (lowest_first(corners), number));
    triangles.dedup_by_key(|&mut (corners, _)| lowest_first(corners));
    triangles.sort_unstable_by_key(|&(_, number)| number);
}
