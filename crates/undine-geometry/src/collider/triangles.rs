//! Sweeping a sphere against triangles, at rest here and moving in [`super::moving`]: the first contact with any of them, by [`ccd`](crate::ccd).

use super::advance::{Before, Gone, TOUCH, Way, WayOut, separation, way_out};
use super::form::Touch;
use crate::ccd::{Contact, Gap, point_triangle};
use crate::error::Result;
use crate::mesh_solid::{Inside, MeshSolid};
use crate::solid::{Nearest, Solid};
use crate::triangle::closest_point;
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;

/// Nearer to a mesh than this part of its size, rounding decides on which side something is.
const ON_SURFACE: f64 = 1e-12;

/// How finely a way is looked at that begins inside, as a part of it.
pub(super) const FINE: f64 = 1e-3;

/// The first touch of a sphere with a mesh at rest.
pub(super) fn touch_resting(mesh: &MeshSolid, way: Way) -> Result<Gone<Touch>> {
    let begin = match begin_inside(mesh, way) {
        None => 0.0,
        Some(begin) if begin.leads_in(way.to - way.from) => {
            return Ok((Some(begin.stopped()), None));
        }
        Some(begin) => {
            let slack = (TOUCH * way.radius).max(FINE * way.length()).max(4.0 * begin.rounding);
            match way_out(way, begin.depth(), slack, 1.0, |at| mesh.distance(at)) {
                WayOut::Deeper => return Ok((Some(begin.stopped()), None)),
                WayOut::Free => return Ok((None, None)),
                WayOut::Out(time, _) => time,
            }
        }
    };
    let way = Way { from: way.at(begin), ..way };
    let (touch, kept) = touch_resting_from_outside(mesh, way)?;
    Ok((touch.map(|touch| touch.later(begin, 1.0)), kept))
}

fn touch_resting_from_outside(mesh: &MeshSolid, way: Way) -> Result<Gone<Touch>> {
    let triangles = mesh.bvh().triangles();
    let candidates = mesh.bvh().in_box(&around(way, half_thickness(mesh)));
    let paths = candidates.into_iter().map(|triangle| {
        let corners = triangles.corners(triangle as usize);
        (triangle, corners, corners)
    });
    let (first, kept) = first_of(&paths.collect::<Vec<_>>(), way, half_thickness(mesh))?;
    let touch = first.map(|(contact, _)| Touch {
        time: contact.time,
        normal: contact.normal,
        distance: contact.distance - half_thickness(mesh),
        velocity: DVec3::ZERO,
        held: None,
    });
    Ok((touch, kept))
}

/// A triangle with its corners at the start and at the end of a way.
pub(super) type Path = (u32, [DVec3; 3], [DVec3; 3]);

/// The first contact of a sphere with any of some triangles, and which that is; of several at the same time, the first.
///
/// Triangles are in the middle of a sheet, `half` [m] below its surface.
pub(super) fn first_of(paths: &[Path], way: Way, half: f64) -> Result<Gone<(Contact, u32)>> {
    let size = |path: &Path| path.1.iter().map(|at| at.distance(way.from)).fold(0.0, f64::max);
    let most = |all: &dyn Fn(&Path) -> f64| paths.iter().map(all).fold(0.0, f64::max);
    let rounding = ON_SURFACE * (most(&size) + way.length());
    if way.before != Before::Step || nearest_of(paths, way.from) > rounding {
        return first_beside(paths, way, half);
    }
    // What lies in the sheet itself is on neither side of it: it gets one by where it goes first.
    let speed = |path: &Path| (0..3).map(|n| path.1[n].distance(path.2[n])).fold(0.0, f64::max);
    let part = (TOUCH * (way.radius + half)).max(4.0 * rounding) / (most(&speed) + way.length());
    let part = if part < 1.0 { part } else { 1.0 };
    let later = |&(triangle, start, end): &Path| {
        (triangle, std::array::from_fn(|n| DVec3::lerp(start[n], end[n], part)), end)
    };
    let moved: Vec<Path> = paths.iter().map(later).collect();
    let rest = Way { from: way.at(part), ..way };
    if nearest_of(&moved, rest.from) <= rounding {
        // Along it, there is no other way out than across.
        let (first, kept) = first_beside(paths, way, half)?;
        return Ok((
            first.map(|(contact, triangle)| (across(contact, triangle, paths), triangle)),
            kept,
        ));
    }
    let (first, kept) = first_beside(&moved, rest, half)?;
    let in_all = |time: f64| part + (1.0 - part) * time;
    let first = first
        .map(|(contact, triangle)| (Contact { time: in_all(contact.time), ..contact }, triangle));
    Ok((first, kept))
}

/// The same contact with the normal of the triangle, if it has one.
fn across(contact: Contact, triangle: u32, paths: &[Path]) -> Contact {
    let normal = paths
        .iter()
        .find(|path| path.0 == triangle)
        .and_then(|&(_, [a, b, c], _)| (b - a).cross(c - a).try_normalize());
    Contact { normal: normal.unwrap_or(contact.normal), ..contact }
}

/// How far triangles are from a place [m] at the start of their ways.
fn nearest_of(paths: &[Path], at: DVec3) -> f64 {
    let start = |path: &Path| closest_point(path.1, at).point.distance(at);
    paths.iter().map(start).fold(f64::INFINITY, f64::min)
}

/// The same for a sphere whose centre is on one side.
fn first_beside(paths: &[Path], way: Way, half: f64) -> Result<Gone<(Contact, u32)>> {
    let separation =
        separation(nearest_of(paths, way.from), Way { radius: way.radius + half, ..way });
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
    Ok((first, Some(separation)))
}

/// The beginning of a way inside of a closed mesh, or on its surface.
pub(super) struct Begin {
    /// The nearest point of the surface.
    near: Nearest,
    /// Nearer than this [m] it is on the surface.
    rounding: f64,
}

/// Where a way begins that does not begin outside of a closed mesh. A sheet has no inside to be in, and what was outside
/// during a leg still is.
pub(super) fn begin_inside(mesh: &MeshSolid, way: Way) -> Option<Begin> {
    if matches!(mesh.inside(), Inside::Thickness(_)) || matches!(way.before, Before::Leg(_)) {
        return None;
    }
    let closest = mesh.bvh().closest(way.from)?;
    let corners = mesh.bvh().triangles().corners(closest.triangle as usize);
    let size = corners.iter().map(|at| at.distance(way.from)).fold(0.0, f64::max);
    let rounding = ON_SURFACE * (size + way.length());
    if mesh.distance(way.from) > rounding {
        return None;
    }
    let mut near = mesh.nearest(way.from);
    // On the surface the mesh's own normal is all there is; of a mesh that looks inwards it leads in.
    let aside = 16.0 * rounding * near.normal;
    if near.distance.abs() <= rounding
        && mesh.distance(way.from + aside) < mesh.distance(way.from - aside)
    {
        near.normal = -near.normal;
    }
    Some(Begin { near, rounding })
}

impl Begin {
    /// The distance that it may not go below [m].
    pub(super) fn depth(&self) -> f64 {
        self.near.distance.min(0.0)
    }

    pub(super) fn is_on_surface(&self) -> bool {
        self.near.distance >= -self.rounding
    }

    /// Whether a way from the surface leads in. There the first bit of it tells, also where the inside is thin.
    fn leads_in(&self, relative: DVec3) -> bool {
        self.is_on_surface() && self.near.normal.dot(relative) < 0.0
    }

    /// The same of a way from the inside: whether it begins by leading deeper, by more than a little [m].
    pub(super) fn leads_deeper(&self, relative: DVec3, slack: f64) -> bool {
        self.leads_in(relative) || self.near.normal.dot(relative) < -slack
    }

    /// What stops a way that would lead deeper.
    pub(super) fn stopped(&self) -> Touch {
        Touch::at_once(self.near, DVec3::ZERO)
    }
}

pub(super) fn half_thickness(mesh: &MeshSolid) -> f64 {
    match mesh.inside() {
        Inside::Thickness(thickness) => 0.5 * thickness,
        Inside::Winding(_) | Inside::Normals => 0.0,
    }
}

/// The box around a way, with all that the sphere may touch.
pub(super) fn around(way: Way, half: f64) -> Bounds {
    let reach = (1.0 + TOUCH) * (way.radius + half);
    Bounds { min: way.from.min(way.to) - reach, max: way.from.max(way.to) + reach }
}

pub(super) fn at_weights(corners: [DVec3; 3], [u, v, w]: [f64; 3]) -> DVec3 {
    u * corners[0] + v * corners[1] + w * corners[2]
}
