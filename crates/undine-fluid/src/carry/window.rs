//! Copies of what lies around a Bucket, of no more of it than ways lead to, and read eight samples at a time.
//!
//! Ways may lead as far as through the next Bucket, and few do: to copy all of that would take longer than to read it.

use undine_core::access::VoxelNeighbourhood;
use undine_core::glam::Vec4;

/// How far ways may lead out of a Bucket, in voxels: through the next one.
pub const REACH: usize = 8;

/// Voxels along a window, and elements from slab to slab.
const WIDTH: usize = 8 + 2 * REACH;
const SLAB: usize = WIDTH * WIDTH;
/// Elements from the first of eight values around a place on, in rows of four. A slice of this length is checked once, and then
/// indexed without checks.
const AROUND: usize = SLAB + WIDTH + 4;

/// Eight numbers: of a row of samples along z.
pub type Row = [f32; 8];

/// A box of voxels, the lowest and the highest along each axis, from the first of a Bucket.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    low: [i32; 3],
    high: [i32; 3],
}

impl Extent {
    /// Around all places that lie between so many voxels from the samples of a Bucket, along each axis.
    pub fn of(from: [f32; 3], to: [f32; 3]) -> Self {
        // A place on a voxel may be taken for the end of the one before it.
        const SLACK: f32 = 1e-3;
        let reach = REACH as i32;
        let within = |voxel: f32| (voxel.floor() as i32).clamp(-reach, 7 + reach);
        Self {
            low: from.map(|from| within(from - SLACK)),
            high: to.map(|to| within(8.0 + to + SLACK)),
        }
    }
}

/// A copy of one channel around a Bucket. Places are counted in its samples, from the first of the Bucket.
pub struct Window(Vec<f32>);

impl Default for Window {
    fn default() -> Self {
        Self(vec![0.0; WIDTH * SLAB + 4])
    }
}

/// A number so large that its neighbours are one apart: what is added to it becomes a whole number in its last bits.
const ONE_APART: f32 = 1.5 * (1 << 23) as f32;
/// Those bits.
const WHOLE: u32 = (1 << 22) - 1;

/// Between which samples the places of a row lie.
pub struct Spots {
    /// The first of eight around each, as an element of a window; beyond all of them where a window does not reach.
    first: [u32; 8],
    /// How far it is from there to the next one along each axis, from 0 to 1.
    part: [Row; 3],
}

impl Spots {
    /// Those of places, by axis.
    #[inline(always)]
    pub fn of(places: [Row; 3]) -> Self {
        let mut first = [0.0; 8];
        let mut part = [[0.0; 8]; 3];
        let mut is_reached = [true; 8];
        let strides = [SLAB as f32, WIDTH as f32, 1.0];
        for axis in 0..3 {
            for n in 0..8 {
                let from = places[axis][n] + REACH as f32;
                // Without conversions, which take a processor as long as all the rest, as each has to look for what does not fit.
                let whole = ((from - 0.5) + ONE_APART) - ONE_APART;
                part[axis][n] = from - whole;
                first[n] += strides[axis] * whole;
                is_reached[n] &= (0.0..(WIDTH - 1) as f32).contains(&from);
            }
        }
        let element = |n: usize| match is_reached[n] {
            true => (first[n] + ONE_APART).to_bits() & WHOLE,
            false => u32::MAX,
        };
        Self { first: std::array::from_fn(element), part }
    }

    /// Whether a window reaches to one of the places.
    #[inline(always)]
    pub fn reach(&self, n: usize) -> bool {
        self.first[n] != u32::MAX
    }
}

impl Window {
    /// Takes over a part of what another Bucket has and what is around it, which is declared with a stencil of [`REACH`].
    pub fn load(&mut self, values: &VoxelNeighbourhood<'_, f32>, extent: &Extent) {
        let Extent { low, high } = *extent;
        let buckets = |axis: usize| low[axis] >> 3..=high[axis] >> 3;
        // The part of the extent that lies in a Bucket.
        let voxels =
            |axis: usize, bucket: i32| low[axis].max(8 * bucket)..=high[axis].min(8 * bucket + 7);
        for i in buckets(0) {
            for j in buckets(1) {
                for k in buckets(2) {
                    let chunk = values.neighbour(i, j, k);
                    for x in voxels(0, i) {
                        for y in voxels(1, j) {
                            let from = ((x & 7) << 6 | (y & 7) << 3) as usize;
                            let to = element(x, y, 8 * k);
                            // Whole rows of a Bucket, whose length the compiler knows.
                            let rows = (
                                self.0[to..].first_chunk_mut::<8>(),
                                chunk[from..].first_chunk::<8>(),
                            );
                            if let (Some(to), Some(from)) = rows {
                                *to = *from;
                            }
                        }
                    }
                }
            }
        }
    }

    /// A row of the Bucket, moved up by a voxel along an axis or not.
    #[inline(always)]
    pub fn row(&self, row: usize, up: Option<usize>) -> Row {
        let mut at = [(row >> 3) as i32, (row & 7) as i32, 0];
        if let Some(axis) = up {
            at[axis] += 1;
        }
        let start = element(at[0], at[1], at[2]);
        let mut values = [0.0; 8];
        values.copy_from_slice(&self.0[start..start + 8]);
        values
    }

    /// The values at places, by linear interpolation; not a number where the window does not reach.
    #[inline(always)]
    pub fn at(&self, spots: &Spots) -> Row {
        std::array::from_fn(|n| match self.around(spots, n) {
            Some(rows) => interpolate(&rows, spots.part.map(|part| part[n])),
            None => f32::NAN,
        })
    }

    /// One of them with the least and the largest of the eight values that it lies between; `None` where the window does not reach.
    #[inline(always)]
    pub fn at_with_bounds(&self, spots: &Spots, n: usize) -> Option<[f32; 3]> {
        let rows = self.around(spots, n)?;
        let [a, b, c, d] = rows;
        let (least, most) = (a.min(b).min(c.min(d)), a.max(b).max(c.max(d)));
        let value = interpolate(&rows, spots.part.map(|part| part[n]));
        Some([value, least.x.min(least.y), most.x.max(most.y)])
    }

    /// Rows along z from the eight values around a place, four wide though two count, so that they go through as one.
    #[inline(always)]
    fn around(&self, spots: &Spots, n: usize) -> Option<[Vec4; 4]> {
        let w = self.0.get(spots.first[n] as usize..)?.first_chunk::<AROUND>()?;
        Some([0, WIDTH, SLAB, SLAB + WIDTH].map(|at| Vec4::from_slice(&w[at..at + 4])))
    }
}

/// The element of a voxel.
fn element(x: i32, y: i32, z: i32) -> usize {
    let [x, y, z] = [x, y, z].map(|c| (c + REACH as i32) as usize);
    x * SLAB + y * WIDTH + z
}

/// Between eight values.
#[inline(always)]
fn interpolate([a, b, c, d]: &[Vec4; 4], [x, y, z]: [f32; 3]) -> f32 {
    let (low, high) = (a + x * (c - a), b + x * (d - b));
    let across = low + y * (high - low);
    across.x + z * (across.y - across.x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use undine_core::glam::{DVec3, Vec3};
    use undine_core::volume::VoxelShape;
    use undine_core::{
        Accessor, Bucket, BucketSet, ChannelSpec, DiscreteVolume, Frame, GridDomain,
    };

    fn linear(place: Vec3) -> f32 {
        place.dot(Vec3::new(1.0, -2.0, 0.5)) + 3.0
    }

    /// A window onto a linear field around a Bucket.
    fn window(extent: &Extent) -> Window {
        let mut domain = GridDomain::new("air", Frame::new(DVec3::ZERO, 0.1).unwrap());
        let all = (0..27).map(|n| Bucket::new(n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1));
        domain.set_buckets(&BucketSet::from_buckets(all).unwrap()).unwrap();
        let mut volume = DiscreteVolume::new("air", &domain);
        let spec = ChannelSpec::new("heat", 0.0_f32);
        let heat = volume.add_channel(&spec, VoxelShape::CELLS).unwrap();
        let work = Accessor::new("fill", &domain);
        work.run(volume.write(heat), |here, heat| {
            for (n, heat) in heat.iter_mut().enumerate() {
                let voxel = Vec3::new((n >> 6) as f32, (n >> 3 & 7) as f32, (n & 7) as f32);
                *heat = linear(voxel + 8.0 * here.bucket.coord.as_vec3());
            }
        })
        .unwrap();
        let windows = work
            .map(volume.around(heat, REACH as u8), |here, heat| {
                let mut window = Window(vec![f32::NAN; WIDTH * SLAB + 4]);
                window.load(&heat, extent);
                (here.bucket == Bucket::new(0, 0, 0)).then_some(window)
            })
            .unwrap();
        windows.into_iter().flatten().next().unwrap()
    }

    /// The field is at most 60, and a place is known to half of 2⁻¹⁹ voxels along each axis.
    #[test]
    fn a_linear_field_is_read_as_it_is_wherever_its_extent_reaches() {
        let (from, to) = ([-7.2, 0.3, -3.9], [-1.1, 7.5, 3.9]);
        let window = window(&Extent::of(from, to));
        for part in 0..=16 {
            let place = |axis: usize, n: usize| {
                let along = from[axis] + part as f32 / 16.0 * (to[axis] - from[axis]);
                along + if axis == 2 { n as f32 } else { (part * 7 / 16) as f32 }
            };
            let places: [Row; 3] =
                std::array::from_fn(|axis| std::array::from_fn(|n| place(axis, n)));
            let spots = Spots::of(places);
            for (n, found) in window.at(&spots).into_iter().enumerate() {
                let wanted = linear(Vec3::new(places[0][n], places[1][n], places[2][n]));
                assert!((found - wanted).abs() < 2e-5, "{found} {wanted}");
                let [same, least, most] = window.at_with_bounds(&spots, n).unwrap();
                assert_eq!(same, found);
                assert!(least <= found + 2e-5 && found <= most + 2e-5 && most - least < 3.6);
            }
        }
    }

    #[test]
    fn beyond_the_next_bucket_nothing_is_read() {
        let window = window(&Extent::of([-8.0; 3], [8.0; 3]));
        let reached = [-8.0, 0.0, 14.9];
        for odd in [-8.1, 15.1, f32::NAN, f32::INFINITY, 1e30] {
            for axis in 0..3 {
                let mut places = [[reached[axis]; 8]; 3];
                assert!(window.at(&Spots::of(places)).iter().all(|value| value.is_finite()));
                places[axis][5] = odd;
                let found = window.at(&Spots::of(places));
                assert_eq!(found.map(f32::is_nan), std::array::from_fn(|n| n == 5));
            }
        }
    }

    #[test]
    fn rows_are_those_of_the_bucket() {
        let window = window(&Extent::of([0.0; 3], [0.0; 3]));
        for (up, by) in
            [(None, Vec3::ZERO), (Some(0), Vec3::X), (Some(1), Vec3::Y), (Some(2), Vec3::Z)]
        {
            for (z, value) in window.row(0o53, up).into_iter().enumerate() {
                assert_eq!(value, linear(Vec3::new(5.0, 3.0, z as f32) + by));
            }
        }
    }
}
