//! Where embedded particles are, and the elements of Constraints as the coupled system sees them during a substep.
//!
//! This is scratch: it is made from channels when a substep begins, and what has to live on goes back into channels when it
//! ends.
//!
//! In a distributed run, the state of the system is whole on every process: particles in spatial order that take part in it are brought
//! together, process after process. Each process then does its part of the work, and all get the same bits. So all functions here are
//! collective.

use crate::constraint::Placed;
use crate::error::Result;
use crate::newton::{Contacts, Embedded as Hung, Pose, Shape, Term, shape};
use crate::offers::{Bodies, Embedded, Kinematic, ObjectId, OnBodies, Rods, Spatial, Topological};
use crate::task::Moment;
use crate::world::World;
use rayon::prelude::*;
use undine_core::glam::{DMat3, DVec3, Vec3};
use undine_core::{Element, Handle, ParticleSystem};

/// Points that one task copies.
const POINTS_PER_TASK: usize = 4096;

/// The elements of one Constraint, while a substep is solved.
pub trait Coupling: Send {
    /// The Objects that its elements hang on.
    fn objects(&self) -> Vec<ObjectId>;

    /// Its elements as terms of the system, given how each Object's particles hang on unknowns.
    fn terms<'a>(&'a self, hung: &dyn Fn(ObjectId) -> Hung<'a>) -> Vec<Box<dyn Term + 'a>>;

    /// Puts points of its own, such as places on surfaces, where Objects have them now; called before terms are made of them.
    fn follow<'a>(&mut self, _world: &World, _hung: &dyn Fn(ObjectId) -> Hung<'a>) -> Result<()> {
        Ok(())
    }

    /// Takes its elements from channels, with values as they are at `time` [s].
    fn take_elements(&mut self, _world: &World, _time: f64) -> Result<()> {
        Ok(())
    }

    /// Takes the multipliers that the solve found, one list for each term.
    fn take_multipliers(&mut self, found: &mut dyn Iterator<Item = Vec<f64>>);

    /// Looks for contacts where Objects are now.
    fn find_contacts(&mut self, _world: &World, _now: &Moment) -> Result<()> {
        Ok(())
    }

    /// Whether Objects break the law of any contact where they are now: what is found there is then solved for.
    fn breaks_laws(&mut self, _world: &World, _now: &Moment) -> Result<bool> {
        Ok(false)
    }

    /// Called where laws of contacts are broken however often they are solved for, just after contacts were found: brings what breaks them to
    /// where it breaks none.
    fn give_up(&mut self, _world: &World, _now: &Moment) -> Result<()> {
        Ok(())
    }

    /// Adds its contacts, given how each Object's particles hang on unknowns.
    fn contacts<'a>(&self, _hung: &dyn Fn(ObjectId) -> Hung<'a>, _out: &mut Contacts) {}

    /// Takes the forces on contacts that the solve found, in their order [N].
    fn take_contact_forces(&mut self, _found: &mut dyn Iterator<Item = DVec3>) {}

    /// The rest parameters of its elements, term after term, with their bounds.
    fn parameters(&self) -> Vec<(f64, [f64; 2])> {
        Vec::new()
    }

    /// Sets them, from the first of these on, and returns the rest of these.
    fn set_parameters<'v>(&mut self, values: &'v [f64]) -> &'v [f64] {
        values
    }

    /// Writes them into channels: what they are when the next step ends at `time` [s].
    fn keep_parameters(&mut self, _world: &World, _time: f64) -> Result<()> {
        Ok(())
    }
}

/// Where the embedded particles of an Object are. Particles in spatial order are looked at `ahead` [s] along their velocity,
/// since their positions stay those of the step's start.
pub fn placed(world: &World, embedded: &Embedded, ahead: f64) -> Result<Vec<Placed>> {
    match embedded {
        Embedded::Particles(spatial) => {
            let positions = positions(world, spatial, ahead)?;
            Ok(positions.into_iter().map(Placed::at).collect())
        }
        Embedded::OnBodies(on) => {
            let points = &world.points[on.points];
            let (body, rest) = (points.column(on.body)?, points.column(on.rest)?);
            let poses = poses(world, &on.bodies)?;
            let place = |(body, rest): (&u32, &DVec3)| {
                let pose = &poses[*body as usize];
                Placed { x: pose.centre + pose.rotation * *rest, frame: pose.rotation }
            };
            Ok(body.iter().zip(rest.iter()).map(place).collect())
        }
        Embedded::OnRods(rods) => {
            let points = &world.points[rods.vertices.points];
            let (x, frame) = (points.column(points.position())?, points.column(rods.frame)?);
            Ok(beside(&x, &frame))
        }
        Embedded::Kinematic(kinematic) => {
            let points = &world.points[kinematic.points];
            let (x, frame) = (points.column(points.position())?, points.column(kinematic.frame)?);
            Ok(beside(&x, &frame))
        }
    }
}

/// Places and frames beside each other.
fn beside(x: &[DVec3], frame: &[DMat3]) -> Vec<Placed> {
    let both = x.par_iter().zip(frame).with_min_len(POINTS_PER_TASK);
    both.map(|(&x, &frame)| Placed { x, frame }).collect()
}

/// The shape at rest of the embedded particles of an Object, in the order of [`placed`]; empty where it is that which they began in.
pub fn at_rest(world: &World, embedded: &Embedded) -> Result<Vec<Placed>> {
    let Embedded::OnRods(Rods { vertices, at_rest: Some(rest), .. }) = embedded else {
        return Ok(Vec::new());
    };
    let points = &world.points[vertices.points];
    let (x, frame) = (points.column(rest.place)?, points.column(rest.frame)?);
    Ok(beside(&x, &frame))
}

/// The places of [`placed`], without frames [m].
pub fn places(world: &World, embedded: &Embedded, ahead: f64) -> Result<Vec<DVec3>> {
    match embedded {
        Embedded::Particles(spatial) => positions(world, spatial, ahead),
        Embedded::OnRods(Rods { vertices: Topological { points, .. }, .. })
        | Embedded::Kinematic(Kinematic { points, .. }) => {
            let points = &world.points[*points];
            Ok(points.column(points.position())?.to_vec())
        }
        Embedded::OnBodies(_) => {
            Ok(placed(world, embedded, ahead)?.into_iter().map(|placed| placed.x).collect())
        }
    }
}

/// How the embedded particles of an Object hang on its unknowns.
pub fn shape(world: &World, embedded: &Embedded) -> Result<Shape> {
    Ok(match embedded {
        Embedded::Particles(_) => Shape::Identity,
        Embedded::OnBodies(on) => {
            let points = &world.points[on.points];
            let rest = |x: &DVec3| Placed { x: *x, frame: DMat3::IDENTITY };
            Shape::Rigid {
                body: points.column(on.body)?.to_vec(),
                rest: points.column(on.rest)?.iter().map(rest).collect(),
            }
        }
        Embedded::OnRods(rods) => rod_shape(world, rods)?,
        Embedded::Kinematic(_) => Shape::Fixed,
    })
}

/// How vertices of rods hang on themselves and on the turns of edges.
pub fn rod_shape(world: &World, rods: &Rods) -> Result<Shape> {
    let points = &world.points[rods.vertices.points];
    let (start, end) = (points.column(rods.edge[0])?, points.column(rods.edge[1])?);
    Ok(Shape::Rods(shape::Rods {
        edge: start.iter().zip(end.iter()).map(|(&start, &end)| [start, end]).collect(),
        held: points.column(rods.held)?.to_vec(),
    }))
}

/// The stable ids of embedded particles, in the order of [`placed`].
pub fn ids(world: &World, embedded: &Embedded) -> Result<Vec<u64>> {
    match embedded {
        Embedded::Particles(spatial) => {
            let particles = &world.particles[spatial.particles];
            flat(world, particles, particles.id(), |id| *id)
        }
        Embedded::OnBodies(on) => {
            let points = &world.points[on.points];
            Ok(points.column(points.id())?.to_vec())
        }
        Embedded::OnRods(Rods { vertices: Topological { points, .. }, .. })
        | Embedded::Kinematic(Kinematic { points, .. }) => {
            let points = &world.points[*points];
            Ok(points.column(points.id())?.to_vec())
        }
    }
}

/// Pairs of embedded particles that carry the frames of two edges of a rod that meet, by their places in [`placed`].
pub fn joints(world: &World, embedded: &Embedded) -> Result<Vec<[u32; 2]>> {
    let Embedded::OnRods(rods) = embedded else { return Ok(Vec::new()) };
    let points = &world.points[rods.vertices.points];
    let (start, end) = (points.column(rods.edge[0])?, points.column(rods.edge[1])?);
    let joint = |vertex: usize| {
        let [own, end] = [start[vertex], end[vertex]];
        // A vertex carries the frame of the edge that begins there, or of that which ends there; and no joint follows the last edge.
        let begins = own as usize == vertex && own != end;
        let next = if begins { end } else { vertex as u32 + 1 };
        (start.get(next as usize) == Some(&end)).then_some([vertex as u32, next])
    };
    Ok((0..points.len()).filter_map(joint).collect())
}

/// Which rigid body each embedded particle is fixed to; empty where each moves by itself.
pub fn bodies(world: &World, embedded: &Embedded) -> Result<Vec<u32>> {
    match embedded {
        Embedded::OnBodies(on) => Ok(world.points[on.points].column(on.body)?.to_vec()),
        Embedded::Particles(_) | Embedded::OnRods(_) | Embedded::Kinematic(_) => Ok(Vec::new()),
    }
}

/// The places in [`placed`] of those that each embedded particle stands [between](crate::Offers::between); empty where none was added.
pub fn between(
    world: &World,
    embedded: &Embedded,
    between: Option<[Handle<u32>; 3]>,
) -> Result<Vec<[u32; 3]>> {
    let points = match embedded {
        Embedded::OnBodies(OnBodies { points, .. })
        | Embedded::Kinematic(Kinematic { points, .. }) => &world.points[*points],
        Embedded::Particles(_) | Embedded::OnRods(_) => return Ok(Vec::new()),
    };
    let Some([a, b, c]) = between else { return Ok(Vec::new()) };
    let (a, b, c) = (points.column(a)?, points.column(b)?, points.column(c)?);
    Ok((0..points.len()).map(|n| [a[n], b[n], c[n]]).collect())
}

/// Which strand each embedded particle is a vertex of; empty where they are not of strands.
pub fn strands(world: &World, embedded: &Embedded) -> Result<Vec<u32>> {
    match embedded {
        Embedded::OnRods(rods) => {
            Ok(world.points[rods.vertices.points].column(rods.strand)?.to_vec())
        }
        _ => Ok(Vec::new()),
    }
}

/// A channel of numbers on embedded particles, in the order of [`placed`], where they have it.
pub fn numbers(world: &World, embedded: &Embedded, channel: &str) -> Result<Option<Vec<f64>>> {
    let points = match embedded {
        Embedded::Particles(spatial) => {
            let particles = &world.particles[spatial.particles];
            let Ok(handle) = particles.handle::<f32>(channel) else { return Ok(None) };
            return flat(world, particles, handle, |value: &f32| f64::from(*value)).map(Some);
        }
        Embedded::OnBodies(on) => on.points,
        Embedded::OnRods(rods) => rods.vertices.points,
        Embedded::Kinematic(kinematic) => kinematic.points,
    };
    let points = &world.points[points];
    let Ok(handle) = points.handle::<f64>(channel) else { return Ok(None) };
    Ok(Some(points.column(handle)?.to_vec()))
}

/// Where bodies are.
pub fn poses(world: &World, bodies: &Bodies) -> Result<Vec<Pose>> {
    let points = &world.points[bodies.centres.points];
    let (centre, turn) = (points.column(points.position())?, points.column(bodies.orientation)?);
    let pose = |(centre, turn): (&DVec3, &undine_core::glam::DQuat)| Pose {
        centre: *centre,
        rotation: DMat3::from_quat(*turn),
    };
    Ok(centre.iter().zip(turn.iter()).map(pose).collect())
}

/// World positions of all particles `ahead` [s] along their velocity [m], Bucket by Bucket. Collective.
pub fn positions(world: &World, on: &Spatial, ahead: f64) -> Result<Vec<DVec3>> {
    let particles = &world.particles[on.particles];
    let start = of_all(world, particles.world_positions()?)?;
    if ahead == 0.0 {
        return Ok(start);
    }
    let velocity = flat(world, particles, on.velocity, |v: &Vec3| v.as_dvec3())?;
    Ok(start.into_iter().zip(velocity).map(|(x, v)| x + ahead * v).collect())
}

/// The values of a channel of all particles, Bucket by Bucket. Collective.
pub fn flat<T: Element, R>(
    world: &World,
    particles: &ParticleSystem,
    channel: Handle<T>,
    value: impl Fn(&T) -> R,
) -> Result<Vec<R>> {
    let column = particles.column(channel)?;
    let mut own = Vec::with_capacity(particles.len());
    for slot in 0..particles.topology().local() {
        own.extend_from_slice(column.chunk(slot as u32));
    }
    Ok(of_all(world, own)?.iter().map(value).collect())
}

/// How many of all particles come before those of this process, in the order of [`flat`]. Collective.
pub fn first(world: &World, particles: &ParticleSystem) -> Result<usize> {
    let processes = world.processes();
    let counts = processes.all_gather_values(&[particles.len() as u64])?.concat();
    Ok(counts[..processes.rank()].iter().sum::<u64>() as usize)
}

/// What all processes have, in order of rank.
fn of_all<T: Element>(world: &World, own: Vec<T>) -> Result<Vec<T>> {
    match world.processes().count() {
        1 => Ok(own),
        _ => Ok(world.processes().all_gather_values(&own)?.concat()),
    }
}
