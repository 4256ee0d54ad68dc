//! Bodies whose shape is known by formulas against what is solid: by what they touch with, exactly.
//!
//! A ball is a point with a thickness, a capsule a line with one; boxes touch with corners and edges, cylinders and cones with rims and the
//! sides between them ([`undine_geometry::shape::Features`]). Each is asked against the signed distance of the other, whatever that is. Of an
//! edge it is the deepest place, and the places where it comes to lie over a face and leaves it: with corners, these span all that two
//! flat faces have in common. Of a rim they are its deepest places, and some more where it lies flat.
//!
//! **What rolls** touches with other material in each step. How far that has slipped is told by how fast the body moves and turns there, and
//! not by where the material was when the step began: Δt (v + ω × r), as in Moreau's law (Moreau 1988, *Unilateral contact and dry
//! friction in finite freedom dynamics*). On its way down to the surface it has come from elsewhere, which is no slip.

use super::against::{SAME_PLANE, Solids, deepest, is_clear, met_on_the_way, touch, touch_inside};
use super::find::{ACCELERATION, Found, Key, Near, Part, Surroundings, below};
use super::{Bodies, SKIN, Side};
use std::collections::BTreeMap;
use std::f64::consts::TAU;
use undine_core::glam::DVec3;
use undine_geometry::shape::{Core, Features, Probe, Rim};
use undine_geometry::{Nearest, Pose, Solid};
use undine_sim::Result;
use undine_sim::newton::Contact;
use undine_sim::newton::rotation::turn_between;

/// Places at which a rim is asked how deep it is, and at which it touches where it lies flat.
const PLACES: usize = 24;
const LYING: usize = 6;

/// A rim whose places differ in depth by no more than this part of its radius lies flat.
const FLAT: f64 = 1e-9;

/// Cuts of a golden section along a rim.
const CUTS: usize = 40;

/// How often the deepest line of a side, and the deepest place on that line, are looked for in turn.
const TURNS: usize = 4;

/// Halvings of where an edge leaves a face, and how much of it has to lie over one.
const HALVINGS: usize = 40;
const LEAST_OVER: f64 = 2e-3;

/// An edge is followed on its way where it goes more than this part of its length; with this part of it as its radius.
const FAR: (f64, f64) = (0.1, 1e-3);

/// Places within a part of the size of a body that press the same way are one and the same.
const SAME_PLACE: f64 = 1e-3;

/// Normals of a ball's touches that differ by less, 1 − cos φ, are of one and the same.
const SAME_NORMAL: f64 = 1e-3;

/// Two walls whose normals have more than this cosine are one that is curved.
const SAME_WALL: f64 = 0.8;

/// A face has touched already what a corner touches whose normal is the same within this, 1 − cos φ.
const SAME_FACE: f64 = 1e-6;

/// Contacts are as exact as this part of what falls in a step: at rest, that is some 1e-5 m/s at 24 steps a second, of which the next step,
/// that begins with the forces of this one, leaves less. A law is broken by more than a half of so many times that; and by more than a half of
/// so many skins.
const OF_FALL: f64 = 1e-5;
const LEFT: f64 = 40.0;
const TOUCHES: f64 = 10.0;

/// A body that touches with its features.
struct Own<'a> {
    /// The side, and the body of it.
    number: usize,
    body: usize,
    /// When the step begins, as it would end without forces, and now.
    poses: [&'a Pose; 3],
    pivot: DVec3,
    /// How near it comes [m].
    skin: f64,
}

/// What it touches with at one place.
#[derive(Clone, Copy)]
struct Place {
    probe: Probe,
    thickness: f64,
    rolls: bool,
    /// Its number among those of the body.
    code: u64,
}

/// How far a place that moves and turns with a body goes by its velocity [m], `arm` from the centre.
pub(super) fn way_of([from, to]: [&Pose; 2], pivot: DVec3, arm: DVec3) -> DVec3 {
    let turn = turn_between(from.rotation, to.rotation);
    to.to_world(pivot) - from.to_world(pivot) + turn.cross(arm)
}

impl Bodies {
    /// What a body touches with.
    pub(super) fn features(&self, body: usize) -> Option<&Features> {
        let all = &self.solids.features;
        all.get(body % all.len().max(1))?.as_ref()
    }
}

impl Own<'_> {
    fn centre(&self) -> DVec3 {
        self.poses[2].to_world(self.pivot)
    }

    /// Where a place is when the step begins and now, seen from a solid.
    fn way(&self, solid: &Solids<'_>, at: DVec3) -> [DVec3; 2] {
        let [start, _, now] = self.poses;
        [solid.of_start(start.to_world(at)), solid.of_now(now.to_world(at))]
    }

    /// How deep in a solid a place is now [m].
    fn distance(&self, solid: &Solids<'_>, at: DVec3) -> f64 {
        solid.form.distance(self.way(solid, at)[1])
    }
}

impl Surroundings<'_> {
    /// Whether the bodies of a side touch with features.
    pub(super) fn is_exact(&self, number: usize) -> bool {
        self.sides[number].exact.is_some()
    }

    /// How many bodies a side has.
    pub(super) fn bodies_of(&self, number: usize) -> usize {
        self.sides[number].exact.map_or(0, |bodies| self.poses[bodies].len())
    }

    /// A body of a side that touches with features, against something solid.
    pub(super) fn exactly(
        &self,
        number: usize,
        body: usize,
        solid: &Solids<'_>,
        out: &mut Vec<Found>,
    ) -> Result<()> {
        let side = &self.sides[number];
        let Some(bodies) = side.exact else { return Ok(()) };
        let (all, now) = (&self.bodies[bodies], &self.poses[bodies][body]);
        let Some(features) = all.features(body) else { return Ok(()) };
        let particles = side.body.partition_point(|&other| (other as usize) < body)
            ..side.body.partition_point(|&other| other as usize <= body);
        let size = side.radius.get(particles.start).map_or(0.0, |skin| skin / SKIN);
        let poses = [&all.start[body], &all.flight[body], now];
        let own = Own { number, body, poses, pivot: all.pivot[body], skin: SKIN * size };
        // Edges find those of the other.
        let own_edges =
            !solid.is_exact || (side.object, body as u64) > (solid.object, solid.number);
        let first = out.len();
        for (n, feature) in features.list.iter().enumerate() {
            let place = |probe: Probe, which: usize| Place {
                probe,
                thickness: feature.thickness,
                rolls: feature.rolls(),
                code: (n as u64) << 16 | which as u64,
            };
            match &feature.core {
                Core::Point(probe) => {
                    let place = place(*probe, 0);
                    let ball = feature.thickness > 0.0 && !solid.form.is_convex();
                    match ball {
                        true => self.ball(&own, place, solid, out)?,
                        false => self.place(&own, place, solid, out)?,
                    }
                }
                Core::Line(ends) if own_edges => {
                    self.line(&own, ends, &place, 0, solid, out)?;
                }
                Core::Rim(rim) => self.rim(&own, rim, &place, solid, out)?,
                Core::Side(rims) if own_edges => self.side(&own, rims, &place, solid, out)?,
                Core::Line(_) | Core::Side(_) => {}
            }
        }
        if !features.has_faces || solid.is_exact {
            return Ok(());
        }
        // Faces meet what has no features of its own, by boundary particles: as far as corners and edges have not met the same.
        let last = out.len();
        for n in particles {
            let Some(mut found) = self.particle(number, n, solid)? else { continue };
            found.contact.accuracy = self.accuracy_of_bodies();
            found.reach = found.reach.max(LEFT * found.contact.accuracy);
            let is_met = |other: &Found| {
                let (one, other) = (&other.contact, &found.contact);
                one.normal.dot(other.normal) > 1.0 - SAME_FACE && one.gap <= other.gap + own.skin
            };
            if !out[first..last].iter().any(is_met) {
                out.push(found);
            }
        }
        Ok(())
    }

    /// By how much contacts of such bodies may be off on the mean [m]: a part of what a body falls in the step.
    fn accuracy_of_bodies(&self) -> f64 {
        OF_FALL * ACCELERATION * self.step * self.step
    }

    /// A place of a body, with its way. In a corner of what is hollow it touches more than what is nearest.
    fn place(
        &self,
        own: &Own<'_>,
        place: Place,
        solid: &Solids<'_>,
        out: &mut Vec<Found>,
    ) -> Result<()> {
        let [from, to] = own.way(solid, place.probe.core);
        let radius = place.thickness.max(own.skin);
        let margin = self.margin(from.distance(to));
        let ahead = margin + place.probe.tip.length();
        if !solid.form.may_meet(from, to, radius + ahead) {
            return Ok(());
        }
        let Some(near) = touch(solid.form, from, to, radius, ahead)? else { return Ok(()) };
        let mut normals = [near.normal, DVec3::ZERO, DVec3::ZERO];
        out.extend(self.touched_by(own, place, (near, margin), solid));
        if solid.form.is_convex() {
            return Ok(());
        }
        for which in 1..normals.len() {
            // Seen from farther off those that are known.
            let off: DVec3 = normals.iter().sum();
            let other = solid.form.nearest(to + 2.0 * ahead * off);
            let normal = other.normal;
            let gap = (to - other.point).dot(normal) - radius;
            if gap >= ahead || normals.iter().any(|known| known.dot(normal) > SAME_WALL) {
                break;
            }
            normals[which] = normal;
            let near = Near { normal, gap, point: to - normal * (gap + radius) };
            let code = place.code | (which as u64) << 12;
            let place = Place { code, ..place };
            out.extend(self.touched_by(own, place, (near, margin), solid));
        }
        Ok(())
    }

    /// The contact of a place with one of a solid, in the coordinates of that; none that is farther than a margin [m].
    fn touched_by(
        &self,
        own: &Own<'_>,
        place: Place,
        (near, margin): (Near, f64),
        solid: &Solids<'_>,
    ) -> Option<Found> {
        let side = &self.sides[own.number];
        let [start, flight, now] = own.poses;
        let [moved, flown] = solid.carried(near.point);
        let mut near = solid.in_world(near);
        let tip = now.rotation * place.probe.tip;
        near.gap += tip.dot(near.normal);
        let material = place.probe.core + place.probe.tip;
        let chord = |to: &Pose| to.to_world(material) - start.to_world(material);
        if near.gap >= margin {
            return None;
        }
        let core = now.to_world(place.probe.core);
        let at = below(core, &near, &solid.part) + tip.reject_from_normalized(near.normal);
        let arm = at - own.centre();
        let way = |to: &Pose| match place.rolls {
            true => way_of([start, to], own.pivot, arm),
            false => chord(to),
        };
        let (slip, flown) = (way(now) - moved, way(flight) - flown);
        let accuracy = self.accuracy_of_bodies();
        let contact = Contact { accuracy, ..self.contact(&near, slip, flown, solid.friction) };
        Some(Found {
            key: Key {
                objects: [side.object.0 as u32, solid.object.0 as u32],
                points: [own.body as u64, place.code, solid.number, 0],
            },
            first: Part::Body { object: side.object, body: own.body as u32 },
            second: solid.part,
            at,
            contact,
            places: [at + near.normal * near.gap, at],
            // What a solve leaves is not broken.
            reach: (TOUCHES * own.skin).max(LEFT * accuracy),
            passes: false,
            was_broken: false,
            is_kept: false,
        })
    }

    /// A ball, which may touch what is not convex in several places.
    fn ball(
        &self,
        own: &Own<'_>,
        place: Place,
        solid: &Solids<'_>,
        out: &mut Vec<Found>,
    ) -> Result<()> {
        let [from, to] = own.way(solid, place.probe.core);
        let radius = place.thickness;
        let margin = self.margin(from.distance(to));
        if !solid.form.may_meet(from, to, radius + margin) {
            return Ok(());
        }
        let first = out.len();
        let band = solid.form.band().unwrap_or(f64::INFINITY);
        if radius + margin < band {
            let near = touch(solid.form, from, to, radius, margin)?;
            let found = near.and_then(|near| self.touched_by(own, place, (near, margin), solid));
            out.extend(found);
        }
        let middle = solid.form.nearest(to);
        if middle.distance.min(0.5 * band) > radius + margin {
            return Ok(());
        }
        for which in 1..27_usize {
            let axis = |n: usize| [0.0, 1.0, -1.0][which / n % 3];
            let out_by = DVec3::new(axis(1), axis(3), axis(9)).normalize() * radius;
            let probe = match radius + margin < band {
                true => solid.form.nearest(to + out_by).point,
                // On its way: what is thin may be behind it in the end.
                false => match touch(solid.form, from + out_by, to + out_by, own.skin, margin)? {
                    Some(near) => near.point,
                    None => continue,
                },
            };
            let point = foot(solid.form, to, probe, band);
            let arm = to - point;
            let normal = arm.normalize_or_zero();
            let gap = arm.length() - radius;
            if normal == DVec3::ZERO || gap >= margin || middle.distance <= 0.0 {
                continue;
            }
            let near = Near { normal, gap, point };
            let code = place.code | which as u64;
            let Some(found) = self.touched_by(own, Place { code, ..place }, (near, margin), solid)
            else {
                continue;
            };
            let same =
                |other: &Found| other.contact.normal.dot(found.contact.normal) > 1.0 - SAME_NORMAL;
            if !out[first..].iter().any(same) {
                out.push(found);
            }
        }
        Ok(())
    }

    /// The inside of an edge: where it is deepest, or has met something on its way, and where it leaves the face over which it is.
    fn line(
        &self,
        own: &Own<'_>,
        ends: &[Probe; 2],
        place: &dyn Fn(Probe, usize) -> Place,
        which: usize,
        solid: &Solids<'_>,
        out: &mut Vec<Found>,
    ) -> Result<()> {
        let at = |part: f64, n: usize| place(ends[0].lerp(&ends[1], part), 4 * which + n);
        let ways = ends.map(|end| own.way(solid, end.core));
        let (from, to) = (ways.map(|way| way[0]), ways.map(|way| way[1]));
        let radius = at(0.0, 0).thickness.max(own.skin);
        let way = from[0].distance(to[0]).max(from[1].distance(to[1]));
        let margin = self.margin(way);
        let ahead = margin + ends[0].tip.length();
        let form = solid.form;
        if !form.may_meet(to[0], to[1], radius + ahead + way) {
            return Ok(());
        }
        let (middle, length) = (to[0].midpoint(to[1]), to[0].distance(to[1]));
        let nearest = 0.5 * (form.distance(to[0]) + form.distance(to[1]) - length);
        let reach = nearest + 0.5 * length;
        if nearest > radius + ahead && is_clear(form, (middle, reach), nearest, way, radius) {
            return Ok(());
        }
        if way > FAR.0 * length {
            let thick = radius.max(FAR.1 * length);
            if let Some((_, part, near)) = met_on_the_way(form, from, to, thick)? {
                let near = Near { gap: near.gap + thick - radius, ..near };
                out.extend(self.touched_by(own, at(part, 1), (near, margin), solid));
                return Ok(());
            }
        }
        if let Some((part, near)) = touch_inside(form, from, to, radius, ahead)? {
            out.extend(self.touched_by(own, at(part, 1), (near, margin), solid));
        }
        let lowest = deepest(form, to[0], to[1]);
        let over = form.nearest(to[0].lerp(to[1], lowest));
        if over.distance > radius + ahead {
            return Ok(());
        }
        // From where to where it is over one face, seen from a place of it towards an end.
        let normal = |part: f64| form.nearest(to[0].lerp(to[1], part)).normal;
        let is_same = |one: DVec3, other: DVec3| one.dot(other) > 1.0 - SAME_PLANE.0;
        let leaves = |seed: f64, end: f64| {
            let (over, mut inside, mut beyond) = (normal(seed), seed, end);
            if is_same(over, normal(end)) {
                return None;
            }
            for _ in 0..HALVINGS {
                let middle = 0.5 * (inside + beyond);
                if is_same(over, normal(middle)) { inside = middle } else { beyond = middle }
            }
            ((inside - seed).abs() > LEAST_OVER).then_some(inside)
        };
        // An end that is over a face is so all the way from there; else it is what is deepest.
        let from_ends = [leaves(1.0, 0.0), leaves(0.0, 1.0)];
        let places = match from_ends {
            [None, None] => [leaves(lowest, 0.0), leaves(lowest, 1.0)],
            found => found,
        };
        for (n, inside) in places.into_iter().enumerate() {
            let Some(inside) = inside else { continue };
            // Only where it is in the end: on its way it may have been beyond.
            let Nearest { point, normal, distance } = form.nearest(to[0].lerp(to[1], inside));
            let near = Near { normal, gap: distance - radius, point };
            out.extend(self.touched_by(own, at(inside, 2 + n), (near, margin), solid));
        }
        Ok(())
    }

    /// A rim: where it is deepest, and where it lies flat.
    fn rim(
        &self,
        own: &Own<'_>,
        rim: &Rim,
        place: &dyn Fn(Probe, usize) -> Place,
        solid: &Solids<'_>,
        out: &mut Vec<Found>,
    ) -> Result<()> {
        let angles = self.deepest_angles(own, |angle| rim.at(angle), place(rim.at(0.0), 0), solid);
        for (n, angle) in angles.into_iter().enumerate() {
            self.place(own, place(rim.at(angle), LYING + n), solid, out)?;
        }
        for n in 0..LYING {
            let angle = TAU * n as f64 / LYING as f64;
            self.place(own, place(rim.at(angle), n), solid, out)?;
        }
        Ok(())
    }

    /// Where on a circle it is deeper than beside; none where it is all alike, or far away.
    fn deepest_angles(
        &self,
        own: &Own<'_>,
        circle: impl Fn(f64) -> Probe,
        place: Place,
        solid: &Solids<'_>,
    ) -> Vec<f64> {
        let [one, other] = [0.0, 0.5 * TAU].map(|angle| circle(angle).core);
        let [from, to] = own.way(solid, one.midpoint(other));
        let reach = 0.5 * one.distance(other) + place.thickness.max(own.skin);
        let way = own.way(solid, one);
        // On a rim the farthest goes no farther than the middle and all its turn.
        let ahead = self.margin(from.distance(to) + way[0].distance(way[1]) + reach);
        if !solid.form.may_meet(from, to, reach + ahead) || solid.form.distance(to) > reach + ahead
        {
            return Vec::new();
        }
        let step = TAU / PLACES as f64;
        let deep = |angle: f64| own.distance(solid, circle(angle).core);
        let all: [f64; PLACES] = std::array::from_fn(|n| deep(step * n as f64));
        let (least, most) =
            all.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), d| (a.min(*d), b.max(*d)));
        if most - least <= FLAT * reach {
            return Vec::new();
        }
        let is_low = |&n: &usize| {
            let (before, after) = (all[(n + PLACES - 1) % PLACES], all[(n + 1) % PLACES]);
            all[n] <= before && all[n] < after
        };
        let low = (0..PLACES).filter(is_low).map(|n| step * n as f64);
        low.map(|angle| lowest(deep, angle - step, angle + step)).collect()
    }

    /// The side between two rims: its deepest lines.
    fn side(
        &self,
        own: &Own<'_>,
        rims: &[Rim; 2],
        place: &dyn Fn(Probe, usize) -> Place,
        solid: &Solids<'_>,
        out: &mut Vec<Found>,
    ) -> Result<()> {
        let on = |angle: f64, part: f64| rims[0].at(angle).lerp(&rims[1].at(angle), part);
        let middle = place(on(0.0, 0.5), 0);
        let angles = self.deepest_angles(own, |angle| on(angle, 0.5), middle, solid);
        for (n, mut angle) in angles.into_iter().enumerate() {
            let step = TAU / PLACES as f64;
            for _ in 0..TURNS {
                let ends = rims.map(|rim| own.way(solid, rim.at(angle).core)[1]);
                let part = deepest(solid.form, ends[0], ends[1]);
                let deep = |angle: f64| own.distance(solid, on(angle, part).core);
                angle = lowest(deep, angle - step, angle + step);
            }
            self.line(own, &rims.map(|rim| rim.at(angle)), place, 1 + n, solid, out)?;
        }
        Ok(())
    }

    /// Contacts of two bodies that both have found, each by its own features, are one: the first that was found.
    pub(super) fn once(&self, found: &mut Vec<Found>) {
        /// Two bodies, each as its Object and its number there.
        type Pair = [(usize, u32); 2];
        let mut known: BTreeMap<Pair, Vec<(DVec3, DVec3)>> = BTreeMap::new();
        found.retain(|found| {
            let (Part::Body { object: one, body: i }, Part::Body { object: other, body: j }) =
                (found.first, found.second)
            else {
                return true;
            };
            let (one, other) = ((one.0, i), (other.0, j));
            let size = |side: &Side| {
                let first = side.body.partition_point(|&body| body < i);
                side.radius.get(first).map_or(0.0, |skin| skin / SKIN)
            };
            let side = self.sides.iter().find(|side| side.object.0 == one.0);
            let near = SAME_PLACE * side.map_or(0.0, size);
            let normal = found.contact.normal;
            let normal = if one < other { normal } else { -normal };
            let list = known.entry([one.min(other), one.max(other)]).or_default();
            let is_known = list.iter().any(|(at, along)| {
                at.distance(found.at) <= near && along.dot(normal) > 1.0 - SAME_NORMAL
            });
            if !is_known {
                list.push((found.at, normal));
            }
            !is_known
        });
    }
}

/// The lowest of a function between two places that has one valley there, by golden section.
fn lowest(of: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let (mut one, mut other) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
    let (mut first, mut second) = (of(one), of(other));
    for _ in 0..CUTS {
        if first <= second {
            (high, other, second) = (other, one, first);
            one = high - GOLDEN * (high - low);
            first = of(one);
        } else {
            (low, one, first) = (one, other, second);
            other = low + GOLDEN * (high - low);
            second = of(other);
        }
    }
    0.5 * (low + high)
}

/// The place of a surface that is nearest to `centre` among those around `point`: asked from nearer and nearer to it, so that nothing else is
/// between. What is flat is known at once.
fn foot(solid: &dyn Solid, centre: DVec3, point: DVec3, band: f64) -> DVec3 {
    const ROUNDS: usize = 40;
    const NEARER: f64 = 0.5;
    // Voxels know it to single precision.
    let enough = if band.is_finite() { 1e-6 } else { 1e-10 };
    let ask = |point: DVec3| {
        let arm = centre - point;
        let part = NEARER.min(0.5 * band / arm.length().max(f64::MIN_POSITIVE));
        solid.nearest(point + arm * part)
    };
    let mut point = point;
    for _ in 0..ROUNDS {
        let near = ask(point);
        let size = centre.distance(near.point);
        let flat = centre - near.normal * (centre - near.point).dot(near.normal);
        if ask(flat).point.distance(flat) <= enough * size {
            return flat;
        }
        let moved = near.point.distance(point);
        point = near.point;
        if moved <= enough * size {
            break;
        }
    }
    point
}
