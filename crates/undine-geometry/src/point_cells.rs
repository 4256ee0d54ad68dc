//! Points that come one after the other, kept by cubic cells, so that near ones are found at once.

use crate::error::{GeometryError, Result};
use undine_core::glam::{DVec3, I64Vec3};
use undine_core::mesh::Bounds;

/// Points by cells of a fixed side, in chains by the hash of their cell. Cells that share a chain only cost time,
/// since every point met is measured.
#[derive(Debug)]
pub(crate) struct PointCells {
    origin: DVec3,
    side: f64,
    points: Vec<DVec3>,
    /// The last point of each chain, and the one before each point.
    last: Vec<u32>,
    before: Vec<u32>,
}

const NONE: u32 = u32::MAX;

/// Beyond so many cells along an axis their numbers are no longer exact enough.
const MOST_CELLS: f64 = (1_u64 << 40) as f64;

impl PointCells {
    /// Cells of a positive `side` [m] for points within `bounds`. `what` names the side in an error.
    pub fn new(bounds: &Bounds, side: f64, what: &'static str) -> Result<Self> {
        if bounds.size().max_element() > MOST_CELLS * side {
            let wanted = "at least 1e-12 of the extent of the mesh or solid";
            return Err(GeometryError::BadParameter { what, found: side, wanted });
        }
        let last = vec![NONE; 64];
        Ok(Self { origin: bounds.min, side, points: Vec::new(), last, before: Vec::new() })
    }

    /// The points, in the order in which they came.
    pub fn points(&self) -> &[DVec3] {
        &self.points
    }

    /// Adds a point.
    pub fn push(&mut self, point: DVec3) {
        self.points.push(point);
        self.before.push(NONE);
        if self.points.len() > self.last.len() {
            self.last = vec![NONE; 4 * self.last.len()];
            (0..self.points.len()).for_each(|number| self.chain(number));
        } else {
            self.chain(self.points.len() - 1);
        }
    }

    fn chain(&mut self, number: usize) {
        let slot = self.slot(self.cell(self.points[number]));
        self.before[number] = std::mem::replace(&mut self.last[slot], number as u32);
    }

    /// Every point in the cells that the ball around `at` touches, some perhaps twice; the first answer is returned.
    ///
    /// The ball is asked a little larger than it is, so that rounding hides no point.
    pub fn find<T>(
        &self,
        at: DVec3,
        radius: f64,
        mut ask: impl FnMut(u32, DVec3) -> Option<T>,
    ) -> Option<T> {
        let reach = DVec3::splat(radius + self.side * 1e-3);
        let (low, high) = (self.cell(at - reach), self.cell(at + reach));
        for x in low.x..=high.x {
            for y in low.y..=high.y {
                for z in low.z..=high.z {
                    let mut number = self.last[self.slot(I64Vec3::new(x, y, z))];
                    while number != NONE {
                        let found = ask(number, self.points[number as usize]);
                        if found.is_some() {
                            return found;
                        }
                        number = self.before[number as usize];
                    }
                }
            }
        }
        None
    }

    /// Whether a point lies nearer to `at` than `radius`.
    pub fn any_nearer(&self, at: DVec3, radius: f64) -> bool {
        let nearer = |point: DVec3| point.distance_squared(at) < radius * radius;
        self.find(at, radius, |_, point| nearer(point).then_some(())).is_some()
    }

    #[inline]
    fn cell(&self, point: DVec3) -> I64Vec3 {
        ((point - self.origin) / self.side).floor().as_i64vec3()
    }

    /// The chain of a cell, by the highest bits of a sum of odd multiples (Fibonacci hashing; Knuth, 6.4).
    #[inline]
    fn slot(&self, cell: I64Vec3) -> usize {
        let sum = (cell.x as u64)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .wrapping_add((cell.y as u64).wrapping_mul(0xc2b2_ae3d_27d4_eb4f))
            .wrapping_add((cell.z as u64).wrapping_mul(0x1656_67b1_9e37_79f9));
        let mixed = (sum ^ (sum >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> (64 - self.last.len().trailing_zeros())) as usize
    }
}
