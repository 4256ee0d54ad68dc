//! Buckets divided into cells, and the particles of a Bucket sorted by them.

use glam::Vec3;

/// How a Bucket is divided: into `edge`³ cells, x slowest, z fastest.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cells {
    /// Cells along an axis.
    pub edge: usize,
    /// The width of a Bucket [m].
    pub bucket: f32,
    per_metre: f32,
}

/// More cells than this along an axis would cost more to look at than the particles in them.
const MAX_EDGE: f64 = 16.0;

/// What rounding may do to an offset or to a cell's border, in widths of a Bucket. An offset is wrong by
/// 2⁻²³ at most, each of two borders too, the square of a distance by 2⁻²⁴ of it.
const ROUNDING: f64 = 1.0 / (1 << 21) as f64;

impl Cells {
    /// Cells as wide as `radius` at least, in a Bucket `bucket` wide [m], and the distance [m] up to
    /// which particles are neighbours.
    ///
    /// That is the radius, unless cells are just as wide: then it is less by a two-millionth of the
    /// Bucket, so that no rounding can bring two particles near which are not in adjacent cells.
    pub fn new(bucket: f64, radius: f64) -> (Self, f32) {
        let edge = (bucket * (1.0 + ROUNDING / 2.0) / radius).floor().clamp(1.0, MAX_EDGE);
        let cells =
            Self { edge: edge as usize, bucket: bucket as f32, per_metre: (edge / bucket) as f32 };
        // A single cell has no borders but the Bucket's own, which are exact.
        let safe = if edge > 1.0 { bucket / edge - ROUNDING * bucket } else { radius };
        (cells, radius.min(safe) as f32)
    }

    /// How many cells there are.
    pub fn count(&self) -> usize {
        self.edge.pow(3)
    }

    /// The cell of an offset from the Bucket's corner, along each axis.
    #[inline]
    pub fn of(&self, offset: Vec3) -> [usize; 3] {
        let last = self.edge as i32 - 1;
        // The conversion saturates, so that whatever the offset is, this is a cell.
        (offset * self.per_metre).to_array().map(|c| (c as i32).clamp(0, last) as usize)
    }

    /// The place of a cell.
    #[inline]
    pub fn index(&self, [x, y, z]: [usize; 3]) -> usize {
        (x * self.edge + y) * self.edge + z
    }
}

/// The particles of a Bucket by cell: those of cell `c` are `places[starts[c]..starts[c + 1]]`, ascending.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    pub starts: Vec<u32>,
    pub places: Vec<u32>,
}

impl Sorted {
    /// Sorts the particles at these offsets from their Bucket's corner.
    pub fn sort(&mut self, cells: &Cells, offsets: &[Vec3]) {
        self.starts.clear();
        self.starts.resize(cells.count() + 1, 0);
        for &offset in offsets {
            self.starts[cells.index(cells.of(offset))] += 1;
        }
        // Each start becomes its cell's end, and is counted down again as the cell is filled.
        let mut end = 0;
        for start in &mut self.starts {
            end += *start;
            *start = end;
        }
        self.places.clear();
        self.places.resize(offsets.len(), 0);
        for (place, &offset) in offsets.iter().enumerate().rev() {
            let start = &mut self.starts[cells.index(cells.of(offset))];
            *start -= 1;
            self.places[*start as usize] = place as u32;
        }
    }

    /// The places of the particles in a cell.
    pub fn cell(&self, cell: usize) -> &[u32] {
        &self.places[self.starts[cell] as usize..self.starts[cell + 1] as usize]
    }

    /// The particles of a Bucket, sorted, if that is worth keeping: a table must not cost more than the
    /// particles that it is for.
    pub fn worth_keeping(cells: &Cells, offsets: &[Vec3]) -> Option<Self> {
        (offsets.len() >= cells.count() / 8 && offsets.len() > 1).then(|| {
            let mut sorted = Self::default();
            sorted.sort(cells, offsets);
            sorted
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_as_wide_as_the_distance_and_a_radius_that_divides_the_bucket_is_not_wasted() {
        for (radius, edge) in [
            (8.0, 1),
            (5.0, 1),
            (4.0, 2),
            (2.0, 4),
            (1.0, 8),
            (0.964, 8),
            (8.0 / 3.0, 3),
            (1e-9, 16),
        ] {
            let (cells, reach) = Cells::new(8.0, radius);
            assert_eq!(cells.edge, edge, "radius {radius}");
            assert!(f64::from(reach) <= 8.0 / edge as f64);
            assert!(f64::from(reach) >= radius - 8.0 * ROUNDING * 1.5, "radius {radius}");
        }
        assert_eq!(Cells::new(8.0, 0.964).1, 0.964);
        assert_eq!(Cells::new(8.0, 8.0).1, 8.0);
    }

    #[test]
    fn any_offset_has_a_cell() {
        let (cells, _) = Cells::new(0.8, 0.1);
        for offset in [f32::NAN, f32::INFINITY, -1.0, 0.0, 0.8, 1e30] {
            assert!(cells.index(cells.of(Vec3::splat(offset))) < cells.count());
        }
    }

    #[test]
    fn sorting_keeps_the_order_within_a_cell() {
        let (cells, _) = Cells::new(8.0, 4.0);
        let offsets = [7.0, 1.0, 7.5, 2.0].map(|x| Vec3::new(x, 1.0, 1.0));
        let sorted = Sorted::worth_keeping(&cells, &offsets).unwrap();
        assert_eq!(sorted.cell(0), [1, 3]);
        assert_eq!(sorted.cell(4), [0, 2]);
        assert_eq!(sorted.cell(7), []);
    }
}
