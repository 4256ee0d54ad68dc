//! Boundary particles and edges between them against what is solid: colliders and rigid bodies, by one and the same look.
//!
//! Against a rigid body it is looked at from the body, in whose coordinates things move relative to both motions; a collider knows
//! itself how it moves. Of an edge, the point that is deepest counts where the step ends; but where the edge met something on its
//! way that it has left behind, that counts, as it does for particles.

use super::features::way_of;
use super::find::{Found, Key, Near, Part, Surroundings, below, overlap};
use super::{BODY_FRICTION, Bodies};
use rayon::prelude::*;
use std::ops::Range;
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;
use undine_geometry::collider::{ColliderStep, Impact};
use undine_geometry::shape::Features;
use undine_geometry::{Pose, Solid};
use undine_sim::newton::Contact;
use undine_sim::{ObjectId, Result};

/// Particles that one task looks at.
const PARTICLES_PER_TASK: usize = 64;

/// Nearer than this to an end of an edge, as a part of it, is the end's.
const END: f64 = 0.05;

/// The inside of an edge is deeper than its ends if it is by more than this part of its length.
const LEAST: f64 = 1e-4;

/// Two touches are of one plane if normals differ by no more than the first of these, 1 − cos φ, and places by no more than this part of their
/// distance: what rounding leaves.
pub(super) const SAME_PLANE: (f64, f64) = (1e-12, 1e-9);

/// What moves by itself is boxed in runs of so many neighbours.
const RUN: usize = 16;

/// What things bump into, seen from itself.
pub(super) struct Solids<'a> {
    pub form: &'a ColliderStep<'a>,
    /// From its own coordinates to the world: when the step begins, as it would end without forces, and now. A collider is in those of
    /// the world already.
    poses: Option<[&'a Pose; 3]>,
    pub object: ObjectId,
    /// The number of the body, in keys.
    pub number: u64,
    pub part: Part,
    pub friction: f64,
    /// Whether it is a body that touches with features of its own.
    pub is_exact: bool,
    /// Where its centre is in its form [m], if other places of it come to touch as it rolls.
    rolls_about: Option<DVec3>,
}

impl Solids<'_> {
    pub fn of_start(&self, at: DVec3) -> DVec3 {
        self.poses.map_or(at, |[start, _, _]| start.to_local(at))
    }

    pub fn of_now(&self, at: DVec3) -> DVec3 {
        self.poses.map_or(at, |[_, _, now]| now.to_local(at))
    }

    /// A touch in the world.
    pub fn in_world(&self, near: Near) -> Near {
        match self.poses {
            None => near,
            Some([_, _, now]) => Near {
                normal: now.rotation * near.normal,
                gap: near.gap,
                point: now.to_world(near.point),
            },
        }
    }

    /// How far a place of its surface, in its own coordinates, goes in the step, and how far it would go without forces [m].
    pub fn carried(&self, point: DVec3) -> [DVec3; 2] {
        match (self.poses, self.rolls_about) {
            (None, _) => [self.form.moved(point); 2],
            (Some([start, flight, now]), None) => {
                [now, flight].map(|pose| pose.to_world(point) - start.to_world(point))
            }
            (Some([start, flight, now]), Some(pivot)) => {
                let arm = now.to_world(point) - now.to_world(pivot);
                [now, flight].map(|pose| way_of([start, pose], pivot, arm))
            }
        }
    }
}

impl Surroundings<'_> {
    /// Every particle and every edge against a collider.
    pub fn against_collider(
        &self,
        object: ObjectId,
        collider: &ColliderStep<'_>,
        out: &mut Vec<Found>,
    ) -> Result<()> {
        let solid = Solids {
            form: collider,
            poses: None,
            object,
            number: u64::MAX,
            part: Part::Still,
            friction: self.manner.friction.unwrap_or(collider.friction()),
            is_exact: false,
            rolls_about: None,
        };
        for (number, side) in self.sides.iter().enumerate() {
            if self.is_exact(number) {
                let look = |body: usize| -> Result<Vec<Found>> {
                    let mut found = Vec::new();
                    self.exactly(number, body, &solid, &mut found)?;
                    Ok(found)
                };
                let found: Result<Vec<Vec<Found>>> =
                    self.part(self.bodies_of(number)).into_par_iter().map(look).collect();
                out.extend(self.of_all(found.map(|found| found.concat()))?);
                continue;
            }
            let particles = self
                .part(self.places[number].len())
                .into_par_iter()
                .with_min_len(PARTICLES_PER_TASK)
                .filter_map(|n| self.particle(number, n, &solid).transpose())
                .collect();
            out.extend(self.of_all(particles)?);
            let edges = side.edges[self.part(side.edges.len())]
                .par_iter()
                .with_min_len(PARTICLES_PER_TASK)
                .filter_map(|edge| self.edge(number, *edge, &solid).transpose())
                .collect();
            out.extend(self.of_all(edges)?);
        }
        Ok(())
    }

    /// Every particle and every edge against every rigid body but its own.
    pub fn against_bodies(&self, out: &mut Vec<Found>) -> Result<()> {
        if self.bodies.is_empty() {
            return Ok(());
        }
        let boxes: Vec<[Vec<Swept>; 2]> = (0..self.sides.len()).map(|n| self.swept(n)).collect();
        for (bodies, poses) in self.bodies.iter().zip(self.poses) {
            let forms = &bodies.solids.forms;
            let steps: Vec<ColliderStep<'_>> =
                forms.iter().map(|form| form.during(0.0, 0.0)).collect::<Result<_, _>>()?;
            let look = |body: usize| -> Result<Vec<Found>> {
                let form = &steps[body % steps.len()];
                let solid = self.body(bodies, body, form, &poses[body]);
                let mut found = Vec::new();
                let Some(local) = form.bounds() else { return Ok(found) };
                let reach = moved_bounds(&local, &bodies.start[body])
                    .union(moved_bounds(&local, &poses[body]));
                for (number, side) in self.sides.iter().enumerate() {
                    let meets = |swept: &&Swept| {
                        let own = side.object == bodies.object && swept.body == Some(body as u32);
                        !own && overlap(&reach, &swept.bounds)
                    };
                    let [particles, edges] = &boxes[number];
                    if self.is_exact(number) {
                        for other in particles.iter().filter(meets).filter_map(|swept| swept.body) {
                            self.exactly(number, other as usize, &solid, &mut found)?;
                        }
                        continue;
                    }
                    for n in particles.iter().filter(meets).flat_map(|swept| swept.run.clone()) {
                        found.extend(self.particle(number, n, &solid)?);
                    }
                    for n in edges.iter().filter(meets).flat_map(|swept| swept.run.clone()) {
                        found.extend(self.edge(number, side.edges[n], &solid)?);
                    }
                }
                Ok(found)
            };
            let tasks: Result<Vec<Vec<Found>>> =
                self.part(poses.len()).into_par_iter().map(look).collect();
            out.extend(self.of_all(tasks.map(|tasks| tasks.concat()))?);
        }
        self.once(out);
        Ok(())
    }

    fn body<'a>(
        &self,
        bodies: &'a Bodies,
        body: usize,
        form: &'a ColliderStep<'a>,
        now: &'a Pose,
    ) -> Solids<'a> {
        Solids {
            form,
            poses: Some([&bodies.start[body], &bodies.flight[body], now]),
            object: bodies.object,
            number: body as u64,
            part: match bodies.solids.kinematic {
                true => Part::Still,
                false => Part::Body { object: bodies.object, body: body as u32 },
            },
            friction: self.manner.friction.unwrap_or(BODY_FRICTION),
            is_exact: self
                .sides
                .iter()
                .any(|side| side.object == bodies.object && side.exact.is_some()),
            rolls_about: bodies
                .features(body)
                .is_some_and(Features::roll)
                .then(|| bodies.pivot[body]),
        }
    }

    /// A particle.
    pub(super) fn particle(
        &self,
        number: usize,
        n: usize,
        solid: &Solids<'_>,
    ) -> Result<Option<Found>> {
        let side = &self.sides[number];
        if side.is_held(n) {
            return Ok(None);
        }
        let (from, to) = (solid.of_start(side.start[n]), solid.of_now(self.places[number][n]));
        let radius = side.radius(n);
        let margin = self.margin(from.distance(to));
        let is_added = side.between.get(n).is_some_and(|corners| corners[0] as usize != n);
        if !solid.form.may_meet(from, to, radius + margin)
            || is_added
                && (self.is_met_by_points(number, n, solid) || self.is_spare(number, n, solid))
        {
            return Ok(None);
        }
        let near = touch(solid.form, from, to, radius, margin)?;
        let on = [(n as u32, 1.0), (n as u32, 0.0)];
        Ok(near.map(|near| self.touched(number, on, radius, near, solid)))
    }

    /// Whether a particle was added on a face, and the solid is a body that has points of its own: those meet the face.
    fn is_met_by_points(&self, number: usize, n: usize, solid: &Solids<'_>) -> bool {
        let is_on_face = |&[_, b, c]: &[u32; 3]| b != c;
        let has_points = |object: ObjectId| self.sides.iter().any(|side| side.object == object);
        self.sides[number].between.get(n).is_some_and(is_on_face)
            && matches!(solid.part, Part::Body { object, .. } if has_points(object))
    }

    /// Whether a particle that was added between others ends at the same plane as all of those, and they touch it: its gap is then a mean of
    /// theirs, however the body moves, and they hold it as well without it. Asked before its way is looked at, which takes much longer.
    fn is_spare(&self, number: usize, n: usize, solid: &Solids<'_>) -> bool {
        let (side, places) = (&self.sides[number], &self.places[number]);
        let near = solid.form.nearest(solid.of_now(places[n]));
        side.between[n].map(|corner| corner as usize).into_iter().all(|corner| {
            let (from, to) = (solid.of_start(side.start[corner]), solid.of_now(places[corner]));
            let other = solid.form.nearest(to);
            let off = (other.point - near.point).dot(near.normal).abs();
            other.distance - side.radius(corner) < self.margin(from.distance(to))
                && near.normal.dot(other.normal) > 1.0 - SAME_PLANE.0
                && off <= SAME_PLANE.1 * places[corner].distance(places[n])
        })
    }

    /// The inside of an edge, where it is nearer than its ends, or has met something on its way.
    fn edge(&self, number: usize, [a, b]: [u32; 2], solid: &Solids<'_>) -> Result<Option<Found>> {
        let (side, places) = (&self.sides[number], &self.places[number]);
        let (i, j) = (a as usize, b as usize);
        if i == j || places.is_empty() || (side.is_held(i) && side.is_held(j)) {
            return Ok(None);
        }
        let from = [i, j].map(|n| solid.of_start(side.start[n]));
        let to = [i, j].map(|n| solid.of_now(places[n]));
        let radius = side.radius(i).max(side.radius(j));
        let way = from[0].distance(to[0]).max(from[1].distance(to[1]));
        let margin = self.margin(way);
        if !solid.form.may_meet(to[0], to[1], radius + margin + way) {
            return Ok(None);
        }
        // No point of it is farther from its ends than half of its length, and distances change no faster than places do.
        let (middle, length) = (to[0].midpoint(to[1]), to[0].distance(to[1]));
        let nearest = 0.5 * (solid.form.distance(to[0]) + solid.form.distance(to[1]) - length);
        let reach = nearest + 0.5 * length;
        if nearest > radius + margin && is_clear(solid.form, (middle, reach), nearest, way, radius)
        {
            return Ok(None);
        }
        // What goes less than half of its radius does not pass anything.
        let met = match way > 0.5 * radius || solid.form.moves() {
            true => met_on_the_way(solid.form, from, to, radius)?,
            false => None,
        };
        let (passes, near) = match met {
            Some((passes, part, near)) => (passes, Some((part, near))),
            None => (false, touch_inside(solid.form, from, to, radius, margin)?),
        };
        let found = near.map(|(part, near)| Found {
            passes,
            ..self.touched(number, [(a, 1.0 - part), (b, part)], radius, near, solid)
        });
        Ok(found)
    }

    /// The contact of what hangs on particles of a side with a place of a solid, in its own coordinates.
    fn touched(
        &self,
        number: usize,
        on: [(u32, f64); 2],
        radius: f64,
        near: Near,
        solid: &Solids<'_>,
    ) -> Found {
        let side = &self.sides[number];
        let is_edge = on[1].1 != 0.0;
        let at = |x: &[DVec3]| match is_edge {
            true => x[on[0].0 as usize].lerp(x[on[1].0 as usize], on[1].1),
            false => x[on[0].0 as usize],
        };
        let (from, to) = (at(&side.start), at(&self.places[number]));
        let [moved, flown] = solid.carried(near.point);
        let near = solid.in_world(near);
        let (slip, flown) = (to - from - moved, at(&side.flight) - from - flown);
        let mut contact = match is_edge {
            true => self.thin_contact(&near, slip, flown, solid.friction),
            false => self.contact(&near, slip, flown, solid.friction),
        };
        if side.body.is_empty() {
            contact.accuracy = self.accuracy(radius);
        }
        let second = if is_edge { side.ids[on[1].0 as usize] } else { u64::MAX };
        Found {
            key: Key {
                objects: [side.object.0 as u32, solid.object.0 as u32],
                points: [side.ids[on[0].0 as usize], second, solid.number, u64::MAX],
            },
            first: Part::Particles { object: side.object, on },
            second: solid.part,
            at: below(to, &near, &solid.part),
            contact,
            places: [to, near.point],
            reach: radius,
            passes: false,
            was_broken: false,
            is_kept: false,
        }
    }

    /// A contact of an edge with what the scene moves as it was found before, where the edge is now; none if it is no such contact, or one that
    /// other contacts hold as well. Its place on the surface ends where it ends, whatever the edge does.
    pub fn again_on_solid(&self, found: &Found) -> Option<Found> {
        let (Part::Particles { object, on }, Part::Still) = (found.first, found.second) else {
            return None;
        };
        let number = self.sides.iter().position(|side| side.object == object)?;
        if on[1].1 == 0.0 || !found.was_broken {
            return None;
        }
        let at = |x: &[DVec3]| x[on[0].0 as usize].lerp(x[on[1].0 as usize], on[1].1);
        let place = at(&self.places[number]);
        let contact = Contact {
            gap: (place - found.places[1]).dot(found.contact.normal) - found.reach,
            slip: found.contact.slip + place - found.places[0],
            ..found.contact
        };
        let places = [place, found.places[1]];
        Some(Found { contact, places, passes: false, is_kept: true, ..*found })
    }

    /// Boxes around what particles of a side pass during the step, body by body or in runs; and around what edges do.
    fn swept(&self, number: usize) -> [Vec<Swept>; 2] {
        let (side, places) = (&self.sides[number], &self.places[number]);
        if let Some(bodies) = side.exact {
            let all = &self.bodies[bodies];
            let body = |n: usize| {
                let local = all.solids.forms[n % all.solids.forms.len()].bounds()?;
                let poses = [&all.start[n], &self.poses[bodies][n]];
                let [from, to] = poses.map(|pose| moved_bounds(&local, pose));
                let margin =
                    self.margin((to.min - from.min).length().max((to.max - from.max).length()));
                let bounds = from.union(to);
                let bounds = Bounds { min: bounds.min - margin, max: bounds.max + margin };
                Some(Swept { body: Some(n as u32), run: n..n + 1, bounds })
            };
            return [(0..self.bodies_of(number)).filter_map(body).collect(), Vec::new()];
        }
        let passes = |n: usize| {
            let (from, to) = (side.start[n], places[n]);
            let margin = side.radius(n) + self.margin(from.distance(to));
            Bounds { min: from.min(to) - margin, max: from.max(to) + margin }
        };
        let body = |n: usize| side.body.get(n).copied();
        let particles = runs(places.len(), body, passes);
        let is_there = |edge: &[u32; 2]| (edge[1] as usize) < places.len();
        let edges = match side.edges.iter().all(is_there) {
            true => runs(
                side.edges.len(),
                |_| None,
                |n| {
                    let [a, b] = side.edges[n].map(|n| passes(n as usize));
                    a.union(b)
                },
            ),
            false => Vec::new(),
        };
        [particles, edges]
    }
}

/// A run of particles or edges and what it passes.
struct Swept {
    body: Option<u32>,
    run: Range<usize>,
    bounds: Bounds,
}

/// Boxes around runs of things, each of one body or of neighbours.
fn runs(
    count: usize,
    body: impl Fn(usize) -> Option<u32>,
    passes: impl Fn(usize) -> Bounds,
) -> Vec<Swept> {
    let mut all: Vec<Swept> = Vec::new();
    for n in 0..count {
        let (body, here) = (body(n), passes(n));
        match all.last_mut() {
            Some(last) if last.body == body && (body.is_some() || last.run.len() < RUN) => {
                last.run.end = n + 1;
                last.bounds = last.bounds.union(here);
            }
            _ => all.push(Swept { body, run: n..n + 1, bounds: here }),
        }
    }
    all
}

/// Where a ball that goes from `from` to `to` [m] touches a surface, or comes within a margin [m] of it at the end.
pub(super) fn touch(
    solid: &ColliderStep<'_>,
    from: DVec3,
    to: DVec3,
    radius: f64,
    margin: f64,
) -> Result<Option<Near>> {
    let near = solid.nearest(to);
    let gap = near.distance - radius;
    if !near.normal.is_finite() || near.normal == DVec3::ZERO {
        return Ok(None);
    }
    if gap > margin
        && is_clear(solid, (to, near.distance), near.distance, from.distance(to), radius)
    {
        return Ok(None);
    }
    let ended = Near { normal: near.normal, gap, point: near.point };
    let impact = match from == to && !solid.moves() {
        true => None,
        false => solid.first_impact(0.0, from, to, radius)?,
    };
    Ok(match impact {
        Some(impact) if !agrees(&impact, &ended, to) => Some(met(&impact, to, radius)),
        _ => (gap < margin).then_some(ended),
    })
}

/// Whether what ends this far from a surface [m] is so far outside that nothing can have been between: a place of the surface that a ball has
/// met on its way ends no farther from the ball than both have gone since, and its radius. Places that end as near as that are within a
/// sphere, `around`: middle and radius [m].
pub(super) fn is_clear(
    solid: &ColliderStep<'_>,
    around: (DVec3, f64),
    distance: f64,
    way: f64,
    radius: f64,
) -> bool {
    let free = distance - way - radius;
    free > 0.0 && (!solid.moves() || free > solid.way_near(around.0, around.1))
}

/// A touch on the way, where what touched is at `to` [m] in the end.
fn met(impact: &Impact, to: DVec3, radius: f64) -> Near {
    Near {
        normal: impact.carried_normal,
        gap: (to - impact.carried).dot(impact.carried_normal) + impact.distance - radius,
        point: impact.carried - impact.distance * impact.carried_normal,
    }
}

/// Whether what is nearest at the end is the surface that was met on the way, and not one behind it.
fn agrees(impact: &Impact, ended: &Near, to: DVec3) -> bool {
    let deep = (to - impact.carried).length() + impact.distance.abs();
    impact.carried_normal.dot(ended.normal) > 0.8 && ended.gap >= -2.0 * deep - impact.radius
}

/// What comes nearer than this part of its radius has nearly gone through.
const NEARLY: f64 = 0.25;

/// Which part of an edge meets something on the way that is not what is nearest to it in the end, and the touch; and whether it nearly
/// goes through there. Edges that turn about where they touch first may go through elsewhere.
pub(super) fn met_on_the_way(
    solid: &ColliderStep<'_>,
    from: [DVec3; 2],
    to: [DVec3; 2],
    radius: f64,
) -> Result<Option<(bool, f64, Near)>> {
    // What only knows its distance is asked for what goes through alone: the rest is seen where it ends, and looking for it takes long.
    let first = match solid.has_edges() {
        true => match solid.first_impact_of_edge(from, to, radius)? {
            None => return Ok(None),
            first => first,
        },
        false => None,
    };
    let through = solid.first_impact_of_edge(from, to, NEARLY * radius)?;
    let Some((part, impact)) = through.or(first) else { return Ok(None) };
    let to = to[0].lerp(to[1], part);
    let near = solid.nearest(to);
    let ended = Near { normal: near.normal, gap: near.distance - radius, point: near.point };
    // Where it is still on the side from which it came, where it ends says best what holds it: an edge that lies on a mesh meets many of its
    // edges on the way, and to hold it off one of them leads to the next.
    let is_inside = through.is_some() || (END..=1.0 - END).contains(&part);
    let is_elsewhere = is_inside && !agrees(&impact, &ended, to);
    Ok(is_elsewhere.then(|| (through.is_some(), part, met(&impact, to, radius))))
}

/// Which part of an edge is deepest in the end, and the touch, where that is deeper than its ends are.
pub(super) fn touch_inside(
    solid: &ColliderStep<'_>,
    from: [DVec3; 2],
    to: [DVec3; 2],
    radius: f64,
    margin: f64,
) -> Result<Option<(f64, Near)>> {
    let part = deepest(solid, to[0], to[1]);
    if !(END..=1.0 - END).contains(&part) {
        return Ok(None);
    }
    let (begins, ends) = (from[0].lerp(from[1], part), to[0].lerp(to[1], part));
    let Some(near) = touch(solid, begins, ends, radius, margin)? else { return Ok(None) };
    let beside = solid.distance(to[0]).min(solid.distance(to[1])) - radius;
    let is_deeper = near.gap <= beside - LEAST * to[0].distance(to[1]);
    Ok(is_deeper.then_some((part, near)))
}

/// Which part of a straight way [m] is deepest in a solid: by golden section, which finds it where distances have one valley.
pub(super) fn deepest(solid: &dyn Solid, from: DVec3, to: DVec3) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    const CUTS: usize = 16;
    let at = |part: f64| solid.distance(from.lerp(to, part));
    let (mut low, mut high) = (0.0, 1.0);
    let (mut one, mut other) = (1.0 - GOLDEN, GOLDEN);
    let (mut first, mut second) = (at(one), at(other));
    if first == second {
        (low, high) = lowest(first, from.distance(to), at);
        (one, other) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
        (first, second) = (at(one), at(other));
    }
    for _ in 0..CUTS {
        if first <= second {
            (high, other, second) = (other, one, first);
            one = high - GOLDEN * (high - low);
            first = at(one);
        } else {
            (low, one, first) = (one, other, second);
            other = low + GOLDEN * (high - low);
            second = at(other);
        }
    }
    0.5 * (low + high)
}

/// Between which parts of a way of a length [m] it is deepest, where two parts of it are as deep as each other, at a `level` [m]. Beyond the band of a level
/// set all are, and one has to look wherever something may be deeper.
fn lowest(level: f64, length: f64, at: impl Fn(f64) -> f64) -> (f64, f64) {
    const MOST: f64 = 64.0;
    let places = (2.0 * length / level.abs()).ceil().clamp(2.0, MOST);
    let place = |n: f64| ((n + 0.5) / places, at((n + 0.5) / places));
    let deeper = |one: (f64, f64), other: (f64, f64)| if other.1 < one.1 { other } else { one };
    let (part, _) = (1..places as u32).map(|n| place(f64::from(n))).fold(place(0.0), deeper);
    ((part - 1.0 / places).max(0.0), (part + 1.0 / places).min(1.0))
}

/// A box around a box in a pose.
fn moved_bounds(local: &Bounds, pose: &Pose) -> Bounds {
    let (middle, half) = (0.5 * (local.min + local.max), 0.5 * (local.max - local.min));
    let turn = pose.matrix();
    let wide = turn.x_axis.abs() * half.x + turn.y_axis.abs() * half.y + turn.z_axis.abs() * half.z;
    let middle = pose.to_world(middle);
    Bounds { min: middle - wide, max: middle + wide }
}
