//! Colliders that the subject is inside of: drawn as their far walls and their edges, so that they do not hide it.

use super::contents::Solid;
use std::collections::BTreeMap;
use undine_core::glam::DVec3;
use undine_core::mesh::Bounds;

/// Edges of a surface that are sharper than this are drawn: the cosine of 30°.
const SHARP: f64 = 0.866;

/// A surface with more edges than this is round, and has none that are worth drawing.
const MOST_EDGES: usize = 4096;

/// Whether a collider is around what the picture is about.
pub fn holds(collider: &Solid<'_>, subject: &Bounds) -> bool {
    let Some(bounds) = collider.bounds() else { return false };
    let slack = 0.05 * bounds.size();
    let middle = subject.centre();
    let inside = |place: DVec3| {
        place.cmpge(bounds.min - slack).all() && place.cmple(bounds.max + slack).all()
    };
    inside(subject.min) && inside(subject.max) && inside(middle)
}

/// The triangles that look away from an eye.
pub fn far_walls(solid: &Solid<'_>, eye: DVec3) -> Vec<[u32; 3]> {
    let looks_away = |corners: &&[u32; 3]| {
        let [a, b, c] = corners.map(|corner| solid.vertex(corner as usize));
        (b - a).cross(c - a).dot(eye - a) < 0.0
    };
    solid.triangles.iter().filter(looks_away).copied().collect()
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
    use crate::preview::contents::Role;
    use undine_render::shot::Places;

    fn cube(corners: &[DVec3; 8]) -> Solid<'_> {
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
            values: None,
        }
    }

    #[test]
    fn of_a_box_its_twelve_edges_and_three_far_walls_are_seen() {
        let corners = Bounds { min: DVec3::ZERO, max: DVec3::ONE }.corners();
        let cube = cube(&corners);
        assert_eq!(edges(&cube).len(), 12);
        let walls = far_walls(&cube, DVec3::splat(5.0));
        assert_eq!(walls.len(), 6);
        assert!(walls.iter().all(|corners| !corners.contains(&7)));
        assert!(holds(&cube, &Bounds { min: DVec3::splat(0.1), max: DVec3::splat(0.9) }));
        assert!(!holds(&cube, &Bounds { min: DVec3::splat(0.1), max: DVec3::splat(1.9) }));
    }
}
