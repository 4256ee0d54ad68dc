//! Sweeping a sphere against triangles, at rest or moving: the first contact with any of them, by [`ccd`](crate::ccd).

use super::advance::{Before, Gone, TOUCH, Way, WayOut, separation, way_out};
use super::edge::{EdgeTouch, EdgeWay, MeshWay};
use super::form::{Held, Touch};
use crate::bvh::{Bvh, Closest};
use crate::ccd::{Contact, Gap, point_triangle};
use crate::deformation::Deformation;
use crate::error::Result;
use crate::mesh_solid::{Inside, MeshSolid};
use crate::solid::{Nearest, Solid};
use crate::triangle::{closest_point, frame};
use crate::triangles::Triangles;
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;

/// Nearer to a mesh than this part of its size, rounding decides on which side something is.
const ON_SURFACE: f64 = 1e-12;

/// How finely a way is looked at that begins inside, as a part of it.
const FINE: f64 = 1e-3;

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
type Path = (u32, [DVec3; 3], [DVec3; 3]);

/// The first contact of a sphere with any of some triangles, and which that is; of several at the same time, the first.
///
/// Triangles are in the middle of a sheet, `half` [m] below its surface.
fn first_of(paths: &[Path], way: Way, half: f64) -> Result<Gone<(Contact, u32)>> {
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
struct Begin {
    /// The nearest point of the surface.
    near: Nearest,
    /// Nearer than this [m] it is on the surface.
    rounding: f64,
}

/// Where a way begins that does not begin outside of a closed mesh. A sheet has no inside to be in, and what was outside
/// during a leg still is.
fn begin_inside(mesh: &MeshSolid, way: Way) -> Option<Begin> {
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
    fn depth(&self) -> f64 {
        self.near.distance.min(0.0)
    }

    fn is_on_surface(&self) -> bool {
        self.near.distance >= -self.rounding
    }

    /// Whether a way from the surface leads in. There the first bit of it tells, also where the inside is thin.
    fn leads_in(&self, relative: DVec3) -> bool {
        self.is_on_surface() && self.near.normal.dot(relative) < 0.0
    }

    /// The same of a way from the inside: whether it begins by leading deeper, by more than a little [m].
    fn leads_deeper(&self, relative: DVec3, slack: f64) -> bool {
        self.leads_in(relative) || self.near.normal.dot(relative) < -slack
    }

    /// What stops a way that would lead deeper.
    fn stopped(&self) -> Touch {
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

impl MovingLeg {
    /// How far the point goes [m] that is nearest to a place at the start.
    fn path_nearest_to(&self, at: DVec3) -> DVec3 {
        let Some(Closest { triangle, weights, .. }) = self.start.bvh().closest(at) else {
            return DVec3::ZERO;
        };
        let mesh = self.start.bvh().triangles();
        let end = mesh.indices()[triangle as usize].map(|vertex| self.end[vertex as usize]);
        at_weights(end, weights) - at_weights(mesh.corners(triangle as usize), weights)
    }
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

    /// How far a vertex goes during the step, at most [m].
    pub fn longest_way(&self) -> f64 {
        let longest = |leg: &MovingLeg| {
            let start = leg.start.bvh().triangles().positions();
            start.iter().zip(&leg.end).map(|(from, to)| from.distance(*to)).fold(0.0, f64::max)
        };
        self.legs.iter().map(longest).sum()
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
    pub fn first_touch(&self, leg: usize, part: f64, way: Way) -> Result<Gone<Touch>> {
        let end = self.legs.get(leg + 1).map_or(&self.end, |next| &next.start);
        let leg = &self.legs[leg];
        let mesh = leg.start.bvh().triangles();
        // In the middle of a leg it comes from an impact, and so from outside.
        if part == 0.0
            && let Some(begin) = begin_inside(&leg.start, way)
        {
            let path = leg.path_nearest_to(way.from);
            let deeper = end.distance(way.to) < begin.depth();
            let slack = (TOUCH * way.radius).max(FINE * way.length());
            if deeper || begin.leads_deeper(way.to - way.from - path, slack) {
                let velocity = path / leg.duration.max(f64::MIN_POSITIVE);
                return Ok((Some(Touch { velocity, ..begin.stopped() }), None));
            }
            // What is on the surface and leaves it may meet it again; what is inside is free until the end of the leg.
            if !begin.is_on_surface() {
                return Ok((None, None));
            }
        }
        let half = half_thickness(&leg.start);
        let paths = leg.swept.in_box(&around(way, half)).into_iter().map(|triangle| {
            let start = mesh.corners(triangle as usize);
            let end = mesh.indices()[triangle as usize].map(|vertex| leg.end[vertex as usize]);
            let now = std::array::from_fn(|n| start[n].lerp(end[n], part));
            (triangle, now, end)
        });
        let (first, kept) = first_of(&paths.collect::<Vec<_>>(), way, half)?;
        let touch = first.map(|(contact, triangle)| {
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
                held: Some(Held {
                    triangle,
                    weights,
                    offset: frame(now).transpose() * gap,
                    normal: frame(now).transpose() * contact.normal,
                }),
            }
        });
        Ok((touch, kept))
    }

    /// The first touch of an edge during a leg.
    pub fn first_touch_of_edge(
        &self,
        leg: usize,
        way: &EdgeWay,
    ) -> Result<(Option<EdgeTouch>, Option<f64>)> {
        let leg = &self.legs[leg];
        let near = leg.swept.in_box(&way.bounds(half_thickness(&leg.start)));
        let (end, duration) = (Some(&leg.end[..]), leg.duration);
        MeshWay { mesh: &leg.start, end, near, duration }.first_touch(way)
    }

    /// Where a place ends that goes with a triangle, and the normal there.
    pub fn carried(&self, held: Held) -> [DVec3; 2] {
        let corners = self.end.bvh().triangles().corners(held.triangle as usize);
        let turned = frame(corners);
        [at_weights(corners, held.weights) + turned * held.offset, turned * held.normal]
    }
}

pub(super) fn at_weights(corners: [DVec3; 3], [u, v, w]: [f64; 3]) -> DVec3 {
    u * corners[0] + v * corners[1] + w * corners[2]
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
