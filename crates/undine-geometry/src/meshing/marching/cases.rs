//! What the surface does in a cube, for each of the 256 ways its corners can lie: triangles over the cube's edges.
//!
//! The table is traced, not typed. On each face, a segment cuts off every run of corners inside, so that corners inside are apart
//! where they could also be joined; both cubes at a face decide so, and agree. Segments make closed loops, and loops are
//! cut into triangles along diagonals that lie on no face: a diagonal on a face could be an edge of the cube next door as well, and
//! four triangles would meet there.

use std::sync::OnceLock;

/// The triangles of every case.
pub(super) struct Cases {
    starts: [u16; 257],
    triangles: Vec<[u8; 3]>,
}

impl Cases {
    /// Traced once.
    pub fn get() -> &'static Self {
        static CASES: OnceLock<Cases> = OnceLock::new();
        CASES.get_or_init(Self::traced)
    }

    /// The triangles of a case, by numbers of edges; bit n of the case is set if corner n lies inside. Seen from outside they
    /// turn to the left.
    #[inline]
    pub fn of(&self, case: u8) -> &[[u8; 3]] {
        let case = usize::from(case);
        &self.triangles[usize::from(self.starts[case])..usize::from(self.starts[case + 1])]
    }

    fn traced() -> Self {
        let mut starts = [0; 257];
        let mut triangles = Vec::new();
        for case in 0..256 {
            for ring in loops(case as u8) {
                let mut cut = Vec::new();
                let found = triangulate(&ring, &mut cut);
                debug_assert!(found, "case {case} has no triangles without diagonals on a face");
                triangles.append(&mut cut);
            }
            starts[case + 1] = triangles.len() as u16;
        }
        Self { starts, triangles }
    }
}

/// The axis of an edge, and its lower corner as offsets along x, y and z. Edge 4a + n runs along axis a.
#[inline]
pub(super) const fn edge(number: u8) -> (usize, [usize; 3]) {
    let axis = (number >> 2) as usize;
    let [u, v] = [(number >> 1 & 1) as usize, (number & 1) as usize];
    let corner = match axis {
        0 => [0, u, v],
        1 => [u, 0, v],
        _ => [u, v, 0],
    };
    (axis, corner)
}

/// The corner at offsets along x, y and z: bits in that order, z the lowest.
const fn corner(at: [usize; 3]) -> usize {
    at[0] << 2 | at[1] << 1 | at[2]
}

/// The edge between two corners that differ along one axis.
fn edge_between(a: usize, b: usize) -> u8 {
    let (low, along) = (a & b, a ^ b);
    let [x, y, z] = [low >> 2 & 1, low >> 1 & 1, low & 1];
    match along {
        4 => (y << 1 | z) as u8,
        2 => 4 + (x << 1 | z) as u8,
        _ => 8 + (x << 1 | y) as u8,
    }
}

/// The corners of each face, turning to the left seen from outside of the cube.
fn faces() -> [[usize; 4]; 6] {
    std::array::from_fn(|face| {
        let (axis, side) = (face >> 1, face & 1);
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let at = |a: usize, b: usize| {
            let mut at = [0; 3];
            at[axis] = side;
            at[u] = a;
            at[v] = b;
            corner(at)
        };
        let ring = [at(0, 0), at(1, 0), at(1, 1), at(0, 1)];
        if side == 1 { ring } else { [ring[3], ring[2], ring[1], ring[0]] }
    })
}

/// The closed lines in which the surface meets the faces of a cube.
fn loops(case: u8) -> Vec<Vec<u8>> {
    let inside = |corner: usize| case >> corner & 1 != 0;
    const NONE: u8 = u8::MAX;
    let mut next = [NONE; 12];
    for ring in faces() {
        for first in 0..4 {
            let enters = !inside(ring[first]) && inside(ring[(first + 1) % 4]);
            if !enters {
                continue;
            }
            // Along the corners inside, to where they end.
            let mut last = (first + 1) % 4;
            while inside(ring[(last + 1) % 4]) {
                last = (last + 1) % 4;
            }
            let from = edge_between(ring[first], ring[(first + 1) % 4]);
            let to = edge_between(ring[last], ring[(last + 1) % 4]);
            next[usize::from(from)] = to;
        }
    }
    let mut found = Vec::new();
    for start in 0..12 {
        let mut ring = Vec::new();
        let mut at = start;
        while next[usize::from(at)] != NONE {
            ring.push(at);
            at = std::mem::replace(&mut next[usize::from(at)], NONE);
        }
        if !ring.is_empty() {
            found.push(ring);
        }
    }
    found
}

/// Whether two edges lie on one face.
fn share_a_face(a: u8, b: u8) -> bool {
    let faces_of = |number: u8| {
        let (axis, at) = edge(number);
        (0..3)
            .filter(|&other| other != axis)
            .fold(0_u8, |mask, other| mask | 1 << (2 * other + at[other]))
    };
    faces_of(a) & faces_of(b) != 0
}

/// Cuts a loop into triangles along diagonals that lie on no face, if that is possible.
fn triangulate(ring: &[u8], to: &mut Vec<[u8; 3]>) -> bool {
    let [first, .., last] = *ring else { return true };
    if ring.len() < 3 {
        return true;
    }
    // The triangle at the side from the last to the first, and what is left on both sides of it.
    for middle in 1..ring.len() - 1 {
        let apex = ring[middle];
        let is_free = |from: u8, beside: bool| beside || !share_a_face(from, apex);
        if !(is_free(first, middle == 1) && is_free(last, middle + 2 == ring.len())) {
            continue;
        }
        let before = to.len();
        if triangulate(&ring[..=middle], to) && triangulate(&ring[middle..], to) {
            to.push([first, apex, last]);
            return true;
        }
        to.truncate(before);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use undine_core::glam::DVec3;

    fn middle(number: u8) -> DVec3 {
        let (axis, at) = edge(number);
        let mut place = DVec3::from_array(at.map(|n| n as f64));
        place[axis] = 0.5;
        place
    }

    #[test]
    fn every_case_has_triangles_without_diagonals_on_a_face() {
        for case in 0..=255 {
            for ring in loops(case) {
                assert!(ring.len() >= 3, "case {case}: {ring:?}");
                assert!(triangulate(&ring, &mut Vec::new()), "case {case}: {ring:?}");
            }
        }
    }

    #[test]
    fn every_edge_that_crosses_is_used_and_no_other() {
        for case in 0..=255_u8 {
            let used: std::collections::BTreeSet<u8> =
                Cases::get().of(case).iter().flatten().copied().collect();
            let crossing = (0..12).filter(|&number| {
                let (axis, at) = edge(number);
                let low = corner(at);
                let high = low | [4, 2, 1][axis];
                (case >> low & 1) != (case >> high & 1)
            });
            assert_eq!(used, crossing.collect(), "case {case}");
        }
    }

    #[test]
    fn triangles_face_away_from_the_inside() {
        for n in 0..8_usize {
            let place = DVec3::new((n >> 2) as f64, (n >> 1 & 1) as f64, (n & 1) as f64);
            let [a, b, c] = Cases::get().of(1 << n)[0].map(middle);
            assert!((b - a).cross(c - a).dot(a - place) > 0.0, "corner {n}");
        }
    }
}
