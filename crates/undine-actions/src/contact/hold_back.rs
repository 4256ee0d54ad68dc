//! What passes through something all the same, however often a step is made again: it is held back, so that nothing ever passes.
//!
//! Bodies stay where the step began. Strands that would pass through each other move together, with the velocity of their common
//! momentum, and as they were when the step began (rigid impact zones; Provot 1997, *Collision and self-collision handling in cloth model
//! dedicated to design garments*; Bridson et al. 2002, *Robust treatment of collisions, contact and friction for cloth animation*, §7.4).
//! Strands that would pass through what the scene moves stay where they are on it, also where it deforms, or go with what holds them. Whatever that brings into the way
//! of others is held back with them, until nobody passes.

use super::find::{Found, Part};
use super::{Side, Touching};
use std::collections::{BTreeMap, BTreeSet};
use undine_core::Forest;
use undine_core::glam::DVec3;
use undine_sim::coupling::Coupling;
use undine_sim::newton::rod::transported;
use undine_sim::newton::shape::Rods as Held;
use undine_sim::offers::{Embedded, Rods};
use undine_sim::{Moment, ObjectId, Result, World};

/// How often those in the way of what is held back are looked for.
const MOST_ROUNDS: usize = 64;

/// A strand: the side, and its first particle.
type Strand = (usize, u32);

/// For each of `count` particles the first of those that edges join with it.
pub(super) fn strands(count: usize, edges: &[[u32; 2]]) -> Vec<u32> {
    let mut joined = Forest::new(count);
    edges.iter().for_each(|&[a, b]| joined.join(a, b));
    (0..count as u32).map(|n| joined.root(n)).collect()
}

/// Strands that move as one.
#[derive(Default)]
struct Zones {
    /// The zone of each strand, named by its least.
    of: BTreeMap<Strand, Strand>,
    /// Zones that stay where they are on what the scene moves.
    stay: BTreeMap<Strand, Stay>,
}

/// What a zone stays on.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Stay {
    /// How far that takes what touches it [m].
    way: DVec3,
    /// The collider, which takes each place as it moves there.
    on: Option<ObjectId>,
}

impl Stay {
    /// Where the step began.
    const HERE: Self = Self { way: DVec3::ZERO, on: None };
}

impl Zones {
    fn of(&mut self, strand: Strand) -> Strand {
        *self.of.entry(strand).or_insert(strand)
    }

    fn join(&mut self, one: Strand, other: Strand) {
        let (one, other) = (self.of(one), self.of(other));
        let (least, most) = (one.min(other), one.max(other));
        self.of.values_mut().filter(|zone| **zone == most).for_each(|zone| *zone = least);
        if let Some(stay) = self.stay.remove(&most) {
            self.stays(least, stay);
        }
    }

    fn stays(&mut self, strand: Strand, stay: Stay) {
        let zone = self.of(strand);
        let known = self.stay.entry(zone).or_insert(stay);
        if stay.way.length_squared() > known.way.length_squared() {
            *known = stay;
        }
    }
}

impl Touching {
    /// Holds back what breaks the laws of contacts.
    pub(super) fn hold_back(&mut self, world: &World, now: &Moment) -> Result<()> {
        let mut zones = Zones::default();
        let mut stopped = BTreeSet::new();
        // What is off has to be good enough.
        self.again = usize::MAX;
        for round in 0..MOST_ROUNDS {
            let broken: Vec<Found> =
                self.found.iter().filter(|found| found.is_broken()).copied().collect();
            for found in &broken {
                match [&found.first, &found.second].map(|part| self.strand_of(part)) {
                    [Some(one), Some(other)] => zones.join(one, other),
                    [Some(one), None] => zones.stays(one, self.carries(found)),
                    [None, Some(one)] => zones.stays(one, Stay::HERE),
                    [None, None] => {}
                }
            }
            if round + 1 == MOST_ROUNDS {
                let all: Vec<Strand> = zones.of.keys().copied().collect();
                all.into_iter().for_each(|strand| zones.stays(strand, Stay::HERE));
            }
            let parts = broken.iter().flat_map(|found| [found.first, found.second]);
            self.bodies_stay(world, &parts.collect::<Vec<_>>(), &mut stopped)?;
            self.move_zones(world, &zones, now)?;
            if !self.breaks_laws(world, now)? {
                break;
            }
            self.find_contacts(world, now)?;
        }
        self.tell_of_stopped(world, &stopped, now);
        Ok(())
    }

    /// Warns of bodies that were stopped, once in a frame: what they had of momentum is gone.
    fn tell_of_stopped(
        &mut self,
        world: &World,
        stopped: &BTreeSet<(ObjectId, usize)>,
        now: &Moment,
    ) {
        if let Some((first, body)) = stopped.first()
            && self.told != Some(now.frame)
        {
            self.told = Some(now.frame);
            tracing::warn!(
                "{}: body {body} would have passed through something, and was stopped, so that its momentum is lost{}, in \
                 frame {}; ask for more `substeps`",
                world.object(*first).path,
                match stopped.len() {
                    1 => String::new(),
                    more => format!(", as were {} others", more - 1),
                },
                now.frame
            );
        }
    }

    /// How what the scene moves takes along a strand that touches it. Bodies stay, for their part.
    fn carries(&self, found: &Found) -> Stay {
        let (Part::Particles { object, on }, Part::Still) = (found.first, found.second) else {
            return Stay::HERE;
        };
        let side = self.sides.iter().find(|side| side.object == object);
        let start = side.map_or(found.places[0], |side| {
            on.iter().map(|&(n, weight)| side.start[n as usize] * weight).sum()
        });
        let touched = ObjectId(found.key.objects[1] as usize);
        let is_collider = self.colliders.iter().any(|(object, _)| *object == touched);
        Stay {
            way: found.places[0] - start - found.contact.slip,
            on: is_collider.then_some(touched),
        }
    }

    fn strand_of(&self, part: &Part) -> Option<Strand> {
        let Part::Particles { object, on } = part else { return None };
        let number = self.sides.iter().position(|side| side.object == *object)?;
        let side = &self.sides[number];
        matches!(side.boundary, Embedded::OnRods(_))
            .then(|| (number, side.strand[on[0].0 as usize]))
    }

    fn bodies_stay(
        &self,
        world: &World,
        parts: &[Part],
        stopped: &mut BTreeSet<(ObjectId, usize)>,
    ) -> Result<()> {
        for side in &self.sides {
            let Embedded::OnBodies(on) = side.boundary else { continue };
            let points = &world.points[on.bodies.centres.points];
            let mut position = points.column_mut(points.position())?;
            let mut orientation = points.column_mut(on.bodies.orientation)?;
            let mut velocity = points.column_mut(on.bodies.centres.velocity)?;
            for part in parts {
                let body = match part {
                    Part::Particles { object, on } if *object == side.object => {
                        side.body[on[0].0 as usize] as usize
                    }
                    Part::Body { object, body } if *object == side.object => *body as usize,
                    _ => continue,
                };
                (position[body], orientation[body]) = side.bodies[body];
                velocity[body] = DVec3::ZERO;
                stopped.insert((side.object, body));
            }
        }
        Ok(())
    }

    /// Moves the strands of each zone as one, from where the step began.
    fn move_zones(&self, world: &World, zones: &Zones, now: &Moment) -> Result<()> {
        let mut steps = BTreeMap::new();
        for (object, id) in &self.colliders {
            if zones.stay.values().any(|stay| stay.on == Some(*object))
                && let Some(collider) = &world.colliders[*id]
            {
                steps.insert(*object, collider.during(now.time, now.time + now.step)?);
            }
        }
        // The mass, the momentum, and where what is held begins and how far it moves in the step.
        let mut sums: BTreeMap<Strand, (f64, DVec3)> = BTreeMap::new();
        let mut led: BTreeMap<Strand, [DVec3; 2]> = BTreeMap::new();
        for (number, side) in self.sides.iter().enumerate() {
            let Embedded::OnRods(on) = side.boundary else { continue };
            let points = &world.points[on.vertices.points];
            let (held, mass) = (points.column(on.held)?, points.column(on.vertices.mass)?);
            let velocity = points.column(on.vertices.velocity)?;
            let position = points.column(points.position())?;
            for n in 0..points.len() {
                let Some(zone) = zones.of.get(&(number, side.strand[n])) else { continue };
                if held[n] & Held::PLACE != 0 {
                    led.entry(*zone).or_insert([side.start[n], position[n] - side.start[n]]);
                    continue;
                }
                let sum = sums.entry(*zone).or_insert((0.0, DVec3::ZERO));
                sum.0 += mass[n];
                sum.1 += mass[n] * velocity[n];
            }
        }
        let way = |zone: &Strand, at: DVec3| {
            let stay = zones.stay.get(zone);
            let on = stay.and_then(|stay| steps.get(&stay.on?));
            match (led.get(zone), sums.get(zone), stay) {
                // As it is on the collider, and from where its root is.
                (Some([root, led]), ..) => {
                    on.map_or(*led, |step| *led + step.takes(at) - step.takes(*root))
                }
                (None, _, Some(stay)) => on.map_or(stay.way, |step| step.takes(at)),
                (None, Some((mass, momentum)), None) => *momentum / *mass * now.step,
                (None, None, None) => DVec3::ZERO,
            }
        };
        for (number, side) in self.sides.iter().enumerate() {
            if let Embedded::OnRods(on) = side.boundary {
                let of = |n: usize| zones.of.get(&(number, side.strand[n]));
                side.shift(world, &on, |n| of(n).map(|zone| way(zone, side.start[n])), now.step)?;
            }
        }
        Ok(())
    }
}

impl Side {
    /// Moves vertices of rods from where the step began by `way` [m], if it has one for them. Frames go along.
    fn shift(
        &self,
        world: &World,
        on: &Rods,
        way: impl Fn(usize) -> Option<DVec3>,
        step: f64,
    ) -> Result<()> {
        let points = &world.points[on.vertices.points];
        let held = points.column(on.held)?;
        let (start, end) = (points.column(on.edge[0])?, points.column(on.edge[1])?);
        let mut position = points.column_mut(points.position())?;
        let mut velocity = points.column_mut(on.vertices.velocity)?;
        let mut frame = points.column_mut(on.frame)?;
        let ways: Vec<Option<DVec3>> = (0..points.len()).map(way).collect();
        for (n, way) in ways.iter().enumerate() {
            let Some(way) = way else { continue };
            if held[n] & Held::PLACE == 0 {
                position[n] = self.start[n] + *way;
                velocity[n] = *way / step;
            }
        }
        for n in (0..ways.len()).filter(|&n| ways[n].is_some()) {
            let edge = position[end[n] as usize] - position[start[n] as usize];
            let tangent = edge.normalize_or(frame[n].x_axis);
            frame[n] = transported(frame[n], tangent, 0.0);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strands_are_what_edges_join() {
        assert_eq!(strands(7, &[[0, 1], [3, 2], [4, 3], [6, 6]]), [0, 0, 2, 2, 2, 5, 6]);
    }

    #[test]
    fn zones_that_join_stay_if_one_of_them_does() {
        let mut zones = Zones::default();
        zones.join((0, 5), (0, 9));
        let stay = Stay { way: DVec3::X, on: None };
        zones.stays((1, 0), stay);
        zones.join((1, 0), (0, 9));
        assert_eq!(zones.of.values().copied().collect::<std::collections::BTreeSet<_>>().len(), 1);
        assert_eq!(zones.stay.get(&(0, 5)), Some(&stay));
    }
}
