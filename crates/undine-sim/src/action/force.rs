//! Forces: Actions on single points, that need no neighbours (Loki, §6.2).
//!
//! A Force gives f and, if it is to be implicit, ∂f/∂x and ∂f/∂v; leave the derivatives out and it is explicit. It is written
//! once, for a point; the framework runs it over particles in spatial order, over those of solids, and over the faces of
//! fluids, where each node takes u* = u + (1/Δt)(m/Δt² − ∂f/∂x)⁻¹ f.
//!
//! What resists motion, and more than in proportion to it, needs to know what drives: a ball at rest that begins to fall meets
//! no air yet, and one linearised step would let it fall as in a vacuum, or as in honey. Such a Force comes at a Stage of its
//! own and says where the step would end under it and all that was summed up before ([`Force::settles_at`]). In the first
//! Newton iteration it is linearised there, so that one iteration is enough for any length of the step; in the others
//! where Newton's method is, so that what they converge to is the same. Objects that Constraints hold are linearised there
//! from the first iteration on.

use crate::arena::Id;
use crate::behavior::{Behavior, Ingest};
use crate::error::{Result, SimError};
use crate::offers::{FluidField, Interior, Material, ObjectId, Spatial, Topological};
use crate::stage::Stage;
use crate::task::{Hosted, Moment, Tasks, Worker};
use crate::values::Values;
use crate::world::{ChannelKey, StoreId, World};
use rayon::prelude::*;
use std::sync::Arc;
use undine_core::access::VoxelNeighbourhood;
use undine_core::glam::{DMat3, DVec3};
use undine_core::{Accessor, Handle, ParticleSystem};
use undine_schema::setup::Scope;

/// A point that a Force acts on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Where it is at the end of the step, as far as is known [m].
    pub position: DVec3,
    /// How fast it is at the end of the step, as far as is known [m/s].
    pub velocity: DVec3,
    /// Mass [kg].
    pub mass: f64,
    /// Radius of a ball of the same volume [m].
    pub radius: f64,
    /// Its stable id.
    pub id: u64,
    /// The time at the end of the step [s].
    pub time: f64,
    /// The piece of a rod that it stands for, from end to end [m]; known to what resists, and none of what is no rod.
    pub along: Option<DVec3>,
}

impl Point {
    /// The volume of the ball [m³].
    pub fn volume(&self) -> f64 {
        4.0 / 3.0 * std::f64::consts::PI * self.radius.powi(3)
    }
}

/// What a Force does to a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Push {
    /// The force [N].
    pub force: DVec3,
    /// ∂f/∂x [N/m]; zero is explicit.
    pub by_position: DMat3,
    /// ∂f/∂v [N s/m]; zero is explicit.
    pub by_velocity: DMat3,
}

impl Push {
    /// A force whose derivatives are left out.
    pub fn explicit(force: DVec3) -> Self {
        Self { force, by_position: DMat3::ZERO, by_velocity: DMat3::ZERO }
    }

    /// −∂f/∂x as the step sees it, where a change of velocity is one of position over Δt [N/m].
    fn stiffness(&self, step: f64) -> DMat3 {
        -(self.by_position + self.by_velocity * (1.0 / step))
    }
}

/// What else drives a point, when what resists is asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drive {
    /// The sum of forces [N], at the velocity that is known.
    pub force: DVec3,
    /// The sum of −∂f/∂x, with −∂f/∂v / Δt [N/m].
    pub stiffness: DMat3,
    /// The velocity at the start of the step [m/s].
    pub velocity_before: DVec3,
    /// The length of the step [s].
    pub step: f64,
}

/// An Action on single points.
pub trait Force: Send + Sync + Sized + 'static {
    /// Parameters that may vary from element to element: their values come with each point, in this order.
    const VARIES: &'static [&'static str] = &[];

    /// Whether it resists motion. Then it is added after the Forces that do not, and says where it
    /// [`settles`](Self::settles_at). Several that resist see each other in the order of evaluation.
    const RESISTS: bool = false;

    /// Makes it from the values of its parameters.
    fn create(ingest: &mut Ingest<'_>) -> Result<Self>;

    /// Takes the values of this moment.
    fn update(&mut self, ingest: &mut Ingest<'_>) -> Result<()> {
        *self = Self::create(ingest)?;
        Ok(())
    }

    /// The force on a point, where the parameters of [`Self::VARIES`] have these values.
    fn evaluate(&self, at: &Point, varying: &[f64]) -> Push;

    /// For what resists: the velocity [m/s] at which the step would end under this Force and all that was added before it.
    fn settles_at(&self, at: &Point, _drive: &Drive, _varying: &[f64]) -> DVec3 {
        at.velocity
    }

    /// The energy of a mass [kg] at a place [m] under it [J], where it is the gradient of one that depends on these alone.
    fn potential(&self, _position: DVec3, _mass: f64) -> Option<f64> {
        None
    }

    /// The acceleration that it gives to everything alike [m/s²], where it does: the longest step is then known before anything
    /// is fast, and fluids take it face by face at no cost.
    fn acceleration(&self) -> Option<DVec3> {
        None
    }

    /// Whether it acts on fluids, too.
    fn acts_on_fluids(&self) -> bool {
        true
    }
}

/// How many parameters of a Force may vary.
pub(crate) const MOST_VARYING: usize = 8;

/// A Force and the Objects in its scope.
pub(crate) struct Acting<F> {
    force: F,
    scope: Arc<Scope>,
    on: Vec<(ObjectId, Material)>,
    /// For each of those, the pieces of rods that its points stand for, if that matters.
    pieces: Vec<Option<Handle<DVec3>>>,
    fluids: Vec<(ObjectId, FluidField)>,
}

/// "Gravity."
pub(crate) struct ForceBehavior<F> {
    action: Option<Hosted<Acting<F>>>,
}

impl<F: Force> ForceBehavior<F> {
    pub fn new() -> Self {
        Self { action: None }
    }
}

impl<F: Force> Behavior for ForceBehavior<F> {
    fn ingest(&mut self, _: &mut Ingest<'_>) -> Result<()> {
        Ok(())
    }

    fn bind(&mut self, ingest: &mut Ingest<'_>, scope: &[ObjectId]) -> Result<()> {
        let world = &*ingest.world;
        let offers = |id: &ObjectId| &world.object(*id).offers;
        let on: Vec<_> = scope.iter().filter_map(|id| Some((*id, offers(id).material?))).collect();
        let pieces = on.iter().map(|(id, _)| offers(id).rods.filter(|_| F::RESISTS)).collect();
        let fluids: Vec<_> = scope.iter().filter_map(|id| Some((*id, offers(id).fluid?))).collect();
        if on.is_empty() && fluids.is_empty() {
            return Ok(());
        }
        let scope = Arc::new(ingest.scope.clone());
        let force = F::create(ingest)?;
        let mut action = Hosted::new(Acting { force, scope, on, pieces, fluids });
        action.host(Acting::tasks);
        self.action = Some(action);
        Ok(())
    }

    fn update(&mut self, ingest: &mut Ingest<'_>) -> Result<()> {
        self.action.as_mut().map_or(Ok(()), |action| action.it.force.update(ingest))
    }

    fn workers(&mut self) -> Vec<&mut dyn Worker> {
        self.action.iter_mut().map(|action| action as &mut dyn Worker).collect()
    }

    fn acceleration(&self) -> f64 {
        let acceleration = |action: &Hosted<Acting<F>>| action.it.force.acceleration();
        self.action.as_ref().and_then(acceleration).map_or(0.0, DVec3::length)
    }

    fn potential_energy(&self, world: &World) -> Result<f64> {
        self.action.as_ref().map_or(Ok(0.0), |action| action.it.potential_energy(world))
    }
}

/// What a Force adds to the sums of a point: force [N] and stiffness [N/m].
fn added<F: Force>(
    force: &F,
    at: &Point,
    drive: Option<&Drive>,
    varying: &[f64],
    step: f64,
) -> (DVec3, DMat3) {
    let Some(drive) = drive else {
        let push = force.evaluate(at, varying);
        return (push.force, push.stiffness(step));
    };
    // Linear around where it settles, and looked at from where Newton's method is.
    let velocity = force.settles_at(at, drive, varying);
    let ahead = velocity - at.velocity;
    let there = Point { velocity, position: at.position + step * ahead, ..*at };
    let push = force.evaluate(&there, varying);
    let stiffness = push.stiffness(step);
    (push.force + stiffness * (step * ahead), stiffness)
}

impl<F: Force> Acting<F> {
    /// When it acts.
    const STAGE: Stage = if F::RESISTS { Stage::AddDrag } else { Stage::AddForces };

    fn tasks(&self, on: &mut Tasks<Self>) {
        let mut reads: Vec<ChannelKey> = Vec::new();
        let mut adds: Vec<ChannelKey> = Vec::new();
        for ((_, material), pieces) in self.on.iter().zip(&self.pieces) {
            let store = material.store();
            reads.extend(store.channels(["position", "v", "mass", "pscale", "id"]));
            reads.extend(pieces.map(|_| store.channel("along")));
            if F::RESISTS && matches!(material, Material::Spatial(_)) {
                reads.push(store.channel("v-before"));
            }
            let channels = F::VARIES.iter().filter_map(|name| self.channel_of(name));
            reads.extend(channels.map(|channel| store.channel(channel)));
            adds.extend(store.channels(["force", "force-slope"]));
        }
        if !self.on.is_empty() {
            let name = self.scope.declaration.name;
            on.task(Self::STAGE, name, Self::push_material).reads(reads).accumulates(adds);
        }
        if self.force.acts_on_fluids() && !self.fluids.is_empty() {
            let stores = self.fluids.iter().map(|(_, fluid)| StoreId::from(fluid.volume));
            let keys = stores.clone().map(|store| store.channel("v"));
            let weights = self.fluids.iter().filter(|(_, fluid)| fluid.weight.is_some());
            let weights = weights.map(|(_, fluid)| StoreId::from(fluid.volume).channel("weight"));
            let reads = stores.map(|store| store.channel("mass-density")).chain(weights);
            on.task(Self::STAGE, self.scope.declaration.name, Self::push_fluids)
                .reads(reads)
                .accumulates(keys);
        }
    }

    fn channel_of(&self, parameter: &str) -> Option<&'static str> {
        self.scope.declaration.parameter(parameter)?.channel
    }

    fn push_material(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        for ((object, material), pieces) in self.on.iter().zip(&self.pieces) {
            match material {
                Material::Spatial(spatial) => self.push_spatial(world, *object, spatial, now)?,
                Material::Topological(points) => {
                    self.push_points(world, *object, (points, *pieces), now)?;
                }
            }
        }
        Ok(())
    }

    /// The values of varying parameters that hold where no channel says otherwise.
    fn uniform(&self, world: &World, object: ObjectId, time: f64) -> Result<[f64; MOST_VARYING]> {
        let attributes = &world.object(object).attributes;
        let values = Values::new(&self.scope, time).of_object(attributes);
        let mut uniform = [0.0; MOST_VARYING];
        for (value, name) in uniform.iter_mut().zip(F::VARIES) {
            *value = values.number(name)?;
        }
        Ok(uniform)
    }

    /// What a channel says is held to the same bounds as what a scene says.
    fn check(&self, name: &str, ids: &[u64], values: impl Iterator<Item = f64>) -> Result<()> {
        let scope = Values::new(&self.scope, 0.0);
        ids.iter().zip(values).try_for_each(|(id, value)| scope.check(name, *id, &[value]))
    }

    /// Over particles in spatial order, Bucket by Bucket.
    fn push_spatial(
        &self,
        world: &World,
        object: ObjectId,
        on: &Spatial,
        now: &Moment,
    ) -> Result<()> {
        let particles = &world.particles[on.particles];
        let domain = &world.domains[world.object(object).domain];
        // What Constraints will do is not known here, so that what they hold cannot be said to settle anywhere.
        let settles = F::RESISTS && !world.object(object).coupled;
        let uniform = self.uniform(world, object, now.time + now.step)?;
        let channels: Vec<Option<Handle<f32>>> =
            F::VARIES.iter().map(|name| particles.handle(self.channel_of(name)?).ok()).collect();
        let columns: Vec<_> = channels
            .into_iter()
            .map(|handle| handle.map(|handle| particles.column(handle)).transpose())
            .collect::<Result<_, _>>()?;
        if now.iteration == 0 {
            let id = particles.column(particles.id())?;
            for slot in 0..particles.topology().local() as u32 {
                for (name, column) in F::VARIES.iter().zip(&columns) {
                    let numbers = column.iter().flat_map(|column| column.chunk(slot));
                    self.check(name, id.chunk(slot), numbers.map(|value| f64::from(*value)))?;
                }
            }
        }
        let kernel = (
            (particles.own(particles.position()), particles.own(particles.id())),
            (particles.own(on.velocity), particles.own(on.mass), particles.own(on.radius)),
            particles.own(on.velocity_before),
            (particles.write(on.force), particles.write(on.stiffness)),
        );
        let time = now.time + now.step;
        Accessor::new("add forces", domain).over(particles.topology()).run(
            kernel,
            |here, ((offset, id), (velocity, mass, radius), before, (force, stiffness))| {
                let corner = domain.frame().corner(here.bucket);
                let mut varying = uniform;
                for n in 0..offset.len() {
                    let velocity = velocity[n].as_dvec3();
                    let point = Point {
                        position: corner + offset[n].as_dvec3() + now.step * velocity,
                        velocity,
                        mass: f64::from(mass[n]),
                        radius: f64::from(radius[n]),
                        id: id[n],
                        time,
                        along: None,
                    };
                    for (value, column) in varying.iter_mut().zip(&columns) {
                        if let Some(column) = column {
                            *value = f64::from(column.chunk(here.slot)[n]);
                        }
                    }
                    let drive = (settles && now.iteration == 0).then(|| Drive {
                        force: force[n].as_dvec3(),
                        stiffness: stiffness[n].as_dmat3(),
                        velocity_before: before[n].as_dvec3(),
                        step: now.step,
                    });
                    let varying = &varying[..F::VARIES.len()];
                    let (more, stiffer) =
                        added(&self.force, &point, drive.as_ref(), varying, now.step);
                    force[n] += more.as_vec3();
                    stiffness[n] += stiffer.as_mat3();
                }
            },
        )?;
        Ok(())
    }

    /// Over particles in the order of a mesh, which may stand for pieces of rods.
    fn push_points(
        &self,
        world: &World,
        object: ObjectId,
        (on, pieces): (&Topological, Option<Handle<DVec3>>),
        now: &Moment,
    ) -> Result<()> {
        let points = &world.points[on.points];
        let settles = F::RESISTS && !world.object(object).coupled;
        let uniform = self.uniform(world, object, now.time + now.step)?;
        let handles =
            F::VARIES.iter().map(|name| points.handle::<f64>(self.channel_of(name)?).ok());
        let columns: Vec<_> = handles
            .map(|handle| handle.map(|handle| points.column(handle)).transpose())
            .collect::<Result<_, _>>()?;
        let (position, id) = (points.column(points.position())?, points.column(points.id())?);
        for (name, column) in F::VARIES.iter().zip(&columns) {
            self.check(name, &id, column.iter().flat_map(|column| column.iter().copied()))?;
        }
        let (velocity, mass) = (points.column(on.velocity)?, points.column(on.mass)?);
        let radius = points.column(on.radius)?;
        let along = pieces.map(|along| points.column(along)).transpose()?;
        let (mut force, mut stiffness) =
            (points.column_mut(on.force)?, points.column_mut(on.stiffness)?);
        let sums = force.par_iter_mut().zip(stiffness.par_iter_mut());
        sums.enumerate().for_each(|(n, (force, stiffness))| {
            let point = Point {
                position: position[n],
                velocity: velocity[n],
                mass: mass[n],
                radius: radius[n],
                id: id[n],
                time: now.time + now.step,
                along: along.as_ref().map(|along| along[n]),
            };
            let mut varying = uniform;
            for (value, column) in varying.iter_mut().zip(&columns) {
                if let Some(column) = column {
                    *value = column[n];
                }
            }
            // In the first iteration these points have the velocity at the start of the step.
            let drive = (settles && now.iteration == 0).then(|| Drive {
                force: *force,
                stiffness: *stiffness,
                velocity_before: velocity[n],
                step: now.step,
            });
            let varying = &varying[..F::VARIES.len()];
            let (more, stiffer) = added(&self.force, &point, drive.as_ref(), varying, now.step);
            *force += more;
            *stiffness += stiffer;
        });
        Ok(())
    }

    /// The energy of all points that it acts on, added up in the order in which they are stored [J].
    fn potential_energy(&self, world: &World) -> Result<f64> {
        if self.force.potential(DVec3::ZERO, 1.0).is_none() {
            return Ok(0.0);
        }
        let energy = |position, mass| self.force.potential(position, mass).unwrap_or(0.0);
        let spatial = |object: ObjectId, particles: Id<ParticleSystem>, mass: Handle<f32>| {
            let particles = &world.particles[particles];
            let domain = &world.domains[world.object(object).domain];
            let kernel = (particles.own(particles.position()), particles.own(mass));
            let buckets = Accessor::new("energy of places", domain)
                .over(particles.topology())
                .map(kernel, |here, (offset, mass)| {
                    let corner = domain.frame().corner(here.bucket);
                    let points = offset.iter().zip(mass.iter());
                    points.fold(0.0, |sum, (offset, mass)| {
                        sum + energy(corner + offset.as_dvec3(), f64::from(*mass))
                    })
                })?;
            Ok::<f64, SimError>(world.processes().all_sum_f64(buckets.into_iter().sum())?)
        };
        let mut sum = 0.0;
        for (object, material) in &self.on {
            sum += match material {
                Material::Spatial(on) => spatial(*object, on.particles, on.mass)?,
                Material::Topological(on) => {
                    let points = &world.points[on.points];
                    let (position, mass) =
                        (points.column(points.position())?, points.column(on.mass)?);
                    position.iter().zip(mass.iter()).map(|(at, mass)| energy(*at, *mass)).sum()
                }
            };
        }
        let fluids = self.fluids.iter().filter(|_| self.force.acts_on_fluids());
        for (object, fluid) in fluids {
            if let Some(carried) = fluid.particles {
                sum += spatial(*object, carried.particles, carried.mass)?;
            }
            if let Some(interior) = fluid.interior {
                sum += energy_of_cells(world, *object, fluid, interior, energy)?;
            }
        }
        Ok(sum)
    }

    /// Over the faces of fluids: u* = u + (1/Δt)(m/Δt² − ∂f/∂x)⁻¹ f, for the component that a face has.
    fn push_fluids(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        if let Some(acceleration) = self.force.acceleration() {
            for (object, _) in self.fluids.iter().filter(|(_, fluid)| fluid.weight.is_some()) {
                world.objects[object.0].carried += acceleration;
            }
        }
        for (object, fluid) in &self.fluids {
            let entry = world.object(*object);
            let domain = &world.domains[entry.domain];
            let volume = &world.volumes[fluid.volume];
            if let Some(acceleration) = self.force.acceleration() {
                let faces = fluid.velocity.faces.map(|face| volume.write(face));
                let kick = now.step * acceleration;
                let accessor = Accessor::new("add forces", domain).over(volume.topology());
                if let Some(weight) = fluid.weight {
                    let access = (volume.around(weight, 1), faces);
                    accessor.run(access, |_, (weight, faces)| {
                        for (axis, velocity) in faces.into_iter().enumerate() {
                            add_weight(&weight, axis, kick.as_vec3()[axis], velocity);
                        }
                    })?;
                    continue;
                }
                accessor.run(faces, |_, faces| {
                    for (velocity, kick) in faces.into_iter().zip(kick.as_vec3().to_array()) {
                        velocity.iter_mut().for_each(|velocity| *velocity += kick);
                    }
                })?;
                continue;
            }
            let uniform = self.uniform(world, *object, now.time + now.step)?;
            for (axis, face) in fluid.velocity.faces.into_iter().enumerate() {
                let voxel = domain.frame().voxel_size(0);
                let middle = DVec3::splat(0.5) - 0.5 * DVec3::AXES[axis];
                let kernel = (volume.write(face), volume.own(fluid.density));
                Accessor::new("add forces", domain).over(volume.topology()).run(
                    kernel,
                    |here, (velocity, density)| {
                        let corner = domain.frame().corner(here.bucket);
                        for n in 0..velocity.len() {
                            let cell =
                                DVec3::new((n >> 6) as f64, (n >> 3 & 7) as f64, (n & 7) as f64);
                            // Only the face's own component is known here; the others act through the derivative alone.
                            let flow = f64::from(velocity[n]) * DVec3::AXES[axis];
                            let point = Point {
                                position: corner + (cell + middle) * voxel,
                                velocity: flow,
                                mass: f64::from(density[n]) * voxel.powi(3),
                                radius: voxel * BALL_OF_A_CUBE,
                                id: n as u64,
                                time: now.time + now.step,
                                along: None,
                            };
                            let push = self.force.evaluate(&point, &uniform[..F::VARIES.len()]);
                            velocity[n] += kick(&push, point.mass, now.step)[axis] as f32;
                        }
                    },
                )?;
            }
        }
        Ok(())
    }
}

/// Adds to the faces across an axis an acceleration times the step [m/s], by the mean weight of the cells on both sides.
fn add_weight(weight: &VoxelNeighbourhood<'_, f32>, axis: usize, kick: f32, velocity: &mut [f32]) {
    if kick == 0.0 {
        return;
    }
    let (stride, own) = ([64, 8, 1][axis], weight.chunk());
    let [x, y, z] = [0, 1, 2].map(|along| -i32::from(along == axis));
    let next = weight.neighbour(x, y, z);
    for (n, velocity) in velocity.iter_mut().enumerate() {
        let is_first = (n / stride) & 7 == 0;
        let below = if is_first { next[n + 7 * stride] } else { own[n - stride] };
        *velocity += 0.5 * kick * (below + own[n]);
    }
}

/// The energy of what cells of a fluid hold themselves [J], by that of a mass [kg] at a place [m].
fn energy_of_cells(
    world: &World,
    object: ObjectId,
    fluid: &FluidField,
    interior: Interior,
    energy: impl Fn(DVec3, f64) -> f64 + Sync,
) -> Result<f64> {
    let volume = &world.volumes[fluid.volume];
    let domain = &world.domains[world.object(object).domain];
    let voxel = domain.frame().voxel_size(0);
    let buckets = Accessor::new("energy of places", domain).over(volume.topology()).map(
        volume.own(interior.parts),
        |here, parts| {
            let corner = domain.frame().corner(here.bucket);
            let held = parts.iter().enumerate().filter(|(_, parts)| **parts > 0);
            held.fold(0.0, |sum, (n, parts)| {
                let cell = DVec3::new((n >> 6) as f64, (n >> 3 & 7) as f64, (n & 7) as f64);
                sum + energy(corner + (cell + 0.5) * voxel, f64::from(*parts) * interior.part)
            })
        },
    )?;
    Ok(buckets.into_iter().sum())
}

/// The radius of a ball with the volume of a unit cube: (3 / 4π)^(1/3).
const BALL_OF_A_CUBE: f64 = 0.620_350_490_899_400_1;

/// The change of velocity that a force makes of a mass by itself, implicitly: (1/Δt)(m/Δt² − ∂f/∂x)⁻¹ f [m/s].
pub fn kick(push: &Push, mass: f64, step: f64) -> DVec3 {
    implicit_kick(push.force, push.stiffness(step), mass, step)
}

/// The same, from sums of forces [N] and of −∂f/∂x [N/m]. A mass of zero without stiffness stays as it is.
pub fn implicit_kick(force: DVec3, stiffness: DMat3, mass: f64, step: f64) -> DVec3 {
    let matrix = DMat3::from_diagonal(DVec3::splat(mass / (step * step))) + stiffness;
    if matrix.determinant() == 0.0 {
        return DVec3::ZERO;
    }
    matrix.inverse() * force / step
}
