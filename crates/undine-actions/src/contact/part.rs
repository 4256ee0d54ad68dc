//! Bodies moved apart by inertia alone: as little as contacts ask for.
//!
//! *When a step begins*, what overlaps is parted. Overlaps are small: what turning leaves of a step that was solved with straight ways. They are
//! taken out of positions and never go into velocities, so that they make no energy; that is why the contacts of the step itself
//! only keep them from growing. *After a fluid* has given bodies its pressure, they may have come to where colliders and other bodies are. Contacts are
//! then solved once more, with what the fluid gave as given: forces are those of the whole step, on their cones.

use super::find::{Found, Part, Surroundings};
use super::{Side, Touching};
use std::collections::BTreeMap;
use undine_core::glam::{DMat3, DQuat, DVec3};
use undine_sim::constraint::Placed;
use undine_sim::coupling::{self, Coupling};
use undine_sim::newton::{
    Contacts, Embedded as Hung, Inertia, Kind, Pose, Shape, TouchSettings, Unknowns, settle,
};
use undine_sim::offers::{Embedded, OnBodies};
use undine_sim::{Moment, ObjectId, Result, SimError, World};

/// Overlaps of less than this [m] stay.
const LEAST: f64 = 1e-9;
/// What overlaps by more than this part of a body's size when a run begins is a mistake.
const MISTAKE: f64 = 0.01;
/// When contacts of bodies that are parted are right: enough [m], and most sweeps.
const SETTLED: TouchSettings = TouchSettings { tolerance: 1e-10, sweeps: 200 };

/// Bodies that contacts have moved.
struct Settled {
    /// The move [m] and the turn [rad] of each body, Object by Object.
    moves: Vec<(Movable, Vec<[DVec3; 2]>)>,
    /// The forces of the contacts [N].
    forces: Vec<DVec3>,
}

/// The bodies of an Object, as unknowns.
struct Movable {
    on: OnBodies,
    span: usize,
    shape: Shape,
    placed: Vec<Placed>,
    poses: Vec<Pose>,
    mass: Vec<f64>,
    tensor: Vec<DMat3>,
    zeros: Vec<DVec3>,
}

impl Movable {
    fn new(world: &World, on: OnBodies, span: usize) -> Result<Self> {
        let boundary = Embedded::OnBodies(on);
        let points = &world.points[on.bodies.centres.points];
        let poses = coupling::poses(world, &on.bodies)?;
        let inertia = points.column(on.bodies.inertia)?;
        let tensor = poses.iter().zip(inertia.iter()).map(|(pose, inertia)| {
            pose.rotation * DMat3::from_diagonal(*inertia) * pose.rotation.transpose()
        });
        Ok(Self {
            on,
            span,
            shape: coupling::shape(world, &boundary)?,
            placed: coupling::placed(world, &boundary, 0.0)?,
            mass: points.column(on.bodies.centres.mass)?.to_vec(),
            tensor: tensor.collect(),
            zeros: vec![DVec3::ZERO; poses.len()],
            poses,
        })
    }

    fn inertia(&self) -> Inertia<'_> {
        let (mass, displacement) = (&self.mass[..], &self.zeros[..]);
        Inertia::Bodies { mass, displacement, tensor: &self.tensor, turn: &self.zeros }
    }
}

impl Touching {
    /// Refuses a run that begins with bodies deep inside of something.
    pub fn check(&mut self, world: &World, now: &Moment) -> Result<()> {
        let found = self.overlaps(world, now)?;
        self.check_start(world, &found)
    }

    /// Parts what overlaps where a step begins. What overlaps by much when the run begins is refused.
    pub fn part(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        let mut found = self.overlaps(world, now)?;
        if now.count == 0 {
            self.check_start(world, &found)?;
        }
        found.retain(|found| found.contact.gap < -LEAST);
        for found in &mut found {
            found.contact.friction = 0.0;
            found.contact.slip = found.contact.normal * found.contact.gap;
        }
        if found.is_empty() {
            return Ok(());
        }
        let moves = self.settle(world, found, 1.0)?.moves;
        for (movable, du) in &moves {
            let on = movable.on;
            let bodies = self
                .bodies
                .iter()
                .find(|bodies| bodies.solids.bodies.centres.points == on.bodies.centres.points);
            let points = &world.points[on.bodies.centres.points];
            let mut position = points.column_mut(points.position())?;
            let mut orientation = points.column_mut(on.bodies.orientation)?;
            let moved = position.iter_mut().zip(orientation.iter_mut()).zip(du);
            for ((x, turn), du) in moved {
                *x += du[0];
                *turn = (DQuat::from_scaled_axis(du[1]) * *turn).normalize();
            }
            if let Some(bodies) = bodies {
                let principal = points.column(bodies.solids.principal)?;
                let mut orient = points.column_mut(bodies.solids.orient)?;
                for (n, orient) in orient.iter_mut().enumerate() {
                    *orient = (orientation[n] * principal[n].inverse()).normalize();
                }
            }
            drop((position, orientation));
            // Boundary particles go along.
            let placed = coupling::placed(world, &Embedded::OnBodies(on), 0.0)?;
            let points = &world.points[on.points];
            let mut position = points.column_mut(points.position())?;
            let mut frame = points.column_mut(on.frame)?;
            for (n, placed) in placed.iter().enumerate() {
                (position[n], frame[n]) = (placed.x, placed.frame);
            }
        }
        Ok(())
    }

    /// Takes the forces of contacts from bodies that a fluid carries, before it says what it does to them: what holds up a weight that
    /// the fluid bears would be taken for a body that needs no lift. [`hold`](Self::hold) gives them back, and solves them anew.
    pub fn let_go(&self, world: &World, now: &Moment) -> Result<()> {
        self.kick(world, -now.step)
    }

    /// Gives swimming bodies the forces of contacts among themselves and with what the scene moves, for a time [s].
    fn kick(&self, world: &World, time: f64) -> Result<()> {
        let movable: BTreeMap<ObjectId, OnBodies> =
            self.movable().filter(|(object, _)| world.object(*object).swims).collect();
        // The body that a part belongs to; what is of none does not swim.
        let body_of = |part: &Part| -> Option<Option<(OnBodies, u32)>> {
            let (object, body) = match part {
                Part::Still => return Some(None),
                Part::Body { object, body } => (object, *body),
                Part::Particles { object, on } => {
                    let side = self.sides.iter().find(|side| side.object == *object)?;
                    (object, *side.body.get(on[0].0 as usize)?)
                }
            };
            Some(Some((*movable.get(object)?, body)))
        };
        for found in &self.found {
            let Some((first, second)) = body_of(&found.first).zip(body_of(&found.second)) else {
                continue;
            };
            for (part, sign) in [(first, 1.0), (second, -1.0)] {
                let Some((on, body)) = part else { continue };
                let (bodies, n) = (on.bodies, body as usize);
                let points = &world.points[bodies.centres.points];
                let mut position = points.column_mut(points.position())?;
                let mut orientation = points.column_mut(bodies.orientation)?;
                let mut velocity = points.column_mut(bodies.centres.velocity)?;
                let kick = sign * time * found.contact.force;
                let change = kick / points.column(bodies.centres.mass)?[n];
                let turn = orientation[n];
                let spin = turn.inverse() * (found.at - position[n]).cross(kick);
                let spin = turn * (spin / points.column(bodies.inertia)?[n]);
                velocity[n] += change;
                position[n] += time.abs() * change;
                orientation[n] = (DQuat::from_scaled_axis(time.abs() * spin) * turn).normalize();
            }
        }
        Ok(())
    }

    /// Solves contacts once more where a fluid has moved bodies: their velocities, and places at the end of the step.
    pub fn hold(&mut self, world: &mut World, now: &Moment) -> Result<()> {
        let swims = |side: &Side| world.object(side.object).swims;
        if !self.sides.iter().any(swims) {
            return Ok(());
        }
        self.kick(world, now.step)?;
        self.find_contacts(world, now)?;
        let Settled { moves, forces } = self.settle(world, self.found.clone(), now.step)?;
        for (movable, du) in &moves {
            let bodies = movable.on.bodies;
            let points = &world.points[bodies.centres.points];
            let mut position = points.column_mut(points.position())?;
            let mut orientation = points.column_mut(bodies.orientation)?;
            let mut velocity = points.column_mut(bodies.centres.velocity)?;
            for (n, du) in du.iter().enumerate() {
                position[n] += du[0];
                velocity[n] += du[0] / now.step;
                orientation[n] = (DQuat::from_scaled_axis(du[1]) * orientation[n]).normalize();
            }
        }
        self.take_contact_forces(&mut forces.into_iter());
        self.memory.remember(world, &self.found)
    }

    /// The bodies that can be moved.
    pub fn movable(&self) -> impl Iterator<Item = (ObjectId, OnBodies)> + '_ {
        self.sides.iter().filter_map(|side| match side.boundary {
            Embedded::OnBodies(on) => Some((side.object, on)),
            _ => None,
        })
    }

    /// Contacts of bodies where they are when a step begins.
    fn overlaps(&mut self, world: &World, now: &Moment) -> Result<Vec<Found>> {
        self.begin(world)?;
        let mut places = Vec::with_capacity(self.sides.len());
        for side in &mut self.sides {
            side.flight = side.start.clone();
            places.push(match side.boundary {
                Embedded::OnBodies(_) => side.start.clone(),
                // What moves point by point is left to the step itself.
                _ => Vec::new(),
            });
        }
        let mut poses = Vec::with_capacity(self.bodies.len());
        for bodies in &mut self.bodies {
            bodies.flight = bodies.start.clone();
            poses.push(bodies.start.clone());
        }
        let surroundings = Surroundings {
            sides: &self.sides,
            places: &places,
            bodies: &self.bodies,
            poses: &poses,
            manner: self.manner,
            step: 0.0,
            ways: 0.0,
            rebound: 0.0,
            processes: &**world.processes(),
        };
        let mut found = Vec::new();
        for (object, id) in &self.colliders {
            let Some(collider) = &world.colliders[*id] else { continue };
            surroundings.against_collider(
                *object,
                &collider.during(now.time, now.time)?,
                &mut found,
            )?;
        }
        surroundings.against_bodies(&mut found)?;
        Ok(found)
    }

    /// Refuses a run that begins with bodies inside of something.
    fn check_start(&self, world: &World, found: &[Found]) -> Result<()> {
        let size = |object: u32| -> Result<f64> {
            let on = self.movable().find(|(id, _)| id.0 == object as usize);
            let Some((_, on)) = on else { return Ok(f64::INFINITY) };
            let points = &world.points[on.bodies.centres.points];
            let radius = points.column(on.bodies.centres.radius)?;
            Ok(2.0 * radius.iter().copied().fold(f64::INFINITY, f64::min))
        };
        let deepest = found.iter().min_by(|a, b| a.contact.gap.total_cmp(&b.contact.gap));
        let Some(deepest) = deepest else { return Ok(()) };
        if deepest.contact.gap >= -MISTAKE * size(deepest.key.objects[0])? {
            return Ok(());
        }
        let [one, other] = deepest.key.objects.map(|object| &world.objects[object as usize].path);
        let inside = found.iter().filter(|found| found.key.objects == deepest.key.objects);
        let count = inside.filter(|found| found.contact.gap < -LEAST).count();
        let begins = match deepest.first {
            Part::Body { .. } => match count {
                1 => format!("it begins inside of `{other}` at 1 place"),
                _ => format!("it begins inside of `{other}` at {count} places"),
            },
            _ => match count {
                1 => format!("1 of its boundary particles begins inside of `{other}`"),
                _ => format!("{count} of its boundary particles begin inside of `{other}`"),
            },
        };
        let what = format!(
            "{begins}, the deepest by {:.2e} m at ({:.3}, {:.3}, {:.3}) m",
            -deepest.contact.gap, deepest.at.x, deepest.at.y, deepest.at.z,
        );
        Err(SimError::setup(
            one,
            what,
            "move them apart, or leave one of them out of the scope of `collision`",
        ))
    }

    /// Moves bodies by inertia alone in a step [s], such that these contacts are right: the move and the turn of each, and the forces
    /// of the contacts.
    fn settle(&mut self, world: &World, found: Vec<Found>, step: f64) -> Result<Settled> {
        let mut unknowns = Unknowns::new();
        let mut all = BTreeMap::new();
        for (object, on) in self.movable() {
            let count = world.points[on.bodies.centres.points].len();
            let span = unknowns.add(world.object(object).path.clone(), Kind::Bodies, count);
            all.insert(object, Movable::new(world, on, span)?);
        }
        let mut contacts = Contacts::new();
        // Looked at once: that looks at all particles.
        let hangs: BTreeMap<ObjectId, Hung<'_>> = all
            .iter()
            .map(|(object, movable)| {
                let Movable { span, shape, placed, poses, .. } = movable;
                let hung = Hung::new(&unknowns, *span, shape, poses, placed);
                (*object, hung.unwrap_or(Hung::fixed(placed)))
            })
            .collect();
        let hung = |object: ObjectId| hangs.get(&object).copied().unwrap_or(Hung::fixed(&[]));
        let before = std::mem::replace(&mut self.found, found);
        self.hang(&hung, &mut contacts, |found| found.contact);
        self.found = before;
        let mut in_order: Vec<(&ObjectId, &Movable)> = all.iter().collect();
        in_order.sort_by_key(|(_, movable)| movable.span);
        let inertia: Vec<Inertia<'_>> =
            in_order.iter().map(|(_, movable)| movable.inertia()).collect();
        let (du, _) = settle(&unknowns, &inertia, &mut contacts, step, &SETTLED)?;
        let vector = |row: usize| DVec3::new(du[row], du[row + 1], du[row + 2]);
        let forces = contacts.list().iter().map(|contact| contact.force).collect();
        let moves = all.into_values().map(|movable| {
            let span = &unknowns.spans()[movable.span];
            let rows = (0..span.count).map(|body| span.row + 6 * body);
            let moves = rows.map(|row| [vector(row), vector(row + 3)]).collect();
            (movable, moves)
        });
        Ok(Settled { moves: moves.collect(), forces })
    }
}
