//! What of strands begins inside of a collider, or in each other: told when a run begins, since what was meant may be something else.
//!
//! Strands that overlap each other are parted, and springs push out what is in a collider. Hard contacts only keep a vertex from going
//! deeper, and let it leave. An edge that is deeper than both of its ends is parted from the collider, by a fifth of its depth in each step.

use crate::contact::Overlaps;
use undine_geometry::{Collider, Solid};
use undine_sim::newton::shape::Rods as Held;
use undine_sim::offers::{Embedded, Rods};
use undine_sim::{Id, Moment, ObjectId, Result, World};

/// Strands, and colliders that they are kept out of.
pub struct Beginnings {
    strands: Vec<(ObjectId, Rods)>,
    colliders: Vec<(ObjectId, Id<Option<Collider>>)>,
}

/// Vertices of an Object that begin inside of a collider.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Inside {
    count: usize,
    strands: usize,
    /// The deepest of them: its strand, its place in it, and how deep it is [m].
    deepest: (u32, usize, f64),
}

impl Beginnings {
    /// Of the Objects `scope`, which are kept out of the colliders among `all`.
    pub fn new(world: &World, scope: &[ObjectId], all: &[ObjectId]) -> Self {
        let rods = |&object: &ObjectId| match world.object(object).offers.boundary {
            Some(Embedded::OnRods(rods)) => Some((object, rods)),
            _ => None,
        };
        let collider = |&object: &ObjectId| Some((object, world.object(object).offers.collider?));
        Self {
            strands: scope.iter().filter_map(rods).collect(),
            colliders: all.iter().filter_map(collider).collect(),
        }
    }

    /// Says what begins inside of what, and what hard contacts or springs will do with it.
    pub fn tell(&self, world: &World, now: &Moment, is_hard: bool) -> Result<()> {
        let becomes = match is_hard {
            true => "hard contacts keep them from going deeper, but do not push them out",
            false => "springs will push them out in the first steps, as far as strands give way",
        };
        for (object, collider) in &self.colliders {
            let Some(collider) = &world.colliders[*collider] else { continue };
            let solid = collider.during(now.time, now.time)?;
            for (strands, rods) in &self.strands {
                let Some(Inside { count, strands: of, deepest: (strand, vertex, depth) }) =
                    inside(world, rods, &solid)?
                else {
                    continue;
                };
                tracing::warn!(
                    "{}: {count} vertices of {of} strands begin inside of `{}`, the deepest of them, vertex {vertex} of strand {strand}, by \
                     {depth:.2e} m; {becomes}. Move them out, hold what belongs there with `roots`, or leave `{}` out of the scope of \
                     `collision`",
                    world.object(*strands).path,
                    world.object(*object).path,
                    world.object(*object).path,
                );
            }
        }
        Ok(())
    }
}

/// Says which strands begin in each other.
pub fn tell_overlaps(world: &World, overlaps: &Overlaps) {
    let Overlaps { pairs, through, objects, distance, apart, at } = overlaps;
    let [one, other] = objects.map(|object| &world.object(object).path);
    let with = if one == other { String::new() } else { format!(" with those of `{other}`") };
    tracing::warn!(
        "{one}: {pairs} pairs of edges overlap{with} when the run begins, {through} of them so deep that they may pass through each other; the \
         deepest at ({:.3}, {:.3}, {:.3}) m, {distance:.2e} m from each other where {apart:.2e} m are free of overlap. They will be pushed \
         apart. Make strands thinner with `radius`, let fewer grow, or comb them apart",
        at.x,
        at.y,
        at.z,
    );
}

/// The vertices inside of a solid, by more than they are thick, that the scene does not hold there.
fn inside(world: &World, rods: &Rods, solid: &dyn Solid) -> Result<Option<Inside>> {
    let points = &world.points[rods.vertices.points];
    let (position, held) = (points.column(points.position())?, points.column(rods.held)?);
    let (strand, radius) = (points.column(rods.strand)?, points.column(rods.thickness)?);
    let mut found: Option<Inside> = None;
    let (mut first, mut last) = (0, None);
    for n in 0..points.len() {
        if n == 0 || strand[n] != strand[n - 1] {
            first = n;
        }
        let depth = -solid.distance(position[n]);
        if held[n] & Held::PLACE != 0 || depth <= 2.0 * radius[n] {
            continue;
        }
        let here = (strand[n], n - first, depth);
        let sum = found.get_or_insert(Inside { count: 0, strands: 0, deepest: here });
        sum.count += 1;
        sum.strands += usize::from(last != Some(strand[n]));
        last = Some(strand[n]);
        if depth > sum.deepest.2 {
            sum.deepest = here;
        }
    }
    Ok(found)
}
