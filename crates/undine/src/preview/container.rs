//! Colliders that what a picture is about is inside of: drawn without the walls that would hide it, and with their edges.
//!
//! Whether a collider is one of them is asked once for a sequence. It depends on what it looks like and from where it is seen, and not on
//! where the liquid in it is by now: a wall that comes and goes from picture to picture would be seen more than all else.

use super::contents::{Contents, Role, Solid};
use super::frame;
use rayon::prelude::*;
use std::collections::BTreeMap;
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;
use undine_geometry::Triangles;
use undine_geometry::bvh::{Bvh, Ray};

/// Edges of a surface that are sharper than this are drawn: the cosine of 30°.
const SHARP: f64 = 0.866;

/// A surface with more edges than this is round, and has none that are worth drawing.
const MOST_EDGES: usize = 4096;

/// So many places along each side of a collider are looked at.
const PLACES: usize = 10;

/// A collider holds something if so many of these places are in it.
const LEAST: usize = 10;

/// A collider is opened if it hides more than this part of its inside. Less of a bowl or a river bed is seen well enough from above.
const HIDDEN: f64 = 0.75;

/// Of each collider in turn, whether it is to be opened for an eye.
pub fn opened(contents: &Contents<'_>, eye: DVec3) -> Vec<bool> {
    let subject = contents.subject_bounds();
    let up = frame::upwards(contents.up);
    let colliders = contents.solids.iter().filter(|solid| solid.role == Role::Collider);
    colliders.map(|collider| hides_its_inside(collider, subject.as_ref(), eye, up)).collect()
}

/// Whether a collider hides what is, or might come to be, in it.
fn hides_its_inside(collider: &Solid<'_>, subject: Option<&Bounds>, eye: DVec3, up: DVec3) -> bool {
    if is_inside_out(collider) {
        return true;
    }
    let Some(bounds) = collider.bounds() else { return false };
    if subject.is_some_and(|subject| !may_hold(&bounds, subject, up)) {
        return false;
    }
    let Some(surface) = bvh(collider) else { return false };
    let inside = inside(&surface, &bounds, up);
    let hidden = inside.par_iter().filter(|at| surface.any_hit(&Ray::segment(eye, **at))).count();
    inside.len() >= LEAST && hidden as f64 > HIDDEN * inside.len() as f64
}

/// Whether what is in a box is in another, or falls into it.
fn may_hold(bounds: &Bounds, subject: &Bounds, up: DVec3) -> bool {
    let (low, high) = (bounds.min - 0.05 * bounds.size(), bounds.max + 0.05 * bounds.size());
    let across = DVec3::ONE - up;
    let is_above = subject.max.dot(up) > low.dot(up);
    let is_within = (subject.min * across).cmpge(low * across).all()
        && (subject.max * across).cmple(high * across).all();
    is_above && is_within
}

/// Places that a surface is around: open, with the surface below and on three sides at least.
fn inside(surface: &Bvh, bounds: &Bounds, up: DVec3) -> Vec<DVec3> {
    let aside = DVec3::new(up.y, up.z, up.x);
    let sides = [aside, -aside, up.cross(aside), -up.cross(aside)];
    // A surface that looks towards a place has the place outside of what it is the surface of.
    let faces =
        |at: DVec3, way: DVec3| surface.first_hit(&Ray::new(at, way)).is_some_and(|hit| hit.enters);
    let is_inside = |n: usize| {
        let part = |n: usize| ((n % PLACES) as f64 + 0.5) / PLACES as f64;
        let parts = DVec3::new(part(n), part(n / PLACES), part(n / PLACES.pow(2)));
        let at = bounds.min + parts * bounds.size();
        let holds = faces(at, -up) && sides.iter().filter(|side| faces(at, **side)).count() >= 3;
        holds.then_some(at)
    };
    (0..PLACES.pow(3)).into_par_iter().filter_map(is_inside).collect()
}

/// The triangles behind which, seen from an eye, no other looks towards it: what is between it and these is to be seen.
pub fn without_hiding(solid: &Solid<'_>, eye: DVec3) -> Vec<[u32; 3]> {
    let Some(surface) = bvh(solid) else { return solid.triangles.to_vec() };
    let shows = |corners: &&[u32; 3]| {
        let [a, b, c] = corners.map(|corner| solid.vertex(corner as usize));
        let line = Ray { from: 1.0 + 1e-6, ..Ray::new(eye, (a + b + c) / 3.0 - eye) };
        !surface.all_hits(&line).iter().any(|hit| hit.enters)
    };
    solid.triangles.par_iter().filter(shows).copied().collect()
}

/// Whether a surface looks inwards: six times the volume that it encloses is negative.
pub fn is_inside_out(solid: &Solid<'_>) -> bool {
    let Some(bounds) = solid.positions.bounds() else { return false };
    let at = |vertex: u32| solid.positions.at(vertex as usize) - bounds.centre();
    let volume = |[a, b, c]: &[u32; 3]| at(*a).cross(at(*b)).dot(at(*c));
    solid.triangles.iter().map(volume).sum::<f64>() < 0.0
}

/// A surface in the world, to be looked at; nothing, if it has places that are none.
fn bvh(solid: &Solid<'_>) -> Option<Bvh> {
    let positions = (0..solid.positions.len()).map(|n| solid.vertex(n)).collect();
    Bvh::new(Triangles::new(positions, solid.triangles.to_vec()).ok()?).ok()
}

/// The sharp edges of a surface, in the world [m].
pub fn edges(solid: &Solid<'_>) -> Vec<[DVec3; 2]> {
    let mut found: BTreeMap<[u32; 2], Vec<DVec3>> = BTreeMap::new();
    if solid.triangles.len() > MOST_EDGES {
        return Vec::new();
    }
    for corners in solid.triangles.iter() {
        let [a, b, c] = corners.map(|corner| solid.vertex(corner as usize));
        let normal = (b - a).cross(c - a).normalize_or_zero();
        for (from, to) in [(0, 1), (1, 2), (2, 0)] {
            let (from, to) = (corners[from], corners[to]);
            found.entry([from.min(to), from.max(to)]).or_default().push(normal);
        }
    }
    let is_sharp = |normals: &[DVec3]| match normals {
        [one, other] => one.dot(*other) < SHARP,
        _ => true,
    };
    let sharp = found.iter().filter(|(_, normals)| is_sharp(normals));
    sharp.map(|(ends, _)| ends.map(|end| solid.vertex(end as usize))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use undine_geometry::form::{Detail, mesh_of};
    use undine_geometry::{Pose, Shape};
    use undine_render::shot::Places;

    fn cube_of(corners: &[DVec3]) -> Solid<'_> {
        // Corner n has x of bit 0, y of bit 1 and z of bit 2; corners turn to the left seen from outside.
        const TRIANGLES: [[u32; 3]; 12] = [
            [0, 2, 1],
            [1, 2, 3],
            [4, 5, 6],
            [5, 7, 6],
            [0, 1, 4],
            [1, 5, 4],
            [2, 6, 3],
            [3, 6, 7],
            [0, 4, 2],
            [2, 4, 6],
            [1, 3, 5],
            [3, 7, 5],
        ];
        Solid {
            role: Role::Collider,
            positions: Places::World(corners),
            triangles: TRIANGLES.to_vec().into(),
            placed: None,
            velocities: None,
            turning: None,
            values: None,
        }
    }

    const EYE: DVec3 = DVec3::new(2.0, 2.5, 4.0);

    /// A box with its walls so thick, with a lid or without, as triangles around its inside.
    fn tub(lid: bool) -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let outer = Shape::cuboid(DVec3::splat(1.0)).unwrap();
        let up = if lid { 0.0 } else { 0.2 };
        let hollow = Shape::cuboid(DVec3::new(0.8, 0.8 + up, 0.8)).unwrap();
        let pose = Pose { translation: DVec3::new(0.0, up, 0.0), ..Pose::IDENTITY };
        let tub = outer.minus(hollow.moved(&pose).unwrap(), 0.0).unwrap();
        mesh_of(&tub, &Detail { cells: 40, ..Detail::default() }).unwrap().into_parts()
    }

    fn solid<'a>(positions: &'a [DVec3], triangles: &[[u32; 3]]) -> Solid<'a> {
        Solid { triangles: triangles.to_vec().into(), ..cube_of(positions) }
    }

    fn is_opened(solid: Solid<'_>, subject: Option<Bounds>, eye: DVec3) -> bool {
        hides_its_inside(&solid, subject.as_ref(), eye, DVec3::Y)
    }

    #[test]
    fn a_tank_is_opened_and_a_bowl_only_where_it_is_seen_from_its_side() {
        let water = Bounds { min: DVec3::splat(-0.7), max: DVec3::splat(0.0) };
        let beside = Bounds { min: DVec3::splat(3.0), max: DVec3::splat(4.0) };
        let (places, triangles) = tub(true);
        let closed = || solid(&places, &triangles);
        assert!(is_opened(closed(), Some(water), EYE) && is_opened(closed(), None, EYE));
        assert!(!is_opened(closed(), Some(beside), EYE));
        let (places, triangles) = tub(false);
        let open = || solid(&places, &triangles);
        let (above, low) = (DVec3::new(1.0, 5.0, 2.0), DVec3::new(1.0, 0.5, 5.0));
        assert!(!is_opened(open(), Some(water), above) && !is_opened(open(), None, above));
        assert!(is_opened(open(), Some(water), low) && is_opened(open(), None, low));
        // What comes from above may be in it soon.
        let drop = Bounds { min: DVec3::new(-0.1, 3.0, -0.1), max: DVec3::new(0.1, 3.2, 0.1) };
        assert!(is_opened(open(), Some(drop), low));
    }

    #[test]
    fn what_has_no_inside_is_never_opened() {
        let corners = Bounds { min: DVec3::ZERO, max: DVec3::ONE }.corners();
        let water = Bounds { min: DVec3::splat(0.1), max: DVec3::splat(0.9) };
        assert!(!is_opened(cube_of(&corners), Some(water), EYE));
    }

    #[test]
    fn an_opened_tank_shows_its_inside() {
        let (places, triangles) = tub(true);
        let tank = solid(&places, &triangles);
        let kept = without_hiding(&tank, EYE);
        assert!(kept.len() < tank.triangles.len());
        let inside = [DVec3::ZERO, DVec3::new(0.5, -0.6, 0.5), DVec3::new(-0.6, 0.6, 0.2)];
        let hidden = |solid: &Solid<'_>| {
            let surface = bvh(solid).unwrap();
            inside.iter().filter(|at| surface.any_hit(&Ray::segment(EYE, **at))).count()
        };
        assert_eq!((hidden(&tank), hidden(&solid(&places, &kept))), (3, 0));
        // Its floor is still there.
        let floor = bvh(&solid(&places, &kept)).unwrap();
        assert!(floor.any_hit(&Ray::segment(DVec3::ZERO, DVec3::new(0.0, -0.9, 0.0))));
    }

    #[test]
    fn of_a_box_its_twelve_edges_are_seen() {
        let corners = Bounds { min: DVec3::ZERO, max: DVec3::ONE }.corners();
        let cube = cube_of(&corners);
        assert_eq!(edges(&cube).len(), 12);
        let inverted: Vec<_> = cube.triangles.iter().map(|&[a, b, c]| [a, c, b]).collect();
        assert!(!is_inside_out(&cube) && is_inside_out(&solid(&corners, &inverted)));
    }
}
