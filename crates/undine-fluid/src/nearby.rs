//! The velocity around a Bucket, in small arrays: what nearly everything that follows the flow finds on its way.
//!
//! Where nobody knows a velocity the arrays have a number that is none, which goes through interpolation by itself: whatever is found
//! with it is unknown, too.

use undine_core::access::{Pad, Tile, VoxelNeighbourhood};
use undine_core::glam::{Vec3, Vec4};
use undine_core::volume::Resolution;

/// How far beyond its Bucket a velocity is copied that things go along with, in voxels.
pub const MARGIN: usize = 4;

/// Voxels along a tile with a margin, and elements from row to row and from slab to slab; see [`Tile`].
const fn width(margin: usize) -> usize {
    8 + 2 * margin
}
const fn row(margin: usize) -> usize {
    (width(margin) + 1).next_multiple_of(4)
}
const fn slab(margin: usize) -> usize {
    row(margin) * width(margin)
}
/// Elements from the first of eight values around a place on, in rows of four. A slice of this length is checked once, and then
/// indexed without checks.
const fn window(margin: usize) -> usize {
    slab(margin) + row(margin) + 4
}

/// Copies of the faces of a Bucket and around it, by axis. Places are in voxels from the Bucket's corner.
pub struct Nearby<const MARGIN: usize, const WINDOW: usize>([Tile<f32>; 3]);

/// What is met on a way of a few voxels from within the Bucket: declared with a stencil of [`MARGIN`].
pub type AlongTheWay = Nearby<MARGIN, { window(MARGIN) }>;
/// What there is within the Bucket: declared with a stencil of one voxel.
pub type Within = Nearby<1, { window(1) }>;

impl<const MARGIN: usize, const WINDOW: usize> Default for Nearby<MARGIN, WINDOW> {
    fn default() -> Self {
        const { assert!(WINDOW == window(MARGIN)) }
        Self([(); 3].map(|()| Tile::new(Resolution::R8, Pad::both(MARGIN as u8), 0.0)))
    }
}

impl<const MARGIN: usize, const WINDOW: usize> Nearby<MARGIN, WINDOW> {
    /// Takes over the faces of another Bucket, which are declared with a stencil of the margin.
    pub fn load(&mut self, faces: [VoxelNeighbourhood<'_, f32>; 3]) {
        self.0.iter_mut().zip(faces).for_each(|(tile, faces)| faces.load(tile));
    }

    /// The same, with the faces that are known, by axis.
    pub fn load_known(
        &mut self,
        faces: [VoxelNeighbourhood<'_, f32>; 3],
        known: &[VoxelNeighbourhood<'_, u64>; 3],
    ) {
        self.load(faces);
        self.0.iter_mut().zip(known).for_each(|(tile, known)| blank(tile, MARGIN, known));
    }

    /// The velocity at a place, by linear interpolation; `None` where the arrays do not reach.
    #[inline(always)]
    pub fn at(&self, place: Vec3) -> Option<Vec3> {
        // Faces lie at whole numbers along their own axis, and half-way between along the others.
        let whole = Between::<MARGIN, WINDOW>::new(place + MARGIN as f32)?;
        let half = Between::new(place + (MARGIN as f32 - 0.5))?;
        let component = |axis: usize| {
            let between = half.with(axis, &whole);
            Some(between.interpolate(self.window(axis, &between)?))
        };
        Some(Vec3::new(component(0)?, component(1)?, component(2)?))
    }

    /// The velocity in the middle of a face of the Bucket: its own, and the means of the four around it across the other axes.
    #[inline(always)]
    pub fn at_face(&self, axis: usize, n: usize) -> Vec3 {
        let steps = [slab(MARGIN), row(MARGIN), 1];
        let [x, y, z] = [n >> 6, n >> 3 & 7, n & 7].map(|c| c + MARGIN);
        let at = x * steps[0] + y * steps[1] + z;
        let component = |of: usize| {
            let values = self.0[of].values();
            if of == axis {
                return values[at];
            }
            let before = at - steps[axis];
            let ends = values[at] + values[at + steps[of]];
            0.25 * (ends + values[before] + values[before + steps[of]])
        };
        Vec3::new(component(0), component(1), component(2))
    }

    /// One component of it.
    #[inline(always)]
    pub fn component(&self, axis: usize, place: Vec3) -> Option<f32> {
        let between = Between::of_faces(axis, place)?;
        Some(between.interpolate(self.window(axis, &between)?))
    }

    /// The least and the largest of the eight values that a component is interpolated from.
    #[inline]
    pub fn bounds(&self, axis: usize, place: Vec3) -> Option<[f32; 2]> {
        let w = self.window(axis, &Between::of_faces(axis, place)?)?;
        let (row, slab) = (row(MARGIN), slab(MARGIN));
        let corners = [0, 1, row, row + 1, slab, slab + 1, slab + row, slab + row + 1];
        let fold = |pick: fn(f32, f32) -> f32| corners.iter().fold(w[0], |a, &at| pick(a, w[at]));
        Some([fold(f32::min), fold(f32::max)])
    }

    /// The values of an axis from the first of eight around a place on.
    #[inline(always)]
    fn window(&self, axis: usize, between: &Between<MARGIN, WINDOW>) -> Option<&[f32; WINDOW]> {
        let [x, y, z] = between.first.map(|c| c as usize);
        let start = (x * width(MARGIN) + y) * row(MARGIN) + z;
        self.0[axis].values().get(start..)?.first_chunk()
    }
}

/// Puts a number that is none wherever a mask says that nothing is known, in a tile that has so many voxels around a Bucket's own.
pub fn blank(tile: &mut Tile<f32>, margin: usize, known: &VoxelNeighbourhood<'_, u64>) {
    for n in 0..27 {
        let [i, j, k] = [n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1];
        let words = known.neighbour(i, j, k);
        let within = |to: i32| match to {
            -1 => 8 - margin..8,
            0 => 0..8,
            _ => 0..margin,
        };
        for x in within(i) {
            if words[x] == u64::MAX {
                continue;
            }
            for y in within(j) {
                let missing = !(words[x] >> (8 * y)) as u8;
                for z in within(k).filter(|z| missing >> z & 1 != 0) {
                    let at = [(x, i), (y, j), (z, k)].map(|(c, to)| c as i32 + 8 * to);
                    let at = tile.index(at[0], at[1], at[2]);
                    tile.values_mut()[at] = f32::NAN;
                }
            }
        }
    }
}

/// The velocity at a place beyond the arrays, in voxels from the Bucket's corner; `None` where it is not known, as in all that does not
/// lie in the Bucket or one next to it, whoever has it. Declared with a stencil of a Bucket.
pub fn farther(
    faces: &[VoxelNeighbourhood<'_, f32>; 3],
    known: &[VoxelNeighbourhood<'_, u64>; 3],
    place: Vec3,
) -> Option<Vec3> {
    let component = |axis: usize| {
        let mut from = place - 0.5;
        from[axis] = place[axis];
        let first = from.floor();
        if !(first.cmpge(Vec3::splat(-8.0)) & first.cmplt(Vec3::splat(15.0))).all() {
            return None;
        }
        let (part, first) = (from - first, first.as_ivec3());
        let mut sum = 0.0;
        for corner in 0..8 {
            let up = [corner >> 2, corner >> 1 & 1, corner & 1];
            let [x, y, z] = std::array::from_fn(|of| first[of] + up[of]);
            let words = known[axis].neighbour(x >> 3, y >> 3, z >> 3);
            if words[(x & 7) as usize] >> (8 * (y & 7) + (z & 7)) & 1 == 0 {
                return None;
            }
            let weight = (0..3).map(|of| if up[of] == 1 { part[of] } else { 1.0 - part[of] });
            sum += weight.product::<f32>() * faces[axis].at(x, y, z);
        }
        Some(sum)
    };
    Some(Vec3::new(component(0)?, component(1)?, component(2)?))
}

/// Between which samples a place lies.
#[derive(Clone, Copy)]
struct Between<const MARGIN: usize, const WINDOW: usize> {
    /// The one before it, from the tile's first.
    first: [u32; 3],
    /// How far it is from there to the next one, from 0 to 1.
    part: Vec3,
}

/// A number so large that its neighbours are one apart: what is added to it becomes a whole number in its last bits.
const ONE_APART: f32 = 1.5 * (1 << 23) as f32;

impl<const MARGIN: usize, const WINDOW: usize> Between<MARGIN, WINDOW> {
    /// From how many samples a place is from the first one; `None` where there are none around it.
    ///
    /// Without conversions, which take a processor as long as all the rest, as each has to look for what does not fit.
    #[inline(always)]
    fn new(from: Vec3) -> Option<Self> {
        let last = Vec3::splat((width(MARGIN) - 1) as f32);
        if !(from.cmpge(Vec3::ZERO) & from.cmplt(last)).all() {
            return None;
        }
        let nearest = (from - 0.5) + ONE_APART;
        let first = nearest.to_array().map(|c| c.to_bits() & 0xff);
        Some(Self { first, part: from - (nearest - ONE_APART) })
    }

    /// That of a place among the faces across an axis.
    #[inline(always)]
    fn of_faces(axis: usize, place: Vec3) -> Option<Self> {
        let mut from = place + (MARGIN as f32 - 0.5);
        from[axis] = place[axis] + MARGIN as f32;
        Self::new(from)
    }

    /// The same with what another one has along an axis.
    #[inline(always)]
    fn with(mut self, axis: usize, other: &Self) -> Self {
        self.first[axis] = other.first[axis];
        self.part[axis] = other.part[axis];
        self
    }

    /// Between eight values: rows along z, four wide though two count, so that they go through as one.
    #[inline(always)]
    fn interpolate(&self, w: &[f32; WINDOW]) -> f32 {
        let along_z = |at: usize| Vec4::from_slice(&w[at..at + 4]);
        let along_x = |at: usize| {
            let (low, high) = (along_z(at), along_z(at + slab(MARGIN)));
            low + self.part.x * (high - low)
        };
        let (low, high) = (along_x(0), along_x(row(MARGIN)));
        let across = low + self.part.y * (high - low);
        across.x + self.part.z * (across.y - across.x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_velocity_is_read_as_it_is_wherever_the_arrays_reach() {
        let tile = Tile::new(Resolution::R8, Pad::both(MARGIN as u8), 0.0_f32);
        let strides = [width(MARGIN), row(MARGIN), slab(MARGIN)];
        assert_eq!([tile.width(), tile.row(), tile.slab()], strides);
        let last = tile.index(10, 10, 10);
        assert!(last + window(MARGIN) <= tile.values().len());
        let low = MARGIN as i32;
        let field = |place: Vec3, axis: usize| place.dot(Vec3::new(1.0, -2.0, 0.5)) + axis as f32;
        let near: AlongTheWay = Nearby(std::array::from_fn(|axis| {
            let mut tile = tile.clone();
            for n in 0..width(MARGIN).pow(3) as i32 {
                let width = width(MARGIN) as i32;
                let [x, y, z] = [n / (width * width), n / width % width, n % width];
                let mut place = Vec3::new((x - low) as f32, (y - low) as f32, (z - low) as f32);
                place += Vec3::splat(0.5);
                place[axis] -= 0.5;
                let at = tile.index(x - low, y - low, z - low);
                tile.values_mut()[at] = field(place, axis);
            }
            tile
        }));
        for place in [Vec3::ZERO, Vec3::new(-3.2, 7.9, 10.9), Vec3::splat(4.0)] {
            let found = near.at(place).unwrap();
            for axis in 0..3 {
                assert!((found[axis] - field(place, axis)).abs() < 1e-4, "{place}");
                let [least, most] = near.bounds(axis, place).unwrap();
                assert!(least <= found[axis] && found[axis] <= most && most - least < 3.6);
            }
        }
        for (axis, n) in [(0, 0), (1, 0o777), (2, 0o070), (1, 0o123)] {
            let mut middle = Vec3::new((n >> 6) as f32, (n >> 3 & 7) as f32, (n & 7) as f32) + 0.5;
            middle[axis] -= 0.5;
            assert!((near.at_face(axis, n) - near.at(middle).unwrap()).length() < 1e-4);
        }
        assert!(near.at(Vec3::new(-4.0, 0.0, 0.0)).is_none());
        assert!(near.at(Vec3::new(0.0, 11.6, 0.0)).is_none());
        assert!(near.at(Vec3::new(0.0, f32::NAN, 0.0)).is_none());
    }
}
