//! Colliders: what things bump into, whatever it is made of and however it moves.
//!
//! A [`Collider`] is a solid, a mesh, a sheet, a deforming mesh or a level set, on a [`Motion`], with a friction.
//! [`Collider::during`] looks at it for one step of time, and the [`ColliderStep`] answers: how far, which way out, how
//! fast does the surface move there, and where does a sphere first touch that goes from here to there. Distances are
//! those at the end of the step.
//!
//! [`sweep`] moves a sphere through the step, among any number of colliders, and never lets it through one. Against solids
//! and level sets it advances only as far as nothing can be; against triangles, also of sheets that are thinner than any
//! voxel and that move, its first contact is found by [`ccd`](crate::ccd).
//!
//! ```
//! use undine_core::glam::DVec3;
//! use undine_geometry::collider::{Collider, sweep};
//! use undine_geometry::shape::Shape;
//! # fn main() -> undine_geometry::Result<()> {
//! let floor = Collider::solid(Shape::half_space(DVec3::Z, 0.0)?).with_friction(0.3)?;
//! let step = floor.during(0.0, 0.04)?;
//! let end = sweep(&[step], DVec3::Z, DVec3::new(1.0, 0.0, -1.0), 0.01)?;
//! assert!((end.position.z - 0.01).abs() < 1e-3 && end.impacts == 1);
//! # Ok(())
//! # }
//! ```

mod advance;
mod edge;
mod edge_distance;
mod form;
mod moving;
mod sweep;
mod triangles;

pub use sweep::{Swept, sweep, sweep_with};

use crate::deformation::Deformation;
use crate::error::{GeometryError, Result};
use crate::levelset::LevelSet;
use crate::mesh_solid::MeshSolid;
use crate::motion::Motion;
use crate::pose::{Pose, Twist};
use crate::solid::{Nearest, Solid, onto_surface};
use crate::triangles::Triangles;
use advance::{Before, Way};
use edge::EdgeWay;
use form::{Form, FormStep, Touch};
use moving::Deforming;
use std::sync::Arc;
use undine_core::Handle;
use undine_core::glam::{DVec3, Vec3};
use undine_core::mesh::Bounds;

/// Something that things bump into.
#[derive(Debug, Clone)]
pub struct Collider {
    form: Form,
    motion: Motion,
    friction: f64,
}

/// The first touch of a sphere on its way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Impact {
    /// When, as a part of the step from 0 to 1; never too late, and early by a hundredth of the radius at most. (Against
    /// solids and level sets, of a radius of a thousandth of the way at least.) Turns are followed on straight ways of
    /// 0.1 rad each, off by a thousandth of the distance from the axis and a fortieth of what is gone meanwhile, at most.
    pub time: f64,
    /// Where the centre of the sphere is then [m].
    pub position: DVec3,
    /// Outwards from the surface there, of length 1: the way out.
    pub normal: DVec3,
    /// How far the surface is from there [m]: the radius, or less for what touched from the start.
    pub distance: f64,
    /// The radius of the sphere [m]; of a point, that for which it was taken.
    pub radius: f64,
    /// How fast the surface moves there [m/s].
    pub velocity: DVec3,
    /// The coefficient of Coulomb friction.
    pub friction: f64,
    /// Where the centre of the sphere ends if it goes with the surface until the end of the step [m].
    pub carried: DVec3,
    /// The way out there, at the end of the step, of length 1.
    pub carried_normal: DVec3,
}

impl Collider {
    /// A solid that knows its distance: a [`Shape`](crate::shape::Shape), or anything else that never overstates it.
    pub fn solid(solid: impl Solid + Send + 'static) -> Self {
        Self::new(Form::Solid(Arc::new(solid)))
    }

    /// A mesh, closed or a sheet: swept against its triangles.
    pub fn mesh(mesh: MeshSolid) -> Self {
        Self::new(Form::Mesh(Arc::new(mesh)))
    }

    /// A mesh that deforms: the vertices of `mesh` go where `deformation` says.
    pub fn deforming(mesh: MeshSolid, deformation: Deformation) -> Result<Self> {
        let (found, wanted) =
            (deformation.vertex_count(), mesh.bvh().triangles().positions().len());
        if found != wanted {
            let what = "a frame of the deformation of a collider";
            return Err(GeometryError::WrongLength { what, found, wanted });
        }
        Ok(Self::new(Form::Deforming(Arc::new(Deforming::new(mesh, deformation)))))
    }

    /// A level set, as it is at the end of each step, and the channel of its velocities [m/s], if it has one.
    ///
    /// On several processes, each can ask about places in its own Buckets and in its copies of those around them, which it
    /// refreshes before; of what lies beyond, a process knows nothing.
    pub fn level_set(
        set: impl Into<Arc<LevelSet>>,
        velocity: Option<Handle<Vec3>>,
    ) -> Result<Self> {
        let set = set.into();
        if let Some(handle) = velocity {
            set.volume().column(handle)?;
        }
        Ok(Self::new(Form::Level(set, velocity)))
    }

    fn new(form: Form) -> Self {
        Self { form, motion: Motion::default(), friction: 0.0 }
    }

    /// The same, moved as a whole.
    pub fn with_motion(mut self, motion: Motion) -> Self {
        self.motion = motion;
        self
    }

    /// The same with a coefficient of Coulomb friction, from 0 on.
    pub fn with_friction(mut self, friction: f64) -> Result<Self> {
        if !(friction >= 0.0 && friction.is_finite()) {
            return Err(GeometryError::BadParameter {
                what: "the friction of a collider",
                found: friction,
                wanted: "zero or positive, and finite",
            });
        }
        self.friction = friction;
        Ok(self)
    }

    /// Whether another one is made of the very same thing; it may move in another way.
    pub fn has_form_of(&self, other: &Self) -> bool {
        self.form.is(&other.form)
    }

    /// Where the motion of the whole has it at a time [s].
    pub fn pose(&self, time: f64) -> Pose {
        self.motion.pose(time)
    }

    /// The triangles of a mesh, also of one that deforms, where they are at a time [s]; `None` if it is none.
    pub fn mesh_at(&self, time: f64) -> Result<Option<Triangles>> {
        let mesh = match &self.form {
            Form::Mesh(mesh) => mesh.bvh().triangles().clone(),
            Form::Deforming(deforming) => deforming.triangles_at(time)?,
            Form::Solid(_) | Form::Level(..) => return Ok(None),
        };
        let pose = self.motion.pose(time);
        Ok(Some(mesh.mapped(|at| pose.to_world(at))))
    }

    /// The point of the surface nearest to a place [m], both in the collider's own coordinates, if it is within a distance [m]; none of
    /// what deforms, and none of a level set.
    pub fn closest(&self, at: DVec3, within: f64) -> Option<DVec3> {
        let point = match &self.form {
            Form::Mesh(mesh) => mesh.bvh().closest_within(at, within)?.point,
            Form::Solid(solid) if solid.distance(at).abs() <= within => {
                let size = solid.bounds().map_or(0.0, |bounds| bounds.size().length());
                let size = if size.is_finite() { size } else { 0.0 };
                // What places are rounded to counts too; of what is far away, no more than that.
                let rounding = 8.0 * f64::EPSILON * at.length();
                let scale = size + solid.distance(at).abs();
                onto_surface(&**solid, at, 1e-9 * scale + rounding)?
            }
            Form::Solid(_) | Form::Deforming(..) | Form::Level(..) => return None,
        };
        (point.distance(at) <= within).then_some(point)
    }

    /// Whether it has a surface that [`mesh_at`](Self::mesh_at) or [`closest`](Self::closest) knows.
    pub fn has_surface(&self) -> bool {
        !matches!(self.form, Form::Level(..))
    }

    /// A box that holds it, in its own coordinates, if it does not deform and is bounded.
    pub fn bounds(&self) -> Option<Bounds> {
        match &self.form {
            Form::Solid(solid) => solid.bounds().filter(|bounds| bounds.size().is_finite()),
            Form::Mesh(mesh) => mesh.bounds(),
            Form::Deforming(..) | Form::Level(..) => None,
        }
    }

    /// The collider during a step of time [s], from `start` to `end`, which may be the same.
    pub fn during(&self, start: f64, end: f64) -> Result<ColliderStep<'_>> {
        if !(start.is_finite() && end.is_finite() && start <= end) {
            return Err(GeometryError::BadParameter {
                what: "the length of a step",
                found: end - start,
                wanted: "zero or positive, and finite",
            });
        }
        let times = self.legs(start, end)?;
        let form = self.form.during(&times)?;
        let centre = self.motion.centre();
        let place = |time: f64| Place { pose: self.motion.pose_of(centre, time), centre };
        let legs: Vec<Leg> = times
            .windows(2)
            .map(|ends| {
                let [from, to] = [ends[0], ends[1]];
                let length = (end - start).max(f64::MIN_POSITIVE);
                Leg {
                    begin: (from - start) / length,
                    finish: if to == end { 1.0 } else { (to - start) / length },
                    from: place(from),
                    to: place(to),
                    twist: self.motion.twist_of(centre, 0.5 * (from + to)),
                }
            })
            .collect();
        Ok(ColliderStep {
            reach: form.bounds_of_all().map(|local| reach(&local, &legs)),
            form,
            legs,
            place: place(end),
            // How it moved during the step, not how it goes on after a key at its end.
            twist: match end > start {
                true => self.motion.twist_of_before(centre, end),
                false => self.motion.twist_of(centre, end),
            },
            friction: self.friction,
            duration: end - start,
        })
    }

    /// Times [s] between which everything moves nearly straight, as seen from the collider.
    fn legs(&self, start: f64, end: f64) -> Result<Vec<f64>> {
        let turns = self.form.turns(start, end).into_iter().chain(self.motion.turns(start, end));
        let mut corners: Vec<f64> = turns.chain([start, end]).collect();
        corners.sort_unstable_by(f64::total_cmp);
        corners.dedup();
        let mut times = vec![start];
        for ends in corners.windows(2) {
            let angle = self.motion.swept_angle(ends[0], ends[1]);
            let bend = (self.bend(ends[0], ends[1]) / LARGEST_BEND).sqrt();
            let parts = (angle / LARGEST_TURN).max(bend).ceil().clamp(1.0, MOST_LEGS);
            if times.len() > MOST_LEGS_OF_ALL {
                let (found, most) = (times.len() as u64, MOST_LEGS_OF_ALL as u64);
                return Err(GeometryError::TooMany { what: "the legs of a step", found, most });
            }
            let part = |n: u32| ends[0] + (ends[1] - ends[0]) * f64::from(n) / parts;
            times.extend((1..parts as u32).map(part));
            times.push(ends[1]);
        }
        if times.len() == 1 {
            times.push(end);
        }
        Ok(times)
    }

    /// How far the motion's way between two times [s] is from a straight and steady one, as a part of its length.
    fn bend(&self, start: f64, end: f64) -> f64 {
        let centre = self.motion.centre();
        let length = self.motion.swept_length(start, end, centre);
        if length == 0.0 {
            return 0.0;
        }
        let at = |time: f64| self.motion.pose_of(centre, time).translation;
        let place = |part: f64| at(start + part * (end - start));
        let (from, to) = (place(0.0), at(end));
        let apart = |part: f64| place(part).distance(from.lerp(to, part));
        [0.25, 0.5, 0.75].map(apart).into_iter().fold(0.0, f64::max) / length
    }
}

/// A leg turns by no more than this [rad]: then a straight way and a curved one differ by a thousandth of the arm.
const LARGEST_TURN: f64 = 0.1;
/// A leg leaves a straight way by no more than about this part of the way between two corners.
const LARGEST_BEND: f64 = 1e-3;
/// A step has no more legs than this between two corners, however fast something spins.
const MOST_LEGS: f64 = 256.0;
/// A step is refused that has more legs than this together.
const MOST_LEGS_OF_ALL: usize = 1 << 16;

/// A part of the step, straight as seen from the collider.
#[derive(Debug, Clone, Copy)]
struct Leg {
    /// Parts of the step, from 0 to 1.
    begin: f64,
    finish: f64,
    from: Place,
    to: Place,
    /// Of the centre.
    twist: Twist,
}

/// Where a collider is. It turns about its centre wherever its own coordinates begin, which may be kilometres away: their
/// origin would swing around it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Place {
    /// Of the centre.
    pose: Pose,
    /// What it turns about, in its own coordinates [m].
    centre: DVec3,
}

impl Place {
    fn to_world(self, local: DVec3) -> DVec3 {
        self.pose.to_world(local - self.centre)
    }

    fn to_local(self, world: DVec3) -> DVec3 {
        self.pose.to_local(world) + self.centre
    }

    /// From the centre to a point, in the world's directions.
    fn arm(self, local: DVec3) -> DVec3 {
        self.pose.rotation * (local - self.centre)
    }

    /// A direction, in the world.
    fn turn(self, local: DVec3) -> DVec3 {
        self.pose.rotation * local
    }

    /// The angle [rad] between two.
    fn angle_to(self, other: Self) -> f64 {
        self.pose.rotation.angle_between(other.pose.rotation)
    }

    fn lerp(self, other: Self, part: f64) -> Self {
        let pose = Pose {
            rotation: self.pose.rotation.slerp(other.pose.rotation, part),
            translation: self.pose.translation.lerp(other.pose.translation, part),
        };
        Self { pose, ..self }
    }
}

/// A [`Collider`] during one step. As a [`Solid`] it is where it is at the end of the step.
#[derive(Debug)]
pub struct ColliderStep<'a> {
    form: FormStep<'a>,
    legs: Vec<Leg>,
    /// Holds it during all of the step, if that is known.
    reach: Option<Bounds>,
    /// At the end of the step.
    place: Place,
    /// Of the centre.
    twist: Twist,
    friction: f64,
    /// [s]
    duration: f64,
}

impl ColliderStep<'_> {
    /// The coefficient of Coulomb friction.
    pub fn friction(&self) -> f64 {
        self.friction
    }

    /// Outwards from the surface nearest to a place [m], of length 1.
    pub fn normal(&self, at: DVec3) -> DVec3 {
        self.nearest(at).normal
    }

    /// How fast the surface nearest to a place [m] moves [m/s], at the end of the step.
    pub fn velocity(&self, at: DVec3) -> DVec3 {
        let local = self.place.to_local(at);
        let (near, deforming) = self.form.nearest_and_velocity(local);
        self.twist.at(self.place.arm(near.point)) + self.place.turn(deforming)
    }

    /// Where a sphere of `radius` [m] first touches that goes straight from `from`, where it is at a part `begin` of the step
    /// from 0 to 1, to `to` [m] at its end; `None` if it is free to go.
    ///
    /// One that begins nearer than its radius may slide along and leave, but is stopped where it would come half as near
    /// as it began. One that begins inside of something closed is stopped only from going deeper.
    pub fn first_impact(
        &self,
        begin: f64,
        from: DVec3,
        to: DVec3,
        radius: f64,
    ) -> Result<Option<Impact>> {
        let sane = radius >= 0.0 && radius.is_finite() && (0.0..=1.0).contains(&begin);
        if !(sane && from.is_finite() && to.is_finite()) {
            return Err(GeometryError::BadSweep { from, to, radius });
        }
        if !self.may_meet(from, to, radius) {
            return Ok(None);
        }
        let left = (1.0 - begin).max(f64::MIN_POSITIVE);
        let mut before = if begin > 0.0 { Before::Impact } else { Before::Step };
        for (number, leg) in self.legs.iter().enumerate() {
            // Of the last leg there is always something left: what does not move may still be hit by what does.
            if leg.finish <= begin && number + 1 < self.legs.len() {
                continue;
            }
            let first = leg.begin.max(begin);
            let place = |time: f64| from.lerp(to, ((time - begin) / left).clamp(0.0, 1.0));
            let part = leg.part(first);
            // When nothing of the step is left, it is still to get from the one place to the other.
            let ends = [
                if first > begin { place(first) } else { from },
                if leg.finish >= 1.0 { to } else { place(leg.finish) },
            ];
            let (from, to) = (leg.place(part).to_local(ends[0]), leg.to.to_local(ends[1]));
            let way = Way { from, to, radius, before };
            let left = (leg.finish - first) * self.duration;
            let (touch, kept) = self.form.first_touch(number, part, way, left)?;
            before = kept.map_or(before, Before::Leg);
            if let Some(touch) = touch {
                let time = first + (leg.finish - first) * touch.time;
                let radius = self.form.radius(way);
                return Ok(Some(self.impact(leg, time, way.at(touch.time), &touch, radius)));
            }
        }
        Ok(None)
    }

    /// Where an edge of `radius` [m] first touches, whose ends go straight from `from` to `to` [m] during the step: which part of it, and the
    /// touch of a sphere there. `None` if it is free to go. What touches from the start may slide along and leave, as a sphere may.
    ///
    /// Of triangles, it is their edges that are touched, by the inside of this one; all else is what spheres find. A touch of what only
    /// knows its distance is early by a half of the radius at most, or more where an edge goes along it for thousands of its radii.
    pub fn first_impact_of_edge(
        &self,
        from: [DVec3; 2],
        to: [DVec3; 2],
        radius: f64,
    ) -> Result<Option<(f64, Impact)>> {
        let sane = radius >= 0.0 && radius.is_finite();
        if !(sane && from.iter().chain(&to).all(|at| at.is_finite())) {
            return Err(GeometryError::BadSweep { from: from[0], to: to[0], radius });
        }
        let mut kept = None;
        for (number, leg) in self.legs.iter().enumerate() {
            let place = |end: usize, time: f64| {
                if time >= 1.0 { to[end] } else { from[end].lerp(to[end], time) }
            };
            let way = EdgeWay {
                from: [0, 1].map(|end| leg.from.to_local(place(end, leg.begin))),
                to: [0, 1].map(|end| leg.to.to_local(place(end, leg.finish))),
                radius,
                kept,
            };
            let duration = (leg.finish - leg.begin) * self.duration;
            let (touch, next) = self.form.first_touch_of_edge(number, &way, duration)?;
            kept = next.or(kept);
            if let Some((part, touch)) = touch {
                let at = |end: usize| way.from[end].lerp(way.to[end], touch.time);
                let time = leg.begin + (leg.finish - leg.begin) * touch.time;
                let local = at(0).lerp(at(1), part);
                return Ok(Some((part, self.impact(leg, time, local, &touch, radius))));
            }
        }
        Ok(None)
    }

    /// Whether it is made of triangles, whose edges things bump into; else it only knows its distance.
    pub fn has_edges(&self) -> bool {
        matches!(self.form, FormStep::Mesh(_) | FormStep::Deforming(_))
    }

    /// How far from its surface it knows distances [m], where that is not everywhere.
    pub fn band(&self) -> Option<f64> {
        self.form.band()
    }

    /// A touch of a sphere whose centre is at a place in the collider's coordinates, at a time of the step.
    fn impact(&self, leg: &Leg, time: f64, local: DVec3, touch: &Touch, radius: f64) -> Impact {
        let place = leg.place(leg.part(time));
        let left = (1.0 - time) * self.duration;
        let [carried, carried_normal] = self.form.carried(local, touch, left);
        let deforming = place.turn(touch.velocity);
        let touched = local - touch.distance * touch.normal;
        Impact {
            time,
            // Not on the way in the world, which as seen from a turning collider is not quite straight: there it
            // could be on the other side.
            position: place.to_world(local),
            normal: place.turn(touch.normal),
            distance: touch.distance,
            radius,
            velocity: leg.twist.at(place.arm(touched)) + deforming,
            friction: self.friction,
            carried: self.place.to_world(carried),
            carried_normal: self.place.turn(carried_normal),
        }
    }

    /// What a sphere of `radius` [m] touches from the start that is at a place [m] when the step begins: the surface that is
    /// nearest, if it is outside and within `reach` [m] of it. Of what deforms, nothing is known.
    pub fn touched_at_start(&self, at: DVec3, reach: f64, radius: f64) -> Option<Impact> {
        let leg = self.legs.first()?;
        if self.form.deforms() || !self.may_meet(at, at, reach) {
            return None;
        }
        let local = leg.from.to_local(at);
        let (near, _) = self.form.nearest_and_velocity(local);
        if !(near.distance > 0.0 && near.distance <= reach) {
            return None;
        }
        Some(Impact {
            time: 0.0,
            position: at,
            normal: leg.from.turn(near.normal),
            distance: near.distance,
            radius,
            velocity: leg.twist.at(leg.from.arm(near.point)),
            friction: self.friction,
            carried: self.place.to_world(local),
            carried_normal: self.place.turn(near.normal),
        })
    }

    /// Whether a sphere of `radius` [m] that goes from `from` to `to` [m] can meet it at all: a quick look at boxes.
    pub fn may_meet(&self, from: DVec3, to: DVec3, radius: f64) -> bool {
        let Some(reach) = &self.reach else { return true };
        // A point is taken for a small sphere.
        let near = DVec3::splat(radius.max(1e-2 * from.distance(to)));
        let (low, high) = (from.min(to) - near, from.max(to) + near);
        low.cmple(reach.max).all() && high.cmpge(reach.min).all()
    }

    /// A box that holds it during all of the step [m]; `None` if it has no end, or is a level set with velocities of its own.
    pub fn reach(&self) -> Option<Bounds> {
        self.reach
    }

    /// Where it is at the end of the step.
    pub fn pose(&self) -> Pose {
        let Place { pose: Pose { rotation, translation }, centre } = self.place;
        Pose { rotation, translation: translation - rotation * centre }
    }

    /// How far at most the step takes anything of it that ends within `radius` of a place [m]; infinite where it has
    /// a velocity of its own that nobody bounds.
    pub fn way_near(&self, at: DVec3, radius: f64) -> f64 {
        let local = self.place.to_local(at);
        let moved = |leg: &Leg| {
            let angle = leg.from.angle_to(leg.to);
            let chord = leg.from.to_world(local).distance(leg.to.to_world(local));
            // On its arc, a place leaves the chord by no more than θ²/8 of the arm.
            chord + angle * radius + 0.125 * angle * angle * self.place.arm(local).length()
        };
        self.form.longest_way() + self.legs.iter().map(moved).sum::<f64>()
    }

    /// Whether any of it moves during the step.
    pub fn moves(&self) -> bool {
        self.form.deforms() || self.legs.iter().any(|leg| leg.from != leg.to)
    }

    /// How far the step takes what of the surface ends nearest to a place [m].
    pub fn moved(&self, at: DVec3) -> DVec3 {
        let local = self.place.to_local(at);
        let (near, origin) = self.form.nearest_and_origin(local, self.duration);
        let from = self.legs.first().map_or(self.place, |leg| leg.from);
        self.place.to_world(near.point) - from.to_world(origin)
    }

    /// How far the step takes a place [m] that goes with it: with the whole of what is rigid, and else with what of the surface is nearest to
    /// the place when the step begins.
    pub fn takes(&self, at: DVec3) -> DVec3 {
        let from = self.legs.first().map_or(self.place, |leg| leg.from);
        let local = from.to_local(at);
        self.place.to_world(local + self.form.way_from(local, self.duration)) - at
    }

    /// How long the step is [s].
    pub fn duration(&self) -> f64 {
        self.duration
    }
}

/// A box around something with these bounds in its own coordinates, during all legs.
fn reach(local: &Bounds, legs: &[Leg]) -> Bounds {
    let mut all: Option<Bounds> = None;
    for place in legs.iter().flat_map(|leg| [leg.from, leg.to]) {
        let here = moved(local, place);
        all = Some(all.map_or(here, |all| all.union(here)));
    }
    let all = all.unwrap_or(*local);
    // Between the ends of a leg a corner goes on an arc, which leaves its chord by less than the arc is long.
    let centre = legs.first().map_or(DVec3::ZERO, |leg| leg.from.centre);
    let arm = (local.min - centre).abs().max((local.max - centre).abs()).length();
    let turned = |leg: &Leg| leg.from.angle_to(leg.to);
    let arcs = arm * legs.iter().map(turned).fold(0.0, f64::max);
    Bounds { min: all.min - arcs, max: all.max + arcs }
}

/// A box around a box at a place.
fn moved(local: &Bounds, place: Place) -> Bounds {
    let (middle, half) = (0.5 * (local.min + local.max), 0.5 * (local.max - local.min));
    let turn = place.pose.matrix();
    let wide = turn.x_axis.abs() * half.x + turn.y_axis.abs() * half.y + turn.z_axis.abs() * half.z;
    let middle = place.to_world(middle);
    Bounds { min: middle - wide, max: middle + wide }
}

impl Leg {
    /// How much of the leg is over at a time of the step.
    fn part(&self, time: f64) -> f64 {
        let length = self.finish - self.begin;
        if length > 0.0 { ((time - self.begin) / length).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// The place when a part of the leg is over.
    fn place(&self, part: f64) -> Place {
        self.from.lerp(self.to, part)
    }
}

impl Solid for ColliderStep<'_> {
    fn distance(&self, at: DVec3) -> f64 {
        self.form.distance(self.place.to_local(at))
    }

    fn nearest(&self, at: DVec3) -> Nearest {
        let near = self.form.nearest_and_velocity(self.place.to_local(at)).0;
        Nearest {
            point: self.place.to_world(near.point),
            normal: self.place.turn(near.normal),
            distance: near.distance,
        }
    }

    fn is_convex(&self) -> bool {
        self.form.is_convex()
    }

    fn bounds(&self) -> Option<Bounds> {
        let local = self.form.bounds()?;
        let corner = |n: i32| {
            let pick =
                |axis: usize| if n >> axis & 1 == 1 { local.max[axis] } else { local.min[axis] };
            self.place.to_world(DVec3::new(pick(0), pick(1), pick(2)))
        };
        Bounds::around((0..8).map(corner))
    }

    fn first_hit(&self, from: DVec3, to: DVec3) -> Option<DVec3> {
        let normal = self.form.first_hit(self.place.to_local(from), self.place.to_local(to))?;
        Some(self.place.turn(normal))
    }
}
