//! Which of a leaf's 512 voxels are active: one bit each, in the order of the values.

use crate::tree::Bounds;
use bytemuck::{Pod, Zeroable};

/// One bit for each of the 8³ voxels of a leaf; voxel `n` is bit `n % 64` of word `n / 64`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Pod, Zeroable)]
#[repr(transparent)]
pub struct LeafMask(pub [u64; 8]);

impl LeafMask {
    /// No voxel.
    pub const NONE: Self = Self([0; 8]);
    /// Every voxel.
    pub const ALL: Self = Self([!0; 8]);

    /// The voxels for which `is_on` holds.
    pub fn of(mut is_on: impl FnMut(usize) -> bool) -> Self {
        let mut mask = Self::NONE;
        (0..512).filter(|&voxel| is_on(voxel)).for_each(|voxel| mask.set(voxel, true));
        mask
    }

    /// Whether a voxel is on.
    pub fn is_on(&self, voxel: usize) -> bool {
        self.0[voxel >> 6] >> (voxel & 63) & 1 == 1
    }

    /// Switches a voxel on or off.
    pub fn set(&mut self, voxel: usize, on: bool) {
        let bit = 1 << (voxel & 63);
        let word = &mut self.0[voxel >> 6];
        *word = if on { *word | bit } else { *word & !bit };
    }

    /// How many voxels are on.
    pub fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// The least box of a leaf that holds the voxels that are on, from the leaf's corner; none if none is on.
    pub fn bounds(&self) -> Option<Bounds> {
        // Words are x, bytes are y, and bits are z.
        let columns = self.0.iter().fold(0, |all, word| all | word).to_le_bytes();
        let slices: u8 = (0..8).map(|x| u8::from(self.0[x] != 0) << x).sum();
        let rows: u8 = (0..8).map(|y| u8::from(columns[y] != 0) << y).sum();
        let bits = columns.iter().fold(0, |all, byte| all | byte);
        (bits != 0).then(|| {
            let axes = [slices, rows, bits];
            Bounds {
                min: axes.map(|axis| axis.trailing_zeros() as i32),
                max: axes.map(|axis| 7 - axis.leading_zeros() as i32),
            }
        })
    }

    /// The voxels that are on, in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(index, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                (rest != 0).then(|| {
                    let bit = rest.trailing_zeros() as usize;
                    rest &= rest - 1;
                    index * 64 + bit
                })
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::voxel;

    #[test]
    fn a_mask_is_its_voxels() {
        let voxels = [0, 1, 63, 64, 100, 511];
        let mask = LeafMask::of(|voxel| voxels.contains(&voxel));
        assert_eq!(mask.iter().collect::<Vec<_>>(), voxels);
        assert_eq!(mask.count(), 6);
        assert!((0..512).all(|voxel| mask.is_on(voxel) == voxels.contains(&voxel)));
        assert_eq!(LeafMask::ALL.count(), 512);
    }

    #[test]
    fn a_voxel_is_switched_on_and_off() {
        let mut mask = LeafMask::NONE;
        mask.set(77, true);
        assert!(mask.is_on(77));
        mask.set(77, false);
        assert_eq!(mask, LeafMask::NONE);
    }

    #[test]
    fn the_bounds_of_a_mask_hold_its_voxels_and_no_more() {
        assert_eq!(LeafMask::NONE.bounds(), None);
        assert_eq!(LeafMask::ALL.bounds(), Some(Bounds { min: [0; 3], max: [7; 3] }));
        let on = [voxel([1, 5, 3]), voxel([6, 4, 4])];
        let mask = LeafMask::of(|voxel| on.contains(&voxel));
        assert_eq!(mask.bounds(), Some(Bounds { min: [1, 4, 3], max: [6, 5, 4] }));
    }
}
