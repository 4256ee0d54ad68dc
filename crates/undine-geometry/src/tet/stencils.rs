//! What is left of one tetrahedron of the lattice inside of the surface: the stencils of Labelle and Shewchuk,
//! *Isosurface Stuffing* (2007), section 3.
//!
//! They are not a table: every case is a tetrahedron, a pyramid or a prism, and only the diagonals of the
//! quadrilaterals matter. A diagonal between two tetrahedra of the lattice follows from their common face alone, so
//! that the tetrahedra of both meet.

/// Where a node of the lattice is, after warping.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Side {
    /// Inside of the surface.
    Inside,
    /// On it.
    On,
    /// Outside of it.
    Outside,
}

/// A corner of a tetrahedron that a stencil makes, by corners of the tetrahedron of the lattice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Corner {
    /// This corner itself.
    Node(u8),
    /// The cut point on the edge from this corner inside to that one outside.
    Cut(u8, u8),
}

use Corner::{Cut, Node};

/// At most three tetrahedra.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Filling {
    cells: [[Corner; 4]; 3],
    count: u8,
}

impl Filling {
    /// The tetrahedra.
    pub fn cells(&self) -> &[[Corner; 4]] {
        &self.cells[..self.count as usize]
    }

    /// These tetrahedra, each turned as the one of the lattice is.
    fn of(cells: &[[Corner; 4]]) -> Self {
        let mut filling = Self { cells: [[Node(0); 4]; 3], count: cells.len() as u8 };
        for (to, &cell) in filling.cells.iter_mut().zip(cells) {
            *to = turned(cell);
        }
        filling
    }
}

/// Whether two corners of a tetrahedron of the lattice are joined by one of its two long edges, 01 and 23.
#[inline]
fn long(a: u8, b: u8) -> bool {
    a ^ b == 1
}

/// What a tetrahedron of the lattice holds of the inside. Its long edges are 01 and 23.
///
/// `even` tells, of two corners that a short edge joins, whether the first has an even number of coordinates that
/// are greater than those of the second.
pub(super) fn fill(sides: [Side; 4], even: impl Fn(u8, u8) -> bool) -> Filling {
    let mut found = [[0_u8; 4]; 3];
    let mut counts = [0; 3];
    for (corner, side) in (0..).zip(sides) {
        let side = side as usize;
        found[side][counts[side]] = corner;
        counts[side] += 1;
    }
    let [inside, on, outside] = found;
    let rule = Diagonals { even };
    match (counts[0], counts[2]) {
        (0, _) => Filling::of(&[]),
        (_, 0) => Filling::of(&[[Node(0), Node(1), Node(2), Node(3)]]),
        (1, _) => {
            let p = inside[0];
            Filling::of(&[[0, 1, 2, 3].map(|k| match sides[k as usize] {
                Side::Outside => Cut(p, k),
                _ => Node(k),
            })])
        }
        (2, 1) => rule.pyramid([inside[0], inside[1]], on[0], outside[0]),
        (2, _) => rule.wedge([inside[0], inside[1]], [outside[0], outside[1]]),
        _ => rule.truncated([inside[0], inside[1], inside[2]], outside[0]),
    }
}

/// How the quadrilaterals are divided.
struct Diagonals<F> {
    even: F,
}

impl<F: Fn(u8, u8) -> bool> Diagonals<F> {
    /// Whether `p` rather than `q` is an end of the diagonal of the quadrilateral that is left of the face p, q, n,
    /// of which n is outside.
    ///
    /// Of a long and a short edge that are cut, the cut of the long edge is the other end. Two short edges look
    /// the same: the Parity Rule takes the corner with an even number of coordinates greater than those of n,
    /// which is always one of p and q.
    fn begins_at_first(&self, p: u8, q: u8, n: u8) -> bool {
        if long(p, q) { (self.even)(p, n) } else { long(q, n) }
    }

    /// p and q inside, z on the surface, n outside: a pyramid over what is left of the face p, q, n.
    fn pyramid(&self, [p, q]: [u8; 2], z: u8, n: u8) -> Filling {
        let [a, b] = if self.begins_at_first(p, q, n) { [p, q] } else { [q, p] };
        Filling::of(&[
            [Node(a), Node(b), Cut(b, n), Node(z)],
            [Node(a), Cut(b, n), Cut(a, n), Node(z)],
        ])
    }

    /// p and q inside, n and m outside: a prism between what is cut off at p and at q.
    fn wedge(&self, [p, q]: [u8; 2], [n, m]: [u8; 2]) -> Filling {
        // Of the two quadrilaterals at p, the diagonal of one begins there and that of the other ends there, always.
        // The diagonal of the third, which lies on the surface, is the one for which the three do not run in a circle:
        // such a prism could not be divided.
        let towards_n = self.begins_at_first(p, q, n);
        debug_assert_ne!(towards_n, self.begins_at_first(p, q, m));
        let [n, m] = if towards_n { [n, m] } else { [m, n] };
        // Diagonals begin: at the cut to m both of its own, at p the one towards n.
        prism([Cut(p, m), Node(p), Cut(p, n)], [Cut(q, m), Node(q), Cut(q, n)])
    }

    /// Three corners inside: a prism between them and their cuts.
    fn truncated(&self, inside: [u8; 3], n: u8) -> Filling {
        // The corner that a long edge joins to n beats none or both of the others, so there is no circle.
        let mut order = inside;
        let wins =
            |a: u8| inside.iter().filter(|&&b| b != a && self.begins_at_first(a, b, n)).count();
        order.sort_by_key(|&a| std::cmp::Reverse(wins(a)));
        prism(order.map(Node), order.map(|a| Cut(a, n)))
    }
}

/// A prism between two triangles whose diagonals begin at the first: both of them at its first corner, one at
/// its second.
fn prism([a, b, c]: [Corner; 3], [d, e, f]: [Corner; 3]) -> Filling {
    Filling::of(&[[a, d, e, f], [a, b, c, f], [a, b, f, e]])
}

/// The tetrahedron with two corners exchanged if it is turned otherwise than the one of the lattice.
fn turned(cell: [Corner; 4]) -> [Corner; 4] {
    // Twice the barycentric coordinates, with all cuts in the middle.
    let rows = cell.map(|corner| {
        let mut row = [0_i32; 4];
        let (a, b) = match corner {
            Node(a) => (a, a),
            Cut(a, b) => (a, b),
        };
        row[a as usize] += 1;
        row[b as usize] += 1;
        row
    });
    let [a, b, c, d] = cell;
    if determinant(rows) > 0 { cell } else { [a, b, d, c] }
}

fn determinant([a, b, c, d]: [[i32; 4]; 4]) -> i32 {
    let two = |p: [i32; 4], q: [i32; 4], i: usize, j: usize| p[i] * q[j] - p[j] * q[i];
    two(a, b, 0, 1) * two(c, d, 2, 3) - two(a, b, 0, 2) * two(c, d, 1, 3)
        + two(a, b, 0, 3) * two(c, d, 1, 2)
        + two(a, b, 1, 2) * two(c, d, 0, 3)
        - two(a, b, 1, 3) * two(c, d, 0, 2)
        + two(a, b, 2, 3) * two(c, d, 0, 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random;
    use crate::tet::quality::{dihedral_angles, volume};
    use crate::tet::stuffing::{ALPHA_LONG, ALPHA_SHORT, MAX_DIHEDRAL, MIN_DIHEDRAL};
    use undine_core::glam::DVec3;

    /// A tetrahedron of the lattice.
    const CORNERS: [DVec3; 4] = [
        DVec3::new(-0.5, 0.0, 0.0),
        DVec3::new(0.5, 0.0, 0.0),
        DVec3::new(0.0, 0.5, -0.5),
        DVec3::new(0.0, 0.5, 0.5),
    ];

    /// The edges of a node.
    fn edges() -> Vec<DVec3> {
        let long = [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| [axis, -axis]);
        let short = (0..8).map(|n| {
            DVec3::from_array([0, 1, 2].map(|bit| if n >> bit & 1 == 1 { 0.5 } else { -0.5 }))
        });
        long.into_iter().flatten().chain(short).collect()
    }

    fn alpha(edge: DVec3) -> f64 {
        if edge.length_squared() > 0.9 { ALPHA_LONG } else { ALPHA_SHORT }
    }

    /// A node and the edge along which it moved.
    type Move = (DVec3, DVec3);

    /// Whether nodes can have moved like this: two that a move joins were on different sides, and did not both
    /// move along the edge between them.
    fn possible(moves: &[Move]) -> bool {
        let key = |at: DVec3| (at * 2.0).as_ivec3().to_array();
        let mut nodes: Vec<[i32; 3]> =
            moves.iter().flat_map(|&(from, along)| [key(from), key(from + along)]).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let number = |at: DVec3| nodes.binary_search(&key(at)).unwrap();
        let differ = |sides: u32, &(from, along): &Move| {
            (sides >> number(from) ^ sides >> number(from + along)) & 1 == 1
        };
        let opposed = |&(from, along): &Move| moves.contains(&(from + along, -along));
        !moves.iter().any(opposed)
            && (0..1 << nodes.len()).any(|sides| moves.iter().all(|way| differ(sides, way)))
    }

    /// The least and the largest angle [rad] and the least volume.
    #[derive(Debug, Clone, Copy)]
    struct Worst(f64, f64, f64);

    impl Worst {
        const NONE: Self = Self(f64::INFINITY, 0.0, f64::INFINITY);

        fn and(self, other: Self) -> Self {
            Self(self.0.min(other.0), self.1.max(other.1), self.2.min(other.2))
        }
    }

    /// The worst of a stencil whose cuts are so far along what α leaves of their edges.
    fn worst(filling: &Filling, at: [DVec3; 4], fraction: impl Fn(u8, u8) -> f64) -> Worst {
        let place = |corner: Corner| match corner {
            Node(k) => at[k as usize],
            Cut(p, n) => {
                let [from, to] = [p, n].map(|k| at[k as usize]);
                let alpha = alpha(to - from);
                from + (to - from) * (alpha + (1.0 - 2.0 * alpha) * fraction(p, n))
            }
        };
        filling.cells().iter().fold(Worst::NONE, |worst, cell| {
            let corners = cell.map(place);
            let of_angle = |angle| Worst(angle, angle, volume(corners));
            dihedral_angles(corners).map(of_angle).into_iter().fold(worst, Worst::and)
        })
    }

    /// Over all sides of the corners: those on the surface moved along each of their edges as far as they can be, or
    /// not at all, and cuts as near to each end as they can be; then both anywhere between.
    fn worst_of_all(lattice: [DVec3; 4]) -> Worst {
        let edges = edges();
        let even = |a: u8, b: u8| {
            let greater = lattice[a as usize].cmpgt(lattice[b as usize]);
            greater.bitmask().count_ones().is_multiple_of(2)
        };
        let mut all = Worst::NONE;
        for pattern in 0..81_usize {
            let sides = [1, 3, 9, 27]
                .map(|power| [Side::Inside, Side::On, Side::Outside][pattern / power % 3]);
            let rank = |k: usize, of: Side| sides[..k].iter().filter(|&&side| side == of).count();
            let filling = fill(sides, even);
            if filling.cells().is_empty() {
                continue;
            }
            let ways = (edges.len() + 1).pow(rank(4, Side::On) as u32);
            for way in 0..ways {
                let mut rest = way;
                let mut moves = [None; 4];
                for k in (0..4).filter(|&k| sides[k] == Side::On) {
                    moves[k] = edges.get(rest % (edges.len() + 1)).copied();
                    rest /= edges.len() + 1;
                }
                let made: Vec<Move> =
                    (0..4).filter_map(|k| Some((lattice[k], moves[k]?))).collect();
                if !possible(&made) {
                    continue;
                }
                for trial in 0..20 {
                    let seed = ((pattern * ways + way) * 20 + trial) as u64;
                    let anywhere = |number: u64| random::unit(seed, number);
                    let at = std::array::from_fn(|k| {
                        let far = if trial < 16 { 1.0 } else { anywhere(k as u64) };
                        lattice[k] + moves[k].map_or(DVec3::ZERO, |edge| edge * alpha(edge) * far)
                    });
                    let fraction = |p: u8, n: u8| {
                        let [p, n] = [p, n].map(usize::from);
                        let bit =
                            rank(p, Side::Inside) * rank(4, Side::Outside) + rank(n, Side::Outside);
                        if trial < 16 {
                            (trial >> bit & 1) as f64
                        } else {
                            anywhere((4 + 4 * p + n) as u64)
                        }
                    };
                    all = all.and(worst(&filling, at, fraction));
                }
            }
        }
        all
    }

    #[test]
    fn whatever_warping_and_cutting_do_angles_stay_in_their_bounds() {
        // The lattice has the mirror image as well.
        let [a, b, c, d] = CORNERS.map(|corner| corner * DVec3::new(1.0, 1.0, -1.0));
        let worst = worst_of_all(CORNERS).and(worst_of_all([a, b, d, c]));
        assert!(worst.0 > MIN_DIHEDRAL && worst.1 < MAX_DIHEDRAL, "{worst:?}");
        assert!(worst.2 > 1e-3, "{worst:?}");
        // They are bounds of what happens, not wide ones.
        assert!(worst.0 < 1.01 * MIN_DIHEDRAL && worst.1 > 0.99 * MAX_DIHEDRAL, "{worst:?}");
    }

    #[test]
    fn stencils_of_all_sides_fill_what_is_inside() {
        // With cuts in the middle, the inside and the outside of a tetrahedron without nodes on the surface make
        // it whole, and both are turned as it is.
        let even = |a: u8, b: u8| {
            let greater = CORNERS[a as usize].cmpgt(CORNERS[b as usize]);
            greater.bitmask().count_ones().is_multiple_of(2)
        };
        let inside_of = |sides| {
            let filling = fill(sides, even);
            let place = |corner: Corner| match corner {
                Node(k) => CORNERS[k as usize],
                Cut(p, n) => 0.5 * (CORNERS[p as usize] + CORNERS[n as usize]),
            };
            filling.cells().iter().map(|cell| volume(cell.map(place))).sum::<f64>()
        };
        for pattern in 0..16 {
            let sides = |swap: u32| {
                [0, 1, 2, 3].map(|k| match (pattern >> k & 1) ^ swap {
                    0 => Side::Inside,
                    _ => Side::Outside,
                })
            };
            let whole = inside_of(sides(0)) + inside_of(sides(1));
            assert!((whole - volume(CORNERS)).abs() < 1e-15, "{pattern}: {whole}");
        }
    }
}
