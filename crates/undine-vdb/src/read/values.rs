//! Value blocks: the values of a node's slots, of which those that are not active may be left out.
//!
//! A block begins with a code that says what the inactive values are. Where they are at most two, a selection mask says
//! which is where, and only the active values follow.

use crate::codec::{Decoder, chunk_length};
use crate::error::Result;
use crate::mask::LeafMask;
use crate::read::cursor::Cursor;
use crate::read::head::Layout;
use crate::tree::VOXELS;
use crate::value::Value;

/// A value block whose values are still as the file has them.
#[derive(Debug)]
pub(crate) struct Block<'a, T> {
    /// What inactive slots hold whose selection bit is off and on.
    pub(crate) inactive: [T; 2],
    /// One bit for each slot; none if all are off.
    pub(crate) selection: Option<&'a [u8]>,
    /// Whether every slot's value follows, not only those of the active ones.
    pub(crate) has_all: bool,
    /// How many values follow.
    pub(crate) stored: usize,
    chunk: &'a [u8],
    offset: u64,
}

/// Work space that is kept from one block to the next.
#[derive(Debug, Default)]
pub(crate) struct Scratch<T> {
    decoder: Decoder,
    bytes: Vec<u8>,
    pub(crate) values: Vec<T>,
}

impl<'a, T: Value> Block<'a, T> {
    /// Reads the block of a node with this many slots, so many of them active, and goes behind it.
    pub(crate) fn read(
        cursor: &mut Cursor<'a>,
        slots: usize,
        active: usize,
        background: T,
        layout: &Layout,
    ) -> Result<Self> {
        let code = cursor.u8("the code of a value block")?;
        if code > 6 {
            let found = format!("the code of a value block is {code}");
            return Err(cursor.malformed_before(1, found, "it is 0 to 6"));
        }
        let mut inactive = match code {
            0 => [background; 2],
            _ => [background.negative(), background],
        };
        let given = match code {
            2 | 4 => 1,
            5 => 2,
            _ => 0,
        };
        for value in &mut inactive[..given] {
            *value = read_value(cursor, "an inactive value")?;
        }
        let selection = match code {
            3..=5 => Some(cursor.take(slots / 8, "a selection mask")?),
            _ => None,
        };

        let has_all = code == 6 || !layout.compression.active_mask || active == slots;
        let stored = if has_all { slots } else { active };
        let size = if layout.halves::<T>() { T::HALF_SIZE } else { T::SIZE };
        let offset = cursor.offset();
        // Of half floats OpenVDB writes nothing if there are none, and of others an empty chunk.
        let length = match (stored, layout.halves::<T>()) {
            (0, true) => 0,
            _ => chunk_length(layout.compression.codec, cursor.rest(), stored * size, offset)?,
        };
        let chunk = cursor.take(length, "values")?;
        Ok(Self { inactive, selection, has_all, stored, chunk, offset })
    }

    /// Fills as many values as are stored.
    pub(crate) fn unpack(
        &self,
        layout: &Layout,
        values: &mut [T],
        decoder: &mut Decoder,
        bytes: &mut Vec<u8>,
    ) -> Result<()> {
        debug_assert_eq!(values.len(), self.stored);
        if self.chunk.is_empty() {
            return Ok(());
        }
        let halves = layout.halves::<T>();
        let codec = layout.compression.codec;
        if !halves && let Some(memory) = T::bytes_mut(values) {
            decoder.chunk(codec, self.chunk, memory, self.offset)?;
            return Ok(());
        }
        let length = self.stored * if halves { T::HALF_SIZE } else { T::SIZE };
        if bytes.len() < length {
            bytes.resize(length, 0);
        }
        let bytes = &mut bytes[..length];
        decoder.chunk(codec, self.chunk, bytes, self.offset)?;
        match halves {
            true => T::get_half(bytes, values),
            false => T::get(bytes, values),
        }
        Ok(())
    }
}

/// Reads one value of full size.
pub(crate) fn read_value<T: Value>(cursor: &mut Cursor<'_>, what: &str) -> Result<T> {
    let mut value = [T::default()];
    T::get(cursor.take(T::SIZE, what)?, &mut value);
    Ok(value[0])
}

impl<T: Value> Scratch<T> {
    /// The stored values of a block.
    pub(crate) fn stored(&mut self, block: &Block<'_, T>, layout: &Layout) -> Result<&[T]> {
        if self.values.len() < block.stored {
            self.values.resize(block.stored, T::default());
        }
        let values = &mut self.values[..block.stored];
        block.unpack(layout, values, &mut self.decoder, &mut self.bytes)?;
        Ok(values)
    }

    /// Fills the values of a leaf from its block.
    pub(crate) fn leaf(
        &mut self,
        block: &Block<'_, T>,
        mask: &LeafMask,
        layout: &Layout,
        out: &mut [T; VOXELS],
    ) -> Result<()> {
        if block.has_all {
            return block.unpack(layout, out, &mut self.decoder, &mut self.bytes);
        }
        // Room for a whole leaf, so that `spread` may look one past the last active value.
        self.values.resize(VOXELS, T::default());
        let packed = &mut self.values[..block.stored];
        block.unpack(layout, packed, &mut self.decoder, &mut self.bytes)?;
        let selection = block.selection.map_or(LeafMask::NONE, leaf_mask);
        if let Some(packed) = self.values.first_chunk() {
            spread(packed, mask, block.inactive, &selection, out);
        }
        Ok(())
    }
}

/// Puts packed active values where the mask says, and the inactive values everywhere else.
fn spread<T: Copy>(
    packed: &[T; VOXELS],
    mask: &LeafMask,
    inactive: [T; 2],
    selection: &LeafMask,
    out: &mut [T; VOXELS],
) {
    let mut next = 0;
    for (index, out) in out.as_chunks_mut::<64>().0.iter_mut().enumerate() {
        let (active, selected) = (mask.0[index], selection.0[index]);
        match (active, selected) {
            (0, 0) => out.fill(inactive[0]),
            (0, u64::MAX) => out.fill(inactive[1]),
            (u64::MAX, _) if next + 64 <= VOXELS => {
                out.copy_from_slice(&packed[next..next + 64]);
                next += 64;
            }
            // No branch on a bit: which voxels of a narrow band are active is hard to foretell.
            _ => {
                for (bit, out) in out.iter_mut().enumerate() {
                    let is_active = (active >> bit & 1) as usize;
                    let other = inactive[(selected >> bit & 1) as usize];
                    *out = if is_active == 1 { packed[next % VOXELS] } else { other };
                    next += is_active;
                }
            }
        }
    }
}

/// The mask of a leaf from its 64 bytes.
pub(crate) fn leaf_mask(bytes: &[u8]) -> LeafMask {
    let mut mask = LeafMask::NONE;
    for (word, bytes) in mask.0.iter_mut().zip(bytes.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    mask
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::{Codec, Encoder};
    use crate::compression::Compression;
    use crate::error::VdbError;
    use proptest::prelude::*;

    fn layout(codec: Codec, active_mask: bool) -> Layout {
        let compression = Compression { codec, active_mask };
        Layout { compression, half: false, native_half: false }
    }

    fn leaf(bytes: &[u8], mask: LeafMask, background: f32, layout: &Layout) -> Result<[f32; 512]> {
        let mut cursor = Cursor::new(bytes, 0);
        let block = Block::read(&mut cursor, 512, mask.count() as usize, background, layout)?;
        assert_eq!(cursor.left(), 0);
        let mut out = [f32::NAN; 512];
        Scratch::default().leaf(&block, &mask, layout, &mut out)?;
        Ok(out)
    }

    #[test]
    fn each_code_says_what_inactive_values_are() {
        let mask = LeafMask::of(|voxel| voxel % 3 == 0);
        let selection = LeafMask::of(|voxel| voxel % 2 == 0);
        let active: Vec<f32> = mask.iter().map(|voxel| voxel as f32).collect();
        let all: Vec<f32> = (0..512).map(|voxel| voxel as f32).collect();
        let background = 100.0;
        // Off and on in the selection.
        let cases: [(u8, Vec<f32>, bool, [f32; 2]); 6] = [
            (0, vec![], false, [100.0, 100.0]),
            (1, vec![], false, [-100.0, -100.0]),
            (2, vec![7.0], false, [7.0, 7.0]),
            (3, vec![], true, [-100.0, 100.0]),
            (4, vec![7.0], true, [7.0, 100.0]),
            (5, vec![7.0, 8.0], true, [7.0, 8.0]),
        ];
        for codec in [Codec::None, Codec::Zip, Codec::Blosc] {
            for (code, given, selects, inactive) in &cases {
                for active_mask in [true, false] {
                    let mut bytes = vec![*code];
                    f32::put(given, &mut bytes);
                    if *selects {
                        bytes.extend(selection.0.iter().flat_map(|word| word.to_le_bytes()));
                    }
                    let mut payload = Vec::new();
                    f32::put(if active_mask { &active } else { &all }, &mut payload);
                    Encoder::default().chunk(codec, &payload, &mut bytes);
                    let out = leaf(&bytes, mask, background, &layout(codec, active_mask)).unwrap();
                    for voxel in 0..512 {
                        let wanted = match active_mask && !mask.is_on(voxel) {
                            true => inactive[usize::from(selection.is_on(voxel))],
                            false => voxel as f32,
                        };
                        assert_eq!(out[voxel], wanted, "code {code}, voxel {voxel}, {codec:?}");
                    }
                }
            }
            let mut bytes = vec![6];
            let mut payload = Vec::new();
            f32::put(&all, &mut payload);
            Encoder::default().chunk(codec, &payload, &mut bytes);
            assert_eq!(leaf(&bytes, mask, 0.0, &layout(codec, true)).unwrap().as_slice(), all);
        }
    }

    #[test]
    fn half_floats_that_are_none_take_no_bytes() {
        let layout = Layout { half: true, ..layout(Codec::Blosc, true) };
        assert_eq!(leaf(&[0], LeafMask::NONE, 2.5, &layout).unwrap(), [2.5; 512]);
    }

    #[test]
    fn an_unknown_code_is_refused() {
        let error = leaf(&[7], LeafMask::NONE, 0.0, &layout(Codec::None, true)).unwrap_err();
        assert!(matches!(error, VdbError::Malformed { offset: 0, .. }), "{error}");
    }

    proptest! {
        #[test]
        fn spreading_is_as_by_hand(words in any::<[u64; 8]>(), chosen in any::<[u64; 8]>(), dense in any::<[u8; 8]>()) {
            let mut mask = LeafMask(words);
            let mut selection = LeafMask(chosen);
            for (index, dense) in dense.into_iter().enumerate() {
                match dense % 4 {
                    0 => mask.0[index] = 0,
                    1 => mask.0[index] = u64::MAX,
                    _ => {}
                }
                match dense / 4 % 4 {
                    0 => selection.0[index] = 0,
                    1 => selection.0[index] = u64::MAX,
                    _ => {}
                }
            }
            let packed: [i32; 512] = std::array::from_fn(|n| n as i32);
            let mut out = [0; 512];
            spread(&packed, &mask, [-1, -2], &selection, &mut out);
            let mut next = 0;
            for (voxel, &out) in out.iter().enumerate() {
                if mask.is_on(voxel) {
                    prop_assert_eq!(out, next);
                    next += 1;
                } else {
                    prop_assert_eq!(out, if selection.is_on(voxel) { -2 } else { -1 });
                }
            }
        }
    }
}
