//! Which of a leaf's 512 voxels are active: one bit each, in the order of the values.

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
}
