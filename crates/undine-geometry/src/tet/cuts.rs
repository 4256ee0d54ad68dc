//! Where edges of the lattice pass the surface.

use super::lattice::{EDGES, Lattice, NONE, Tile};
use super::stencils::Side;
use crate::solid::Solid;
use rayon::prelude::*;
use undine_core::glam::DVec3;

/// A point where an edge passes the surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cut {
    /// The nodes of its edge: inside, outside.
    pub ends: [u32; 2],
    /// How far along the edge it is, from the inside: 0 .. 1.
    pub fraction: f64,
    /// Whether the edge is one of the long ones.
    pub long: bool,
    /// Where it is [m].
    pub position: DVec3,
}

/// The cuts of a lattice, ascending by their ends.
#[derive(Debug)]
pub(super) struct Cuts(Vec<Cut>);

impl Cuts {
    /// One cut for every edge with one end inside and one outside.
    pub fn find(lattice: &Lattice, sides: &[Side], solid: &dyn Solid) -> Self {
        let mut cuts: Vec<Cut> = (0..lattice.block_count())
            .into_par_iter()
            .flat_map_iter(|slot| {
                let tile = lattice.tile(slot);
                let mut found = Vec::new();
                for cube in Tile::cubes() {
                    for edge in &EDGES {
                        let [a, b] = edge.ends.map(|place| tile.node(cube, place));
                        if a == NONE || b == NONE {
                            continue;
                        }
                        let ends = match [sides[a as usize], sides[b as usize]] {
                            [Side::Inside, Side::Outside] => [a, b],
                            [Side::Outside, Side::Inside] => [b, a],
                            _ => continue,
                        };
                        let [from, to] = ends.map(|node| lattice.position(node));
                        let fraction = crossing(|t| solid.distance(from + t * (to - from)));
                        let position = from + fraction * (to - from);
                        found.push(Cut { ends, fraction, long: edge.long, position });
                    }
                }
                found
            })
            .collect();
        cuts.par_sort_unstable_by_key(|cut| cut.ends);
        Self(cuts)
    }

    /// Those whose ends are still inside and outside.
    pub fn remaining(self, sides: &[Side]) -> Self {
        let on = |node: u32| sides[node as usize] == Side::On;
        Self(self.0.into_iter().filter(|cut| !cut.ends.iter().any(|&node| on(node))).collect())
    }

    /// The number of the cut between these nodes, inside and outside.
    pub fn number(&self, ends: [u32; 2]) -> Option<u32> {
        self.0.binary_search_by_key(&ends, |cut| cut.ends).ok().map(|number| number as u32)
    }

    /// All of them.
    pub fn all(&self) -> &[Cut] {
        &self.0
    }
}

/// A place in 0 .. 1 where a function that is negative at 0 and positive at 1 crosses zero.
///
/// Where the function jumps, the place is that of the jump. The method is the false position of Dowell and Jarratt
/// 1971 ("Illinois"), with a bisection where three steps of it did not halve the bracket.
fn crossing(f: impl Fn(f64) -> f64) -> f64 {
    let mut low = End { at: 0.0, value: f(0.0), weight: 1.0, moved: false };
    let mut high = End { at: 1.0, value: f(1.0), weight: 1.0, moved: false };
    let tiny = 1e-15 * (high.value - low.value);
    let mut last_width = f64::INFINITY;
    for step in 1.. {
        let width = high.at - low.at;
        let lags = step % 3 == 0 && width > 0.5 * last_width;
        if step % 3 == 0 {
            last_width = width;
        }
        let [below, above] = [&low, &high].map(|end| end.weight * end.value);
        let mut middle = low.at + width * (below / (below - above));
        // What is not a number fails both.
        if lags || !(middle > low.at && middle < high.at) {
            middle = 0.5 * (low.at + high.at);
        }
        if width <= 4.0 * f64::EPSILON || middle <= low.at || middle >= high.at {
            break;
        }
        let value = f(middle);
        if value.abs() <= tiny {
            return middle;
        }
        // An end that stays twice counts for half, so that it will be passed.
        let [moved, kept] = if value < 0.0 { [&mut low, &mut high] } else { [&mut high, &mut low] };
        if moved.moved {
            kept.weight *= 0.5;
        }
        *moved = End { at: middle, value, weight: 1.0, moved: true };
        kept.moved = false;
    }
    if low.value.abs() < high.value.abs() { low.at } else { high.at }
}

/// An end of a bracket.
struct End {
    at: f64,
    value: f64,
    /// What its value counts for when a line is drawn through both ends.
    weight: f64,
    /// Whether it was the last to move.
    moved: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn crossings_are_found_to_the_last_bits_in_few_steps() {
        type Case = (fn(f64) -> f64, f64, usize);
        let functions: [Case; 6] = [
            (|t| t - 0.3, 0.3, 4),
            (|t| t * t - 0.25, 0.5, 12),
            (|t| (t - 0.7).powi(3), 0.7, 120),
            (|t| if t < 0.123 { -1.0 } else { 5.0 }, 0.123, 120),
            (|t| t.powi(20) - 1e-6, 1e-6_f64.powf(0.05), 40),
            (|t| if t > 0.0 { 1e300 } else { -1e-300 }, 0.0, 120),
        ];
        for (n, (f, wanted, most)) in functions.into_iter().enumerate() {
            let calls = Cell::new(0);
            let found = crossing(|t| {
                calls.set(calls.get() + 1);
                f(t)
            });
            assert!((found - wanted).abs() < 1e-5, "{n}: {found} instead of {wanted}");
            // Either the place is exact, or the value there is nothing.
            let nothing = f(found).abs() <= 1e-15 * (f(1.0) - f(0.0));
            assert!((found - wanted).abs() < 1e-14 || nothing, "{n}: {found} instead of {wanted}");
            assert!(calls.get() <= most, "{n}: {} calls", calls.get());
        }
        assert!(crossing(|_| f64::NAN).is_finite());
    }
}
