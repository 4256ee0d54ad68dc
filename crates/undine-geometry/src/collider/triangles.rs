//! Sweeping a sphere against triangles, at rest or moving: the first contact with any of them, by [`ccd`](crate::ccd).

use super::advance::{TOUCH, Way, separation};
use super::form::{Held, Touch};
use crate::bvh::{Bvh, Closest};
use crate::ccd::{Contact, Gap, point_triangle};
use crate::deformation::Deformation;
use crate::error::Result;
use crate::mesh_solid::{MeshSolid, Side};
use crate::solid::{Nearest, Solid};
use crate::triangle::closest_point;
use crate::triangles::Triangles;
use undine_core::glam::{DMat3, DVec3};
use undine_core::mesh::Bounds;

/// The first touch of a sphere with a mesh at rest.
pub(super) fn touch_resting(mesh: &MeshSolid, way: Way) -> Result<Option<Touch>> {
    if let Some(stopped) = inside(mesh, mesh, way) {
        return Ok(stopped.map(|near| Touch::at_once(near, DVec3::ZERO)));
    }
    let triangles = mesh.bvh().triangles();
    let candidates = mesh.bvh().in_box(&around(way, half_thickness(mesh)));
    let paths = candidates.into_iter().map(|triangle| {
        let corners = triangles.corners(triangle as usize);
        (triangle, corners, corners)
    });
    let first = first_of(&paths.collect::<Vec<_>>(), way, half_thickness(mesh))?;
    Ok(first.map(|(contact, _)| Touch {
        time: contact.time,
        normal: contact.normal,
        distance: contact.distance - half_thickness(mesh),
        velocity: DVec3::ZERO,
        held: None,
    }))
}

/// A triangle with its corners at the start and at the end of a way.
type Path = (u32, [DVec3; 3], [DVec3; 3]);

/// The first contact of a sphere with any of some triangles, and which that is; of several at the same time, the first.
///
/// Triangles are in the middle of a sheet, `half` [m] below its surface.
fn first_of(paths: &[Path], way: Way, half: f64) -> Result<Option<(Contact, u32)>> {
    let start = |path: &Path| closest_point(path.1, way.from).point.distance(way.from);
    let free = paths.iter().map(start).fold(f64::INFINITY, f64::min);
    let separation = separation(free, way.radius + half);
    let gap = Gap::new(separation, TOUCH * separation)?;
    let mut first: Option<(Contact, u32)> = None;
    for &(triangle, [a, b, c], [d, e, f]) in paths {
        let found = point_triangle([way.from, a, b, c], [way.to, d, e, f], gap)?;
        if let Some(found) = found
            && first.is_none_or(|(first, _)| found.time < first.time)
        {
            first = Some((found, triangle));
        }
    }
    Ok(first)
}

/// For a way that begins inside of a closed mesh: the nearest point of the surface, if it goes deeper.
fn inside(start: &MeshSolid, end: &MeshSolid, way: Way) -> Option<Option<Nearest>> {
    // A sheet has no inside to be in.
    if let Side::Thickness(_) = start.side() {
        return None;
    }
    let distance = start.distance(way.from);
    (distance < 0.0).then(|| (end.distance(way.to) < distance).then(|| start.nearest(way.from)))
}

fn half_thickness(mesh: &MeshSolid) -> f64 {
    match mesh.side() {
        Side::Thickness(thickness) => 0.5 * thickness,
        Side::Winding(_) | Side::Normals => 0.0,
    }
}

/// The box around a way, with all that the sphere may touch.
fn around(way: Way, half: f64) -> Bounds {
    let reach = (1.0 + TOUCH) * (way.radius + half);
    Bounds { min: way.from.min(way.to) - reach, max: way.from.max(way.to) + reach }
}

/// A mesh that deforms during a step.
pub(super) struct Moving {
    legs: Vec<MovingLeg>,
    end: MeshSolid,
    /// Of the vertices, at the end of the step [m/s].
    velocities: Vec<DVec3>,
}

/// A part of the step during which all vertices move straight.
struct MovingLeg {
    start: MeshSolid,
    end: Vec<DVec3>,
    /// A tree over the boxes that triangles sweep.
    swept: Bvh,
    /// [s]
    duration: f64,
}

impl Moving {
    /// A mesh deformed during a step, whose legs begin and end at these times [s].
    pub fn new(mesh: &MeshSolid, deformation: &Deformation, times: &[f64]) -> Result<Self> {
        let at = |time: f64| -> Result<MeshSolid> {
            let mut mesh = mesh.clone();
            mesh.refit(deformation.positions(time))?;
            Ok(mesh)
        };
        let legs = times.windows(2).map(|ends| {
            let (start, end) = (at(ends[0])?, deformation.positions(ends[1]));
            let swept = swept_boxes(start.bvh().triangles(), &end)?;
            Ok(MovingLeg { start, end, swept, duration: ends[1] - ends[0] })
        });
        let last = times.last().copied().unwrap_or(0.0);
        Ok(Self {
            legs: legs.collect::<Result<_>>()?,
            end: at(last)?,
            velocities: deformation.velocities(last),
        })
    }

    /// The mesh as it is at the end.
    pub fn at_the_end(&self) -> &MeshSolid {
        &self.end
    }

    /// The nearest point at the end, and how fast it moves [m/s].
    pub fn nearest_and_velocity(&self, at: DVec3) -> (Nearest, DVec3) {
        let near = self.end.nearest(at);
        let Some(Closest { triangle, weights, .. }) = self.end.bvh().closest(at) else {
            return (near, DVec3::ZERO);
        };
        let corners = self.end.bvh().triangles().indices()[triangle as usize];
        let moved = |n: usize| weights[n] * self.velocities[corners[n] as usize];
        (near, moved(0) + moved(1) + moved(2))
    }

    /// The first touch of a sphere during what is left of a leg when a part of it is over.
    pub fn first_touch(&self, leg: usize, part: f64, way: Way) -> Result<Option<Touch>> {
        let leg = &self.legs[leg];
        // In the middle of a leg it comes from an impact, and so from outside.
        if part == 0.0
            && let Some(stopped) = inside(&leg.start, &self.end, way)
        {
            let velocity = self.nearest_and_velocity(way.from).1;
            return Ok(stopped.map(|near| Touch::at_once(near, velocity)));
        }
        let mesh = leg.start.bvh().triangles();
        let half = half_thickness(&leg.start);
        let paths = leg.swept.in_box(&around(way, half)).into_iter().map(|triangle| {
            let start = mesh.corners(triangle as usize);
            let end = mesh.indices()[triangle as usize].map(|vertex| leg.end[vertex as usize]);
            let now = std::array::from_fn(|n| start[n].lerp(end[n], part));
            (triangle, now, end)
        });
        let first = first_of(&paths.collect::<Vec<_>>(), way, half)?;
        Ok(first.map(|(contact, triangle)| {
            // The triangle's weights in the gap are negative.
            let [_, a, b, c] = contact.weights;
            let weights = [-a, -b, -c];
            let start = mesh.corners(triangle as usize);
            let end = mesh.indices()[triangle as usize].map(|vertex| leg.end[vertex as usize]);
            let time = part + (1.0 - part) * contact.time;
            let now = std::array::from_fn(|n| start[n].lerp(end[n], time));
            let gap = way.at(contact.time) - at_weights(now, weights);
            let path = at_weights(end, weights) - at_weights(start, weights);
            Touch {
                time: contact.time,
                normal: contact.normal,
                distance: contact.distance - half,
                velocity: path / leg.duration.max(f64::MIN_POSITIVE),
                held: Some(Held { triangle, weights, offset: frame(now).transpose() * gap }),
            }
        }))
    }

    /// Where a place ends that goes with a triangle.
    pub fn carried(&self, held: Held) -> DVec3 {
        let corners = self.end.bvh().triangles().corners(held.triangle as usize);
        at_weights(corners, held.weights) + frame(corners) * held.offset
    }
}

fn at_weights(corners: [DVec3; 3], [u, v, w]: [f64; 3]) -> DVec3 {
    u * corners[0] + v * corners[1] + w * corners[2]
}

/// The frame of a triangle: along its first edge, across it, and its normal. Without area, that of the world.
fn frame([a, b, c]: [DVec3; 3]) -> DMat3 {
    let (along, normal) = ((b - a).try_normalize(), (b - a).cross(c - a).try_normalize());
    match (along, normal) {
        (Some(along), Some(normal)) => DMat3::from_cols(along, normal.cross(along), normal),
        _ => DMat3::IDENTITY,
    }
}

/// A tree over the boxes that triangles sweep: a triangle from the lowest to the highest corner of a box has that box.
fn swept_boxes(start: &Triangles, end: &[DVec3]) -> Result<Bvh> {
    let corners = (0..start.len()).flat_map(|triangle| {
        let after = start.indices()[triangle].map(|vertex| end[vertex as usize]);
        let all = start.corners(triangle).into_iter().chain(after);
        let low = all.clone().fold(DVec3::INFINITY, DVec3::min);
        [low, all.fold(DVec3::NEG_INFINITY, DVec3::max)]
    });
    let diagonal = |n: u32| [2 * n, 2 * n + 1, 2 * n];
    Bvh::new(Triangles::new(corners.collect(), (0..start.len() as u32).map(diagonal).collect())?)
}
