//! A mesh that deforms, during a step: where it begins, where it ends, and what its triangles sweep between.

use super::advance::{Gone, TOUCH, Way};
use super::edge::{EdgeTouch, EdgeWay, MeshWay};
use super::form::{Held, Touch};
use super::triangles::{FINE, around, at_weights, begin_inside, first_of, half_thickness};
use crate::bvh::{Bvh, Closest};
use crate::deformation::Deformation;
use crate::error::Result;
use crate::mesh_solid::MeshSolid;
use crate::solid::{Nearest, Solid};
use crate::triangle::frame;
use crate::triangles::Triangles;
use std::sync::{Arc, Mutex, PoisonError};
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;

/// A mesh whose vertices go where a deformation says.
pub(super) struct Deforming {
    mesh: Arc<MeshSolid>,
    deformation: Deformation,
    /// The step that was asked for last: all who look at a step, and look again, share what it took to fit trees to it.
    last: Mutex<Option<Arc<Moving>>>,
}

impl Deforming {
    pub fn new(mesh: MeshSolid, deformation: Deformation) -> Self {
        Self { mesh: Arc::new(mesh), deformation, last: Mutex::new(None) }
    }

    /// The triangles where they are at a time [s].
    pub fn triangles_at(&self, time: f64) -> Result<Triangles> {
        let mut triangles = self.mesh.bvh().triangles().clone();
        triangles.set_positions(self.deformation.positions(time))?;
        Ok(triangles)
    }

    /// The times [s] within a step at which vertices change their direction.
    pub fn turns(&self, start: f64, end: f64) -> Vec<f64> {
        self.deformation.turns(start, end).collect()
    }

    /// The mesh during a step, whose legs begin and end at these times [s].
    pub fn during(&self, times: &[f64]) -> Result<Arc<Moving>> {
        let last = || self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(moving) = last().as_ref().filter(|moving| moving.times == times) {
            return Ok(moving.clone());
        }
        // Not under the lock: threads that wait for parts of it may take up the work of another who looks.
        let moving = Arc::new(Moving::new(&self.mesh, &self.deformation, times)?);
        *last() = Some(moving.clone());
        Ok(moving)
    }
}

impl std::fmt::Debug for Deforming {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}, deforming", self.mesh)
    }
}

/// A mesh that deforms during a step.
pub(super) struct Moving {
    /// When its legs begin and end [s].
    times: Vec<f64>,
    legs: Vec<MovingLeg>,
    end: Arc<MeshSolid>,
    /// Of the vertices, at the end of the step [m/s].
    velocities: Vec<DVec3>,
    /// How far a vertex goes, at most [m].
    longest_way: f64,
    /// Around all that it sweeps.
    bounds: Option<Bounds>,
}

/// A part of the step during which all vertices move straight.
struct MovingLeg {
    start: Arc<MeshSolid>,
    end: Arc<MeshSolid>,
    /// A tree over the boxes that triangles sweep.
    swept: Bvh,
    /// [s]
    duration: f64,
}

impl MovingLeg {
    /// The corners of a triangle [m] when the leg begins and when it ends.
    fn corners(&self, triangle: u32) -> [[DVec3; 3]; 2] {
        [&self.start, &self.end].map(|mesh| mesh.bvh().triangles().corners(triangle as usize))
    }

    /// How far a vertex goes, at most [m].
    fn longest_way(&self) -> f64 {
        let [start, end] = [&self.start, &self.end].map(|mesh| mesh.bvh().triangles().positions());
        start.iter().zip(end).map(|(from, to)| from.distance(*to)).fold(0.0, f64::max)
    }

    /// How far the point goes [m] that is nearest to a place at the start.
    fn path_nearest_to(&self, at: DVec3) -> DVec3 {
        let Some(Closest { triangle, weights, .. }) = self.start.bvh().closest(at) else {
            return DVec3::ZERO;
        };
        let [start, end] = self.corners(triangle);
        at_weights(end, weights) - at_weights(start, weights)
    }
}

impl Moving {
    /// A mesh deformed during a step, whose legs begin and end at these times [s].
    fn new(mesh: &Arc<MeshSolid>, deformation: &Deformation, times: &[f64]) -> Result<Self> {
        let at = |time: f64| -> Result<Arc<MeshSolid>> {
            let positions = deformation.positions(time);
            if positions == mesh.bvh().triangles().positions() {
                return Ok(mesh.clone());
            }
            let mut moved = MeshSolid::clone(mesh);
            moved.refit(positions)?;
            Ok(Arc::new(moved))
        };
        let last = times.last().copied().unwrap_or(0.0);
        let (mut legs, mut start) = (Vec::new(), at(times.first().copied().unwrap_or(last))?);
        for ends in times.windows(2) {
            let end = if ends[1] == ends[0] { start.clone() } else { at(ends[1])? };
            let swept = swept_boxes(start.bvh(), end.bvh().triangles())?;
            let duration = ends[1] - ends[0];
            legs.push(MovingLeg { start, end: end.clone(), swept, duration });
            start = end;
        }
        let velocities = deformation.velocities(last);
        let half = half_thickness(mesh);
        let swept = legs.iter().filter_map(|leg: &MovingLeg| leg.swept.triangles().bounds());
        let bounds = swept.reduce(Bounds::union);
        Ok(Self {
            times: times.to_vec(),
            end: start,
            velocities,
            longest_way: legs.iter().map(MovingLeg::longest_way).sum(),
            bounds: bounds.map(|all| Bounds { min: all.min - half, max: all.max + half }),
            legs,
        })
    }

    /// How far a vertex goes during the step, at most [m].
    pub fn longest_way(&self) -> f64 {
        self.longest_way
    }

    /// A box that holds it during all of the step.
    pub fn bounds(&self) -> Option<Bounds> {
        self.bounds
    }

    /// The mesh as it is at the end.
    pub fn at_the_end(&self) -> &MeshSolid {
        &self.end
    }

    /// The nearest point at the end, and how fast it moves [m/s].
    pub fn nearest_and_velocity(&self, at: DVec3) -> (Nearest, DVec3) {
        let (near, closest) = self.end.nearest_and_closest(at);
        let Some(Closest { triangle, weights, .. }) = closest else { return (near, DVec3::ZERO) };
        let corners = self.end.bvh().triangles().indices()[triangle as usize];
        (near, at_weights(corners.map(|vertex| self.velocities[vertex as usize]), weights))
    }

    /// The nearest point at the end, and where it was when the step began [m]. What is before the middle of a sheet turns with it.
    pub fn nearest_and_origin(&self, at: DVec3) -> (Nearest, DVec3) {
        let (near, closest) = self.end.nearest_and_closest(at);
        let (Some(Closest { triangle, weights, point, .. }), Some(first)) =
            (closest, self.legs.first())
        else {
            return (near, near.point);
        };
        let [start, end] =
            [&first.start, &self.end].map(|mesh| mesh.bvh().triangles().corners(triangle as usize));
        let before = frame(end).transpose() * (near.point - point);
        (near, at_weights(start, weights) + frame(start) * before)
    }

    /// How far the point goes during the step [m] that is nearest to a place when it begins.
    pub fn way_from(&self, at: DVec3) -> DVec3 {
        let Some(first) = self.legs.first() else { return DVec3::ZERO };
        first.start.bvh().closest(at).map_or(
            DVec3::ZERO,
            |Closest { triangle, weights, .. }| {
                let [start, end] = [&first.start, &self.end]
                    .map(|mesh| mesh.bvh().triangles().corners(triangle as usize));
                at_weights(end, weights) - at_weights(start, weights)
            },
        )
    }

    /// The first touch of a sphere during what is left of a leg when a part of it is over.
    pub fn first_touch(&self, leg: usize, part: f64, way: Way) -> Result<Gone<Touch>> {
        let leg = &self.legs[leg];
        // In the middle of a leg it comes from an impact, and so from outside.
        if part == 0.0
            && let Some(begin) = begin_inside(&leg.start, way)
        {
            let path = leg.path_nearest_to(way.from);
            let deeper = leg.end.distance(way.to) < begin.depth();
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
            let [start, end] = leg.corners(triangle);
            let now = std::array::from_fn(|n| start[n].lerp(end[n], part));
            (triangle, now, end)
        });
        let (first, kept) = first_of(&paths.collect::<Vec<_>>(), way, half)?;
        let touch = first.map(|(contact, triangle)| {
            // The triangle's weights in the gap are negative.
            let [_, a, b, c] = contact.weights;
            let weights = [-a, -b, -c];
            let [start, end] = leg.corners(triangle);
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
        let (end, duration) = (Some(leg.end.bvh().triangles().positions()), leg.duration);
        MeshWay { mesh: &leg.start, end, near, duration }.first_touch(way)
    }

    /// Where a place ends that goes with a triangle, and the normal there.
    pub fn carried(&self, held: Held) -> [DVec3; 2] {
        let corners = self.end.bvh().triangles().corners(held.triangle as usize);
        let turned = frame(corners);
        [at_weights(corners, held.weights) + turned * held.offset, turned * held.normal]
    }
}

/// A tree over the boxes that triangles sweep: a triangle from the lowest to the highest corner of a box has that box.
fn swept_boxes(start: &Bvh, end: &Triangles) -> Result<Bvh> {
    let corners = (0..end.len()).flat_map(|triangle| {
        let all = start.triangles().corners(triangle).into_iter().chain(end.corners(triangle));
        let low = all.clone().fold(DVec3::INFINITY, DVec3::min);
        [low, all.fold(DVec3::NEG_INFINITY, DVec3::max)]
    });
    let diagonal = |n: u32| [2 * n, 2 * n + 1, 2 * n];
    let boxes = Triangles::new(corners.collect(), (0..end.len() as u32).map(diagonal).collect())?;
    start.refitted(boxes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gallery;
    use crate::mesh_solid::Inside;

    #[test]
    fn all_who_look_at_a_step_share_one_fit_of_it() {
        let mesh = MeshSolid::new(gallery::sphere(1.0, 2), Inside::default()).unwrap();
        let start = mesh.bvh().triangles().positions().to_vec();
        let frames = vec![(0.0, start.clone()), (1.0, start.iter().map(|at| 1.1 * *at).collect())];
        let deforming = Deforming::new(mesh, Deformation::new(frames).unwrap());
        let first = deforming.during(&[0.0, 0.5]).unwrap();
        assert!(Arc::ptr_eq(&first, &deforming.during(&[0.0, 0.5]).unwrap()));
        assert!(Arc::ptr_eq(&first.legs[0].start, &deforming.mesh), "nothing is fitted twice");
        let second = deforming.during(&[0.5, 1.0]).unwrap();
        assert!(!Arc::ptr_eq(&first, &second) && second.longest_way() > 0.049);
    }
}
