//! Queries about one pair of primitives.
//!
//! Vertices are put into an order of their own before anything is computed, so that the same pair has the same answer to
//! the last bit, however its corners and ends are numbered.

use super::advance::Moving;
use super::{Contact, Gap, check, closest};
use crate::error::{Result, positive};
use std::cmp::Ordering;
use undine_core::glam::DVec3;

/// The first contact of a point with a triangle. Vertices are the point and the corners [m], at the times 0 and 1.
///
/// The triangle may have no area: then it is the segment or the point that it covers.
pub fn point_triangle(start: [DVec3; 4], end: [DVec3; 4], gap: Gap) -> Result<Option<Contact>> {
    check(&start)?;
    check(&end)?;
    Ok(first_point_triangle(&start, &end, gap))
}

/// The first contact of two edges. Vertices are the ends of the first and of the second edge [m], at the times 0 and 1.
///
/// Edges may be parallel, or have no length.
pub fn edge_edge(start: [DVec3; 4], end: [DVec3; 4], gap: Gap) -> Result<Option<Contact>> {
    check(&start)?;
    check(&end)?;
    Ok(first_edge_edge(&start, &end, gap))
}

/// The first contact of a segment with a triangle, with its face, its edges and its corners. Vertices are the ends of the
/// segment and the corners [m], at the times 0 and 1. A segment through the triangle at time 0 is a contact then.
pub fn segment_triangle(
    start: [DVec3; 5],
    end: [DVec3; 5],
    gap: Gap,
) -> Result<Option<Contact<5>>> {
    check(&start)?;
    check(&end)?;
    let (mut ends, mut corners) = ([0, 1], [2, 3, 4]);
    ends.sort_unstable_by(|&a, &b| by_place(&start, &end, a, b));
    corners.sort_unstable_by(|&a, &b| by_place(&start, &end, a, b));
    let differences = |x: &[DVec3; 5]| std::array::from_fn(|k| x[ends[k / 3]] - x[corners[k % 3]]);
    let moving = Moving::<6> { start: differences(&start), end: differences(&end) };
    Ok(moving.first_contact(gap, closest::segment_triangle).map(|first| {
        let mut weights = [0.0; 5];
        for (k, weight) in first.weights.into_iter().enumerate() {
            weights[ends[k / 3]] += weight;
            weights[corners[k % 3]] -= weight;
        }
        first.contact(weights)
    }))
}

/// The first contact of a sphere with a triangle: with its face, its edges and its corners. Vertices are the centre and
/// the corners [m], at the times 0 and 1; gap and distance are those from the sphere's surface.
pub fn sphere_triangle(
    radius: f64,
    start: [DVec3; 4],
    end: [DVec3; 4],
    gap: Gap,
) -> Result<Option<Contact>> {
    let gap = Gap::new(positive_or_zero(radius)? + gap.separation, gap.tolerance)?;
    let contact = point_triangle(start, end, gap)?;
    Ok(contact.map(|contact| Contact { distance: contact.distance - radius, ..contact }))
}

/// The first contact of a sphere, or of a point of radius zero, with a triangle that rests. What crosses the triangle is
/// always found: there is no way around or through it, nor between two triangles with a common edge.
pub fn swept_sphere(
    radius: f64,
    from: DVec3,
    to: DVec3,
    triangle: [DVec3; 3],
    gap: Gap,
) -> Result<Option<Contact>> {
    let [a, b, c] = triangle;
    sphere_triangle(radius, [from, a, b, c], [to, a, b, c], gap)
}

fn positive_or_zero(radius: f64) -> Result<f64> {
    if radius == 0.0 { Ok(0.0) } else { positive("the radius of a sphere", radius) }
}

/// [`point_triangle`] of vertices that were checked.
pub(super) fn first_point_triangle(
    start: &[DVec3; 4],
    end: &[DVec3; 4],
    gap: Gap,
) -> Option<Contact> {
    let mut corners = [1, 2, 3];
    corners.sort_unstable_by(|&a, &b| by_place(start, end, a, b));
    let differences = |x: &[DVec3; 4]| corners.map(|corner| x[0] - x[corner]);
    let moving = Moving::<3> { start: differences(start), end: differences(end) };
    moving.first_contact(gap, closest::point_triangle).map(|first| {
        let mut weights = [1.0, 0.0, 0.0, 0.0];
        for (corner, weight) in corners.into_iter().zip(first.weights) {
            weights[corner] = -weight;
        }
        first.contact(weights)
    })
}

/// [`edge_edge`] of vertices that were checked.
pub(super) fn first_edge_edge(start: &[DVec3; 4], end: &[DVec3; 4], gap: Gap) -> Option<Contact> {
    let ordered = |a: usize, b: usize| {
        if by_place(start, end, a, b) == Ordering::Greater { [b, a] } else { [a, b] }
    };
    let (mut first, mut second) = (ordered(0, 1), ordered(2, 3));
    let order = by_place(start, end, first[0], second[0])
        .then_with(|| by_place(start, end, first[1], second[1]));
    let swapped = order == Ordering::Greater;
    if swapped {
        std::mem::swap(&mut first, &mut second);
    }
    let differences = |x: &[DVec3; 4]| std::array::from_fn(|k| x[first[k / 2]] - x[second[k % 2]]);
    let moving = Moving::<4> { start: differences(start), end: differences(end) };
    moving.first_contact(gap, closest::edge_edge).map(|found| {
        let w = found.weights;
        let mut weights = [0.0; 4];
        weights[first[0]] = w[0] + w[1];
        weights[first[1]] = w[2] + w[3];
        weights[second[0]] = -(w[0] + w[2]);
        weights[second[1]] = -(w[1] + w[3]);
        let contact = found.contact(weights);
        if swapped {
            let weights = weights.map(|weight| -weight);
            return Contact { weights, normal: -contact.normal, ..contact };
        }
        contact
    })
}

/// An order of vertices by where they are, so that it is the same for all numberings.
fn by_place(start: &[DVec3], end: &[DVec3], a: usize, b: usize) -> Ordering {
    let places = |v: usize| start[v].to_array().into_iter().chain(end[v].to_array());
    let differing = places(a).zip(places(b)).find(|(a, b)| a != b);
    differing.map_or(Ordering::Equal, |(a, b)| a.total_cmp(&b))
}
