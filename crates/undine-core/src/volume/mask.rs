//! A bit per voxel. At 8³ a chunk is eight words, laid out as the value mask of an OpenVDB leaf.

use super::shape::{Resolution, VoxelShape};
use super::store::DiscreteVolume;
use crate::channel::{ChannelSpec, Handle};
use crate::error::{CoreError, Result};

/// A channel with a bit per voxel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaskHandle {
    /// The channel of 64-bit words.
    pub words: Handle<u64>,
    /// Voxels along a Bucket.
    pub resolution: Resolution,
}

impl DiscreteVolume {
    /// Adds a mask, with every bit off.
    pub fn add_mask(&mut self, name: &str, resolution: Resolution) -> Result<MaskHandle> {
        self.add_mask_channel(&ChannelSpec::new(name, 0), resolution)
    }

    /// Adds a mask like `spec`, whose default is that of 64 bits.
    pub fn add_mask_channel(
        &mut self,
        spec: &ChannelSpec<u64>,
        resolution: Resolution,
    ) -> Result<MaskHandle> {
        let shape = VoxelShape::CELLS.with_resolution(resolution);
        let words = self.add_chunked(spec, shape, words_of(resolution))?;
        Ok(MaskHandle { words, resolution })
    }

    /// The mask of this name. Refuses a channel of whole numbers, and any channel while it is written.
    pub fn mask(&self, name: &str) -> Result<MaskHandle> {
        let words = self.handle(name)?;
        let column = self.column(words)?;
        let resolution = column.shape().resolution;
        if column.chunk_len() != words_of(resolution) {
            return Err(CoreError::BadValue {
                what: format!("channel `{name}` of {}", self.label()),
                found: "a number per voxel".into(),
                wanted: "a mask, with a bit per voxel",
            });
        }
        Ok(MaskHandle { words, resolution })
    }
}

/// 64-bit words that hold a bit per voxel of a Bucket.
fn words_of(resolution: Resolution) -> usize {
    resolution.voxels().div_ceil(64)
}

/// The bits of one Bucket: a view on a chunk of words.
#[derive(Debug)]
pub struct Mask<W>(pub W);

impl<W: AsRef<[u64]>> Mask<W> {
    /// The bit of the voxel at this place in its chunk.
    #[inline]
    pub fn get(&self, voxel: usize) -> bool {
        self.0.as_ref()[voxel / 64] >> (voxel % 64) & 1 != 0
    }

    /// How many bits are on.
    pub fn count(&self) -> u32 {
        self.0.as_ref().iter().map(|word| word.count_ones()).sum()
    }

    /// The places of the bits that are on, ascending.
    pub fn ones(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.as_ref().iter().enumerate().flat_map(|(n, &word)| {
            std::iter::successors(Some(word), |rest| Some(rest & rest.wrapping_sub(1)))
                .take_while(|rest| *rest != 0)
                .map(move |rest| n * 64 + rest.trailing_zeros() as usize)
        })
    }
}

impl<W: AsRef<[u64]> + AsMut<[u64]>> Mask<W> {
    /// Sets or clears the bit of a voxel.
    #[inline]
    pub fn set(&mut self, voxel: usize, on: bool) {
        let word = &mut self.0.as_mut()[voxel / 64];
        let bit = 1 << (voxel % 64);
        *word = if on { *word | bit } else { *word & !bit };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ones_are_exactly_the_bits_that_were_set() {
        let mut mask = Mask(vec![0_u64; 8]);
        let on = [0, 1, 63, 64, 200, 511];
        for voxel in on {
            mask.set(voxel, true);
        }
        mask.set(1, false);
        assert_eq!(mask.ones().collect::<Vec<_>>(), [0, 63, 64, 200, 511]);
        assert_eq!(mask.count(), 5);
        assert!(mask.get(200) && !mask.get(201));
    }
}
