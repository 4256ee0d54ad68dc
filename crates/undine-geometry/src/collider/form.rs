//! What a collider is made of, in its own coordinates.

use super::advance::{Gone, Way, first_contact};
use super::edge::{EdgeTouch, EdgeWay, MeshWay};
use super::edge_distance;
use super::moving::{Deforming, Moving};
use super::triangles::{half_thickness, touch_resting};
use crate::error::{GeometryError, Result};
use crate::levelset::{DistanceSampler, LevelSet};
use crate::mesh_solid::MeshSolid;
use crate::solid::{Nearest, Solid};
use std::sync::Arc;
use undine_core::Handle;
use undine_core::channel::ChannelRef;
use undine_core::glam::{DVec3, Vec3};
use undine_core::mesh::Bounds;
use undine_core::volume::{Interpolation, Sampler, Voxels};

/// What a collider is made of.
#[derive(Debug, Clone)]
pub(super) enum Form {
    Solid(Arc<dyn Solid + Send>),
    Mesh(Arc<MeshSolid>),
    Deforming(Arc<Deforming>),
    Level(Arc<LevelSet>, Option<Handle<Vec3>>),
}

/// The same during a step.
pub(super) enum FormStep<'a> {
    Solid(&'a dyn Solid),
    Mesh(&'a MeshSolid),
    Deforming(Arc<Moving>),
    Level {
        set: &'a LevelSet,
        /// Beyond it there is nothing near.
        bounds: Option<Bounds>,
        distance: ChannelRef<'a, Voxels, f32>,
        velocity: Option<ChannelRef<'a, Voxels, Vec3>>,
    },
}

/// The first touch on a way, in the collider's coordinates.
#[derive(Debug, Clone, Copy)]
pub(super) struct Touch {
    /// From 0 to 1 along the way.
    pub time: f64,
    /// Of length 1.
    pub normal: DVec3,
    /// From the centre to the surface [m].
    pub distance: f64,
    /// Of the deforming surface, beside the motion of the whole [m/s].
    pub velocity: DVec3,
    /// The place on a deforming mesh that is touched.
    pub held: Option<Held>,
}

/// A place that goes with a triangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Held {
    pub triangle: u32,
    /// The weights of the corners.
    pub weights: [f64; 3],
    /// From there to the place, in the frame of the triangle [m].
    pub offset: DVec3,
    /// The normal of the touch in that frame.
    pub normal: DVec3,
}

impl Touch {
    /// Of what touches from the start.
    pub fn at_once(near: Nearest, velocity: DVec3) -> Self {
        Self { time: 0.0, normal: near.normal, distance: near.distance, velocity, held: None }
    }

    /// The same on a longer way, of which this one was the part between two times.
    pub fn later(self, first: f64, last: f64) -> Self {
        Self { time: first + (last - first) * self.time, ..self }
    }
}

/// The radius of a point, as a part of the way that it goes.
const LEAST_RADIUS: f64 = 1e-6;

/// The same where it advances by distances alone: to slide along at a smaller one would take too many steps.
const LEAST_RADIUS_BY_DISTANCE: f64 = 1e-3;

/// Between voxels, a distance that is right at each of them changes faster than itself by this factor at most.
const STEEPNESS_BETWEEN_VOXELS: f64 = 1.732_050_807_568_877_2;

impl Form {
    /// Whether both are one and the same thing in memory.
    pub fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Solid(one), Self::Solid(other)) => Arc::ptr_eq(one, other),
            (Self::Mesh(one), Self::Mesh(other)) => Arc::ptr_eq(one, other),
            (Self::Deforming(one), Self::Deforming(other)) => Arc::ptr_eq(one, other),
            (Self::Level(one, v), Self::Level(other, w)) => Arc::ptr_eq(one, other) && v == w,
            _ => false,
        }
    }

    /// The times [s] within a step at which the form's own motion changes.
    pub fn turns(&self, start: f64, end: f64) -> Vec<f64> {
        match self {
            Self::Deforming(deforming) => deforming.turns(start, end),
            _ => Vec::new(),
        }
    }

    /// The form during a step, whose legs begin and end at these times [s].
    pub fn during(&self, times: &[f64]) -> Result<FormStep<'_>> {
        Ok(match self {
            Self::Solid(solid) => FormStep::Solid(&**solid),
            Self::Mesh(mesh) => FormStep::Mesh(mesh),
            Self::Deforming(deforming) => FormStep::Deforming(deforming.during(times)?),
            Self::Level(set, velocity) => {
                let distance = set.column()?;
                FormStep::Level {
                    set,
                    bounds: set.sampler(&distance).bounds(),
                    distance,
                    velocity: velocity.map(|handle| set.volume().column(handle)).transpose()?,
                }
            }
        })
    }
}

impl FormStep<'_> {
    pub fn distance(&self, at: DVec3) -> f64 {
        self.with_solid(|solid| solid.distance(at))
    }

    pub fn bounds(&self) -> Option<Bounds> {
        self.with_solid(|solid| solid.bounds())
    }

    /// Whether it is known to be convex.
    pub fn is_convex(&self) -> bool {
        self.with_solid(|solid| solid.is_convex())
    }

    /// How far from its surface a level set knows distances [m]; all else knows them everywhere.
    pub fn band(&self) -> Option<f64> {
        match self {
            Self::Level { set, .. } => {
                let width = f64::from(set.width());
                Some((width - set.voxel_size()).min(0.95 * width))
            }
            _ => None,
        }
    }

    /// Whether it has a motion of its own.
    pub fn deforms(&self) -> bool {
        matches!(self, Self::Deforming(_) | Self::Level { velocity: Some(_), .. })
    }

    /// How far anything of it goes during the step by its own motion, at most [m].
    pub fn longest_way(&self) -> f64 {
        match self {
            Self::Deforming(moving) => moving.longest_way(),
            _ if self.deforms() => f64::INFINITY,
            _ => 0.0,
        }
    }

    /// A finite box that holds it during all of the step, if that is known.
    pub fn bounds_of_all(&self) -> Option<Bounds> {
        let bounds = match self {
            Self::Deforming(moving) => moving.bounds(),
            _ if self.deforms() => None,
            // Something may be near as far as the band reaches beyond the voxels.
            Self::Level { set, bounds, .. } => bounds.map(|all| {
                let width = f64::from(set.width());
                Bounds { min: all.min - width, max: all.max + width }
            }),
            // A sheet is swept against with half of its thickness around its triangles, and its bounds have that.
            _ => self.bounds(),
        };
        bounds.filter(|bounds| (bounds.max - bounds.min).is_finite())
    }

    pub fn first_hit(&self, from: DVec3, to: DVec3) -> Option<DVec3> {
        self.with_solid(|solid| solid.first_hit(from, to))
    }

    /// The nearest point of the surface, and how fast it deforms [m/s].
    pub fn nearest_and_velocity(&self, at: DVec3) -> (Nearest, DVec3) {
        match self {
            Self::Deforming(moving) => moving.nearest_and_velocity(at),
            Self::Level { velocity: Some(velocity), set, .. } => {
                let near = self.with_solid(|solid| solid.nearest(at));
                let sampler = Sampler::new(velocity, set.topology(), Interpolation::Linear);
                (near, sampler.at_world(near.point).as_dvec3())
            }
            _ => (self.with_solid(|solid| solid.nearest(at)), DVec3::ZERO),
        }
    }

    /// The nearest point of the surface, and where it was when the step began, but for the motion of the whole [m].
    pub fn nearest_and_origin(&self, at: DVec3, duration: f64) -> (Nearest, DVec3) {
        match self {
            Self::Deforming(moving) => moving.nearest_and_origin(at),
            _ => {
                let (near, velocity) = self.nearest_and_velocity(at);
                (near, near.point - velocity * duration)
            }
        }
    }

    /// How far the point of the surface goes by its own motion [m] that is nearest to a place when the step begins.
    pub fn way_from(&self, at: DVec3, duration: f64) -> DVec3 {
        match self {
            Self::Deforming(moving) => moving.way_from(at),
            _ if self.deforms() => self.nearest_and_velocity(at).1 * duration,
            _ => DVec3::ZERO,
        }
    }

    /// The radius [m] that a sphere has on a way: a point is taken for a small one.
    pub fn radius(&self, way: Way) -> f64 {
        match self {
            Self::Mesh(_) | Self::Deforming(_) => way.of_radius(LEAST_RADIUS).radius,
            Self::Solid(_) => way.of_radius(LEAST_RADIUS_BY_DISTANCE).radius,
            Self::Level { set, .. } => {
                let least = LEAST_RADIUS_BY_DISTANCE * way.length();
                way.radius.max(least.min(0.25 * f64::from(set.width())))
            }
        }
    }

    /// The first touch of a sphere during what is left of a leg, `left` [s], when a part of it is over.
    pub fn first_touch(&self, leg: usize, part: f64, way: Way, left: f64) -> Result<Gone<Touch>> {
        match self {
            Self::Mesh(mesh) => touch_resting(mesh, way.of_radius(LEAST_RADIUS)),
            Self::Deforming(moving) => moving.first_touch(leg, part, way.of_radius(LEAST_RADIUS)),
            Self::Solid(solid) => {
                let way = way.of_radius(LEAST_RADIUS_BY_DISTANCE);
                Ok(self.advance(way, 1.0, |at| solid.distance(at)))
            }
            Self::Level { set, bounds, distance, .. } => {
                let width = f64::from(set.width());
                check_radius(set, way.radius)?;
                // The level set is that of the end. What carries its surface there carries the sphere's start along.
                let carried = left * self.nearest_and_velocity(way.from).1;
                let way = Way { from: way.from + carried, ..way };
                let grown = bounds.map(|all| Bounds { min: all.min - width, max: all.max + width });
                let Some([first, last]) = grown.and_then(|grown| way.within(&grown)) else {
                    return Ok((None, None));
                };
                let near = Way { from: way.at(first), to: way.at(last), ..way };
                let least = (LEAST_RADIUS_BY_DISTANCE * near.length()).min(0.25 * width);
                let near = Way { radius: way.radius.max(least), ..near };
                let sampler = set.sampler(distance);
                let (touch, kept) =
                    self.advance(near, STEEPNESS_BETWEEN_VOXELS, |at| sampler.distance(at));
                Ok((touch.map(|touch| touch.later(first, last)), kept))
            }
        }
    }

    /// The first touch of an edge during a leg of a duration [s], and how near it may come on the next [m].
    pub fn first_touch_of_edge(
        &self,
        leg: usize,
        way: &EdgeWay,
        duration: f64,
    ) -> Result<(Option<EdgeTouch>, Option<f64>)> {
        match self {
            Self::Mesh(mesh) => {
                let near = mesh.bvh().in_box(&way.bounds(half_thickness(mesh)));
                MeshWay { mesh, end: None, near, duration: 0.0 }.first_touch(way)
            }
            Self::Deforming(moving) => moving.first_touch_of_edge(leg, way),
            Self::Solid(solid) => Ok(self.advance_edge(way, 1.0, |at| solid.distance(at))),
            Self::Level { set, bounds, distance, .. } => {
                check_radius(set, way.radius)?;
                // As for a sphere: the level set is that of the end.
                let carried = |at: DVec3| at + duration * self.nearest_and_velocity(at).1;
                let way = EdgeWay { from: way.from.map(carried), ..*way };
                let sampler = set.sampler(distance);
                // Beyond the band distances are its width, which would take many steps from far away.
                let beyond = |at: DVec3| match bounds {
                    Some(all) => at.distance(at.clamp(all.min, all.max)),
                    None => 0.0,
                };
                let distance = |at: DVec3| sampler.distance(at).max(beyond(at));
                Ok(self.advance_edge(&way, STEEPNESS_BETWEEN_VOXELS, distance))
            }
        }
    }

    /// Where a place that was touched ends that goes with the surface, and the normal there. `left` is what is left of the
    /// step [s].
    pub fn carried(&self, place: DVec3, touch: &Touch, left: f64) -> [DVec3; 2] {
        match (self, touch.held) {
            (Self::Deforming(moving), Some(held)) => moving.carried(held),
            _ => [place + left * touch.velocity, touch.normal],
        }
    }

    fn advance(&self, way: Way, steepness: f64, distance: impl Fn(DVec3) -> f64) -> Gone<Touch> {
        let (time, kept) = first_contact(way, steepness, distance);
        let touch = time.map(|time| {
            let (near, velocity) = self.nearest_and_velocity(way.at(time));
            Touch { time, normal: near.normal, distance: near.distance, velocity, held: None }
        });
        (touch, kept)
    }

    fn advance_edge(
        &self,
        way: &EdgeWay,
        steepness: f64,
        distance: impl Fn(DVec3) -> f64,
    ) -> Gone<EdgeTouch> {
        let (when, kept) = edge_distance::first_contact(way, steepness, distance);
        let touch = when.map(|when| {
            let [a, b] = [0, 1].map(|end| way.from[end].lerp(way.to[end], when.time));
            let (near, velocity) = self.nearest_and_velocity(a.lerp(b, when.part));
            (when.part, Touch { time: when.time, ..Touch::at_once(near, velocity) })
        });
        (touch, kept)
    }

    /// Asks the solid that the form is at the end of the step.
    fn with_solid<R>(&self, ask: impl FnOnce(&dyn Solid) -> R) -> R {
        match self {
            Self::Solid(solid) => ask(*solid),
            Self::Mesh(mesh) => ask(*mesh),
            Self::Deforming(moving) => ask(moving.at_the_end()),
            Self::Level { set, distance, .. } => {
                let sampler: DistanceSampler<'_> = set.sampler(distance);
                ask(&sampler)
            }
        }
    }
}

/// Refuses what is thicker than a level set knows distances: beyond the band they are its width, and beside its end they are mixed with that.
fn check_radius(set: &LevelSet, radius: f64) -> Result<()> {
    let width = f64::from(set.width());
    if radius > (width - set.voxel_size()).min(0.95 * width) {
        return Err(GeometryError::BadParameter {
            what: "the radius of a sphere that is swept against a level set [m]",
            found: radius,
            wanted: "less than the width of its band by a voxel",
        });
    }
    Ok(())
}

impl std::fmt::Debug for FormStep<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Solid(solid) => write!(f, "{solid:?}"),
            Self::Mesh(mesh) => write!(f, "{mesh:?}"),
            Self::Deforming(moving) => write!(f, "{:?}, deforming", moving.at_the_end()),
            Self::Level { set, .. } => write!(f, "{set:?}"),
        }
    }
}
