//! Those of the candidates that are near to one particle.
//!
//! The test is written twice: once plainly, and once for eight lanes of AVX2, where the processor has
//! them; the same operations in the same order, so that both give the same bits. The latter is by hand
//! because no compiler finds the way to bring those of eight lanes together which passed the test: a
//! table gives the permutation for each of the 256 outcomes.

use super::candidates::{Blocks, LANES};
use super::neighbour::Neighbour;
use glam::Vec3;

/// The neighbours of a particle, in a fixed order.
#[derive(Debug, Clone, Copy)]
pub struct Near<'n> {
    blocks: &'n Blocks<'n>,
    particle: Vec3,
    /// Which of the candidates.
    chosen: &'n [u32],
    distances2: &'n [f32],
}

/// One neighbour of a particle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nearby {
    /// Which particle it is.
    pub neighbour: Neighbour,
    /// Its offset from the particle [m].
    pub offset: Vec3,
    /// The square of its distance [m²].
    pub distance2: f32,
}

impl<'n> Near<'n> {
    /// How many neighbours there are.
    pub fn len(&self) -> usize {
        self.chosen.len()
    }

    /// Whether the particle is alone.
    pub fn is_empty(&self) -> bool {
        self.chosen.is_empty()
    }

    /// One neighbour after the other.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Nearby> + use<'n> {
        let Self { blocks, particle, chosen, distances2 } = *self;
        chosen.iter().zip(distances2).map(move |(&candidate, &distance2)| Nearby {
            neighbour: blocks.who[candidate as usize],
            offset: blocks.offset(candidate as usize, particle),
            distance2,
        })
    }

    /// Which particles the neighbours are.
    pub fn neighbours(&self) -> impl ExactSizeIterator<Item = Neighbour> + use<'n> {
        let (who, chosen) = (self.blocks.who, self.chosen);
        chosen.iter().map(move |&candidate| who[candidate as usize])
    }

    /// The squares of the neighbours' distances [m²].
    pub fn distances2(&self) -> &'n [f32] {
        self.distances2
    }

    /// The sum of a function of the square of the distance [m²] over all neighbours.
    ///
    /// Eight partial sums are kept, so that the processor may work on several neighbours at once; the
    /// order is fixed.
    pub fn sum(&self, term: impl Fn(f32) -> f32) -> f32 {
        let (whole, rest) = self.distances2.as_chunks::<LANES>();
        let mut sums = [0.0; LANES];
        for distances2 in whole {
            for (sum, &distance2) in sums.iter_mut().zip(distances2) {
                *sum += term(distance2);
            }
        }
        for (sum, &distance2) in sums.iter_mut().zip(rest) {
            *sum += term(distance2);
        }
        let [a, b, c, d, e, f, g, h] = sums;
        ((a + e) + (c + g)) + ((b + f) + (d + h))
    }
}

/// Those that are near to one particle.
#[derive(Debug, Default)]
pub(super) struct Hits {
    /// Both of a length with room for a block beyond the last.
    chosen: Vec<u32>,
    distances2: Vec<f32>,
}

/// What to look for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target {
    /// The offset from the corner of the Bucket being visited [m].
    pub particle: Vec3,
    /// The square of the largest distance [m²].
    pub reach2: f32,
    /// Where the particle itself is among the candidates; beyond them if it is not.
    pub itself: usize,
}

impl Hits {
    /// Finds the candidates that are near to a particle.
    #[inline]
    pub fn find<'n>(&'n mut self, blocks: &'n Blocks<'n>, target: Target) -> Near<'n> {
        let room = (blocks.len() + 1) * LANES;
        if self.chosen.len() < room {
            self.chosen.resize(room, 0);
            self.distances2.resize(room, 0.0);
        }
        let len = self.choose(blocks, target);
        Near {
            blocks,
            particle: target.particle,
            chosen: &self.chosen[..len],
            distances2: &self.distances2[..len],
        }
    }

    #[inline]
    fn choose(&mut self, blocks: &Blocks<'_>, target: Target) -> usize {
        #[cfg(target_arch = "x86_64")]
        if has_avx2() {
            // SAFETY: the processor has what the function was compiled for.
            return unsafe {
                if blocks.shifted {
                    self.choose_avx2::<true>(blocks, target)
                } else {
                    self.choose_avx2::<false>(blocks, target)
                }
            };
        }
        self.choose_plainly(blocks, target)
    }

    /// Writes down who is near, and how far; returns how many.
    fn choose_plainly(&mut self, blocks: &Blocks<'_>, target: Target) -> usize {
        let Target { particle, reach2, itself } = target;
        let mut len = 0;
        for block in 0..blocks.len() {
            // Along each axis the offset is (x_j − x_i) + shift, which changes only its sign when i
            // and j change places.
            let [x, y, z]: [[f32; LANES]; 3] = std::array::from_fn(|axis| {
                let (at, shift) = (&blocks.offsets[axis][block], &blocks.shifts[axis][block]);
                std::array::from_fn(|lane| {
                    let offset = at[lane] - particle[axis];
                    if blocks.shifted { offset + shift[lane] } else { offset }
                })
            });
            let distances2: [f32; LANES] = std::array::from_fn(|lane| {
                x[lane] * x[lane] + y[lane] * y[lane] + z[lane] * z[lane]
            });
            // Write in any case, but go on only if it was right: no branch to guess wrong.
            for (lane, &distance2) in distances2.iter().enumerate() {
                let candidate = block * LANES + lane;
                self.chosen[len] = candidate as u32;
                self.distances2[len] = distance2;
                len += usize::from((distance2 <= reach2) & (candidate != itself));
            }
        }
        len
    }

    /// The same eight at a time.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,popcnt")]
    fn choose_avx2<const SHIFTED: bool>(&mut self, blocks: &Blocks<'_>, target: Target) -> usize {
        use bytemuck::cast;
        use std::arch::x86_64::*;

        let [xs, ys, zs] = blocks.offsets;
        let [shift_x, shift_y, shift_z] = blocks.shifts;
        let count = xs.len();
        let (ys, zs) = (&ys[..count], &zs[..count]);
        let (shift_x, shift_y, shift_z) = (&shift_x[..count], &shift_y[..count], &shift_z[..count]);
        let particle_x = _mm256_set1_ps(target.particle.x);
        let particle_y = _mm256_set1_ps(target.particle.y);
        let particle_z = _mm256_set1_ps(target.particle.z);
        let reach2 = _mm256_set1_ps(target.reach2);
        let (own_block, own_lane) = (target.itself / LANES, target.itself % LANES);
        let mut len = 0;
        for block in 0..count {
            let mut x = _mm256_sub_ps(cast(xs[block]), particle_x);
            let mut y = _mm256_sub_ps(cast(ys[block]), particle_y);
            let mut z = _mm256_sub_ps(cast(zs[block]), particle_z);
            if SHIFTED {
                x = _mm256_add_ps(x, cast(shift_x[block]));
                y = _mm256_add_ps(y, cast(shift_y[block]));
                z = _mm256_add_ps(z, cast(shift_z[block]));
            }
            let xx_yy = _mm256_add_ps(_mm256_mul_ps(x, x), _mm256_mul_ps(y, y));
            let distances2 = _mm256_add_ps(xx_yy, _mm256_mul_ps(z, z));
            let near = _mm256_cmp_ps::<_CMP_LE_OQ>(distances2, reach2);
            let near = _mm256_movemask_ps(near) as usize & 0xFF;
            let near = near & if block == own_block { !(1 << own_lane) } else { !0 };

            // Bring those that are near to the front, and write whole blocks: what stands behind them
            // is written over by the next.
            let order = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(FRONT[near] as i64));
            let chosen = _mm256_add_epi32(order, _mm256_set1_epi32((block * LANES) as i32));
            let distances2 = _mm256_permutevar8x32_ps(distances2, order);
            let end = len + LANES;
            self.chosen[len..end].copy_from_slice(&cast::<_, [u32; LANES]>(chosen));
            self.distances2[len..end].copy_from_slice(&cast::<_, [f32; LANES]>(distances2));
            len += near.count_ones() as usize;
        }
        len
    }
}

/// Whether the processor has what [`Hits::choose_avx2`] needs.
#[cfg(target_arch = "x86_64")]
#[inline]
fn has_avx2() -> bool {
    std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("popcnt")
}

/// For each set of lanes, as bits, the lanes that are in it, first to last, a byte each.
#[cfg(target_arch = "x86_64")]
static FRONT: [u64; 256] = {
    let mut table = [0; 256];
    let mut set = 0;
    while set < 256 {
        let (mut lane, mut filled) = (0, 0);
        while lane < LANES {
            if set >> lane & 1 == 1 {
                table[set] |= (lane as u64) << (8 * filled);
                filled += 1;
            }
            lane += 1;
        }
        set += 1;
    }
    table
};

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lanes() -> impl Strategy<Value = Vec<[[f32; LANES]; 3]>> {
        let number = prop_oneof![8 => -1.0..1.0_f32, 1 => Just(f32::INFINITY), 1 => Just(0.0)];
        let axis = prop::array::uniform8(number);
        prop::collection::vec(prop::array::uniform3(axis), 0..12)
    }

    proptest! {
        #[test]
        fn both_ways_to_choose_give_the_same_bits(
            at in lanes(),
            shift in lanes(),
            particle in prop::array::uniform3(-1.0..1.0_f32),
            reach2 in 0.0..3.0_f32,
            itself in prop_oneof![0..100_usize, Just(usize::MAX)],
            shifted: bool,
        ) {
            prop_assume!(has_avx2());
            let count = at.len().min(shift.len());
            let axis = |of: &[[[f32; LANES]; 3]], axis: usize| -> Vec<[f32; LANES]> {
                of[..count].iter().map(|block| block[axis]).collect()
            };
            let (at, shift) = ([0, 1, 2].map(|n| axis(&at, n)), [0, 1, 2].map(|n| axis(&shift, n)));
            let blocks = Blocks {
                offsets: at.each_ref().map(|axis| &axis[..]),
                shifts: shift.each_ref().map(|axis| &axis[..]),
                who: &[],
                shifted,
            };
            let target = Target { particle: Vec3::from_array(particle), reach2, itself };
            let room = (count + 1) * LANES;
            let mut plain = Hits { chosen: vec![0; room], distances2: vec![0.0; room] };
            let mut wide = Hits { chosen: vec![0; room], distances2: vec![0.0; room] };
            let len = plain.choose_plainly(&blocks, target);
            prop_assert_eq!(wide.choose(&blocks, target), len);
            prop_assert_eq!(&wide.chosen[..len], &plain.chosen[..len]);
            let bits = |hits: &Hits| -> Vec<u32> {
                hits.distances2[..len].iter().map(|d2| d2.to_bits()).collect()
            };
            prop_assert_eq!(bits(&wide), bits(&plain));
        }
    }

    #[test]
    fn the_table_lists_the_lanes_of_each_set_in_order() {
        for (set, &lanes) in FRONT.iter().enumerate() {
            let listed = lanes.to_le_bytes();
            let wanted: Vec<u8> = (0..8).filter(|lane| set >> lane & 1 == 1).collect();
            assert_eq!(&listed[..wanted.len()], &wanted[..]);
        }
    }
}
